# Adds up what the processes of side_by_side.sh wrote: first the queues ("i/n <tab> file <tab> name"), then the logs, whose
# lines may begin with a process's number. A case passed if all its parts did; one of which a part never ended is a failure,
# or left out where time ran out (late=1). Writes what failed, what was left out and the slowest cases, then
# "N passed, N failed, N skipped"; durations=FILE gets the seconds of each case. Fails if anything failed or was left out.

BEGIN { FS = OFS = "\t" }

FILENAME ~ /\.queue$/ {
  parts[$2 FS $3]++
  next
}

{
  line = $0
  sub(/^[0-9]+: /, "", line)
}

line ~ /^\[unit\]\tstatus\t/ {
  split(line, w, FS)
  bad_status[w[3] " of " w[4]]++
  next
}

line ~ /^\[unit\]\t(begin|passed|failed)\t/ {
  split(line, w, FS)
  key = w[5] FS w[6]
  if (w[2] == "begin") begun[key]++
  else {
    ended[key]++
    seconds[key] += w[3]
    if (w[2] == "failed") failures[key]++
  }
}

END {
  sorter = "sort -k1,1rn >'" durations "'"
  for (key in parts) {
    split(key, w, FS)
    if (failures[key] || (begun[key] > ended[key] && !late)) {
      failed++
      print "failed: " w[1] ": " w[2] (failures[key] ? "" : " (its process ended without a word)")
    } else if (ended[key] >= parts[key]) {
      passed++
    } else if (late) {
      skipped++
      left_out[skipped] = w[1] ": " w[2] (begun[key] > ended[key] ? " (was running)" : "")
    } else {
      failed++
      print "failed: " w[1] ": " w[2] " (never ran)"
    }
    if (ended[key]) slow[key] = seconds[key]
  }
  for (status in bad_status) {
    if (!failed) failed = 1
    print "failed: a process ended with status " status
  }
  if (skipped) {
    print "time ran out; left out:"
    for (k = 1; k <= skipped && k <= 40; ++k) print "  " left_out[k]
    if (skipped > 40) print "  and " (skipped - 40) " more"
  }
  if (durations) {
    for (key in slow)
      if (slow[key] >= 1) printf "%.1f\t%s\n", slow[key], key | sorter
    close(sorter)
    print "slowest cases, in seconds of all their processes:"
    for (k = 0; k < 20 && (getline row < durations) > 0; ++k) print "  " row
  }
  if (!(passed + failed + skipped)) failed = 1
  printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
  exit failed + skipped > 0
}
