#!/usr/bin/env bash
# The cg program from outside: its figures, its options, and one clear line for every mistake.
# Usage: cg_test.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../scripts/program.sh"
small=(--device cpu --size 60)

if run "${small[@]}"; then
  works "a small system" "^matrix +60 x 60 float64, 0.0 MB$" "${small[@]}"
  said "the residual every few iterations" "^residual +5 iterations, [0-9.]+e-[0-9]+$"
  said "the iterations" "^gradients +[0-9]+ iterations in [0-9.]+ ms$"
  said "time of an iteration" "^iteration +[0-9.]+ ms \(host [0-9.]+\), [0-9.]+ GB/s of the matrix$"
  said "time of solve" "^solve +[0-9.]+ ms$"
  said "checked by residuals" "^check +residual of the gradients: [0-9.e-]+, [0-9.e-]+ allowed$"
  said "checked against solve" "^check +difference between the two: [0-9.e-]+, [0-9.e-]+ allowed$"
  works "a coarse tolerance takes fewer iterations" "^gradients +[0-9]+ iterations" "${small[@]}" --tolerance 1e-2 --every 1
  [ "$(awk '$1 == "gradients" {print $2}' "$work/out")" -lt 15 ]
  verdict "few iterations for a coarse tolerance" $?
  works "a look at every iteration" "^residual +1 iterations" "${small[@]}" --every 1
  works "the smallest system" "^matrix +2 x 2 " --device cpu --size 2
else  # a machine without LAPACK, which the program compares with
  refuses "a machine without LAPACK" "OpenBLAS|LAPACK" "${small[@]}"
fi
works "help" "--tolerance T" --help

refuses "an unknown option" "cg: unknown option '--colour'; --help lists them" --colour
refuses "an option without its value" "--size needs a value$" --size
refuses "a size that is no number" "--size takes a whole number from 2 to 32768, not 'big'" --size big
refuses "a size too small" "--size takes .*, not '1'" --size 1
refuses "a tolerance that is no number" "--tolerance takes a number from 1e-14 to 1, not 'small'" --tolerance small
refuses "a tolerance of nothing" "--tolerance takes .*, not '0'" --tolerance 0
refuses "a tolerance with a tail" "--tolerance takes .*, not '1e-5x'" --tolerance 1e-5x
refuses "a look never" "--every takes .*, not '0'" --every 0
refuses "a device that is no device" "abacus" --device abacus
refuses "a device that is not there" "cuda:99" --device cuda:99

summary
