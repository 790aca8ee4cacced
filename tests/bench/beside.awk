# Puts the rows of sinter_bench --algorithms and of peers.py --algorithms next to each other, and says which goals are
# reached:  awk -f beside.awk SINTER_LOG PEERS_LOG
# A goal is "<= N ms" or "<= N x CuPy"; one that needs a figure of CuPy which is missing stays open.

FNR == 1 {
  ++part
  table = 0
}
!/^\|/ { table = 0; next }
{ ++table; split($0, cell, / *\| */) }
# A table of the wanted form begins with its names and a row of dashes.
table == 1 { wanted = part == 1 ? cell[4] == "goal" : cell[2] == "library" }
table < 3 || !wanted { next }
part == 1 {
  work[++rows] = cell[2]
  ms[cell[2]] = cell[3]
  goal[cell[2]] = cell[4]
  scratch[cell[2]] = cell[5]
  limit[cell[2]] = cell[6]
}
part == 2 {
  name = cell[2]
  sub(/ .*/, "", name)
  if (!(name in column)) {
    column[name] = ++peers
    title[peers] = cell[2]
  }
  peer_rows[cell[3]] = 1
  peer_ms[cell[3], column[name]] = cell[4]
  peer_scratch[cell[3], column[name]] = cell[5]
}

function is_number(text) { return text ~ /^[0-9]+(\.[0-9]+)?$/ }

# "yes", "no", "open" for a figure that is missing, "" without a goal.
function verdict(name,   word, bound) {
  if (goal[name] == "") return ""
  split(goal[name], word, " ")
  bound = word[2]
  if (goal[name] ~ / x CuPy$/) {
    if (!is_number(peer_ms[name, column["CuPy"]])) return "open"
    bound *= peer_ms[name, column["CuPy"]]
  }
  if (!is_number(ms[name])) return "no"
  return ms[name] <= bound ? "yes" : "no"
}

function fits(name) {
  if (limit[name] == "") return ""
  return is_number(scratch[name]) && scratch[name] <= limit[name] ? "yes" : "no"
}

function with_scratch(time, memory) { return memory == "" ? time : time " (" memory ")" }

END {
  print "Milliseconds, in brackets the scratch memory in multiples of the input's bytes.\n"
  head = "| work | sinter |"
  line = "| --- | ---: |"
  for (k = 1; k <= peers; ++k) {
    head = head " " title[k] " |"
    line = line " ---: |"
  }
  print head " goal | reached | scratch at most | kept |\n" line " --- | --- | ---: | --- |"
  for (r = 1; r <= rows; ++r) {
    name = work[r]
    text = "| " name " | " with_scratch(ms[name], scratch[name]) " |"
    for (k = 1; k <= peers; ++k) text = text " " with_scratch(peer_ms[name, k], peer_scratch[name, k]) " |"
    print text " " goal[name] " | " verdict(name) " | " limit[name] " | " fits(name) " |"
    ++count[verdict(name)]
    ++bounds[fits(name)]
  }
  print ""
  for (name in peer_rows)
    if (!(name in ms)) print "sinter has no row " name
  printf "%d goals reached, %d not, %d open; ", count["yes"], count["no"], count["open"]
  printf "%d scratch limits kept, %d not\n", bounds["yes"], bounds["no"]
  exit rows == 0
}
