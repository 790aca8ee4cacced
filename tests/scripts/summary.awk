# Adds up what the suites counted themselves, from the output of `ctest -V`. Closes with "N passed, N failed, N skipped".
# A suite that ended badly without counting a failure, or that ran no case at all, counts as one failure; one that cannot
# run (exit code 77) as one skip, and why it cannot is written above the closing line.

# Output lines of test 3 begin with "3: ". A suite may print several summaries: all are added.
match($0, /^[0-9]+: /) {
  test = substr($0, 1, RLENGTH - 2) + 0
  line = substr($0, RLENGTH + 1)
  gsub(/\033\[[0-9;]*m/, "", line)
  if (line ~ /^\[doctest\] test cases:/) {
    gsub(/[^0-9|]/, "", line)
    split(line, part, "|")
    add(test, part[2], part[3], part[4])
  } else if (line ~ /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/) {
    split(line, word, " ")
    add(test, word[1], word[3], word[5])
  } else if (line ~ /^left out: /) {
    reason[test] = substr(line, 11)
  }
  next
}

# " 2/7 Test #3: consumer ....   Passed    1.20 sec"
/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
  test = $0
  sub(/^.*Test +#/, "", test)
  name = test
  test += 0
  sub(/^[0-9]+: +/, "", name)
  sub(/ .*$/, "", name)
  seen++
  if (/\*\*\*Skipped/) {
    if (skipped[test] == 0) skipped[test] = 1
    print "suite " name " is left out: " (test in reason ? reason[test] : "it gave no reason")
  } else if (/ Passed +[0-9.]+ sec/) {
    if (passed[test] + failed[test] == 0) complain(test, name, "ran no case")
  } else if (failed[test] == 0) {
    complain(test, name, "ended badly")
  }
}

function add(test, p, f, s) {
  passed[test] += p
  failed[test] += f
  skipped[test] += s
}

function complain(test, name, why) {
  print "suite " name " " why
  failed[test]++
}

END {
  if (seen == 0) complain(0, "list", "is empty: no test ran")
  for (test in passed) p += passed[test]
  for (test in failed) f += failed[test]
  for (test in skipped) s += skipped[test]
  printf "%d passed, %d failed, %d skipped\n", p, f, s
  exit f > 0
}
