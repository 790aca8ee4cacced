#!/usr/bin/env bash
# Programs that must not compile, each for the reason it names: `// expect:` is an extended regular expression that the
# diagnostics must match. control.cpp must compile, so that a broken header cannot pass for success.
set -u
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source_dir="${SINTER_SOURCE_DIR:-$(cd "$here/../.." && pwd)}"
cxx="${CXX:-g++}"
passed=0
failed=0

comma=-Werror=comma-subscript
echo 'int main() {}' | "$cxx" -std=c++20 "$comma" -Werror -fsyntax-only -x c++ - 2>/dev/null ||
  comma=-Werror=deprecated-comma-subscript

field() { sed -n "s|^// $2: ||p" "$1"; }

for file in "$here"/*.cpp; do
  name="$(basename "$file" .cpp)"
  expect="$(field "$file" expect)"
  standards="$(field "$file" standard)"
  flags="$(field "$file" flags)"
  for standard in ${standards:-20}; do
    # shellcheck disable=SC2086  # flags are words
    if output="$("$cxx" "-std=c++$standard" -fsyntax-only -Wall -Wextra -Wno-unused $comma $flags \
                 "-I$source_dir/include" "$file" 2>&1)"; then
      compiled=yes
    else
      compiled=no
    fi
    if [ "$expect" = compiles ]; then
      good=$compiled
    elif [ $compiled = yes ]; then
      good=no
    else
      good=no
      grep -Eq "$expect" <<<"$output" && good=yes
    fi
    if [ $good = yes ]; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "FAILED $name (C++$standard, compiled: $compiled, expected: $expect)"
      head -20 <<<"$output"
    fi
  done
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
