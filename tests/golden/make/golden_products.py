"""Products of vectors, matrices and stacks: every dtype, mixtures, views, extents of 0 and 1; einsum by many subscripts."""
import numpy as np

from golden_format import ABSOLUTE, EXACT, NUMPY_DTYPES, Writer, ZERO_SIGN_FREE
from golden_reductions import BROADCAST, PLAIN, SLICED, TRANSPOSED, wide_type, with_layout

MATMUL = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((1, 3), (3, 1)), ((5, 1), (1, 4)),
          ((17, 33), (33, 18)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)),
          ((4, 3, 2), (4, 2, 3)), ((3, 2, 4), (4,)), ((4,), (2, 4, 3)), ((6, 1, 3), (6, 3, 4)), ((0, 3), (3, 4)),
          ((2, 0), (0, 3)), ((0, 2, 3), (0, 3, 2)), ((2, 3, 0), (0, 2)), ((2, 0), (0,))]
MIXED = [("int32", "float32"), ("bool", "int8"), ("float16", "float32"), ("float32", "complex128"), ("uint64", "int64"),
         ("uint8", "int8"), ("float64", "complex64")]
OTHERS = [
    ("dot", [(3,), (3,)], []), ("dot", [(), (2, 3)], []), ("dot", [(2, 3, 4), (4,)], []), ("dot", [(2, 3, 4), (5, 4, 2)], []),
    ("dot", [(3, 4), (4, 2)], []), ("inner", [(3,), (3,)], []), ("inner", [(2, 3), (4, 3)], []), ("inner", [(2, 3), ()], []),
    ("inner", [(2, 1, 3), (2, 3)], []), ("outer", [(3,), (4,)], []), ("outer", [(2, 2), (3,)], []), ("vdot", [(5,), (5,)], []),
    ("vdot", [(2, 3), (3, 2)], []), ("vecdot", [(3, 4), (3, 4)], [-1]), ("vecdot", [(4, 3), (4, 1)], [0]),
    ("vecdot", [(2, 5), (5,)], [-1]), ("matvec", [(3, 4), (4,)], []), ("matvec", [(2, 3, 4), (2, 4)], []),
    ("matvec", [(2, 3, 4), (4,)], []), ("vecmat", [(3,), (3, 4)], []), ("vecmat", [(2, 3), (2, 3, 4)], []),
    ("kron", [(2, 3), (2, 2)], []), ("kron", [(3,), (2, 2)], []), ("kron", [(2, 1, 2), (2,)], []),
    ("tensordot", [(2, 3, 4), (3, 4, 5)], [2]), ("tensordot", [(2, 3), (4, 5)], [0]), ("tensordot", [(2, 3), (3, 2)], [1]),
    ("tensordot axes", [(2, 3, 4), (4, 3, 5)], [2, 2, 1, 0, 1]), ("tensordot axes", [(2, 3, 4), (4, 2, 3)], [3, 0, 1, 2, 1, 2, 0]),
    ("tensordot axes", [(3, 4, 2), (4, 5, 3)], [2, 0, 1, 2, 0]), ("tensordot axes", [(3, 4, 2, 5), (2, 3, 6)], [2, -2, 0, 0, 1]),
    ("multi_dot", [(2, 5), (5, 3), (3, 4)], []), ("multi_dot", [(4,), (4, 3), (3, 5), (5,)], []),
    ("multi_dot", [(3, 4), (4, 2)], []), ("matrix_power", [(3, 3)], [0]), ("matrix_power", [(3, 3)], [1]),
    ("matrix_power", [(3, 3)], [2]), ("matrix_power", [(2, 3, 3)], [5]), ("matrix_power", [(3, 3)], [8]),
]
EINSUM = [
    ("i,i", [(4,), (4,)]), ("i,i->i", [(4,), (4,)]), ("i,j", [(3,), (4,)]), ("i,j->ji", [(3,), (4,)]), ("ij", [(2, 3)]),
    ("ba", [(2, 3)]), ("ij->ji", [(2, 3)]), ("ij->", [(2, 3)]), ("ij->i", [(2, 3)]), ("ij->j", [(2, 3)]), ("ii", [(4, 4)]),
    ("ii->i", [(4, 4)]), ("iii->i", [(3, 3, 3)]), ("iij->ij", [(3, 3, 2)]), ("iji->j", [(3, 2, 3)]), ("ij,jk", [(2, 3), (3, 4)]),
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk->ki", [(2, 3), (3, 4)]), ("ij,jk->k", [(5, 6), (6, 7)]),
    ("ij,jk->i", [(5, 6), (6, 7)]), ("ij,jk->", [(5, 6), (6, 7)]), ("ij,jk->ijk", [(2, 3), (3, 4)]), ("ij,kj->ik", [(2, 3), (4, 3)]),
    ("ji,jk->ik", [(3, 2), (3, 4)]), ("bij,bjk->bik", [(3, 2, 4), (3, 4, 5)]), ("bij,bjk->ibk", [(3, 2, 4), (3, 4, 5)]),
    ("bij,bjk->ik", [(3, 2, 4), (3, 4, 5)]), ("bi,bj->bij", [(3, 2), (3, 4)]), ("bi,bi->b", [(3, 4), (3, 4)]),
    ("...ij,...jk->...ik", [(2, 3, 4), (4, 5)]), ("...ij,...jk", [(2, 1, 3, 4), (6, 4, 5)]), ("...i->...", [(2, 3, 4)]),
    ("i...->i...", [(2, 3, 4)]), ("i...->...i", [(2, 3, 4)]), ("i...->...", [(2, 3, 4)]), ("...", [(2, 3)]),
    ("...,...", [(2, 3), (3,)]), ("i...j,j...->i...", [(2, 5, 3), (3, 5)]), ("ijk,k->ij", [(2, 3, 4), (4,)]),
    ("ijk,jil->kl", [(2, 3, 4), (3, 2, 5)]), ("ijkl,klm->ijm", [(2, 3, 4, 2), (4, 2, 3)]), ("abcd,cdab", [(2, 3, 2, 4), (2, 4, 2, 3)]),
    ("i,i,i->i", [(4,), (4,), (4,)]), ("i,i,i", [(4,), (4,), (4,)]), ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
    ("ij,jk,kl,lm->im", [(2, 3), (3, 5), (5, 2), (2, 4)]), ("i,ij,j", [(3,), (3, 4), (4,)]), ("ij,ij->", [(3, 4), (3, 4)]),
    ("ea,fb,abcd,gc,hd->efgh", [(2, 3), (2, 3), (3, 3, 3, 3), (2, 3), (2, 3)]), ("ij,ij,jk->ik", [(3, 4), (3, 4), (4, 2)]),
    ("ii,jj", [(3, 3), (4, 4)]), ("ii,ij->j", [(3, 3), (3, 4)]), ("aab,bc->ac", [(3, 3, 2), (2, 4)]), ("ij,jk", [(2, 1), (3, 4)]),
    ("ij,j->i", [(2, 3), (1,)]), ("i,->i", [(4,), ()]), (",", [(), ()]), ("->", [()]), ("i->", [(0,)]), ("ij,jk->ik", [(2, 0), (0, 3)]),
    ("ij,jk->ik", [(0, 3), (3, 2)]), ("ab,bc,ca", [(2, 3), (3, 4), (4, 2)]), (" i j , j k -> i k ", [(2, 3), (3, 4)]),
    ("zA,Az->Az", [(2, 3), (3, 2)]), ("ab,b,cb->ac", [(3, 4), (4,), (2, 4)]), ("abc,bd->adc", [(2, 3, 4), (3, 5)]),
]


def values(rng, shape, dt, special=False):
    n = int(np.prod(shape, dtype=int))
    if dt == np.bool_:
        a = rng.random(n) < 0.3
    elif dt.kind in "iu":
        info = np.iinfo(dt)
        a = rng.integers(info.min, info.max, n, dt, endpoint=True)
    elif dt.kind == "f":
        a = rng.normal(size=n).astype(dt)
        if special and n:
            a[rng.integers(0, n)] = rng.choice([np.nan, np.inf, -np.inf])
    else:
        a = (rng.normal(size=n) + 1j * rng.normal(size=n)).astype(dt)
    return np.asarray(a, dt).reshape(shape)


def call(name, operands, numbers):
    if name.startswith("einsum "):
        return np.einsum(name[len("einsum "):], *operands)
    if name == "tensordot axes":
        n = numbers[0]
        return np.tensordot(*operands, axes=(numbers[1:1 + n], numbers[1 + n:]))
    if name == "tensordot":
        return np.tensordot(*operands, axes=numbers[0])
    if name == "vecdot":
        return np.vecdot(*operands, axis=numbers[0])
    if name == "multi_dot":
        return np.linalg.multi_dot(operands)
    if name == "matrix_power":
        return np.linalg.matrix_power(operands[0], numbers[0])
    return getattr(np, name)(*operands)


def magnitudes(a):
    a = np.abs(a.astype(wide_type(a.dtype)))
    return np.where(np.isfinite(a), a, 0).astype(np.float64)


def expected(name, operands, numbers):
    """The result by float64 or 80-bit sums, rounded once, and how far any order of addition may be from it."""
    direct = np.asarray(call(name, operands, numbers))
    if direct.dtype.kind not in "fc":
        return direct, (EXACT, 0.0, 0)
    widened = [a.astype(np.clongdouble if direct.dtype.kind == "c" else np.longdouble) for a in operands]
    with np.errstate(all="ignore"):
        result = np.asarray(call(name, widened, numbers)).astype(direct.dtype)
    scale = np.asarray(call(name, [magnitudes(a) for a in operands], numbers))
    eps = float(np.finfo(direct.dtype).eps)
    bound = (1.0 if direct.dtype == np.float16 else 8.0) * eps * float(scale.max() if scale.size else 0.0)
    return result, (ABSOLUTE, bound, ZERO_SIGN_FREE)


def laid_out(w, rng, shape, dt, layout, special):
    """Writes an operand of this shape in a layout; returns it."""
    if layout == BROADCAST and not any(n > 1 for n in shape[:-2]):
        layout = PLAIN
    if layout == TRANSPOSED:
        return transposed(w, rng, shape, dt, special)
    if layout == SLICED:
        return sliced(w, rng, shape, dt, special)
    if layout == BROADCAST:
        base = values(rng, tuple(1 if k < len(shape) - 2 else n for k, n in enumerate(shape)), dt, special)
        w.array(base)
        w.u8(BROADCAST)
        w.dims(shape)
        return np.broadcast_to(base, shape)
    return with_layout(w, rng, values(rng, shape, dt, special), PLAIN)


def transposed(w, rng, shape, dt, special):
    perm = list(range(len(shape)))
    if len(perm) > 1:
        perm[-1], perm[-2] = perm[-2], perm[-1]
        if rng.random() < 0.3:
            perm = [int(i) for i in rng.permutation(len(shape))]
    base_shape = [0] * len(shape)
    for k, p in enumerate(perm):
        base_shape[p] = shape[k]
    base = values(rng, tuple(base_shape), dt, special)
    w.array(base)
    w.u8(TRANSPOSED)
    w.dims(perm)
    return base.transpose(perm)


def sliced(w, rng, shape, dt, special):
    from golden_format import key_items
    key, base_shape = [], []
    for n in shape:
        step = int(rng.choice([1, 1, -1, 2]))
        before = int(rng.integers(0, 3))
        if step == 2:
            base_shape.append(2 * n)
            key.append(slice(None, None, 2))
        elif step == -1:
            base_shape.append(n)
            key.append(slice(None, None, -1))
        else:
            base_shape.append(n + before)
            key.append(slice(before, None))
    base = values(rng, tuple(base_shape), dt, special)
    w.array(base)
    w.u8(SLICED)
    key_items(w, key)
    return base[tuple(key)]


def write_case(w, rng, name, shapes, dtypes, numbers, layouts, special=False):
    w.case()
    w.text(name)
    w.varint(len(shapes))
    operands = [laid_out(w, rng, s, np.dtype(d), l, special) for s, d, l in zip(shapes, dtypes, layouts)]
    w.dims(numbers)
    result, policy = expected(name, operands, numbers)
    w.policy(*policy)
    w.array(result)


def any_layouts(rng, count):
    return [int(rng.choice([PLAIN, TRANSPOSED, SLICED, BROADCAST])) for _ in range(count)]


def write_products(path, rng):
    w = Writer("products")
    for dt in NUMPY_DTYPES:
        for shapes in MATMUL:
            write_case(w, rng, "matmul", shapes, [dt, dt], [], any_layouts(rng, 2), dt.kind == "f" and rng.random() < 0.2)
    for first, second in MIXED:
        for shapes in MATMUL[:8]:
            write_case(w, rng, "matmul", shapes, [first, second], [], any_layouts(rng, 2))
            write_case(w, rng, "matmul", shapes, [second, first], [], any_layouts(rng, 2))
    for name, shapes, numbers in OTHERS:
        for d in ["int16", "float32", "float64", "complex64", "bool"]:
            if name == "matrix_power" and d == "bool":
                continue
            write_case(w, rng, name, shapes, [d] * len(shapes), numbers, any_layouts(rng, len(shapes)))
    return w.save(path)


def write_einsum(path, rng):
    w = Writer("einsum")
    for subscripts, shapes in EINSUM:
        for d in ["int8", "float32", "float64", "complex64", "bool", "float16"]:
            write_case(w, rng, "einsum " + subscripts, shapes, [d] * len(shapes), [], any_layouts(rng, len(shapes)))
    return w.save(path)
