#!/usr/bin/env bash
# sinter-info from outside: it shows every section and ends well, whatever is missing.
# Usage: info_test.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../scripts/program.sh"
export SINTER_CACHE_DIR=$work/cache
unset SINTER_DEVICE SINTER_CXX SINTER_GPU_MEMORY_LIMIT

# shows NAME PATTERN : a line of the last output, which came with exit status 0.
works "all of it" "^sinter [0-9]+\.[0-9]+\.[0-9]+$"
for section in Devices "Libraries, opened when they are needed" Compilers "Cache of compiled kernels" Environment; do
  said "section $section" "^$section$"
done
said "the compiler of the library" "^  build +compiled by (GCC|clang) [0-9]"
said "the CPU and its memory" "^  cpu +.* \([0-9]+ threads?\), [0-9.]+ [KMGT]iB of memory, [0-9.]+ [KMGT]iB available$"
figures="[0-9]+ multiprocessors, [0-9.]+ [KMGT]iB of memory, [0-9.]+ [KMGT]iB available"
said "GPUs with compute capability, driver and memory, or why there are none" \
  "^  cuda:0 +.*, sm_[0-9]+, driver .*, $figures$|^  cuda +none: .+"
said "the default device" "^  default +(cpu|cuda:[0-9]+)$"
for library in NVRTC cuBLAS cuSOLVER cuFFT cuRAND OpenBLAS FFTW libzip MPI NCCL; do
  said "library $library: soname and path, or where it was looked for" \
    "^  $library +(lib[a-zA-Z0-9]+\.so\.[0-9]+  /.*|missing: (looked for in|sinter was built without|the toolkit of the build) .*)$"
done
said "the version of MPI" "^  MPI +(lib.*  (Open MPI v|MPICH|Intel)[^ ]+.*|missing: .*)$"
said "the version of NCCL" "^  NCCL +(lib.*  NCCL 2\.[0-9]+\.[0-9]+|missing: .*)$"
said "the compiler of kernels" "^  host +(/.*  [0-9.]+|none, so kernels for the CPU are interpreted: .*)$"
said "the cache folder" "^  folder +$work/cache$"
said "its size" "^  size +[0-9.]+ ([KMGT]iB|bytes) in [0-9]+ files$"
said "a variable that is set" "^  SINTER_CACHE_DIR +$work/cache "
said "a variable that is not" "^  SINTER_DEVICE +not set "

# Every variable that the library's sources ask the environment for is in the report.
root=${SINTER_SOURCE_DIR:-$(dirname "$0")/../..}
read_variables=$(grep -rhoE "(getenv|environment(_[a-z]+)?)\(\"SINTER_[A-Z_]+\"" "$root/src" "$root/jit" | grep -oE "SINTER_[A-Z_]+" | sort -u)
[ "$(wc -w <<<"$read_variables")" -ge 8 ]
verdict "the sources' variables are found" $?
for variable in $read_variables; do said "the variable $variable" "^  $variable +"; done

SINTER_GPU_MEMORY_LIMIT=1GiB works "a limit of the GPU's memory" "^  SINTER_GPU_MEMORY_LIMIT +1GiB "
said "the limit with the device" "^  cuda:0 +.*, [0-9.]+ [MG]iB available, limited to 1.0 GiB$|^  cuda +none: .+"
SINTER_DEVISE=cpu works "a misspelt variable" "^  SINTER_DEVISE +is set, but means nothing"
CUDA_VISIBLE_DEVICES= works "no GPU: exit 0, and why" "^  cuda +none: .+"
said "no GPU: the default device" "^  default +cpu$"
CUDA_VISIBLE_DEVICES= SINTER_DEVICE=cuda works "a device that is missing is a line, not the end" "^  default +\[SINTER_DEVICE\] there is no device cuda:0: .+"
# warned NAME PATTERN LINE : succeeds, prints a line that matches, and says one line on stderr that matches.
warned() {
  run && grep -Eq -e "$2" "$work/out" && [ "$(wc -l <"$work/err")" = 1 ] && grep -Eq -e "$3" "$work/err"
  verdict "$1" $?
}
SINTER_DEVICE=abacus warned "a device that is none" "^  default +.*'abacus' is not a device" \
  "^\[sinter\] SINTER_DEVICE=abacus is not cpu, cuda or cuda:N: "
SINTER_CXX=/no/such/compiler warned "no compiler" \
  "^  host +none, so kernels for the CPU are interpreted: .*no/such/compiler" "^\[sinter\] SINTER_CXX=/no/such/compiler is not the name or path of a program: "
SINTER_TIER=7 warned "a value that means nothing" "^  SINTER_TIER +7  is not 0, 1 or auto: auto is used$" "^\[sinter\] SINTER_TIER=7 is not"
# A cache that cannot be written is not on.
for folder in /dev/null/cache /proc/cache; do
  SINTER_CACHE_DIR=$folder run
  grep -Eq "^  state +off: cannot create the folder $folder: " "$work/out"
  verdict "the cache $folder is off" $?
done
SINTER_CACHE_DIR=$work/cache works "a cache that can be written is on" "^  state +on: $work/cache, at most"
[ -z "$(find "$work/cache" -name 'sinter-*')" ]
verdict "and trying it leaves nothing" $?
if [ "$(id -u)" != 0 ]; then
  mkdir "$work/closed" && chmod 500 "$work/closed"
  SINTER_CACHE_DIR=$work/closed works "a cache without permission is off" "^  state +off: cannot create a file in $work/closed: Permission denied"
fi
SINTER_CACHE_SIZE_MB=0 works "no cache" "^  folder +none: off: SINTER_CACHE_SIZE_MB is 0$"
works "the version alone" "^[0-9]+\.[0-9]+\.[0-9]+$" --version
[ "$(wc -l <"$work/out")" = 1 ]
verdict "the version alone is one line" $?
"$program" --colour >"$work/out" 2>"$work/err"
[ $? = 2 ] && grep -q -e "--version" "$work/err"
verdict "an unknown option shows what there is" $?
if [ -e /dev/full ]; then
  "$program" >/dev/full 2>"$work/err"
  [ $? = 1 ]
  verdict "output that cannot be written is a failure" $?
fi

summary
