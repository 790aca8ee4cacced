"""The rows of sinter_bench --algorithms for other libraries: sorting, searching, selecting, scanning and counting.

peers.py --algorithms runs them. Every library gets the same random numbers: float32 of 24 random bits in [0, 1), from
which indices and integers are made on its device. A line is written as a user of that library would write it; where it
has no such function, or none whose result's size depends on data under a compiler (JAX), the row says "-".

Scratch memory is the highest use of the library's pool during one call, less what was in use before and less what the
call returns, in multiples of the bytes of the row's input. JAX does not tell.
"""
import importlib
import time

from peers import events, label, median_ms, wall

BEGIN = time.perf_counter()


def arrays(out):
    """The arrays of a result: one, several in a tuple, or none."""
    if out is None:
        return []
    return [a for part in out for a in arrays(part)] if isinstance(out, (tuple, list)) else [out]


# ---- rows

def integers(lib, x, bits, type):
    """So many random bits from both halves of x."""
    half, low = len(x) // 2, bits - bits // 2
    return lib.cast(x[:half] * 2.0 ** (bits // 2), type) * 2 ** low + lib.cast(x[half:] * 2.0 ** low, type)


def groups(lib, x):
    """Rows in groups that share their arrays: name, function, arguments, the argument that scratch is compared with."""
    n = len(x)
    size, fewer, r = label(n), label(n // 4), n // 1024
    side = 1 << round((n.bit_length() - 1) / 2)
    wide, tall, square = x.reshape(r, 1024), x.reshape(1024, r), x.reshape(n // side, side)
    yield [(f"sort float32, {size}", "sort", (x,), 0),
           (f"argsort float32, {size}", "argsort", (x,), 0),
           (f"sort rows, {label(r)} x 1024", "sort_rows", (wide,), 0)]
    index = integers(lib, x[:n // 2], n.bit_length() - 1, "int64")
    yield [(f"x[x > 0.5], {size}", "mask", (x,), 0),
           (f"take {fewer} of {size}", "take", (x, index), 1),
           (f"cumsum, {size}", "cumsum", (x,), 0),
           (f"histogram, 256 bins of [0, 1], {size}", "histogram", (x,), 0),
           (f"histogram, 10 bins from least to largest, {size}", "histogram_default", (x,), 0)]
    few, many = integers(lib, x[:n // 2], 20, "int32"), integers(lib, x[:n // 2], 31, "int32")
    yield [(f"unique int32 in [0, 2^20), {fewer}", "unique", (few,), 0),
           (f"unique int32 in [0, 2^31), {fewer}", "unique", (many,), 0),
           (f"unique with counts, int32 in [0, 2^20), {fewer}", "unique_counts", (few,), 0)]
    del few, many
    yield [(f"argsort rows, {label(r)} x 1024", "argsort_rows", (wide,), 0),
           (f"sort columns, 1024 x {label(r)}", "sort_columns", (tall,), 0),
           (f"topk 64 of rows, {label(n // side)} x {label(side)}", "topk", (square,), 0),
           (f"partition at the middle, {fewer}", "partition", (x[:n // 4],), 0),
           (f"lexsort of 2 keys, {label(n // 16)}", "lexsort", (x[:n // 8].reshape(2, n // 16),), 0),
           (f"cumsum of rows, {label(r)} x 1024", "cumsum_rows", (wide,), 0),
           (f"cumsum of columns, {label(r)} x 1024", "cumsum_columns", (wide,), 0)]
    bins, v = lib.cast(x[:n // 4] * 1000.0, "int32"), x[n // 4:n // 2]
    yield [(f"bincount of 1000, int32, {fewer}", "bincount", (bins,), 0),
           (f"bincount of 1000 with float32 weights, {fewer}", "bincount_weights", (bins, v), 0)]
    y, table = lib.copy(x), lib.sorted_copy(x[:n // 256])
    yield [(f"nonzero(x > 0.5), {size}", "nonzero", (x,), 0),
           (f"y[x > 0.5] = 0, {size}", "assign", (y, x), 1),
           (f"add_at {fewer} of {size}", "add_at", (y, index, v), 1),
           (f"searchsorted {fewer} in {label(n // 256)}", "searchsorted", (table, v), 1)]


# ---- libraries

class Numpy:
    """NumPy, and CuPy, which has its names."""

    def __init__(self, xp):
        self.xp, self.title = xp, f"{xp.__name__.replace('numpy', 'NumPy').replace('cupy', 'CuPy')} {xp.__version__}"
        self.timed, self.scratch, self.free = wall(), lambda work: None, lambda: None

    def put(self, host):
        return self.xp.asarray(host)

    def cast(self, x, type):
        return x.astype(type)

    def copy(self, x):
        return x.copy()

    def sorted_copy(self, x):
        return self.xp.sort(x)

    def prepared(self, name):
        return getattr(self, "do_" + name, None)

    def do_sort(self, x): return self.xp.sort(x)
    def do_argsort(self, x): return self.xp.argsort(x)
    def do_sort_rows(self, x): return self.xp.sort(x, axis=1)
    def do_argsort_rows(self, x): return self.xp.argsort(x, axis=1)
    def do_sort_columns(self, x): return self.xp.sort(x, axis=0)
    def do_partition(self, x): return self.xp.partition(x, len(x) // 2)
    def do_lexsort(self, keys): return self.xp.lexsort(keys)
    def do_unique(self, x): return self.xp.unique(x)
    def do_unique_counts(self, x): return self.xp.unique(x, return_counts=True)
    def do_histogram(self, x): return self.xp.histogram(x, 256, (0.0, 1.0))[0]
    def do_histogram_default(self, x): return self.xp.histogram(x, 10)[0]
    def do_bincount(self, x): return self.xp.bincount(x)
    def do_bincount_weights(self, x, w): return self.xp.bincount(x, w)
    def do_mask(self, x): return x[x > 0.5]
    def do_nonzero(self, x): return self.xp.nonzero(x > 0.5)
    def do_take(self, x, i): return self.xp.take(x, i)
    def do_cumsum(self, x): return self.xp.cumsum(x)
    def do_cumsum_rows(self, x): return self.xp.cumsum(x, axis=1)
    def do_cumsum_columns(self, x): return self.xp.cumsum(x, axis=0)
    def do_searchsorted(self, table, v): return self.xp.searchsorted(table, v)

    def do_assign(self, y, x):
        y[x > 0.5] = 0

    def do_add_at(self, y, i, v):
        self.xp.add.at(y, i, v)


def numpy_library(gpu):
    import numpy
    return Numpy(numpy)


def cupy_library(gpu):
    import cupy

    class Peak(cupy.cuda.MemoryHook):
        """The pool's highest use while the hook is registered."""
        name = "Peak"

        def __init__(self):
            self.now = self.most = 0

        def malloc_postprocess(self, **figures):
            self.now += figures["mem_size"]
            self.most = max(self.most, self.now)

        def free_postprocess(self, **figures):
            self.now -= figures["mem_size"]

    def scratch(work):
        with Peak() as peak:
            out = work()
        return peak.most - sum(a.nbytes for a in arrays(out))

    lib = Numpy(cupy)
    lib.timed = events(cupy.cuda.Event, cupy.cuda.get_elapsed_time)
    lib.scratch = scratch
    lib.free = cupy.get_default_memory_pool().free_all_blocks
    return lib


class Torch:
    def __init__(self, torch, gpu):
        self.torch, self.device, self.title = torch, "cuda" if gpu else "cpu", f"torch {torch.__version__}"
        self.timed = wall()
        if gpu:
            self.timed = events(lambda: torch.cuda.Event(enable_timing=True), lambda a, b: a.elapsed_time(b))

    def free(self):
        if self.device == "cuda":
            self.torch.cuda.empty_cache()

    def scratch(self, work):
        if self.device != "cuda":
            return None
        cuda = self.torch.cuda
        cuda.synchronize()
        cuda.reset_peak_memory_stats()
        before = cuda.memory_allocated()
        out = work()
        cuda.synchronize()
        return cuda.max_memory_allocated() - before - sum(a.nbytes for a in arrays(out))

    def put(self, host):
        return self.torch.from_numpy(host).to(self.device)

    def cast(self, x, type):
        return x.to(getattr(self.torch, type))

    def copy(self, x):
        return x.clone()

    def sorted_copy(self, x):
        return self.torch.sort(x)[0]

    def prepared(self, name):
        return getattr(self, "do_" + name, None)

    # torch.sort gives the indices as well, always.
    def do_sort(self, x): return self.torch.sort(x)
    def do_argsort(self, x): return self.torch.argsort(x)
    def do_sort_rows(self, x): return self.torch.sort(x, dim=1)
    def do_argsort_rows(self, x): return self.torch.argsort(x, dim=1)
    def do_sort_columns(self, x): return self.torch.sort(x, dim=0)
    def do_topk(self, x): return self.torch.topk(x, 64, dim=1)
    def do_unique(self, x): return self.torch.unique(x)
    def do_unique_counts(self, x): return self.torch.unique(x, return_counts=True)
    # Counts in float32, which is exact below 2^24 only.
    def do_histogram(self, x): return self.torch.histc(x, 256, 0, 1)
    def do_histogram_default(self, x): return self.torch.histc(x, 10)
    def do_bincount(self, x): return self.torch.bincount(x)
    def do_bincount_weights(self, x, w): return self.torch.bincount(x, w)
    def do_mask(self, x): return x[x > 0.5]
    def do_nonzero(self, x): return self.torch.nonzero(x > 0.5)
    def do_take(self, x, i): return self.torch.take(x, i)
    def do_cumsum(self, x): return self.torch.cumsum(x, 0)
    def do_cumsum_rows(self, x): return self.torch.cumsum(x, 1)
    def do_cumsum_columns(self, x): return self.torch.cumsum(x, 0)
    def do_searchsorted(self, table, v): return self.torch.searchsorted(table, v)

    def do_assign(self, y, x):
        y[x > 0.5] = 0

    def do_add_at(self, y, i, v):
        y.index_add_(0, i, v)


def torch_library(gpu):
    import torch
    return Torch(torch, gpu)


class Jax:
    """Compiled functions. Integers are int32, as JAX makes them by default."""

    def __init__(self, jax):
        import jax.numpy as jnp
        self.jax, self.title = jax, f"JAX {jax.__version__} jit"
        self.timed, self.scratch, self.free = wall(jax.block_until_ready), lambda work: None, lambda: None
        self.lines = {
            "sort": jnp.sort,
            "argsort": jnp.argsort,
            "sort_rows": lambda x: jnp.sort(x, axis=1),
            "take": jnp.take,
            "cumsum": jnp.cumsum,
            "histogram": lambda x: jnp.histogram(x, 256, (0.0, 1.0))[0],
            "histogram_default": lambda x: jnp.histogram(x, 10)[0],
            "topk": lambda x: jax.lax.top_k(x, 64),
            "lexsort": lambda keys: jnp.lexsort(keys),
            "cumsum_rows": lambda x: jnp.cumsum(x, axis=1),
            "bincount": lambda x: jnp.bincount(x, length=1000),
            "searchsorted": jnp.searchsorted,
        }

    def put(self, host):
        return self.jax.device_put(host)

    def cast(self, x, type):
        return x.astype("int32")

    def copy(self, x):
        return x.copy()

    def sorted_copy(self, x):
        return x.sort()

    def prepared(self, name):
        return self.jax.jit(self.lines[name]) if name in self.lines else None


def jax_library(gpu):
    import jax
    return Jax(jax)


LIBRARIES = {"numpy": numpy_library, "cupy": cupy_library, "torch": torch_library, "jax": jax_library}


# ---- running

def measure(lib, function, arguments, input):
    """Cells of a row: milliseconds, scratch memory."""
    try:
        def work():
            return function(*arguments)
        work()  # compiles
        scratch = lib.scratch(work)
        ms = median_ms(lib.timed(work))
        return f"{ms:.4f}", "" if scratch is None else f"{max(0, scratch) / input.nbytes:.2f}"
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0][:90].replace("|", "/")
        return f"{type(error).__name__}: {reason}", ""


def run(wanted, gpu, seconds):
    import numpy as np
    print("| library | work | ms | scratch, x input |\n| --- | --- | ---: | ---: |", flush=True)
    host = np.random.default_rng(1).random(1 << (28 if gpu else 22), dtype=np.float32)
    notes = []
    for name in wanted:
        if name not in LIBRARIES:
            notes.append(f"{name} has none of these rows")
            continue
        try:
            importlib.import_module(name)
        except ImportError:
            notes.append(f"not installed: {name}")
            continue
        lib = LIBRARIES[name](gpu)
        for group in groups(lib, lib.put(host)):
            for title, key, arguments, input in group:
                function = lib.prepared(key)
                cells = "-", ""
                if function and time.perf_counter() - BEGIN > seconds:
                    cells = f"left out: {seconds:.0f} s are over", ""
                elif function:
                    cells = measure(lib, function, arguments, arguments[input])
                print(f"| {lib.title} | {title} | {cells[0]} | {cells[1]} |", flush=True)
                lib.free()
            del group, arguments
        lib.free()
    print(f"\nThese rows took {time.perf_counter() - BEGIN:.1f} s.")
    if notes:
        print("; ".join(notes))
