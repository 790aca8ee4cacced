"""Ten further NumPy and SciPy programs of any size, each of one vector of numbers in [0, 1): statistics, polynomials, borders, windows,
special functions, gaps; tests/golden/programs has the same lines in C++ (sized_everyday.cpp)."""
import numpy as np
import scipy.special as sp

from golden_calls import Calls
from golden_more_programs import draws
from golden_sized_programs import close


def bootstrap(u):
    """A mean and a median with intervals by resampling, the error of each, and weights of a jackknife."""
    n = len(u) // 3
    x = -np.log1p(-u[:n])
    at = (u[n:3 * n].reshape(2, n) * n).astype(np.int64)
    rounds = np.stack([x[np.roll(at, k, axis=1)[k % 2]] * (1 + 0.01 * k) for k in range(20)])
    mean = rounds.mean(axis=1, keepdims=True)
    spread = np.std(rounds, axis=1, ddof=1, mean=mean)
    middle = np.median(rounds, axis=1)
    total = x.sum()
    without = (total - x) / (n - 1)
    influence = (n - 1) * (without.mean() - without)
    error = np.sqrt(np.var(influence, mean=np.zeros((1,))) / n)
    return [mean[:, 0], spread, middle, np.percentile(middle, [2.5, 97.5], method="median_unbiased"), error,
            np.cov(mean[:, 0], middle), np.argsort(influence)[:5]]


def skill(u):
    """A forecast beside observations with gaps: bias, correlation and errors by hour, only where both are there."""
    days = len(u) // 48
    x = u[:48 * days].reshape(2, days, 24)
    hour = np.sin(2 * np.pi * np.arange(24) / 24)
    seen, said = x[0] + hour, 0.7 * x[1] + 0.3 * x[0] + 1.1 * hour
    seen = np.where(x[1] < 0.1, np.nan, seen)
    said[np.isnan(seen)] = np.nan
    both = np.isfinite(seen)
    bias = np.nanmean(said - seen, axis=0)
    centre = np.nanmean(seen, axis=0, keepdims=True), np.nanmean(said, axis=0, keepdims=True)
    width = np.nanstd(seen, axis=0, mean=centre[0]), np.nanstd(said, axis=0, mean=centre[1])
    r = np.nanmean((seen - centre[0]) * (said - centre[1]), axis=0) / (width[0] * width[1])
    rmse = np.sqrt(np.nanmean((said - seen) ** 2, axis=0))
    worst = np.nanargmax(np.abs(said - seen), axis=0)
    run = np.nancumsum(np.nan_to_num(said - seen), axis=0)[-1]
    ranks = np.nanquantile(seen, [0.1, 0.5, 0.9], axis=0)
    return [bias, r, rmse, worst, run, ranks, both.sum(axis=1), np.count_nonzero(both), np.nanmax(said) - np.nanmin(said),
            np.ma.masked_invalid(seen).mean(axis=1).filled(0)]


def cepstrum(u):
    """The pitch of frames by their real cepstrum: windows, padding, a lifter, a phase that is unwrapped."""
    n = len(u) // 2
    t = np.arange(n)
    x = np.sign(np.sin(0.31 * t)) + 0.2 * (u[:n] - 0.5)
    size, hop = 128, 64
    x = np.pad(x, (size // 2, size // 2), mode="reflect", reflect_type="odd")
    count = 1 + (len(x) - size) // hop
    frames = np.lib.stride_tricks.as_strided(x, (count, size), (8 * hop, 8)) * np.blackman(size)
    spectrum = np.empty((count, size // 2 + 1), dtype=np.complex128)
    np.fft.rfft(frames, axis=1, out=spectrum)
    loud = np.log(np.abs(spectrum) + 1e-9)
    c = np.fft.irfft(loud, axis=1)
    lifter = np.where(np.arange(size) < 12, 1 + 6 * np.sin(np.pi * np.arange(size) / 12), 0)
    smooth = np.fft.rfft(c * lifter, axis=1).real
    pitch = 12 + c[:, 12:size // 2].argmax(axis=1)
    phase = np.unwrap(np.angle(spectrum[:, 4:9]), axis=0)
    return [loud.mean(axis=0), c[:, :20], smooth[::3], pitch, phase[-1] - phase[0], np.ptp(smooth, axis=1)]


def pieces(u):
    """A natural cubic spline as polynomials between its knots: its derivative, integral, and largest bend."""
    n = len(u) // 8
    y = np.cumsum(u[:n] - 0.5)
    h = 1.0
    a = 4 * np.eye(n - 2) + np.eye(n - 2, k=1) + np.eye(n - 2, k=-1)
    second = np.pad(np.linalg.solve(a, 6 * np.diff(y, n=2) / h ** 2), 1)
    cubic = np.diff(second) / 6
    square = second[:-1] / 2
    slope = np.diff(y) - (2 * second[:-1] + second[1:]) / 6
    c = np.stack([cubic, square, slope, y[:-1]])
    at = u[n:] * (n - 1)
    k = np.clip(np.floor(at).astype(np.int64), 0, n - 2)
    f = at - k
    value, dc = np.polyval(c[:, k], f), np.stack([3 * cubic, 2 * square, slope])
    derivative = np.polyval(dc[:, k], f)
    area = np.append(0, np.cumsum(cubic / 4 + square / 3 + slope / 2 + y[:-1]))
    p = np.polyint(c[:, 0], k=[2.0])
    roots = np.sort(np.roots(np.polyder(np.poly([0.5, -1.5, 2.0]))).real)
    q, r = np.polydiv(p, [1.0, -0.5])
    return [value, derivative, area, np.abs(second).argmax(), p, roots, q, r, np.interp(at[:50], np.arange(n), y), np.polymul(p, q)]


def filters(u):
    """A low-pass filter by a Kaiser window, its gain and delay, both borders, and every fourth sample of the result."""
    n = len(u)
    t = np.arange(n)
    x = np.sin(0.05 * t) + 0.4 * np.sin(1.9 * t) + 0.1 * (u - 0.5)
    taps, cut = 41, 0.2
    k = np.arange(taps) - taps // 2
    h = 2 * cut * np.sinc(2 * cut * k) * np.kaiser(taps, 6.5)
    h /= h.sum()
    low = np.convolve(np.pad(x, taps // 2, mode="edge"), h, mode="valid")
    high = x - low
    gain = 20 * np.log10(np.abs(np.fft.rfft(h, 256)) + 1e-12)
    shifted = np.roll(h, -(taps // 2))
    group = -np.gradient(np.unwrap(np.angle(np.fft.rfft(shifted + 0 * h, 64))))
    windows = np.stack([np.bartlett(taps), np.hamming(taps), np.hanning(taps), np.blackman(taps)])
    leak = (np.abs(np.fft.rfft(windows, 512, axis=1)) ** 2).max(axis=1) / np.square(windows).sum(axis=1)
    envelope = np.maximum.accumulate(np.abs(high)[:200])
    return [h, low[::4], high[5:25], gain, group[:8], leak, envelope, np.trapezoid(low, dx=0.1), np.correlate(x[:64], h[:9], "same")]


def likelihood(u):
    """A gamma distribution fitted by Newton's steps, its goodness by a chi-square test, and two normal ones by their mixture."""
    n = len(u) // 2
    x = -np.log1p(-u[:n]) - np.log1p(-u[n:2 * n])
    s = np.log(x.mean()) - np.log(x).mean()
    k = (3 - s + np.sqrt((s - 3) ** 2 + 24 * s)) / (12 * s)
    for _ in range(5):
        k = k - (np.log(k) - sp.digamma(k) - s) / (1 / k - sp.polygamma(1, k))
    theta = x.mean() / k
    logs = ((k - 1) * np.log(x) - x / theta - sp.gammaln(k) - k * np.log(theta)).sum()
    edges = sp.gammaincinv(k, np.linspace(0, 1, 11)[1:-1]) * theta
    counts = np.bincount(np.digitize(x, edges), minlength=10)
    chi = ((counts - n / 10) ** 2 / (n / 10)).sum()
    y = np.where(u[:n] < 0.4, sp.ndtri(u[n:2 * n] * 0.998 + 0.001), 4 + sp.ndtri(u[n:2 * n] * 0.998 + 0.001) / 2)
    mean, width, share = np.array([0.5, 3.0]), np.ones(2), np.full(2, 0.5)
    for _ in range(10):
        each = np.log(share) - np.log(width) - 0.5 * ((y[:, None] - mean) / width) ** 2
        r = np.exp(each - sp.logsumexp(each, axis=1, keepdims=True))
        total = r.sum(axis=0)
        mean = (r * y[:, None]).sum(axis=0) / total
        width = np.sqrt((r * (y[:, None] - mean) ** 2).sum(axis=0) / total)
        share = total / n
    return [k, theta, logs, edges, counts, sp.chdtrc(7, chi), mean, width, share, sp.softmax(each, axis=1)[:9],
            sp.logsumexp(each[:20], axis=1, b=np.array([1.0, -1.0]), return_sign=True)[1]]


def flows(u):
    """A river's daily flows with gaps: filled, accumulated, a duration curve, droughts and their lengths, yearly extremes."""
    years = len(u) // 60
    t = np.arange(60 * years)
    flow = np.exp(np.sin(2 * np.pi * t / 60) + sp.ndtri(0.98 * u[:60 * years] + 0.01) / 3)
    gap = np.roll(u[:60 * years], 7) < 0.05
    good = ~gap
    filled = np.interp(t, t[good], flow[good])
    table = np.empty((3, 60 * years))
    np.cumsum(filled, out=table[0])
    np.cumsum(np.where(gap, 0, 1), out=table[1])
    table[2] = np.ediff1d(filled, to_begin=0.0)
    chance = (np.arange(1, t.size + 1) - 0.44) / (t.size + 0.12)
    curve = np.interp([0.1, 0.5, 0.9, 0.95], chance, np.sort(filled)[::-1])
    dry = filled < np.quantile(filled, 0.25)
    edge = np.flatnonzero(np.diff(np.concatenate([[False], dry, [False]]).astype(np.int8)))
    length = edge[1::2] - edge[::2]
    deficit = np.add.reduceat(np.append(np.where(dry, curve[2] - filled, 0), 0), edge)[::2]
    annual = filled.reshape(years, 60)
    rank = annual.max(axis=1).argsort().argsort()
    months = np.stack(np.array_split(annual, 12, axis=1)).mean(axis=2)
    hist, bins = np.histogram(np.log(filled), bins=8, range=(-2, 2))
    return [table[:, ::50], curve, length, deficit, rank, months, hist, bins, np.average(months, axis=0, weights=np.arange(1, 13)),
            np.histogram_bin_edges(filled, "sturges")]


def terrain(u):
    """Heights on a grid: slope, shade, sinks, blocks, and where the highest are."""
    n = int(np.sqrt(len(u) // 4)) * 2
    z = u[:n * n].reshape(n, n)
    for _ in range(3):
        p = np.pad(z, 1, mode="symmetric")
        z = (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] + 4 * z) / 8
    gx, gy = np.gradient(z, axis=1), np.gradient(z, axis=0)
    shade = np.clip(np.cos(np.arctan(np.hypot(gx, gy) * 8)) + 0.3 * np.sin(np.arctan2(gy, gx)), 0, None)
    x, y = np.meshgrid(np.arange(n), np.arange(n), sparse=True, indexing="ij")
    ring = np.where(np.abs(x - y) % 5 == 0, z, 0).sum(axis=1)
    p = np.pad(z, 1, mode="constant", constant_values=np.inf)
    around = np.stack([p[1 + i:n + 1 + i, 1 + j:n + 1 + j] for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j])
    sinks = np.argwhere(z < around.min(axis=0))
    way = around.argmin(axis=0)
    top = np.unravel_index(np.argsort(z, axis=None)[-6:], z.shape, order="C")
    flat = np.ravel_multi_index((top[0] + 3, top[1] - 2), z.shape, mode=("wrap", "clip"), order="F")
    blocks = z.reshape(n // 2, 2, n // 2, 2).mean(axis=(1, 3))
    turned = np.rot90(np.flip(blocks, axis=(0, 1)))
    return [shade[::5], ring, sinks, np.bincount(way.ravel(), minlength=8), *top, flat, turned[::4], np.trace(z),
            np.tril(blocks, k=-2).sum(axis=0), z.T.ravel(order="F")[:9]]


def registers(u):
    """Words as bits: packed, counted, shuffled by a shift register; fractions by greatest divisors; floats taken apart."""
    n = len(u) // 8 * 8
    bits = (u[:n] < 0.4)
    packed = np.packbits(bits, bitorder="little")
    words = packed[:packed.size // 8 * 8].view(np.uint64)
    mixed = words ^ (words << np.uint64(13))
    mixed ^= mixed >> np.uint64(7)
    mixed ^= mixed << np.uint64(17)
    back = np.unpackbits(packed, bitorder="little", count=n - 3)
    ones = np.bitwise_count(mixed)
    top, low = np.divmod(np.arange(1, 200), 7)
    divisor = np.gcd(np.arange(1, 200), 36)
    mantissa, exponent = np.frexp(u[:50] * 1000)
    again = np.ldexp(mantissa, exponent)
    fraction, whole = np.modf(u[:20] * 9)
    parity = np.bitwise_xor.reduce(packed.reshape(-1, 5), axis=1) if packed.size % 5 == 0 else np.bitwise_xor.reduce(packed)
    square = np.lcm(top + 1, low + 1)
    order = np.lexsort((ones, (mixed >> np.uint64(60)).astype(np.int64)))
    return [packed[:40], mixed, back.sum(), ones, top + low, divisor, exponent, again, fraction, whole, parity, square[:30], order,
            np.left_shift(np.arange(9), 2), np.invert(packed[:5])]


def beliefs(u):
    """Beta priors of rates and counts of successes: intervals, evidence on a grid of orders of magnitude, divergences."""
    n = len(u) // 40
    trials = u[:40 * n].reshape(n, 40) < np.linspace(0.1, 0.9, n)[:, None]
    wins = trials.sum(axis=1)
    a, b = 1.0 + wins, 1.0 + 40 - wins
    low, high = sp.betaincinv(a, b, 0.05), sp.betaincinv(a, b, 0.95)
    inside = sp.betainc(a, b, high) - sp.betainc(a, b, low)
    strength = np.geomspace(np.full(n, 0.1), 10.0 + wins, 9, axis=-1)
    evidence = sp.betaln(strength + wins[:, None], strength + (40 - wins)[:, None]) - sp.betaln(strength, strength)
    best = strength[np.arange(n), evidence.argmax(axis=1)]
    weight = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    weight = weight / np.trapezoid(weight, strength, axis=1)[:, None]
    mean = a / (a + b)
    away = sp.kl_div(mean, mean.mean()) + sp.kl_div(1 - mean, 1 - mean.mean())
    surprise = sp.entr(mean) + sp.entr(1 - mean)
    tail = sp.bdtrc(wins - 1, 40, 0.5)
    q = np.minimum(1, np.minimum.accumulate((np.sort(tail) * n / np.arange(1, n + 1))[::-1])[::-1])
    steps = np.logspace(-1, [0, 1, 2], 4, base=np.array([2.0, 10.0, np.e]), axis=1)
    return [low, high, inside, best, weight[::3], away, surprise, q, steps, sp.expit(sp.logit(mean)), sp.xlogy(wins, mean).sum()]


PROGRAMS = [bootstrap, skill, cepstrum, pieces, filters, likelihood, flows, terrain, registers, beliefs]


def write_everyday_programs(path, rng):
    c = Calls("everyday programs")
    for k, program in enumerate(PROGRAMS):
        u = draws(1200, 120 + k)
        program(u)  # an error in one is an error here
        c.add(program.__name__, lambda: program(u), [u], [], "", close)
    return c.save(path)


if __name__ == "__main__":
    import sys
    print(write_everyday_programs(sys.argv[1], None))
