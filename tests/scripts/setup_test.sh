#!/usr/bin/env bash
# setup.sh on machines that lack things: what it asks apt for, and what it says where nothing can be installed.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/scripts/checks.sh

# A folder for PATH with the plain tools, and programs that stand in for the others.
tools() {
  rm -rf "$box/bin"
  mkdir "$box/bin"
  local name
  for name in bash cat sed sort grep id env dirname mktemp rm tail true; do ln -s "$(type -P $name)" "$box/bin/$name"; done
}
# A name may be a link to the machine's own program: writing through it would destroy that.
stand_in() {
  rm -f "$box/bin/$1"
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$box/bin/$1" && chmod +x "$box/bin/$1"
}
needs() {
  PATH=$box/bin CXX=c++ bash -c '. tests/setup.sh; need "$@"' - "$@" >"$box/output" 2>&1
}
once() { [ "$(grep -c "$1" "$box/output")" = 1 ] || ! cat "$box/output"; }

tools
check "no apt and no sudo: exit 1" fails needs compiler cmake ninja
check "no apt and no sudo: the exact package list, once" once "again: g++ cmake ninja-build$"

tools
stand_in cmake 'echo "cmake version 3.22.1"'
stand_in ninja 'echo 1.11'
stand_in id 'echo 1000'
stand_in apt-get 'exit 1'
stand_in sudo 'exit 1'
check "a CMake that is too old, and sudo that wants a password: exit 1" fails needs cmake ninja
check "only what is missing is listed" once "again: cmake$"

stand_in sudo 'shift; exec "$@"'
stand_in apt-get "echo \"\$*\" >>$box/apt
case \"\$*\" in *install*) printf '#!/usr/bin/env bash\necho cmake version 3.25.1\n' >$box/bin/cmake ;; esac"
check "sudo -n installs what is missing" needs cmake ninja
check "apt is asked for exactly that" grep -q 'install .* cmake$' "$box/apt"

rm -f "$box/apt"
check "nothing is missing: no complaint" needs cmake ninja
check "nothing is missing: apt is never called" test ! -e "$box/apt"

stand_in apt-get 'exit 100'
rm -f "$box/bin/ninja"
check "apt that fails (offline): exit 1" fails needs cmake ninja
check "apt that fails: the list, once" once "again: ninja-build$"

# What a build can do without.
wants() {
  PATH=$box/bin CXX=c++ bash -c '. tests/setup.sh; have_png() { [ -e "$HAVE" ]; }; want png' >"$box/output" 2>&1
}
export HAVE=$box/libpng
tools
check "no libpng, nothing to install with: goes on" wants
check "no libpng, nothing to install with: says so, once" once "Going on without: libpng-dev$"
stand_in id 'echo 0'
stand_in apt-get 'exit 100'
check "no libpng, apt fails: goes on" wants
check "no libpng, apt fails: says so, once" once "Going on without: libpng-dev$"
stand_in apt-get "case \"\$*\" in *install*libpng-dev) : >$HAVE ;; esac"
check "no libpng, apt works: installs it" wants
check "libpng was installed" test -e "$HAVE"
check "no libpng, apt works: does not go on without" fails grep -q "Going on without" "$box/output"

# A python that somebody built lacks what the distribution's has, and the other way round.
numpy_missing() {
  PATH=$box/bin CXX=c++ bash -c '. tests/setup.sh; [ "$(missing_packages numpy)" = python3-numpy ]' >"$box/output" 2>&1
}
tools
stand_in python3 'exit 0'
check "the first python3 has NumPy: nothing to install" fails numpy_missing
if ! /usr/bin/python3 -c 'import numpy' >/dev/null 2>&1; then
  stand_in python3 'exit 1'
  check "a python3 without NumPy: the distribution's is asked for" numpy_missing
  rm -f "$box/bin/python3"
  check "no python3: the distribution's is asked for" numpy_missing
fi

# clang, which continuous integration wants beside the compiler of the machine.
clang_missing() {
  PATH=$box/bin CXX=c++ bash -c '. tests/setup.sh; [ "$(missing_packages clang)" = clang ]' >"$box/output" 2>&1
}
tools
check "no clang++: clang is asked for" clang_missing
stand_in clang++ 'exit 1'
check "a clang++ that is too old: clang is asked for" clang_missing
stand_in clang++ 'exit 0'
check "a clang++ that will do: nothing to install" fails clang_missing

# Only a build folder that the scripts make themselves is one for building from nothing.
configures() {
  PATH=$box/bin SINTER_BUILD_DIR=$box/build bash -c '. tests/setup.sh; configure -DSINTER_BUILD_TESTS=ON' >"$box/output" 2>&1
}
tools
stand_in cmake "echo \"\$*\" >$box/cmake"
check "a fresh build folder is configured" configures
check "a fresh build folder compiles many sources at a time" grep -q -e '-DSINTER_UNITY=ON .*-DSINTER_BUILD_TESTS=ON' "$box/cmake"
mkdir -p "$box/build" && echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >"$box/build/CMakeCache.txt"
check "an old build folder is configured" configures
check "an old build folder keeps what it was made with" fails grep -q SINTER_UNITY "$box/cmake"
echo "CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere" >"$box/build/CMakeCache.txt"
check "a build folder of a moved clone is configured" configures
check "a build folder of a moved clone is a fresh one" grep -q -e -DSINTER_UNITY=ON "$box/cmake"

# The suite that needs NumPy is skipped, with the reason, where no python has it.
mute=$box/mute
printf '#!/bin/sh\nexit 1\n' >"$mute" && chmod +x "$mute"
SINTER_TEST_PYTHON=$mute bash tests/interop/run.sh none >"$box/output" 2>&1
check "no NumPy: the suite ends as skipped" test $? = 77
check "no NumPy: one skip" once "^0 passed, 0 failed, 1 skipped$"
check "no NumPy: the reason" once "^left out: no .* with NumPy"

summary
