#!/usr/bin/env bash
# Values of the environment that mean nothing: each is told in one line, and the program runs as that line says.
# Usage: environment.sh FOLDER-OF-PROGRAMS
set -u
program=$1/kernels
. "$(dirname "$0")/../scripts/program.sh"
for name in $(env | grep -oE '^SINTER_[A-Z_]+'); do unset "$name"; done
export SINTER_CACHE_DIR=$work/cache

# told NAME VALUE PATTERN [ARGUMENT...] : one line, about this variable.
told() {
  local arguments=("${@:4}")
  env "$1=$2" "$program" "${arguments[@]:-recorded}" >"$work/out" 2>"$work/err"
  [ $? = 0 ] && grep -q "^recorded right$" "$work/out" && [ "$(wc -l <"$work/err")" = 1 ] &&
    grep -Eq "^\[sinter\] $1=$2 $3" "$work/err"
  verdict "$1=$2 is told" $?
}
# quiet NAME VALUE : nothing to say.
quiet() {
  env "$1=$2" "$program" recorded >"$work/out" 2>"$work/err"
  [ $? = 0 ] && grep -q "^recorded right$" "$work/out" && [ ! -s "$work/err" ]
  verdict "$1='$2' is nothing to speak of" $?
}

for value in many 0 -3 4x 1025 99999999999999999999; do
  told SINTER_NUM_THREADS "$value" "is not a number from 1 to 1024: .+"
done
told SINTER_TIER 7 "is not 0, 1 or auto: auto is used$"
told SINTER_DEVICE abacus "is not cpu, cuda or cuda:N: .+"
told SINTER_DEVICE cuda:x "is not cpu, cuda or cuda:N: .+"
told SINTER_CACHE_SIZE_MB lots "is not a number of megabytes.*: 512 is used$"
told SINTER_COMPILE_TIMEOUT soon "is not a number of seconds.*: 60 is used$"
told SINTER_COLLECTIVE_TIMEOUT 86401 "is not a number of seconds.*: 600 is used$"
told SINTER_GPU_MEMORY_LIMIT plenty "is not an amount like 8GiB.*: .+"
for name in SINTER_SYNC SINTER_NVTX SINTER_CHECK_INDEX SINTER_LINES; do told $name maybe "is not 0 or 1: 1 is used$"; done
told SINTER_CXX /no/such/compiler "is not .*"  # though nothing is compiled
SINTER_TRACE=maybe run recorded
[ "$(grep -c '^\[sinter\] SINTER_TRACE=maybe is not 0 or 1: 1 is used$' "$work/err")" = 1 ] && grep -q "launch" "$work/err"
verdict "SINTER_TRACE=maybe is told, and traces" $?

export SINTER_TIER=1  # so that something is compiled and stored
told SINTER_CXX /no/such/compiler "is not the name or path of a program: kernels are interpreted, .*"
told SINTER_CXX no_such_compiler "is not the name or path of a program: .*"
told SINTER_CXX / "is not the name or path of a program: .*"
told SINTER_CXX /bin/false "cannot be used: /bin/false: failed with exit status 1: kernels are interpreted"
if command -v g++ >/dev/null; then
  told SINTER_CACHE_DIR /dev/null/cache "cannot be used: cannot create the folder /dev/null/cache: Not a directory: .+"
  told SINTER_CACHE_DIR /proc/cache "cannot be used: cannot create the folder /proc/cache: .+"
  run recorded && run recorded text
  [ ! -s "$work/err" ]
  verdict "a cache that can be used is nothing to speak of" $?
fi
unset SINTER_TIER

quiet SINTER_NUM_THREADS 3
quiet SINTER_NUM_THREADS ""
for value in 0 1 auto ""; do quiet SINTER_TIER "$value"; done
quiet SINTER_DEVICE cpu
quiet SINTER_CACHE_SIZE_MB 0
quiet SINTER_COMPILE_TIMEOUT 0
quiet SINTER_COLLECTIVE_TIMEOUT 0
for value in 8GiB "500 MB" 0.5 1073741824; do quiet SINTER_GPU_MEMORY_LIMIT "$value"; done
for name in SINTER_SYNC SINTER_NVTX SINTER_CHECK_INDEX SINTER_LINES SINTER_TRACE; do quiet $name 0; done

# Several at once: a line for each, however often they are asked for.
SINTER_TIER=x SINTER_NUM_THREADS=y SINTER_SYNC=z run recorded recorded recorded text
[ "$(wc -l <"$work/err")" = 3 ]
verdict "a line for each of several" $?

# What a checked kernel says, and that it is asked for by the variable.
if command -v g++ >/dev/null; then
  SINTER_CHECK_INDEX=1 works "an index out of range" "^index: \[pick\] index 12 of argument x is out of range for extent 10" index
fi

summary
