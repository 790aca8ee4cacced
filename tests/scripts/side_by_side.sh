#!/usr/bin/env bash
# side_by_side.sh LOG EXECUTABLE... : the cases of test executables, in processes that take them from a queue, the longest
# first. Everything is written to LOG as it happens, each line after its process's number; at the end what failed, the
# slowest cases and "N passed, N failed, N skipped". Where time runs out the processes are ended; what did not run is
# skipped, and the whole fails.
#   JOBS=16          processes
#   TIME_LIMIT=240   seconds; 0: none
#   ONLY=FILE        extended regular expressions, one a line, for "file: name" of the cases to run; all without
#   PART=i/n         every n-th of them only, for several runs
#   DURATIONS=FILE   seconds of cases that are known; LOG.durations gets those of this run in the same form
#   CHECKER=COMMAND  stands in front of the executables (compute-sanitizer ...); then no durations are written
set -u
here=$(cd "$(dirname "$0")" && pwd)
log=$1
shift
jobs=${JOBS:-$(nproc)}
limit=${TIME_LIMIT:-0}
part=${PART:-0/1}
work=$(mktemp -d) || exit 1
: >"$log"
begin=$SECONDS

# The processes are sessions of their own, so that each ends with all that it has started.
end_processes() {
  local file
  for file in "$work"/*.pid; do
    [ -s "$file" ] && kill "-$1" -- "-$(cat "$file")" 2>/dev/null
  done
}
trap 'end_processes KILL; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

only() { if [ -n "${ONLY:-}" ]; then awk -F '\t' '{ print $2 ": " $3 "\t" $0 }' | grep -E -f "$ONLY" | cut -f2-; else cat; fi; }

# Queues of executable number $1.
make_queues() {
  local kind
  "$2" -ltc -r=units >"$work/all" || return 1
  only <"$work/all" >"$work/list"
  awk -f "$here/queue.awk" "${DURATIONS:-/dev/null}" "$work/list" | sort -t "$(printf '\t')" -k2,2rn |
    awk -v i="${part%/*}" -v n="${part#*/}" 'NR % n == i' >"$work/units"
  for kind in libraries any alone; do
    awk -F '\t' -v kind=$kind '$1 == kind' "$work/units" | cut -f3- >"$work/$1.$kind.queue"
  done
}

# What is left of a queue.
left() { echo $(($(wc -l <"$1") - $(cat "$1.next" 2>/dev/null || echo 0))); }

# process NUMBER EXECUTABLE QUEUE... : works the queues off; begins again where a case ended the process.
process() {
  local number=$1 exe=$2 status tries=0 more=1 q paths
  shift 2
  paths=$(IFS=:; echo "$*")
  while [ $more = 1 ] && [ $tries -lt 50 ] && ! [ -e "$work/late" ]; do
    more=0
    for q in "$@"; do [ "$(left "$q")" -gt 0 ] && more=1; done
    [ $more = 1 ] || break
    tries=$((tries + 1))
    {
      # shellcheck disable=SC2086
      SINTER_TEST_QUEUE=$paths setsid ${CHECKER:-} "$exe" </dev/null 2>&1 &
      echo $! >"$work/$number.pid"
      wait $!
      echo $? >"$work/$number.status"
    } | sed -u "s/^/$number: /" >>"$log"
    rm -f "$work/$number.pid"
    status=$(cat "$work/$number.status")
    [ "$status" -le 1 ] || [ -e "$work/late" ] || printf '%s: [unit]\tstatus\t%s\t%s\n' "$number" "$status" "$exe" >>"$log"
  done
}

# run_lanes COUNT KIND... : COUNT processes side by side on the queues of these kinds, of one executable after the other.
# Queues of libraries are for the first quarter of the processes, which do the others after them.
lane() {
  local number=$1 count=$2 k kind queues
  shift 2
  for ((k = 0; k < executables; ++k)); do
    queues=()
    for kind in "$@"; do
      [ $kind = libraries ] && [ $((number * 4)) -gt $((count + 3)) ] && continue
      queues+=("$work/$k.$kind.queue")
    done
    process "$number" "${executable[k]}" "${queues[@]}"
  done
}
run_lanes() {
  local count=$1 k shown=$SECONDS
  shift
  for ((k = 1; k <= count; ++k)); do lane $k "$count" "$@" & done
  while [ -n "$(jobs -pr)" ]; do
    sleep 0.3
    if [ "$limit" -gt 0 ] && [ $((SECONDS - begin)) -ge "$limit" ] && ! [ -e "$work/late" ]; then
      : >"$work/late"
      end_processes TERM  # a shell makes what runs in its background ignore INT
      sleep 2
      end_processes KILL
    fi
    if [ $((SECONDS - shown)) -ge 10 ]; then
      shown=$SECONDS
      echo "$((SECONDS - begin)) s: $(grep -c '\[unit\].\(passed\|failed\)' "$log") of $total done" | tee -a "$log"
    fi
  done
  wait
}

executable=("$@")
executables=$#
total=0
for ((k = 0; k < executables; ++k)); do
  make_queues $k "${executable[k]}" || exit 1
  total=$((total + $(cat "$work/$k".*.queue | wc -l)))
done
run_lanes "$jobs" libraries any
[ -e "$work/late" ] || run_lanes 1 alone

late=0
[ -e "$work/late" ] && late=1
durations=$log.durations
[ -z "${CHECKER:-}" ] || durations=  # under a checker they mean nothing
awk -f "$here/units.awk" -v late=$late -v durations="$durations" "$work"/*.queue "$log" >"$work/summary"
status=$?
tee -a "$log" <"$work/summary"
exit $status
