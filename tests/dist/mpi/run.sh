#!/usr/bin/env bash
# Distributed arrays on 1 to 5 processes, oversubscribed, and what the others get when one is killed: an error in time.
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

export SINTER_COLLECTIVE_TIMEOUT=40
begin=$SECONDS
job 3 dies 3
[ $? != 0 ] && [ $((SECONDS - begin)) -le 30 ]
verdict "a killed process: an error in time" $?
none_left "a killed process"
summary
