#!/usr/bin/env bash
# Children of fork compute, whatever threads the parent had.
# Usage: forked.sh FOLDER_OF_PROGRAMS
set -u
program=$1/forked
. "$(dirname "$0")/../scripts/program.sh"
export SINTER_DEVICE=cpu SINTER_CACHE_DIR=$work/cache SINTER_TIER=0
export TSAN_OPTIONS="${TSAN_OPTIONS:-} die_after_fork=0"

ends_well() {  # NAME MODE
  timeout 100 "$program" "$2" >"$work/out" 2>"$work/err"
  local status=$?
  if [ $status = 77 ]; then
    echo "left out: $1: $(cat "$work/out")"
    skipped=$((skipped + 1))
    return
  fi
  [ $status = 0 ] && [ ! -s "$work/err" ] && [ "$(tail -n 1 "$work/out")" = done ]
  verdict "$1" $?
}
for threads in 1 4; do
  export SINTER_NUM_THREADS=$threads
  ends_well "fork before the first evaluation, $threads threads" before_first_use
  ends_well "fork after evaluations, beside the parent, twice, $threads threads" after
  ends_well "many children, $threads threads" many
  ends_well "a child that exits, $threads threads" exits
  ends_well "transforms, $threads threads" transforms
done
ends_well "arrays of a GPU and pinned memory" gpu
summary
