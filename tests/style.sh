#!/usr/bin/env bash
# The style that programs can check, with the versions of Debian 12, since others format and warn differently.
#   bash tests/style.sh check            every source is formatted as .clang-format says; names each that is not
#   bash tests/style.sh fix              formats them
#   bash tests/style.sh tidy [SOURCE...] clang-tidy with .clang-tidy over these sources, or all of the library (long: 3 s each)
# SINTER_BUILD_DIR/tidy (build/tidy) has the compile commands for tidy. Exit code 77: the program is not installed.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
version=14

# find_tool NAME: sets `tool` to it in the one version.
find_tool() {
  local name found=
  for name in "$1-$version" "$1"; do
    tool=$(command -v "$name") || continue
    found=$("$tool" --version | sed -n 's/.*version \([0-9]*\).*/\1/p' | head -n 1)
    [ "$found" != "$version" ] || return 0
  done
  if [ -n "$found" ]; then
    echo "$1 $found does not do: it must be version $version (Debian's package $1-$version)" >&2
    exit 1
  fi
  echo "$1 is not installed (Debian's package $1-$version)" >&2
  exit 77
}

# What is formatted: not the preludes, which are part of the generated source; nor loops and tables of macros (*.inl, *.def),
# which are no C++ by themselves; nor programs that must not compile, whose errors have their lines.
sources() {
  find include src jit tests examples -type f | grep -E '\.(cpp|hpp|cu|cuh)$' |
    grep -vE '^(jit/prelude|tests/compile_fail)/' | sort
}

case ${1-} in
  check | fix)
    find_tool clang-format
    if [ "$1" = fix ]; then
      sources | xargs -P "$(nproc)" -n 40 "$tool" --style=file -i
    else
      # Not by -Werror: version 14 warns of the comment at the end of `namespace a::inline b`, and writes the same one.
      # shellcheck disable=SC2016
      sources | xargs -P "$(nproc)" -n 40 bash -c '
        for f; do "$0" --style=file "$f" | cmp -s - "$f" || printf "%s: not formatted (bash tests/style.sh fix)\n" "$f"; done' \
        "$tool" | sort | { ! grep .; }
    fi
    ;;
  tidy)
    find_tool clang-tidy
    folder=${SINTER_BUILD_DIR:-build}/tidy
    mkdir -p "$folder"
    cmake -S . -B "$folder" -G Ninja -DSINTER_UNITY=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >"$folder/configure.log" 2>&1 || {
      cat "$folder/configure.log" >&2
      exit 1
    }
    if [ $# -gt 1 ]; then
      printf '%s\n' "${@:2}"
    else
      sed -n "s|^ *\"file\": \"$PWD/\(\(src\|jit\)/.*\.cpp\)\".*|\1|p" "$folder/compile_commands.json" | sort -u
    fi | xargs -P "$(nproc)" -n 4 "$tool" -p "$folder" --quiet --extra-arg=-Wno-unknown-warning-option 2>&1 |
      grep -vE '^[0-9]+ warnings? generated'
    [ "${PIPESTATUS[1]}" = 0 ]
    ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 1
    ;;
esac
