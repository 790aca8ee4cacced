#!/usr/bin/env bash
# The distributed program from outside: its programs, which check themselves, its options, and a line for every mistake.
# Usage: distributed_test.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../scripts/program.sh"
export SINTER_DEVICE=cpu CUDA_VISIBLE_DEVICES=

for devices in 1 3 4; do
  works "search on $devices" "^search +$devices devices .* difference 0, 0 allowed$" --program search --devices $devices --size 501
  works "heat on $devices" "^heat +$devices devices .* difference 0, 0 allowed$" --program heat --devices $devices --size 45 --steps 7
  works "gradients on $devices" "^gradients +$devices devices" --program gradients --devices $devices --size 60
  works "logistic on $devices" "^logistic +$devices devices" --program logistic --devices $devices --size 300 --steps 5
done
works "a plan" "halo exchange of " --program heat --devices 2 --size 40 --steps 2 --explain
works "help" "--devices N" --help
# A picture, where the program was built with libpng; one clear line elsewhere.
scaling=(--program heat --devices 3 --size 45 --steps 3 --scaling)
if run "${scaling[@]}" "$work/scaling.png"; then
  said "scaling: one device" "^heat +1 devices .* difference 0, 0 allowed$"
  said "scaling: all devices" "^heat +3 devices .* difference 0, 0 allowed$"
  [ "$(head -c 8 "$work/scaling.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]
  verdict "scaling: a PNG" $?
  refuses "a picture that cannot be written" "cannot write $work/no/scaling.png" "${scaling[@]}" "$work/no/scaling.png"
else
  refuses "a picture without libpng" "has no libpng; install libpng-dev" "${scaling[@]}" "$work/scaling.png"
fi
refuses "an unknown option" "distributed: unknown option '--colour'; --help lists them" --colour
refuses "no device" "--devices takes a whole number from 1 to 4096, not '0'" --devices 0
refuses "an unknown program" "--program takes" --program chess
summary
