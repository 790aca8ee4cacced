#!/usr/bin/env bash
# Counts the instructions that the host executes for a round of each case of sinter_bench_host, which no other load on the
# machine changes: the difference of two runs under valgrind, on the CPU backend's interpreter.
# Usage: host.sh [BUILD] [CASE...]
set -euo pipefail
build=${1:-build}
shift || true
program=$build/tests/bench/sinter_bench_host
command -v valgrind >/dev/null || { echo "host.sh: needs valgrind" >&2; exit 1; }
export SINTER_DEVICE=cpu SINTER_TIER=0 SINTER_NUM_THREADS=1
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" 2>&1 >/dev/null |
    sed -n 's/.*Collected : //p'
}
few=10 more=30
for name in ${*:-$("$program")}; do
  first=$(count "$name" $few)
  second=$(count "$name" $more)
  echo "$name $(((second - first) / (5 * (more - few))))"
done
