"""Fourier transforms (NumPy), cosine and sine transforms and convolutions (SciPy): axes, lengths, norms, dtypes."""
import numpy as np
import scipy.fft
import scipy.signal

from golden_format import ABSOLUTE, EXACT, Writer, ZERO_SIGN_FREE

NORMS = ["backward", "ortho", "forward"]
REAL = ["bool", "int8", "int32", "uint16", "int64", "float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
SHAPES = [(1,), (2,), (3,), (8,), (12,), (31,), (64,), (4, 5), (3, 1, 6), (2, 3, 4), (7, 16), (2, 3, 2, 4), (0, 4), (5, 0, 2)]
NONE = -99


def values(rng, shape, dtype):
    if dtype == "bool":
        return rng.random(shape) < 0.5
    v = rng.integers(0 if dtype.startswith("u") else -50, 50, shape) if "int" in dtype else rng.normal(size=shape)
    if dtype.startswith("complex"):
        v = v + 1j * rng.normal(size=shape)
    return np.asarray(v).astype(dtype)


def single(x):
    return x.dtype in (np.float16, np.float32, np.complex64)


def wide(x):
    return x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble)


def rounded(x, result):
    """A result in long double as the dtype that it has in the input's precision."""
    kind = "complex" if result.dtype.kind == "c" else "float"
    bits = (64 if single(x) else 128) if kind == "complex" else (32 if single(x) else 64)
    return result.astype(f"{kind}{bits}")


def bound(x, result, points):
    """Errors grow with the logarithm of the points; they are relative to the length of the whole vector."""
    eps = np.finfo(np.float32 if single(x) else np.float64).eps
    size = float(np.sqrt((np.abs(result.astype(np.clongdouble)) ** 2).sum())) if result.size else 0.0
    return 3.0 * float(eps) * (1 + np.log2(max(points, 1))) * max(size, 1e-30)


def write_case(w, name, arrays, numbers, norm, result, bound=None):
    w.case()
    w.text(name)
    w.varint(len(arrays))
    for a in arrays:
        w.array(a)
    w.dims(numbers)
    w.text(norm)
    w.policy(EXACT if bound is None else ABSOLUTE, bound or 0.0, ZERO_SIGN_FREE)
    w.array(result)


def write_axis_functions(w, rng):
    for name in ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]:
        for k, shape in enumerate(SHAPES):
            real = name in ("rfft", "ihfft")
            for dtype in REAL if real else REAL[::2] + COMPLEX:
                axis = int(rng.integers(-len(shape), len(shape)))
                extent = shape[axis]
                n = [None, max(extent - 2, 1), extent + 3, 2 * extent + 1][int(rng.integers(0, 4))]
                if (extent == 0 or (name in ("irfft", "hfft") and extent == 1)) and n is None:
                    n = 4
                x, norm = values(rng, shape, dtype), NORMS[int(rng.integers(0, 3))]
                if extent == 0:
                    continue
                result = rounded(x, getattr(np.fft, name)(wide(x), n, axis, norm))
                write_case(w, name, [x], [NONE if n is None else n, axis], norm, result, bound(x, result, extent + (n or 0)))


def write_several_axes(w, rng):
    for name in ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]:
        for shape in [(4, 5), (3, 6), (2, 3, 4), (7, 16), (2, 3, 2, 4), (2, 1, 3, 2, 2), (0, 4, 6)]:
            for dtype in (["float32", "float64", "int32"] if name.startswith("r") else ["float32", "complex64", "complex128"]):
                count = 2 if name.endswith("2") else int(rng.integers(1, len(shape) + 1))
                axes = [int(a) for a in rng.permutation(len(shape))[:count]]
                if 0 in [shape[a] for a in axes]:
                    axes = [1, 2][:count]
                if rng.random() < 0.15 and not name.startswith(("r", "ir")):
                    axes = axes + [axes[0]]
                s = [int(rng.integers(1, 9)) for _ in axes] if rng.random() < 0.5 else None
                halved = shape[axes[-1]]
                if s is None and name.startswith("ir") and halved == 1:
                    s = [4] * len(axes)
                x, norm = values(rng, shape, dtype), NORMS[int(rng.integers(0, 3))]
                result = rounded(x, np.asarray(getattr(np.fft, name)(wide(x), s, axes, norm)))
                points = int(np.prod([shape[a] for a in axes]))
                write_case(w, name, [x], [len(axes)] + axes + (s or []), norm, result, bound(x, result, points * 4))


def write_cosines(w, rng):
    for name in ["dct", "idct", "dst", "idst"]:
        for kind in range(1, 5):
            for shape in [(2,), (3,), (8,), (9,), (1, 31), (4, 5), (3, 2, 6)]:
                for dtype in ["float64", "float32", "int32", "complex128"]:
                    axis = int(rng.integers(-len(shape), len(shape)))
                    extent = shape[axis]
                    n = [None, extent + 3][int(rng.integers(0, 2))]
                    if extent == 1:
                        n = 5
                    norm, orthogonal = NORMS[int(rng.integers(0, 3))], [None, True, False][int(rng.integers(0, 3))]
                    if dtype.startswith("complex"):
                        orthogonal = None   # SciPy leaves the keyword out for complex numbers
                    x = values(rng, shape, dtype)
                    f = getattr(scipy.fft, name)
                    result = rounded(x, f(wide(x), kind, n, axis, norm, orthogonalize=orthogonal))
                    numbers = [kind, NONE if n is None else n, axis, -1 if orthogonal is None else int(orthogonal)]
                    write_case(w, name, [x], numbers, norm, result, bound(x, result, 4 * extent))
    for name in ["dctn", "idctn", "dstn", "idstn"]:
        for kind in range(1, 5):
            x = values(rng, (3, 4, 5), "float64")
            axes = [int(a) for a in rng.permutation(3)[:2]]
            norm = NORMS[int(rng.integers(0, 3))]
            result = rounded(x, getattr(scipy.fft, name)(wide(x), kind, None, axes, norm))
            write_case(w, name, [x], [kind] + axes, norm, result, bound(x, result, 100))


def write_convolutions(w, rng):
    for a, b in [((5,), (3,)), ((3,), (5,)), ((1,), (4,)), ((40,), (40,)), ((5, 6), (2, 3)), ((4, 3), (3, 4)), ((2, 7), (2, 4)),
                 ((3, 4, 5), (2, 2, 2)), ((5, 1), (5, 3))]:
        for first, second in [("float64", "float64"), ("float32", "float32"), ("int32", "float32"), ("complex64", "float32"),
                              ("float64", "complex128")]:
            for mode in ["full", "same", "valid"]:
                axes = [None, [len(a) - 1]][int(rng.integers(0, 2))]
                x, y = values(rng, a, first), values(rng, b, second)
                try:
                    result = scipy.signal.fftconvolve(wide(x), wide(y), mode, axes)
                except ValueError:
                    continue
                narrow = x if single(x) and single(y) else np.float64(0)
                result = rounded(np.asarray(narrow), result)
                full = scipy.signal.fftconvolve(np.abs(x.astype(complex)), np.abs(y.astype(complex)), "full", axes)
                eps = np.finfo(np.float32 if single(np.asarray(narrow)) else np.float64).eps
                scale = float(np.abs(full).max()) if full.size else 1.0
                write_case(w, "fftconvolve", [x, y], axes or [], mode, result, 60 * float(eps) * scale)


def write_helpers(w, rng):
    for n in range(1, 12):
        for d in [1.0, 0.1, 3.0]:
            write_case(w, "fftfreq", [np.array(d)], [n], "", np.fft.fftfreq(n, d))
            write_case(w, "rfftfreq", [np.array(d)], [n], "", np.fft.rfftfreq(n, d))
    for shape in [(1,), (4,), (5,), (3, 4), (2, 3, 5)]:
        x = values(rng, shape, "int64")
        for axes in [None] + [[int(a) for a in rng.permutation(len(shape))[:k]] for k in range(1, len(shape) + 1)]:
            write_case(w, "fftshift", [x], axes or [], "", np.fft.fftshift(x, axes))
            write_case(w, "ifftshift", [x], axes or [], "", np.fft.ifftshift(x, axes))
    for n in [0, 1, 6, 7, 13, 17, 97, 101, 1021, 4097, 65537, 999999, 12345678]:
        for real in (0, 1):
            write_case(w, "next_fast_len", [], [n, real], "", np.int64(scipy.fft.next_fast_len(n, bool(real)) if n else 0))


def write_fft(path, rng):
    w = Writer("fft")
    for part in (write_axis_functions, write_several_axes, write_cosines, write_convolutions, write_helpers):
        part(w, rng)
    return w.save(path)
