"""Basic indexing: views read, written and added to, and the keys that are errors."""
import numpy as np

from golden_format import Writer, key_items, random_key

READ, ASSIGN, ADD, ERROR = range(4)


def random_shape(rng, rank):
    while True:
        shape = tuple(int(n) for n in rng.choice([0, 1, 2, 3, 4, 5, 7], rank, p=[.04, .16, .2, .2, .2, .1, .1]))
        if np.prod(shape, dtype=int) <= 90:
            return shape


def broadcastable(rng, shape):
    """A shape that broadcasts to `shape`."""
    out = [1 if rng.random() < 0.3 else n for n in shape]
    return tuple(out[int(rng.integers(0, len(out) + 1)):]) if rng.random() < 0.3 else tuple(out)


def wrong_key(rng, shape):
    kind = int(rng.integers(0, 4))
    if kind == 0:
        return [0] * (len(shape) + 1) if 0 not in shape else [slice(None)] * (len(shape) + 1)
    if kind == 1:
        return [Ellipsis, None, Ellipsis]
    if not shape:
        return [0]
    axis = int(rng.integers(0, len(shape)))
    key = [slice(None)] * axis
    if kind == 2:
        n = shape[axis]
        return key + [int(rng.choice([n, n + 3, -n - 1]))]
    return key + [slice(None, None, 0)]


def write_indexing(path, rng):
    w = Writer("indexing")
    for i in range(3000):
        shape = random_shape(rng, i % 6)
        kind = int(rng.choice([READ, ASSIGN, ADD, ERROR], p=[.45, .25, .2, .1]))
        base = np.arange(int(np.prod(shape, dtype=int)), dtype=np.int16).reshape(shape)
        key = wrong_key(rng, shape) if kind == ERROR else random_key(rng, shape)
        w.case()
        w.u8(kind)
        w.dims(shape)
        key_items(w, key)
        if kind == ERROR:
            try:
                base[tuple(key)]
            except (IndexError, ValueError):
                continue
            raise AssertionError(f"{key} is no error for {shape}")
        view = base[tuple(key) if Ellipsis in key else tuple(key) + (Ellipsis,)]
        if kind == READ:
            w.array(view)
            continue
        value = rng.integers(-99, 100, broadcastable(rng, view.shape)).astype(np.int16)
        w.array(value)
        view[...] = value if kind == ASSIGN else view + value
        w.array(base)
    return w.save(path)
