#!/usr/bin/env bash
# Distributed arrays on 1 to 5 processes, oversubscribed, and what the others get when one is killed, slow or without memory: an error in time.
# Usage: run.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../../scripts/program.sh"
job_limit=120
. "$(dirname "$0")/../../scripts/ranks.sh"
export SINTER_DEVICE=cpu

for ranks in 1 2 3 4 5; do
  job $ranks cases $ranks
  verdict "$ranks processes" $?
  said_by "$ranks processes: each of them" $ranks "^a process of $ranks is right"
done

# fails HOW WORK [MEGABYTES] : the last of three processes fails in the work; all end, with an error, long before the job's limit.
fails() {
  local begin=$SECONDS
  job 3 fails 3 "$@"
  [ $? != 0 ] && [ $((SECONDS - begin)) -le 30 ]
  verdict "a process is $1 in $2: an error in time" $?
  said_by "a process is $1 in $2: it was in the middle of it" 3 "^works"
  none_left "a process is $1 in $2"
}
export SINTER_COLLECTIVE_TIMEOUT=40
for task in sums halos redistribution terms scattered sorts orders scans weights rows writes sets transforms reshapes products stacks neighbours masks; do
  fails killed $task
done
fails memory sums
said_by "a process without memory: its own error" 1 "^says: \[allocate\] CPU memory is exhausted"
said_by "a process without memory: its message on the others" 2 "^says: .*rank 2 of 3 has failed: .*memory is exhausted"
fails misled indices
said_by "an index out of range on one process: its own error" 1 "^says: \[index\] index 999 is out of range"
said_by "an index out of range on one process: its message on the others" 2 "^says: .*rank 2 of 3 has failed: \[index\] index 999"
said_by "an index out of range on one process: no elements" 0 "^reads"
fails misled stacks
said_by "a singular matrix on one process: its own error" 1 "^says: \[solve\] Singular matrix"
said_by "a singular matrix on one process: its message on the others" 2 "^says: .*rank 2 of 3 has failed: \[solve\] Singular"
said_by "a singular matrix on one process: no elements" 0 "^reads"
# Wherever the memory ends: what else the others could see is the time limit, or nothing at all.
for task in halos scattered sorts orders scans weights rows writes sets transforms reshapes stacks neighbours masks; do
  for more in 8 24; do
    SINTER_TIER=0 fails starved $task $more
    said_by "a process is starved in $task: its own error" 1 "^says: (\[allocate\] CPU memory is exhausted|std::bad_alloc)"
    said_by "a process is starved in $task: its message on the others" 2 "^says: .*rank 2 of 3 has failed: (\[allocate\] CPU memory is exhausted|std::bad_alloc)"
  done
done
export SINTER_COLLECTIVE_TIMEOUT=2
for task in sums terms scattered sorts scans rows writes sets transforms; do
  fails slow $task
  grep -Eq "^says: .*2 s, the limit .*no answer from rank 2" "$work/out"
  verdict "a process is slow in $task: it is named" $?
done

# A GPU for each process.
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
if [ "$gpus" -ge 2 ]; then
  export SINTER_DEVICE=cuda:0 SINTER_COLLECTIVE_TIMEOUT=100
  job_limit=300
  for ranks in 2 4; do
    [ $ranks -le "$gpus" ] || continue
    job $ranks cases $ranks
    verdict "$ranks processes with a GPU each" $?
    said_by "$ranks processes with a GPU each: each of them" $ranks "^a process of $ranks is right"
  done
  job_limit=60
  for how in "killed sums" "killed sorts" "misled indices"; do
    job 2 fails 2 $how
    [ $? != 0 ]
    verdict "a process with a GPU is $how: an error" $?
    said_by "a process with a GPU is $how: it was in the middle of it" 2 "^works"
    none_left "a process with a GPU is $how"
  done
  export SINTER_COLLECTIVE_TIMEOUT=4
  job 2 fails 2 slow sums
  [ $? != 0 ] && grep -Eq "^says: .*4 s, the limit" "$work/out"
  verdict "a process with a GPU is slow: an error at the time limit" $?
  none_left "a process with a GPU is slow"
else
  echo "left out: processes with a GPU each need two, and there are $gpus"
fi
summary
