#!/usr/bin/env bash
# The program that estimates pi, from outside: its figures and checks, its options, and one clear line for every mistake.
# Usage: monte_carlo_pi_test.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../scripts/program.sh"
small=(--device cpu --points 1e6)

works "an estimate" "^one kernel +3\.1[0-9]+, [0-9.]+ ms, [0-9.]+ thousand million points a second$" "${small[@]}"
said "the stored points" "^stored +3\.1[0-9]+, "
said "they are the same" "^check +points counted differently when stored: 0, 0 allowed$"
said "the streams" "^streams +3\.1[0-9]+ from 64 spawned generators$"
said "their spread" "^check +their spread, .*: [0-9.e-]+, 4\.5 allowed$"
first=$(grep "^one kernel" "$work/out" | cut -d, -f1)
works "again" "^$first, " "${small[@]}" --streams 5
works "another seed" "^points +1000, seed 9$" --device cpu --points 1000 --seed 9
works "help" "--points N" --help

refuses "an unknown option" "monte_carlo_pi: unknown option '--colour'; --help lists them" --colour
refuses "an option without its value" "--points needs a value$" --points
refuses "too few points" "--points takes a whole number from 1000 to 1000000000000, not '10'" --points 10
refuses "one stream" "--streams takes .*, not '1'" --streams 1
refuses "a negative seed" "--seed takes .*, not '-1'" --seed -1
refuses "a device that is not there" "cuda:99" --device cuda:99

summary
