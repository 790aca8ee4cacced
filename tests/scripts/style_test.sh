#!/usr/bin/env bash
# style.sh: which versions it takes, and what it says of a source that is not formatted. Stand-ins play clang-format.
set -u
cd "$(dirname "$0")" || exit 1
until [ -f .clang-format ] || [ "$PWD" = / ]; do cd ..; done
. tests/scripts/checks.sh

mkdir "$box/bin"
for name in bash sed head find grep sort xargs nproc dirname cat cmp; do ln -s "$(type -P $name)" "$box/bin/$name"; done
# stand_in NAME VERSION [COMMAND]; without one it finds sources formatted
# shellcheck disable=SC2016
unchanged='cat "${@: -1}"'
stand_in() {
  printf '#!/usr/bin/env bash\n[ "$1" = --version ] && { echo "clang-format version %s.0.6"; exit; }\n%s\n' "$2" \
    "${3-$unchanged}" >"$box/bin/$1" && chmod +x "$box/bin/$1"
}
style() {  # status, text: what `check` returns and says
  PATH=$box/bin bash tests/style.sh check >"$box/output" 2>&1
  [ $? = "$1" ] && { [ -z "$2" ] || grep -qF -- "$2" "$box/output"; }
}

check "nothing installed" style 77 "clang-format is not installed (Debian's package clang-format-14)"
stand_in clang-format 19
check "another version" style 1 "clang-format 19 does not do: it must be version 14 (Debian's package clang-format-14)"
stand_in clang-format-14 14
check "the right one beside it" style 0 ""
rm "$box/bin/clang-format-14"
stand_in clang-format 14
check "the right one by its plain name" style 0 ""
stand_in clang-format 14 'cat "${@: -1}"; case ${@: -1} in src/core/shape.cpp) echo "int x;" ;; esac'
check "a source that is not formatted" style 1 "src/core/shape.cpp: not formatted"
check "it is the only one" test "$(wc -l <"$box/output")" = 1

summary
