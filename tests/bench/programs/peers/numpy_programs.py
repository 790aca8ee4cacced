"""Programs as a NumPy user writes them: what programs/*.cpp do through sinter, a function for each of their inputs."""

import numpy as np


def moving(x, table, w):
    w = int(w)
    c = np.concatenate([np.zeros(1), np.cumsum(x)])
    mean = (c[w:] - c[:-w]) / w
    c2 = np.concatenate([np.zeros(1), np.cumsum(x * x)])
    var = np.maximum((c2[w:] - c2[:-w]) / w - mean * mean, 0)
    z = (x[w - 1 :] - mean) / np.sqrt(var + 1e-09)
    cross = np.flatnonzero(np.diff(np.signbit(x[w - 1 :] - mean))) + 1
    ct = np.cumsum(np.concatenate([np.zeros((400, 1), np.float32), table], axis=1), axis=1, dtype=np.float64)
    rows = ((ct[:, w:] - ct[:, :-w]) / w).astype(np.float32)
    drawdown = np.min(x - np.maximum.accumulate(x))
    return dict(mean=mean, z=z, cross=cross, rows=rows, drawdown=drawdown)


def resize(image, size):
    h, w = image.shape[:2]
    H, W = (int(s) for s in size)
    y = np.clip((np.arange(H) + 0.5) * (h / H) - 0.5, 0, h - 1)
    x = np.clip((np.arange(W) + 0.5) * (w / W) - 0.5, 0, w - 1)
    y0 = np.floor(y).astype(np.int64)
    x0 = np.floor(x).astype(np.int64)
    y1 = np.minimum(y0 + 1, h - 1)
    x1 = np.minimum(x0 + 1, w - 1)
    fy = (y - y0)[:, None, None].astype(np.float32)
    fx = (x - x0)[None, :, None].astype(np.float32)
    f = image.astype(np.float32)
    top = f[y0[:, None], x0] * (1 - fx) + f[y0[:, None], x1] * fx
    low = f[y1[:, None], x0] * (1 - fx) + f[y1[:, None], x1] * fx
    out = np.clip(np.rint(top * (1 - fy) + low * fy), 0, 255).astype(np.uint8)
    rows = np.take(image, y0, axis=0)
    near = np.take(np.take(image, np.rint(y).astype(int), 0), np.rint(x).astype(int), 1)
    half = image.reshape(240, 2, 320, 2, 3).mean(axis=(1, 3))
    grey = f @ np.array([0.299, 0.587, 0.114], np.float32)
    return dict(
        out=out,
        near=near,
        half=half,
        grey=grey,
        flipped=out[::-1, ::-1][:5],
        border=np.take(image, np.arange(-3, 483), axis=0, mode="wrap")[:, 0],
    )


def rle(x, bits):
    edges = np.flatnonzero(x[1:] != x[:-1]) + 1
    starts = np.concatenate([np.array([0]), edges])
    ends = np.concatenate([edges, np.array([len(x)])])
    lengths = ends - starts
    values = x[starts]
    back = np.repeat(values, lengths)
    longest = np.argmax(lengths)
    d = np.diff(bits.astype(np.int8), prepend=np.int8(0), append=np.int8(0))
    on, off = np.flatnonzero(d == 1), np.flatnonzero(d == -1)
    hist = np.bincount(off - on)
    inside = np.cumsum(d)[:-1].astype(bool)
    runs = np.split(x[:20], [3, 7, 12])
    total = np.array([r.sum() for r in runs])
    return dict(
        starts=starts,
        lengths=lengths,
        values=values,
        same=np.array_equal(back, x),
        longest=longest,
        on=on,
        off=off,
        hist=hist,
        inside=np.array_equal(inside, bits),
        total=total,
    )


def kfold(X, y, order, k):
    k = int(k)
    fold = np.empty(len(y), np.int64)
    fold[order] = np.arange(len(y)) % k
    errors, coef = [], []
    for i in range(k):
        test = fold == i
        A, b = X[~test], y[~test]
        mu, sd = A.mean(0), A.std(0, ddof=1)
        A = (A - mu) / sd
        w = np.linalg.solve(A.T @ A + 0.1 * np.eye(A.shape[1]), A.T @ (b - b.mean()))
        r = y[test] - ((X[test] - mu) / sd @ w + b.mean())
        errors.append(np.sqrt(np.mean(r * r)))
        coef.append(w)
    return dict(
        errors=np.stack(errors), coef=np.stack(coef), counts=np.bincount(fold), spread=np.ptp(np.stack(coef), axis=0)
    )


def life(board):
    b = board.copy()
    for _ in range(50):
        n = b[:-2, :-2] + b[:-2, 1:-1] + b[:-2, 2:] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, :-2] + b[2:, 1:-1] + b[2:, 2:]
        birth = (n == 3) & (b[1:-1, 1:-1] == 0)
        survive = ((n == 2) | (n == 3)) & (b[1:-1, 1:-1] == 1)
        b[...] = 0
        b[1:-1, 1:-1][birth | survive] = 1
    t = board.astype(bool)
    pop = []
    for _ in range(50):
        n = sum((np.roll(t, (i, j), (0, 1)).astype(np.int8) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j))
        t = (n == 3) | t & (n == 2)
        pop.append(np.count_nonzero(t))
    age = np.where(t, 255, 0).astype(np.uint8)
    return dict(board=b, torus=t, pop=np.array(pop), age=age)


def levenshtein(a, b):
    n, m = len(a), len(b)
    D = np.zeros((n + m + 1, n + 1), np.int32) + (n + m)
    D[0, 0] = 0
    for d in range(1, n + m + 1):
        lo, hi = max(0, d - m), min(n, d)
        i = np.arange(lo, hi + 1)
        up = np.where(i > 0, D[d - 1, i - 1] + 1, n + m)
        left = D[d - 1, i] + 1
        ii = np.clip(i - 1, 0, n - 1)
        jj = np.clip(d - i - 1, 0, m - 1)
        sub = np.where((i > 0) & (d - i > 0), D[d - 2, i - 1] + (a[ii] != b[jj]), n + m)
        D[d, lo : hi + 1] = np.minimum(np.minimum(up, left), sub)
        if d <= m:
            D[d, 0] = d
    row = np.arange(m + 1)
    for i in range(n):
        c = np.concatenate([np.array([i + 1]), np.minimum(row[1:] + 1, row[:-1] + (b != a[i]))])
        row = np.minimum.accumulate(c - np.arange(m + 1)) + np.arange(m + 1)
    return dict(distance=D[n + m, n], rows=row)


def sliding(x, w):
    w = int(w)
    n = len(x) - w + 1
    v = np.lib.stride_tricks.sliding_window_view(x, w)
    m, s = v.mean(1), v.std(1)
    z = (v - m[:, None]) / s[:, None]
    skew = (z**3).mean(1)
    peak = v.argmax(1) + np.arange(n)
    med = np.sort(v[::100], axis=1)[:, w // 2]
    ac = ((v[:, :-1] - m[:, None]) * (v[:, 1:] - m[:, None])).sum(1) / ((v - m[:, None]) ** 2).sum(1)
    return dict(m=m, s=s, skew=skew, peak=peak, med=med, ac=ac, top=np.unique(peak)[:100])


def confusion(y, p, logits, C):
    C = int(C)
    M = np.bincount(y * C + p, minlength=C * C).reshape(C, C)
    tp = np.diagonal(M)
    precision = tp / M.sum(0)
    recall = tp / M.sum(1)
    f1 = 2 * precision * recall / (precision + recall)
    macro = np.mean(np.where(np.isnan(f1), 0, f1))
    hot = np.eye(C, dtype=np.float32)[y[:20000]]
    same = hot.T @ np.eye(C, dtype=np.float32)[p[:20000]]
    e = np.exp(logits - logits.max(1, keepdims=True))
    soft = e / e.sum(1, keepdims=True)
    loss = -np.log(soft[np.arange(20000), y[:20000]]).mean()
    rank = np.argsort(-soft, axis=1)[:, :3]
    top3 = (rank == y[:20000, None]).any(1).mean()
    grad = soft.copy()
    grad[np.arange(20000), y[:20000]] -= 1
    acc = np.zeros((C,), np.int64)
    np.add.at(acc, p, 1)
    return dict(
        M=M,
        precision=precision,
        recall=recall,
        f1=f1,
        macro=macro,
        same=same,
        soft=soft,
        loss=loss,
        rank=rank,
        top3=top3,
        grad=grad.mean(0),
        acc=acc,
    )


def hsv(rgb):
    r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    v = rgb.max(-1)
    c = v - rgb.min(-1)
    safe = np.where(c == 0, 1, c)
    h = np.where(v == r, (g - b) / safe % 6, np.where(v == g, (b - r) / safe + 2, (r - g) / safe + 4))
    h = np.where(c == 0, 0, h) / 6
    s = np.where(v == 0, 0, c / np.where(v == 0, 1, v))
    hsv = np.stack([h, s, v], -1)
    i = np.floor(h * 6).astype(np.int32)
    f = h * 6 - i
    p, q, t = v * (1 - s), v * (1 - f * s), v * (1 - (1 - f) * s)
    back = np.stack(
        [
            np.choose(i % 6, [v, q, p, p, t, v]),
            np.choose(i % 6, [t, v, v, q, p, p]),
            np.choose(i % 6, [p, p, t, v, v, q]),
        ],
        axis=-1,
    )
    err = np.abs(back - rgb).max()
    hues, _ = np.histogram(h, bins=36, range=(0, 1))
    edit = rgb.copy()
    edit[..., 1] *= np.float32(0.5)
    edit[100:200, :, ::-1][..., 0] = 1
    edit[(s > 0.8) & (v < 0.5)] = [1, 0, 0]
    return dict(hsv=hsv, back=back, close=err < 1e-06, hues=hues, edit=edit, mean=edit.mean((0, 1)))


def interp(xp, fp, x, lut, q):
    j = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, len(xp) - 2)
    slope = np.diff(fp) / np.diff(xp)
    lin = np.where(x < xp[0], fp[0], np.where(x > xp[-1], fp[-1], fp[j] + slope[j] * (x - xp[j])))
    near = fp[np.argmin(np.abs(xp[:, None] - x[None, :500]), axis=0)]
    bins = np.digitize(x, np.linspace(0, 1, 11))
    counts = np.bincount(bins, minlength=12)
    means = np.bincount(bins, weights=lin, minlength=12) / np.maximum(counts, 1)
    s = q * 63
    i = np.minimum(s.astype(np.int64), 62)
    f = (s - i).astype(np.float32)
    out = np.zeros(len(q), np.float32)
    for dx in (0, 1):
        for dy in (0, 1):
            for dz in (0, 1):
                wgt = np.prod(np.where(np.array([dx, dy, dz]) == 1, f, 1 - f), axis=1)
                out += wgt * lut[i[:, 0] + dx, i[:, 1] + dy, i[:, 2] + dz]
    return dict(lin=lin, near=near, bins=bins, counts=counts, means=means, out=out)


def kalman(z):
    B = z.shape[1]
    dt = 0.1
    F = np.eye(4) + dt * np.eye(4, k=2)
    H = np.eye(2, 4)
    Q = 0.01 * np.eye(4)
    R = 0.5 * np.eye(2)
    x = np.zeros((B, 4))
    Pm = np.broadcast_to(np.eye(4), (B, 4, 4)).copy()
    xs = []
    ll = np.zeros(B)
    for t in range(len(z)):
        x = x @ F.T
        Pm = F @ Pm @ F.T + Q
        y = z[t] - x @ H.T
        S = H @ Pm @ H.T + R
        K = np.linalg.solve(S, H @ Pm).swapaxes(1, 2)
        x = x + (K @ y[..., None])[..., 0]
        Pm = (np.eye(4) - K @ H) @ Pm
        ll -= 0.5 * (np.einsum("bi,bij,bj->b", y, np.linalg.inv(S), y) + np.linalg.slogdet(S)[1])
        xs.append(x)
    X = np.stack(xs)
    return dict(X=X, P=Pm, ll=ll, best=np.argmax(ll), speed=np.hypot(X[..., 2], X[..., 3]).max(0))


def spectrogram(x):
    n, hop = 512, 128
    frames = 1 + (len(x) - n) // hop
    idx = hop * np.arange(frames)[:, None] + np.arange(n)
    win = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / n)).astype(np.float32)
    S = np.fft.rfft(x[idx] * win, axis=1)
    power = np.abs(S) ** 2
    db = 10 * np.log10(np.maximum(power, 1e-10))
    db = np.maximum(db, db.max() - 80)
    f = np.fft.rfftfreq(n, 1 / 16000)
    track = f[power.argmax(1)]
    centroid = (power * f).sum(1) / power.sum(1)
    y = np.zeros(len(x), np.float32)
    norm = np.zeros(len(x), np.float32)
    out = np.fft.irfft(S, n, axis=1).astype(np.float32) * win
    np.add.at(y, idx, out)
    np.add.at(norm, idx, np.broadcast_to(win * win, idx.shape))
    rec = np.where(norm > 0.001, y / np.maximum(norm, np.float32(0.001)), 0)
    flux = np.maximum(np.diff(np.abs(S), axis=0), 0).sum(1)
    return dict(
        db=db, track=track, centroid=centroid, rec=rec, flux=flux, band=np.add.reduceat(power, [0, 8, 32, 128], axis=1)
    )


def gramschmidt(A):
    Q = A.copy()
    n = A.shape[1]
    R = np.zeros((n, n))
    for k in range(n):
        R[k, k] = np.sqrt(np.sum(Q[:, k] ** 2))
        Q[:, k] /= R[k, k]
        R[k, k + 1 :] = Q[:, k] @ Q[:, k + 1 :]
        Q[:, k + 1 :] -= Q[:, k, None] * R[k, k + 1 :]
    ortho = np.abs(Q.T @ Q - np.eye(n)).max()
    H = A.copy()
    for k in range(n):
        v = H[k:, k].copy()
        v[0] += np.copysign(np.linalg.norm(v), v[0])
        v /= np.linalg.norm(v)
        H[k:, k:] -= 2 * np.outer(v, v @ H[k:, k:])
    return dict(Q=Q, R=R, ortho=ortho < 1e-12, diag=np.abs(np.diagonal(H)), low=np.abs(np.tril(H, -1)).max() < 1e-12)


def sinkhorn(x, y):
    C = ((x[:, None] - y[None]) ** 2).sum(-1)
    eps = 0.05
    K = np.exp(-C / eps)
    a = np.full(400, 1 / 400)
    b = np.full(500, 1 / 500)
    v = np.ones(500)
    for _ in range(200):
        u = a / (K @ v)
        v = b / (K.T @ u)
    T = u[:, None] * K * v
    cost = (T * C).sum()
    f = np.zeros(400)
    g = np.zeros(500)

    def lse(m, axis):
        t = m.max(axis, keepdims=True)
        return (t + np.log(np.exp(m - t).sum(axis, keepdims=True))).squeeze(axis)

    for _ in range(50):
        f = eps * (np.log(a) - lse((g[None, :] - C) / eps, 1))
        g = eps * (np.log(b) - lse((f[:, None] - C) / eps, 0))
    L = np.exp((f[:, None] + g - C) / eps)
    return dict(
        T=T,
        cost=cost,
        rows=T.sum(1),
        L=L,
        match=T.argmax(1),
        entropy=-np.sum(np.where(T > 0, T * np.log(np.where(T > 0, T, 1)), 0)),
    )


def pagerank(src, dst, n):
    n = int(n)
    A = np.zeros((n, n), np.float32)
    A[src, dst] = 1
    deg = A.sum(1)
    dangling = deg == 0
    Pt = (A / np.where(dangling, 1, deg)[:, None]).T
    r = np.full(n, 1 / n, np.float32)
    steps = 0
    while True:
        new = np.float32(0.85) * (Pt @ r + r[dangling].sum() / n) + np.float32(0.15 / n)
        steps += 1
        if np.abs(new - r).sum() < 1e-06 or steps == 100:
            break
        r = new
    w = 1 / np.maximum(np.bincount(src, minlength=n), 1)
    s = np.full(n, 1 / n)
    out = np.bincount(src, minlength=n) == 0
    for _ in range(40):
        s = 0.85 * (np.bincount(dst, weights=s[src] * w[src], minlength=n) + s[out].sum() / n) + 0.15 / n
    return dict(
        r=r,
        sum=s.sum(),
        s=s,
        top=np.argsort(-s, kind="stable")[:10],
        nd=np.count_nonzero(dangling),
        edges=A.sum(dtype=np.int64),
    )


def clip(x, big):
    ok = ~np.isnan(x)
    n = ok.sum(0)
    mean = np.where(ok, x, 0).sum(0) / n
    var = np.where(ok, (x - mean) ** 2, 0).sum(0) / (n - 1)
    s = np.sort(x, axis=0)

    def pct(q):
        pos = q * (n - 1)
        lo = np.floor(pos).astype(np.int64)
        hi = np.minimum(lo + 1, n - 1)
        fr = pos - lo
        a = np.take_along_axis(s, lo[None], 0)[0]
        b = np.take_along_axis(s, hi[None], 0)[0]
        return a + (b - a) * fr

    lo, mid, hi = pct(0.01), pct(0.5), pct(0.99)
    clipped = np.clip(np.where(ok, x, mid), lo, hi)
    z = (clipped - clipped.mean(0)) / clipped.std(0)
    bad = np.argwhere(~ok)[:50]
    rows = np.flatnonzero(~ok.any(1))
    filled = x.copy()
    filled[~ok] = np.broadcast_to(mid, x.shape)[~ok]
    k = len(big) // 100
    part = np.partition(big, (k, len(big) - k))
    cut = np.clip(big, part[k], part[len(big) - k])
    return dict(
        mean=mean,
        var=var,
        mid=mid,
        z=z,
        bad=bad,
        rows=rows,
        filled=filled,
        cut=cut.sum(),
        lowest=np.nanmin(np.where(ok, x, np.inf), axis=1)[:10],
        worst=np.where(ok, x, -np.inf).max(0),
    )


def curl_pad(c, n):
    out = np.zeros((n, n))
    out[1:-1, 1:-1] = c
    return out


def fields(n):
    n = int(n)
    t = np.linspace(-2, 2, n)
    X, Y = np.meshgrid(t, t)
    r = np.hypot(X, Y)
    th = np.arctan2(Y, X)
    u = -Y * np.exp(-r * r)
    v = X * np.exp(-r * r)
    h = t[1] - t[0]
    curl = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * h) - (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * h)
    div = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * h) + (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * h)
    ring = np.bincount(np.floor(r * 20).astype(np.int64).ravel(), weights=curl_pad(curl, n).ravel())
    c = X + 1j * Y - 0.5
    z = np.zeros_like(c)
    count = np.zeros(c.shape, np.int32)
    alive = np.ones(c.shape, bool)
    for _ in range(40):
        z[alive] = z[alive] ** 2 + c[alive]
        alive &= np.abs(z) <= 2
        count += alive
    inside = np.argwhere(count == 40)
    return dict(
        curl=curl,
        div=np.abs(div).max() < 0.0001,
        ring=ring,
        count=count,
        box=np.stack([inside.min(0), inside.max(0)]),
        th=th[::50, ::50],
        at=np.stack(np.unravel_index(np.argmax(curl), curl.shape)),
    )


def polyfit(x, y, many):
    V = x[:, None] ** np.arange(6)
    coef, res, rank, sv = np.linalg.lstsq(V, y, rcond=None)
    fit = np.zeros_like(x)
    for k in range(5, -1, -1):
        fit = fit * x + coef[k]
    r2 = 1 - ((y - fit) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    Q, R = np.linalg.qr(V)
    c2 = np.linalg.solve(R, Q.T @ y)
    t = np.arange(50.0)
    tm = t - t.mean()
    slope = (many * tm).sum(1) / (tm * tm).sum()
    inter = many.mean(1) - slope * t.mean()
    resid = many - (slope[:, None] * t + inter[:, None])
    best = np.argsort((resid**2).sum(1))[:5]
    w = 1 / (1 + np.abs(y - fit))
    W = V * w[:, None]
    cw = np.linalg.solve(W.T @ V, W.T @ y)
    deriv = np.arange(1, 6) * coef[1:]
    return dict(coef=coef, res=res, rank=rank, r2=r2, c2=c2, slope=slope, inter=inter, best=best, cw=cw, deriv=deriv)


def csv(key, value, w):
    import tempfile

    d = tempfile.mkdtemp()
    np.savetxt(
        d + "/t.csv", np.column_stack([key, value, w]), delimiter=",", fmt=["%d", "%.4f", "%d"], header="key,value,w"
    )
    t = np.loadtxt(d + "/t.csv", delimiter=",")
    ks, inv, cnt = np.unique(t[:, 0].astype(np.int64), return_inverse=True, return_counts=True)
    total = np.bincount(inv, weights=t[:, 1] * t[:, 2])
    mean = total / np.bincount(inv, weights=t[:, 2])
    best = np.full(len(ks), -np.inf)
    np.maximum.at(best, inv, t[:, 1])
    order = np.lexsort((t[:, 1], t[:, 0]))
    first = t[order][np.concatenate([[0], np.flatnonzero(np.diff(t[order][:, 0])) + 1])]
    np.savetxt(d + "/o.csv", np.stack([ks, mean, best], 1), fmt="%.6g", delimiter=";")
    back = np.loadtxt(d + "/o.csv", delimiter=";", usecols=(0, 2))
    open(d + "/h.csv", "w").write("a,b\n1,\n2,3.5\n,4\n")
    h = np.genfromtxt(d + "/h.csv", delimiter=",", skip_header=1)
    text = open(d + "/o.csv").read()
    return dict(
        t=t,
        ks=ks,
        cnt=cnt,
        mean=mean,
        best=best,
        first=first,
        back=back,
        h=h,
        text=np.frombuffer(text.encode(), np.uint8),
    )


def paths(D):
    d = D.copy()
    n = len(D)
    for k in range(n):
        d = np.minimum(d, d[:, k, None] + d[k])
    e = D.copy()
    for k in range(n):
        np.minimum(e, e[:, k, None] + e[None, k, :], out=e)
    adj = np.isfinite(D) | np.isfinite(D).T
    label = np.arange(n)
    while True:
        new = np.where(adj, label[None, :], n).min(1)
        if np.array_equal(new, label):
            break
        label = new
    ecc = np.where(np.isinf(d), -1, d).max(1)
    return dict(
        d=d,
        same=np.array_equal(d, e),
        label=label,
        ecc=ecc,
        reach=np.isfinite(d).sum(1),
        groups=np.unique(label, return_counts=True)[1],
    )
