#!/usr/bin/env bash
# Programs that must not compile, each for the reason it names: `// expect:` is an extended regular expression that the
# diagnostics must match; where lines end with `// refused`, an error in each of them. control.cpp must compile, so that a
# broken header cannot pass for success.
set -u
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source_dir="${SINTER_SOURCE_DIR:-$(cd "$here/../.." && pwd)}"
cxx="${CXX:-g++}"
passed=0
failed=0

field() { sed -n "s|^// $2: ||p" "$1"; }

verdict() {  # whether it is good, what was looked at
  if [ "$1" = yes ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $name$2 (C++$standard, compiled: $compiled, expected: $expect)"
    head -20 <<<"$output"
  fi
}

matches() { grep -Eq "$1" <<<"$output" && echo yes || echo no; }

for file in "$here"/*.cpp; do
  name="$(basename "$file" .cpp)"
  expect="$(field "$file" expect)"
  standards="$(field "$file" standard)"
  flags="$(field "$file" flags)"
  lines="$(sed -n '\|// refused$|=' "$file")"
  for standard in ${standards:-20}; do
    # shellcheck disable=SC2086  # flags are words
    if output="$("$cxx" "-std=c++$standard" -fsyntax-only -Wall -Wextra -Wno-unused $flags \
                 "-I$source_dir/include" "$file" 2>&1)"; then
      compiled=yes
    else
      compiled=no
    fi
    if [ "$expect" = compiles ]; then
      verdict $compiled ""
    elif [ $compiled = yes ]; then
      verdict no ""
    elif [ -z "$lines" ]; then
      verdict "$(matches "$expect")" ""
    else
      for line in $lines; do
        verdict "$(matches "/$name\.cpp:$line:.*error:.*($expect)")" ", line $line"
      done
    fi
  done
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
