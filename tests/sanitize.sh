#!/usr/bin/env bash
# The CPU suite under a sanitizer: sanitize.sh asan (AddressSanitizer and UBSanitizer) or sanitize.sh tsan (ThreadSanitizer).
# With a second argument i/n only the i-th of n parts, for machines on which the whole takes too long. Builds in
# build-asan or build-tsan, and writes tests.log there as the cases run; JOBS, ONLY and TIME_LIMIT as in side_by_side.sh.
set -eu
cd "$(dirname "$0")/.."
preset=${1:?sanitize.sh asan or tsan, and i/n for a part}
build=build-$preset
jobs=${JOBS:-$(nproc)}
[ "$preset" = asan ] || [ "$preset" = tsan ] || { echo "no preset of a sanitizer is called $preset" >&2; exit 2; }

cmake --preset "$preset" >"$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }
rm -f "$build.log"
cmake --build "$build" -j "$jobs" --target sinter_tests sinter_fuzz

# Children that a case starts inherit these. Leaks are looked for where a process ends: nothing of the library's own that
# lives as long as the process is lost, as pointers to it stay.
# OpenBLAS is not instrumented: what its threads do in turn looks like a race.
echo race:libopenblas >"$build/suppressions"
export UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS="second_deadlock_stack=1 suppressions=$PWD/$build/suppressions"
# Compiling kernels takes the sanitized suite no longer than any other, running them does: a sample of the programs.
export SINTER_FUZZ_SAMPLE=${SINTER_FUZZ_SAMPLE:-4} SINTER_FUZZ_COMPILED=${SINTER_FUZZ_COMPILED:-8}
DURATIONS=tests/bench/gpu_durations.txt JOBS=$jobs PART=${2:-0/1} bash tests/scripts/side_by_side.sh "$build/tests.log" "$build/tests/sinter_tests" "$build/tests/sinter_fuzz"
