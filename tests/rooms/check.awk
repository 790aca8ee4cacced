# Checks sources against the table of rooms, and prints a line for each difference. In the repository's top folder:
#   awk -f check.awk part=1 edges.txt part=2 large.txt part=3 LIST part=4 SOURCES...
# LIST names all SOURCES, one a line. edges.txt: "room : rooms", the folder and what files directly in it may include besides
# each other. A file is in the room with the longest path that its own begins with (a file may be a room of its own); tests and
# examples may include everything. large.txt: files and folders that may be large, each with a reason.

BEGIN { most_lines = 500; most_files = 25 }

/^#/ && part < 3 || !NF && part < 3 { next }
part == 1 {
  if ($2 != ":") complain(FILENAME ":" FNR ": not \"room : rooms\"")
  for (k = 3; k <= NF; ++k) {
    if (!($k in room)) complain(FILENAME ":" FNR ": " $k " is no room above " $1 ", so that rooms could include each other")
    allowed[$1, $k] = 1
  }
  room[$1] = allowed[$1, $1] = 1
  next
}
part == 2 {
  if (NF < 2) complain(FILENAME ":" FNR ": no reason")
  may_be_large[$1] = FILENAME ":" FNR
  next
}
part == 3 {
  known[$0] = 1
  ++files[folder_of($0)]
  next
}
FNR == 1 { home = room_of(FILENAME) }
FNR == 1 && home == "" && FILENAME !~ /^(tests|examples)\// { complain(FILENAME ": is in no room of the table") }
FNR == most_lines + 1 { large(FILENAME, "has more than " most_lines " lines") }
/^[ \t]*#[ \t]*include[ \t]*["<]/ && home != "" { follow() }

function follow(   name, path, there) {
  name = $0
  sub(/^[^"<]*["<]/, "", name)
  sub(/[">].*/, "", name)
  path = found(name)
  if (path == "") {
    if ($0 ~ /"/) complain(FILENAME ":" FNR ": there is no " name)
    return
  }
  there = room_of(path)
  if (!((home, there) in allowed))
    complain(FILENAME ":" FNR ": " home " may not include " (there == "" ? path : there) " (" name ")")
}

# As the compiler looks for it.
function found(name) {
  if (plain(folder_of(FILENAME) "/" name) in known) return plain(folder_of(FILENAME) "/" name)
  if (name in known) return name
  if ("src/" name in known) return "src/" name
  if ("jit/" name in known) return "jit/" name
  if ("include/" name in known) return "include/" name
  return ""
}

function plain(path) {
  while (sub(/[^\/]+\/\.\.\//, "", path)) {}
  return path
}

function folder_of(path) {
  sub(/\/[^\/]*$/, "", path)
  return path
}

function room_of(path) {
  while (!(path in room))
    if (!sub(/\/[^\/]*$/, "", path)) return ""
  return path
}

function large(path, text) {
  if (!(path in may_be_large)) complain(path ": " text)
  delete may_be_large[path]
}

function complain(text) { print text; failed = 1 }

END {
  for (folder in files)
    if (files[folder] > most_files) large(folder, "has " files[folder] " files, more than " most_files)
  for (path in may_be_large) complain(may_be_large[path] ": " path " is not large")
  exit failed
}
