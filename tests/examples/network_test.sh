#!/usr/bin/env bash
# The training of two models from outside: losses and accuracies, the picture, its options, one clear line for every mistake.
# Usage: network_test.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../scripts/program.sh"
small=(--device cpu --points 200 --hidden 32 --batch 50 --epochs 60)

works "a small network" "^points +200, batches of 50, 60 epochs$" "${small[@]}"
said "logistic regression" "^logistic +loss [0-9.]+ at first, 0\.[56][0-9]+ at last; accuracy 0\.[5-7][0-9]+, "
said "two layers" "^two layers +loss [0-9.]+ at first, 0\.[0-3][0-9]+ at last; accuracy (0\.[89]|1\.0)[0-9]+, .* ms a step$"
said "the loss is checked" "^check +loss of two layers over that of logistic regression: [0-9.e-]+, 1 allowed$"
[ "$(grep -cE "^check +gradient, .*: [0-9.e-]+, 1e-06 allowed$" "$work/out")" = 2 ]
verdict "both gradients are checked" $?
works "all points in a batch" "batches of 200" "${small[@]}" --batch 200 --epochs 100
works "help" "--hidden H" --help

works "a picture in a new folder" "^picture +$work/new/folder/network.png$" "${small[@]}" --output "$work/new/folder"
[ "$(head -c 8 "$work/new/folder/network.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]
verdict "the picture is a PNG" $?

refuses "an unknown option" "network: unknown option '--colour'; --help lists them" --colour
refuses "an option without its value" "--epochs needs a value$" --epochs
refuses "no epochs" "--epochs takes .*, not '0'" --epochs 0
refuses "a batch that is larger than the data" "^network: --batch is larger than --points$" --points 10 --batch 11
refuses "a device that is not there" "cuda:99" --device cuda:99
: >"$work/file"
refuses "a folder that cannot be made" "cannot write $work/file/network.png" "${small[@]}" --epochs 20 --output "$work/file"

summary
