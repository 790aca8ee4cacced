"""Times the rows of sinter_bench --sparse and --statistics for other libraries: sparse_peers.py [cupy] [torch] [scipy] [--only TEXT]."""
import sys

from solver_peers import steady_ms

only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""


def row(name, f, wait):
    if only and only not in name:
        return
    try:
        print(f"| {name} | {steady_ms(f, wait):.4f} | |", flush=True)
    except Exception as e:  # what a library does not offer
        print(f"| {name} | {type(e).__name__} | |", flush=True)


def step_row(name, run, wait, few=10, many=40):
    if only and only not in name:
        return
    run(few)
    short, long = steady_ms(lambda: run(few), wait, 3), steady_ms(lambda: run(many), wait, 3)
    print(f"| {name} | {(long - short) / (many - few):.4f} | |", flush=True)


def sparse_rows(xp, sparse, linalg, wait, gpu):
    """CuPy on a GPU, SciPy on the CPU: the names are the same."""
    n, band, side = (15000, 4_500_000, 2000) if gpu else (5000, 450_000, 600)
    count = n * n // 10
    rng = xp.random.default_rng(1)
    at = xp.unique(rng.integers(0, n * n, count * 21 // 20))[:count]
    tenth = sparse.csr_matrix((rng.random(len(at), dtype="float32"), (at // n, at % n)), shape=(n, n))
    for a, name in ((tenth, f"a tenth of {n}^2"), (tenth.astype("float64"), f"a tenth of {n}^2")):
        x = xp.ones(n, a.dtype)
        row(f"{name} times vector, {a.dtype}, {a.indices.dtype}", lambda: a @ x, wait)
    row(f"a tenth of {n}^2 to csc", lambda: tenth.tocsc(), wait)
    wide = xp.ones((n, 32), "float32")
    row(f"a tenth of {n}^2 times 32 columns", lambda: tenth @ wide, wait)
    for kind in ("float32", "float64"):
        d = sparse.diags([-1, -1, 4, -1, -1], [-side, -1, 0, 1, side], shape=(band, band), dtype=kind).tocsr()
        x = xp.ones(band, kind)
        row(f"five diagonals of {band} times vector, {kind}, {d.indices.dtype}", lambda: d @ x, wait)
    m = 100_000 if gpu else 50_000
    b = sparse.csr_matrix((rng.random(10 * m), (rng.integers(0, m, 10 * m), rng.integers(0, m, 10 * m))), shape=(m, m))
    row(f"csr times csr, {m}^2 at 10 a row", lambda: b @ b, wait)
    f = xp.ones(n, "float32")
    step_row("a step of lsmr", lambda k: linalg.lsmr(tenth, f, atol=0, btol=0, conlim=0, maxiter=k), wait)
    size = 2048 if gpu else 512
    line = sparse.diags([-1, 2, -1], [-1, 0, 1], shape=(size, size), dtype="float64")
    lap = (sparse.kron(sparse.identity(size), line) + sparse.kron(line, sparse.identity(size))).tocsr()
    g = xp.ones(size * size)
    step_row(f"laplacian of {size}^2, a step of cg", lambda k: linalg.cg(lap, g, rtol=0, maxiter=k), wait)


def statistics_rows(xp, special, wait, gpu):
    n = 1 << (28 if gpu else 22)
    x = xp.random.default_rng(1).random(n, dtype="float32")
    rows = x.reshape(-1, 1024)
    row("a copy", lambda: -x, wait)
    row("median", lambda: xp.median(x), wait)
    row("99th percentile", lambda: xp.percentile(x, 99), wait)
    row("nanmedian", lambda: xp.nanmedian(x), wait)
    row("median of rows of 1024", lambda: xp.median(rows, 1), wait)
    row("99th percentile of rows of 1024", lambda: xp.percentile(rows, 99, 1), wait)
    square = x.reshape(1 << (14 if gpu else 11), -1)
    row("pad by 3", lambda: xp.pad(square, 3), wait)
    row("pad by 3, reflect", lambda: xp.pad(square, 3, "reflect"), wait)
    row("concatenate", lambda: xp.concatenate([x[: n // 2], x[n // 2 :]]), wait)
    for kind in ("float32", "float64"):
        y = x[: n // 4].astype(kind)
        windows = xp.lib.stride_tricks.sliding_window_view(y, 16)
        row(f"a copy of a quarter, {kind}", lambda: -y, wait)
        row(f"sums of windows of 16, {kind}", lambda: windows.sum(1), wait)
        for name in ("erf", "gammaln", "ndtri", "i0e", "digamma"):
            f = getattr(special, name)
            row(f"{name}, {kind}", lambda: f(y), wait)


def torch_rows():
    import torch

    wait = torch.cuda.synchronize
    x = torch.rand(1 << 28, device="cuda")
    rows = x.view(-1, 1024)
    row("median", lambda: torch.median(x), wait)
    row("nanmedian", lambda: torch.nanmedian(x), wait)
    row("median of rows of 1024", lambda: torch.median(rows, 1), wait)
    row("concatenate", lambda: torch.cat([x[: 1 << 27], x[1 << 27 :]]), wait)
    square = x.view(1 << 14, -1)
    row("pad by 3", lambda: torch.nn.functional.pad(square, (3, 3, 3, 3)), wait)
    for kind in (torch.float32, torch.float64):
        y = x[: 1 << 26].to(kind)
        row(f"sums of windows of 16, {str(kind)[6:]}", lambda: y.unfold(0, 16, 1).sum(1), wait)
        for name in ("erf", "gammaln", "ndtri", "i0e", "digamma"):
            f = getattr(torch.special, name)
            row(f"{name}, {str(kind)[6:]}", lambda: f(y), wait)
    del x, rows, square
    points, queries = torch.rand(1_000_000, 128, device="cuda"), torch.rand(10_000, 128, device="cuda")
    norms = (points * points).sum(1)

    def nearest():
        for part in queries.split(1000):
            torch.topk(norms - 2 * part @ points.T, 10, 1, largest=False)

    row("knn of 10000 in 1000000 x 128, k = 10", nearest, wait)
    dense = torch.rand(15000, 15000, device="cuda")
    tenth = torch.where(dense < 0.1, dense, 0).to_sparse_csr()
    v = torch.ones(15000, device="cuda")
    row("a tenth of 15000^2 times vector, float32, int64", lambda: tenth @ v, wait)


def main():
    which = [a for a in sys.argv[1:] if a in ("cupy", "torch", "scipy")] or ["cupy"]
    for name in which:
        print(f"\n| {name} | ms | |\n| --- | ---: | ---: |")
        if name == "scipy":
            import numpy
            import scipy.sparse
            import scipy.sparse.linalg
            import scipy.special

            sparse_rows(numpy, scipy.sparse, scipy.sparse.linalg, lambda: None, False)
            statistics_rows(numpy, scipy.special, lambda: None, False)
        elif name == "torch":
            torch_rows()
        else:
            import cupy
            import cupyx.scipy.sparse
            import cupyx.scipy.sparse.linalg
            import cupyx.scipy.special

            wait = cupy.cuda.Device().synchronize
            sparse_rows(cupy, cupyx.scipy.sparse, cupyx.scipy.sparse.linalg, wait, True)
            statistics_rows(cupy, cupyx.scipy.special, wait, True)


if __name__ == "__main__":
    main()
