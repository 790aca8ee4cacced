#!/usr/bin/env bash
# Installs what is missing, builds, and runs the nearest-airport search on the real data.
# Arguments go to the search, for instance: bash examples/run.sh --device cpu --explain
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/setup.sh

need compiler cmake ninja
want png mpi
options=(-DSINTER_BUILD_EXAMPLES=ON)
# A fresh build folder leaves the tests out, since they need more packages; an old one keeps what it has.
[ -f "$build_dir/CMakeCache.txt" ] || options+=(-DSINTER_BUILD_TESTS=OFF)
configure "${options[@]}"
build nearest_neighbor

"$build_dir/bin/nearest_neighbor" --output "$build_dir/nearest_airports.csv" "$@"
