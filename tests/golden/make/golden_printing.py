"""Arrays as NumPy prints them: str, repr and array2string under many options."""
import numpy as np

from golden_format import NUMPY_DTYPES, Writer

DEFAULTS = dict(precision=8, threshold=1000, edgeitems=3, linewidth=75, suppress=False, nanstr="nan", infstr="inf",
                sign="-", floatmode="maxprec")
MODES = ["fixed", "unique", "maxprec", "maxprec_equal"]


def write_options(w, o):
    for name in ("precision", "threshold", "edgeitems", "linewidth"):
        w.varint(o[name])
    w.u8(o["suppress"])
    for name in ("nanstr", "infstr", "sign"):
        w.text(o[name])
    w.u8(MODES.index(o["floatmode"]))


def named_cases():
    """Arrays that aim at one rule each."""
    f4, f2 = np.float32, np.float16
    nan, inf = np.nan, np.inf
    rng = np.random.default_rng(1)
    scalars = [np.array(v) for v in (True, -5, np.int8(7), 0.1, 1e16, 999999999999999.9, f4(1e6), f4(0.1),
                                     f4(1e-4) * f4(0.99),
                                     f2(1000), f2(0.1), 1.5 - 2j, 2j, -0.0, nan, -inf,
                                     np.complex64(complex(nan, -inf)), 5e-324,
                                     -2j, complex(-0.0, 1), complex(inf, nan), 1e-5, 123456789.123,
                                     np.uint64(2**64 - 1))]
    vectors = [np.array(v) for v in (
        [0, 1, 1, 0], [1.0, 2.0, 3.0], [1.0, 2.5, 3.25, -0.125], [1 / 3, 2 / 3, 123.456789012345], [1e8, 1.0],
        [99999999.0, 1e5],
        [1e-5, 1.0], [0.01, 10.5], [0.01, 10.0], [1e-200, 1e200], [0.0, -0.0], [1.0, nan, inf, -inf], [nan, nan],
        [inf, -inf],
        [nan, 1e20, -1e-20], [1.0, inf], [inf], [-inf], [nan], [1 + 2j, 3.5 - 0.001j, complex(-0.0, -2)],
        [complex(nan, 1), complex(2, inf)], [1e-10 + 1e10j, 1j], [2**63 - 1, -2**63], [100, -5, 17], [1e16, 1.0],
        [1e15, 1.0],
        [123456.7, nan], [0.1, 0.25, 1e3], [0.00015, 0.1], [5e-324, 1e-320], [1.7976931348623157e308])]
    vectors += [np.array([1.216597557067871, 1558.915771484375, 0.02000279910862446], f4),
                np.array([0.1, 0.2, 0.3], f4),
                np.array([0.1, 1.5, 65504], f2), np.array([0.1, 1.5, 99.875], f2), np.array([6e-8, 1], f2),
                np.array([0, 2**64 - 1], np.uint64), np.array([1e6, 1], f4), np.array([1e-45, 1e-40], f4),
                np.array([1 + 1j, 2.25j], np.complex64), np.array([True, False]), np.array([-100, 5, 17], np.int16)]
    shaped = [np.zeros(0), np.zeros((0, 3), f4), np.zeros((2, 0), int), np.zeros((2, 0, 3), bool), np.zeros(0, int),
              np.zeros(0, f4),
              np.arange(12).reshape(3, 4), np.arange(12).reshape(2, 3, 2) / 8,
              np.arange(8, dtype=np.uint8).reshape(2, 1, 2, 2),
              np.array([[1.5], [-22.25], [3]]), np.zeros((2, 2)), np.array([[True, False], [False, True]]),
              np.arange(40),
              rng.standard_normal(25).round(4), rng.integers(-9999, 9999, (3, 20)),
              rng.standard_normal((2, 12)).astype(f4),
              np.arange(100, 119, dtype=np.int32), rng.standard_normal((3, 7)) + 1j * rng.standard_normal((3, 7)),
              np.array([[["x" == "y"]]]), np.arange(1000) % 7, np.arange(1001, dtype=np.int16),
              (np.arange(1200) / 4).reshape(40, 30).astype(f4), np.arange(1800, dtype=np.int16).reshape(600, 3),
              np.arange(1320, dtype=f2).reshape(11, 10, 12), np.where(np.arange(2000) == 1000, 1e-9, 1.0).astype(f4),
              np.ones((1001, 1), bool), np.zeros((2, 501), np.int8), np.zeros((7, 7, 7, 7), np.int8)]
    return scalars + vectors + shaped


def random_elements(rng, dtype, n):
    if dtype.kind == "b":
        return rng.integers(0, 2, n).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        wide = rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
        return wide if rng.random() < 0.3 else (wide % 100).astype(dtype)
    if dtype.kind == "c":
        part = np.dtype(dtype.char.lower())
        return (random_elements(rng, part, n) + 1j * random_elements(rng, part, n)).astype(dtype)
    kind = rng.integers(0, 7)
    if kind == 0:
        a = rng.standard_normal(n)
    elif kind == 1:
        a = rng.integers(-50, 50, n).astype(float)
    elif kind == 2:
        a = rng.standard_normal(n).round(int(rng.integers(0, 4)))
    elif kind == 3:
        a = rng.standard_normal(n) * 10.0 ** rng.integers(-30, 30)
    elif kind == 4:
        a = rng.standard_normal(n) * 10.0 ** rng.integers(-6, 6, n)
    elif kind == 5:
        a = 10.0 ** rng.integers(-9, 9, n)
    else:
        a = np.nextafter(rng.integers(1, 99, n) / 2.0 ** rng.integers(0, 5), 1e9)
    a = a.astype(dtype)
    if n and rng.random() < 0.3:
        a[rng.random(n) < 0.3] = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0])
    return a


def random_options(rng):
    o = dict(DEFAULTS)
    if rng.random() < 0.6:
        o["precision"] = int(rng.choice([0, 1, 2, 3, 5, 8, 12, 17, 20]))
    if rng.random() < 0.5:
        o["floatmode"] = str(rng.choice(MODES))
    if rng.random() < 0.3:
        o["suppress"] = True
    if rng.random() < 0.4:
        o["sign"] = str(rng.choice([" ", "+"]))
    if rng.random() < 0.3:
        o["threshold"], o["edgeitems"] = int(rng.integers(0, 12)), int(rng.integers(1, 5))
    if rng.random() < 0.4:
        o["linewidth"] = int(rng.choice([1, 8, 15, 25, 40, 60, 100, 200]))
    if rng.random() < 0.2:
        o["nanstr"], o["infstr"] = [("NaN", "Infinity"), ("-", "oo"), ("not a number", "x")][int(rng.integers(0, 3))]
    return o


def write_printing(path, rng):
    w = Writer("printing")

    def put(a, o):
        w.case()
        write_options(w, o)
        w.array(a)
        with np.printoptions(**o):
            w.text(str(a))
            w.text(repr(a))

    for a in named_cases():
        put(a, DEFAULTS)
        if a.size < 30:
            for extra in (dict(precision=3), dict(suppress=True), dict(floatmode="fixed"), dict(floatmode="unique"),
                          dict(floatmode="maxprec_equal", sign=" "), dict(sign="+", linewidth=20)):
                put(a, {**DEFAULTS, **extra})
    for _ in range(1200):
        dtype = NUMPY_DTYPES[int(rng.choice(len(NUMPY_DTYPES), p=[.03] * 9 + [.16, .17, .2, .1, .1]))]
        shape = [int(n) for n in rng.choice([0, 1, 2, 3, 4, 5], int(rng.integers(0, 4)), p=[.02, .18, .3, .2, .2, .1])]
        put(random_elements(rng, dtype, int(np.prod(shape))).reshape(shape), random_options(rng))
    return w.save(path)


def write_array2string(path, rng):
    w = Writer("array2string")
    for _ in range(150):
        dtype = np.dtype(rng.choice(["i4", "f4", "f8", "c16", "?"]))
        shape = [int(n) for n in rng.integers(1, 6, int(rng.integers(0, 4)))]
        a = random_elements(rng, dtype, int(np.prod(shape))).reshape(shape)
        separator, prefix, suffix = (str(rng.choice(c)) for c in ([" ", ", ", ",", "", " | ", ";\n"],
                                                                  ["", "x = ", "a longer name = "],
                                                                 ["", ")", " # end"]))
        o = random_options(rng)
        del o["nanstr"], o["infstr"]
        w.case()
        write_options(w, {**DEFAULTS, **o})
        w.text(separator)
        w.text(prefix)
        w.text(suffix)
        w.array(a)
        o["suppress_small"], o["max_line_width"] = o.pop("suppress"), o.pop("linewidth")
        w.text(np.array2string(a, separator=separator, prefix=prefix, suffix=suffix, **o))
    return w.save(path)
