#!/usr/bin/env bash
# One pass over a machine with a GPU: builds, runs the tests on it, checks memory accesses, and takes the figures.
# Logs go to $OUT (build/gpu-logs) as they are written. Stages by name in the arguments, all without: build tests checks
# bench peers algorithms; lines, derivatives and several (GPUs) only where they are named. Stage checks runs those of compute-sanitizer (memcheck, racecheck,
# initcheck, synccheck), which can also be named, side by side. docs/contributing.md says what each covers and how long it
# takes.
# ARCH (90), JOBS (16) and BUILD (build) may be set, and
#   SINTER_GPU_TIME   seconds that tests and checks may take from the script's beginning (540); what has not run by then is
#                     skipped, and the stage fails
#   SINTER_FUZZ_SEED  which of the random programs run (tests/support/sample.hpp); drawn and written down where it is not set
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
out=${OUT:-$build/gpu-logs}
jobs=${JOBS:-16}
mkdir -p "$out"
[ $# -gt 0 ] || set -- build tests checks bench peers algorithms
export SINTER_DEVICE=cuda:0
export SINTER_FUZZ_SEED=${SINTER_FUZZ_SEED:-$(date +%s)}
time_limit=${SINTER_GPU_TIME:-540}
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

# seconds_left MOST : of the time limit, less what ending takes.
seconds_left() {
  local left=$((time_limit - SECONDS - 5))
  [ $left -gt "$1" ] && left=$1
  echo $((left > 1 ? left : 1))
}

# Most of the time goes into compiling kernels, which a process does on little more than one core: so there are as many
# processes as cores. They share the cache of compiled kernels. The other tests of ctest run beside them. What is exported
# here is not for the stages that follow.
suite() (
  export SINTER_CACHE_DIR=${SINTER_CACHE_DIR:-$(cd "$build" && pwd)/kernel-cache} SINTER_NUM_THREADS=2
  echo "SINTER_FUZZ_SEED=$SINTER_FUZZ_SEED"
  left=$(seconds_left $time_limit)
  setsid timeout -k 5 "$left" ctest --test-dir "$build" -V -j 2 -E '^sinter_(tests|fuzz)$' >"$out/ctest.log" 2>&1 &
  others=$!
  JOBS=$jobs TIME_LIMIT=$left DURATIONS=tests/bench/gpu_durations.txt \
    bash tests/scripts/side_by_side.sh "$out/cases.log" "$build/tests/sinter_tests" "$build/tests/sinter_fuzz"
  status=$?
  wait $others
  [ $? = 124 ] && status=1 && echo "time ran out for the tests in ctest.log"
  awk '/\*\*\*/' "$out/ctest.log"
  {
    # What was left out for want of time is counted as such; the stage fails for it all the same.
    echo "0: $(tail -n 1 "$out/cases.log")"
    echo " 0/1 Test #0: cases ....  $(tail -n 1 "$out/cases.log" | grep -q ' 0 failed,' && echo ' Passed' || echo '***Failed')  $SECONDS.00 sec"
    cat "$out/ctest.log"
  } | awk -f tests/scripts/summary.awk || status=1
  exit $status
)

# check TOOL JOBS : about a hundred cases under one tool of compute-sanitizer, small ones, since it slows kernels down a
# hundredfold, less those that unchecked_cases.txt names for the tool. Calls that fail are left to the tests: asking a
# kernel for its parameters ends with an error.
check() {
  local tool=$1 options=(--error-exitcode 9 --report-api-errors no) status
  [ "$tool" = memcheck ] || options=(--error-exitcode 9)
  grep -v -F -f <(sed -n "s/^$tool //p" tests/bench/unchecked_cases.txt) tests/bench/checked_cases.txt >"$out/$tool.only"
  JOBS=$2 TIME_LIMIT=$(seconds_left 240) ONLY=$out/$tool.only CHECKER="compute-sanitizer --tool $tool ${options[*]}" \
    DURATIONS=tests/bench/gpu_durations.txt bash tests/scripts/side_by_side.sh "$out/$tool.log" "$build/tests/sinter_tests" >"$out/$tool.sum"
  status=$?
  tail -n 25 "$out/$tool.sum"
  # A process that was ended has not come to its sum of errors.
  if grep -E '^[0-9]+: ========= (Invalid|Misaligned|Uninitialized|Error|Race|Barrier|Divergent|Program hit|Memory)' "$out/$tool.log" |
    sort | uniq -c | sort -rn | head -n 10 | grep .; then
    status=1
  fi
  printf '%s: %s\n' "$tool" "$(tail -n 1 "$out/$tool.sum")"
  rm -f "$out/$tool.sum" "$out/$tool.only"
  return $status
}

checks() (
  tools=(memcheck racecheck initcheck synccheck) pids=() verdicts=() failed=0
  export SINTER_CACHE_DIR=${SINTER_CACHE_DIR:-$(cd "$build" && pwd)/kernel-cache}
  for tool in "${tools[@]}"; do
    check "$tool" $((jobs > 4 ? jobs / 4 : 1)) &
    pids+=($!)
  done
  for k in "${!tools[@]}"; do
    if wait "${pids[k]}"; then verdicts+=("${tools[k]} passed"); else verdicts+=("${tools[k]} FAILED") failed=1; fi
  done
  echo "${verdicts[*]}"
  exit $failed
)

for name in "$@"; do
  case $name in
    build)
      stage machine machine
      stage configure configure
      stage build compile
      ;;
    tests) stage tests suite ;;
    checks) stage checks checks ;;
    memcheck | racecheck | initcheck | synccheck) stage "$name.stage" check "$name" "$jobs" ;;
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
    lines)
      stage lines "$build/tests/bench/sinter_bench" --lines
      stage sweep "$build/tests/bench/sinter_bench" --sweep --seconds 120
      stage lines_peers python3 tests/bench/lines/lines.py --sinter "$out/lines.log" --only cupy,jax,torch,compile \
        --limit 12 --seconds 165
      ;;
    several)
      count=$(nvidia-smi -L | grep -c '^GPU')
      stage collectives "$build/tests/bench/sinter_bench" --collectives
      stage scaling "$build/tests/bench/sinter_bench" --scaling --devices "$count"
      stage mesh_host "$build/tests/bench/sinter_bench" --meshes
      stage mesh_peers python3 tests/bench/mesh_peers.py --devices "$count"
      ;;
    derivatives)
      stage derivatives "$build/tests/bench/sinter_bench" --derivatives
      stage derivative_peers python3 tests/bench/derivative_peers.py
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
