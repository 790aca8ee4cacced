#!/usr/bin/env bash
# The program of forces by gradients from outside: its checks, its options, and one clear line for every mistake.
# Usage: lennard_jones_test.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../scripts/program.sh"

works "a few atoms" "^atoms +27, 60 steps, [0-9.]+ ms each$" --device cpu --side 3 --steps 60
said "the energy is kept" "^check +change of the energy: [0-9.e-]+, 1e-05 allowed$"
said "the forces add up" "^check +sum of the forces: [0-9.e-]+, 1e-08 allowed$"
works "help" "--side N" --help

refuses "an unknown option" "lennard_jones: unknown option '--colour'; --help lists them" --colour
refuses "an option without its value" "--side needs a value$" --side
refuses "a size that is no number" "--side takes a whole number from 2 to 32, not 'big'" --side big
refuses "no steps" "--steps takes .*, not '0'" --steps 0
refuses "a device that is not there" "cuda:99" --device cuda:99

summary
