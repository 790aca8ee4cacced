# Prints the spellings of a list that no code of the pages has, whole: `x.sort` is in `x.sort(0)`, not in `x.sorted`.
#   awk -f unspelled.awk part=1 SPELLINGS part=2 PAGES
# Of alternatives, which | separates, one is enough. A name without a dot must not follow one.
part == 1 {
  if (NF && $0 !~ /^#/) wanted[$0] = 1
  next
}
{
  n = split($0, piece, "`")
  for (k = 2; k <= n; k += 2) code[++count] = piece[k]
}
function is_in(name, text,    at, before, behind, from) {
  from = 1
  while ((at = index(substr(text, from), name)) > 0) {
    at += from - 1
    before = at > 1 ? substr(text, at - 1, 1) : " "
    behind = substr(text, at + length(name), 1)
    if (before !~ /[A-Za-z0-9_]/ && (name ~ /[^A-Za-z0-9_]$/ || behind !~ /[A-Za-z0-9_]/) && (name ~ /\./ || before != ".")) return 1
    from = at + 1
  }
  return 0
}
END {
  for (line in wanted) {
    n = split(line, choice, "|")
    found = 0
    for (k = 1; k <= n && !found; ++k)
      for (c = 1; c <= count && !found; ++c) found = is_in(choice[k], code[c])
    if (found) continue
    print "no page says what becomes of " line
    failed = 1
  }
  exit failed
}
