#!/usr/bin/env bash
# Folders include what the table of rooms (edges.txt) allows them to, and neither they nor their files grow too large. The check
# itself is tested with a small tree of its own and with a wrong line planted into a copy of the real one.
set -u
export LC_ALL=C  # the order of names
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source_dir="${SINTER_SOURCE_DIR:-$(cd "$here/../.." && pwd)}"
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
passed=0 failed=0

check() {  # name, command...: what the command said is shown where it fails
  if "${@:2}" >"$box/now" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
    cat "$box/now"
  fi
}

# rooms TREE EDGES LARGE: what is wrong with a tree's sources, a line each.
rooms() {
  (
    cd "$1" || exit 1
    find -L include src jit tests examples -type f 2>/dev/null | grep -E '\.(cpp|hpp|h|inl|cu|cuh|def)$' | sort >"$box/list"
    mapfile -t sources <"$box/list"
    awk -f "$here/check.awk" part=1 "$2" part=2 "$3" part=3 "$box/list" part=4 "${sources[@]}"
  )
}
says() {  # text, command...: the command fails and says nothing but one line, with that text
  ! "${@:2}" >"$box/said" 2>&1 && cat "$box/said" && [ "$(wc -l <"$box/said")" = 1 ] && grep -qF -- "$1" "$box/said"
}

check "folders include what they may, and are not too large" rooms "$source_dir" "$here/edges.txt" "$here/large.txt"

# ---- a small tree

tree=$box/tree
mkdir -p "$tree"/{include/sinter,src/low/deep,src/high,tests}
cat >"$box/edges" <<'TXT'
# comment
include      :
src/low      : include
src/low/deep : include src/low
src/high     : include src/low
TXT
echo '# none' >"$box/large"
echo '#include <vector>' >"$tree/include/sinter/a.hpp"
printf '%s\n' '// #include "high/h.hpp"' '#include "sinter/a.hpp"' >"$tree/src/low/l.hpp"
printf '%s\n' '#include "../l.hpp"' >"$tree/src/low/deep/d.cpp"
printf '%s\n' '  #  include "low/l.hpp"' '#include "h.hpp"  // itself' >"$tree/src/high/h.hpp"
printf '%s\n' '#include "high/h.hpp"' '#include "../src/low/deep/d.cpp"' >"$tree/tests/t.cpp"
# planted FILE LINE TEXT: the line, at the end of the file, is found out with that text; then it is taken away again.
planted() {
  local file=$tree/$1
  [ ! -f "$file" ] || cp "$file" "$box/before"
  printf '%b\n' "$2" >>"$file"
  says "$3" rooms "$tree" "$box/edges" "$box/large"
  local good=$?
  if [ -f "$box/before" ]; then mv "$box/before" "$file"; else rm "$file"; fi
  return $good
}
check "a tree that keeps to its table passes" rooms "$tree" "$box/edges" "$box/large"
check "an include upwards fails" planted src/low/l.hpp '#include "high/h.hpp"' \
  "src/low/l.hpp:3: src/low may not include src/high (high/h.hpp)"
check "an include in angle brackets counts" planted src/low/l.hpp '#include <high/h.hpp>' "src/low/l.hpp:3: "
check "an include beside the table fails" planted src/high/h.hpp '#include "../low/deep/d.cpp"' \
  "src/high/h.hpp:3: src/high may not include src/low/deep (../low/deep/d.cpp)"
check "an include of a test fails" planted src/high/h.hpp '#include "../../tests/t.cpp"' \
  "src/high may not include tests/t.cpp"
check "an include of nothing fails" planted src/high/h.hpp '#include "gone.hpp"' "src/high/h.hpp:3: there is no gone.hpp"
check "a file without a room fails" planted src/other.cpp '' "src/other.cpp: is in no room of the table"
check "a long file fails" planted src/low/l.hpp "$(printf '\\n%.0s' {1..500})" "src/low/l.hpp: has more than 500 lines"
touch "$tree/src/high"/f{1..25}.cpp
check "a full folder fails" says "src/high: has 26 files, more than 25" rooms "$tree" "$box/edges" "$box/large"
echo 'src/high one for each' >"$box/large"
check "it may be named" rooms "$tree" "$box/edges" "$box/large"
rm "$tree/src/high"/f*.cpp
check "a name that is not needed fails" says "large:1: src/high is not large" rooms "$tree" "$box/edges" "$box/large"
echo '# none' >"$box/large"
echo 'src/late : src/later' >>"$box/edges"
check "a table that is no order of layers fails" says "src/later is no room above src/late" rooms "$tree" "$box/edges" \
  "$box/large"

# ---- the real tree, so that the check cannot be blind

mkdir "$box/real"
cp -r "$source_dir"/{include,src,jit} "$box/real"
ln -s "$source_dir"/{tests,examples} "$box/real"
low=$(cd "$box/real" && find src/core -name '*.hpp' | sort | head -n 1)
high=$(cd "$box/real/src" && find ops -name '*.hpp' | sort | head -n 1)
printf '#include "%s"\n' "$high" >>"$box/real/$low"
check "an include of src/ops from src/core fails" says \
  "$low:$(wc -l <"$box/real/$low"): src/core may not include src/ops" rooms "$box/real" "$here/edges.txt" "$here/large.txt"

echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
