#!/usr/bin/env bash
# The memory program from outside: its table, its options, and one clear line for every mistake.
# Usage: memory_test.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../scripts/program.sh"
small=(--device cpu --size 1e4)

works "the table's head" "^\| memory \| bring \| compute \| again \| collect \|$" "${small[@]}"
said "the device" "^cpu, .*; 10000 float32 elements in each of three arrays, times in ms$"
said "ordinary memory" "^\| device, copies \|( [0-9.]+ \|){4}$"
said "what is left out" "^managed, prefetched: left out, it needs a CUDA device$"
said "checked" "^every element of every way is within the roundings"
works "the smallest size" "8 float32 elements" --device cpu --size 8
works "help" "--size N" --help

refuses "more than there is" "choose a smaller --size" --device cpu --size 1e12
refuses "an unknown option" "memory: unknown option '--colour'; --help lists them" --colour
refuses "an option without its value" "--size needs a value$" --size
refuses "a size that is no number" "--size takes a whole number from 8 to [0-9]+, not 'big'" --size big
refuses "a size too small" "--size takes .*, not '7'" --size 7
refuses "a device that is no device" "abacus" --device abacus
refuses "a device that is not there" "cuda:99" --device cuda:99

summary
