"""Indexing by arrays and masks: selections read, assigned, updated and accumulated, keys that are errors; functions."""
import numpy as np

from golden_format import Writer, random_slice

READ, ASSIGN, ADD, MULTIPLY, ADD_AT, MAX_AT, MIN_AT, ERROR = range(8)
READ_DTYPES = ["bool", "int8", "int32", "int64", "uint16", "float16", "float32", "float64", "complex64", "complex128"]
WRITE_DTYPES = ["int16", "int64", "float32"]


def key_items(w, key):
    """As golden_format.key_items, and 4: an index array or a mask."""
    w.varint(len(key))
    for k in key:
        if isinstance(k, np.ndarray):
            w.u8(4)
            w.array(k)
        elif k is None:
            w.u8(2)
        elif k is Ellipsis:
            w.u8(3)
        elif isinstance(k, slice):
            w.u8(1)
            w.u8(sum(1 << i for i, b in enumerate((k.start, k.stop, k.step)) if b is not None))
            for b in (k.start, k.stop, k.step):
                if b is not None:
                    w.varint(b)
        else:
            w.u8(0)
            w.varint(k)


def random_shape(rng, rank):
    while True:
        shape = tuple(int(n) for n in rng.choice([0, 1, 2, 3, 4, 5], rank, p=[.04, .12, .22, .26, .22, .14]))
        if np.prod(shape, dtype=int) <= 120:
            return shape


def index_array(rng, n, common):
    shape = [1 if rng.random() < 0.2 else m for m in common][int(rng.integers(0, len(common) + 1)) if rng.random() < 0.3 else 0:]
    dtype = rng.choice(["int64", "int64", "int32", "uint8", "int8"])
    low = 0 if dtype.startswith("u") else -n
    if n == 0:
        return np.zeros([0], dtype)
    return rng.integers(low, n, shape).astype(dtype)


def candidate(rng, shape):
    common = random_shape(rng, int(rng.choice([0, 1, 1, 1, 2])))
    key, axis, dots, arrays = [], 0, False, 0
    while axis < len(shape) and rng.random() < 0.92:
        kind = rng.random()
        left = len(shape) - axis
        if kind < 0.45:
            key.append(index_array(rng, shape[axis], common))
            arrays += 1
            axis += 1
        elif kind < 0.58:
            rank = int(rng.integers(1, min(3, left) + 1))
            mask = rng.random(shape[axis:axis + rank]) < rng.choice([.1, .5, .9])
            key.append(np.asarray(mask))
            arrays += 1
            axis += rank
        elif kind < 0.75:
            key.append(random_slice(rng, shape[axis]))
            axis += 1
        elif kind < 0.87:
            if shape[axis] == 0:
                continue
            key.append(int(rng.integers(-shape[axis], shape[axis])))
            axis += 1
        elif kind < 0.93:
            key.append(None)
        elif kind < 0.95:
            key.append(np.array(rng.random() < 0.7))
            arrays += 1
        elif not dots:
            dots = True
            key.append(Ellipsis)
            axis += int(rng.integers(0, left + 1))
    return key if arrays else None


def advanced_key(rng, shape):
    base = np.empty(shape, np.int8)
    while True:
        key = candidate(rng, shape)
        if key is None:
            continue
        try:
            if base[tuple(key)].size <= 200:
                return key
        except IndexError:
            continue


def wrong_key(rng, shape):
    axis = int(rng.integers(0, len(shape)))
    n = shape[axis]
    lead = [slice(None)] * axis
    kind = int(rng.integers(0, 6))
    if kind <= 1 and n > 0:
        indices = rng.integers(-n, n, 4)
        indices[int(rng.integers(0, 4))] = rng.choice([n, -n - 1, n + 40, -(1 << 40)])
        return lead + [indices]
    if kind == 2:
        return lead + [np.ones(n + 1, bool)]
    if kind == 3:
        return [np.zeros(2, int)] * (len(shape) + 1)
    if kind == 4:
        return lead + [np.zeros(1, np.float32)]
    return lead[:-1] + [np.zeros((2, 3), int), np.zeros((4,), int)] if axis else [np.zeros(shape + (1,), bool)]


def values(rng, shape, dtype):
    if dtype == "bool":
        return rng.random(shape) < 0.5
    v = rng.integers(0 if dtype.startswith("u") else -50, 50, shape)
    if dtype.startswith("c"):
        v = v + 1j * rng.integers(-50, 50, shape)
    return np.asarray(v).astype(dtype)


def right_shape(rng, shape):
    out = [1 if rng.random() < 0.25 else n for n in shape]
    return tuple(out[int(rng.integers(0, len(out) + 1)):]) if rng.random() < 0.3 else tuple(out)


def write_advanced(path, rng):
    w = Writer("advanced")
    for i in range(2200):
        shape = random_shape(rng, 1 + i % 4)
        kind = int(rng.choice(8, p=[.55, .16, .06, .04, .05, .02, .02, .1]))
        dtype = str(rng.choice(READ_DTYPES if kind == READ else WRITE_DTYPES))
        while kind == ERROR and 0 in shape:  # indices of nothing are not looked at
            shape = random_shape(rng, 1 + i % 4)
        base = values(rng, shape, dtype)
        key = wrong_key(rng, shape) if kind == ERROR else advanced_key(rng, shape)
        w.case()
        w.u8(kind)
        w.array(base)
        key_items(w, key)
        index = tuple(key)
        if kind == ERROR:
            try:
                base[index]
            except IndexError:
                continue
            raise AssertionError(f"{key} is no error for {shape}")
        if kind == READ:
            w.array(base[index])
            continue
        v = values(rng, right_shape(rng, base[index].shape), dtype)
        w.array(v)
        if kind == ASSIGN:
            base[index] = v
        elif kind == ADD:
            base[index] += v
        elif kind == MULTIPLY:
            base[index] *= v
        else:
            # Broadcast here: NumPy 2.4's ufunc.at of a rank-1 array reads beyond values that it should broadcast.
            wide = np.broadcast_to(v, base[index].shape).copy()
            {ADD_AT: np.add, MAX_AT: np.maximum, MIN_AT: np.minimum}[kind].at(base, index, wide)
        w.array(base)
    return w.save(path)


def call(w, name, arrays, numbers, mode, results):
    """One call: the function, its arrays, integers and mode, and the arrays that come out."""
    w.case()
    w.text(name)
    for group in (arrays, None, results):
        if group is None:
            w.dims(numbers)
            w.text(mode)
            continue
        w.varint(len(group))
        for a in group:
            w.array(a)


NO_AXIS = 99


def write_functions(path, rng):
    w = Writer("indexing_functions")
    modes = ["raise", "wrap", "clip"]
    for i in range(40):
        x = values(rng, random_shape(rng, 1 + i % 3), ["int32", "float32", "bool", "complex64"][i % 4])
        x[rng.random(x.shape) < 0.4] = 0
        call(w, "nonzero", [x], [], "", np.nonzero(x))
        call(w, "argwhere", [x], [], "", [np.argwhere(x)])
        call(w, "flatnonzero", [x], [], "", [np.flatnonzero(x)])
        call(w, "extract", [x != 0, x], [], "", [np.extract(x != 0, x)])
    call(w, "argwhere", [np.array(3)], [], "", [np.argwhere(np.array(3))])
    for i in range(60):
        shape = tuple(max(n, 1) for n in random_shape(rng, 1 + i % 3))
        x = values(rng, shape, ["int32", "float64", "int8"][i % 3])
        mode = modes[i % 3]
        axis = int(rng.integers(-len(shape), len(shape))) if i % 4 else NO_AXIS
        n = x.size if axis == NO_AXIS else shape[axis]
        reach = n if mode == "raise" else 3 * n + 2
        idx = rng.integers(-reach, reach, random_shape(rng, int(rng.integers(0, 3))))
        idx = np.asarray(idx)
        call(w, "take", [x, idx], [axis], mode, [np.take(x, idx, None if axis == NO_AXIS else axis, mode=mode)])
        y, v = x.copy(), values(rng, (int(rng.integers(1, 6)),), str(x.dtype))
        reach = x.size if mode == "raise" else 3 * x.size + 2
        idx = np.asarray(rng.integers(-reach, reach, random_shape(rng, int(rng.integers(0, 3)))))
        np.put(y, idx, v, mode=mode)
        call(w, "put", [x, idx, v], [], mode, [y])
        if len(shape) > 1:
            y = x.copy().T
            np.put(y, idx, v, mode=mode)
            call(w, "put transposed", [x, idx, v], [], mode, [y])
        mask = rng.random(shape) < 0.5
        y = x.copy()
        np.putmask(y, mask, v)
        call(w, "putmask", [x, mask, v], [], "", [y])
        y = x.copy()
        np.place(y, mask, v)
        call(w, "place", [x, mask, v], [], "", [y])
        a = int(rng.integers(-len(shape), len(shape)))
        idx = np.stack([rng.permutation(shape[a])] * max(x.size // shape[a], 1)).T.reshape(
            (shape[a],) + tuple(n for k, n in enumerate(shape) if k != a % len(shape)))
        idx = np.moveaxis(idx, 0, a)
        y, v = x.copy(), values(rng, idx.shape, str(x.dtype))
        np.put_along_axis(y, idx, v, a)
        call(w, "put_along_axis", [x, idx, v], [a], "", [y])
        cond = rng.random(int(rng.integers(0, shape[a] + 1))) < 0.6
        call(w, "compress", [cond, x], [a], "", [np.compress(cond, x, a)])
        call(w, "compress", [cond, x], [NO_AXIS], "", [np.compress(cond, x)])
        count = int(rng.integers(1, 5))
        choices = [values(rng, shape[int(rng.integers(0, len(shape))):], "int32" if k % 2 else "float64")
                   for k in range(count)]
        which = rng.integers(0, count, shape) if mode == "raise" else rng.integers(-9, 9, shape)
        call(w, "choose", [which] + choices, [], mode, [np.choose(which, choices, mode=mode)])
        at = np.asarray(rng.integers(0, x.size, random_shape(rng, int(rng.integers(0, 3)))))
        coordinates = np.unravel_index(at, shape)
        call(w, "unravel_index", [at], shape, "", coordinates)
        spread = [np.asarray(c + (rng.integers(-7, 7, c.shape) if mode != "raise" else 0)) for c in coordinates]
        call(w, "ravel_multi_index", spread, shape, mode, [np.asarray(np.ravel_multi_index(spread, shape, mode=mode))])
    for n, k, m in [(3, 0, 3), (4, 1, 2), (2, -1, 5), (1, 0, 1), (0, 0, 0), (5, -2, 4)]:
        call(w, "tril_indices", [], [n, k, m], "", np.tril_indices(n, k, m))
        call(w, "triu_indices", [], [n, k, m], "", np.triu_indices(n, k, m))
    for n, ndim in [(3, 2), (0, 2), (2, 4)]:
        call(w, "diag_indices", [], [n, ndim], "", np.diag_indices(n, ndim))
    for sets in [([0, 2], [1, 1, 3]), ([True, False, True], [2]), ([5],), ([0], [1], [2, 3])]:
        arrays = [np.array(s) for s in sets]
        call(w, "ix_", arrays, [], "", np.ix_(*arrays))
    return w.save(path)
