#!/usr/bin/env bash
# Installs what is missing, builds, runs every test, and closes with the counts summed over the suites.
# Arguments go to ctest, for instance: bash tests/run.sh -R consumer
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/setup.sh

need compiler cmake ninja doctest
want png openblas lapacke fftw superlu mpi zip numpy
configure -DSINTER_BUILD_TESTS=ON -DSINTER_BUILD_EXAMPLES=ON
build

log=$build_dir/tests.log
ctest --test-dir "$build_dir" -V -j "$(nproc)" "$@" 2>&1 | tee "$log"
say
awk -f tests/scripts/summary.awk "$log"
