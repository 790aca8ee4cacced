#!/usr/bin/env bash
# Every public header compiles alone and warns about nothing, includes no internal header and is part of sinter.hpp,
# or says that it is not;
# ndarray.hpp stays light: its own lines and the standard headers that it pulls in are bounded.
# page.cpp, a page of ordinary user code, compiles under both standards.
set -u
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source_dir="${SINTER_SOURCE_DIR:-$(cd "$here/../.." && pwd)}"
cxx="${CXX:-g++}"
budget=60000      # preprocessed lines that are not blank; the standard library of GCC 12 alone takes 47000
own_budget=2500   # of them in sinter's own headers
. "$here/../scripts/checks.sh"

for header in "$source_dir"/include/sinter/*.hpp; do
  name="sinter/$(basename "$header")"
  check "$name alone" "$cxx" -std=c++20 -Wall -Wextra -Wshadow -Werror -fsyntax-only "-I$source_dir/include" -x c++ - \
    <<<"#include \"$name\""
  check "$name has no internal includes" bash -c \
    "! grep -E '^#include \"' '$header' | grep -vE '^#include \"sinter/'"
  [ "$name" = sinter/sinter.hpp ] || grep -q "Not part of sinter.hpp" "$header" ||
    check "sinter.hpp includes $name" grep -qx "#include \"$name\"" "$source_dir/include/sinter/sinter.hpp"
done

for standard in 20 2b; do
  check "page.cpp in C++$standard" "$cxx" "-std=c++$standard" -Wall -Wextra -Werror -Wno-unused-value \
    -fsyntax-only "-I$source_dir/include" "$here/page.cpp"
done

lines="$("$cxx" -std=c++20 -E "-I$source_dir/include" -x c++ - <<<'#include "sinter/ndarray.hpp"' |
  awk '/^# [0-9]+ "/ { own = index($3, "/sinter/") > 0; next }
       NF { all += 1; mine += own }
       END { print all, mine }')"
read -r all mine <<<"$lines"
check "ndarray.hpp: $all preprocessed lines, $budget allowed" test "$all" -le "$budget"
check "ndarray.hpp: $mine lines of sinter, $own_budget allowed" test "$mine" -le "$own_budget"

summary
