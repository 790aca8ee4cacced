#!/usr/bin/env bash
# The programs that time one computation in many forms, from outside: their table, their options, and one clear line for
# every mistake.
# Usage: forms_test.sh PROGRAM
set -u
program=$1
name=$(basename "$program")
. "$(dirname "$0")/../scripts/program.sh"
small=(--device cpu --repeat 2)

works "the table's head" "^\| form \| bytes \| 1 \| 1000 \| 3e\+04 \|$" "${small[@]}" --sizes 1,1e3,30000
said "the device" " on cpu, "
for form in "plain loop, one core" expression "in place" "into an array" "every other element" "device function" \
  elementwise_kernel "elementwise_kernel into an array" "elementwise_kernel, raw arguments" \
  "elementwise_kernel, every other element"; do
  said "$form" "^\| $form.* \| 12 \|( [0-9.e-]+ \([0-9]+%\) \|){3}$"
done
said "a number of all elements" "^\| (sum|largest) of the expression \| 8 \|( [0-9.e-]+ \([0-9]+%\) \|){3}$"
said "a number by a kernel" "^\| reduction_kernel \| 8 \|( [0-9.e-]+ \([0-9]+%\) \|){3}$"
said "the kernels that are left out" "^raw kernel, four at a time: left out, it needs a CUDA device$"
said "the largest error" "^largest error, in units of what float32 rounding allows: (0\.[0-9]+|1\.00)$"
works "one size" "^\| form \| bytes \| 77 \|$" "${small[@]}" --sizes 77
works "help" "--sizes N,N" --help

refuses "an unknown option" "$name: unknown option '--colour'" --colour
refuses "an option without its value" "--device needs a value" --device
refuses "sizes that are no numbers" "--sizes takes a whole number from 1 to [0-9]+, not 'ten'" --sizes 10,ten
refuses "a size that is missing" "--sizes takes .*, not ''" --sizes 10,
refuses "a size of zero" "--sizes takes .*, not '0'" --sizes 0
refuses "a fraction" "--sizes takes .*, not '1.5'" --sizes 1.5
refuses "a size that is too large" "--sizes takes .*, not '1e99'" --sizes 1e99
refuses "no repetition" "--repeat takes .*, not '0'" --repeat 0
refuses "a device that is no device" "abacus" --device abacus
refuses "a device that is not there" "cuda:99" --device cuda:99

summary
