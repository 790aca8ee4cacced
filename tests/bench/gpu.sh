#!/usr/bin/env bash
# One pass over a machine with a GPU: builds, runs the tests on it, checks memory accesses, and takes the figures.
# Logs go to $OUT (build/gpu-logs). Stages by name in the arguments, all without: build tests memcheck bench peers
# algorithms.
# ARCH (90), JOBS (16) and BUILD (build) may be set.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
out=${OUT:-$build/gpu-logs}
jobs=${JOBS:-16}
mkdir -p "$out"
[ $# -gt 0 ] || set -- build tests memcheck bench peers algorithms
export SINTER_DEVICE=cuda:0
bad=()

# stage NAME COMMAND... : runs it with its output in a log, and remembers a failure. The steps of the build share a log.
stage() {
  local name=$1 log=$out/$1.log status begin=$SECONDS
  case $name in
    machine) log=$out/build.log && : >"$log" ;;
    configure | build) log=$out/build.log ;;
    *) : >"$log" ;;
  esac
  shift
  "$@" >>"$log" 2>&1
  status=$?
  [ $status = 0 ] || bad+=("$name")
  printf '%-14s exit %s, %s s: %s\n' "$name" "$status" $((SECONDS - begin)) "$(tail -n 1 "$log")"
}

configure() {
  local generator=()
  if ! [ -f "$build/CMakeCache.txt" ] && ninja --version; then generator=(-G Ninja); fi
  cmake -S . -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DSINTER_CUDA=ON \
    -DSINTER_CUDA_ARCHITECTURES="${ARCH:-90}" -DSINTER_BUILD_TESTS=ON -DSINTER_BUILD_EXAMPLES=ON
}

compile() { cmake --build "$build" -j "$jobs"; }

machine() {
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv
  uname -sr
  nproc
  git rev-parse HEAD 2>/dev/null || true
}

# suite_part NUMBER TOTAL NAME COMMAND... : one part of the suite, its output in the form that ctest -V gives it.
suite_part() {
  local number=$1 total=$2 name=$3 begin=$SECONDS status word='***Failed'
  shift 3
  "$@" >"$parts/$number.raw" 2>&1
  status=$?
  [ $status = 0 ] && word='   Passed'
  {
    # Cases of other shards are not skipped: they run there.
    sed -e '/test cases:/s/[0-9]* skipped/0 skipped/' -e "s/^/$number: /" "$parts/$number.raw"
    printf ' %s/%s Test #%s: %s ..... %s %s.00 sec\n' "$number" "$total" "$number" "$name" "$word" $((SECONDS - begin))
  } >"$parts/$number.log"
}

# One process compiles kernels on one core, so the suite runs in as many processes as there are cores to spare. They
# share the cache of compiled kernels.
suite() {
  local shards=$((jobs > 3 ? jobs - 2 : 1)) k number=0 total running=0
  parts=$(mktemp -d) || return 1
  export SINTER_CACHE_DIR=${SINTER_CACHE_DIR:-$(cd "$build" && pwd)/kernel-cache} OMP_WAIT_POLICY=passive SINTER_NUM_THREADS=2
  total=$((2 * shards + 1))
  for exe in sinter_fuzz sinter_tests; do
    for ((k = 0; k < shards; ++k)); do
      number=$((number + 1))
      [ $running -lt $shards ] || wait -n
      running=$((running < shards ? running + 1 : running))
      # What needs most of the card's memory runs alone, below.
      SINTER_TEST_SHARD=$k/$shards suite_part $number $total "$exe.$k" "$build/tests/$exe" -tce='gpu: *2^3*' &
    done
  done
  wait
  suite_part $total $total sinter_tests.large "$build/tests/sinter_tests" -tc='gpu: *2^3*'
  for ((k = 1; k <= total; ++k)); do cat "$parts/$k.log"; done >"$parts/all"
  ctest --test-dir "$build" -V -j 4 -E '^sinter_(tests|fuzz)$' 2>&1 |
    sed -E "s/^([0-9]+): /9\\1: /; s/Test( +)#([0-9]+)/Test\\1#9\\2/" >>"$parts/all"
  cat "$parts/all"
  awk -f tests/summary.awk "$parts/all"
  k=$?
  rm -rf "$parts"
  return $k
}

# The checker slows kernels down a hundredfold, so it gets one small case for every kind of generated kernel, access and
# element, and the files on what libraries and the library's own device code do. Calls that fail are left to the tests:
# asking a kernel for its parameters ends with an error. Under the checker no two
# streams run at the same time, and some of cuSOLVER's kernels take minutes: those cases are left out.
memory_check() {
  local check=(compute-sanitizer --tool memcheck --error-exitcode 9 --report-api-errors no) pids=() failed=0 pid
  "${check[@]}" "$build/bin/nearest_neighbor" --observations 2000 --references 1000 &
  pids+=($!)
  "${check[@]}" "$build/tests/sinter_tests" --test-case='every kernel shape gives the CPU*' &
  pids+=($!)
  for file in ${MEMCHECK_FILES:-products linalg random fft stream memory graph_capture interop indexing}; do
    "${check[@]}" "$build/tests/sinter_tests" --source-file="*gpu/${file}_test*" \
      --test-case-exclude='*2^3*,*thousands of small*,*seed*s sizes*,*run beside each other*,*many that is not finite*' &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
  return $failed
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
      stage ladder "$build/bin/nearest_neighbor" --method all --repeat 5
      stage bench "$build/tests/bench/sinter_bench" --large
      for rows in linalg fft random; do stage bench_$rows "$build/tests/bench/sinter_bench" --$rows; done
      stage bench_solvers "$build/tests/bench/sinter_bench_solvers"
      stage linalg_tour "$build/bin/linalg_tour"
      stage bench_cpu "$build/tests/bench/sinter_bench" --device cpu
      ;;
    peers)
      stage peers python3 tests/bench/peers.py --device cuda
      for rows in linalg fft random; do
        stage peers_$rows python3 tests/bench/peers.py --device cuda --$rows
      done
      stage peers_solvers python3 tests/bench/solver_peers.py cupy
      stage peers_cpu python3 tests/bench/peers.py --device cpu --only numpy,numba
      ;;
    algorithms)
      stage algorithms "$build/tests/bench/sinter_bench" --algorithms
      stage peer_algorithms python3 tests/bench/peers.py --algorithms --device cuda
      stage algorithm_goals awk -f tests/bench/beside.awk "$out/algorithms.log" "$out/peer_algorithms.log"
      ;;
    *)
      printf 'unknown stage %s\n' "$name" >&2
      exit 2
      ;;
  esac
done
[ ${#bad[@]} = 0 ] || printf 'failed: %s\n' "${bad[*]}"
[ ${#bad[@]} = 0 ]
