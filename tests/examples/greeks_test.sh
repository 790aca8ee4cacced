#!/usr/bin/env bash
# The prices and greeks from outside: their checks, the options, and one clear line for every mistake.
# Usage: greeks_test.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../scripts/program.sh"

works "a few options" "^options +1000, seed 2026$" --device cpu --options 1000
said "the time" "^six of each +[0-9.]+ ms, [0-9.]+ ns an option$"
for name in price delta vega theta rho gamma; do
  said "$name" "^$name +-?[0-9.e-]+ on average$"
  said "$name is checked" "^check +$name, largest difference from the closed form: [0-9.e-]+, [0-9.e-]+ allowed$"
done
works "one option" "^check +gamma, " --device cpu --options 1 --seed 7
works "help" "--options N" --help

refuses "an unknown option" "greeks: unknown option '--colour'; --help lists them" --colour
refuses "an option without its value" "--options needs a value$" --options
refuses "no options" "--options takes .*, not '0'" --options 0
refuses "a seed that is no number" "--seed takes .*, not 'x'" --seed x
refuses "a device that is not there" "cuda:99" --device cuda:99

summary
