"""JAX's derivatives for tests/ops/derivatives/jax_test.cpp: python3 golden_derivatives.py > ../../ops/derivatives/jax_values.inl

Needs jax (made with 0.10.2). A line is JAX_GRADIENT(name, shape, inputs, gradient), complex numbers as pairs; the functions of
these names are in the test. The gradient is that of the sum of the (real part of the) result times cos(0), cos(1), ...
"""
import jax
import jax.numpy as jnp
import jax.scipy.special as special
import numpy as np

jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(20)
positive = np.round(rng.uniform(0.2, 0.9, (3, 4)), 3)
signed = np.round(rng.uniform(-2, 2, (3, 4)), 3)
ties = np.array([[1.0, 3, 3, 2], [0, 0, 0, 0], [2, 2, 1, -1]])
zeros = np.array([[2.0, 0, 3, 4], [0, 0, 1, 2], [1, 2, 3, 4]])
square = np.round(rng.uniform(-1, 1, (3, 3)) + 2 * np.eye(3), 3)
complex_ = np.round(rng.uniform(-1, 1, (3, 3)) + 1j * rng.uniform(-1, 1, (3, 3)) + 2 * np.eye(3), 3)

cases = [
    ("absolute", jnp.abs, ties), ("sign", jnp.sign, signed), ("sqrt", jnp.sqrt, positive), ("cbrt", jnp.cbrt, signed),
    ("tanh", jnp.tanh, signed), ("power", lambda x: x ** 3, ties), ("power_zero", lambda x: jnp.power(x, 0.0), ties),
    ("maximum", lambda x: jnp.maximum(x, 2.0), ties), ("minimum", lambda x: jnp.minimum(x, x[::-1]), ties),
    ("clip", lambda x: jnp.clip(x, 0.5, 2.5), ties), ("erfinv", special.erfinv, positive), ("gammaln", special.gammaln, positive),
    ("digamma", special.digamma, positive), ("i0e", special.i0e, signed), ("xlogy", lambda x: special.xlogy(x, x), positive),
    ("max", lambda x: jnp.max(x, 1), ties), ("min", lambda x: jnp.min(x, 0), ties), ("max_all", lambda x: jnp.max(x), ties),
    ("prod", lambda x: jnp.prod(x, 1), zeros), ("cumprod", lambda x: jnp.cumprod(x, 1), zeros),
    ("var", lambda x: jnp.var(x, 1), signed), ("std", lambda x: jnp.std(x, 0), signed),
    ("logsumexp", lambda x: special.logsumexp(x, 1), signed), ("softmax", lambda x: jax.nn.softmax(x, 1), signed),
    ("sort", lambda x: jnp.sort(x, 1), signed), ("cumsum", lambda x: jnp.cumsum(x, 0), signed),
    ("median", lambda x: jnp.median(x, 1), signed), ("norm", lambda x: jnp.linalg.norm(x), signed),
    ("take", lambda x: x[jnp.array([2, 0, 2])], signed), ("cholesky", lambda x: jnp.linalg.cholesky(x @ x.T), square),
    ("cholesky_of_lower", jnp.linalg.cholesky, square @ square.T),
    ("det", jnp.linalg.det, square), ("inv", jnp.linalg.inv, square), ("slogdet", lambda x: jnp.linalg.slogdet(x)[1], square),
    ("solve", lambda x: jnp.linalg.solve(x, x[:2].T), square), ("eigvalsh", jnp.linalg.eigvalsh, square @ square.T),
    ("svdvals", lambda x: jnp.linalg.svd(x, compute_uv=False), square), ("qr_r", lambda x: jnp.linalg.qr(x)[1] ** 2, square),
    ("c_absolute", jnp.abs, complex_), ("c_exp", jnp.exp, complex_), ("c_square", lambda x: x * jnp.conj(x) * x, complex_),
    ("c_angle", jnp.angle, complex_), ("c_solve", lambda x: jnp.linalg.solve(x, x.T), complex_), ("c_det", jnp.linalg.det, complex_),
    ("c_eigvalsh", lambda x: jnp.linalg.eigvalsh(x @ jnp.conj(x.T)), complex_), ("c_fft", lambda x: jnp.abs(jnp.fft.fft(x)), complex_),
    ("rfft", lambda x: jnp.fft.rfft(x), signed), ("c_irfft", lambda x: jnp.fft.irfft(x, axis=1), complex_),
]


def text(x):
    x = np.asarray(x).ravel()
    if np.iscomplexobj(x):
        x = np.stack([x.real, x.imag], 1).ravel()
    return "{" + ", ".join(repr(float(v)) for v in x) + "}"


for name, f, x in cases:
    def loss(x):
        y = jnp.ravel(f(x))
        return jnp.sum(jnp.real(y) * jnp.cos(jnp.arange(y.size)))
    g = np.asarray(jax.grad(loss)(jnp.asarray(x)))
    assert np.all(np.isfinite(g)), name
    print(f"JAX_GRADIENT({name}, ({x.shape[0]}, {x.shape[1]}), {text(x)}, {text(g)})".replace("{", "LIST(").replace("}", ")"))
