#!/usr/bin/env bash
# Ranks of MPI: all collectives on 1 to 5 of them, and what the others get when one fails: its message or the time limit,
# and no process that remains.
# Usage: run.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../../../scripts/program.sh"
job_limit=60
. "$(dirname "$0")/../../../scripts/ranks.sh"
export SINTER_TIER=0

for ranks in 1 2 3 4 5; do
  job $ranks cases
  verdict "$ranks ranks" $?
  said_by "$ranks ranks: each of them" $ranks "^rank [0-9]+ of $ranks by .* is right"
done
job 3 given
verdict "a communicator of the program's" $?
said_by "a communicator of the program's: each rank" 3 " is right"

job 1 nccl
verdict "a rank with a GPU" $?
said_by "a rank with a GPU: NCCL's" 1 "^rank 0 of 1 by NCCL 2.21.5 is right"

gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
if [ "$gpus" -ge 2 ]; then
  job 2 gpus
  verdict "two ranks with a GPU each" $?
  said_by "two ranks with a GPU each: NCCL's" 2 "^rank [01] of 2 by NCCL .* is right"
else
  echo "left out: ranks with a GPU each need two, and there are $gpus"
fi

# The other family, whose handles are numbers.
if command -v mpiexec.hydra >/dev/null; then
  for how in "1 cases" "3 cases" "3 given"; do
    timeout -k 5 60 mpiexec.hydra -n ${how% *} "$program" ${how#* } >"$work/out" 2>"$work/err"
    verdict "MPICH, $how" $?
  done
else
  echo "left out: MPICH, which is not installed"
fi

# fails NAME SECONDS ARGUMENT... : three ranks, the last of which fails, do not end well, in less than the seconds.
fails() {
  local begin=$SECONDS
  job 3 "${@:3}"
  [ $? != 0 ] && [ $((SECONDS - begin)) -le "$2" ]
  verdict "$1: an error in time" $?
  none_left "$1"
}
# Long before the limit: it is not what ends them, however busy the machine is.
export SINTER_COLLECTIVE_TIMEOUT=40
fails "a rank that throws" 30 throws
said_by "a rank that throws: its own error" 1 "^rank 2 says: \[planted\] 17 bytes are missing"
said_by "a rank that throws: its message on the others" 2 "^rank [01] says: \[all_gather\] rank 2 of 3 has failed: \[planted\] 17 bytes"
fails "a rank without memory" 30 memory
said_by "a rank without memory: its message on the others" 2 "^rank [01] says: \[all_gather\] rank 2 of 3 has failed: \[allocate\] CPU memory is exhausted"
fails "an exception that is not caught" 30 uncaught
[ "$(grep -c "rank 2 of 3 has failed: an exception has not been caught: planted and not caught" "$work/err")" = 2 ]
verdict "an exception that is not caught: its message on the others" $?
fails "a killed rank" 30 killed
grep -q "signal 9" "$work/err"
verdict "a killed rank: mpirun reports it" $?
fails "a rank that ends" 30 ends
said_by "a rank that ends: an error on the others" 2 "^rank [01] says: \[all_gather\] .*rank 2 of 3 has ended its program"
fails "a rank that exits" 30 exits
said_by "a rank that exits: an error on the others" 2 "^rank [01] says: \[all_gather\] .*rank 2 of 3 has ended its program"
# The limit, long before that of the job.
export SINTER_COLLECTIVE_TIMEOUT=2
fails "a slow rank" 30 slow 5
said_by "a slow rank: the others name it" 2 "^rank [01] says: \[all_gather\] .*2 s, the limit \(SINTER_COLLECTIVE_TIMEOUT\); no answer from rank 2"
fails "a rank in another call" 30 differs
said_by "a rank in another call: it is named" 3 "rank 2 is in exchange|rank [01](, [01])* is in all_gather|no answer"
job 1 late
[ $? != 0 ] && grep -q "^rank -1 says: \[open_job\] ncclCommInitRankConfig has waited for other ranks for 2 s" "$work/out"
verdict "NCCL finds no other ranks: the time limit" $?
if [ "${#options[@]}" -gt 0 ]; then
  options+=(--enable-recovery)
  begin=$SECONDS
  job 3 killed
  [ $((SECONDS - begin)) -le 30 ]
  verdict "a killed rank that mpirun does not answer for: in time" $?
  none_left "a killed rank that mpirun does not answer for"
  said_by "a killed rank that mpirun does not answer for: the others name it" 2 "no answer from rank 2"
fi
summary
