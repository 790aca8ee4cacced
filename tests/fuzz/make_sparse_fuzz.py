#!/usr/bin/env python3
"""Makes sparse_programs.bin beside this script: random programs of sparse and dense arrays of all formats and dtypes, with what
SciPy makes of each instruction.

python3 tests/fuzz/make_sparse_fuzz.py [file]      (SciPy 1.17)

Elements are small whole numbers (and a few halves), so that sums are exact in any order. An instruction of which SciPy's result
is not that of the same instruction in the widest dtype of its kind has overflown, and is left out.
"""
import os
import sys
import warnings
from collections import Counter

import numpy as np
import scipy.sparse as sp

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/golden/make")
from golden_format import EXACT, ULP, Writer, ZERO_SIGN_FREE  # noqa: E402
from sparse_instructions import FAILING, INSTRUCTIONS, Unfit, weight_of  # noqa: E402

PROGRAMS, LONGEST = 600, 22
LIMIT = 1 << 20      # of elements; what is larger leaves the program


def wide(v):
    a = v.data if sp.issparse(v) else v
    if a.dtype.kind == "b":
        return v
    return v.astype({"c": np.complex128, "f": np.float64}.get(a.dtype.kind, np.int64))


def fresh_copy(v):
    """A copy; of bools without repeated places. These count once, as in NumPy's bools, and in toarray of SciPy's, which elsewhere
    counts each entry."""
    if not sp.issparse(v):
        return v
    v = v.copy()
    if v.dtype == bool:
        v.sum_duplicates()
    return v


def dense(v):
    return v.toarray() if sp.issparse(v) else np.asarray(v)


class Builder:
    def __init__(self, rng):
        self.rng, self.values, self.code = rng, [], []
        self.rows, self.columns = int(rng.integers(0, 9)), int(rng.integers(0, 9))
        if rng.random() < 0.1:
            self.rows = self.columns = int(rng.integers(9, 15))

    def below(self, n):
        return int(self.rng.integers(0, n))

    def pick(self, test=lambda v: True):
        """A register that passes; the later ones more often."""
        fit = [k for k, v in enumerate(self.values) if v is not None and test(v)]
        if not fit:
            raise Unfit
        return fit[max(self.below(len(fit)), self.below(len(fit)))]

    def run(self, name, registers=(), numbers=(), arrays=()):
        """Appends an instruction; the number of its register."""
        f = INSTRUCTIONS[name][1]
        operands = [self.values[r] for r in registers]
        results = as_list(f(*[fresh_copy(v) for v in operands], *numbers, *arrays))
        if operands and not INSTRUCTIONS[name][2].get("rounds"):
            again = as_list(f(*[wide(fresh_copy(v)) for v in operands], *numbers, *arrays))
            for r, s in zip(results, again):
                if not np.array_equal(dense(r), dense(s)):
                    raise Unfit
        for r in results:
            d = dense(r)
            if d.size > 1000 or d.dtype.kind in "fciu" and d.size and np.abs(d).max() > LIMIT:
                raise Unfit
        self.code.append((name, registers, numbers, arrays, results))
        self.values.append(results[0])
        return len(self.values) - 1

    def fails(self, name, registers=(), numbers=(), arrays=()):
        """An instruction that SciPy refuses, too."""
        f = INSTRUCTIONS[name][1]
        try:
            f(*[fresh_copy(self.values[r]) for r in registers], *numbers, *arrays)
        except (ValueError, IndexError, TypeError):
            self.code.append((name, registers, numbers, arrays, None))
            self.values.append(None)
            return
        raise Unfit

    def step(self):
        if self.rng.random() < 0.04:
            return FAILING[self.below(len(FAILING))](self)
        names = list(INSTRUCTIONS)
        weights = np.array([weight_of(n) for n in names])
        name = str(self.rng.choice(names, p=weights / weights.sum()))
        made = INSTRUCTIONS[name][0](self)
        return self.run(name, *made)


def as_list(result):
    """Results, in formats that sinter has."""
    results = result if isinstance(result, (tuple, list)) else [result]
    return [(r if r.format in ("csr", "csc", "coo") else r.tocsr()) if sp.issparse(r) else np.asarray(r) for r in results]


def write_elements(w, a):
    """An array: whole numbers as varints, others as they are."""
    parts = [a.real, a.imag] if a.dtype.kind == "c" else [a]
    if a.dtype.kind in "fc" and not all(np.array_equal(p, np.rint(p)) for p in parts):
        w.u8(0)
        return w.array(a)
    w.u8(1)
    w.array(np.zeros((0,), a.dtype))
    w.dims(a.shape)
    for x in a.ravel():
        w.varint(int(x.real))
        if a.dtype.kind == "c":
            w.varint(int(x.imag))


def write_result(w, name, r):
    about = INSTRUCTIONS[name][2]
    w.u8(sp.issparse(r))
    if sp.issparse(r):
        w.text(r.format if about.get("format") else "")
        w.varint(np.count_nonzero(r.toarray()) if about.get("nnz") == "nonzero" else -1)
    d = dense(r)
    if d.dtype == np.intp:
        d = d.astype(np.int64)
    w.policy(*((ULP, 8.0, ZERO_SIGN_FREE) if about.get("rounds") else (EXACT, 0.0, ZERO_SIGN_FREE)))
    write_elements(w, d)


def write_program(w, code):
    w.case()
    w.varint(len(code))
    for name, registers, numbers, arrays, results in code:
        w.text(name)
        w.dims(registers)
        w.dims(numbers)
        w.varint(len(arrays))
        for a in arrays:
            write_elements(w, np.asarray(a))
        w.varint(-1 if results is None else len(results))
        for r in results or ():
            write_result(w, name, r)


def main():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sparse_programs.bin")
    path = sys.argv[1] if len(sys.argv) > 1 else beside
    warnings.simplefilter("ignore")
    w, counts, failed = Writer("sparse programs"), Counter(), 0
    w.out[:8] = b"SNFUZZ2\n"
    for number in range(PROGRAMS):
        b = Builder(np.random.default_rng([16, number]))
        length = 5 + b.below(LONGEST - 5)
        for _ in range(40 * length):
            if len(b.code) >= length:
                break
            try:
                b.step()
            except (Unfit, OverflowError):
                pass
        write_program(w, b.code)
        counts.update(c[0] for c in b.code)
        failed += sum(c[4] is None for c in b.code)
    size = w.save(path)
    print(dict(sorted(counts.items())), f"{sum(counts.values())} instructions, {failed} that fail, {size / 1e6:.2f} MB")
    missing = set(INSTRUCTIONS) - set(counts)
    if missing:
        raise SystemExit(f"never drawn: {sorted(missing)}")


if __name__ == "__main__":
    main()
