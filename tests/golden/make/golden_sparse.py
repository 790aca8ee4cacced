"""Sparse arrays by SciPy: formats, products, slices, joins, reductions. Elements are small integers in every dtype, so that
results are exact in any order of additions. Besides the results, how many entries SciPy stores."""
import numpy as np
import scipy.sparse as sp

from golden_format import EXACT, MODULUS, ULP, Writer, ZERO_SIGN_FREE

DTYPES = ["float64", "float32", "complex128", "complex64", "int64", "int8", "bool"]
SHAPES = [(5, 7), (6, 6), (1, 9), (9, 1), (0, 5), (5, 0), (19, 12)]


def elements(rng, n, dt):
    dt = np.dtype(dt)
    if dt == np.bool_:
        return np.ones(n, dt)
    x = rng.integers(-4, 5, n).astype(dt)
    if dt.kind == "c":
        x = (x + 1j * rng.integers(-4, 5, n)).astype(dt)
    return x


def matrix(rng, shape, dt, fmt, kind):
    """kind: "plain", "loose" (repeated places, no order, stored zeros), "empty" (no entries)."""
    size = shape[0] * shape[1]
    n = 0 if kind == "empty" or size == 0 else max(1, size // 4)
    if kind == "plain":
        at = rng.choice(size, n, replace=False) if n else np.zeros(0, int)
    else:
        at = rng.integers(0, max(size, 1), 2 * n)
    row, col = (at // shape[1], at % shape[1]) if size else (at * 0, at * 0)
    if shape[0] > 3:                  # an empty row in any case
        keep = row != 2
        row, col = row[keep], col[keep]
    data = elements(rng, len(row), dt)
    a = sp.coo_array((data, (row, col)), shape=shape)
    if fmt == "coo" or kind == "plain" or kind == "empty":
        return a.asformat(fmt)
    major, minor = (row, col) if fmt == "csr" else (col, row)   # repeated places stay
    order = np.argsort(major, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(major, minlength=shape[fmt == "csc"]))]).astype(np.int32)
    cls = sp.csr_array if fmt == "csr" else sp.csc_array
    return cls((data[order], minor[order].astype(np.int32), indptr), shape=shape)


def write_sparse_array(w, a, wide=False):
    w.text(a.format)
    w.dims(a.shape)
    index = np.int64 if wide else np.int32
    w.array(a.data)
    parts = (a.row, a.col) if a.format == "coo" else (a.indptr, a.indices)
    for p in parts:
        w.array(np.asarray(p).astype(index))
    w.u8(wide)


class Cases:
    def __init__(self, w):
        self.w = w

    def add(self, name, a, result, b=None, x=None, k=(), nnz=True, policy=(EXACT, 0.0, ZERO_SIGN_FREE), wide=False):
        w = self.w
        w.case()
        w.text(name)
        write_sparse_array(w, a, wide)
        w.u8(b is not None)
        if b is not None:
            write_sparse_array(w, b, wide)
        w.u8(x is not None)
        if x is not None:
            w.array(x)
        w.dims(k)
        w.policy(*policy)
        is_sparse = sp.issparse(result)
        w.u8(is_sparse)
        if is_sparse:
            w.varint(result.nnz if nnz else -1)
            result = result.toarray()
        w.array(np.asarray(result))


def write_conversions(c, rng, a):
    for f in ("csr", "csc", "coo"):
        c.add("to " + f, a, a.asformat(f))
    c.add("toarray", a, a.toarray())
    c.add("transpose", a, a.T)
    s = a.copy()
    s.sum_duplicates()
    c.add("sum_duplicates", a, s)
    z = s.copy()
    z.eliminate_zeros()
    c.add("eliminate_zeros", s, z)
    c.add("negative", a, -a) if a.dtype != bool else None
    c.add("double", a, a * 2) if a.dtype.kind in "fc" else None
    modulus = (MODULUS if a.dtype.kind == "c" else EXACT, 2.0, ZERO_SIGN_FREE)
    c.add("abs", a, abs(s), policy=modulus) if a.dtype != bool else None
    d = a.toarray()
    c.add("astype complex128", a, sp.csr_array(d.astype(np.complex128)), nnz=False)
    c.add("astype int16", a, sp.csr_array(d.astype(np.int16)), nnz=False) if a.dtype.kind != "c" else None


def write_products(c, rng, a, dt):
    m, n = a.shape
    x, y = elements(rng, n, dt), elements(rng, m, dt)
    # SciPy 1.17 drops the axis of a coo array's product of extent 1
    c.add("matvec", a, np.atleast_1d(a @ x), x=x)
    c.add("vecmat", a, np.atleast_1d(y @ a), x=y)
    c.add("rmatvec", a, np.atleast_1d(a.T @ y), x=y)
    for width in (1, 3, 21) if m < 10 else (2,):
        c.add("matmat", a, a @ elements_matrix(rng, n, width, dt, c), x=c.last)
        c.add("rmatmat", a, a.T @ elements_matrix(rng, m, width, dt, c), x=c.last)
        c.add("matmat left", a, elements_matrix(rng, m, width, dt, c).T @ a, x=c.last)
    if a.dtype.kind in "fc":
        c.add("matvec scaled", a, 2 * (a @ x) + 3 * y, b=None, x=np.concatenate([x, y]))
    d = elements(rng, m * n, dt).reshape(m, n)
    c.add("multiply dense", a, a.multiply(d), x=d, nnz=False)
    c.add("multiply row", a, a.multiply(x), x=x, nnz=False)
    c.add("multiply column", a, a.multiply(y[:, None]), x=y[:, None], nnz=False)
    c.add("add dense", a, a.toarray() + d, x=d)


def elements_matrix(rng, rows, columns, dt, c):
    c.last = elements(rng, rows * columns, dt).reshape(rows, columns)
    return c.last


def write_pairs(c, rng, a, fmt, dt, kind):
    m, n = a.shape
    b = matrix(rng, (m, n), dt, fmt, kind)
    d, e = a.toarray(), b.toarray()
    exact = [("add", d + e, 0), ("multiply", d * e, 0)]
    if a.dtype != bool:
        exact.append(("subtract", d - e, 0))
    if a.dtype.kind != "c":
        exact += [("maximum", np.maximum(d, e), 0), ("minimum", np.minimum(d, e), 0),
                  ("less", d < e, 0), ("greater", d > e, 0)]
    exact.append(("not_equal", d != e, 0))
    for name, dense, _ in exact:
        c.add(name, a, sp.csr_array(dense), b=b)
    other = matrix(rng, (n, 6), dt, fmt, kind)
    c.add("matmul", a, (a @ other), b=other, nnz=False)
    c.add("kron", a, sp.kron(a, b), b=b, nnz=False) if a.nnz and m * n < 50 else None
    if m * n > 50:
        return
    c.add("vstack", a, sp.vstack([a, b]), b=b, nnz=False)
    c.add("hstack", a, sp.hstack([a, b]), b=b, nnz=False)
    c.add("block_diag", a, sp.block_diag([a, b]), b=b, nnz=False)
    c.add("block_array", a, sp.block_array([[a, None], [None, b]]), b=b, nnz=False)


def write_reductions(c, a):
    m, n = a.shape
    d = a.toarray()
    for axis in (None, 0, 1):
        k = () if axis is None else (axis,)
        c.add("sum", a, d.sum(axis), k=k)
        if m and n:
            count = {None: m * n, 0: m, 1: n}[axis]
            kind = d.dtype if d.dtype.kind in "fc" else np.dtype("f8")
            c.add("mean", a, (d.sum(axis) / count).astype(kind), k=k,
                  policy=(MODULUS if a.dtype.kind == "c" else ULP, 4.0, ZERO_SIGN_FREE))
            if a.dtype.kind != "c":
                for name in ("min", "max", "argmin", "argmax"):
                    c.add(name, a, getattr(d, name)(axis), k=k)
        c.add("count_nonzero", a, np.count_nonzero(d, axis), k=k)
    if a.dtype.kind == "f" and m and n:
        c.add("norm", a, np.asarray(np.sqrt((np.abs(d) ** 2).sum(dtype=d.dtype)), d.dtype), policy=(ULP, 8.0, 0))
        c.add("norm 1", a, np.abs(d).sum(0).max())
        c.add("norm inf", a, np.abs(d).sum(1).max())


def write_slices(c, rng, a):
    m, n = a.shape
    d = a.toarray()
    for k in range(-3, 4) if m < 10 else (-2, 5):
        if -m < k < n:
            c.add("diagonal", a, d.diagonal(k), k=(k,))
            v = np.arange(1, len(d.diagonal(k)) + 1).astype(a.dtype)
            e = d.copy()
            i = np.arange(len(v))
            e[i + max(0, -k), i + max(0, k)] = v
            c.add("setdiag", a, sp.csr_array(e), x=v, k=(k,), nnz=False)
            c.add("tril", a, sp.csr_array(np.tril(d, k)), k=(k,), nnz=False)
            c.add("triu", a, sp.csr_array(np.triu(d, k)), k=(k,), nnz=False)
    for r in (slice(None), slice(1, 4), slice(None, None, 2), slice(None, None, -1), slice(4, 1, -2), slice(3, 3)):
        for s in (slice(None), slice(2, -1), slice(None, None, -2)):
            rr, ss = r.indices(m), s.indices(n)
            c.add("slice", a, sp.csr_array(d[r, s]), k=pack(r) + pack(s), nnz=False)
    if m > 3 and n > 3:
        i, j = rng.integers(-m, m, 6), rng.integers(-n, n, 5)
        c.add("rows", a, sp.csr_array(d[i]), x=i, nnz=False)
        c.add("columns", a, sp.csr_array(d[:, j]), x=j, nnz=False)
        mask = rng.integers(0, 2, m).astype(bool)
        c.add("rows", a, sp.csr_array(d[mask]), x=mask, nnz=False)
        c.add("points", a, d[i[:5], j], x=np.stack([i[:5], j]))
        c.add("element", a, d[1, -2], k=(1, -2))


def m_of(a):
    """Whether its slices are stored: not of every shape, since there are many."""
    return a.shape in ((5, 7), (1, 9), (5, 0), (19, 12))


def pack(s):
    none = 1 << 40
    return tuple(none if v is None else v for v in (s.start, s.stop, s.step))


def write_sparse(path, rng):
    w = Writer("sparse")
    c = Cases(w)
    for shape in SHAPES:
        for fmt in ("csr", "csc", "coo"):
            for kind in ("plain", "loose", "empty"):
                small = shape in ((5, 7), (0, 5))
                for dt in DTYPES if small else ["float64"]:
                    a = matrix(rng, shape, dt, fmt, kind)
                    write_conversions(c, rng, a)
                    write_products(c, rng, a, dt)
                    if a.dtype != np.int8:
                        write_pairs(c, rng, a, fmt, dt, kind)
                    write_reductions(c, a)
                    if dt == "float64" and m_of(a) or dt == "complex64" and fmt == "csr":
                        write_slices(c, rng, a)
                if shape == (5, 7):
                    a = matrix(rng, shape, "float64", fmt, kind)
                    x = elements(rng, 7, "float64")
                    c.add("matvec", a, a @ x, x=x, wide=True)
                    c.add("to csr", a, a.tocsr(), wide=True)
                    c.add("to csc", a, a.tocsc(), wide=True)
                    b = matrix(rng, (7, 4), "float64", fmt, kind)
                    c.add("matmul", a, a @ b, b=b, wide=True, nnz=False)
                    c.add("add", a, a + a, b=a, wide=True, nnz=False)
    w.save(path)
    return len(w.out)
