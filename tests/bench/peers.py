"""Times the rows of sinter_bench for other libraries: CuPy, PyTorch and JAX on a GPU, NumPy and Numba on the CPU.

Usage: peers.py [--device cuda|cpu] [--large | --linalg | --random | --fft] [--only LIBRARY[,LIBRARY]]
       peers.py --algorithms [--seconds N]    sorting, selecting, scanning, counting: see peer_algorithms.py

Whatever is not installed is left out, and said. On a GPU, times are taken with CUDA events around a batch of calls
(JAX: around a batch that ends with block_until_ready); every figure is the median over several batches, after a
warm-up that includes compilation. Where a library cannot do a row, the row says why.
"""
import argparse
import importlib
import platform
import statistics
import time

RADIUS = 6371.0088
RANDOM = FFT = False  # only the draws of random numbers, only the transforms


# ---- clocks

def median_ms(batch):
    """Median over rounds of one call's milliseconds; batch(n) returns the seconds of n calls."""
    batch(1)
    once = batch(1)
    calls = min(max(int(0.03 / max(once, 1e-7)), 1), 1000)
    return statistics.median(batch(calls) / calls for _ in range(3 if once > 2 else 7)) * 1e3


def wall(wait=lambda out: None):
    """A clock of the host, for work that runs when called or that `wait` waits for."""
    def timed(work):
        def batch(calls):
            begin = time.perf_counter()
            out = None
            for _ in range(calls):
                out = work()
            wait(out)
            return time.perf_counter() - begin
        return batch
    return timed


def events(new_event, elapsed_ms):
    """A clock of CUDA events."""
    def timed(work):
        def batch(calls):
            begin, end = new_event(), new_event()
            begin.record()
            for _ in range(calls):
                work()
            end.record()
            end.synchronize()
            return elapsed_ms(begin, end) / 1e3
        return batch
    return timed


def host_ms(work, wait, calls=2000):
    """Host time of one call, over many that nobody waits for."""
    for _ in range(200):
        out = work()
    rounds = []
    for _ in range(11):
        wait(out)
        begin = time.perf_counter()
        for _ in range(calls):
            out = work()
        rounds.append((time.perf_counter() - begin) / calls * 1e3)
    wait(out)
    return statistics.median(rounds)


# ---- the work, once for every library that speaks NumPy

def search(xp, p, q):
    lat1, lon1, lat2, lon2 = p[:, None, 0], p[:, None, 1], q[:, 0], q[:, 1]
    h = xp.square(xp.sin((lat2 - lat1) / 2)) + xp.cos(lat1) * xp.cos(lat2) * xp.square(xp.sin((lon2 - lon1) / 2))
    d = 2 * RADIUS * xp.arcsin(xp.sqrt(xp.clip(h, None, 1)))
    i = xp.argmin(d, 1)
    return i, xp.take_along_axis(d, i[:, None], 1)[:, 0]


def ten_operations(x, y):
    return ((((((((x + y) * x - y) * y + x) * x) - y) * y) + x) / y)


def vector_rows(xp):
    return {
        "cos^2 + sin^2": lambda x, y: xp.square(xp.cos(x)) + xp.square(xp.sin(x)),
        "2x + y": lambda x, y: 2 * x + y,
        "sum((x-y)^2)": lambda x, y: xp.sum(xp.square(x - y)),
        "sum": lambda x, y: xp.sum(x),
    }


def matrix_rows(xp):
    return {
        "sum axis 0": lambda x: xp.sum(x, 0),
        "sum axis 1": lambda x: xp.sum(x, 1),
        "argmin axis 1": lambda x: xp.argmin(x, 1),
        "var axis 1": lambda x: xp.var(x, 1),
    }


def search_sizes(gpu, large):
    sizes = [((1 << 16) if gpu else (1 << 14), 1 << 13), (171075, 7184)]
    return sizes + [(1 << 24, 1 << 14)] if large else sizes


def sizes(gpu):
    return (1 << 28, 16384) if gpu else (1 << 24, 4096)


def label(n):
    return f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else str(n)


def points(n, seed):
    import numpy as np
    r = np.random.default_rng(seed)
    lat = np.arcsin(2 * r.random(n) - 1)
    lon = np.pi * (2 * r.random(n) - 1)
    return np.stack([lat, lon], 1).astype(np.float32)


def vector(n, low, high):
    import numpy as np
    return (np.arange(n) * 48271 % 65521 * ((high - low) / 65521.0) + low).astype(np.float32)


# ---- printing

class Rows:
    """One library's part of the table. A row that fails prints the reason: out of memory is a result too."""

    def __init__(self, library):
        self.library = library

    def add(self, name, measure):
        try:
            cell = f"{measure():.4f}"
        except Exception as error:
            reason = (str(error).splitlines() or [""])[0][:90].replace("|", "/")
            cell = f"{type(error).__name__}: {reason}"
        print(f"| {self.library} | {name} | {cell} |", flush=True)


def add_all(rows, xp, put, timed, wait, gpu, large, compiled=lambda f: f, find=None):
    """All rows of one library. `compiled` wraps a function (jit, fuse); `timed(work)` gives a batch clock."""
    find = find or compiled(lambda p, q: search(xp, p, q))
    for m, n in search_sizes(gpu, large):
        def measure(m=m, n=n):
            p, q = put(points(m, 1)), put(points(n, 2))
            return median_ms(timed(lambda: find(p, q)))
        rows.add(f"haversine argmin {label(m)} x {label(n)}", measure)
    n, side = sizes(gpu)
    x, y = put(vector(n, 0, 1)), put(vector(n, 1, 2))
    for name, f in vector_rows(xp).items():
        g = compiled(f)
        rows.add(f"{name}, {label(n)}", lambda g=g: median_ms(timed(lambda: g(x, y))))
    del x, y
    a = put(vector(side * side, -1, 1).reshape(side, side))
    for name, f in matrix_rows(xp).items():
        g = compiled(f)
        rows.add(f"{name}, {side}^2", lambda g=g: median_ms(timed(lambda: g(a))))
    del a
    s, t = put(vector(1024, 0, 1)), put(vector(1024, 1, 2))
    add, ten = compiled(lambda x, y: x + y), compiled(ten_operations)
    rows.add("host time of x + y, 1024", lambda: host_ms(lambda: add(s, t), wait))
    rows.add("host time of ten operations, 1024", lambda: host_ms(lambda: ten(s, t), wait))


# ---- linear algebra: the rows of sinter_bench --linalg

def linalg_sizes(gpu):
    """m, k, n of the oblong product; side of the square ones, how many small ones, side of the dense system."""
    return (10000, 5000, 7000, 8192, 4096, 4096) if gpu else (2000, 1000, 1400, 1000, 256, 2048)


def cg_step(xp, a, y, r, p, rr):
    q = xp.matmul(a, p)
    alpha = rr / xp.vdot(p, q)
    y, r = y + alpha * p, r - alpha * q
    following = xp.vdot(r, r)
    return y, r, r + (following / rr) * p, following


def add_linalg(rows, xp, put, timed, gpu, compiled=lambda f: f):
    m, k, n, side, stack, dense = linalg_sizes(gpu)

    def matrix(rows, columns, dtype):
        scale = 0.5 if dtype.startswith("float") else 100
        values = vector(rows * columns, -scale, scale).reshape(rows, columns)
        return put(values > 0 if dtype == "bool" else values.astype(dtype))

    def add(name, f, *arguments):
        g = compiled(f)
        rows.add(name, lambda: median_ms(timed(lambda: g(*arguments))))

    for dtype in ("float32", "float64"):
        a, b = matrix(m, k, dtype), matrix(k, n, dtype)
        what = f", {m} x {k} x {n}, {dtype}"
        add("matmul" + what, xp.matmul, a, b)
        add("matmul, sum axis 0" + what, lambda a, b: xp.sum(xp.matmul(a, b), 0), a, b)
    a, b = matrix(m, k, "float32"), matrix(k, n, "float32")
    add(f"einsum ij,jk->k, {m} x {k} x {n}, float32", lambda a, b: xp.einsum("ij,jk->k", a, b), a, b)
    small = matrix(1000, 1000, "float32")
    add("dot 1000^2, float32", xp.matmul, small, small)
    for dtype in ("float16", "bool", "int8", "int16", "int32", "int64"):
        size = side if dtype == "float16" else side // 4
        a = matrix(size, size, dtype)
        add(f"matmul {size}^2, {dtype}", xp.matmul, a, a)
    a = matrix(stack * 128, 128, "float32").reshape(stack, 128, 128)
    add(f"matmul of {stack} matrices 128^2, float32", xp.matmul, a, a)
    a = matrix(stack * 64, 4, "float32").reshape(stack * 16, 4, 4)
    add(f"matmul of {stack * 16} matrices 4^2, float32", xp.matmul, a, a)
    a, x = matrix(dense, dense, "float64"), matrix(1, dense, "float64")[0]
    what = f" {dense}^2, float64"
    add("matrix times vector," + what, xp.matmul, a, x)
    add("transpose times vector," + what, lambda a, x: xp.matmul(a.T, x), a, x)
    step = compiled(lambda a, y, r, p, rr: cg_step(xp, a, y, r, p, rr))
    state = [x * 0, x, x, xp.vdot(x, x)]

    def iterate():
        state[:] = step(a, *state)
        return state[3]

    rows.add("step of conjugate gradients," + what, lambda: median_ms(timed(iterate)))


def random_rows(rows, g, f4, f8, timed, gpu):
    """Draws of a library with NumPy's Generator."""
    n = 10**8 if gpu else 10**7
    size, few, fewer = f"1e{len(str(n)) - 1}", n // 10, f"1e{len(str(n)) - 2}"
    for name, draw in (
            (f"standard_normal float32, {size}", lambda: g.standard_normal(n, dtype=f4)),
            (f"standard_normal float64, {size}", lambda: g.standard_normal(n, dtype=f8)),
            (f"2 * standard_normal + 1, float32, {size}", lambda: 2 * g.standard_normal(n, dtype=f4) + 1),
            (f"random float32, {size}", lambda: g.random(n, dtype=f4)),
            (f"random float64, {size}", lambda: g.random(n, dtype=f8)),
            (f"standard_exponential float32, {size}", lambda: g.standard_exponential(n, dtype=f4)),
            (f"integers 0 to 9, int64, {size}", lambda: g.integers(0, 10, size=n)),
            (f"gamma of 2.5, float64, {fewer}", lambda: g.standard_gamma(2.5, size=few)),
            (f"poisson of 3.5, {fewer}", lambda: g.poisson(3.5, size=few)),
            (f"poisson of 350, {fewer}", lambda: g.poisson(350.0, size=few)),
            (f"binomial of 1000, 0.3, {fewer}", lambda: g.binomial(1000, 0.3, size=few)),
            (f"pi from points, float32, {size}",
             lambda: (g.random(n, dtype=f4) ** 2 + g.random(n, dtype=f4) ** 2 < 1).sum())):
        rows.add(name, lambda draw=draw: median_ms(timed(draw)))


def fft_rows(rows, xp, put, timed, gpu, cosine=None, convolve=None):
    """Transforms of a library with NumPy's names."""
    import numpy as np
    n, lines = (1 << 24, 65536) if gpu else (1 << 20, 4096)
    size, batch = label(n), f"{lines} x 256"
    g = np.random.default_rng(1)
    for kind, dtype in (("complex64", np.complex64), ("complex128", np.complex128)):
        def noise(*shape, dtype=dtype):
            return put((g.standard_normal(shape) + 1j * g.standard_normal(shape)).astype(dtype))
        plane, line, many = noise(2000, 2000), noise(n), noise(lines, 256)
        real_plane, real_line = plane.real * 1, line.real * 1
        table = {
            f"fft2 {kind}, 2000^2": lambda: xp.fft.fft2(plane),
            f"ifft2 {kind}, 2000^2": lambda: xp.fft.ifft2(plane),
            f"rfft2 to {kind}, 2000^2": lambda: xp.fft.rfft2(real_plane),
            f"fft {kind}, {size}": lambda: xp.fft.fft(line),
            f"ifft {kind}, {size}": lambda: xp.fft.ifft(line),
            f"rfft to {kind}, {size}": lambda: xp.fft.rfft(real_line),
            f"fft of rows {kind}, {batch}": lambda: xp.fft.fft(many),
            f"fft of columns {kind}, {batch}": lambda: xp.fft.fft(many, axis=0),
        }
        for length in (1 << 10, 1 << 12, 1 << 13):
            other = many.reshape(length, -1)
            table[f"fft of columns {kind}, {length} x {other.shape[1]}"] = lambda x=other: xp.fft.fft(x, axis=0)
        if cosine:
            table[f"dct of rows to the real dtype of {kind}, 2000^2"] = lambda: cosine(real_plane)
        if convolve:
            box = xp.ones((31, 31), real_plane.dtype)
            table[f"fftconvolve to the real dtype of {kind}, 2000^2 with 31^2"] = lambda: convolve(real_plane, box)
        for name, work in table.items():
            rows.add(name, lambda work=work: median_ms(timed(work)))


# ---- libraries

def run_numpy(gpu, large, linalg):
    import numpy as np
    if RANDOM:
        return random_rows(Rows(f"NumPy {np.__version__}"), np.random.default_rng(1), np.float32, np.float64, wall(),
                           False)
    if FFT:
        return fft_rows(Rows(f"NumPy {np.__version__}"), np, np.asarray, wall(), False)

    if linalg:
        return add_linalg(Rows(f"NumPy {np.__version__}"), np, np.asarray, wall(), False)

    def find(p, q, block=256):  # in blocks of rows: the whole M x N array would not fit
        parts = [search(np, p[k:k + block], q) for k in range(0, len(p), block)]
        return [np.concatenate(part) for part in zip(*parts)]

    add_all(Rows(f"NumPy {np.__version__}"), np, np.asarray, wall(), lambda _: None, False, large, find=find)


def run_numba(gpu, large, linalg):
    import numba
    if linalg:
        return
    import numpy as np
    if RANDOM or FFT:
        return
    f4 = np.float32
    parallel = numba.njit(parallel=True, error_model="numpy")

    @parallel
    def find(p, q):
        index = np.empty(len(p), np.int64)
        distance = np.empty(len(p), np.float32)
        cosines = np.cos(q[:, 0])
        for i in numba.prange(len(p)):
            lat, lon, c = p[i, 0], p[i, 1], np.cos(p[i, 0])
            best, at = f4(np.inf), 0
            for j in range(len(q)):
                a = np.sin((q[j, 0] - lat) * f4(0.5))
                b = np.sin((q[j, 1] - lon) * f4(0.5))
                h = a * a + c * cosines[j] * b * b
                if h < best:
                    best, at = h, j
            index[i] = at
            distance[i] = f4(2 * RADIUS) * np.arcsin(np.sqrt(min(best, f4(1))))
        return index, distance

    @parallel
    def trig(x, y):
        out = np.empty_like(x)
        for i in numba.prange(len(x)):
            c, s = np.cos(x[i]), np.sin(x[i])
            out[i] = c * c + s * s
        return out

    @parallel
    def axpy(x, y):
        out = np.empty_like(x)
        for i in numba.prange(len(x)):
            out[i] = f4(2) * x[i] + y[i]
        return out

    @parallel
    def squares(x, y):
        total = 0.0
        for i in numba.prange(len(x)):
            total += (x[i] - y[i]) * (x[i] - y[i])
        return total

    timed = wall()
    rows = Rows(f"Numba {numba.__version__}, {numba.get_num_threads()} threads")
    for m, n in search_sizes(False, large):
        p, q = points(m, 1), points(n, 2)
        rows.add(f"haversine argmin {label(m)} x {label(n)}", lambda p=p, q=q: median_ms(timed(lambda: find(p, q))))
    n, _ = sizes(False)
    x, y = vector(n, 0, 1), vector(n, 1, 2)
    for name, f in (("cos^2 + sin^2", trig), ("2x + y", axpy), ("sum((x-y)^2)", squares)):
        rows.add(f"{name}, {label(n)}", lambda f=f: median_ms(timed(lambda: f(x, y))))


def cupy_random_rows(cupy, timed):
    """The Generator, and the functions of the module, which use cuRAND's bulk generators."""
    name = f"CuPy {cupy.__version__}"
    random_rows(Rows(f"{name} Generator"), cupy.random.default_rng(1), cupy.float32, cupy.float64, timed, True)
    rows, n = Rows(f"{name} module"), 10**8
    for dtype in (cupy.float32, cupy.float64):
        kind = cupy.dtype(dtype).name
        rows.add(f"standard_normal {kind}, 1e8",
                 lambda dtype=dtype: median_ms(timed(lambda: cupy.random.standard_normal(n, dtype=dtype))))
        rows.add(f"random {kind}, 1e8",
                 lambda dtype=dtype: median_ms(timed(lambda: cupy.random.random_sample(n, dtype=dtype))))
    rows.add("permutation, 1e7", lambda: median_ms(timed(lambda: cupy.random.permutation(n // 10))))


def run_cupy(gpu, large, linalg):
    import cupy
    timed = events(cupy.cuda.Event, cupy.cuda.get_elapsed_time)
    if RANDOM:
        return cupy_random_rows(cupy, timed)
    if linalg:
        return add_linalg(Rows(f"CuPy {cupy.__version__}"), cupy, cupy.asarray, timed, True)
    if FFT:
        from cupyx.scipy.fft import dct
        from cupyx.scipy.signal import fftconvolve
        return fft_rows(Rows(f"CuPy {cupy.__version__}"), cupy, cupy.asarray, timed, True, dct,
                        lambda x, y: fftconvolve(x, y, "same"))

    def wait(_):
        cupy.cuda.Device().synchronize()

    @cupy.fuse()
    def fused_distance(lat1, lon1, lat2, lon2):
        h = (cupy.square(cupy.sin((lat2 - lat1) / 2)) +
             cupy.cos(lat1) * cupy.cos(lat2) * cupy.square(cupy.sin((lon2 - lon1) / 2)))
        return 2 * RADIUS * cupy.arcsin(cupy.sqrt(cupy.minimum(h, 1)))

    def fused_search(p, q):
        d = fused_distance(p[:, None, 0], p[:, None, 1], q[:, 0], q[:, 1])
        i = cupy.argmin(d, 1)
        return i, cupy.take_along_axis(d, i[:, None], 1)[:, 0]

    # A lambda has no name that a kernel could have.
    fuse = cupy.fuse(kernel_name="fused")
    for name, extra in (("", {}), (" fuse", {"compiled": fuse, "find": fused_search})):
        add_all(Rows(f"CuPy {cupy.__version__}{name}"), cupy, cupy.asarray, timed, wait, True, large, **extra)
        cupy.get_default_memory_pool().free_all_blocks()


class TorchNames:
    """The NumPy names that the rows use, for torch."""

    def __init__(self, torch):
        self.torch = torch
        for name in ("sin", "cos", "sqrt", "square", "arcsin", "clip", "sum", "argmin", "matmul", "einsum", "vdot"):
            setattr(self, name, getattr(torch, name))

    def var(self, x, axis):
        return self.torch.var(x, axis, correction=0)

    def take_along_axis(self, x, i, axis):
        return self.torch.take_along_dim(x, i, axis)


def run_torch(gpu, large, linalg):
    import torch
    timed, wait = wall(), lambda _: None
    if gpu:
        timed = events(lambda: torch.cuda.Event(enable_timing=True), lambda a, b: a.elapsed_time(b))
        wait = lambda _: torch.cuda.synchronize()

    where = "cuda" if gpu else "cpu"
    if RANDOM:
        rows, n = Rows(f"torch {torch.__version__}"), 10**8 if gpu else 10**7
        for dtype in (torch.float32, torch.float64):
            kind, size = str(dtype)[6:], f"1e{len(str(n)) - 1}"
            rows.add(f"standard_normal {kind}, {size}",
                     lambda dtype=dtype: median_ms(timed(lambda: torch.randn(n, dtype=dtype, device=where))))
            rows.add(f"random {kind}, {size}",
                     lambda dtype=dtype: median_ms(timed(lambda: torch.rand(n, dtype=dtype, device=where))))
        return

    def put(a):
        return torch.from_numpy(a).to(where)

    if linalg:
        return add_linalg(Rows(f"torch {torch.__version__}"), TorchNames(torch), put, timed, gpu)
    if FFT:
        rows = Rows(f"torch {torch.__version__}")
        for kind in (torch.complex64, torch.complex128):
            plane, line = (torch.randn(s, dtype=kind, device=where) for s in ((2000, 2000), 1 << 24))
            name = str(kind)[6:]
            rows.add(f"fft2 {name}, 2000^2", lambda plane=plane: median_ms(timed(lambda: torch.fft.fft2(plane))))
            rows.add(f"fft {name}, 2^24", lambda line=line: median_ms(timed(lambda: torch.fft.fft(line))))
        return

    compiled = {"compiled": lambda f: torch.compile(f, dynamic=False)}
    for name, extra in (("", {}), (" compile", compiled)):
        add_all(Rows(f"torch {torch.__version__}{name}"), TorchNames(torch), put, timed, wait, gpu, large, **extra)
        if gpu:
            torch.cuda.empty_cache()


def run_jax(gpu, large, linalg):
    import jax
    import jax.numpy as jnp
    if RANDOM or FFT:
        return
    rows = Rows(f"JAX {jax.__version__} jit ({jax.default_backend()})")
    if linalg:
        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_default_matmul_precision", "highest")
        return add_linalg(rows, jnp, jax.device_put, wall(jax.block_until_ready), gpu, compiled=jax.jit)
    add_all(rows, jnp, jax.device_put, wall(jax.block_until_ready), jax.block_until_ready, gpu, large,
            compiled=jax.jit)


LIBRARIES = {
    "cuda": {"cupy": run_cupy, "torch": run_torch, "jax": run_jax},
    "cpu": {"numpy": run_numpy, "numba": run_numba, "torch": run_torch, "jax": run_jax},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=sorted(LIBRARIES), default="cuda")
    parser.add_argument("--large", action="store_true", help="the search at 2^24 x 2^14 too")
    parser.add_argument("--linalg", action="store_true", help="linear algebra instead")
    parser.add_argument("--random", action="store_true", help="draws of random numbers instead")
    parser.add_argument("--fft", action="store_true", help="Fourier transforms instead")
    parser.add_argument("--only", default="", help="libraries, with commas between them")
    parser.add_argument("--algorithms", action="store_true", help="sorting, selecting, scanning and counting instead")
    parser.add_argument("--seconds", type=float, default=50, help="of these, rows that would begin later are left out")
    options = parser.parse_args()
    global RANDOM, FFT
    RANDOM, FFT = options.random, options.fft
    known = LIBRARIES[options.device]
    wanted = [name for name in options.only.split(",") if name] or list(known)
    for name in wanted:
        if name not in known:
            parser.error(f"{name} has no rows on {options.device}")
    print(f"{options.device}, Python {platform.python_version()}\n")
    if options.algorithms:
        import peer_algorithms  # which imports this file
        peer_algorithms.run(wanted, options.device == "cuda", options.seconds)
        return
    print("| library | work | ms |\n| --- | --- | ---: |", flush=True)
    absent = []
    for name in wanted:
        try:
            importlib.import_module(name)
        except ImportError:
            absent.append(name)
            continue
        known[name](options.device == "cuda", options.large, options.linalg)
    if absent:
        print(f"\nnot installed: {', '.join(absent)}")


if __name__ == "__main__":
    main()
