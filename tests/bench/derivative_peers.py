"""Times the rows of sinter_bench --derivatives for other libraries: derivative_peers.py [jax] [torch] [--small] [--only TEXT].

--small: the sizes that sinter_bench takes on a CPU. Each row has a time limit of 60 s for its first call, after which the
rest of the library's rows still run."""
import signal
import sys

from solver_peers import steady_ms

only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
small = "--small" in sys.argv


class late(Exception):
    pass


def stop(*_):
    raise late


signal.signal(signal.SIGALRM, stop)


def row(name, f, wait):
    if only and only not in name:
        return
    signal.alarm(60)
    try:
        print(f"| {name} | {steady_ms(f, wait):.4f} | |", flush=True)
    except BaseException as e:  # what a library does not offer, or not in time
        if isinstance(e, KeyboardInterrupt):
            raise
        print(f"| {name} | {type(e).__name__} | |", flush=True)
    finally:
        signal.alarm(0)


def numbers(np, shape, low, high):
    n = 1
    for extent in shape:
        n *= extent
    i = np.arange(n, dtype=np.int64) * 48271 % 65521
    return (i.astype(np.float32) * np.float32((high - low) / 65521.0) + np.float32(low)).reshape(shape)


def sizes():
    return dict(atoms=2048 if small else 16384, batch=512 if small else 4096, width=256 if small else 1024,
                examples=256 if small else 4096, options=1 << (18 if small else 24), state=64 if small else 512)


def of_network(np, inner, hidden):
    return (numbers(np, (inner, hidden), -.1, .1), numbers(np, (hidden,), -.1, .1), numbers(np, (hidden, 10), -.1, .1),
            numbers(np, (10,), -.1, .1))


def one_hot(np, n):
    return (np.arange(n)[:, None] % 10 == np.arange(10)).astype(np.float32)


def power_name(n):
    return f"2^{n.bit_length() - 1}"


def jax_rows():
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.scipy.special import ndtr

    z = sizes()
    print(f"| jax {jax.__version__} {jax.devices()[0].device_kind} | ms | |\n| --- | ---: | ---: |")
    last = [None]

    def keep(f):
        def call():
            last[0] = f()
        return call

    def wait():
        jax.block_until_ready(last[0])

    def put(x):
        return jax.tree.map(jnp.asarray, x)

    def energy(x, by_sum=False):
        apart = [x[k, :, None] - x[k, None, :] for k in range(3)]
        square = (jnp.sum(jnp.square(x[:, :, None] - x[:, None, :]), 0) if by_sum else
                  apart[0] ** 2 + apart[1] ** 2 + apart[2] ** 2)
        self = jnp.arange(x.shape[1])[:, None] == jnp.arange(x.shape[1])
        r2 = 1 / jnp.where(self, 1, square)
        r6 = r2 * r2 * r2
        return 2 * jnp.sum(jnp.where(self, 0, r6 * r6 - r6))

    x = put(numbers(np, (3, z["atoms"]), 0, 30))
    value, force = jax.jit(energy), jax.jit(jax.grad(energy))
    row(f"Lennard-Jones energy of {z['atoms']}", keep(lambda: value(x)), wait)
    row(f"Lennard-Jones energy of {z['atoms']}, gradient", keep(lambda: force(x)), wait)
    sum_value, sum_force = jax.jit(lambda x: energy(x, True)), jax.jit(jax.grad(lambda x: energy(x, True)))
    row(f"Lennard-Jones energy of {z['atoms']}, by a sum over axes", keep(lambda: sum_value(x)), wait)
    row(f"Lennard-Jones energy of {z['atoms']}, by a sum over axes, gradient", keep(lambda: sum_force(x)), wait)

    def cross_entropy(scores, y):
        return -jnp.sum(jax.nn.log_softmax(scores) * y)

    def loss(n, x, y):
        hidden = jnp.maximum(x @ n[0] + n[1], 0)
        return cross_entropy(hidden @ n[2] + n[3], y) / x.shape[0]

    with jax.default_matmul_precision("highest"):
        n = put(of_network(np, z["width"], z["width"]))
        xs, ys = put(numbers(np, (z["batch"], z["width"]), -1, 1)), put(one_hot(np, z["batch"]))
        both = jax.jit(jax.value_and_grad(loss))
        row(f"value_and_grad of a network, {z['batch']} x {z['width']} x {z['width']} x 10", keep(lambda: both(n, xs, ys)),
            wait)

        def one(n, x, y):
            return cross_entropy(jnp.tanh(x @ n[0] + n[1]) @ n[2] + n[3], y)

        m = put(of_network(np, 784, 128))
        images, labels = put(numbers(np, (z["examples"], 784), 0, 1)), put(one_hot(np, z["examples"]))
        each = jax.jit(jax.vmap(jax.grad(one), (None, 0, 0)))
        row(f"gradients of each of {z['examples']} examples, 784-128-10", keep(lambda: each(m, images, labels)), wait)

    def price(s, v, t, r):
        root = v * jnp.sqrt(t)
        d1 = (jnp.log(s / 100) + (r + v * v / 2) * t) / root
        return s * ndtr(d1) - 100 * jnp.exp(-r * t) * ndtr(d1 - root)

    def greeks(s, v, t, r):
        delta, vega, theta, rho = jax.vmap(jax.grad(price, (0, 1, 2, 3)))(s, v, t, r)
        return price(s, v, t, r), delta, vega, theta, rho, jax.vmap(jax.grad(jax.grad(price)))(s, v, t, r)

    k = z["options"]
    options = put([numbers(np, (k,), *a) for a in ((50, 150), (.1, .5), (.1, 2), (0, .1))])
    all_greeks = jax.jit(greeks)
    row(f"Black-Scholes with five greeks, {power_name(k)}", keep(lambda: all_greeks(*options)), wait)
    copies = jax.jit(lambda s, v, t, r: (s + v, t + r, -s, -v, -t, -r))
    row(f"copy of four arrays to six, {power_name(k)}", keep(lambda: copies(*options)), wait)

    def adam(p, g, m, v):
        m = [.9 * a + .1 * b for a, b in zip(m, g)]
        v = [.999 * a + .001 * b * b for a, b in zip(v, g)]
        return [a - 1e-3 * b / (jnp.sqrt(c) + 1e-8) for a, b, c in zip(p, m, v)], m, v

    parts = [put([numbers(np, (1000,), 1, 2)] * 100) for _ in range(4)]
    step = jax.jit(adam)
    row("Adam step of 100 parameters, called", keep(lambda: step(*parts)), wait)

    noise = put(numbers(np, (10000,), -1, 1))
    filtered = jax.jit(lambda x: jax.lax.scan(lambda h, a: (.9 * h + a,) * 2, jnp.float32(0), x))
    row("scan of 10000 numbers, 0.9 h + x", keep(lambda: filtered(noise)), wait)
    w, u = put(numbers(np, (z["state"],) * 2, -.05, .05)), put(numbers(np, (200, z["state"]), -1, 1))
    recurrent = jax.jit(lambda w, u: jax.lax.scan(lambda h, a: (jnp.tanh(w @ h + a),) * 2, jnp.zeros(z["state"]), u))
    row(f"scan of a recurrent network, 200 steps of {z['state']}", keep(lambda: recurrent(w, u)), wait)
    a = put(numbers(np, (1 << 16,), 1, 100))
    roots = jax.jit(lambda a: jax.lax.while_loop(lambda s: jnp.max(jnp.abs(s[0] - s[1])) > 1e-3,
                                                 lambda s: (.5 * (s[0] + a / s[0]), s[0]), (a, a + 1)))
    row("while_loop of Newton's roots, 2^16", keep(lambda: roots(a)), wait)


def torch_rows():
    import numpy as np
    import torch

    z = sizes()
    device = "cpu" if small else "cuda"
    print(f"| torch {torch.__version__} compiled | ms | |\n| --- | ---: | ---: |")
    wait = (lambda: None) if small else torch.cuda.synchronize
    torch.set_float32_matmul_precision("highest")

    def put(x):
        return torch.tensor(x, device=device)

    def energy(x, by_sum=False):
        apart = [x[k, :, None] - x[k, None, :] for k in range(3)]
        square = ((x[:, :, None] - x[:, None, :]).square().sum(0) if by_sum else
                  apart[0] ** 2 + apart[1] ** 2 + apart[2] ** 2)
        i = torch.arange(x.shape[1], device=device)
        self = i[:, None] == i
        r2 = 1 / torch.where(self, 1.0, square)
        r6 = r2 * r2 * r2
        return 2 * torch.where(self, 0.0, r6 * r6 - r6).sum()

    x = put(numbers(np, (3, z["atoms"]), 0, 30))
    value, force = torch.compile(energy), torch.compile(torch.func.grad(energy))
    row(f"Lennard-Jones energy of {z['atoms']}", lambda: value(x), wait)
    row(f"Lennard-Jones energy of {z['atoms']}, gradient", lambda: force(x), wait)
    sum_value = torch.compile(lambda x: energy(x, True))
    sum_force = torch.compile(torch.func.grad(lambda x: energy(x, True)))
    row(f"Lennard-Jones energy of {z['atoms']}, by a sum over axes", lambda: sum_value(x), wait)
    row(f"Lennard-Jones energy of {z['atoms']}, by a sum over axes, gradient", lambda: sum_force(x), wait)

    def cross_entropy(scores, y):
        return -(torch.log_softmax(scores, -1) * y).sum()

    def loss(n, x, y):
        return cross_entropy(torch.relu(x @ n[0] + n[1]) @ n[2] + n[3], y) / x.shape[0]

    n = tuple(put(a) for a in of_network(np, z["width"], z["width"]))
    xs, ys = put(numbers(np, (z["batch"], z["width"]), -1, 1)), put(one_hot(np, z["batch"]))
    both = torch.compile(torch.func.grad_and_value(loss))
    row(f"value_and_grad of a network, {z['batch']} x {z['width']} x {z['width']} x 10", lambda: both(n, xs, ys), wait)

    def one(n, x, y):
        return cross_entropy(torch.tanh(x @ n[0] + n[1]) @ n[2] + n[3], y)

    m = tuple(put(a) for a in of_network(np, 784, 128))
    images, labels = put(numbers(np, (z["examples"], 784), 0, 1)), put(one_hot(np, z["examples"]))
    each = torch.compile(torch.vmap(torch.func.grad(one), (None, 0, 0)))
    row(f"gradients of each of {z['examples']} examples, 784-128-10", lambda: each(m, images, labels), wait)

    def price(s, v, t, r):
        root = v * torch.sqrt(t)
        d1 = (torch.log(s / 100) + (r + v * v / 2) * t) / root
        return s * torch.special.ndtr(d1) - 100 * torch.exp(-r * t) * torch.special.ndtr(d1 - root)

    def total(s, v, t, r):
        return price(s, v, t, r).sum()

    def greeks(s, v, t, r):
        gamma = torch.func.grad(lambda s: torch.func.grad(total)(s, v, t, r).sum())(s)
        return price(s, v, t, r), *torch.func.grad(total, (0, 1, 2, 3))(s, v, t, r), gamma

    k = z["options"]
    options = [put(numbers(np, (k,), *a)) for a in ((50, 150), (.1, .5), (.1, 2), (0, .1))]
    all_greeks = torch.compile(greeks)
    row(f"Black-Scholes with five greeks, {power_name(k)}", lambda: all_greeks(*options), wait)


if __name__ == "__main__":
    libraries = {"jax": jax_rows, "torch": torch_rows}
    for name in [a for a in sys.argv[1:] if a in libraries] or libraries:
        libraries[name]()
