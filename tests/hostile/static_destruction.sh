#!/usr/bin/env bash
# Arrays in destructors of static objects, after exit in another thread, and at the end of threads.
# Usage: static_destruction.sh FOLDER_OF_PROGRAMS
set -u
program=$1/static_destruction
. "$(dirname "$0")/../scripts/program.sh"
export SINTER_DEVICE=cpu SINTER_CACHE_DIR=$work/cache

# ends NAME LINE MODE : within 60 seconds, with status 0, nothing on stderr, and the line last.
ends() {
  timeout 60 "$program" "$3" >"$work/out" 2>"$work/err" && [ ! -s "$work/err" ] && [ "$(tail -n 1 "$work/out")" = "$2" ]
  verdict "$1" $?
}
for threads in 1 4; do
  export SINTER_NUM_THREADS=$threads
  for tier in 0 auto; do
    export SINTER_TIER=$tier
    ends "main returns, $threads threads, tier $tier" "done early" main_returns
    ends "the first use is in a destructor, $threads threads, tier $tier" "done early" first_use
    ends "a thread calls exit, $threads threads, tier $tier" "done early" exit_in_thread
    ends "threads end, $threads threads, tier $tier" "done" thread_ends
  done
done
summary
