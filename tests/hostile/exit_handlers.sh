#!/usr/bin/env bash
# Nothing of the library is destroyed at exit, and of a thread's objects only those that know how to come again: arrays in
# static storage are read after that. Asked of the object files, which name every destructor that they register.
# Usage: exit_handlers.sh FOLDER_OF_PROGRAMS
set -u
program=true
. "$(dirname "$0")/../scripts/program.sh"
objects=$1/../../src/CMakeFiles/sinter_objects.dir
command -v nm >/dev/null && command -v readelf >/dev/null || { echo "binutils are missing"; exit 77; }
[ -d "$objects" ] || { echo "there are no object files in $objects"; exit 77; }
find "$objects" -name '*.o' -print0 >"$work/list"
find "$objects" -name 'background.cpp.o' -o -name 'unity_src_platform_background*.o' | grep -q .  # what is looked for below is there at all
verdict "the object files of the library" $?

xargs -0 nm -A --undefined-only <"$work/list" | grep -w __cxa_atexit >"$work/out"
[ ! -s "$work/out" ]
verdict "static objects with destructors" $?

# Thread-local objects that need code at their first use have a guard in thread-local storage.
known='per_thread<.*at_end$|recycler<.*at_end$|note_main_thread\(\)::guard$'
xargs -0 readelf -sW <"$work/list" | awk '$4 == "TLS" && ($8 ~ /^_ZGV/ || $8 ~ /tls_guard/) { print $8 }' | sort -u |
  c++filt >"$work/guards"
grep -q 'per_thread<' "$work/guards"
verdict "the guards of thread-local objects are seen" $?
grep -Ev "$known" "$work/guards" >"$work/out"
[ ! -s "$work/out" ]
verdict "thread-local objects with destructors" $?
summary
