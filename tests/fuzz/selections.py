"""Programs that read and write through index arrays and masks, in memory and pending, while views and copies are held."""
import numpy as np

from builder import INPLACE, fits_into, random_shape, step_compute, step_evaluate, step_view, step_write, weak_operand
from bytecode import Register
from golden_format import random_slice

INT64 = 4
INDEX_CODES = [1, 2, 3, 4, 4, 4, 5, 6, 8]   # integer dtypes of index arrays


def made_pending(b, r):
    """Another register of the same elements that nothing has evaluated, now and then."""
    if r is None or b.rng.random() < 0.5:
        return r
    p = b.make("weak", "add", r, 0, 0.0)
    if p is None:
        return r
    b.drop(r)
    return p


def index_register(b, n, shape):
    code = int(b.rng.choice(INDEX_CODES))
    shape = tuple(1 if b.rng.random() < 0.15 else m for m in shape)
    if code >= 5:
        return made_pending(b, b.data(code, shape, 0, n))
    return made_pending(b, b.data(code, shape, -n, 2 * n))


def mask_register(b, shape):
    """Bools of this shape: those of a comparison with one of the program's own arrays, or with fresh numbers."""
    own = b.pick(lambda v: v.a.shape == tuple(shape) and v.a.dtype.kind in "iu")
    if own is not None and b.rng.random() < 0.5:
        return b.make("weak", str(b.rng.choice(["less", "greater", "equal"])), own, 0, float(b.rng.integers(-2, 3)))
    numbers = b.data(INT64, shape, 0, 10)
    mask = b.make("weak", "less", numbers, 0, float(b.rng.choice([0, 2, 5, 5, 8, 10])))
    b.drop(numbers)
    if mask is not None and b.rng.random() < 0.4:
        b.emit("eval", [mask])
    return mask


def selection_key(b, shape):
    """A key with at least one array, and the registers that it uses."""
    rng, key, used, axis, dots = b.rng, [], [], 0, False
    common = random_shape(rng, 12)
    while axis < len(shape) and rng.random() < 0.9:
        kind, n, left = rng.random(), shape[axis], len(shape) - axis
        r = None
        if kind < 0.45:
            if n == 0:
                return None, used
            r = index_register(b, n, common[int(rng.integers(0, len(common) + 1)):] if rng.random() < 0.2 else common)
            axis += 1
        elif kind < 0.6:
            rank = int(rng.integers(1, min(3, left) + 1))
            r = mask_register(b, shape[axis:axis + rank])
            axis += rank
        elif kind < 0.8:
            key.append(random_slice(rng, n))
            axis += 1
        elif kind < 0.88 and n > 0:
            key.append(int(rng.integers(-n, n)))
            axis += 1
        elif kind < 0.93:
            key.append(None)
        elif not dots:
            dots = True
            key.append(Ellipsis)
            axis += int(rng.integers(0, left + 1))
        if kind < 0.6:
            if r is None:
                return None, used
            used.append(r)
            key.append(Register(r))
    return (key if used else None), used


def step_pick(b):
    """A read through a selection, or one of the kinds of writes; its index arrays live on now and then."""
    rng = b.rng
    reads = rng.random() < 0.45
    t = b.pick(lambda v: v.a.ndim > 0 and (reads or v.a.flags.writeable))
    if t is None:
        return
    a = b.array(t)
    key, used = selection_key(b, a.shape)
    try:
        selected = a[b.machine.resolve(key)].shape if key else None
    except IndexError:
        selected = None
    if selected is not None and np.prod(selected, dtype=int) <= 200:
        write(b, t, key, selected) if not reads else b.make("pick", t, key)
    for r in used:
        if rng.random() < 0.8 and r in b.machine.regs:
            b.drop(r)


def write(b, t, key, selected):
    rng, kind = b.rng, int(b.rng.integers(0, 6))
    f = str(rng.choice(INPLACE if b.exact else ["add", "subtract", "multiply", "divide"]))
    flags, x = weak_operand(b)
    s = b.pick(lambda v: fits_into(v.a.shape, selected))
    if s is None or rng.random() < 0.3:  # one element for each that is selected
        s = b.data(b.code_of(t), selected)
    if kind == 0:
        b.attempt("pick_set_weak", t, key, flags, x)
    elif kind == 1:
        b.attempt("pick_iset_weak", t, key, f, flags, x)
    elif kind == 2:
        b.attempt("pick_iset", t, key, f, s)
    elif kind == 3:
        b.attempt("pick_add", t, key, s)
    else:
        b.attempt("pick_set", t, key, s)


def selections(b):
    rng = b.rng
    shape = random_shape(rng)
    while not shape or 0 in shape and rng.random() < 0.8:
        shape = random_shape(rng)
    codes = [int(c) for c in rng.choice(15 if b.exact else [9, 10, 11, 12, 13], int(rng.integers(1, 3)))] + [INT64]
    for _ in range(int(rng.integers(2, 4))):
        b.data(int(rng.choice(codes)), tuple(1 if rng.random() < 0.1 else n for n in shape), flavour=0 if b.exact else 1)
    for _ in range(int(rng.integers(5, 13))):
        while len(b.free) < 14:
            b.drop(b.pick())
        step = int(rng.choice(5, p=[.55, .12, .1, .12, .11]))
        [step_pick, step_view, step_compute, step_write, step_evaluate][step](b)
    b.finish()
