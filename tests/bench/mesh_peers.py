"""The rows of `sinter_bench --scaling` by JAX: arrays sharded over one and over N devices, programs compiled by jit.

Usage: mesh_peers.py [--devices N] [--small] [--only TEXT]
Without GPUs JAX's CPU is divided into N devices. A row that fails says why.
"""
import argparse
import os
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--devices", type=int, default=2)
parser.add_argument("--small", action="store_true")
parser.add_argument("--only", default="")
options = parser.parse_args()
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
if options.small:
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={options.devices} " + os.environ.get("XLA_FLAGS", "")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P  # noqa: E402


def ms_of(call, carried=None):
    """Least milliseconds of a call; what a call returns is what the next one gets where `carried` is given."""
    def batch(calls):
        nonlocal carried
        begin = time.perf_counter()
        for _ in range(calls):
            out = call() if carried is None else call(carried)
            if carried is not None:
                carried = out
            if options.small:  # on a CPU of few threads calls side by side wait for each other for ever
                jax.block_until_ready(out)
        jax.block_until_ready(out)
        return (time.perf_counter() - begin) * 1e3 / calls
    batch(1)
    once = batch(1)
    calls = min(max(int(100 / once), 1), 200)
    return once if once > 1500 else min(batch(calls) for _ in range(3))


class Place:
    def __init__(self, n):
        self.n = n
        self.mesh = Mesh(np.array(jax.devices()[:n]), ("x",))

    def on(self, *axes):
        return NamedSharding(self.mesh, P(*axes))

    def rows(self, shape, dtype=jnp.float32):
        """Numbers in [0, 1) of which each device makes its part."""
        def make():
            k = sum((jax.lax.broadcasted_iota(jnp.uint32, shape, a) * jnp.uint32(2654435761 + 40503 * a))
                    for a in range(len(shape)))
            k = (k ^ (k >> 15)) * jnp.uint32(2246822519)
            return ((k >> 8).astype(jnp.float32) / 2**24).astype(dtype)
        return jax.block_until_ready(jax.jit(make, out_shardings=self.on("x"))())

    def everywhere(self, shape, dtype=jnp.float32):
        return jax.device_put(self.rows(shape, dtype), self.on())


def haversine_argmin(p, q):
    lat1, lon1, lat2, lon2 = p[:, None, 0], p[:, None, 1], q[:, 0], q[:, 1]
    h = jnp.square(jnp.sin((lat2 - lat1) / 2)) + jnp.cos(lat1) * jnp.cos(lat2) * jnp.square(jnp.sin((lon2 - lon1) / 2))
    d = 2 * 6371.0088 * jnp.arcsin(jnp.sqrt(jnp.minimum(h, 1)))
    i = jnp.argmin(d, 1, keepdims=True)
    return i[:, 0], jnp.take_along_axis(d, i, 1)[:, 0]


def search(at, m):
    p, q = at.rows((m, 2)), at.everywhere((2**7 if options.small else 2**14, 2))
    f = jax.jit(haversine_argmin)
    return ms_of(lambda: f(p, q))


def diffusion(at, side):
    u = at.rows((side * at.n, side))
    def step(u):
        inner = u[1:-1, 1:-1] + 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
        return u.at[1:-1, 1:-1].set(inner)
    return ms_of(jax.jit(step, donate_argnums=0, out_shardings=at.on("x")), u)


def total(at, n):
    x = at.rows((n // 2**8, 2**8))
    f = jax.jit(jnp.sum, out_shardings=at.on())
    return ms_of(lambda: f(x))


def product(at, n):
    a, b = at.rows((n, n), jnp.bfloat16), at.everywhere((n, n), jnp.bfloat16)
    f = jax.jit(jnp.matmul, out_shardings=at.on("x"))
    return ms_of(lambda: f(a, b))


def ordered(at, n):
    x = at.rows((n,))
    f = jax.jit(jnp.sort, out_shardings=at.on("x"))
    return ms_of(lambda: f(x))


def power(large, small):
    return 2 ** (small if options.small else large)


ROWS = [  # name, program, size on one device, whether N devices get N times as much
    ("sum of float32", total, power(31, 16), "weak, by elements"),
    ("matmul of bfloat16, the second everywhere", product, power(15, 7), "strong"),
    ("diffusion by slices, a step", diffusion, power(15, 7), "weak"),
    ("search by its plain lines, 2^22 points", search, power(22, 12), "strong"),
    ("sort of float32", ordered, power(30, 14), "strong"),
]

print(f"JAX {jax.__version__} on {jax.devices()[0].device_kind}, {len(jax.devices())} devices\n", flush=True)
print(f"| work | one device, ms | {options.devices}, ms | times one |\n| --- | ---: | ---: | ---: |", flush=True)
for name, work, size, kind in ROWS:
    if options.only and not any(text in name for text in options.only.split(",")):
        continue
    times = []
    for n in (1, options.devices):
        try:
            times.append(work(Place(n), size * n if kind == "weak, by elements" else size))
        except Exception as e:  # out of memory, or not partitioned: the other rows go on
            print(f"{name} on {n}: {str(e).splitlines()[0][:160]}", file=sys.stderr, flush=True)
            times.append(float("nan"))
    gain = times[0] / times[1] * (options.devices if kind.startswith("weak") else 1)
    print(f"| {name}, {size}{' for each device' if kind.startswith('weak') else ''} | {times[0]:.3f} | "
          f"{times[1]:.3f} | {gain:.2f} |", flush=True)
