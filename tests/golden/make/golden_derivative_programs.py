"""JAX's derivatives of random programs, for tests/ops/derivatives/jax_programs_test.cpp:
python3 golden_derivative_programs.py > ../../ops/derivatives/jax_programs.inl

Needs jax (made with 0.10.2). A line is JAX_PROGRAM(seed, "operation,first,second;...", values): each operation makes a (3, 4) array
of two that are there, which are two inputs at first. The value is the sum of the last four arrays times cos(0), cos(1), ...; the
values are it, the gradients by both inputs times cos(k), sin(k) and cos(2 k), and the products of the second derivatives with
sin(3 k) and cos(3 k) times the same, so 9 numbers.
"""
import random

import jax
import jax.numpy as jnp
import jax.scipy.special as special
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)
k12 = np.arange(12.0)
eye = jnp.eye(3)


def inputs(seed):
    """Numbers that both languages compute exactly alike."""
    k = np.arange(24) + 1
    all_ = ((k * 7919 + seed * 104729) * k % 1009) / 1009.0 * 2.0 - 1.0
    return jnp.asarray(all_[:12].reshape(3, 4)), jnp.asarray(all_[12:].reshape(3, 4))


def kept(f, a):
    return f(a, axis=1, keepdims=True)


operations = [
    lambda a, b: a + b,
    lambda a, b: a * b,
    lambda a, b: a - 0.5 * b,
    lambda a, b: a / (1.5 + b * b),
    lambda a, b: jnp.sin(a),
    lambda a, b: jnp.tanh(a) * b,
    lambda a, b: jnp.exp(-a * a),
    lambda a, b: jnp.sqrt(1 + a * a),
    lambda a, b: jnp.maximum(a, b),
    lambda a, b: jnp.where(a > b, a * b, b),
    lambda a, b: a - kept(jnp.mean, a),
    lambda a, b: a * jnp.max(a, 0, keepdims=True),
    lambda a, b: kept(jnp.sum, a * b) * a,
    lambda a, b: special.logsumexp(a, axis=1, keepdims=True) - b,
    lambda a, b: jnp.flip(a, 1) + b,
    lambda a, b: jnp.concatenate([a[1:], b[:1]]),
    lambda a, b: a[jnp.array([2, 0, 2])],
    lambda a, b: a[:, jnp.array([3, 1, 1, 0])] * b,
    lambda a, b: jnp.cumsum(a, 1),
    lambda a, b: jnp.sort(a, 1),
    lambda a, b: 0.1 * (a @ b.T) @ a,
    lambda a, b: jax.nn.softmax(a, 1),
    lambda a, b: jnp.roll(a, 1, 1) * b,
    lambda a, b: jnp.pad(a[:2, :3], ((0, 1), (1, 0)), mode="reflect"),
    lambda a, b: jnp.linalg.solve(a @ a.T + 3 * eye, b),
    lambda a, b: a.at[jnp.array([0, 2, 0])].add(b),
    lambda a, b: jnp.cumprod(1 + 0.1 * a, 0),
    lambda a, b: kept(jnp.prod, 1 + 0.2 * a) * b,
    lambda a, b: kept(jnp.var, a) * b,
    lambda a, b: jnp.median(a, 0, keepdims=True) + b,
    lambda a, b: a.T.reshape(3, 4),
    lambda a, b: a.at[1].set(b[0]),
    lambda a, b: (jnp.abs(a) + 0.1) ** 1.5,
    lambda a, b: jnp.arctan2(a, 1 + b * b),
    lambda a, b: jnp.clip(a, -0.5, 0.8),
    lambda a, b: jnp.fft.irfft(jnp.fft.rfft(a) * jnp.fft.rfft(b), n=4),
    lambda a, b: jnp.minimum(a, b) + lax.cummax(a, 1),
    lambda a, b: jnp.linalg.cholesky(a @ a.T + 2 * eye) @ b,
    lambda a, b: special.erf(a),
    lambda a, b: jnp.logaddexp(a, b),
    lambda a, b: lax.fori_loop(0, 20, lambda i, h: jnp.tanh(0.5 * h + a + 0.01 * i), b),
    lambda a, b: jnp.hypot(a, b + 2),
    lambda a, b: jnp.linalg.det(a @ b.T + 2 * eye) * a,
    lambda a, b: lax.scan(lambda h, x: (0.9 * h + x, h * x), a[0], jnp.tile(b, (8, 1)))[1][-3:],
    lambda a, b: jnp.einsum("ij,kj,kl->il", a, b, b) * 0.1,
    lambda a, b: jnp.interp(a, jnp.array([-1.0, 0.1, 1.2]), jnp.array([0.3, 1.0, -0.4])),
]


def value(program, x, y):
    registers = [x, y]
    for op, i, j in program:
        registers.append(operations[op](registers[i], registers[j]))
    weights = jnp.cos(jnp.asarray(k12)).reshape(3, 4)
    return sum(jnp.sum(r * weights) for r in registers[-4:])


def numbers_of(program, seed):
    x, y = inputs(seed)
    f = lambda x, y: value(program, x, y)
    grad = jax.grad(f, (0, 1))
    v = jnp.asarray(np.sin(3 * k12).reshape(3, 4)), jnp.asarray(np.cos(3 * k12).reshape(3, 4))
    g = grad(x, y)
    h = jax.jvp(grad, (x, y), v)[1]
    out = [f(x, y)]
    for one in g:
        out += [np.sum(np.asarray(one).ravel() * w) for w in (np.cos(k12), np.sin(k12), np.cos(2 * k12))]
    out += [np.sum(np.asarray(one).ravel() * np.cos(k12)) for one in h]
    return [float(v) for v in out]


source = random.Random(7)
made = seed = 0
while made < 240:
    seed += 1
    program = []
    for k in range(source.randint(4, 10)):
        # The newest arrays are taken more often, and each operation by turns, so that all are met.
        pick = lambda: max(source.randrange(2 + k), source.randrange(2 + k))
        program.append(((made * 11 + k * 5 + source.randrange(3)) % len(operations), pick(), pick()))
    numbers = numbers_of(program, seed)
    if not all(np.isfinite(numbers)) or max(map(abs, numbers)) > 1e6:
        continue
    made += 1
    text = ";".join(",".join(map(str, step)) for step in program)
    print(f'JAX_PROGRAM({seed}, "{text}", LIST({", ".join("%.14g" % v for v in numbers)}))')
