# What tests of programs under mpirun share; source it after program.sh. Sets `options` for mpirun; leaves the test out (77) where
# mpirun is missing or starts no processes. job_limit: seconds of a job.
if ! command -v mpirun >/dev/null; then
  echo "left out: there is no mpirun (openmpi-bin)"
  exit 77
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 SINTER_NUM_THREADS=1
export OMPI_MCA_orte_abort_print_stack=0 OMPI_MCA_opal_signal=
unset SINTER_COLLECTIVE_TIMEOUT
options=()
if mpirun --version 2>/dev/null | grep -q "Open MPI"; then
  # Within one machine, and without a core for each rank.
  options=(--oversubscribe --mca btl self,vader)
  mpirun --mca btl self,vader -n 1 true >"$work/out" 2>&1 || options=(--oversubscribe)
fi
if ! timeout 60 mpirun "${options[@]}" -n 2 true >"$work/out" 2>&1; then
  echo "left out: mpirun starts no processes here: $(grep -v '^-*$' "$work/out" | head -n 1)"
  exit 77
fi

# job RANKS ARGUMENT... : runs the program, at most job_limit seconds.
job() { timeout -k 5 "$job_limit" mpirun "${options[@]}" -n "$1" "$program" "${@:2}" >"$work/out" 2>"$work/err"; }
# said_by NAME COUNT PATTERN : so many lines of the last run match.
said_by() {
  [ "$(grep -Ec -e "$3" "$work/out")" = "$2" ]
  verdict "$1" $?
}
none_left() {
  local left=1
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    pgrep -f "^$program " >/dev/null || { left=0; break; }
    sleep 0.2
  done
  verdict "$1: no process remains" $left
}
