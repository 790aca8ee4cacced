#!/usr/bin/env bash
# The replay program from outside: its figures, its options, and one clear line for every mistake.
# Usage: replay_test.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../scripts/program.sh"
small=(--device cpu --points 100 --side 20 --steps 10)

works "the systems" "^Lorenz systems +[0-9.]+ us a step called, +[0-9.]+ us launched: [0-9.]+ times as fast, the same bits$" "${small[@]}"
said "the stencil" "^stencil +[0-9.]+ us a step called, +[0-9.]+ us launched: [0-9.]+ times as fast, the same bits$"
said "what a graph holds" "^ +[0-9]+ kernels and copies, [0-9.]+ kB of memory$"
said "systems against loops" "^check +20 steps of 50 systems, .*: [0-9.e-]+, [0-9.e-]+ allowed$"
said "the field against loops" "^check +20 steps of 37 x 37, .*: [0-9.e-]+, [0-9.e-]+ allowed$"
works "the smallest sizes" "^stencil " --device cpu --points 1 --side 3 --steps 1
works "help" "--steps K" --help

refuses "an unknown option" "replay: unknown option '--colour'; --help lists them" --colour
refuses "an option without its value" "--steps needs a value$" --steps
refuses "points that are no number" "--points takes a whole number from 1 to 100000000, not 'many'" --points many
refuses "no points" "--points takes .*, not '0'" --points 0
refuses "a side too small" "--side takes .*, not '2'" --side 2
refuses "no steps" "--steps takes .*, not '0'" --steps 0
refuses "a device that is no device" "abacus" --device abacus
refuses "a device that is not there" "cuda:99" --device cuda:99

summary
