"""JAX's first and second derivatives at zeros, ties, of empty and of 0-d arrays, for tests/ops/derivatives/jax_edges_test.cpp:
python3 golden_derivative_edges.py > ../../ops/derivatives/jax_edges.inl

Needs jax (made with 0.10.2). A line is JAX_EDGE(name, order, shape, inputs, derivatives), complex numbers as pairs. The first
derivative is that of the sum of the (real part of the) result times cos(0), cos(1), ...; the second one is that of the sum of the
(real part of the) first one times sin(1), sin(2), ... Numbers that are NaN in JAX are left to the library.
"""
import jax
import jax.numpy as jnp
import jax.scipy.linalg as linalg
import jax.scipy.special as special
import numpy as np

jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(21)
ties = np.array([[1.0, 3, 3, 2], [0, 0, 0, 0], [2, 2, 1, -1]])
halves = np.array([[0.0, 0.5, -0.5, 0.25], [0.5, 0.5, 0.0, -0.25]])
whole = np.array([[0.0, 1, 1, 2], [3, 0.5, 2.5, 0]])
points = np.array([[-1.0, 0.4, 1.5, 0.41], [3, 0.5, -0.2, 0]])
signed = np.round(rng.uniform(-2, 2, (3, 4)), 3)
square = np.round(rng.uniform(-1, 1, (3, 3)) + 2 * np.eye(3), 3)
singular = np.array([[1.0, 2, 3], [2, 4, 6], [0, 1, 1]])
complex_ = np.round(rng.uniform(-1, 1, (3, 3)) + 1j * rng.uniform(-1, 1, (3, 3)) + 2 * np.eye(3), 3)
complex_zero = np.array([[0, 1, 1j], [1 - 1j, 0, -2]])
number, empty, one = np.array(0.75), np.zeros((0, 3)), np.array([0.0])
at = jnp.array([2, 0, 2, -1])

elementwise = {
    "absolute": jnp.abs, "square": jnp.square, "sin": jnp.sin, "cos": jnp.cos, "tan": jnp.tan, "sinh": jnp.sinh, "cosh": jnp.cosh,
    "tanh": jnp.tanh, "arctan": jnp.arctan, "arcsinh": jnp.arcsinh, "exp": jnp.exp, "expm1": jnp.expm1, "exp2": jnp.exp2,
    "sinc": jnp.sinc, "cube": lambda x: x ** 3, "power_one": lambda x: jnp.power(x, 1), "relu": lambda x: jnp.maximum(x, 0),
    "clip": lambda x: jnp.clip(x, 0.0, 2.0),
    "hypot": lambda x: jnp.hypot(x, 1.25), "arctan2": lambda x: jnp.arctan2(x, 1.0), "logaddexp": lambda x: jnp.logaddexp(x, 0.0),
    "logaddexp2": lambda x: jnp.logaddexp2(x, 1.0), "copysign": lambda x: jnp.copysign(x, -1.0), "remainder": lambda x: jnp.remainder(x, 0.7),
    "fmod": lambda x: jnp.fmod(x, 0.7), "where": lambda x: jnp.where(x > 0, x * x, -x), "expit": special.expit,
    "log_expit": jax.nn.log_sigmoid, "erf": special.erf, "erfc": special.erfc, "ndtr": special.ndtr, "log_ndtr": special.log_ndtr,
    "nan_to_num": jnp.nan_to_num,
    "deg2rad": jnp.deg2rad, "floor": jnp.floor, "sign": jnp.sign, "heaviside": lambda x: jnp.heaviside(x, 0.5),
}
inside = {"arcsin": jnp.arcsin, "arccos": jnp.arccos, "arctanh": jnp.arctanh, "log1p": jnp.log1p, "erfinv": special.erfinv}
bessel = {"i0": special.i0, "i0e": special.i0e, "i1": special.i1, "i1e": special.i1e}
positive = {"sqrt": jnp.sqrt, "log": jnp.log, "log2": jnp.log2, "reciprocal": jnp.reciprocal, "cbrt": jnp.cbrt, "entr": special.entr,
            "xlogy": lambda x: special.xlogy(2.0, x + 1), "xlog1py": lambda x: special.xlog1py(x, x), "power_self": lambda x: jnp.power(x, x),
            "power_half": lambda x: jnp.power(x, 0.5), "gammaln": lambda x: special.gammaln(x + 1), "digamma": lambda x: special.digamma(x + 1)}
arrays = {
    "minimum_flipped": lambda x: jnp.minimum(x, x[::-1]) ** 2,
    "sum": lambda x: jnp.sum(x * x, -1), "mean": lambda x: jnp.mean(x * x, 0), "prod": lambda x: jnp.prod(x, -1), "max": lambda x: jnp.max(x, -1) ** 2,
    "min": lambda x: jnp.min(x, 0) ** 2, "ptp": lambda x: jnp.ptp(x, -1) ** 2, "var": lambda x: jnp.var(x, -1),
    "logsumexp": lambda x: special.logsumexp(x, -1), "softmax": lambda x: jax.nn.softmax(x, -1), "log_softmax": lambda x: jax.nn.log_softmax(x, -1),
    "nanmax": lambda x: jnp.nanmax(x, -1) ** 2, "nansum": lambda x: jnp.nansum(x * x, -1), "average": lambda x: jnp.average(x, 0, jnp.exp(x)),
    "norm_1": lambda x: jnp.sum(jnp.abs(x), -1) ** 2, "median": lambda x: jnp.median(x, -1) ** 2, "quantile": lambda x: jnp.quantile(x, 0.3, -1) ** 2,
    "cumsum": lambda x: jnp.cumsum(x, -1) ** 2, "cumprod": lambda x: jnp.cumprod(x, -1), "cummax": lambda x: jax.lax.cummax(x, x.ndim - 1) ** 2,
    "cummin": lambda x: jax.lax.cummin(x, 0) ** 2, "logcumsumexp": lambda x: jax.lax.cumlogsumexp(x, x.ndim - 1), "sort": lambda x: jnp.sort(x, -1) ** 2,
    "sort_descending": lambda x: -jnp.sort(-x, -1) ** 2, "diff": lambda x: jnp.diff(x, axis=-1) ** 2, "roll": lambda x: jnp.roll(x, 1, -1) ** 2,
    "flip": lambda x: jnp.flip(x, -1) ** 2, "tile": lambda x: jnp.tile(x, (2, 2)) ** 2, "repeat": lambda x: jnp.repeat(x, 2, -1) ** 2,
    "pad": lambda x: jnp.pad(x, 1) ** 2, "pad_edge": lambda x: jnp.pad(x, 1, "edge") ** 2, "pad_reflect": lambda x: jnp.pad(x, 1, "reflect") ** 2,
    "pad_wrap": lambda x: jnp.pad(x, 1, "wrap") ** 2, "take": lambda x: x[:, at] ** 2, "tril": lambda x: jnp.tril(x) ** 2,
    "outer": lambda x: jnp.outer(x[0], x[-1]), "inner": lambda x: jnp.inner(x, x), "kron": lambda x: jnp.kron(x, x[0]),
    "matmul": lambda x: x @ x.T, "einsum": lambda x: jnp.einsum("ij,kj,ij->ik", x, x, x), "convolve": lambda x: jnp.convolve(x[0], x[-1]),
    "interp": lambda x: jnp.interp(x, jnp.array([-1.0, 0.4, 1.5, 4.0]), jnp.array([0.0, 2, 1, 3])), "trapezoid": lambda x: jnp.trapezoid(x * x),
    "set": lambda x: x.at[0].set(x[-1] ** 2) ** 2, "add_at": lambda x: x.at[jnp.array([0, 0, 1])].add(x[0] ** 2), "gradient": lambda x: jnp.gradient(x, axis=-1) ** 2,
    "take_along_axis": lambda x: jnp.take_along_axis(x, jnp.argmax(x, -1, keepdims=True), -1) ** 2, "concatenate": lambda x: jnp.concatenate([x, x * x], 0),
    "cov": lambda x: jnp.cov(x), "cross": lambda x: jnp.cross(x[:, :3], x[::-1, 1:]), "rfft": lambda x: jnp.abs(jnp.fft.rfft(x, axis=-1)) ** 2,
}
matrices = {"det": jnp.linalg.det, "trace": lambda x: jnp.trace(x) ** 2, "matrix_power": lambda x: jnp.linalg.matrix_power(x, 3),
            "inv": jnp.linalg.inv, "solve": lambda x: jnp.linalg.solve(x, x[0]), "slogdet": lambda x: jnp.linalg.slogdet(x)[1],
            "expm": lambda x: linalg.expm(x * 0.1), "cholesky": lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(3)),
            "eigvalsh": lambda x: jnp.linalg.eigvalsh(x + x.T), "svdvals": lambda x: jnp.linalg.svd(x, compute_uv=False),
            "triangular": lambda x: linalg.solve_triangular(x, x[0], lower=True), "nuclear": lambda x: jnp.linalg.norm(x, "nuc"),
            "pinv": jnp.linalg.pinv, "qr_r": lambda x: jnp.linalg.qr(x)[1] ** 2}
complexes = {"c_conj": lambda x: jnp.conj(x) * x * x, "c_square": jnp.square, "c_exp": jnp.exp, "c_sin": jnp.sin, "c_real": lambda x: jnp.real(x) ** 2 + 0j,
             "c_imag": lambda x: jnp.imag(x) ** 2 + 0j, "c_abs2": lambda x: jnp.abs(x) ** 2 + 0j, "c_tanh": jnp.tanh,
             "c_matmul": lambda x: x @ jnp.conj(x.T), "c_fft": lambda x: jnp.fft.fft(x) ** 2, "c_ifft": lambda x: jnp.fft.ifft(x, axis=0) ** 2,
             "c_prod": lambda x: jnp.prod(x, 0), "c_cumsum": lambda x: jnp.cumsum(x, 0) ** 2}
c_matrices = {"c_inv": jnp.linalg.inv, "c_det": jnp.linalg.det, "c_log": jnp.log, "c_sqrt": jnp.sqrt, "c_solve": lambda x: jnp.linalg.solve(x, x[0])}


def weighted(f):
    def loss(x):
        y = jnp.real(jnp.ravel(f(x)))
        return jnp.sum(y * jnp.cos(jnp.arange(y.size, dtype=jnp.float64)))
    return loss


def second(f):
    def loss(x):
        g = jnp.real(jnp.ravel(jax.grad(weighted(f))(x)))
        return jnp.sum(g * jnp.sin(jnp.arange(g.size, dtype=jnp.float64) + 1))
    return loss


def text(x):
    x = np.asarray(x).ravel()
    if np.iscomplexobj(x):
        x = np.stack([x.real, x.imag], 1).ravel()
    names = {"nan": "NAN", "inf": "INFINITY", "-inf": "-INFINITY"}
    return "LIST(" + ", ".join(names.get(repr(float(v)), repr(float(v))) for v in x) + ")"


def write(functions, inputs):
    for name, f in functions.items():
        for x in inputs:
            for order, of in ((1, weighted(f)), (2, second(f))):
                g = np.asarray(jax.grad(of)(jnp.asarray(x)))
                shape = ", ".join(str(n) for n in x.shape)
                print(f"JAX_EDGE({name}, {order}, ({shape}), {text(x)}, {text(g)})")


write(elementwise, [ties, number, empty])
write(bessel, [signed, number, empty])  # JAX's derivatives at 0 are not right: those of exp(abs(x))
write(inside, [halves, number, empty])
write(positive, [whole, number, empty])
write(arrays, [ties, signed])
write({"interp": arrays["interp"]}, [points])
write(matrices, [square])
write({"det": jnp.linalg.det}, [singular, np.zeros((3, 3))])
write(complexes, [complex_, complex_zero])
write(c_matrices, [complex_])
