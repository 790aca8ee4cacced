# What tests that run commands share; source it. They get a scratch folder $box, and `summary` closes them.
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
passed=0 failed=0

# check NAME COMMAND... : the command succeeds. $box/said is what it says, and shown where it fails.
check() {
  if "${@:2}" >"$box/now" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
    head -n 60 "$box/now"
  fi
  mv "$box/now" "$box/said"
}
fails() { ! "$@"; }

summary() {
  echo "$passed passed, $failed failed, 0 skipped"
  [ "$failed" = 0 ]
}
