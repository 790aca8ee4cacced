#!/usr/bin/env bash
# The fit of an orbit from outside: what it finds, its options, and one clear line for every mistake.
# Usage: orbit_test.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../scripts/program.sh"

works "a fit" "^observations 200 in 500 days, noise of 1 arc seconds$" --device cpu
said "the residual at the start" "^residual +0  [0-9.]+e\+0[45] arc seconds$"
said "the residual at the end is the noise" "^residual +[4-9]  1\.0[0-9]+e\+00 arc seconds$"
said "the time" "^fit +[0-9.]+ ms, [0-9]+ steps$"
said "the semi-axis" "^semi-axis +2\.766[67][0-9]+  error [-+][0-9.]+e-0[4-9], standard deviation [0-9.]+e-05$"
said "the Jacobian is checked" "^check +Jacobian, .*: [0-9.e-]+, 1e-07 allowed$"
said "the elements are checked" "^check +largest error of an element in standard deviations: [0-9.e-]+, 5 allowed$"
[ "$(grep -cE "^(semi-axis|eccentricity|inclination|node|perihelion|anomaly) " "$work/out")" = 6 ]
verdict "six elements" $?
works "few observations" "^check +mean square" --device cpu --observations 8
works "from the truth" "^check +largest error" --device cpu --off 0
works "an ellipse on the other side" "^eccentricity +0\.0785" --device cpu --off 10
works "less noise" "^residual +[0-9]+  1\.[0-9]+e-03 arc seconds$" --device cpu --noise 1
works "help" "--observations N" --help

refuses "an unknown option" "orbit: unknown option '--colour'; --help lists them" --colour
refuses "an option without its value" "--noise needs a value$" --noise
refuses "too few observations" "--observations takes a whole number from 8 to 1000000, not '7'" --observations 7
refuses "a start too far" "--off takes .*, not '11'" --off 11
refuses "a device that is not there" "cuda:99" --device cuda:99

summary
