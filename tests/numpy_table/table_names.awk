# Prints what pages of the NumPy table say, one tab-separated line each: kind, name, file, line. A table's first column
# is NumPy's or CuPy's spelling, its second one sinter's.
#   row NAME      a function or member that the second column spells
#   claim NAME    a name that must exist: sn::NAME anywhere, and a name alone in the second column
#   part NAME     what stands behind a dot in the second column: a member of something
#   keyword NAME  {.NAME = ...} in the second column
#   mention NAME  a name in code outside of the first column
#   code TEXT     a spelling that a compiler can check
#   fault TEXT    something that is no table
# "the same" in the second column stands for the spelling of the first one, with sn:: for np.

BEGIN { OFS = "\t" }

FNR == 1 { end_of_table(); fenced = 0; file = FILENAME }
END { end_of_table() }

/^```/ { fenced = !fenced; end_of_table(); next }
fenced { code($0, 0); next }
!/^\|/ {
  end_of_table()
  spans($0, 0)
  next
}
{
  ++rows
  text = $0
  gsub(/\\\|/, "\001", text)
  cells = split(text, cell, "|")
  for (k = 1; k <= cells; ++k) gsub(/\001/, "|", cell[k])
  if (rows == 1) {
    began = FNR
    ours = cell[3] ~ /^ *sinter *$/
    next
  }
  if (rows == 2) {
    if ($0 !~ /^\|[-: |]+\|$/) say("fault", "a row outside of a table: " $0, FNR)
    next
  }
  for (k = ours ? 3 : 2; k < cells; ++k) spans(cell[k], ours && k == 3)
  if (ours && cell[3] ~ /^ *the same/) same(cell[2])
}

function end_of_table() {
  if (rows == 1) print "fault", "a table of one row", file, began
  rows = 0
}

# The code between backticks.
function spans(text, second,   part, n, k) {
  n = split(text, part, "`")
  for (k = 2; k <= n; k += 2) code(part[k], second)
}

function code(text, second,   rest, name, before) {
  if (second && !python && text ~ /[^A-Za-z_0-9:.]/) say("code", text)
  if (second && text ~ /^[A-Za-z_][A-Za-z_0-9]*(\(.*)?$/) {
    name = text
    sub(/\(.*/, "", name)
    say("row", name)
    if (name == text) say("claim", name)
  }
  rest = text
  gsub(/"([^"\\]|\\.)*"/, "\"\"", rest)
  before = " "
  while (rest != "") {
    if (match(rest, /^sn::[A-Za-z_][A-Za-z_0-9]*(::[A-Za-z_][A-Za-z_0-9]*)*/)) {
      name = substr(rest, 5, RLENGTH - 4)
      say("claim", name)
      if (second) say("row", name)
      do say("mention", name); while (sub(/::[^:]*$/, "", name))
    } else if (match(rest, /^\.[A-Za-z_][A-Za-z_0-9]*/) && before != ".") {
      name = substr(rest, 2, RLENGTH - 1)
      # (x).name and f<T>().name are members, {.name = ...} is a keyword.
      if (second) say(before ~ /[A-Za-z_0-9)\]]/ ? "part" : "keyword", name)
    } else if (match(rest, /^[A-Za-z_][A-Za-z_0-9]*/)) {
      say("mention", substr(rest, 1, RLENGTH))
    } else match(rest, /^[0-9][A-Za-z_0-9.]*|^./)
    before = substr(rest, RLENGTH, 1)
    rest = substr(rest, RLENGTH + 1)
  }
}

# What the first column spells is sinter's spelling too.
function same(text,   part, n, k) {
  python = 1
  n = split(text, part, "`")
  for (k = 2; k <= n; k += 2) {
    if (part[k] ~ /(^|[^A-Za-z_0-9.])(np|cupy|cupyx)\./) {
      gsub(/(cupyx|cupy|np)\./, "sn::", part[k])
      while (match(part[k], /::[A-Za-z_][A-Za-z_0-9]*\.[A-Za-z_]/))
        part[k] = substr(part[k], 1, RSTART + RLENGTH - 3) "::" substr(part[k], RSTART + RLENGTH - 1)
    }
    code(part[k], 1)
  }
  python = 0
}

function say(what, name, at) { print what, name, FILENAME, at ? at : FNR }
