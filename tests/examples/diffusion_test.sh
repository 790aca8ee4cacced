#!/usr/bin/env bash
# The diffusion program from outside: its figures and picture, its options, and one clear line for every mistake.
# Usage: diffusion_test.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../scripts/program.sh"
small=(--device cpu --size 40 --steps 20)

works "all methods" "^field +40 x 40 float32, reflecting border$" "${small[@]}"
said "time of a step" "^slices +[0-9.]+ ms a step \(host [0-9.]+\), [0-9.]+ GB/s$"
said "time of all steps" "^ +20 steps in [0-9.]+ s$"
said "checked against loops" "^check +slices, .* float64 loops: [0-9.e-]+, [0-9.e-]+ allowed$"
said "checked against the sum" "^check +slices, change of the mean: [0-9.e-]+, [0-9.e-]+ allowed$"
said "what is left out" "^raw +left out: it needs a CUDA device$"
works "slices alone" "^slices " "${small[@]}" --method slices
grep -q "^raw" "$work/out"
verdict "slices alone: no word of the kernel" $((! $?))
works "a fixed border" "^field +40 x 40 float32, fixed border$" "${small[@]}" --border fixed
works "the smallest field" "^field +3 x 3 " --device cpu --size 3 --steps 1
works "help" "--steps K" --help

works "a picture in a new folder" "^picture +$work/new/folder/diffusion.png$" "${small[@]}" --output "$work/new/folder"
[ "$(head -c 8 "$work/new/folder/diffusion.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]
verdict "the picture is a PNG" $?

refuses "the kernel on the CPU" "raw kernels need a CUDA device" "${small[@]}" --method raw
refuses "an unknown option" "diffusion: unknown option '--colour'; --help lists them" --colour
refuses "an option without its value" "--steps needs a value$" --steps
refuses "an empty value" "--output needs a value, not an empty one" --output ""
refuses "a size that is no number" "--size takes a whole number from 3 to 32768, not 'big'" --size big
refuses "a size too small" "--size takes .*, not '2'" --size 2
refuses "a size too large" "--size takes .*, not '1e5'" --size 1e5
refuses "a negative number" "--steps takes .*, not '-5'" --steps -5
refuses "a number with a tail" "--steps takes .*, not '5x'" --steps 5x
refuses "no steps" "--steps takes .*, not '0'" --steps 0
refuses "an unknown method" "--method takes one of slices, raw, all, not 'loop'" --method loop
refuses "an unknown border" "--border takes one of fixed, reflecting, not 'open'" --border open
refuses "a device that is no device" "abacus" --device abacus
refuses "a device that is not there" "cuda:99" --device cuda:99
: >"$work/file"
refuses "a folder that cannot be made" "cannot write $work/file/diffusion.png" "${small[@]}" --output "$work/file"

summary
