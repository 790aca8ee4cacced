"""Linear algebra whose results are unique: systems, inverses, determinants, singular values, norms, functions of matrices.

A case: name, order of a norm (text), numbers (axes, offsets, flags), operands, then the results, each with its policy.
"""
import numpy as np

from golden_format import ABSOLUTE, EXACT, Writer, ZERO_SIGN_FREE

FLOATS = ["float32", "float64", "complex64", "complex128"]
ALL = FLOATS + ["int32", "bool", "uint8"]
SQUARES = [(1, 1), (2, 2), (3, 3), (7, 7), (12, 12), (2, 3, 3), (2, 2, 5, 5), (0, 0), (2, 0, 0), (0, 3, 3)]
ANY = SQUARES + [(3, 5), (5, 3), (12, 5), (3, 4, 2), (2, 3, 4), (0, 3), (3, 0), (2, 0, 3), (2, 3, 0)]
VECTOR_ORDERS = [None, 0, 1, 2, 3, 0.5, -1, -2, np.inf, -np.inf]
MATRIX_ORDERS = [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]


def matrices(rng, shape, dt):
    """Far from singular: a normal one with a dominant diagonal."""
    dt = np.dtype(dt)
    n = min(shape[-2:]) if len(shape) > 1 else 0
    if dt.kind == "b":
        return rng.random(shape) < 0.5
    if dt.kind in "iu":
        a = rng.integers(0 if dt.kind == "u" else -4, 5, shape)
        return (a + 6 * np.eye(*shape[-2:], dtype=int) if len(shape) > 1 else a).astype(dt)
    a = rng.normal(size=shape)
    if dt.kind == "c":
        a = a + 1j * rng.normal(size=shape)
    return (a + 2 * np.sqrt(n) * np.eye(*shape[-2:])).astype(dt) if n else a.astype(dt)


def result_type(*operands):
    t = np.result_type(*[a.dtype if a.dtype.kind in "fc" else np.float64 for a in operands])
    return t


def real_type(t):
    return np.dtype(np.float32 if t in (np.complex64, np.float32) else np.float64)


def wide(a):
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)


def largest(a):
    a = np.abs(np.asarray(a))
    return float(a.max()) if a.size else 0.0


def condition(a):
    return largest(np.linalg.cond(wide(a))) if a.size else 1.0


class Case:
    """One call; what it gives is computed in double precision and rounded once."""

    def __init__(self, w, name, operands, order="", numbers=()):
        self.w, self.type = w, result_type(*operands)
        self.eps = float(np.finfo(self.type).eps)
        w.case()
        w.text(name)
        w.text(order_text(order))
        w.dims(numbers)
        w.varint(len(operands))
        for a in operands:
            w.array(a)

    def results(self, *pairs):
        """(values, how many eps they may be off, real?) each."""
        self.w.varint(len(pairs))
        for values, bound, dt in pairs:
            values = np.asarray(values)
            exact = bound is None
            self.w.policy(EXACT if exact else ABSOLUTE, 0.0 if exact else bound * self.eps, 0 if exact else ZERO_SIGN_FREE)
            self.w.array(values if dt is None else values.astype(dt))


def order_text(order):
    return "none" if order is None else order if isinstance(order, str) else repr(float(order))


def write_systems(w, rng):
    for d in ALL:
        for shape in SQUARES:
            a = matrices(rng, shape, d)
            if d == "bool":
                a = a | np.eye(shape[-1], dtype=bool)
                if a.size and np.abs(np.linalg.det(a.astype(float))).min() < 0.5:
                    continue
            n, t = shape[-1], result_type(a)
            error = 8 * max(n, 1) * condition(a)
            x = np.linalg.inv(wide(a))
            Case(w, "inv", [a]).results((x, error * largest(x), t))
            value = np.linalg.det(wide(a))
            Case(w, "det", [a]).results((value, error * largest(value), t))
            sign, log = np.linalg.slogdet(wide(a))
            Case(w, "slogdet", [a]).results((sign, error, t), (log, error * max(1, largest(log)), real_type(t)))
            for sides in [(n,), shape[:-1] + (1,), shape[:-1] + (4,), (n, 3), shape[:-1] + (0,)]:
                b = matrices(rng, sides, d) if len(sides) > 1 else matrices(rng, (1, n), d)[0]
                x = np.linalg.solve(wide(a), wide(b))
                Case(w, "solve", [a, b]).results((x, error * largest(x), t))
    for first, second in [("float32", "float64"), ("float32", "complex64"), ("int32", "float32"), ("complex64", "float64")]:
        a, b = matrices(rng, (3, 4, 4), first), matrices(rng, (2, 1, 4, 2), second)
        x = np.linalg.solve(wide(a), wide(b))
        Case(w, "solve", [a, b]).results((x, 32 * condition(a) * largest(x), result_type(a, b)))


def write_triangles(w, rng):
    for d in FLOATS + ["int32"]:
        for shape, sides in [((4, 4), (4,)), ((12, 12), (12, 3)), ((2, 5, 5), (5,)), ((2, 5, 5), (2, 5, 3)), ((5, 5), (3, 5, 2))]:
            a, b = matrices(rng, shape, d), matrices(rng, sides, d) if len(sides) > 1 else matrices(rng, (1, sides[0]), d)[0]
            n, t = shape[-1], result_type(a, b)
            for lower in (0, 1):
                for trans in (0, 1, 2):
                    for unit in (0, 1):
                        # Triangles of ones and random numbers are nearly singular; small numbers keep them far from it.
                        used = a if not unit or np.dtype(d).kind == "i" else (a / 16).astype(d)
                        one = np.tril(wide(used), -unit) if lower else np.triu(wide(used), unit)
                        one = one + unit * np.eye(n)
                        op = one if trans == 0 else np.swapaxes(one, -1, -2) if trans == 1 else np.swapaxes(one, -1, -2).conj()
                        x = np.linalg.solve(op, wide(b))
                        Case(w, "solve_triangular", [used, b], numbers=[lower, trans, unit]).results(
                            (x, 8 * n * condition(one) * largest(x), t))
            for trans in (0, 1, 2):
                op = [wide(a), np.swapaxes(wide(a), -1, -2), np.swapaxes(wide(a), -1, -2).conj()][trans]
                x = np.linalg.solve(op, wide(b))
                Case(w, "lu_solve", [a, b], numbers=[trans]).results((x, 8 * n * condition(a) * largest(x), t))


def write_factors(w, rng):
    for d in FLOATS + ["int32"]:
        for shape in SQUARES:
            a = wide(matrices(rng, shape, d))
            a = np.matmul(a, np.swapaxes(a, -1, -2).conj()).astype(d)
            n, t = shape[-1], result_type(a)
            for upper in (0, 1):
                x = np.linalg.cholesky(wide(a), upper=bool(upper))
                Case(w, "cholesky", [a], numbers=[upper]).results((x, 8 * max(n, 1) * condition(a) * largest(x), t))
            values = np.linalg.eigvalsh(wide(a))
            Case(w, "eigvalsh", [a]).results((values, 8 * max(n, 1) * largest(values), real_type(t)))
        for shape in ANY:
            a = matrices(rng, shape, d)
            s = np.linalg.svd(wide(a), compute_uv=False)
            Case(w, "svdvals", [a]).results((s, 8 * max(shape[-2:]) * largest(s), real_type(result_type(a))))


def write_least_squares(w, rng):
    for d in FLOATS + ["int32"]:
        for shape in [s for s in ANY if len(s) == 2 and s[-2:] != (0, 0)]:
            for columns in [(), (2,)]:
                a = matrices(rng, shape, d)
                b = matrices(rng, shape[:1] + (2,), d) if columns else matrices(rng, (1, shape[0]), d)[0]
                t = result_type(a, b)
                x, residuals, rank, s = np.linalg.lstsq(wide(a), wide(b))
                error = 8 * max(shape) * condition(a)
                Case(w, "lstsq", [a, b]).results(
                    (x, error * max(largest(x), largest(b)), t), (residuals, error * max(1, largest(b)) ** 2, real_type(t)),
                    (np.int64(rank), None, None), (s, 8 * max(shape) * largest(s), real_type(t)))
        for shape in ANY:
            a = matrices(rng, shape, d)
            x = np.linalg.pinv(wide(a), rcond=1e-3)
            t = a.dtype if 0 in shape[-2:] else result_type(a)  # NumPy keeps the dtype where there are no elements
            Case(w, "pinv", [a]).results((x, 16 * max(shape[-2:]) * condition(a) * largest(x), t))
            Case(w, "matrix_rank", [a]).results((np.linalg.matrix_rank(wide(a)), None, np.int64))
        low = np.matmul(matrices(rng, (3, 9, 2), d).astype(float if d == "int32" else d),
                        matrices(rng, (3, 2, 7), d).astype(float if d == "int32" else d))
        Case(w, "matrix_rank", [low]).results((np.full(3, 2), None, np.int64))
        Case(w, "matrix_rank", [low[0, 0]]).results((np.int64(1), None, None))


def write_norms(w, rng):
    for d in ALL + ["float16"]:
        for shape in [(5,), (3, 4), (2, 3, 4), (4, 4), (1, 6), (12, 3)]:
            a = matrices(rng, shape, "float64").astype(d) if d == "float16" else matrices(rng, shape, d)
            dt = real_type(result_type(a)) if d != "float16" else np.dtype("float16")
            for axis in range(-1, len(shape) - 1):
                for order in VECTOR_ORDERS:
                    with np.errstate(all="ignore"):
                        r = np.linalg.norm(wide(a), order, axis=axis, keepdims=True)
                    # Powers amplify errors; a norm of a vector with a zero may be infinite or nothing.
                    Case(w, "norm", [a], order, [1, axis]).results((r, 16 * max(1, largest(r[np.isfinite(r)])), dt))
            if len(shape) < 2:
                continue
            for axis in [(0, 1), (-1, 0), (len(shape) - 2, len(shape) - 1)]:
                for order in MATRIX_ORDERS:
                    if d == "float16" and order in ("nuc", 2, -2):
                        continue
                    r = np.linalg.norm(wide(a), order, axis=axis)
                    Case(w, "norm", [a], order, [0, *axis]).results((r, 64 * max(1, largest(a), largest(r)), dt))
            for order in MATRIX_ORDERS[1:] if d != "float16" else []:
                r = np.linalg.matrix_norm(wide(a), ord=order, keepdims=True)
                Case(w, "matrix_norm", [a], order, [1]).results((r, 64 * max(1, largest(a), largest(r)), dt))
            for order in VECTOR_ORDERS[1:6]:
                r = np.linalg.vector_norm(wide(a), ord=order, axis=tuple(range(len(shape)))[:2])
                Case(w, "vector_norm", [a], order, [0, 0, 1]).results((r, 16 * max(1, largest(r)), dt))
            r = np.linalg.norm(wide(a))
            Case(w, "norm", [a], None, [0]).results((r, 16 * max(1, largest(r)), dt))
    for d in FLOATS + ["int32"]:
        for shape in [(3, 3), (2, 5, 5), (4, 3), (12, 12)]:
            a = matrices(rng, shape, d)
            for order in [None, 2, -2] + ([1, -1, np.inf, -np.inf, "fro"] if shape[-1] == shape[-2] else []):
                r = np.linalg.cond(wide(a), order)
                Case(w, "cond", [a], order).results(
                    (r, 16 * shape[-1] * condition(a) * largest(r), real_type(result_type(a))))


def write_others(w, rng):
    for d in ALL:
        for shape in [(3, 4), (4, 3), (2, 3, 3), (2, 2, 5, 4), (0, 3)]:
            a = matrices(rng, shape, d)
            for offset in (0, 1, -2, 9, -9):
                Case(w, "diagonal", [a], numbers=[offset]).results((np.linalg.diagonal(a, offset=offset), None, a.dtype))
                r = np.linalg.trace(a, offset=offset)
                bound = None if r.dtype.kind in "iu" else 16 * largest(a)
                Case(w, "trace", [a], numbers=[offset]).results((r, bound, r.dtype))
            Case(w, "main diagonal", [a], numbers=[1, -1, 0]).results((np.diagonal(a, 1, -1, 0), None, a.dtype))
        if d != "bool":
            for one, two, axis in [((3,), (3,), -1), ((4, 3), (3,), -1), ((3, 5), (3, 1), 0), ((2, 3, 4), (3, 4), -2)]:
                x, y = matrices(rng, (1,) + one, d)[0], matrices(rng, (1,) + two, d)[0]
                r = np.linalg.cross(x, y, axis=axis)
                bound = None if r.dtype.kind in "iu" else 8 * largest(x) * largest(y)
                Case(w, "cross", [x, y], numbers=[axis]).results((r, bound, r.dtype))
    for d in FLOATS + ["int32"]:
        a = matrices(rng, (24, 24), d)
        x = np.linalg.tensorinv(wide(a).reshape(4, 6, 8, 3), ind=2)
        Case(w, "tensorinv", [a.reshape(4, 6, 8, 3)], numbers=[2]).results(
            (x, 200 * condition(a) * largest(x), result_type(a)))
        b = matrices(rng, (4, 6), d)
        x = np.linalg.tensorsolve(wide(a).reshape(4, 6, 8, 3), wide(b))
        Case(w, "tensorsolve", [a.reshape(4, 6, 8, 3), b]).results((x, 200 * condition(a) * largest(x), result_type(a)))
        b = matrices(rng, (3, 8), d)
        x = np.linalg.tensorsolve(wide(a).reshape(4, 6, 3, 8), wide(b), axes=(0, 1))
        Case(w, "tensorsolve", [a.reshape(4, 6, 3, 8), b], numbers=[0, 1]).results(
            (x, 200 * condition(a) * largest(x), result_type(a)))


def exponential(a):
    """By Taylor series, scaling and squaring in extended precision, which outdoes SciPy's own."""
    a = a.astype(np.clongdouble if a.dtype.kind == "c" else np.longdouble)
    if a.size == 0:
        return a
    if a.ndim > 2:
        return np.stack([exponential(one) for one in a])
    halvings = 4 + max(0, int(np.ceil(np.log2(max(1, float(np.abs(a).sum(0).max()))))))
    scaled = a / 2.0 ** halvings
    total = term = np.eye(a.shape[0], dtype=a.dtype)
    for k in range(1, 24):
        term = term.dot(scaled) / k
        total = total + term
    for _ in range(halvings):
        total = total.dot(total)
    return total


def write_exponentials(w, rng):
    for d in FLOATS:
        for size in [1e-3, 0.1, 0.9, 3, 20, 60]:
            for shape in [(1, 1), (2, 2), (5, 5), (3, 4, 4), (11, 11), (0, 0)]:
                a = matrices(rng, shape, d)
                a = (a * (size / max(1, shape[-1]))).astype(d)
                if largest(a) * max(1, shape[-1]) > 40 and d in ("float32", "complex64"):
                    a = -a
                x = exponential(a)
                # The relative condition of the exponential of a normal matrix is its norm.
                scale = max(1, largest(np.linalg.norm(wide(a), 1, axis=(-2, -1)))) if a.size else 1
                Case(w, "expm", [a]).results((x, 16 * max(1, shape[-1]) * scale * max(largest(x), 0), result_type(a)))
        # Far from normal: the norm is large, those of the powers are not.
        a = np.array([[1, 1e4], [0, -1]], d)
        x = exponential(a)
        Case(w, "expm", [a]).results((x, 64 * largest(x), np.dtype(d)))
        a = np.diag(np.array([-2e4, -1, 0, 3])).astype(d)
        Case(w, "expm", [a]).results((exponential(a), 64 * 2e4 * np.exp(3), np.dtype(d)))


def write_linalg(path, rng):
    w = Writer("linalg")
    for part in (write_systems, write_triangles, write_factors, write_least_squares, write_norms, write_others,
                 write_exponentials):
        part(w, rng)
    return w.save(path)
