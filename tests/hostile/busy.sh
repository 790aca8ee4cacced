#!/usr/bin/env bash
# Other programs use all cores: two threads take at most about twice the time of one, also where the work is tiny. One run
# of the scheduler may favour either side, so the best of several is compared.
# Usage: busy.sh FOLDER_OF_PROGRAMS
set -u
program=$1/busy
. "$(dirname "$0")/../scripts/program.sh"
export SINTER_DEVICE=cpu SINTER_CACHE_DIR=$work/cache SINTER_TIER=0
[ "$(nproc)" -ge 2 ] || { echo "one core: nothing to compare"; exit 77; }

spinners=()
trap 'kill "${spinners[@]}" 2>/dev/null; rm -rf "$work"' EXIT
for ((k = 0; k < 2 * $(nproc); ++k)); do
  (while :; do :; done) &
  spinners+=($!)
done

best() {  # FIELD THREADS: the shortest time so far
  sort -g -k "$1,$1" "$work/times$2" | head -n 1 | cut -d ' ' -f "$1"
}
at_most_twice() {  # FIELD MARGIN
  awk -v one="$(best "$1" 1)" -v two="$(best "$1" 2)" -v margin="$2" 'BEGIN { exit !(one > 0 && two > 0 && two <= 2 * one + margin) }'
}
for round in 1 2 3 4; do
  for threads in 1 2; do
    SINTER_NUM_THREADS=$threads timeout 60 "$program" >>"$work/times$threads" 2>"$work/err" || break 2
  done
  at_most_twice 2 0.1 && at_most_twice 4 0.03 && break
done
tail -n 4 "$work/times1" "$work/times2" >"$work/out"
at_most_twice 2 0.1
verdict "300 steps of the heat equation on two threads and on one" $?
at_most_twice 4 0.03
verdict "20000 sorts of shape (3, 5) on two threads and on one" $?
summary
