#!/usr/bin/env bash
# The nearest_neighbor program from outside: its table, its options, and one clear line for every mistake.
# Usage: example_test.sh PROGRAM
set -u
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

verdict() {  # name, 0 if it holds
  if [ "$2" = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
    head -n 20 "$work/out" "$work/err" 2>/dev/null
  fi
}

run() { "$program" "$@" >"$work/out" 2>"$work/err"; }

# works NAME PATTERN ARGUMENTS... : succeeds, says nothing on stderr, prints a line that matches.
works() {
  run "${@:3}" && [ ! -s "$work/err" ] && grep -Eq -e "$2" "$work/out"
  verdict "$1" $?
}

# refuses NAME PATTERN ARGUMENTS... : non-zero exit, one line on stderr that matches, and no crash.
refuses() {
  run "${@:3}"
  local status=$?
  [ $status != 0 ] && [ $status -lt 100 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -Eq -e "$2" "$work/err"
  verdict "$1" $?
}

cat >"$work/cities.csv" <<'CSV'
name,country,lat,lon
Zürich,CH,47.36667,8.55
São Paulo,BR,-23.5475,-46.63611
Suva,FJ,-18.14161,178.44149
CSV
cat >"$work/airports.csv" <<'CSV'
code,name,country,lat,lon
ZRH,Zurich Airport,Switzerland,47.46470,8.54917
GRU,Guarulhos,Brazil,-23.43556,-46.47306
APW,Faleolo International Airport,Samoa,-13.82999,-172.00833
CSV
small=(--cities "$work/cities.csv" --airports "$work/airports.csv")

works "real names: the mean" "^mean +[0-9]+\.[0-9]{3} km" "${small[@]}" --output "$work/table.csv"
cat >"$work/expected.csv" <<'CSV'
city,country,airport_index,airport,distance_km
Zürich,CH,0,Zurich Airport
São Paulo,BR,1,Guarulhos
Suva,FJ,2,Faleolo International Airport
CSV
sed '2,$s/,[0-9.]*$//' "$work/table.csv" | cmp -s - "$work/expected.csv"
verdict "the table names the nearest airports in input order" $?
# Across the date line: 1,135 km, not the way round the globe.
awk -F, 'NR == 2 {ok += $5 > 10.8 && $5 < 11.0} NR == 4 {ok += $5 > 1100 && $5 < 1170} END {exit ok != 2}' "$work/table.csv"
verdict "distances are kilometres on the sphere, across the date line too" $?

works "synthetic points" "^sizes +300 x 70$" --observations 300 --references 70
works "pairs per second" "^pairs +[0-9.e+]+ per second" --observations 300 --references 70
for phase in reading uploading compiling searching; do
  works "seconds of $phase" "^$phase +[0-9.]+ s" --observations 300 --references 70
done
works "repeated" "median of 3" --observations 64 --references 64 --repeat 3
works "the CPU by name" "^device +cpu" --device cpu --observations 64 --references 64
works "fast math" "^mean +[0-9]" --fast-math --observations 64 --references 64
works "the plan" "argmin" --explain --observations 64 --references 64
works "help" "--repeat K" --help
works "one city and one airport" "^sizes +1 x 1$" --observations 1 --references 1

refuses "an unknown option" "unknown option '--colour'" --colour
refuses "a word that is no option" "unknown option 'cities.csv'" cities.csv
refuses "an option without its value" "--device needs a value" --device
refuses "a count that is no number" "--repeat takes a whole number.*'ten'" --repeat ten
refuses "a count of zero" "--observations takes a whole number.*'0'" --observations 0 --references 5
refuses "a negative count" "--references takes a whole number.*'-5'" --observations 5 --references -5
refuses "a count with a tail" "--repeat takes a whole number.*'3x'" --repeat 3x
refuses "observations alone" "go together" --observations 5
refuses "a device that is no device" "abacus" --device abacus --observations 5 --references 5
refuses "a device that is not there" "cuda:99" --device cuda:99 --observations 5 --references 5
refuses "a missing file" "missing.csv: No such file" --cities "$work/missing.csv" --airports "$work/airports.csv"
refuses "a folder instead of a file" "cannot read $work" --cities "$work" --airports "$work/airports.csv"
refuses "an output that cannot be written" "cannot write $work/no/table.csv" "${small[@]}" --output "$work/no/table.csv"

# bad NAME PATTERN ROW: a cities file whose third line is ROW.
bad() {
  printf 'name,country,lat,lon\nHere,XX,1,2\n%s\n' "$3" >"$work/bad.csv"
  refuses "$1" "$2" --cities "$work/bad.csv" --airports "$work/airports.csv"
}
bad "a row with a field too few" "bad.csv:3: expected 4 fields, found 3" "There,XX,1"
bad "a row with a field too many" "bad.csv:3: expected 4 fields, found 5" "There,XX,1,2,3"
bad "an empty row" "bad.csv:3: expected 4 fields, found 1" ""
bad "a coordinate that is no number" "bad.csv:3: latitude 'north' is not a number" "There,XX,north,2"
bad "a latitude out of range" "bad.csv:3: latitude 91 is outside" "There,XX,91,2"
bad "a longitude out of range" "bad.csv:3: longitude -180.1 is outside" "There,XX,1,-180.1"
bad "not a number" "bad.csv:3: longitude nan is outside" "There,XX,1,nan"

: >"$work/empty.csv"
refuses "an empty file" "empty.csv: no rows" --cities "$work/empty.csv" --airports "$work/airports.csv"
head -n 1 "$work/airports.csv" >"$work/header.csv"
refuses "a file with nothing but its header" "header.csv: no rows" --cities "$work/cities.csv" --airports "$work/header.csv"
refuses "the wrong file" "airports.csv:1: expected the header" --cities "$work/airports.csv" --airports "$work/airports.csv"

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
