#!/usr/bin/env bash
# One pass over a machine with a GPU: builds, runs the tests on it, checks memory accesses, and takes the figures.
# Logs go to $OUT (build/gpu-logs). Stages by name in the arguments, all without: build tests memcheck bench peers.
# ARCH (90), JOBS (16) and BUILD (build) may be set.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
out=${OUT:-$build/gpu-logs}
jobs=${JOBS:-16}
mkdir -p "$out"
[ $# -gt 0 ] || set -- build tests memcheck bench peers
export SINTER_DEVICE=cuda:0
bad=()

# stage NAME COMMAND... : runs it with its output in a log, and remembers a failure.
stage() {
  local name=$1 status begin=$SECONDS
  shift
  "$@" >"$out/$name.log" 2>&1
  status=$?
  [ $status = 0 ] || bad+=("$name")
  printf '%-14s exit %s, %s s: %s\n' "$name" "$status" $((SECONDS - begin)) "$(tail -n 1 "$out/$name.log")"
}

configure() {
  local generator=()
  if ! [ -f "$build/CMakeCache.txt" ] && ninja --version; then generator=(-G Ninja); fi
  cmake -S . -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DSINTER_CUDA=ON \
    -DCMAKE_CUDA_ARCHITECTURES="${ARCH:-90}" -DSINTER_BUILD_TESTS=ON -DSINTER_BUILD_EXAMPLES=ON
}

compile() { cmake --build "$build" -j "$jobs"; }

machine() {
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv
  uname -sr
  nproc
  git rev-parse HEAD 2>/dev/null || true
}

suite() {
  ctest --test-dir "$build" -V -j 4 2>&1 | tee "$out/ctest.log"
  awk -f tests/summary.awk "$out/ctest.log"
}

# The checker slows kernels down a hundredfold: a part of the cases is enough to reach every kind of kernel.
memory_check() {
  compute-sanitizer --tool memcheck --error-exitcode 9 "$build/tests/sinter_tests" \
    --test-case="${MEMCHECK_CASES:-*reduc*,*index*,*view*,*nearest neighbor: random*,*cuda*}" &&
    compute-sanitizer --tool memcheck --error-exitcode 9 "$build/bin/nearest_neighbor" \
      --observations 2000 --references 1000
}

for name in "$@"; do
  case $name in
    build)
      stage machine machine
      stage configure configure
      stage build compile
      ;;
    tests) stage tests suite ;;
    memcheck) stage memcheck memory_check ;;
    bench)
      stage nearest "$build/bin/nearest_neighbor" --repeat 5 --explain
      stage bench "$build/tests/bench/sinter_bench" --large
      stage bench_cpu "$build/tests/bench/sinter_bench" --device cpu
      ;;
    peers)
      stage peers python3 tests/bench/peers.py --device cuda
      stage peers_cpu python3 tests/bench/peers.py --device cpu --only numpy,numba
      ;;
    *)
      printf 'unknown stage %s\n' "$name" >&2
      exit 2
      ;;
  esac
done
[ ${#bad[@]} = 0 ] || printf 'failed: %s\n' "${bad[*]}"
[ ${#bad[@]} = 0 ]
