# What tests of a program from outside share; source it with `program` set. It runs in a scratch folder $work, and every
# run leaves $work/out and $work/err.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

verdict() {  # name, 0 if it holds
  if [ "$2" = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
    head -n 20 "$work/out" "$work/err" 2>/dev/null
  fi
}

run() { "$program" "$@" >"$work/out" 2>"$work/err"; }

# works NAME PATTERN ARGUMENTS... : succeeds, says nothing on stderr, prints a line that matches.
works() {
  run "${@:3}" && [ ! -s "$work/err" ] && grep -Eq -e "$2" "$work/out"
  verdict "$1" $?
}

# refuses NAME PATTERN ARGUMENTS... : non-zero exit, one line on stderr that matches, and no crash. What the library says of
# the environment, once a process, comes before that line.
refuses() {
  run "${@:3}"
  local status=$?
  [ $status != 0 ] && [ $status -lt 100 ] && [ "$(grep -vc '^\[sinter\] SINTER_' "$work/err")" = 1 ] && grep -Eq -e "$2" "$work/err"
  verdict "$1" $?
}

# said NAME PATTERN : the last run printed a line that matches.
said() {
  grep -Eq -e "$2" "$work/out"
  verdict "$1" $?
}

summary() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ]
}
