#!/usr/bin/env bash
# The processes of side_by_side.sh and their sums, with a program in place of a test executable.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# Lists the cases of $work/cases ("suite <tab> file <tab> name <tab> what it does"), and works queues off as queue.hpp does.
cat >"$work/program" <<PROGRAM
#!/usr/bin/env bash
cases=$work/cases
PROGRAM
cat >>"$work/program" <<'PROGRAM'
if [ "${1:-}" = -ltc ]; then cut -f1-3 "$cases"; exit; fi
result=0
for q in ${SINTER_TEST_QUEUE//:/ }; do
  while :; do
    n=$( (flock 9; n=$(cat "$q.next" 2>/dev/null); echo $((${n:-0} + 1)) >"$q.next"; echo "${n:-0}") 9>"$q.lock")
    unit=$(sed -n "$((n + 1))p" "$q")
    [ -n "$unit" ] || break
    what=$(awk -F '\t' -v u="${unit#*	}" '$2 "\t" $3 == u { print $4 }' "$cases")
    printf '[unit]\tbegin\t0\t%s\n' "$unit"
    case $what in
      fail) verdict=failed result=1 ;;
      crash) kill -SEGV $$ ;;
      leave) exit 0 ;;
      hang) sleep 100 ;;
      *) verdict=passed ;;
    esac
    printf '[unit]\t%s\t1.5\t%s\n' $verdict "$unit"
  done
done
exit $result
PROGRAM
chmod +x "$work/program"

expect() {  # name, closing line, exit status, what the output must hold; the cases on standard input
  local output status line
  sed 's/ | /\t/g' >"$work/cases"
  output=$(bash "$here/side_by_side.sh" "$work/log" "$work/program" 2>&1)
  status=$?
  line=${output##*$'\n'}
  if [ "$line" = "$2" ] && [ "$status" = "$3" ] && [[ "$output" == *"$4"* ]] && [ "$(tail -n 1 "$work/log")" = "$2" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s: status %s, output\n%s\n' "$1" "$status" "$output"
  fi
}

export JOBS=3 TIME_LIMIT=60
expect "every case runs once, in whichever process" "5 passed, 0 failed, 0 skipped" 0 "" <<'CASES'
plain | tests/a_test.cpp | one, with a comma
plain | tests/a_test.cpp | two
plain | tests/ops/fft/fft_test.cpp | three
alone | tests/a_test.cpp | four
plain | tests/b_test.cpp | two
CASES
printf '20\ttests/a_test.cpp\tlong\n1\ttests/a_test.cpp\tshort\n' >"$work/durations"
DURATIONS=$work/durations expect "a divided case counts once" "2 passed, 0 failed, 0 skipped" 0 "4.5	tests/a_test.cpp	long" <<'CASES'
sharded | tests/a_test.cpp | long
plain | tests/a_test.cpp | short
CASES
expect "failures are named" "1 passed, 1 failed, 0 skipped" 1 "failed: tests/a_test.cpp: bad" <<'CASES'
plain | tests/a_test.cpp | bad | fail
plain | tests/a_test.cpp | good
CASES
expect "after a crash another process goes on" "3 passed, 1 failed, 0 skipped" 1 \
  "failed: tests/a_test.cpp: bad (its process ended without a word)" <<'CASES'
plain | tests/a_test.cpp | bad | crash
plain | tests/a_test.cpp | good
plain | tests/a_test.cpp | better
alone | tests/a_test.cpp | best
CASES
expect "a process that leaves in the middle of a case is a failure" "1 passed, 1 failed, 0 skipped" 1 \
  "failed: tests/a_test.cpp: bad (its process ended without a word)" <<'CASES'
plain | tests/a_test.cpp | bad | leave
plain | tests/a_test.cpp | good
CASES
TIME_LIMIT=3 expect "what does not end in time is left out, and not a success" "2 passed, 0 failed, 2 skipped" 1 \
  "tests/a_test.cpp: slow (was running)" <<'CASES'
plain | tests/a_test.cpp | slow | hang
plain | tests/a_test.cpp | good
plain | tests/a_test.cpp | better
alone | tests/a_test.cpp | last
CASES
echo "a_test.cpp: g" >"$work/only"
ONLY=$work/only expect "some of the cases" "1 passed, 0 failed, 0 skipped" 0 "" <<'CASES'
plain | tests/a_test.cpp | bad | fail
plain | tests/a_test.cpp | good
CASES
PART=1/2 expect "half of the cases" "2 passed, 0 failed, 0 skipped" 0 "" <<'CASES'
plain | tests/a_test.cpp | one
plain | tests/a_test.cpp | two
plain | tests/a_test.cpp | three
plain | tests/a_test.cpp | four
CASES
expect "no case at all is a failure" "0 passed, 1 failed, 0 skipped" 1 "" </dev/null

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
