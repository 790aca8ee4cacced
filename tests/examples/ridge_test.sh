#!/usr/bin/env bash
# The ridge program from outside: its curve and picture, its options, and one clear line for every mistake.
# Usage: ridge_test.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../scripts/program.sh"
small=(--device cpu --rows 60 --columns 90 --parameters 6)

works "a small problem" "^matrix +60 x 90 float64, 540 entries$" "${small[@]}"
said "the curve" "^lambda +0.01 +residual [0-9.]+e[-+][0-9]+ +solution [0-9.]+e[-+][0-9]+ +[0-9]+ steps, code [12]$"
said "its other end" "^lambda +1e\+03 "
said "time of assembling" "^assembling +[0-9.]+ s$"
said "time of solving" "^solving +[0-9.]+ s, [0-9.]+ ms a step of LSMR$"
said "checked" "^check +slope at the minimum: [0-9.e-]+, 0.0001 allowed$"
[ "$(grep -c "^lambda" "$work/out")" = 6 ]
verdict "a line for each parameter" $?
works "more equations than unknowns" "^matrix +90 x 60 " --device cpu --rows 90 --columns 60 --parameters 3
works "sizes after the full ones" "^matrix +60 x 90 " --full "${small[@]}"
works "help" "--percent P" --help

works "a picture in a new folder" "^picture +$work/new/folder/ridge.png$" "${small[@]}" --output "$work/new/folder"
[ "$(head -c 8 "$work/new/folder/ridge.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]
verdict "the picture is a PNG" $?

refuses "an unknown option" "ridge: unknown option '--colour'; --help lists them" --colour
refuses "an option without its value" "--rows needs a value$" --rows
refuses "a size that is no number" "--rows takes a whole number from 2 to 1000000, not 'big'" --rows big
refuses "a size too small" "--columns takes .*, not '1'" --columns 1
refuses "more than all places" "--percent takes .*, not '101'" --percent 101
refuses "one parameter" "--parameters takes .*, not '1'" --parameters 1
refuses "a device that is no device" "abacus" --device abacus
refuses "a device that is not there" "cuda:99" --device cuda:99
: >"$work/file"
refuses "a folder that cannot be made" "cannot write $work/file/ridge.png" "${small[@]}" --output "$work/file"

summary
