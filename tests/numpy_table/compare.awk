# Compares what headers declare with what pages say, and prints a line for each difference.
#   awk -f compare.awk part=1 not_listed.txt part=2 NAMES part=3 PAGES
# with the output of public_names.awk in NAMES and of table_names.awk in PAGES. not_listed.txt: a name and the reason
# why no page needs it.

part == 1 {
  if (NF && $1 !~ /^#/) {
    if (NF < 2) complain($1 " is in not_listed.txt without a reason")
    not_listed[$1] = 1
  }
  next
}
{ split($0, at, "\t") }
part == 2 {
  where[at[1], at[2]] = at[3] ":" at[4]
  declared[at[2]] = at[1]
  if (at[1] == "member" || at[1] == "field") inside[substr(at[2], index(at[2], ".") + 1)] = 1
  if (at[1] == "field") field[substr(at[2], index(at[2], ".") + 1)] = 1
  next
}
{
  said[at[1], at[2]] = 1
  place = at[3] ":" at[4] ": "
  if (at[1] == "fault") complain(place at[2])
  if (at[1] == "claim" && !exists(at[2])) complain(place "sn::" at[2] " does not exist")
  if (at[1] == "part" && !(at[2] in inside)) complain(place "there is no member " at[2])
  if (at[1] == "keyword" && !(at[2] in field)) complain(place "there is no keyword " at[2])
}

function exists(name,   scope) {
  if (name in declared || name in inside) return 1
  scope = name  # an enumerator or a static member: the compiler looks at them
  return sub(/::[^:]*$/, "", scope) && declared[scope] == "type"
}

function complain(text) { print text; failed = 1 }

function missing(what, name) {
  if (!(name in not_listed)) complain(where[what, name] ": the table has no line for the " what " " name)
}

END {
  for (key in where) {
    split(key, at, SUBSEP)
    if (at[1] == "function" && !said["row", at[2]]) missing("function", at[2])
    if (at[1] == "member" && at[2] ~ /^ndarray\./ && !said["part", substr(at[2], 9)]) missing("member", at[2])
    if (at[1] == "type" && at[2] !~ /_(kw|result)$/ && !said["mention", at[2]]) missing("type", at[2])
    if (at[1] == "constant" && !said["mention", at[2]]) missing("constant", at[2])
  }
  for (name in not_listed)
    if (!(name in declared)) complain("not_listed.txt: " name " does not exist")
  exit failed
}
