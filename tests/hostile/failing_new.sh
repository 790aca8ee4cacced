#!/usr/bin/env bash
# operator new fails at every call of a set of programs, on one thread and on three.
# Usage: failing_new.sh FOLDER_OF_PROGRAMS
set -u
program=$1/failing_new
. "$(dirname "$0")/../scripts/program.sh"
export SINTER_DEVICE=cpu SINTER_CACHE_DIR=$work/cache SINTER_TIER=0

ends_well() {  # NAME ARGUMENTS...
  timeout 300 "$program" "${@:2}" >"$work/out" 2>"$work/err" && [ ! -s "$work/err" ] && [ "$(tail -n 1 "$work/out")" = done ]
  verdict "$1" $?
}
for threads in 1 3; do
  SINTER_NUM_THREADS=$threads ends_well "every call fails once, $threads threads"
done
if command -v "${SINTER_CXX:-g++}" >/dev/null; then
  SINTER_TIER=auto ends_well "calls of a compilation fail" --compile
fi
summary
