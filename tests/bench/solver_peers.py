"""Times the rows of sinter_bench_solvers for CuPy on a GPU and NumPy on the CPU: solver_peers.py [cupy|numpy]."""
import statistics
import sys
import time


def steady_ms(f, wait, rounds=7):
    def batch(calls):
        begin = time.perf_counter()
        for _ in range(calls):
            f()
        wait()
        return time.perf_counter() - begin

    batch(1)
    once = batch(1)
    calls = max(1, min(1000, int(0.03 / once)))
    return 1e3 * statistics.median(batch(calls) / calls for _ in range(3 if once > 2 else rounds))


def matrix(xp, shape):
    n = 1
    for extent in shape:
        n *= extent
    k = xp.arange(n, dtype="int64")
    return (k * k % 65521).reshape(shape) / 65521.0 - 0.5


def rows(xp, wait, large, middle, count):
    def row(name, a, f):
        try:
            print(f"| {name} {a.shape} float64 | {steady_ms(f, wait):.4f} | |", flush=True)
        except Exception as e:  # what a library does not offer
            print(f"| {name} {a.shape} float64 | {type(e).__name__} | |", flush=True)

    la = xp.linalg
    print(f"| {xp.__name__} {xp.__version__} | ms | |\n| --- | ---: | ---: |")
    a, b = matrix(xp, (large, large)), matrix(xp, (large,))
    positive = a @ a.T + large * xp.eye(large)
    row("qr", a, lambda: la.qr(a))
    row("solve, one vector", a, lambda: la.solve(a, b))
    row("inv", a, lambda: la.inv(a))
    row("cholesky", a, lambda: la.cholesky(positive))
    row("eigh", a, lambda: la.eigh(positive))
    for n in (64, 128, 192, 256, middle):
        c = matrix(xp, (n, n))
        row("svdvals", c, lambda: la.svd(c, compute_uv=False))
        row("svd", c, lambda: la.svd(c, full_matrices=False))
        row("eigh", c, lambda: la.eigh(c + c.T))
    row("eig", c, lambda: la.eig(c))
    for n in (8, 32, 128):
        s = matrix(xp, (count * 8 // n, n, n)) + n * xp.eye(n)
        row("solve", s, lambda: la.solve(s, s))
        row("qr", s, lambda: la.qr(s))
        row("svd", s, lambda: la.svd(s))
        row("eigh", s, lambda: la.eigh(s))
        row("cholesky", s, lambda: la.cholesky(s))


def main():
    which = sys.argv[1] if len(sys.argv) > 1 else "cupy"
    if which == "numpy":
        import numpy
        rows(numpy, lambda: None, 512, 300, 500)
    else:
        import cupy
        rows(cupy, cupy.cuda.Device().synchronize, 4096, 1024, 10000)


if __name__ == "__main__":
    main()
