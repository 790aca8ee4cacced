#!/usr/bin/env bash
# Other projects use sinter by add_subdirectory and by find_package of an installed, moved package, without CUDA.
# Takes SINTER_SOURCE_DIR and SINTER_BUILD_DIR (a finished build) from the environment.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scripts/checks.sh"

refused_for_the_comma() {
  fails cmake --build "$box/found" --target comma && cmake --build "$box/found" --target comma | grep -q 'comma'
}

# The library itself was compiled by the build under test; here only the user's own file is, by the command that the build
# would run: through the build, it would come after the library's device code, minutes of nvcc.
compile_user_file() {
  local object=CMakeFiles/consumer.dir${here}/main.cpp.o command
  command=$(ninja -C "$box/sub" -t commands "$object" | tail -n 1) && [ -n "$command" ] || return 1
  (cd "$box/sub" && mkdir -p "$(dirname "$object")" && sh -c "$command" && test -s "$object")
}
check "add_subdirectory configures" cmake -S "$here/add_subdirectory" -B "$box/sub" -G Ninja \
  -DCMAKE_BUILD_TYPE=Release -DSINTER_SOURCE_DIR="$SINTER_SOURCE_DIR"
check "add_subdirectory gives its users the headers" compile_user_file

# As after a build of the library and one example.
program=$SINTER_BUILD_DIR/src/sinter-info
check "a build whose information program is not there yet" rm "$program"
check "install" cmake --install "$SINTER_BUILD_DIR" --prefix "$box/first"
check "the program that shows what there is runs where it is installed" "$box/first/bin/sinter-info"
check "the information program is in the build again" test -x "$program"
check "the package can be moved" mv "$box/first" "$box/moved"
check "the package names no folder of its build" fails grep -rq -e "$SINTER_SOURCE_DIR" -e "$SINTER_BUILD_DIR" \
  "$box/moved" --include=*.cmake
check "find_package needs no CUDA" cmake -S "$here/find_package" -B "$box/found" -G Ninja \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$box/moved" -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON
check "the installed package links" cmake --build "$box/found" --target consumer
check "the program runs" "$box/found/consumer"
check "x[1, 2] does not compile" refused_for_the_comma

summary
