#!/usr/bin/env bash
# The clusters program from outside: its figures and picture, its options, and one clear line for every mistake.
# Usage: clusters_test.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../scripts/program.sh"

works "the airports" "^places +7184 airports$" --device cpu --output "$work/new/folder"
said "dense regions" "^dbscan +89 dense regions, the largest of 1043 airports; 3278 airports are in none; [0-9.]+ s$"
said "checked regions" "^check +dbscan: agrees with loops over pairs$"
said "parts" "^k-means +12 parts, 1[34][0-9][0-9]\.[0-9] km from an airport to its part's centre; [0-9.]+ s$"
said "checked parts" "^check +k-means: agrees with loops over pairs$"
said "the picture's place" "^picture +$work/new/folder/clusters.png$"
[ "$(head -c 8 "$work/new/folder/clusters.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]
verdict "the picture is a PNG" $?
works "help" "--parts N" --help

printf 'code,name,country,lat,lon\nA,Here,X,0,179.9\nB,There,X,0,-179.9\nC,Elsewhere,Y,50,0\n' >"$work/three.csv"
works "neighbours across the 180th meridian" "^dbscan +1 dense regions, the largest of 2 airports; 1 airports" \
  --device cpu --airports "$work/three.csv" --km 100 --least 2 --parts 2
works "one airport a part" "^k-means +3 parts, 0\.0 km" --device cpu --airports "$work/three.csv" --parts 3

refuses "more parts than airports" "\[kmeans\] 4 clusters of 3 points" --device cpu --airports "$work/three.csv" --parts 4
refuses "an unknown option" "clusters: unknown option '--colour'; --help lists them" --colour
refuses "an option without its value" "--km needs a value$" --km
refuses "no distance" "--km takes a whole number from 1 to 20000, not '0'" --km 0
refuses "no airports" "cannot read .*nothing.csv|nothing.csv" --airports "$work/nothing.csv"
refuses "a device that is no device" "abacus" --device abacus
: >"$work/file"
refuses "a folder that cannot be made" "$work/file/clusters.png" --device cpu --output "$work/file"

summary
