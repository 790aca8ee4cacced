"""Writer of the golden files: a flat little-endian stream that tests/golden/golden.cpp reads back (see README.md)."""
import struct

import numpy as np

# The order is that of sinter::dtype; bfloat16 (10) is not a NumPy type.
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
NUMPY_DTYPES = [np.dtype(n) for n in DTYPES if n != "bfloat16"]
CODE = {np.dtype(n): i for i, n in enumerate(DTYPES) if n != "bfloat16"}
NO_DTYPE = 255

# How a result may differ; the bound's meaning depends on the kind.
EXACT, ULP, MODULUS, ABSOLUTE, UNIT_ULP = range(5)
ZERO_SIGN_FREE = 1   # flag: +0 and -0 are equal


class Writer:
    def __init__(self, subject):
        self.out = bytearray(b"SNGOLD1\n")
        self.text(subject)
        self.cases_at = len(self.out)
        self.out += b"\0\0\0\0"
        self.cases = 0

    def case(self):
        self.cases += 1

    def u8(self, v):
        self.out.append(int(v))

    def varint(self, v):
        v = int(v)
        v = (v << 1) if v >= 0 else ((-v << 1) - 1)   # zigzag
        while v >= 128:
            self.out.append(v & 127 | 128)
            v >>= 7
        self.out.append(v)

    def f64(self, v):
        self.out += struct.pack("<d", v)

    def text(self, s):
        b = s.encode()
        self.varint(len(b))
        self.out += b

    def dims(self, values):
        self.varint(len(values))
        for v in values:
            self.varint(v)

    def array(self, a):
        a = np.asarray(a)
        self.u8(CODE[a.dtype])
        self.dims(a.shape)
        self.out += a.tobytes()

    def policy(self, kind, bound=0.0, flags=0):
        self.u8(kind)
        self.f64(bound)
        self.u8(flags)

    def save(self, path):
        self.out[self.cases_at:self.cases_at + 4] = struct.pack("<I", self.cases)
        with open(path, "wb") as f:
            f.write(self.out)
        return len(self.out)


def key_items(w, key):
    """An index key: integers, slices, None, Ellipsis."""
    w.varint(len(key))
    for k in key:
        if k is None:
            w.u8(2)
        elif k is Ellipsis:
            w.u8(3)
        elif isinstance(k, slice):
            w.u8(1)
            given = sum(1 << i for i, b in enumerate((k.start, k.stop, k.step)) if b is not None)
            w.u8(given)
            for b in (k.start, k.stop, k.step):
                if b is not None:
                    w.varint(b)
        else:
            w.u8(0)
            w.varint(k)


def random_slice(rng, n):
    def bound():
        return None if rng.random() < 0.35 else int(rng.integers(-n - 2, n + 3))
    step = None if rng.random() < 0.4 else int(rng.choice([-3, -2, -1, -1, 1, 2, 3]))
    return slice(bound(), bound(), step)


def random_key(rng, shape, newaxes=True):
    """A key that NumPy accepts for `shape`."""
    used = int(rng.integers(0, len(shape) + 1))
    key = []
    dots = rng.random() < 0.35
    tail = int(rng.integers(0, used + 1)) if dots else 0
    lead = used - tail
    axes = list(range(lead)) + list(range(len(shape) - tail, len(shape)))
    for at, axis in enumerate(axes):
        if dots and at == lead:
            key.append(Ellipsis)
        n = shape[axis]
        if n > 0 and rng.random() < 0.3:
            key.append(int(rng.integers(-n, n)))
        else:
            key.append(random_slice(rng, n))
    if dots and tail == 0:
        key.append(Ellipsis)
    while newaxes and rng.random() < 0.2:
        key.insert(int(rng.integers(0, len(key) + 1)), None)
    return key
