"""Calls of functions by name: arrays, numbers and options in, arrays or an error out."""
import numpy as np

from golden_format import ABSOLUTE, EXACT, MODULUS, ULP, Writer, ZERO_SIGN_FREE

EQUAL = (EXACT, 0.0, ZERO_SIGN_FREE)


def ulp(n):
    return (ULP, float(n), ZERO_SIGN_FREE)


def modulus(n):
    return (MODULUS, float(n), ZERO_SIGN_FREE)


def absolute(bound):
    return (ABSOLUTE, float(bound), ZERO_SIGN_FREE)


class Calls:
    def __init__(self, subject):
        self.w = Writer(subject)

    def add(self, name, f, arrays=(), numbers=(), option="", policy=EQUAL):
        """Writes what f() gives: an array or several, or an error. `policy` may be a function of the result."""
        arrays = [np.asarray(a) for a in arrays]
        try:
            result = f()
        except (ValueError, TypeError, IndexError, ZeroDivisionError, RuntimeError, OverflowError):
            result = None
        w = self.w
        w.case()
        w.text(name)
        w.varint(len(arrays))
        for a in arrays:
            w.array(a)
        w.varint(len(numbers))
        for n in numbers:
            w.f64(float(n))
        w.text(option)
        w.u8(result is None)
        if result is None:
            return
        results = list(result) if isinstance(result, (tuple, list)) else [result]
        w.varint(len(results))
        for r in results:
            r = np.asarray(r)
            if r.dtype == np.intp:
                r = r.astype(np.int64)
            w.policy(*(policy(r) if callable(policy) else policy))
            w.array(r)

    def save(self, path):
        return self.w.save(path)


def numbers(rng, shape, dt, kind="random"):
    """Elements of a dtype: "random", "few" different ones, or "special" with NaN and infinities."""
    dt = np.dtype(dt)
    n = int(np.prod(shape, dtype=int))
    if dt == np.bool_:
        a = rng.integers(0, 2, n).astype(dt)
    elif dt.kind in "iu":
        low = 0 if dt.kind == "u" else -50
        a = rng.integers(low, 4 if kind == "few" else 60, n).astype(dt)
    else:
        def real():
            if kind == "few":
                return rng.integers(-2, 3, n).astype(float)
            r = rng.normal(size=n) * 3
            if kind == "special" and n:
                at = rng.random(n)
                r = np.where(at < 0.15, rng.choice([np.nan, np.nan, np.inf, -np.inf, 0.0, -0.0], n), r)
            return r
        a = (real() + 1j * real() if dt.kind == "c" else real()).astype(dt)
    return a.reshape(shape)
