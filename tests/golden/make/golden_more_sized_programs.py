"""Ten more NumPy and SciPy programs of any size, each of one vector of numbers in [0, 1); tests/golden/programs has the same lines
in C++ (sized_signals.cpp)."""
import numpy as np
import scipy.special as sp

from golden_calls import Calls
from golden_more_programs import draws
from golden_sized_programs import close

view = np.lib.stride_tricks.sliding_window_view


def coherence(u):
    """Coherence and phase of two signals by Welch's averages: overlapping segments, straight lines taken away, a Hann window."""
    n = len(u) // 2
    t = np.arange(n)
    common = np.sin(0.37 * t) + np.cumsum(u[:n] - 0.5) / 8
    x, y = common + u[n:2 * n], np.roll(common, 3) + 0.5 * u[:n][::-1]
    size = 64
    k = np.arange(size) - (size - 1) / 2
    segments = np.stack([view(x, size)[::size // 2], view(y, size)[::size // 2]])
    segments = segments - segments.mean(axis=-1, keepdims=True)
    slope = segments @ k / (k @ k)
    flat = (segments - slope[..., None] * k) * np.hanning(size)
    f = np.fft.rfft(flat, axis=-1)
    power = (np.abs(f) ** 2).mean(axis=1)
    cross = (np.conj(f[0]) * f[1]).mean(axis=0)
    share = np.abs(cross) ** 2 / (power[0] * power[1])
    phase = np.unwrap(np.angle(cross))
    delay = np.average(np.gradient(phase)[1:-1], weights=share[1:-1])
    decibels = 10 * np.log10(power / power.max(axis=1, keepdims=True))
    return [share, phase, delay, decibels, share.argmax(), np.percentile(share, [25, 75], method="hazen")]


def lpc(u):
    """Linear prediction: Levinson's steps over an autocorrelation, residuals, the spectrum of the filter, its resonances."""
    n, order = len(u), 10
    t = np.arange(n)
    x = np.sin(0.2 * t) + 0.5 * np.sin(0.9 * t) + 0.3 * (u - 0.5)
    x = np.append(x[0], x[1:] - 0.6 * x[:-1]) * np.hamming(n)
    r = np.array([x[k:] @ x[:n - k] for k in range(order + 1)])
    a, error, reflected = np.array([1.0]), r[0], []
    for k in range(1, order + 1):
        c = -(a @ r[k:0:-1]) / error
        longer = np.append(a, 0)
        a = longer + c * longer[::-1]
        error = error * (1 - c * c)
        reflected.append(c)
    rest = np.convolve(x, a)[:n]
    envelope = error / np.abs(np.fft.rfft(a, 256)) ** 2
    poles = np.roots(a)
    poles = poles[poles.imag > 0]
    angles = np.sort(np.angle(poles))
    peaks = np.flatnonzero((envelope[1:-1] > envelope[:-2]) & (envelope[1:-1] > envelope[2:])) + 1
    return [a, np.array(reflected), rest, envelope, angles, peaks, np.sqrt(np.mean(rest ** 2)), np.polyval(a, 0.5)]


def climate(u):
    """A table of days with gaps: means of the calendar's days, deviations, trends with weights, gaps filled, extremes counted."""
    years = len(u) // 60
    day = np.arange(60)
    x = u[:60 * years].reshape(years, 60) + np.sin(2 * np.pi * day / 60) + 0.01 * np.arange(years)[:, None]
    x[u[:60 * years].reshape(years, 60) < 0.08] = np.nan
    normal = np.nanmean(x, axis=0)
    smooth = np.convolve(np.pad(normal, 5, mode="wrap"), np.ones(11) / 11, mode="valid")
    odd = x - smooth
    seen = np.isfinite(odd)
    annual = np.nansum(odd, axis=1) / np.maximum(seen.sum(axis=1), 1)
    trend, covariance = np.polyfit(np.arange(years), annual, 1, w=np.sqrt(seen.sum(axis=1)), cov=True)
    series = odd.ravel()
    known = np.flatnonzero(np.isfinite(series))
    filled = np.interp(np.arange(series.size), known, series[known])
    low, high = np.nanpercentile(odd, [10, 90], axis=0)
    hot = np.where(seen, odd > high, False)
    edges = np.diff(np.concatenate(([0], hot.ravel().astype(np.int8), [0])))
    lengths = np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)
    warmest = np.nanargmax(odd, axis=1)
    return [normal, smooth, annual, trend, covariance, filled, low, high, np.bincount(lengths), warmest,
            np.nanstd(odd, axis=0, ddof=1), np.nanmedian(odd), np.nan_to_num(odd, nan=-9)]


def hypotheses(u):
    """Tests of two samples: Welch's t, ranks with ties, counts in classes, variances, a distance of distributions."""
    n = len(u) // 2
    x, y = np.round(10 * u[:n] ** 2, 1), np.round(9 * u[n:2 * n], 1)
    vx, vy = x.var(ddof=1) / n, y.var(ddof=1) / n
    t = (x.mean() - y.mean()) / np.sqrt(vx + vy)
    df = (vx + vy) ** 2 * (n - 1) / (vx ** 2 + vy ** 2)
    p_t = sp.betainc(df / 2, 0.5, df / (df + t * t))
    both = np.concatenate((x, y))
    values, index, counts = np.unique(both, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - (counts - 1) / 2)[index]
    w = rank[:n].sum() - n * (n + 1) / 2
    ties = (counts ** 3 - counts).sum() / (2 * n * (2 * n - 1))
    z = (w - n * n / 2) / np.sqrt(n * n / 12 * (2 * n + 1 - ties))
    p_w = 2 * sp.ndtr(-np.abs(z))
    edges = np.linspace(0, 10, 11)
    table = np.stack([np.histogram(x, edges)[0], np.histogram(y, edges)[0]])
    wanted = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    chi = ((table - wanted) ** 2 / wanted).sum()
    p_chi = sp.gammaincc(9 / 2, chi / 2)
    ratio = x.var(ddof=1) / y.var(ddof=1)
    p_f = sp.fdtrc(n - 1, n - 1, ratio)
    at = np.sort(both)
    apart = np.abs(np.searchsorted(np.sort(x), at, "right") - np.searchsorted(np.sort(y), at, "right")) / n
    shown = sp.xlogy(table, table / wanted).sum() * 2
    return [t, df, p_t, w, z, p_w, table, chi, p_chi, ratio, p_f, apart.max(), shown, values, rank]


def airy(u):
    """Images of points through a round opening: Bessel functions over a grid, light within circles, half the light, a Strehl ratio."""
    n = len(u) // 3
    x, y, bright = u[:n], u[n:2 * n], u[2 * n:3 * n]
    grid = np.linspace(0, 1, 24)
    r = 60 * np.hypot(grid[:, None, None] - x, grid[None, :, None] - y)
    safe = np.where(r == 0, 1, r)
    spot = np.where(r == 0, 1.0, (2 * sp.j1(safe) / safe) ** 2)
    picture = spot @ bright
    v = np.linspace(0, 20, 2 * n)
    inside = 1 - sp.j0(v) ** 2 - sp.j1(v) ** 2
    half = np.interp(0.5, inside, v)
    window = np.i0(8 * np.sqrt(1 - np.linspace(-1, 1, 24) ** 2)) / np.i0(8.0)
    far = np.abs(np.fft.fftshift(np.fft.fft2(picture * np.outer(window, window)))) ** 2
    strehl = np.exp(-(2 * np.pi * 0.05) ** 2) * picture.max() / picture.sum()
    blurred = sp.erf((bright - 0.5) * 3) + 1j * sp.erfc(bright)
    return [picture, inside, half, np.log1p(far), strehl, np.unravel_index(picture.argmax(), picture.shape)[0], blurred]


def quadrature(u):
    """Gauss's nodes as eigenvalues, integrals of many functions at once, Chebyshev coefficients, their sums by Clenshaw."""
    k = np.arange(1, 24)
    beta = k / np.sqrt(4.0 * k * k - 1)
    nodes, vectors = np.linalg.eigh(np.diag(beta, 1) + np.diag(beta, -1))
    weights = 2 * vectors[0] ** 2
    a = 0.2 + 3 * u
    integrals = (weights * np.exp(-a[:, None] * (nodes + 1) ** 2)).sum(axis=1)
    exact = np.sqrt(np.pi / a) / 2 * sp.erf(2 * np.sqrt(a))
    m = 20
    angle = np.pi * (np.arange(m) + 0.5) / m
    f = np.cos(3 * np.cos(angle)) / (1.5 + np.cos(angle))
    c = 2 / m * (np.cos(np.outer(np.arange(m), angle)) @ f)
    c[0] /= 2
    x = 2 * u - 1
    b1, b2 = np.zeros_like(x), np.zeros_like(x)
    for j in range(m - 1, 0, -1):
        b1, b2 = c[j] + 2 * x * b1 - b2, b1
    series = c[0] + x * b1 - b2
    wrong = np.abs(series - np.cos(3 * x) / (1.5 + x)).max()
    legendre = sp.lpmv(0, 5, nodes)
    return [nodes, weights, integrals, np.abs(integrals - exact).max() < 1e-9, c[:12], series, wrong < 1e-7, legendre,
            np.vander(nodes, 4).sum(axis=0)]


def wavelet(u):
    """Daubechies' wavelets with four taps, three levels on a circle: noise cut off at thresholds, and back again."""
    n = len(u) // 8 * 8
    clean = np.where((np.arange(n) // 90) % 2 == 0, 1.0, -0.5)
    x = clean + 0.6 * (u[:n] - 0.5)
    s = np.sqrt(3)
    low = np.array([1 + s, 3 + s, 3 - s, 1 - s]) / (4 * np.sqrt(2))
    high = low[::-1] * np.array([1, -1, 1, -1])
    details, rest = [], x
    for _ in range(3):
        w = view(np.pad(rest, (0, 2), mode="wrap"), 4)[::2]
        details.append(w @ high)
        rest = w @ low
    spread = np.median(np.abs(details[0])) / 0.6745
    limit = spread * np.sqrt(2 * np.log(n))
    y = rest
    for d in details[::-1]:
        kept = np.sign(d) * np.maximum(np.abs(d) - limit, 0)
        wide = np.zeros((len(d), 4))
        wide += y[:, None] * low
        wide += kept[:, None] * high
        y = np.empty(2 * len(d))
        y[0::2] = wide[:, 0] + np.roll(wide[:, 2], 1)
        y[1::2] = wide[:, 1] + np.roll(wide[:, 3], 1)
    energy = np.array([np.sum(d ** 2) for d in details])
    return [y, rest, *details, limit, energy, np.mean((y - clean) ** 2) / np.mean((x - clean) ** 2)]


def extremes(u):
    """Numbers of unusual distributions by their inverses, maxima of blocks, a Gumbel law by Newton's steps, L-moments, levels."""
    n = len(u)
    uniform = (u + 0.5 / n) / (1 + 1 / n)
    e = -np.log1p(-uniform)
    weibull, pareto = e ** (1 / 1.7), np.expm1(e / 3)
    cauchy, gumbel = np.tan(np.pi * (uniform - 0.5)), 2 - 0.8 * np.log(e)
    triangle = np.where(uniform < 0.3, np.sqrt(0.3 * uniform), 1 - np.sqrt(0.7 * (1 - uniform)))
    gamma, normal = sp.gammaincinv(2.5, uniform), sp.ndtri(uniform)
    beta = sp.betaincinv(2, 3.5, uniform)
    counts = np.searchsorted(sp.nbdtr(np.arange(40), 3, 0.4), uniform)
    block = np.sort(gumbel[:n // 20 * 20].reshape(-1, 20).max(axis=1))
    scale = np.sqrt(6) * block.std(ddof=1) / np.pi
    for _ in range(8):
        w = np.exp(-(block - block.min()) / scale)
        m0, m1, m2 = w.sum(), (block * w).sum(), (block ** 2 * w).sum()
        g = scale - block.mean() + m1 / m0
        scale = scale - g / (1 + (m2 * m0 - m1 ** 2) / (scale * m0) ** 2)
    place = -scale * np.log(np.exp(-block / scale).mean())
    level = place - scale * np.log(-np.log(1 - 1 / np.array([2, 10, 50, 100])))
    i = np.arange(len(block))
    l2 = 2 * np.mean(i / (len(block) - 1) * block) - block.mean()
    hill = np.mean(np.log(np.sort(pareto)[-n // 10:] / np.sort(pareto)[-n // 10 - 1]))
    return [weibull, pareto, cauchy, triangle, gamma, normal, beta, counts, scale, place, level, l2, hill,
            np.corrcoef(np.stack([weibull, gamma, normal])), np.histogram(cauchy, 12, (-6, 6), density=True)[0]]


def codes(u):
    """Bits: Gray codes, parities, errors of a channel, Hamming's (7, 4) code decoded, distances of words, a check sum by table."""
    n = len(u) // 4 * 4
    word = (16 * u[:n]).astype(np.uint8)
    gray = word ^ (word >> 1)
    bits = np.unpackbits(word[:, None], axis=1)[:, 4:]
    make = np.array([[1, 1, 0, 1], [1, 0, 1, 1], [1, 0, 0, 0], [0, 1, 1, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
                    dtype=np.uint8)
    sent = (bits @ make.T) & 1
    flip = (7 * (u[:n] * 16 % 1)).astype(np.int64)
    got = sent.copy()
    got[np.arange(n), flip] ^= 1
    check = ((np.arange(1, 8)[:, None] >> np.arange(3)) & 1).astype(np.uint8)
    syndrome = ((got @ check) & 1) @ np.array([1, 2, 4])
    fixed = got.copy()
    wrong = np.flatnonzero(syndrome)
    fixed[wrong, syndrome[wrong] - 1] ^= 1
    data = np.packbits(fixed[:, [2, 4, 5, 6]], axis=1)[:, 0] >> 4
    key = np.packbits(u[:n].reshape(-1, 4) > 0.5, axis=1, bitorder="little")[:, 0]
    apart = np.bitwise_count(key[:60, None] ^ key[None, :60])
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(0xEDB88320), table >> 1)
    crc = np.full(n // 4, 0xFFFFFFFF, dtype=np.uint32)
    for column in word.reshape(-1, 4).T:
        crc = table[(crc ^ column) & 0xFF] ^ (crc >> 8)
    return [gray, sent, syndrome, (data == word).all(), np.array_equal(fixed, sent), apart, crc ^ np.uint32(0xFFFFFFFF),
            np.bitwise_xor.reduce(crc), np.bincount(np.bitwise_count(gray))]


def hidden(u):
    """Hidden Markov chains, many side by side: forward and backward sums with scales, the likeliest path, expected counts."""
    steps = 40
    n = len(u) // steps
    move = np.array([[0.9, 0.08, 0.02], [0.1, 0.8, 0.1], [0.05, 0.15, 0.8]])
    level, width = np.array([0.2, 0.5, 0.8]), np.array([0.1, 0.15, 0.1])
    x = u[:steps * n].reshape(steps, n)
    light = np.exp(-0.5 * ((x[..., None] - level) / width) ** 2) / width
    alpha, scale = np.empty((steps, n, 3)), np.empty((steps, n))
    a = np.full((n, 3), 1 / 3)
    for t in range(steps):
        a = (a @ move if t else a) * light[t]
        scale[t] = a.sum(axis=1)
        a = a / scale[t][:, None]
        alpha[t] = a
    beta = np.ones((steps, n, 3))
    for t in range(steps - 2, -1, -1):
        beta[t] = (light[t + 1] * beta[t + 1]) @ move.T / scale[t + 1][:, None]
    gamma = alpha * beta
    gamma = gamma / gamma.sum(axis=-1, keepdims=True)
    best, back = np.log(light[0] / 3), np.empty((steps, n, 3), dtype=np.int64)
    for t in range(1, steps):
        each = best[:, :, None] + np.log(move)
        back[t] = each.argmax(axis=1)
        best = each.max(axis=1) + np.log(light[t])
    path = np.empty((steps, n), dtype=np.int64)
    path[-1] = best.argmax(axis=1)
    for t in range(steps - 1, 0, -1):
        path[t - 1] = np.take_along_axis(back[t], path[t][:, None], axis=1)[:, 0]
    mean = (gamma * x[..., None]).sum(axis=(0, 1)) / gamma.sum(axis=(0, 1))
    return [np.log(scale).sum(axis=0), gamma[:, 0], path, best, mean, np.bincount(path.ravel(), minlength=3)]


PROGRAMS = [coherence, lpc, climate, hypotheses, airy, quadrature, wavelet, extremes, codes, hidden]


def write_more_sized_programs(path, rng):
    c = Calls("more sized programs")
    for k, program in enumerate(PROGRAMS):
        u = draws(1200, 80 + k)
        c.add(program.__name__, lambda: program(u), [u], [], "", close)
    return c.save(path)


if __name__ == "__main__":
    import sys
    print(write_more_sized_programs(sys.argv[1], None))
