# Prints the names of a list that no code of the pages says:
#   awk -f unexplained.awk part=1 NAMES part=2 PAGES
part == 1 {
  if (NF && $1 !~ /^#/) wanted[$1] = 1
  next
}
{
  n = split($0, piece, "`")
  for (k = 2; k <= n; k += 2) {
    rest = piece[k]
    while (match(rest, /[A-Za-z_][A-Za-z_0-9]*/)) {
      delete wanted[substr(rest, RSTART, RLENGTH)]
      rest = substr(rest, RSTART + RLENGTH)
    }
  }
}
END {
  for (name in wanted) {
    print "no page says what becomes of NumPy's " name
    failed = 1
  }
  exit failed
}
