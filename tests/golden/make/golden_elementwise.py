"""Elementwise functions, casts and promotion: inputs with special values, NumPy's results, and the policy of each."""
import itertools

import numpy as np

from golden_format import (ABSOLUTE, CODE, EXACT, MODULUS, NO_DTYPE, NUMPY_DTYPES, ULP, UNIT_ULP, Writer,
                           ZERO_SIGN_FREE)

UNARY = ["absolute", "negative", "positive", "sign", "square", "sqrt", "cbrt", "reciprocal", "exp", "exp2", "expm1",
         "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
         "arcsinh", "arccosh", "arctanh", "floor", "ceil", "trunc", "rint", "isnan", "isinf", "isfinite", "signbit",
         "logical_not", "invert", "conjugate", "real", "imag", "fabs", "deg2rad", "rad2deg"]
BINARY = ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "power", "arctan2", "hypot",
          "copysign", "nextafter", "logaddexp", "maximum", "minimum", "fmax", "fmin", "equal", "not_equal", "less",
          "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "bitwise_and",
          "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "heaviside", "float_power"]
TRANSCENDENTAL = {"cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin",
                  "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "power", "arctan2",
                  "hypot", "logaddexp", "float_power", "deg2rad", "rad2deg"}
# Which zero a maximum of two zeros gives is left open by the array API standard, and differs between machines.
ZERO_SIGN_OPEN = {"maximum", "minimum", "fmax", "fmin", "clip"}
# Bounds in epsilons of the modulus; 16 for what is not here. A power loses as many digits as its logarithm is large.
COMPLEX_BOUND = {"add": 0, "subtract": 0, "negative": 0, "positive": 0, "conjugate": 0, "multiply": 0, "square": 0,
                 "divide": 4, "reciprocal": 4, "sign": 4, "power": 512, "float_power": 512}

WIDE = {np.dtype("f2"): np.float64, np.dtype("f4"): np.float64, np.dtype("f8"): np.longdouble,
        np.dtype("c8"): np.complex128, np.dtype("c16"): np.clongdouble}


def call(name):
    return getattr(np, name)


def specials(dt):
    if dt == np.bool_:
        return np.array([False, True])
    if dt.kind in "iu":
        info = np.iinfo(dt)
        v = [0, 1, 2, 3, 7, 10, info.max, info.max - 1, info.max // 2]
        if dt.kind == "i":
            v += [-1, -2, -3, -7, info.min, info.min + 1]
        return np.array(v, dt)
    if dt.kind == "f":
        info = np.finfo(dt)
        tiny = np.nextafter(dt.type(0), dt.type(1))
        return np.array([0.0, -0.0, 1, -1, 0.5, -2.5, 2, 3, np.inf, -np.inf, np.nan, tiny, -tiny, info.tiny, info.max,
                         -info.max], dt)
    part = np.array([0.0, -0.0, 1, -1.5, 0.5, 2, np.inf, -np.inf, np.nan], dt.type(0).real.dtype)
    out = np.empty((part.size, part.size), dt)
    out.real, out.imag = part[:, None], part[None, :]
    return out.ravel()


def ordinary(rng, dt, n):
    if dt == np.bool_:
        return rng.integers(0, 2, n).astype(bool)
    if dt.kind in "iu":
        info = np.iinfo(dt)
        small = rng.integers(-20 if dt.kind == "i" else 0, 21, n - n // 2).astype(dt)
        return np.concatenate([small, rng.integers(info.min, info.max, n // 2, dtype=dt, endpoint=True)])
    if dt.kind == "f":
        third = n // 3
        wide = np.exp2(rng.uniform(-12, 12, n - 2 * third)) * rng.choice([-1, 1], n - 2 * third)
        return np.concatenate([rng.normal(size=third) * 2, rng.uniform(0, 1, third), wide]).astype(dt)
    return (rng.normal(size=n) * 2 + 2j * rng.normal(size=n)).astype(dt)


def unary_input(rng, dt):
    return np.concatenate([specials(dt), ordinary(rng, dt, 12 if dt == np.bool_ else 60)])


def pairs(rng, a, b, n):
    """Every special with every special (thinned where there are too many) and n ordinary pairs."""
    x, y = np.meshgrid(specials(a), specials(b), indexing="ij")
    x, y = x.ravel(), y.ravel()
    if x.size > 300:
        keep = rng.choice(x.size, 300, replace=False)
        x, y = x[keep], y[keep]
    return np.concatenate([x, ordinary(rng, a, n)]), np.concatenate([y, ordinary(rng, b, n)])


def power_pairs(rng, dt):
    """Integer powers: no negative exponent, which NumPy refuses."""
    x = np.concatenate([specials(dt), ordinary(rng, dt, 20)])
    e = np.array([0, 1, 2, 3, 4, 5, 7, 8, 13, 31, 63], dt)
    return np.repeat(x, e.size), np.tile(e, x.size)


def shift_pairs(rng, dt):
    bits = 1 if dt == np.bool_ else dt.itemsize * 8
    counts = list(range(bits + 2)) + [100]
    if dt.kind == "i":
        counts += [-1, -bits]
    x = np.concatenate([specials(dt), ordinary(rng, dt, 4)])
    c = np.array(counts).astype(dt)
    return np.repeat(x, c.size), np.tile(c, x.size)


def loop_dtypes(f, args):
    try:
        return f.resolve_dtypes(tuple(a.dtype for a in args) + (None,) * f.nout)
    except (TypeError, np.exceptions.DTypePromotionError):
        return None


def plain_product(x, y):
    """The textbook formula without contraction, which NumPy's vector loops use only on some machines."""
    out = np.empty(np.broadcast_shapes(x.shape, y.shape), x.dtype)
    out.real = x.real * y.real - x.imag * y.imag
    out.imag = x.real * y.imag + x.imag * y.real
    return out


def evaluate(name, args):
    """NumPy's result; where the function is not exactly rounded, the finite ones rounded from a wider type."""
    f = call(name)
    direct = np.asarray(f(*args))
    loop = loop_dtypes(f, args) if isinstance(f, np.ufunc) else None
    if loop and name in ("multiply", "square") and loop[0].kind == "c":
        x = args[0].astype(loop[0])
        return plain_product(x, x if name == "square" else args[1].astype(loop[1]))
    wants_wide = name in TRANSCENDENTAL or name in ("absolute", "sqrt", "sign") and loop and loop[0].kind == "c"
    if not wants_wide or not loop or loop[0] not in WIDE or loop[0].kind in "iu":
        return direct
    wide = np.asarray(f(*[a.astype(t).astype(WIDE[t]) for a, t in zip(args, loop)])).astype(direct.dtype)
    good = np.isfinite(direct) & np.isfinite(wide)
    if direct.dtype.kind == "f":
        good &= (direct != 0) & (wide != 0)
    return np.where(good, wide, direct)


def policy_of(name, args, result):
    flags = ZERO_SIGN_FREE if name in ZERO_SIGN_OPEN else 0
    loop = loop_dtypes(call(name), args) if isinstance(call(name), np.ufunc) else None
    kind = loop[0].kind if loop else args[0].dtype.kind
    if result.dtype.kind not in "fc":
        return EXACT, 0.0, flags
    if kind == "c":
        if name in ("real", "imag"):
            return EXACT, 0.0, flags
        if name == "absolute":
            return ULP, 4.0, flags
        bound = COMPLEX_BOUND.get(name, 0 if name in ZERO_SIGN_OPEN else 16)
        if bound == 0:
            return EXACT, 0.0, flags
        # Signed zeros of a complex result beside a non-zero part say nothing about accuracy.
        return MODULUS, float(bound), ZERO_SIGN_FREE
    if name == "logaddexp":
        # Its terms cancel where the result is near zero, so the error is bounded against 1 there.
        return UNIT_ULP, 1.0 if result.dtype == np.float16 else 4.0, ZERO_SIGN_FREE
    if name in TRANSCENDENTAL:
        return ULP, 1.0 if result.dtype == np.float16 else 4.0, flags
    return EXACT, 0.0, flags


def open_elements(name, args, result):
    """Elements whose value NumPy leaves to the machine: integer reciprocal of zero."""
    if name == "reciprocal" and result.dtype.kind in "iu":
        return args[0] == 0
    return None


class Pool:
    """Inputs shared by many cases."""
    def __init__(self):
        self.arrays, self.index = [], {}

    def add(self, a):
        key = (a.dtype.str, a.shape, a.tobytes())
        if key not in self.index:
            self.index[key] = len(self.arrays)
            self.arrays.append(a)
        return self.index[key]


def record(cases, pool, name, args):
    slots = [pool.add(a) for a in args]
    try:
        result = evaluate(name, args)
    except TypeError:
        cases.append((name, slots, None, None, None))
        return
    cases.append((name, slots, policy_of(name, args, result), result, open_elements(name, args, result)))


MIXED = [("i8", "u8"), ("i1", "u1"), ("u8", "f4"), ("f2", "i1"), ("f2", "i2"), ("i4", "f4"), ("c8", "f8"), ("?", "u1"),
         ("?", "f2"), ("f4", "c16"), ("u4", "i4"), ("f2", "f4"), ("u8", "u1"), ("f4", "c8"), ("i8", "f4"), ("u8", "i8")]


def elementwise_cases(rng):
    pool, cases = Pool(), []
    unary_inputs = {dt: unary_input(rng, dt) for dt in NUMPY_DTYPES}
    binary_inputs = {dt: pairs(rng, dt, dt, 60) for dt in NUMPY_DTYPES}
    for name in UNARY:
        for dt in NUMPY_DTYPES:
            record(cases, pool, name, [unary_inputs[dt]])
    for name in BINARY:
        for dt in NUMPY_DTYPES:
            if name == "power" and dt.kind in "iub":
                args = power_pairs(rng, dt)
            elif name in ("left_shift", "right_shift") and dt.kind in "iub":
                args = shift_pairs(rng, dt)
            else:
                args = binary_inputs[dt]
            record(cases, pool, name, list(args))
        for a, b in MIXED:
            if name in ("power", "left_shift", "right_shift"):
                continue
            x, y = pairs(rng, np.dtype(a), np.dtype(b), 10)
            keep = rng.choice(x.size, min(x.size, 50), replace=False)
            record(cases, pool, name, [x[keep], y[keep]])
    for dt in NUMPY_DTYPES:
        x, y = binary_inputs[dt]
        record(cases, pool, "where", [rng.integers(0, 2, x.size).astype(bool), x, y])
        if dt.kind in "iuf":
            z = rng.permutation(y)
            record(cases, pool, "clip", [x, np.fmin(y, z), np.fmax(y, z)])
    for a, b in MIXED:
        x, y = pairs(rng, np.dtype(a), np.dtype(b), 10)
        record(cases, pool, "where", [rng.integers(0, 2, x.size).astype(bool), x, y])
    return pool, cases


def cast_inputs(rng, source, target):
    """(values whose conversion every machine agrees on, values out of range of an integer target)."""
    x = np.concatenate([specials(source), ordinary(rng, source, 40)])
    if source.kind in "fc" and target.kind in "iu":
        info = np.iinfo(target)
        part = x.real.astype(np.longdouble)
        inside = (np.trunc(part) >= np.longdouble(info.min)) & (np.trunc(part) <= np.longdouble(info.max))
        return x[inside], x[~inside]
    return x, x[:0]


def write_elementwise(path, rng):
    w = Writer("elementwise")
    pool, cases = elementwise_cases(rng)
    w.varint(len(pool.arrays))
    for a in pool.arrays:
        w.array(a)
    for name, slots, policy, result, unknown in cases:
        w.case()
        w.text(name)
        w.dims(slots)
        w.u8(0 if result is not None else 1)
        if result is None:
            continue
        w.policy(*policy)
        w.array(result)
        w.u8(unknown is not None)
        if unknown is not None:
            w.array(unknown)
    return w.save(path)


def write_casts(path, rng):
    w = Writer("casts")
    for source in NUMPY_DTYPES:
        for target in NUMPY_DTYPES:
            inside, outside = cast_inputs(rng, source, target)
            w.case()
            w.u8(CODE[target])
            w.array(inside)
            w.array(inside.astype(target))
            w.array(outside)
    return w.save(path)


def result_dtype(f, *args):
    try:
        return CODE[np.asarray(f(*args)).dtype]
    except (TypeError, OverflowError):
        return NO_DTYPE


def write_promotion(path):
    w = Writer("promotion")
    for a in NUMPY_DTYPES:
        for b in NUMPY_DTYPES:
            w.case()
            w.u8(CODE[a])
            w.u8(CODE[b])
            w.u8(CODE[np.promote_types(a, b)])
            for rule in ("no", "safe", "same_kind", "unsafe"):
                w.u8(np.can_cast(a, b, rule))
    w.varint(len(UNARY))
    for name in UNARY:
        w.text(name)
        for a in NUMPY_DTYPES:
            w.u8(result_dtype(call(name), np.ones(1, a)))
    w.varint(len(BINARY))
    for name in BINARY:
        w.text(name)
        for a in NUMPY_DTYPES:
            for b in NUMPY_DTYPES:
                w.u8(result_dtype(call(name), np.ones(1, a), np.ones(1, b)))
    # An array with a weak scalar, both ways round; integers that do not fit are errors.
    weak = [True, 3, -1, 300, 70000, 2**40, 2**63, 2.5, 1 + 2j]
    names = ["add", "multiply", "divide", "maximum", "equal", "less", "bitwise_and", "arctan2"]
    w.varint(len(names))
    for name in names:
        w.text(name)
        w.varint(len(weak))
        for scalar in weak:
            w.u8({bool: 0, int: 1, float: 2, complex: 3}[type(scalar)])
            w.text(str(int(scalar)) if not isinstance(scalar, complex) else "1")
            for a in NUMPY_DTYPES:
                w.u8(result_dtype(call(name), np.ones(1, a), scalar))
                w.u8(result_dtype(call(name), scalar, np.ones(1, a)))
    write_sets(w)
    return w.save(path)


def write_sets(w):
    """Every set of up to four dtypes, alone and with a number of each kind. Their order does not matter to NumPy."""
    for count in range(1, 5):
        for dtypes in itertools.combinations(NUMPY_DTYPES, count):
            for numbers in ([], [True], [1], [1.0], [1j]):
                arguments = [np.dtype(t) for t in dtypes] + numbers
                orders = itertools.permutations(arguments) if count < 4 or not numbers else [arguments, arguments[::-1]]
                results = {np.result_type(*order) for order in orders}
                assert len(results) == 1, (dtypes, numbers, results)
                w.u8(CODE[results.pop()])
            if count == 3:
                check_functions([np.ones(1, t) for t in dtypes])


def check_functions(arrays):
    """Functions of three arrays have the dtype of result_type."""
    expected = np.result_type(*arrays)
    for x in itertools.permutations(arrays):
        which = np.zeros(1, np.int64)
        results = [np.concatenate(x), np.stack(x), np.choose(which, x), np.clip(*x), np.einsum("i,i,i->i", *x)]
        assert all(r.dtype == expected for r in results), (expected, results)
