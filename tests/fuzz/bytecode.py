"""The byte code of fuzz programs: encoding, and execution by NumPy. tests/fuzz/machine.cpp executes it by sinter."""
import struct
import sys
import zlib

import numpy as np
import scipy.special

from composed import COMPOSED, EVERYDAY, REDUCTIONS, SIZED_LIKE, SPECIAL_PARAMETERS

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/golden/make")
from golden_format import CODE, DTYPES, NO_DTYPE, Writer, key_items  # noqa: E402

BF16 = DTYPES.index("bfloat16")

# name: operand kinds. r register, t dtype, s dims, k index key, K index key with arrays among its items, i integer,
# f function, b flags, x float64.
SIGNATURES = {
    "data": "rtsiiib", "full": "rtsi", "arange": "rtiii", "view": "rrk", "transpose": "rrs", "reshape": "rrs",
    "flip": "rrs", "moveaxis": "rrii", "squeeze": "rr", "expand_dims": "rri", "broadcast_to": "rrs", "copy": "rr",
    "astype": "rrt", "unary": "rfr", "binary": "rfrr", "weak": "rfrbx", "where": "rrrr", "clip": "rrii", "iop": "rfr",
    "iweak": "rfbx", "set": "rkr", "set_weak": "rkbx", "iset": "rkfr", "iset_weak": "rkfbx", "reduce": "rfrsbt",
    "take_along_axis": "rrri", "take": "rrri", "drop": "r", "eval": "s", "read": "r", "alias": "rr", "fails": "",
    "pin": "r", "mark": "", "launches": "i", "held": "i", "true": "r",
    "pick": "rrK", "pick_set": "rKr", "pick_set_weak": "rKbx", "pick_iset": "rKfr", "pick_iset_weak": "rKfbx",
    "pick_add": "rKr", "set_part": "rrb", "masked": "rfrrr", "ternary": "rfrrr", "stored": "rfrr", "part": "rrb",
}
OPS = {name: i for i, name in enumerate(SIGNATURES)}
FUNCTIONS = ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "maximum", "minimum", "fmax", "fmin",
             "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or",
             "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "negative",
             "absolute", "sign", "square", "floor", "ceil", "trunc", "rint", "logical_not", "invert", "isnan",
             "isfinite", "conjugate", "positive", "sqrt", "exp", "log", "sin", "cos", "tan", "arcsin", "arccos",
             "arctan", "tanh", "expm1", "log1p", "cbrt", "reciprocal", "power", "arctan2", "hypot", "logaddexp", "sum",
             "prod", "min", "max", "argmin", "argmax", "any", "all", "count_nonzero", "mean", "var", "std", "exp2",
             "real", "imag", "cosh", "arcsinh",
             "gcd", "lcm", "isposinf", "isneginf", "isreal", "iscomplex", "bitwise_count", "nan_to_num", "ravel F",
             "sort all", "cumsum all", "frexp mantissa", "frexp exponent", "modf whole", "ediff1d", "pad edge", "pad wrap",
             "tril", "rot90", "trim_zeros", "append", "ldexp", "nansum", "nanprod", "nanmin", "nanmax", "nanmean", "ptp",
             "median", "nanmedian", "fortran"]
SPECIAL = ["special." + f for f in
           "erf erfc erfcx erfinv erfcinv ndtr ndtri log_ndtr gamma gammaln digamma expit logit log_expit entr exprel cosm1 "
           "j0 j1 y0 y1 i0 i0e i1 i1e k0 k0e k1 k1e exp1 expi ellipk ellipe zeta".split()]
FUNCTIONS += SPECIAL + EVERYDAY
INTEGERS, FRACTIONS, SPECIALS = range(3)   # flavours of "data"
KEEPDIMS, ALL_AXES = 1, 2
LEFT, FLOATING = 1, 2                      # flags of weak scalars


REAL_PART, IMAGINARY_PART = 0, 1           # flags of "set_part" and "part"


def function(f):
    return COMPOSED[f] if f in COMPOSED else getattr(np, f)


class Rejected(Exception):
    """The instruction does not belong into an exact program."""


def carrier(code):
    return np.dtype(np.float32) if code == BF16 else np.dtype(DTYPES[code])


def pseudo_random(seed, n):
    i = np.arange(n, dtype=np.uint64) + np.uint64(seed)
    h = i * np.uint64(0x9E3779B97F4A7C15)
    h ^= h >> np.uint64(29)
    h *= np.uint64(0xBF58476D1CE4E5B9)
    return h >> np.uint64(33)


def data_values(code, shape, seed, lo, span, flavour):
    n = int(np.prod(shape, dtype=int))
    h = pseudo_random(seed, n)
    if flavour == INTEGERS:
        v = (h % np.uint64(span)).astype(np.int64) + lo
    else:
        v = lo + span * ((h % np.uint64(1 << 20)).astype(float) / (1 << 20))
        if flavour == SPECIALS:
            mark = (h >> np.uint64(8)) % np.uint64(37)
            for k, special in enumerate((np.nan, np.inf, -np.inf)):
                v[mark == k] = special
    return v.astype(carrier(code)).reshape(shape)


def owned(a):
    """A C-contiguous copy: sinter's results never have another order."""
    return np.array(a, order="C", copy=True)


def full_key(key):
    return tuple(key) if any(k is Ellipsis for k in key) else tuple(key) + (Ellipsis,)


class Register(int):
    """An item of a key that stands for the array in a register."""


class Value:
    """An array and its dtype code, which tells bfloat16 from the float32 that carries it here."""
    def __init__(self, a, code=None):
        self.a = np.asarray(a)
        self.code = CODE[self.a.dtype] if code is None else code


def exact_limit(code):
    return {"float16": 2048, "bfloat16": 256, "float32": 2**24, "float64": 2**53, "complex64": 2**24,
            "complex128": 2**53}.get(DTYPES[code])


def check_exact(a, code):
    limit = exact_limit(code)
    if limit is None:
        return
    for part in (a.real, a.imag) if a.dtype.kind == "c" else (a,):
        wide = part.astype(float)
        if not (np.all(np.isfinite(wide)) and np.all(np.abs(wide) <= limit) and np.all(wide == np.rint(wide))):
            raise Rejected


def check_cast(a, code):
    if a.dtype.kind in "fc" and DTYPES[code].lstrip("u").startswith("int"):
        info = np.iinfo(DTYPES[code])
        part = a.real.astype(float)
        if not np.all((part >= float(info.min)) & (part < float(info.max))):
            raise Rejected


class Machine:
    """Registers and the meaning of each instruction. `exact` refuses what depends on rounding."""
    def __init__(self, exact):
        self.exact = exact
        self.regs = {}
        self.reads = []

    def get(self, r):
        return self.regs[r]

    def put(self, r, a, code=None):
        v = Value(a, code)
        if self.exact:
            check_exact(v.a, v.code)
        self.regs[r] = v

    def result_code(self, result, operands):
        if any(o.code == BF16 for o in operands) and result.dtype == np.float32:
            if any(o.code not in (BF16, 0) for o in operands):
                raise Rejected
            return BF16
        return None

    def call(self, f, operands):
        arrays = [o.a if isinstance(o, Value) else o for o in operands]
        values = [o for o in operands if isinstance(o, Value)]
        if any(v.code == BF16 for v in values) and any(v.code not in (BF16, 0) for v in values):
            raise Rejected
        if self.exact:
            self.refuse_rounding(f, arrays)
        special = f in SPECIAL or f in SPECIAL_PARAMETERS
        if special and any(np.asarray(a).dtype.kind == "c" for a in arrays):
            raise TypeError(f)
        with np.errstate(all="ignore"):
            if special:
                return owned(getattr(scipy.special, f.split(".")[1])(*arrays)), None
            result = owned(function(f)(*arrays))
        if any(v.code == BF16 for v in values) and result.dtype not in (np.float32, np.bool_):
            raise Rejected
        return result, self.result_code(result, values)

    def refuse_rounding(self, f, arrays):
        kinds = "".join(np.asarray(a).dtype.kind for a in arrays)
        if f in ("floor_divide", "remainder", "divide") and ("f" in kinds or f == "divide"):
            if not np.all(np.asarray(arrays[1]) != 0):
                raise Rejected
        if "c" in kinds and f in ("divide", "absolute", "sign"):
            raise Rejected

    def execute(self, op, args):
        getattr(self, "op_" + op)(*args)

    def op_data(self, d, t, shape, seed, lo, span, flavour):
        self.put(d, data_values(t, shape, seed, lo, span, flavour), t)

    def op_full(self, d, t, shape, v):
        self.put(d, np.full(shape, v, carrier(t)), t)

    def op_arange(self, d, t, start, stop, step):
        self.put(d, np.arange(start, stop, step, dtype=carrier(t)), t)

    def op_view(self, d, s, key):
        self.put(d, self.get(s).a[full_key(key)], self.get(s).code)

    def op_transpose(self, d, s, perm):
        self.put(d, self.get(s).a.transpose(perm), self.get(s).code)

    def op_reshape(self, d, s, shape):
        self.put(d, self.get(s).a.reshape(shape), self.get(s).code)

    def op_flip(self, d, s, axes):
        self.put(d, np.flip(self.get(s).a, tuple(axes)), self.get(s).code)

    def op_moveaxis(self, d, s, a, b):
        self.put(d, np.moveaxis(self.get(s).a, a, b), self.get(s).code)

    def op_squeeze(self, d, s):
        self.put(d, np.squeeze(self.get(s).a), self.get(s).code)

    def op_expand_dims(self, d, s, axis):
        self.put(d, np.expand_dims(self.get(s).a, axis), self.get(s).code)

    def op_broadcast_to(self, d, s, shape):
        self.put(d, np.broadcast_to(self.get(s).a, shape), self.get(s).code)

    def op_copy(self, d, s):
        self.put(d, owned(self.get(s).a), self.get(s).code)

    def op_astype(self, d, s, t):
        a = self.get(s).a
        if self.exact:
            check_cast(a, t)
        with np.errstate(all="ignore"):
            self.put(d, owned(a.astype(carrier(t))), t)

    def op_unary(self, d, f, a):
        self.put(d, *self.call(f, [self.get(a)]))

    def op_binary(self, d, f, a, b):
        self.put(d, *self.call(f, [self.get(a), self.get(b)]))

    def op_weak(self, d, f, a, flags, x):
        s = weak(flags, x)
        self.put(d, *self.call(f, [s, self.get(a)] if flags & LEFT else [self.get(a), s]))

    def op_where(self, d, c, a, b):
        x, y = self.get(a), self.get(b)
        if (x.code == BF16) != (y.code == BF16):
            raise Rejected
        r = owned(np.where(self.get(c).a, x.a, y.a))
        self.put(d, r, self.result_code(r, [x, y]))

    def op_clip(self, d, a, lo, hi):
        v = self.get(a)
        r = owned(np.clip(v.a, lo, hi))
        self.put(d, r, self.result_code(r, [v]))

    def update(self, target, code, f, operand):
        """target f= operand, through the view."""
        if not target.flags.writeable:
            raise Rejected
        tv = Value(target, code)
        result, rcode = self.call(f, [tv, operand])
        if not np.can_cast(carrier(rcode if rcode is not None else CODE[result.dtype]), target.dtype, "same_kind"):
            raise TypeError
        if result.shape != target.shape:
            raise ValueError
        self.store(target, code, result)

    def store(self, target, code, value):
        if not target.flags.writeable:
            raise Rejected
        if self.exact:
            check_cast(value, code)
            check_exact(value, CODE[value.dtype])
        with np.errstate(all="ignore"):
            cast = owned(value).astype(target.dtype)
        if self.exact:
            check_exact(cast, code)
        target[...] = cast

    def op_iop(self, t, f, s):
        self.update(self.get(t).a, self.get(t).code, f, self.get(s))

    def op_iweak(self, t, f, flags, x):
        self.update(self.get(t).a, self.get(t).code, f, weak(flags, x))

    def op_iset(self, t, key, f, s):
        self.update(self.get(t).a[full_key(key)], self.get(t).code, f, self.get(s))

    def op_iset_weak(self, t, key, f, flags, x):
        self.update(self.get(t).a[full_key(key)], self.get(t).code, f, weak(flags, x))

    def op_set(self, t, key, s):
        view, src = self.get(t).a[full_key(key)], self.get(s)
        np.broadcast_to(src.a, view.shape)
        self.store(view, self.get(t).code, src.a)

    def op_set_weak(self, t, key, flags, x):
        v = weak(flags, x)
        view = self.get(t).a[full_key(key)]
        self.store(view, self.get(t).code, assigned(v, view.dtype))

    def op_reduce(self, d, f, s, axes, flags, t):
        v = self.get(s)
        axis = None if flags & ALL_AXES else tuple(axes)
        if f.endswith(("argmin", "argmax")) and axis is not None:
            axis = axis[0]
        kw = {"axis": axis, "keepdims": bool(flags & KEEPDIMS)}
        source = v.a
        if t != NO_DTYPE:
            kw["dtype"] = carrier(t)
            source = source.astype(carrier(t))
        if self.exact:
            self.refuse_inexact_sum(f, source, v.code if t == NO_DTYPE else t)
        with np.errstate(all="ignore"):
            r = owned((REDUCTIONS[f] if f in REDUCTIONS else getattr(np, f))(v.a, **kw))
        code = None
        if t != NO_DTYPE and t == BF16 or v.code == BF16 and t == NO_DTYPE and r.dtype == np.float32:
            code = BF16
        self.put(d, r, code)

    def refuse_inexact_sum(self, f, source, code):
        if f in ("var", "std", "nanvar", "nanstd"):
            raise Rejected
        f = {"nansum": "sum", "nanprod": "prod", "nanmean": "mean"}.get(f, f)
        limit = exact_limit(code)
        if limit is None:
            limit = 2**53 if f == "mean" else None
        if limit is None or f not in ("sum", "prod", "mean"):
            return
        magnitude = np.abs(source.astype(complex) if source.dtype.kind == "c" else source.astype(float))
        total = np.prod(np.maximum(magnitude, 1)) if f == "prod" else np.sum(magnitude)
        if not total <= limit / (2 if source.dtype.kind == "c" else 1):
            raise Rejected

    def op_take_along_axis(self, d, s, i, axis):
        self.put(d, owned(np.take_along_axis(self.get(s).a, self.get(i).a, axis)), self.get(s).code)

    def op_take(self, d, s, i, axis):
        self.put(d, owned(np.take(self.get(s).a, self.get(i).a, axis)), self.get(s).code)

    def resolve(self, key):
        return full_key([self.regs[k].a if isinstance(k, Register) else k for k in key])

    def op_pick(self, d, s, key):
        self.put(d, owned(self.get(s).a[self.resolve(key)]), self.get(s).code)

    def pick_store(self, t, key, value):
        """Writes through a selection; `value` broadcasts to it."""
        v = self.get(t)
        if not v.a.flags.writeable:
            raise Rejected
        if self.exact:
            check_cast(value, v.code)
            check_exact(value, CODE[value.dtype])
        index = self.resolve(key)
        value = np.broadcast_to(value, v.a[index].shape)
        with np.errstate(all="ignore"):
            cast = owned(value).astype(v.a.dtype)
        if self.exact:
            check_exact(cast, v.code)
        v.a[index] = cast

    def op_pick_set(self, t, key, s):
        self.pick_store(t, key, self.get(s).a)

    def op_pick_set_weak(self, t, key, flags, x):
        v, kind = weak(flags, x), self.get(t).a.dtype
        self.pick_store(t, key, assigned(v, kind))

    def pick_update(self, t, key, f, operand):
        v = self.get(t)
        old = Value(owned(v.a[self.resolve(key)]), v.code)
        result, code = self.call(f, [old, operand])
        if not np.can_cast(carrier(code if code is not None else CODE[result.dtype]), v.a.dtype, "same_kind"):
            raise TypeError
        if result.shape != old.a.shape:
            raise ValueError
        self.pick_store(t, key, result)

    def op_pick_iset(self, t, key, f, s):
        self.pick_update(t, key, f, self.get(s))

    def op_pick_iset_weak(self, t, key, f, flags, x):
        self.pick_update(t, key, f, weak(flags, x))

    def op_pick_add(self, t, key, s):
        """Adds each time that an element is named; only where no order of the additions rounds."""
        v, source = self.get(t), self.get(s)
        if not v.a.flags.writeable or not self.exact:
            raise Rejected
        if not np.can_cast(carrier(source.code), carrier(v.code), "same_kind"):
            raise TypeError
        index = self.resolve(key)
        value = np.broadcast_to(source.a, v.a[index].shape).astype(v.a.dtype)
        if exact_limit(v.code) is not None:
            check_exact(value, v.code)
            total = np.abs(v.a).astype(float)
            np.add.at(total, index, np.abs(value).astype(float))
            if not np.all(total <= exact_limit(v.code)):
                raise Rejected
        np.add.at(v.a, index, value)

    def op_set_part(self, t, s, which):
        """x.real = e, x.imag = e."""
        v, e = self.get(t), self.get(s)
        if v.a.dtype.kind != "c" or e.a.dtype.kind == "c" or e.code == BF16:
            raise Rejected
        part = v.a.imag if which else v.a.real
        np.broadcast_to(e.a, part.shape)
        self.store(part, CODE[part.dtype], e.a)

    def op_part(self, d, s, which):
        """x.real, x.imag: views."""
        v = self.get(s)
        if v.a.dtype.kind != "c":
            raise Rejected
        self.put(d, v.a.imag if which else v.a.real)

    def op_masked(self, d, f, a, b, m):
        """f(a, b, where=m), with 0 elsewhere."""
        mask = self.get(m).a
        if mask.dtype != np.bool_:
            raise TypeError
        result, code = self.call(f, [self.get(a), self.get(b)])
        shape = np.broadcast_shapes(result.shape, mask.shape)
        self.put(d, owned(np.where(mask, np.broadcast_to(result, shape), result.dtype.type(0))), code)

    def op_ternary(self, d, f, a, b, c):
        self.put(d, *self.call(f, [self.get(a), self.get(b), self.get(c)]))

    def op_stored(self, t, f, a, m):
        """Writes parts of t; what is read of t itself is read before."""
        v, source, where = self.get(t), self.get(a), self.get(m)
        if not v.a.flags.writeable or source.code != v.code:
            raise Rejected
        after = owned(v.a)
        SIZED_LIKE[f][0](after, owned(source.a), owned(where.a))
        self.store(v.a, v.code, after)

    def op_drop(self, r):
        del self.regs[r]

    def op_alias(self, d, s):
        self.regs[d] = self.regs[s]

    def op_read(self, r):
        v = self.get(r)
        self.reads.append(Value(owned(v.a), v.code))

    def op_true(self, r):
        if not np.all(self.get(r).a):
            raise AssertionError("a condition that must hold does not hold in NumPy")

    def nothing(self, *args):
        pass

    op_eval = op_pin = op_mark = op_launches = op_held = op_fails = nothing


def assigned(v, kind):
    """A number on its way into an array; sinter refuses what does not fit, also where NumPy leaves it to C."""
    if isinstance(v, int):
        return np.asarray(np.asarray(v).astype(kind) if kind.kind in "fcb" else kind.type(v))
    if kind.kind in "iu" and not np.iinfo(kind).min <= int(v) <= np.iinfo(kind).max:
        raise OverflowError(f"{v} does not fit {kind}")
    return np.asarray(v)


def weak(flags, x):
    return float(x) if flags & FLOATING else int(x)


def picking_key_items(w, key):
    """As key_items, and 4: a register."""
    w.varint(len(key))
    for k in key:
        if isinstance(k, Register):
            w.u8(4)
            w.u8(k)
        else:
            one = Writer("")
            one.out.clear()
            key_items(one, [k])
            w.out += one.out[1:]  # without the count


def encode(op, args):
    w = Writer("")
    w.out.clear()
    w.u8(OPS[op])
    for kind, v in zip(SIGNATURES[op], args, strict=True):
        if kind in "rtb":
            w.u8(v)
        elif kind == "i":
            w.varint(v)
        elif kind == "s":
            w.dims(v)
        elif kind == "k":
            key_items(w, v)
        elif kind == "K":
            picking_key_items(w, v)
        elif kind == "f":
            w.varint(FUNCTIONS.index(v))
        else:
            w.f64(v)
    return bytes(w.out)


def read_bytes(v):
    """The elements as sinter stores them, negative zeros made positive: integers do not tell them apart."""
    a = v.a
    if a.dtype.kind in "fc":
        a = a + a.dtype.type(0)
    if v.code == BF16:
        return (np.ascontiguousarray(a).view(np.uint32) >> 16).astype(np.uint16).tobytes()
    return a.tobytes()


def write_program(w, number, family, exact, code, reads):
    w.case()
    w.varint(number)
    w.u8(family)
    w.u8(exact)
    w.varint(len(code))
    w.out += code
    if not exact:
        return
    w.varint(len(reads))
    for v in reads:
        data = read_bytes(v)
        w.u8(v.code)
        w.dims(v.a.shape)
        w.out += struct.pack("<I", zlib.crc32(data))
        small = len(data) <= 16
        w.u8(small)
        if small:
            w.out += data
