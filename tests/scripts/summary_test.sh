#!/usr/bin/env bash
# The closing line of run.sh: sums over suites, empty suites, crashes and skips.
set -u
here=$(cd "$(dirname "$0")" && pwd)
passed=0 failed=0

expect() {  # name, closing line, exit status; the output of ctest on standard input
  local output status line
  output=$(awk -f "$here/summary.awk")
  status=$?
  line=${output##*$'\n'}
  if [ "$line" = "$2" ] && [ "$status" = "$3" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s: got "%s" with status %s\n' "$1" "$line" "$status"
  fi
}

expect "counts of all suites are added" "14 passed, 0 failed, 3 skipped" 0 <<'LOG'
1: [doctest] test cases: 10 | 10 passed | 0 failed | 2 skipped
1/2 Test #1: a ............   Passed    0.10 sec
2: 4 passed, 0 failed, 1 skipped
2/2 Test #2: b ............   Passed    0.10 sec
LOG
expect "colours of doctest do not hide its counts" "2 passed, 1 failed, 0 skipped" 1 <<LOG
1: [doctest] test cases: $(printf '\033[0m')3 | $(printf '\033[0;32m')2 passed | 1 failed | 0 skipped
1/1 Test #1: a ............***Failed    0.10 sec
LOG
expect "a suite that ran no case counts as failed" "4 passed, 1 failed, 4 skipped" 1 <<'LOG'
1: [doctest] test cases: 0 | 0 passed | 0 failed | 4 skipped
2: 4 passed, 0 failed, 0 skipped
1/2 Test #1: a ............   Passed    0.10 sec
2/2 Test #2: b ............   Passed    0.10 sec
LOG
expect "a crash counts as failed" "4 passed, 1 failed, 0 skipped" 1 <<'LOG'
2: 4 passed, 0 failed, 0 skipped
1/2 Test #1: a ............***Exception: SegFault  0.10 sec
2/2 Test #2: b ............   Passed    0.10 sec
LOG
expect "a skipped suite counts as one skipped" "0 passed, 0 failed, 1 skipped" 0 <<'LOG'
1/1 Test #1: a ............***Skipped   0.10 sec
LOG
says() {  # name, a line that must be there; the output of ctest on standard input
  if awk -f "$here/summary.awk" | grep -qxF "$2"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
  fi
}
says "why a suite could not run is said" "suite interop is left out: no python3 with NumPy (python3-numpy)" <<'LOG'
1: left out: no python3 with NumPy (python3-numpy)
1: 0 passed, 0 failed, 1 skipped
1/1 Test #1: interop ............***Skipped   0.10 sec
LOG
expect "a suite that could not run is one skip" "4 passed, 0 failed, 1 skipped" 0 <<'LOG'
1: left out: no python3 with NumPy (python3-numpy)
1: 0 passed, 0 failed, 1 skipped
1/2 Test #1: interop ............***Skipped   0.10 sec
2: 4 passed, 0 failed, 0 skipped
2/2 Test #2: b ............   Passed    0.10 sec
LOG
expect "no test at all counts as failed" "0 passed, 1 failed, 0 skipped" 1 </dev/null

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
