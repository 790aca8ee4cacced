#!/usr/bin/env bash
# What recording, planning and launching small work takes on the host, in instructions: little more than when the limits below were
# written (GCC 12, x86-64, Release). Other load on the machine does not change the counts.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=${SINTER_BUILD_DIR:?}
skip() {
  echo "left out: $1"
  exit 77
}
command -v valgrind >/dev/null || skip "no valgrind"
[ "$(uname -m)" = x86_64 ] || skip "limits are those of x86-64"
[ -x "$build/tests/bench/sinter_bench_host" ] || skip "sinter_bench_host is not built"
cache=$build/CMakeCache.txt
grep -q '^CMAKE_BUILD_TYPE:.*=Release$' "$cache" || skip "limits are those of a Release build"
grep -q '^CMAKE_CXX_FLAGS:.*-fsanitize' "$cache" && skip "sanitizers add instructions"
"${CXX:-c++}" --version | grep -qi clang && skip "limits are those of GCC"

. "$here/checks.sh"
at_most() {
  local name=$1 limit=$2 line
  line=$(bash "$here/../bench/host.sh" "$build" "$name")
  echo "counted: $line; at most: $limit"
  case $line in
    "$name "[1-9]*) [ "${line#* }" -le "$limit" ] ;;
    *) false ;;
  esac
}
limit() {
  check "instructions of $1" at_most "$@"
  cat "$box/said"
}
limit record_add 590
limit record_view 690
limit record_mandelbrot 540000
limit add 10950
limit ten 19000
limit mandelbrot 760000
limit five_points 68500
limit adam 163000
summary
