"""Times the lines of lines.def, everyday.def and further.def in NumPy, CuPy, JAX, PyTorch and torch.compile, whichever is installed.

Usage: lines.py [--device cuda|cpu] [--small | --programs FOLDER] [--rows TEXT] [--only LIBRARY[,LIBRARY]] [--limit S]
                [--seconds S] [--sinter LOG]

A library runs in a process of its own, which is ended where a line takes longer than the limit; lines that would begin
after --seconds, of which each library gets its share, are left out. Each line is called once, with compilation, and
then many times; times end when the results are there, those of a host line when the call returns. LOG is what
sinter_bench --lines printed: its columns come first, and where NumPy runs too, sums of the results are compared. With
--programs the rows are those of sinter_bench --programs, on the inputs in the folder.
"""
import argparse
import functools
import importlib.util
import json
import math
import os
import re
import select
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peers

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = {"numpy": "NumPy", "cupy": "CuPy", "jax": "JAX", "torch": "torch", "compile": "torch.compile"}
MODULES = {"compile": "torch"}
PEERS = os.path.join(HERE, "../programs/peers")

# What NumPy's line is in a library that lacks a part of it.
OTHER_LINES = {
    "jax": {
        "masked_copy": "return np.where(on, x, y)",
        "drawdown": "return np.max(cummax(x, axis=1) - x, 1)",
        "group_means": "return np.bincount(i, weights=w, length=1000) / np.maximum(np.bincount(i, length=1000), 1)",
        "grid_sums":
            "i = (x * 512).astype('int32') * 512 + (y * 512).astype('int32'); "
            "return np.bincount(i, weights=w, length=512 * 512)",
        "weighted_bincount": "return np.bincount(i, weights=w, length=1000)",
        "permutation": "return random.permutation(key, n)",
        "largest": "return top_k(x, 64)[0]",
        "five_points":
            "v = v.at[1:-1, 1:-1].set(u[1:-1, 1:-1] + 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]"
            " - 4 * u[1:-1, 1:-1])); v = v.at[0].set(v[1]); v = v.at[-1].set(v[-2])\n"
            "v = v.at[:, 0].set(v[:, 1]); return v.at[:, -1].set(v[:, -2])",
    },
    "cupy": {"permutation": "return np.random.permutation(n)"},
    "torch": {
        "copy_transpose": "return x.T.contiguous()",
        "k_means":
            "i = np.argmin(np.sum((x[:, None] - c) ** 2, 2), 1); on = (i[:, None] == np.arange(k)).to(np.float32)\n"
            "return on.T @ x / (np.sum(on, 0) + 1e-6)[:, None]",
        "largest": "return np.topk(x, 64).values",
        "partition": "return np.sort(x)[0]",
        "sort": "return np.sort(x)[0]",
        "histogram": "return np.histc(x, 256, 0, 1)",
        "permutation": "return np.randperm(n)",
        "least_squares": "return np.linalg.lstsq(a, b[:, None])[0]",
    },
}
OTHER_LINES["compile"] = OTHER_LINES["torch"]
NOT_JITTED = {"permutation"}  # without an input all of it would be computed by the compiler


# ---- the table

class Line:
    def __init__(self, host, function, name, gpu, cpu, small, gpu_goal, cpu_goal, inputs, text):
        self.host, self.function, self.name, self.inputs, self.text = host, function, name, inputs, text
        self.sizes = {"cuda": gpu, "cpu": cpu, "small": small}
        self.goals = {"cuda": gpu_goal, "cpu": cpu_goal, "small": 0}


def read_lines(path):
    """The macros of lines.def are calls in Python too, but for the functions' names, which are not strings."""
    class Names(dict):
        def __missing__(self, name):
            return name

    found = []
    names = Names(SIZES=lambda n, m=1, k=1: (n, m, k), LINE=lambda *row: found.append(Line(False, *row)),
                  HOST_LINE=lambda *row: found.append(Line(True, *row)))
    with open(path) as file:
        text = "".join("\n" if line.startswith("//") else line for line in file)
    exec(text, {}, names)
    return found


def numbers(shape, low, high, dtype="float32"):
    """Those of bench.hpp."""
    import numpy as np
    period = np.arange(65521) * 48271 % 65521
    period = period.astype(np.float32) * np.float32((high - low) / 65521.0) + np.float32(low)
    return np.resize(period.astype(dtype), shape)


@functools.lru_cache(1)
def scattered_blocks(blocks):
    """i * 742938285 % p for blocks of 2^16 indices, without a division for each: sums of two remainders, less p."""
    import numpy as np
    p = 2147483647
    in_block = (np.arange(1 << 16) * 742938285 % p).astype(np.uint32)
    at_start = (np.arange(blocks) * ((1 << 16) * 742938285 % p) % p).astype(np.uint32)
    i = at_start[:, None] + in_block
    np.minimum(i, i - np.uint32(p), out=i)
    x = i.astype(np.float32)
    x *= np.float32(1.0 / p)
    return x.reshape(-1)


def scattered(shape):
    """Those of lines.hpp."""
    count = math.prod(shape)
    return scattered_blocks(-(-count >> 16))[:count].reshape(shape)


# ---- libraries: what np is, how an input gets there, how results are waited for, what compiles a line

class TorchNames:
    """torch's names, with NumPy's where they differ."""

    def __init__(self, torch):
        # Attributes, not a look-up when they are used, which torch.compile would have to follow.
        self.__dict__.update({name: value for name, value in vars(torch).items() if not name.startswith("_")})
        self.max, self.min, self.take_along_axis = torch.amax, torch.amin, torch.take_along_dim


class Library:
    def __init__(self, name, gpu):
        getattr(self, "open_" + MODULES.get(name, name))(gpu)
        if name == "compile":
            self.compiled = lambda line: self.np.compile(line, dynamic=False)

    names = {}
    wait = staticmethod(lambda out: None)
    compiled = staticmethod(lambda line: line)
    free = staticmethod(lambda: None)

    def open_numpy(self, gpu):
        import numpy
        self.np, self.put = numpy, lambda a: a

    def open_cupy(self, gpu):
        import cupy
        self.np, self.put = cupy, cupy.asarray
        self.wait = lambda out: cupy.cuda.Device().synchronize()
        self.free = cupy.get_default_memory_pool().free_all_blocks

    def open_jax(self, gpu):
        import jax
        if not gpu:
            jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_enable_x64", True)
        self.np, self.put, self.wait, self.compiled = jax.numpy, jax.device_put, jax.block_until_ready, jax.jit
        self.names = {"cummax": jax.lax.cummax, "random": jax.random, "key": jax.random.key(1), "top_k": jax.lax.top_k}

    def open_torch(self, gpu):
        import torch
        torch.set_default_device("cuda" if gpu else "cpu")
        self.np, self.put = TorchNames(torch), lambda a: torch.from_numpy(a).to("cuda" if gpu else "cpu")
        if gpu:
            self.wait, self.free = lambda out: torch.cuda.synchronize(), torch.cuda.empty_cache


class Program:
    """A row of sinter_bench --programs."""
    host, goals = False, {"cuda": 0, "cpu": 0, "small": 0}

    def __init__(self, function, name):
        self.function, self.name = function, name


def read_programs(path):
    with open(path) as file:
        return [Program(*found) for found in re.findall(r'F\((\w+), "(.*?)"\)', file.read())]


def prepared_program(program, library, name, folder):
    """CuPy runs NumPy's functions, but for those that it has otherwise."""
    import numpy
    data = numpy.load(f"{folder}/{program.function}.in.npz")
    inputs = {key: library.put(data[key]) if data[key].ndim else data[key][()] for key in data.files}
    sys.path.insert(0, PEERS)
    if name == "jax":
        import jax_programs
        functions = jax_programs.jax_programs()
    else:
        with open(os.path.join(PEERS, "numpy_programs.py")) as file:
            text = file.read().replace("import numpy as np", "")
        functions = {"np": library.np}
        exec(text, functions)
        if name == "cupy":
            import cupy_programs
            functions.update(cupy_programs.cupy_overrides(library.np))
    if program.function not in functions:
        raise NotImplementedError("not written")
    return lambda: functions[program.function](**inputs)


def function_of(text, names, parameters):
    body = "\n".join("    " + part for part in text.split("\n"))
    exec(f"def line({', '.join(parameters)}):\n{body}", names)
    return names["line"]


def prepared(line, library, name, which):
    """The line as a function without parameters, on inputs that are there already."""
    import numpy
    n, m, k = line.sizes[which]
    made = {"np": numpy, "numbers": numbers, "scattered": scattered, "n": n, "m": m, "k": k}
    before = set(made)
    exec(line.inputs, made)
    inputs = {a: library.put(v) for a, v in made.items() if a not in before and isinstance(v, numpy.ndarray)}
    names = {"np": library.np, "n": n, "m": m, "k": k, "rng": made.get("rng"), **library.names}
    text = OTHER_LINES.get(name, {}).get(line.function, line.text)
    call = function_of(text, names, list(inputs))
    if line.function not in NOT_JITTED:
        call = library.compiled(call)
    library.wait(list(inputs.values()))
    return lambda: call(*inputs.values())


# ---- a library's process

def host_ms(work, wait, calls=200):
    rounds = []
    for _ in range(15):
        wait(work())
        begin = time.perf_counter()
        for _ in range(calls):
            out = work()
        rounds.append((time.perf_counter() - begin) / calls * 1e3)
        wait(out)
    return statistics.median(rounds)


def sum_of_magnitudes(out):
    """Of all finite results."""
    import numpy
    total = 0.0
    for a in out.values() if isinstance(out, dict) else out if isinstance(out, tuple) else (out,):
        size = numpy.abs(a).astype(numpy.float64)
        total += float(numpy.sum(size[numpy.isfinite(size)]))
    return total


def measure(line, library, name, options):
    if options.programs:
        work = prepared_program(line, library, name, options.programs)
    else:
        work = prepared(line, library, name, which_sizes(options))
    begin = time.perf_counter()
    out = work()
    library.wait(out)
    first = 1e3 * (time.perf_counter() - begin)
    total = sum_of_magnitudes(out) if name == "numpy" else None
    del out
    if line.host:
        steady = host_ms(work, library.wait)
    elif first > 3000:
        begin = time.perf_counter()
        library.wait(work())
        steady = 1e3 * (time.perf_counter() - begin)
    else:
        steady = peers.median_ms(peers.wall(library.wait)(work))
    return {"first": first, "ms": steady, "sum": total}


def serve(options, lines):
    """Prints a line of JSON for each number that comes in."""
    import warnings
    warnings.simplefilter("ignore")
    library = Library(options.serve, options.device == "cuda")
    library.wait(library.put(numbers((8,), 0, 1)) + 1)
    print("{}", flush=True)
    for number in sys.stdin:
        try:
            answer = measure(lines[int(number)], library, options.serve, options)
        except Exception as e:
            answer = {"error": f"{type(e).__name__}: {str(e).strip().splitlines()[0] if str(e).strip() else ''}"[:80]}
        library.free()
        print("\n" + json.dumps(answer), flush=True)


# ---- the process that asks

class Server:
    """A process for a library, begun again after it was ended."""

    def __init__(self, name):
        self.command = [sys.executable, os.path.abspath(__file__), *sys.argv[1:], "--serve", name]
        self.process = None

    def answer(self, number, seconds):
        """Of a line, or None where it took longer."""
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL)
            self.unread = b""
            if self.read(120) is None:
                return self.end({"error": "does not start"})
        try:
            self.process.stdin.write(f"{number}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            return self.end({"error": "the process ended"})
        answer = self.read(seconds)
        return self.end({"error": f"over {seconds:g} s"}) if answer is None else answer

    def read(self, seconds):
        """The next line of JSON; what else a library prints is skipped."""
        until = time.monotonic() + seconds
        while True:
            while b"\n" in self.unread:
                text, self.unread = self.unread.split(b"\n", 1)
                if text.startswith(b"{"):
                    return json.loads(text)
            ready = select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))[0]
            part = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not part:
                return None if not ready else self.end({"error": "the process ended"})
            self.unread += part

    def end(self, answer):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
        return answer


def ask(server, count, limit, until):
    """The answers of a library: those that would be asked for later than `until` are None."""
    answers = [server.answer(i, limit) if time.monotonic() < until else None for i in range(count)]
    return server.end(answers)


def read_log(path):
    """What sinter_bench --lines printed: {name: {first, ms, sum}}."""
    found = {}
    with open(path) as file:
        for text in file:
            cells = [c.strip() for c in text.strip().strip("|").split("|")]
            if len(cells) < 6 or cells[0] in ("work", "---"):
                continue
            try:
                found[cells[0]] = {"first": float(cells[1]), "ms": float(cells[2]), "sum": float(cells[4])}
            except ValueError:
                found[cells[0]] = {"error": cells[1]}
    return found


def cell(answer):
    if answer is None:
        return "-"
    return answer["error"] if "error" in answer else f"{answer['ms']:.4g} ({answer['first']:.3g})"


def print_sums(columns):
    print("\n| first calls of the lines that both have, ms | sinter | the library |\n| --- | ---: | ---: |")
    for name, answers in columns.items():
        both = [(s, a) for s, a in zip(columns["sinter"], answers) if s and a and "ms" in s and "ms" in a]
        if name != "sinter" and both:
            print(f"| {name}, {len(both)} lines | {sum(s['first'] for s, _ in both):.0f} | "
                  f"{sum(a['first'] for _, a in both):.0f} |")


def print_differences(lines, columns):
    for line, s, a in zip(lines, columns["sinter"], columns.get("NumPy", [])):
        if s and a and "sum" in s and "sum" in a and not math.isclose(s["sum"], a["sum"], rel_tol=2e-3, abs_tol=1e-6):
            print(f"the results differ: {line.name}: {s['sum']:.6g}, NumPy {a['sum']:.6g}")


def default_libraries(options):
    left_out = {"torch", "compile"} if options.programs else set()
    return [name for name in LIBRARIES if name not in left_out | ({"cupy"} if options.device == "cpu" else set())]


def which_sizes(options):
    return "small" if options.small else options.device


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--small", action="store_true", help="small inputs: whether everything runs")
    parser.add_argument("--programs", metavar="FOLDER", help="whole programs instead, on the inputs in the folder")
    parser.add_argument("--rows", default="", help="lines with this in their name")
    parser.add_argument("--only", default="", help="libraries, with commas between them")
    parser.add_argument("--limit", type=float, default=20, help="seconds for a line in a library")
    parser.add_argument("--seconds", type=float, default=1e9, help="lines that would begin later are left out")
    parser.add_argument("--sinter", help="the log of sinter_bench --lines")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.programs:
        lines = read_programs(os.path.join(HERE, "../programs/programs.hpp"))
    else:
        lines = [line for name in ("lines.def", "everyday.def", "further.def") for line in read_lines(os.path.join(HERE, name))]
    lines = [line for line in lines if options.rows in line.name]
    if options.serve:
        return serve(options, lines)
    columns = {}
    if options.sinter:
        log = read_log(options.sinter)
        columns["sinter"] = [log.get(line.name) for line in lines]
    wanted = [name for name in options.only.split(",") if name] or default_libraries(options)
    installed = [name for name in wanted if importlib.util.find_spec(MODULES.get(name, name))]
    until = time.monotonic() + options.seconds
    for k, name in enumerate(installed):
        share = time.monotonic() + (until - time.monotonic()) / (len(installed) - k)
        columns[LIBRARIES[name]] = ask(Server(name), len(lines), options.limit, share)
    print(f"{options.device}, milliseconds, in brackets the first call\n")
    print("| work | " + " | ".join(columns) + " | goal |\n| --- |" + " ---: |" * (len(columns) + 1))
    for i, line in enumerate(lines):
        goal = line.goals[which_sizes(options)]
        print(f"| {line.name} | " + " | ".join(cell(c[i]) for c in columns.values()) + f" | {goal or ''} |")
    absent = [name for name in wanted if name not in installed]
    if absent:
        print(f"\nnot installed: {', '.join(absent)}")
    if options.sinter:
        print_sums(columns)
        print_differences(lines, columns)


if __name__ == "__main__":
    main()
