"""Runs sinter_bench_sparse and peers.py in turns and prints the least milliseconds of both, the largest ratio first:
    beside.py BINARY THREADS ROUNDS [REGEX] [SECONDS]
Of one thread they are the processor's, of several the clock's. ROWS=small,matrix,large,solvers,spatial,cluster chooses groups."""
import os
import subprocess
import sys

binary, threads, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
which = sys.argv[4:] or ["."]
environment = dict(os.environ, SINTER_NUM_THREADS=threads, OMP_NUM_THREADS=threads, OPENBLAS_NUM_THREADS=threads, SINTER_DEVICE="cpu")
peers = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers.py")]
column = 1 if threads == "1" else 2
best, notes = [{}, {}], set()
for _ in range(rounds):
    for side, command in enumerate(([binary], peers)):
        done = subprocess.run(command + which, env=environment, capture_output=True, text=True)
        if done.returncode:
            notes.add(f"{command[-1]} ended with {done.returncode}: {done.stderr[-500:]}")
        for line in done.stdout.splitlines():
            cells = line.split("\t")
            if len(cells) != 3:
                notes.add(line)
                continue
            best[side][cells[0]] = min(best[side].get(cells[0], 1e9), float(cells[column]))
for note in sorted(notes):
    print(note)
for name in best[0].keys() ^ best[1].keys():
    print("only on one side:", name)
rows = sorted(((best[0][k] / best[1][k], k) for k in best[0].keys() & best[1].keys()), reverse=True)
for ratio, name in rows:
    print(f"{ratio:7.2f}  {best[0][name]:10.4f} {best[1][name]:10.4f}  {name}")
