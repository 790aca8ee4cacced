"""The instructions of random sparse programs: how operands are drawn, and what SciPy makes of them. sparse_machine.cpp has each by
its name. An entry is (draw, function, about); about: "format" where the result's format is SciPy's whatever the operands'
are, "nnz": "nonzero" where exactly the elements that are not 0 are stored, "rounds" where results are rounded, "weight" how often."""
import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sl

DTYPES = ["bool", "int8", "uint8", "int32", "int64", "float32", "float64", "complex64", "complex128"]
NONE = 1 << 40


class Unfit(Exception):
    pass


def whole(rng, n, dt):
    dt = np.dtype(dt)
    if dt.kind == "b":
        return rng.integers(0, 3, n).astype(dt)
    low = 0 if dt.kind == "u" else -3
    x = rng.integers(low, 4, n).astype(dt)
    return (x + 1j * rng.integers(-3, 4, n)).astype(dt) if dt.kind == "c" else x


def a_dtype(b):
    return DTYPES[b.below(len(DTYPES))]


def data_of(v):
    return v.data if sp.issparse(v) else v


def kind(v):
    return data_of(v).dtype.kind


def real(v):
    return kind(v) != "c"


def csr(a):
    return a if a.format in ("csr", "csc") else a.tocsr()


# ---- what is drawn

def make_parts(b, shape=None, fmt=None, dt=None):
    """A fresh array by its parts: plain, with repeated places, no order and zeros, or without entries; 64-bit indices now and then."""
    m, n = shape if shape is not None else (b.rows, b.columns)
    fmt = fmt or ("csr", "csc", "coo")[b.below(3)]
    dt = dt or a_dtype(b)
    how = b.below(8)
    size = m * n
    count = 0 if how == 0 or size == 0 else 1 + b.below(max(1, size // 2 if how < 5 else size + 4))
    at = b.rng.choice(size, min(count, size), replace=False) if how < 4 and count else b.rng.integers(0, max(size, 1), count)
    if how == 1:
        at = np.sort(at)
    row, col = (at // max(n, 1), at % max(n, 1))
    data = whole(b.rng, len(at), dt)
    index = np.int64 if b.below(6) == 0 else np.int32
    if fmt == "coo":
        return fmt, (m, n), [data, row.astype(index), col.astype(index)]
    major, minor, majors = (row, col, m) if fmt == "csr" else (col, row, n)
    order = np.argsort(major, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(major, minlength=majors))]) if majors else np.zeros(1)
    return fmt, (m, n), [data[order], indptr.astype(index), minor[order].astype(index)]


def fresh(b, shape=None, fmt=None, dt=None):
    fmt, shape, arrays = make_parts(b, shape, fmt, dt)
    return b.run(fmt, (), shape, arrays)


def some(b, test=lambda v: True):
    """A sparse register."""
    return b.pick(lambda v: sp.issparse(v) and test(v))


def like(b, shape, test=lambda v: True):
    """A sparse register of a shape; a fresh one where there is none."""
    if b.below(4):
        try:
            return some(b, lambda v: v.shape == tuple(shape) and test(v))
        except Unfit:
            pass
    return fresh(b, shape)


def dense_like(b, shape, test=lambda v: True):
    if b.below(3):
        try:
            return b.pick(lambda v: not sp.issparse(v) and v.shape == tuple(shape) and test(v))
        except Unfit:
            pass
    return b.run("dense", (), (), [whole(b.rng, int(np.prod(shape)), a_dtype(b)).reshape(shape)])


def one(test=lambda v: True, numbers=lambda b, v: ()):
    def draw(b):
        r = some(b, test)
        return (r,), numbers(b, b.values[r])
    return draw


def two(test=lambda v: True):
    def draw(b):
        r = some(b, test)
        return (r, like(b, b.values[r].shape, test)), ()
    return draw


def not_both_bool(draw):
    def drawn(b):
        registers, numbers = draw(b)
        if all(kind(b.values[r]) == "b" for r in registers):
            raise Unfit
        return registers, numbers
    return drawn


def with_dense(shapes, test=lambda v: True):
    def draw(b):
        r = some(b, test)
        m, n = b.values[r].shape
        choices = shapes(m, n, 1 + b.below(5))
        return (r, dense_like(b, choices[b.below(len(choices))], test)), ()
    return draw


def axis(b, v):
    k = b.below(5)
    return () if k == 0 else ((0, 1, -1, -2)[k - 1],)


def axis_of_some(b, v):
    """Where something is left to choose from."""
    k = axis(b, v)
    if v.shape[0] * v.shape[1] == 0:
        raise Unfit
    return k


def a_slice(b, n):
    def bound():
        return NONE if b.below(3) == 0 else int(b.rng.integers(-n - 2, n + 3))
    return bound(), bound(), NONE if b.below(2) else int(b.rng.choice([-3, -2, -1, 1, 2, 3]))


def of(numbers):
    return slice(*[None if v == NONE else v for v in numbers])


def offset(b, v):
    m, n = v.shape
    if m * n == 0:
        raise Unfit
    return (int(b.rng.integers(-m + 1, n)),)


def index_array(b, n):
    if n == 0:
        raise Unfit
    if b.below(4) == 0:
        return b.rng.integers(0, 2, n).astype(bool)
    return b.rng.integers(-n, n, b.below(2 * n + 1))


def by_arrays(both):
    def draw(b):
        r = some(b)
        m, n = b.values[r].shape
        if both == "points":
            count = 1 + b.below(6)
            if m * n == 0:
                raise Unfit
            return (r,), (), [b.rng.integers(-m, m, count), b.rng.integers(-n, n, count)]
        return (r,), (), [index_array(b, m if both != "columns" else n)] + ([index_array(b, n)] if both == "both" else [])
    return draw


def several(along):
    def draw(b):
        r = some(b)
        m, n = b.values[r].shape
        others = []
        for _ in range(1 + b.below(3)):
            extent = 1 + b.below(4)
            others.append(like(b, (extent, n) if along == 0 else (m, extent)) if b.below(2) else like(b, (m, n)))
        return (r, *others), ()
    return draw


def product_pair(b):
    r = some(b)
    n = b.values[r].shape[1]
    try:
        return (r, some(b, lambda v: v.shape[0] == n)), ()
    except Unfit:
        return (r, fresh(b, (n, 1 + b.below(7)))), ()


def dense_matrix(b):
    try:
        return (b.pick(lambda v: not sp.issparse(v) and v.ndim == 2),), ()
    except Unfit:
        return (dense_like(b, (b.rows, b.columns)),), ()


def small(v):
    return v.shape[0] * v.shape[1] <= 24


def blocks(b):
    r = some(b, small)
    m, n = b.values[r].shape
    if m * n == 0:
        raise Unfit
    e = 1 + b.below(3)
    return (r, like(b, (m, e)), like(b, (1 + b.below(3), n))), ()


def with_diagonal(b):
    r = some(b, lambda v: min(v.shape) > 0)
    k, = offset(b, b.values[r])
    length = len(b.values[r].diagonal(k))
    v = b.values[r]
    dt = v.dtype if v.dtype.kind in "bu" else np.dtype("int8")
    return (r,), (k,), [whole(b.rng, b.below(length + 1) or length, dt)]


def new_shape(b, v):
    size = v.shape[0] * v.shape[1]
    if size == 0:
        raise Unfit
    rows = [k for k in range(1, size + 1) if size % k == 0]
    k = rows[b.below(len(rows))]
    return (k, -1) if b.below(3) == 0 else (k, size // k)


# ---- what SciPy makes of it

def setdiag(a, k, v):
    a.setdiag(v if len(v) > 1 else v[0], k)
    return a


def changed(method):
    def f(a):
        getattr(a, method)()
        return a
    return f


def product(a, x):
    """SciPy 1.17 drops an axis of extent 1 in products of coo arrays."""
    return csr(a) @ x


def left_product(a, x):
    return x @ csr(a)


def reduced(method):
    def f(a, *k):
        r = getattr(csr(a), method)(axis=k[0] if k else None)
        return r.toarray() if sp.issparse(r) else r
    return f


def counted(a, *k):
    a = csr(a)
    a.sum_duplicates()
    return np.asarray(a.count_nonzero(axis=k[0] if k else None)).astype(np.int64)


def places(a):
    a = a.tocsr()
    a.sum_duplicates()
    a.eliminate_zeros()
    c = a.tocoo()
    return [c.row.astype(np.int64), c.col.astype(np.int64), c.data]


def kron(a, b):
    """SciPy 1.17 gives float64 where nothing is stored."""
    return sp.kron(a, b).astype(np.result_type(a.dtype, b.dtype))


def kronsum(a, b):
    return sp.kronsum(a, b).astype(np.result_type(a.dtype, b.dtype))


def joined(f):
    return lambda *arrays: f(list(arrays))


def blocks_of(a, right, below):
    return sp.block_array([[a, right], [below, None]])


def compared(f):
    return lambda a, k: f(csr(a), k)


def resized(a, m, n):
    a.resize(m, n)
    return a


def integer_power(a, k):
    return csr(a).power(k)


def not_bool(v):
    return kind(v) != "b"


def ordered(v):
    return kind(v) not in "bc"


def floats(v):
    return kind(v) == "f"


def signed(v):
    return kind(v) in "if"


def square(v):
    return v.shape[0] == v.shape[1] and v.shape[0] > 0


def number(low, high):
    return lambda b, v: (int(b.rng.integers(low, high)),)


def positive(b, v):
    return (int(b.rng.integers(0, 4)) if not_bool(v) else 0,)


PAIR = {"nnz": "nonzero", "weight": 3}
FORMAT = {"format": True}

INSTRUCTIONS = {
    "csr": (lambda b: reversed_parts(b, "csr"), lambda m, n, d, p, i: sp.csr_array((d, i, p), shape=(m, n)), {"format": True, "weight": 3}),
    "csc": (lambda b: reversed_parts(b, "csc"), lambda m, n, d, p, i: sp.csc_array((d, i, p), shape=(m, n)), {"format": True, "weight": 3}),
    "coo": (lambda b: reversed_parts(b, "coo"), lambda m, n, d, i, j: sp.coo_array((d, (i, j)), shape=(m, n)), {"format": True, "weight": 3}),
    "dense": (lambda b: ((), (), [whole(b.rng, b.rows * b.columns, a_dtype(b)).reshape(b.rows, b.columns)]), lambda x: x, {}),
    "csr of dense": (dense_matrix, sp.csr_array, {"format": True, "nnz": "nonzero"}),
    "csc of dense": (dense_matrix, sp.csc_array, {"format": True, "nnz": "nonzero"}),
    "coo of dense": (dense_matrix, sp.coo_array, {"format": True, "nnz": "nonzero"}),
    "to csr": (one(), lambda a: a.tocsr(), FORMAT), "to csc": (one(), lambda a: a.tocsc(), FORMAT),
    "to coo": (one(), lambda a: a.tocoo(), FORMAT), "transpose": (one(), lambda a: a.T, {}),
    "toarray": (one(), lambda a: a.toarray(), {}),
    "copy": (one(), lambda a: a.copy(), {}),
    "astype": (one(real, lambda b, v: (b.below(len(DTYPES) - 2),)), lambda a, k: a.astype(DTYPES[k]), {"rounds": False}),
    "to complex": (one(), lambda a: a.astype(np.complex128), {}),
    "conj": (one(), lambda a: a.conj(), {}),
    "real": (one(), lambda a: sp.csr_array(a.toarray().real), {}), "imag": (one(), lambda a: sp.csr_array(a.toarray().imag), {}),
    "add": (two(), lambda a, b: a + b, PAIR), "subtract": (not_both_bool(two()), lambda a, b: a - b, PAIR),
    "multiply": (two(), lambda a, b: a * b, PAIR),
    "maximum": (two(real), lambda a, b: a.maximum(b), PAIR), "minimum": (two(real), lambda a, b: a.minimum(b), PAIR),
    "not equal": (two(), lambda a, b: a != b, PAIR),
    "less": (two(real), lambda a, b: a < b, PAIR), "greater": (two(real), lambda a, b: a > b, PAIR),
    "equal": (two(), lambda a, b: (a == b).toarray(), {}), "at most": (two(real), lambda a, b: (a <= b).toarray(), {}),
    "at least": (two(real), lambda a, b: (a >= b).toarray(), {}),
    "negative": (one(not_bool), lambda a: -a, {}), "abs": (one(real), abs, {}),
    "times number": (one(numbers=number(-3, 4)), lambda a, k: a * k, {}),
    "times half": (one(numbers=number(-3, 4)), lambda a, k: a * (k / 2), {}),
    "over number": (one(numbers=number(1, 3)), lambda a, k: a * (1 / 2 ** k), {}),  # SciPy 1.17 divides float32 in float64
    "power": (one(not_bool, number(1, 4)), integer_power, {}),
    "sign": (one(signed), lambda a: csr(a).sign(), {}), "floor": (one(floats), lambda a: csr(a).floor(), {}),
    "ceil": (one(floats), lambda a: csr(a).ceil(), {}), "rint": (one(floats), lambda a: csr(a).rint(), {}),
    "trunc": (one(floats), lambda a: csr(a).trunc(), {}),
    "above number": (one(ordered, positive), compared(lambda a, k: a > k), {"nnz": "nonzero"}),
    "other than number": (one(ordered, lambda b, v: (0,)), compared(lambda a, k: a != k), {"nnz": "nonzero"}),
    "equal to number": (one(ordered, number(1, 4)), compared(lambda a, k: a == k), {"nnz": "nonzero"}),
    "at least number": (one(ordered, number(1, 4)), compared(lambda a, k: a >= k), {"nnz": "nonzero"}),
    "times dense": (with_dense(lambda m, n, k: [(m, n), (n,), (1, n), (m, 1)]), lambda a, x: csr(a).multiply(x), {"weight": 2}),
    "plus dense": (with_dense(lambda m, n, k: [(m, n)]), lambda a, x: csr(a) + x, {"weight": 2}),
    "dense minus": (not_both_bool(with_dense(lambda m, n, k: [(m, n)])), lambda a, x: x - csr(a), {}),
    "minus dense": (not_both_bool(with_dense(lambda m, n, k: [(m, n)])), lambda a, x: csr(a) - x, {}),
    "above dense": (with_dense(lambda m, n, k: [(m, n)], ordered), lambda a, x: csr(a) > x, {}),
    "equal to dense": (with_dense(lambda m, n, k: [(m, n)]), lambda a, x: csr(a) == x, {}),
    "times vector": (with_dense(lambda m, n, k: [(n,)]), product, {"weight": 3}),
    "times matrix": (with_dense(lambda m, n, k: [(n, k)]), product, {"weight": 2}),
    "vector times": (with_dense(lambda m, n, k: [(m,)]), left_product, {"weight": 2}),
    "matrix times": (with_dense(lambda m, n, k: [(k, m)]), left_product, {}),
    "transposed times": (with_dense(lambda m, n, k: [(m,), (m, k)]), lambda a, x: csr(a).T @ x, {"weight": 2}),
    "product": (product_pair, lambda a, b: csr(a) @ csr(b), {"weight": 3}),
    "scaled product": (with_dense(lambda m, n, k: [(n,)], lambda v: kind(v) in "fc"), lambda a, x: 2 * product(a, x) - product(a, x + x), {}),
    "sum": (one(numbers=axis), reduced("sum"), {"weight": 2}),
    "mean": (one(numbers=axis_of_some), reduced("mean"), {"rounds": True}),
    "min": (one(ordered, axis_of_some), reduced("min"), {}), "max": (one(ordered, axis_of_some), reduced("max"), {}),
    "nanmax": (one(floats, axis_of_some), reduced("nanmax"), {}), "nanmin": (one(floats, axis_of_some), reduced("nanmin"), {}),
    "argmin": (one(ordered, axis_of_some), reduced("argmin"), {}), "argmax": (one(ordered, axis_of_some), reduced("argmax"), {}),
    "count nonzero": (one(numbers=axis), counted, {}),
    "norm": (one(floats), lambda a: sl.norm(canonical(a)), {"rounds": True}),
    "norm 1": (one(lambda v: floats(v) and min(v.shape) > 0), lambda a: sl.norm(canonical(a), 1), {}),
    "norm of rows": (one(floats), lambda a: sl.norm(canonical(a), axis=1), {"rounds": True}),
    "trace": (one(lambda v: min(v.shape) > 0, offset), lambda a, k: a.trace(k), {}),
    "diagonal": (one(lambda v: min(v.shape) > 0, offset), lambda a, k: a.diagonal(k), {}),
    "setdiag": (with_diagonal, setdiag, {"weight": 2}),
    "tril": (one(numbers=number(-3, 4)), lambda a, k: sp.tril(a, k), {}), "triu": (one(numbers=number(-3, 4)), lambda a, k: sp.triu(a, k), {}),
    "slice": (one(numbers=lambda b, v: a_slice(b, v.shape[0]) + a_slice(b, v.shape[1])), lambda a, *k: csr(a)[of(k[:3]), of(k[3:])],
              {"weight": 4}),
    "rows": (by_arrays("rows"), lambda a, i: csr(a)[i], {"weight": 2}),
    "columns": (by_arrays("columns"), lambda a, j: csr(a)[:, j], {"weight": 2}),
    "rows and columns": (by_arrays("both"), lambda a, i, j: csr(a)[i][:, j], {"weight": 2}),
    "points": (by_arrays("points"), lambda a, i, j: np.asarray(csr(a)[i, j]), {}),
    "element": (one(lambda v: min(v.shape) > 0, lambda b, v: (int(b.rng.integers(-v.shape[0], v.shape[0])), int(b.rng.integers(-v.shape[1], v.shape[1])))),
                lambda a, i, j: csr(a)[i, j], {}),
    "vstack": (several(0), joined(sp.vstack), {}), "hstack": (several(1), joined(sp.hstack), {}),
    "block_diag": (lambda b: ((some(b, small), some(b, small)), ()), joined(sp.block_diag), {}),
    "block_array": (blocks, blocks_of, {}),
    "kron": (lambda b: ((some(b, small), some(b, small)), ()), kron, {}),
    "kronsum": (lambda b: ((some(b, lambda v: square(v) and small(v)), some(b, lambda v: square(v) and small(v))), ()), kronsum, {}),
    "sum_duplicates": (one(), changed("sum_duplicates"), {}),
    "eliminate_zeros": (one(), changed("eliminate_zeros"), {}),
    "sort_indices": (one(lambda v: v.format != "coo"), changed("sort_indices"), {}),
    "reshape": (one(numbers=new_shape), lambda a, m, n: a.reshape(m, n), {}),
    "resize": (one(numbers=lambda b, v: (b.below(10), b.below(10))), resized, {}),
    "find": (one(), places, {}),
    "matrix_power": (one(lambda v: square(v) and small(v), number(0, 4)), lambda a, k: sl.matrix_power(a, k), {}),
    "diags": (lambda b: ((dense_like(b, (1 + b.below(5),)),), (b.below(5) - 2,)), lambda x, k: sp.diags_array(x, offsets=k, dtype=x.dtype), {}),
    "bandwidth": (one(lambda v: v.nnz > 0), lambda a: np.array(sl.spbandwidth(canonical(a)), np.int64), {}),
}


def canonical(a):
    a = csr(a).copy()
    a.sum_duplicates()
    return a


def reversed_parts(b, fmt):
    _, shape, arrays = make_parts(b, fmt=fmt)
    return (), shape, arrays


def weight_of(name):
    return INSTRUCTIONS[name][2].get("weight", 1)


# ---- instructions that are refused

def other_shape(v):
    return (v.shape[0] + 2, v.shape[1] + 1)


def bad_pair(name):
    def draw(b):
        r = some(b)
        b.fails(name, (r, fresh(b, other_shape(b.values[r]))))
    return draw


def bad_dense(name, shape):
    def draw(b):
        r = some(b)
        b.fails(name, (r, dense_like(b, shape(*b.values[r].shape))))
    return draw


def bad_numbers(name, numbers):
    def draw(b):
        r = some(b)
        b.fails(name, (r,), numbers(*b.values[r].shape))
    return draw


def bad_parts(b):
    """Parts with one thing wrong."""
    fmt, (m, n), (data, first, second) = make_parts(b)
    if m * n == 0 or len(data) == 0:
        raise Unfit
    k = b.below(len(second))
    wrong = b.below(4)
    second, first = second.copy(), first.copy()
    if wrong == 0:
        second[k] = (m if fmt == "csc" else n) + b.below(3)
    elif wrong == 1:
        second[k] = -1
    elif wrong == 2:
        second = second[:-1]
    elif fmt == "coo":
        first[k] = m
    else:
        first[-1] = len(data) + 1
    b.code.append((fmt, (), (m, n), [data, first, second], None))
    b.values.append(None)


FAILING = [bad_pair("add"), bad_pair("multiply"), bad_pair("maximum"), bad_pair("less"), bad_pair("vstack"), bad_pair("hstack"),
           bad_dense("times vector", lambda m, n: (n + 1,)), bad_dense("times matrix", lambda m, n: (n + 2, 2)),
           bad_dense("vector times", lambda m, n: (m + 1,)), bad_dense("plus dense", lambda m, n: (m + 2, n + 2)),
           bad_dense("times dense", lambda m, n: (m + 2, n + 2)),
           bad_numbers("element", lambda m, n: (m, 0)), bad_numbers("element", lambda m, n: (0, -n - 1)),
           bad_numbers("sum", lambda m, n: (2,)), bad_numbers("reshape", lambda m, n: (m * n + 1, 1)), bad_parts]
