"""Ten small NumPy programs of different fields; tests/golden/programs_test.cpp has the same lines in C++."""
import numpy as np

from golden_calls import Calls, EQUAL, absolute


def spectrum():
    """Signal processing: a windowed spectrum, its peak, a moving average, a band removed, phases unwrapped."""
    t = np.linspace(0, 1, 256, endpoint=False)
    x = np.sin(2 * np.pi * 20 * t) + 0.5 * np.cos(2 * np.pi * 47 * t) + 0.1 * t
    w = np.hanning(x.size)
    f = np.fft.rfft(x * w)
    freq = np.fft.rfftfreq(x.size, t[1] - t[0])
    power = np.abs(f) ** 2
    power[1:] *= 2
    peak = freq[np.argmax(power)]
    smooth = np.convolve(x, np.ones(5) / 5, mode="same")
    g = np.fft.fft(x)
    g.imag[np.abs(np.fft.fftfreq(256, 1 / 256)) > 40] = 0
    g.real[np.abs(np.fft.fftfreq(256, 1 / 256)) > 40] = 0
    low = np.fft.ifft(g).real
    phase = np.unwrap(np.angle(f[15:26]))
    frames = np.lib.stride_tricks.sliding_window_view(x, 64)[::32]
    energy = (frames ** 2).mean(axis=1)
    autocorrelation = np.correlate(x, x, "full")[x.size - 1:]
    m, e = np.frexp(energy)
    again = np.ldexp(m, e + 1)
    return [power, peak, smooth, low, phase, energy, autocorrelation[:50], again]


def morphology():
    """Images: threshold, erosion and dilation by windows, gradient, distance to an edge, moments."""
    y, x = np.mgrid[0:24, 0:32]
    image = np.exp(-((x - 12) ** 2 + (y - 10) ** 2) / 40) + 0.8 * np.exp(-((x - 24) ** 2 + (y - 16) ** 2) / 12)
    mask = image > 0.4
    padded = np.pad(mask, 1, mode="constant", constant_values=False)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    eroded = windows.all(axis=(2, 3))
    dilated = windows.any(axis=(2, 3))
    outline = dilated & ~eroded
    gy, gx = np.gradient(image)
    slope = np.hypot(gx, gy)
    rows, columns = np.nonzero(outline)
    distance = np.sqrt((y[..., None] - rows) ** 2 + (x[..., None] - columns) ** 2).min(axis=-1)
    distance[~mask] *= -1
    area = mask.sum()
    centre = np.array([np.average(y, weights=mask), np.average(x, weights=mask)])
    packed = np.packbits(mask, axis=1)
    counted = np.bitwise_count(packed).sum(axis=1)
    filled = image.copy()
    np.fill_diagonal(filled, 0)
    corner = np.rot90(filled)[:3, :4]
    levels = np.digitize(image, [0.1, 0.3, 0.6, 0.9])
    histogram = np.bincount(levels.ravel(), minlength=6)
    return [eroded, outline, slope, distance, area, centre, packed, counted, corner, histogram]


def portfolio():
    """Finance: returns, drawdown, covariance, betas, weights of least variance, value at risk, missing prices."""
    days = np.arange(60)
    prices = 100 * np.exp(np.cumsum(0.01 * np.sin(np.outer(days, [0.3, 0.7, 1.1, 1.9]) + [0, 1, 2, 3]), axis=0))
    returns = np.diff(np.log(prices), axis=0)
    cov = np.cov(returns, rowvar=False)
    corr = np.corrcoef(returns.T)
    w = np.linalg.solve(cov, np.ones(4))
    w /= w.sum()
    portfolio_returns = returns @ w
    wealth = np.cumprod(1 + portfolio_returns)
    drawdown = (wealth / np.maximum.accumulate(wealth) - 1).min()
    var95 = np.percentile(portfolio_returns, 5)
    shortfall = portfolio_returns[portfolio_returns <= var95].mean()
    beta = cov[:, 0] / cov[0, 0]
    gaps = returns.copy()
    gaps[::7, 1] = np.nan
    gaps[3, :] = np.nan
    sharpe = np.nanmean(gaps, axis=0) / np.nanstd(gaps, axis=0, ddof=1)
    middle = np.nanmedian(gaps, axis=0)
    tails = np.nanquantile(gaps, [0.1, 0.9], axis=0)
    ranks = np.argsort(np.argsort(returns[-1]))
    factor = np.linalg.cholesky(cov)
    excess = np.zeros_like(returns)
    np.subtract(returns, returns.mean(axis=0), out=excess, where=returns > 0)
    return [corr, w, wealth, drawdown, var95, shortfall, beta, sharpe, middle, tails, ranks, factor, excess]


def genetics():
    """Genotype counts: frequencies, heterozygosity, linkage, a distance of populations, a chi-square test."""
    i = np.arange(40 * 12).reshape(40, 12)
    genotypes = (i * i + 3 * i) % 7 % 3
    genotypes = genotypes.astype(np.int8)
    population = np.repeat([0, 1], [18, 22])
    counts = np.stack([(genotypes == k).sum(axis=0) for k in range(3)])
    p = (2 * counts[2] + counts[1]) / (2 * counts.sum(axis=0))
    expected = np.stack([(1 - p) ** 2, 2 * p * (1 - p), p ** 2]) * genotypes.shape[0]
    chi2 = np.zeros(12)
    np.divide((counts - expected) ** 2, expected, out=expected, where=expected > 0)
    chi2 += expected.sum(axis=0)
    by_population = np.array([genotypes[population == k].mean(axis=0) / 2 for k in range(2)])
    fst = np.var(by_population, axis=0) / (p * (1 - p))
    centred = genotypes - genotypes.mean(axis=0)
    linkage = np.corrcoef(centred, rowvar=False) ** 2
    upper = linkage[np.triu_indices(12, 1)]
    minor = np.minimum(p, 1 - p)
    kept = np.flatnonzero(minor > 0.2)
    values, first, inverse, multiplicity = np.unique(genotypes[:, 0], return_index=True, return_inverse=True,
                                                     return_counts=True)
    shared = (genotypes[:, None, :] == genotypes[None, :, :]).mean(axis=2)
    nearest = np.argmax(shared - 2 * np.eye(40), axis=1)
    return [counts, p, chi2, fst, upper, kept, values, first, inverse, multiplicity, nearest]


def geodesy():
    """The earth: to and from Cartesian coordinates, great circles, a rotation, an area, degrees and minutes."""
    lat = np.deg2rad(np.array([48.8566, -33.8688, 35.6762, 64.1466, 0.0]))
    lon = np.radians(np.array([2.3522, 151.2093, 139.6503, -21.9426, -179.5]))
    a, f = 6378137.0, 1 / 298.257223563
    e2 = f * (2 - f)
    h = np.array([35.0, 58.0, 40.0, 0.0, 1000.0])
    n = a / np.sqrt(1 - e2 * np.sin(lat) ** 2)
    xyz = np.column_stack([(n + h) * np.cos(lat) * np.cos(lon), (n + h) * np.cos(lat) * np.sin(lon),
                           (n * (1 - e2) + h) * np.sin(lat)])
    p = np.hypot(xyz[:, 0], xyz[:, 1])
    back = np.arctan2(xyz[:, 2], p * (1 - e2))
    for _ in range(6):
        n2 = a / np.sqrt(1 - e2 * np.sin(back) ** 2)
        height = p / np.cos(back) - n2
        back = np.arctan2(xyz[:, 2], p * (1 - e2 * n2 / (n2 + height)))
    dlat, dlon = lat[:, None] - lat, lon[:, None] - lon
    s = np.sin(dlat / 2) ** 2 + np.cos(lat)[:, None] * np.cos(lat) * np.sin(dlon / 2) ** 2
    circle = 2 * 6371.0088 * np.arcsin(np.sqrt(np.clip(s, 0, 1)))
    np.fill_diagonal(circle, np.inf)
    partner = circle.argmin(axis=1)
    angle = np.pi / 6
    rotation = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    turned = xyz @ rotation.T
    across = np.cross(xyz, turned)
    minutes, degrees = np.modf(np.abs(np.rad2deg(lat)))
    sign = np.copysign(1, lat)
    wrapped = np.mod(np.degrees(lon) + np.array([350, 10, 30, -170, -1]) + 180, 360) - 180
    return [xyz, back, height, circle, partner, turned, across / 1e12, degrees * sign, minutes * 60, wrapped]


def alignment():
    """Bioinformatics without text: k-mer numbers, a scoring matrix, a profile, an alignment score by rows, entropy."""
    one = np.array([0, 1, 2, 3, 0, 1, 1, 2, 3, 3, 0, 2, 1, 0, 3, 2], dtype=np.uint8)
    two = np.array([0, 1, 2, 2, 0, 1, 3, 3, 0, 2, 1, 0, 3], dtype=np.uint8)
    score = np.where(np.eye(4, dtype=bool), 2, -1)
    pairs = score[one[:, None], two[None, :]]
    gap = -2
    table = np.zeros((one.size + 1, two.size + 1), dtype=np.int64)
    table[0] = gap * np.arange(two.size + 1)
    table[:, 0] = gap * np.arange(one.size + 1)
    steps = gap * np.arange(two.size + 1)
    for i in range(1, one.size + 1):
        best = np.maximum(table[i - 1, :-1] + pairs[i - 1], table[i - 1, 1:] + gap)
        row = np.concatenate([table[i, :1], best]) - steps
        table[i] = np.maximum.accumulate(row) + steps
    kmers = np.lib.stride_tricks.sliding_window_view(one, 3) @ np.array([16, 4, 1])
    counts = np.bincount(kmers, minlength=64).reshape(4, 4, 4)
    common = np.intersect1d(kmers, np.lib.stride_tricks.sliding_window_view(two, 3) @ np.array([16, 4, 1]))
    hot = np.eye(4)[one]
    profile = hot.reshape(4, 4, 4).mean(axis=0)
    entropy = -np.where(profile > 0, profile * np.log2(np.where(profile > 0, profile, 1)), 0).sum(axis=1)
    gc = ((one == 1) | (one == 2)).mean()
    reverse = (3 - one)[::-1]
    runs = np.flatnonzero(np.diff(one, prepend=255) != 0)
    lengths = np.diff(np.append(runs, one.size))
    bits = np.left_shift(one[:8].astype(np.uint16), 2 * np.arange(8, dtype=np.uint16)).sum()
    return [table, counts.sum(axis=(1, 2)), common, entropy, gc, reverse, lengths, bits]


def queues():
    """Queues: arrivals and services given, waiting times by a scan, lengths over time, an M/M/c model's matrix."""
    k = np.arange(50)
    arrivals = np.cumsum(1 + 0.8 * np.sin(k * 1.3))
    service = 0.9 + 0.5 * np.cos(k * 0.7)
    work = np.cumsum(service)
    start = np.maximum.accumulate(arrivals - np.insert(work, 0, 0)[:-1]) + np.insert(work, 0, 0)[:-1]
    wait = start - arrivals
    leave = start + service
    times = np.linspace(0, 60, 13)
    present = np.searchsorted(arrivals, times, "right") - np.searchsorted(leave, times, "right")
    mean_present = np.trapezoid(present, times) / times[-1]
    rate, served, servers, places = 2.0, 1.1, 2, 9
    n = np.arange(places)
    up = np.full(places - 1, rate)
    down = served * np.minimum(n[1:], servers)
    generator = np.diag(up, 1) + np.diag(down, -1)
    generator -= np.diag(generator.sum(axis=1))
    system = np.vstack([generator.T, np.ones(places)])
    stationary = np.linalg.lstsq(system, np.append(np.zeros(places), 1), rcond=None)[0]
    expected = stationary @ n
    step = np.linalg.matrix_power(np.eye(places) + generator / 8, 64)
    bins, edges = np.histogram(wait, bins=6, range=(0, 3))
    busy = np.select([present == 0, present < 2], [0, 1], 2)
    worst = np.argpartition(wait, -3)[-3:]
    return [wait, leave, present, mean_present, stationary, expected, step, bins, edges, busy, np.sort(worst)]


def heat():
    """Physics: heat in a rod by an implicit scheme, a wave by Fourier series, residuals, an interpolated profile."""
    n, dx, dt = 30, 1 / 29, 0.002
    x = np.linspace(0, 1, n)
    u = np.where((x > 0.3) & (x < 0.6), 1.0, 0.0)
    r = dt / dx ** 2
    a = np.diag(np.full(n, 1 + 2 * r)) + np.diag(np.full(n - 1, -r), 1) + np.diag(np.full(n - 1, -r), -1)
    a[0, :] = 0
    a[-1, :] = 0
    a[0, 0] = a[-1, -1] = 1
    history = np.empty((11, n))
    history[0] = u
    for k in range(10):
        u = np.linalg.solve(a, u)
        history[k + 1] = u
    total = np.trapezoid(history, x, axis=1)
    flux = -np.gradient(history[-1], dx)
    coefficients = np.polyfit(x, history[-1], 6)
    fitted = np.polyval(coefficients, x)
    residual = np.sqrt(np.mean((fitted - history[-1]) ** 2))
    at = np.interp([0.05, 0.33, 0.777], x, history[-1])
    modes = np.arange(1, 6)
    basis = np.sin(np.pi * np.outer(modes, x))
    amplitude = 2 * np.trapezoid(basis * history[0], x)
    decayed = (amplitude * np.exp(-((np.pi * modes) ** 2) * 10 * dt)) @ basis
    front = np.ediff1d(history[-1], to_begin=0)
    where_half = np.argwhere(np.diff(np.sign(history[-1] - 0.2)) != 0).ravel()
    blocks = np.block([[np.eye(2), np.zeros((2, 2))], [a[:2, :2], np.ones((2, 2))]])
    return [history, total, flux, fitted, residual, at, amplitude, decayed, front, where_half, blocks]


def survey():
    """Statistics of answers: cross tables, standardised columns, weighted means, a bootstrap by given indices, ranks."""
    k = np.arange(80)
    age = 18 + (k * 37) % 60
    region = (k * k) % 4
    answer = np.clip(np.round(3 + 1.5 * np.sin(k * 0.9) + region * 0.3), 1, 5).astype(int)
    cross = np.zeros((4, 6), dtype=int)
    np.add.at(cross, (region, answer), 1)
    share = cross / cross.sum(axis=1, keepdims=True)
    weight = np.choose(region, [1.0, 0.5, 2.0, 1.5])
    mean = np.average(answer, weights=weight)
    spread = np.sqrt(np.average((answer - mean) ** 2, weights=weight))
    groups = np.digitize(age, [30, 45, 60])
    by_group = np.array([answer[groups == g].mean() for g in range(4)])
    z = np.column_stack([age, answer, weight]).astype(float)
    z = (z - z.mean(axis=0)) / z.std(axis=0)
    loadings = np.linalg.svd(z, full_matrices=False)[1]
    draws = (np.outer(np.arange(20) + 3, k) * 7 + 11) % 80
    bootstrap = np.percentile(answer[draws].mean(axis=1), [2.5, 50, 97.5])
    order = np.lexsort((age, answer))
    deciles = np.quantile(age, np.linspace(0, 1, 11), method="nearest")
    agree = np.isin(answer, [4, 5]).reshape(8, 10).sum(axis=1)
    table, xe, ye = np.histogram2d(age, answer, bins=[3, 5])
    missing = np.where(k % 9 == 0, np.nan, answer)
    filled = np.nan_to_num(missing, nan=np.nanmedian(missing))
    return [cross, share, mean, spread, by_group, loadings, bootstrap, order, deciles, agree, table, xe, filled]


def circuits():
    """Electrical networks: impedances, node voltages, a filter's response in decibels, poles, a three-phase system."""
    w = np.geomspace(10, 1e5, 25)
    r, l, c = 50.0, 1e-3, 1e-6
    z = np.empty(w.size, dtype=complex)
    z.real = r
    z.imag = w * l - 1 / (w * c)
    gain = np.abs(r / z)
    decibel = 20 * np.log10(gain)
    resonance = w[np.argmin(np.abs(z.imag))]
    poles = np.roots([l, r, 1 / c])
    g = np.array([[3.0, -1, -1, 0], [-1, 4, -1, -1], [-1, -1, 5, -2], [0, -1, -2, 4]])
    volts = np.linalg.solve(g, [1, 0, 0, 0])
    losses = 0.5 * np.einsum("i,ij,j", volts, g, volts)
    phase = np.exp(-2j * np.pi * np.arange(3) / 3)
    transform = np.vander(phase, 3, increasing=True) / 3
    lines = np.array([10, 9 * np.exp(-2.0j), 11 * np.exp(2.2j)])
    sequence = transform.conj() @ lines
    power = (lines * np.conj(lines[[1, 2, 0]])).real
    bits = lines.view(np.float64).reshape(3, 2)
    bits[:, 1] = 0
    nearest = np.array([10, 22, 47])[np.abs(np.subtract.outer(gain[::6] * 40, [10, 22, 47])).argmin(axis=1)]
    ladder = np.linalg.multi_dot([np.array([[1, 2.0], [0, 1]]), np.array([[1, 0], [0.5, 1]]), np.array([[1, 3.0], [0, 1]])])
    by_columns = np.asfortranarray(ladder).ravel("K")
    return [z, decibel, resonance, np.sort_complex(poles), volts, losses, sequence, power, lines, nearest, ladder, by_columns]


PROGRAMS = [spectrum, morphology, portfolio, genetics, geodesy, alignment, queues, heat, survey, circuits]


def close(r):
    if r.dtype.kind not in "fc" or r.size == 0:
        return EQUAL
    finite = np.abs(np.where(np.isfinite(r), r, 0)).max()
    return absolute(1e-10 * (float(finite) + 1e-3))


def write_programs(path, rng):
    c = Calls("programs")
    for program in PROGRAMS:
        c.add(program.__name__, program, [], [], "", close)
    return c.save(path)
