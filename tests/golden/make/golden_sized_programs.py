"""Twenty NumPy programs of any size, each of one vector of numbers in [0, 1); tests/golden/programs has the same lines in C++."""
import numpy as np

from golden_calls import Calls, absolute
from golden_more_programs import draws
from golden_programs import close as close_double

view = np.lib.stride_tricks.sliding_window_view


def savgol(u):
    """Savitzky-Golay: a filter from a small least-squares problem, the ends by polynomials, a derivative."""
    x = np.cumsum(u - 0.5)
    half, order = 7, 3
    k = np.arange(-half, half + 1)
    a = np.vander(k, order + 1, increasing=True)
    c = np.linalg.pinv(a)
    y = np.convolve(x, c[0][::-1], mode="same")
    d = np.convolve(x, c[1][::-1], mode="valid")
    head = np.polyfit(np.arange(2 * half + 1), x[:2 * half + 1], order)
    tail = np.polyfit(np.arange(2 * half + 1), x[-2 * half - 1:], order)
    y[:half] = np.polyval(head, np.arange(half))
    y[-half:] = np.polyval(tail, np.arange(half + 1, 2 * half + 1))
    rest = x - y
    turns = np.count_nonzero(np.diff(np.sign(d)))
    return [y, d, np.sqrt(np.mean(rest ** 2)), turns, np.abs(rest).argmax()]


def loess(u):
    """Local lines with tricube weights around 64 places; then again with Tukey's weights of the residuals."""
    x = np.sort(u)
    y = np.sin(6 * x) + 0.3 * (u - 0.5)
    at = np.linspace(0.02, 0.98, 64)
    k = len(x) // 4
    d = np.abs(at[:, None] - x)
    h = np.partition(d, k, axis=1)[:, k:k + 1]
    w = np.clip(1 - (d / h) ** 3, 0, None) ** 3
    robust = np.ones_like(x)
    for _ in range(2):
        v = w * robust
        s0, s1, s2 = v.sum(1), (v * x).sum(1), (v * x * x).sum(1)
        t0, t1 = v @ y, v @ (x * y)
        slope = (s0 * t1 - s1 * t0) / (s0 * s2 - s1 ** 2)
        level = (t0 - slope * s1) / s0
        fit = level + slope * at
        rest = y - np.interp(x, at, fit)
        mad = np.median(np.abs(rest))
        robust = np.clip(1 - (rest / (6 * mad)) ** 2, 0, None) ** 2
    return [fit, slope, mad, robust.sum()]


def survival(u):
    """Kaplan-Meier's curve with Greenwood's errors, Nelson and Aalen's hazard, the median and a restricted mean."""
    n = len(u) // 2
    life, leave = np.ceil(-200 * np.log(1 - u[:n])), np.ceil(400 * u[n:2 * n])
    time, event = np.minimum(life, leave), life <= leave
    t, index = np.unique(time, return_inverse=True)
    died = np.bincount(index, weights=event, minlength=len(t))
    gone = np.bincount(index, minlength=len(t))
    risk = n - np.cumsum(gone) + gone
    curve = np.cumprod(1 - died / risk)
    with np.errstate(all="ignore"):
        green = np.cumsum(np.where(risk > died, died / (risk * (risk - died)), 0))
    error = curve * np.sqrt(green)
    hazard = np.cumsum(died / risk)
    below = curve <= 0.5
    middle = t[np.argmax(below)] if below.any() else np.inf
    area = np.sum(np.diff(t, prepend=0) * np.concatenate(([1], curve[:-1])))
    low, high = np.clip(curve - 1.96 * error, 0, 1), np.clip(curve + 1.96 * error, 0, 1)
    return [t, risk, curve, error, hazard, middle, area, low, high]


def principal(u):
    """Principal components of ten columns: shares, scores with fixed signs, what three of them explain, whitening."""
    x = u[:len(u) // 10 * 10].reshape(-1, 10)
    x = x @ np.triu(np.ones((10, 10))) + 0.1 * x ** 2
    centred = x - x.mean(axis=0)
    cov = centred.T @ centred / (len(x) - 1)
    values, vectors = np.linalg.eigh(cov)
    values, vectors = values[::-1], vectors[:, ::-1]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(10)])
    scores = centred @ vectors[:, :3]
    share = np.cumsum(values) / values.sum()
    back = scores @ vectors[:, :3].T + x.mean(axis=0)
    lost = ((x - back) ** 2).sum(axis=1)
    white = centred @ (vectors / np.sqrt(values))
    far = np.sqrt((white ** 2).sum(axis=1))
    return [values, share, scores, lost.mean(), np.sort(lost)[-5:], far, np.corrcoef(white, rowvar=False)]


def boards(u):
    """Conway's Life by strides: sums of windows of 3 x 3 over a board with a rim, eight generations, and its history."""
    n = int(len(u) ** 0.5)
    board = (u[:n * n].reshape(n, n) < 0.35).astype(np.uint8)
    alive = []
    for _ in range(8):
        rim = np.pad(board, 1)
        around = view(rim, (3, 3)).sum(axis=(2, 3)) - board
        board = ((around == 3) | ((board == 1) & (around == 2))).astype(np.uint8)
        alive.append(board.sum())
    still = view(np.pad(board, 1), (3, 3)).reshape(n, n, 9).max(axis=2) - board
    return [board, np.array(alive), still.sum(), board.sum(axis=0), np.argmax(board.sum(axis=1))]


def options(u):
    """An Asian option by paths of 16 steps with a control: uniform numbers to normal ones by Box and Muller."""
    n = len(u) // 32
    a, b = u[:16 * n].reshape(n, 16), u[16 * n:32 * n].reshape(n, 16)
    z = np.sqrt(-2 * np.log1p(-a)) * np.cos(2 * np.pi * b)
    dt, rate, sigma, s0, strike = 1 / 16, 0.03, 0.25, 100.0, 101.0
    paths = s0 * np.exp(np.cumsum((rate - sigma ** 2 / 2) * dt + sigma * np.sqrt(dt) * z, axis=1))
    mean, geometric = paths.mean(axis=1), np.exp(np.log(paths).mean(axis=1))
    pay = np.exp(-rate) * np.maximum(mean - strike, 0)
    control = np.exp(-rate) * np.maximum(geometric - strike, 0)
    c = np.cov(pay, control)
    beta = c[0, 1] / c[1, 1]
    better = pay - beta * (control - control.mean())
    knocked = np.where(paths.max(axis=1) > 130, 0, np.maximum(paths[:, -1] - strike, 0))
    delta = np.exp(-rate) * np.mean((mean > strike) * mean / s0)
    return [pay.mean(), pay.std(ddof=1) / np.sqrt(n), better.std(ddof=1), beta, knocked.mean(), delta,
            np.percentile(pay, [50, 90, 99])]


def running(u):
    """Running z-scores by cumulative sums, exceedances and how long they last."""
    x, w = np.where(u > 0.98, 3 * u, u) + np.arange(len(u)) / len(u), 50
    s, q = np.cumsum(np.insert(x, 0, 0)), np.cumsum(np.insert(x * x, 0, 0))
    mean = (s[w:] - s[:-w]) / w
    var = np.maximum((q[w:] - q[:-w]) / w - mean ** 2, 0) * w / (w - 1)
    z = (x[w - 1:] - mean) / np.sqrt(var)
    flag = np.abs(z) > 2
    edge = np.diff(np.concatenate(([0], flag.astype(np.int8), [0])))
    first, last = np.flatnonzero(edge == 1), np.flatnonzero(edge == -1)
    length = last - first
    return [z, flag.sum(), np.bincount(length), first[:5], np.median(np.abs(z)), np.where(flag, x[w - 1:], 0).sum()]


def lab(u):
    """Pixels from sRGB to CIE Lab and back, differences from a reference color, the bytes again."""
    rgb = (256 * u[:len(u) // 3 * 3].reshape(-1, 3)).astype(np.uint8)
    c = rgb / 255
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    m = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
    white = np.array([0.95047, 1.0, 1.08883])
    t = linear @ m.T / white
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    l, a, b = 116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])
    delta = np.sqrt((l - 53) ** 2 + (a - 80) ** 2 + (b - 67) ** 2)
    hue = np.degrees(np.arctan2(b, a)) % 360
    g = np.stack([(l + 16) / 116 + a / 500, (l + 16) / 116, (l + 16) / 116 - b / 200], axis=1)
    xyz = np.where(g > 6 / 29, g ** 3, 3 * (6 / 29) ** 2 * (g - 4 / 29)) * white
    lin = np.clip(xyz @ np.linalg.inv(m).T, 0, 1)
    back = np.where(lin <= 0.0031308, 12.92 * lin, 1.055 * lin ** (1 / 2.4) - 0.055)
    again = np.rint(255 * back).astype(np.uint8)
    return [np.column_stack([l, a, b]), delta.min(), np.histogram(hue, 12, (0, 360))[0], np.array_equal(again, rgb)]


def perlin(u):
    """Perlin's noise over a square in three octaves: a permutation as a hash, gradients by table, quintic fades."""
    n = int(len(u) ** 0.5)
    order = np.argsort(draws(256, 5))
    p = np.concatenate([order, order])
    angle = 2 * np.pi * draws(256, 6)
    gx, gy = np.cos(angle), np.sin(angle)
    total = np.zeros((n, n))
    for octave in range(3):
        y, x = np.mgrid[0:n, 0:n] * (2.0 ** octave / 16)
        xi, yi = x.astype(int), y.astype(int)
        xf, yf = x - xi, y - yi
        xi, yi = xi & 255, yi & 255
        fu, fv = xf ** 3 * (xf * (xf * 6 - 15) + 10), yf ** 3 * (yf * (yf * 6 - 15) + 10)
        corner = []
        for j in (0, 1):
            for i in (0, 1):
                h = p[p[xi + i & 255] + (yi + j & 255)]
                corner.append(gx[h] * (xf - i) + gy[h] * (yf - j))
        low = corner[0] + fu * (corner[1] - corner[0])
        high = corner[2] + fu * (corner[3] - corner[2])
        total += (low + fv * (high - low)) / 2 ** octave
    scaled = (total - total.min()) / np.ptp(total)
    levels = np.digitize(scaled, [0.3, 0.5, 0.7])
    mixed = np.where(u[:n * n].reshape(n, n) < scaled, levels, 0)
    return [scaled, np.bincount(levels.ravel()), mixed.sum(axis=1), np.abs(np.fft.rfft(scaled[n // 2]))[:8]]


def queens(u):
    """Random boards of eight queens, one a row and column: attacked diagonals by masks of bits, how many solve it."""
    n = len(u) // 8
    board = np.argsort(u[:8 * n].reshape(n, 8), axis=1)
    rows = np.arange(8)
    up, down = np.uint16(1) << (board + rows).astype(np.uint16), np.uint16(1) << (board - rows + 7).astype(np.uint16)
    used_up, used_down = np.bitwise_or.reduce(up, axis=1), np.bitwise_or.reduce(down, axis=1)
    free = 16 - np.bitwise_count(used_up) - np.bitwise_count(used_down)
    solved = (np.bitwise_count(used_up) == 8) & (np.bitwise_count(used_down) == 8)
    gap = np.abs(board[:, :, None] - board[:, None, :])
    attacks = (gap == np.abs(rows[:, None] - rows)).sum(axis=(1, 2)) - 8
    best = board[np.argmin(attacks)]
    code = board @ (8 ** np.arange(8)[::-1])
    return [free.sum(), solved.sum(), attacks, best, np.unique(code).size, np.bincount(attacks // 2), (attacks == 0) == solved]


def lomb(u):
    """Lomb and Scargle's periodogram of uneven samples at 200 frequencies, and the phases folded by the best one."""
    n = len(u) // 2
    t = np.sort(40 * u[:n])
    y = np.sin(2 * np.pi * 0.7 * t) + 0.5 * (u[n:2 * n] - 0.5)
    y = y - y.mean()
    f = np.linspace(0.05, 2, 200)
    w = 2 * np.pi * f[:, None]
    tau = np.arctan2(np.sin(2 * w * t).sum(1), np.cos(2 * w * t).sum(1))[:, None] / (2 * w)
    c, s = np.cos(w * (t - tau)), np.sin(w * (t - tau))
    power = ((c @ y) ** 2 / (c ** 2).sum(1) + (s @ y) ** 2 / (s ** 2).sum(1)) / (2 * y.var())
    best = f[power.argmax()]
    phase = t * best % 1
    bins = (10 * phase).astype(int)
    folded = np.bincount(bins, y, 10) / np.bincount(bins, minlength=10)
    return [power, best, folded, phase[:10], 1 - (1 - np.exp(-power.max())) ** 200]


def fits(u):
    """Polynomials through many series at once with covariances, their roots, and how well each one fits."""
    m = 64
    y = u[:len(u) // m * m].reshape(-1, m).T
    x = np.linspace(-1, 1, m)
    y = y + np.polyval([0.5, -1, 0, 2], x)[:, None]
    one, cov = np.polyfit(x, y[:, 0], 3, cov=True)
    every = np.polyfit(x, y, 3)
    fitted = np.vander(x, 4) @ every
    r2 = 1 - ((y - fitted) ** 2).sum(0) / ((y - y.mean(0)) ** 2).sum(0)
    weight = np.polyfit(x, y[:, 1], 2, w=1 / (0.1 + x ** 2))
    slope = np.polyder(every[:, 0])
    area = np.polyval(np.polyint(every[:, 0]), 1) - np.polyval(np.polyint(every[:, 0]), -1)
    turning = np.sort(np.roots(slope).real)
    errors = np.sqrt(np.diag(cov))
    return [one, errors, every, r2, weight, turning, area, r2.argmax(), np.abs(y - fitted).max(axis=0)]


def groups(u):
    """Group by: sums, means, deviations, extremes, ranks and shares within groups, from a sparse set of keys."""
    n = len(u) // 2
    key, x = (u[:n] ** 2 * 500).astype(np.int64) * 17 + 3, 10 * u[n:2 * n]
    names, index, counts = np.unique(key, return_inverse=True, return_counts=True)
    total = np.bincount(index, weights=x)
    mean = total / counts
    spread = np.sqrt(np.bincount(index, weights=(x - mean[index]) ** 2) / np.maximum(counts - 1, 1))
    least, most = np.full(len(names), np.inf), np.full(len(names), -np.inf)
    np.minimum.at(least, index, x)
    np.maximum.at(most, index, x)
    order = np.lexsort((x, index))
    start = np.cumsum(counts) - counts
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n) - np.repeat(start, counts)
    middle = x[order][start + counts // 2]
    share = x / total[index]
    top = names[np.argsort(-total, kind="stable")[:5]]
    return [names, counts, total, mean, spread, least, most, rank, middle, share.max(), top]


def tokens(u):
    """Tokens of a text of bytes, without strings: runs of letters, their lengths and hashes, the most frequent ones."""
    text = np.where(u < 0.2, 32, 97 + (u * 100).astype(int) % 4).astype(np.uint8)
    upper = (u * 1000).astype(int) % 7 == 0
    text = np.where(upper & (text != 32), text - 32, text).astype(np.uint8)
    lower = text | np.where((text >= 65) & (text <= 90), 32, 0).astype(np.uint8)
    letter = lower != 32
    edge = np.diff(letter.astype(np.int8), prepend=0, append=0)
    start, stop = np.nonzero(edge == 1)[0], np.nonzero(edge == -1)[0]
    length = stop - start
    word = np.cumsum(edge[:-1] == 1)[letter] - 1
    place = np.arange(len(u))[letter] - start[word]
    code = np.bincount(word, weights=(lower[letter] - 96.0) * 5.0 ** np.minimum(place, 15)).astype(np.int64)
    names, first, counts = np.unique(code, return_index=True, return_counts=True)
    often = np.argsort(-counts, kind="stable")[:8]
    pairs = np.bincount(4 * (lower[:-1][letter[:-1] & letter[1:]] - 97) + lower[1:][letter[:-1] & letter[1:]] - 97, minlength=16)
    share = counts / counts.sum()
    return [np.bincount(length), names[often], counts[often], first[often], pairs.reshape(4, 4), -(share * np.log2(share)).sum()]


def bicubic(u):
    """A picture at one and a half times its size by Catmull and Rom's splines, rows and columns apart; its error."""
    n = int(len(u) ** 0.5)
    picture = np.cumsum(u[:n * n].reshape(n, n) - 0.5, axis=1).astype(np.float32)

    def weights(t):
        t2, t3 = t * t, t * t * t
        return np.stack([-t3 + 2 * t2 - t, 3 * t3 - 5 * t2 + 2, -3 * t3 + 4 * t2 + t, t3 - t2]) / 2

    def along(a, m):
        at = (np.arange(m) + 0.5) * len(a) / m - 0.5
        low = np.floor(at).astype(int)
        w = weights((at - low).astype(np.float32))
        taps = np.clip(low + np.arange(-1, 3)[:, None], 0, len(a) - 1)
        return (w[:, :, None] * a[taps]).sum(axis=0)
    m = 3 * n // 2
    large = along(along(picture, m).T, m).T
    small = large[:m // 3 * 3, :m // 3 * 3].reshape(m // 3, 3, m // 3, 3).mean(axis=(1, 3))
    edges = np.hypot(*np.gradient(large))
    return [large, small, edges.max(), np.float32(1) * large.std(), np.ptp(large, axis=0)]


def sphere(u):
    """Distances between places on a sphere: the nearest five, how many within a radius, the two farthest, a centroid."""
    n = len(u) // 2
    lat, lon = np.arcsin(2 * u[:n] - 1), 2 * np.pi * u[n:2 * n] - np.pi
    h = np.sin((lat[:, None] - lat) / 2) ** 2 + np.cos(lat)[:, None] * np.cos(lat) * np.sin((lon[:, None] - lon) / 2) ** 2
    d = 12742 * np.arcsin(np.sqrt(np.minimum(h, 1)))
    near = np.sort(np.partition(d, 5, axis=1)[:, :6], axis=1)[:, 1:]
    within = (d < 1500).sum(axis=1) - 1
    i, j = np.unravel_index(d.argmax(), d.shape)
    p = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
    cosine = np.clip(p @ p.T, -1, 1)
    middle = p.mean(axis=0)
    centre = np.degrees([np.arctan2(middle[2], np.hypot(middle[0], middle[1])), np.arctan2(middle[1], middle[0])])
    return [near, within, d[i, j], i + j, centre, cosine.mean(axis=1), d.mean()]


def blur(u):
    """A picture convolved with a Gaussian by transforms of padded size, sharpened again by Wiener's filter."""
    n = int(len(u) ** 0.5)
    picture = u[:n * n].reshape(n, n).copy()
    picture[n // 4:n // 2, n // 4:n // 2] += 2
    r = np.arange(-8, 9)
    kernel = np.exp(-(r[:, None] ** 2 + r ** 2) / 18)
    kernel /= kernel.sum()
    size = (n + 16, n + 16)
    k = np.fft.rfft2(kernel, size)
    full = np.fft.irfft2(np.fft.rfft2(picture, size) * k, size)
    same = full[8:-8, 8:-8]
    wiener = np.conj(k) / (np.abs(k) ** 2 + 1e-3)
    back = np.fft.irfft2(np.fft.rfft2(full) * wiener, size)[:n, :n]
    energy = np.abs(np.fft.fftshift(np.fft.fft2(same))) ** 2
    y, x = np.indices((n, n)) - n // 2
    ring = np.hypot(x, y).astype(int).ravel()
    radial = np.bincount(ring, energy.ravel()) / np.bincount(ring)
    return [same, np.sqrt(np.mean((back - picture) ** 2)), np.log10(radial[:n // 4]), same.max(), same.argmax()]


def stretch(u):
    """Contrast by percentiles of three channels, a gamma by table, one channel's histogram matched to another's."""
    n = int((len(u) // 3) ** 0.5)
    image = (255 * u[:3 * n * n].reshape(n, n, 3) ** [1, 2, 3]).astype(np.uint8)
    low, high = np.percentile(image, [2, 98], axis=(0, 1))
    clipped = np.clip((image - low) / (high - low), 0, 1)
    table = (255 * (np.arange(256) / 255) ** (1 / 2.2)).astype(np.uint8)
    bright = table[(255 * clipped).astype(np.uint8)]
    values, index, counts = np.unique(image[..., 2].ravel(), return_inverse=True, return_counts=True)
    goal, goals = np.unique(image[..., 0].ravel(), return_counts=True)
    matched = np.interp(np.cumsum(counts) / index.size, np.cumsum(goals) / index.size, goal)[index].reshape(n, n)
    gray = image @ np.array([0.299, 0.587, 0.114])
    cut = np.histogram(gray, 64, (0, 256))[0].astype(float)
    w = np.cumsum(cut)
    m = np.cumsum(cut * np.arange(64))
    with np.errstate(all="ignore"):
        between = np.nan_to_num((m[-1] * w / w[-1] - m) ** 2 / (w * (w[-1] - w)))
    return [bright, low, high, matched, between.argmax(), (gray > 4 * (between.argmax() + 1)).mean(), bright.mean(axis=(0, 1))]


def hampel(u):
    """Hampel's filter: medians of sliding windows, deviations from them, outliers replaced; ranks of what is left."""
    x = np.sin(np.arange(len(u)) / 50) + 0.2 * (u - 0.5)
    x[::97] += 4 * u[::97]
    w = view(np.pad(x, 3, mode="reflect"), 7)
    middle = np.median(w, axis=1)
    mad = 1.4826 * np.median(np.abs(w - middle[:, None]), axis=1)
    odd = np.abs(x - middle) > 3 * mad
    clean = np.where(odd, middle, x)
    rank = np.argsort(np.argsort(clean, kind="stable"), kind="stable")
    low, high = w.min(axis=1), w.max(axis=1)
    return [clean, np.flatnonzero(odd), rank, np.quantile(clean, [0.05, 0.5, 0.95]), (high - low).mean(), mad.max()]


def logistic(u):
    """Logistic regression by Newton's steps, standard errors, its curve of true against false alarms and the area below."""
    n = len(u) // 7
    x = np.column_stack([np.ones(n), u[:5 * n].reshape(n, 5) - 0.5])
    p = 1 / (1 + np.exp(-(x @ np.array([0.2, 1, -2, 0, 3, 0.5]))))
    y = (u[5 * n:6 * n] < p).astype(float)
    beta = np.zeros(6)
    for _ in range(6):
        p = 1 / (1 + np.exp(-(x @ beta)))
        hessian = x.T @ (x * (p * (1 - p))[:, None])
        beta = beta + np.linalg.solve(hessian, x.T @ (y - p))
    error = np.sqrt(np.diag(np.linalg.inv(hessian)))
    loss = -np.mean(y * np.log(p) + (1 - y) * np.log1p(-p))
    order = np.argsort(-p, kind="stable")
    hits = np.cumsum(y[order]) / y.sum()
    alarms = np.cumsum(1 - y[order]) / (n - y.sum())
    area = np.trapezoid(hits, alarms)
    table = np.bincount(2 * y.astype(int) + (p > 0.5), minlength=4).reshape(2, 2)
    return [beta, beta / error, loss, area, table, np.quantile(p, [0.1, 0.9])]


def close(r):
    """float32: some of its own epsilons of the largest element."""
    return absolute(8 * np.finfo(np.float32).eps * float(np.abs(r).max())) if r.dtype == np.float32 else close_double(r)


PROGRAMS = [savgol, loess, survival, principal, boards, options, running, lab, perlin, queens, lomb, fits, groups, tokens,
            bicubic, sphere, blur, stretch, hampel, logistic]


def write_sized_programs(path, rng):
    c = Calls("sized programs")
    for k, program in enumerate(PROGRAMS):
        u = draws(1200, 40 + k)
        c.add(program.__name__, lambda: program(u), [u], [], "", close)
    return c.save(path)


if __name__ == "__main__":
    import sys
    print(write_sized_programs(sys.argv[1], None))
