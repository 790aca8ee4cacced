#!/usr/bin/env bash
# The nearest_neighbor program from outside: its table, its options, and one clear line for every mistake.
# Usage: nearest_neighbor_test.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../scripts/program.sh"

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

# What the environment asks for. Traced lines go to stderr and name each kernel; the GPU's where there is one.
traced() {  # name, pattern on stderr, arguments
  SINTER_TRACE=1 run "${@:3}" && grep -Eq -e "$2" "$work/err" && ! grep -Evq '^\[sinter\] ' "$work/err"
  verdict "$1" $?
}
search="sn_[a-z_]*square[a-z_]*_argmin"
traced "launches on the CPU are traced" "^\[sinter\] cpu launch $search \(300, 70\), (interpreted|compiled), [0-9.]+ us$" \
  --device cpu --observations 300 --references 70
if SINTER_TIER=1 SINTER_TRACE=1 SINTER_CACHE_DIR=$work/cache run --device cpu "${small[@]}" &&
  grep -q ', compiled, ' "$work/err"; then
  grep -Eq "^\[sinter\] cpu compile $search" "$work/err"
  verdict "compilations for the CPU are traced" $?
fi
if SINTER_TRACE=1 SINTER_CACHE_DIR=$work/cache run --device cuda:0 "${small[@]}"; then
  grep -Eq "^\[sinter\] cuda:0 compile ${search}_[0-9a-f]{10}$" "$work/err"
  verdict "compilations for the GPU are traced" $?
  grep -Eq "^\[sinter\] cuda:0 launch ${search}_[0-9a-f]{10} \(3, 3\), .*blocks \([0-9, ]+\) of \([0-9, ]+\)" "$work/err"
  verdict "launches on the GPU are traced" $?
  SINTER_CACHE_DIR=$work/cache traced "kernels from the disk are told from compiled ones" "^\[sinter\] cuda:0 load $search" \
    --device cuda:0 "${small[@]}"
fi
SINTER_TRACE=0 works "no trace" "^mean" --observations 300 --references 70
SINTER_SYNC=1 works "each launch waited for" "^mean" --observations 300 --references 70
SINTER_DEVICE=cpu works "the CPU by the environment" "^device +cpu" --observations 64 --references 64
SINTER_DEVICE=abacus refuses "a device of the environment that is none" "\[parse_device\] 'abacus' is not a device"
SINTER_DEVICE=cuda:99 refuses "a device of the environment that is not there" "\[SINTER_DEVICE\] .*cuda:99"
: >"$work/file"
SINTER_CACHE_DIR=$work/file/cache run --observations 300 --references 70 && grep -q '^mean' "$work/out" &&
  [ "$(wc -l <"$work/err")" -le 1 ] && ! grep -qv '^\[sinter\] SINTER_CACHE_DIR=.* cannot be used' "$work/err"
verdict "a cache that cannot be made is told of once, where it is needed, and nothing else changes" $?

# The methods. What needs a GPU must say so in one line where there is none, and work where there is one.
points=(--observations 300 --references 70)
works "the broadcast by name prints what it prints without one" "^mean +[0-9]" --method broadcast "${points[@]}"
run --method broadcast --device cpu "${small[@]}" && cp "$work/out" "$work/named"
run --device cpu "${small[@]}"
diff <(sed 's/[0-9.]* s$//; s/[0-9.e+]* per second//' "$work/named") \
  <(sed 's/[0-9.]* s$//; s/[0-9.e+]* per second//' "$work/out") >/dev/null
verdict "the broadcast is the default" $?
works "the loop on one core" "^method +loop, 1 core$" --method loop "${points[@]}"
works "the loop's figures" "^pairs +[0-9.e+]+ per second" --method loop "${points[@]}"
works "the loop's table" "^farthest" --method loop "${small[@]}" --output "$work/loop.csv"
sed '2,$s/,[0-9.]*$//' "$work/loop.csv" | cmp -s - "$work/expected.csv"
verdict "the loop finds the same airports" $?
works "the library's search" "^method +library, tree$" --method library --device cpu "${small[@]}" --output "$work/library.csv"
sed '2,$s/,[0-9.]*$//' "$work/library.csv" | cmp -s - "$work/expected.csv"
verdict "the library's search finds the same airports" $?
for devices in 1 3; do
  works "a mesh of $devices" "^method +mesh, $devices devices?$" --method mesh --devices $devices --device cpu "${small[@]}" --output "$work/mesh.csv"
  sed '2,$s/,[0-9.]*$//' "$work/mesh.csv" | cmp -s - "$work/expected.csv"
  verdict "a mesh of $devices finds the same airports" $?
done
for method in two_kernel raw multi_gpu; do
  refuses "$method on the CPU" "--method $method needs a GPU: --device cpu" --method $method --device cpu "${points[@]}"
  if run --device cuda "${points[@]}"; then
    works "$method on a GPU" "^mean +[0-9]" --method $method "${points[@]}"
  else
    refuses "$method without a GPU" "--method $method needs a GPU: there is no device" --method $method "${points[@]}"
  fi
done
works "all methods, checked" "^checked: [0-9]+ methods agree" --method all "${points[@]}"
works "all methods on the real names" "^loop +1 core +cpu +[0-9.]+" --method all --device cpu --k 3 "${small[@]}"
works "all methods name what is missing" "^left out: raw, .*: --device cpu was asked for" \
  --method all --device cpu "${points[@]}"
works "one point for everybody" "^checked:" --method all --observations 1 --references 1
works "k nearest neighbours" "^checked +a sample of rows agrees" --method knn --k 5 --device cpu "${points[@]}"
works "k nearest neighbours of the real names" "^neighbours +3 nearest, haversine" --method knn --k 3 "${small[@]}"
works "k nearest neighbours by angle" "^checked +a sample" \
  --method knn --k 64 --metric cosine --dimensions 33 "${points[@]}"
works "k nearest neighbours in space" "^checked +a sample" \
  --method knn --k 1 --metric euclidean --dimensions 1024 "${points[@]}"

refuses "a method that is none" "--method is one of loop, .*, all, not 'magic'" --method magic
refuses "a metric that is none" "--metric is haversine, euclidean or cosine, not 'taxi'" --method knn --metric taxi
refuses "no neighbours" "--k takes a whole number from 1 to 64, not '0'" --method knn --k 0
refuses "too many neighbours" "--k takes a whole number from 1 to 64, not '65'" --method knn --k 65
refuses "more neighbours than references" "--k 8 is more than the 5 references" \
  --method knn --observations 5 --references 5
refuses "more neighbours than airports" "k = 4 neighbours of 3 points" --method knn --k 4 "${small[@]}"
refuses "too many dimensions" "--dimensions takes a whole number from 1 to 1024" --method knn --dimensions 1025
refuses "dimensions that a globe has not" "haversine takes 2 dimensions" --method knn --dimensions 3 "${points[@]}"
refuses "names have no angles" "synthetic vectors" --method knn --metric cosine
refuses "k for a single neighbour" "--k is for --method knn or all" --k 3
refuses "a metric for the broadcast" "are for --method knn" --metric cosine
refuses "devices for one device" "--devices is for --method multi_gpu, mesh or all" --devices 2
refuses "a plan of a loop" "--explain is for --method broadcast" --method loop --explain
refuses "a table of several methods" "--output and --map take the result of one method" \
  --method all --output "$work/x.csv"
refuses "no devices at all" "--devices takes a whole number" --method multi_gpu --devices 0

# The map, where the program was built with libpng; one clear line elsewhere.
number_at() { od -An -tu1 -j "$1" -N 4 "$work/map.png" | awk '{print ($1 * 256 + $2) * 65536 + $3 * 256 + $4}'; }
if run "${small[@]}" --map "$work/map.png"; then
  works "a map" "^mean +[0-9]" "${small[@]}" --map "$work/map.png"
  [ "$(od -An -tx1 -N 8 "$work/map.png" | tr -d ' ')" = 89504e470d0a1a0a ] && [ "$(number_at 16)" = 1600 ] &&
    [ "$(number_at 20)" = 800 ] && [ "$(tail -c 8 "$work/map.png" | head -c 4)" = IEND ]
  verdict "the map is a PNG of 1600 x 800" $?
  works "a map by the loop" "^mean +[0-9]" "${small[@]}" --method loop --map "$work/map.png"
  refuses "a map that cannot be written" "cannot write $work/no/map.png" "${small[@]}" --map "$work/no/map.png"
else
  refuses "a map without libpng" "has no libpng; install libpng-dev" "${small[@]}" --map "$work/map.png"
fi
refuses "a map of k neighbours" "--output and --map take the result" --method knn --map "$work/map.png"
works "one city and one airport" "^sizes +1 x 1$" --observations 1 --references 1

refuses "an unknown option" "unknown option '--colour'" --colour
refuses "a word that is no option" "unknown option 'cities.csv'" cities.csv
refuses "an option without its value" "--device needs a value" --device
refuses "a count that is no number" "--repeat takes a whole number.*'ten'" --repeat ten
refuses "a count of zero" "--observations takes a whole number.*'0'" --observations 0 --references 5
refuses "a negative count" "--references takes a whole number.*'-5'" --observations 5 --references -5
refuses "a count with a tail" "--repeat takes a whole number.*'3x'" --repeat 3x
refuses "observations alone" "go together" --observations 5
refuses "points and files" "give one pair" --observations 5 --references 5 --cities "$work/cities.csv"
refuses "a value that is empty" "--output needs a value, not an empty one" --output ""
if (ulimit -v 4000000 && run --help); then  # a sanitizer needs more
  (ulimit -v 4000000 && run --device cpu --observations 1073741824 --references 3)
  [ "$(cat "$work/err")" = "nearest_neighbor: the host has not enough memory for so many points" ]
  verdict "more points than there is memory for" $?
fi
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

if [ -w /dev/full ]; then
  refuses "a table on a full disk" "cannot write /dev/full: No space left" "${small[@]}" --output /dev/full
  "$program" --observations 5 --references 5 >/dev/full 2>"$work/err"
  [ $? = 1 ] && grep -q "cannot write to standard output: No space left" "$work/err"
  verdict "a report on a full disk" $?
fi

summary
