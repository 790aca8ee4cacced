"""The programs in JAX, compiled where shapes do not depend on data."""


def jax_programs():
    import jax, jax.numpy as np
    from jax import lax

    J = {}
    jit = jax.jit

    def static(f, *names):
        return jit(f, static_argnames=names)

    def moving(x, table, w):
        c = np.concatenate([np.zeros(1), np.cumsum(x)])
        mean = (c[w:] - c[:-w]) / w
        c2 = np.concatenate([np.zeros(1), np.cumsum(x * x)])
        var = np.maximum((c2[w:] - c2[:-w]) / w - mean * mean, 0)
        ct = np.cumsum(np.concatenate([np.zeros((400, 1), np.float32), table], axis=1), axis=1, dtype=np.float64)
        return (
            mean,
            (x[w - 1 :] - mean) / np.sqrt(var + 1e-09),
            np.diff(np.signbit(x[w - 1 :] - mean)),
            ((ct[:, w:] - ct[:, :-w]) / w).astype(np.float32),
            np.min(x - lax.cummax(x)),
        )

    mv = static(moving, "w")

    def moving_all(x, table, w):
        r = mv(x, table, int(w))
        return r[:2] + (np.flatnonzero(r[2]) + 1,) + r[3:]

    J["moving"] = moving_all

    @jit
    def resize(image):
        h, w, H, W = 480, 640, 1000, 1500
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
        near = np.take(np.take(image, np.rint(y).astype(int), 0), np.rint(x).astype(int), 1)
        return (
            out,
            near,
            image.reshape(240, 2, 320, 2, 3).mean(axis=(1, 3)),
            f @ np.array([0.299, 0.587, 0.114], np.float32),
            out[::-1, ::-1][:5],
            np.take(image, np.arange(-3, 483), axis=0, mode="wrap")[:, 0],
        )

    J["resize"] = lambda image, size: resize(image)

    def rle(x, bits):
        edges = np.flatnonzero(x[1:] != x[:-1]) + 1
        starts = np.concatenate([np.array([0]), edges])
        ends = np.concatenate([edges, np.array([len(x)])])
        lengths = ends - starts
        values = x[starts]
        back = np.repeat(values, lengths, total_repeat_length=len(x))
        d = np.diff(bits.astype(np.int8), prepend=np.int8(0), append=np.int8(0))
        on, off = np.flatnonzero(d == 1), np.flatnonzero(d == -1)
        return (
            starts,
            lengths,
            values,
            np.array_equal(back, x),
            np.argmax(lengths),
            on,
            off,
            np.bincount(off - on),
            np.array_equal(np.cumsum(d)[:-1].astype(bool), bits),
            np.stack([r.sum() for r in np.split(x[:20], [3, 7, 12])]),
        )

    J["rle"] = rle

    def kfold(X, y, order, k):
        k = int(k)
        fold = np.empty(len(y), np.int64).at[order].set(np.arange(len(y)) % k)
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
        return (np.stack(errors), np.stack(coef), np.bincount(fold), np.ptp(np.stack(coef), axis=0))

    J["kfold"] = kfold

    @jit
    def life(board):

        def a(_, b):
            n = (
                b[:-2, :-2]
                + b[:-2, 1:-1]
                + b[:-2, 2:]
                + b[1:-1, :-2]
                + b[1:-1, 2:]
                + b[2:, :-2]
                + b[2:, 1:-1]
                + b[2:, 2:]
            )
            on = (n == 3) & (b[1:-1, 1:-1] == 0) | ((n == 2) | (n == 3)) & (b[1:-1, 1:-1] == 1)
            return np.zeros_like(b).at[1:-1, 1:-1].set(on.astype(b.dtype))

        def t(s, _):
            n = sum((np.roll(s, (i, j), (0, 1)).astype(np.int8) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j))
            s = (n == 3) | s & (n == 2)
            return (s, np.count_nonzero(s))

        b = lax.fori_loop(0, 50, a, board)
        s, pop = lax.scan(t, board.astype(bool), None, 50)
        return (b, s, pop, np.where(s, 255, 0).astype(np.uint8))

    J["life"] = life

    @jit
    def levenshtein(a, b):
        n, m = 600, 500
        i = np.arange(n + 1)

        def step(c, d):
            p2, p1 = c
            up = np.where(i > 0, p1[i - 1] + 1, n + m)
            ii = np.clip(i - 1, 0, n - 1)
            jj = np.clip(d - i - 1, 0, m - 1)
            sub = np.where((i > 0) & (d - i > 0), p2[i - 1] + (a[ii] != b[jj]), n + m)
            new = np.minimum(np.minimum(up, p1 + 1), sub)
            new = np.where((i < d - m) | (i > d), n + m, new)
            new = np.where((i == 0) & (d <= m), d, new).astype(np.int32)
            return ((p1, new), None)

        big = np.full(n + 1, n + m, np.int32)
        (_, last), _ = lax.scan(step, (big, big.at[0].set(0)), np.arange(1, n + m + 1))
        k = np.arange(m + 1)

        def rows(i, row):
            c = np.concatenate([np.array([i + 1]), np.minimum(row[1:] + 1, row[:-1] + (b != a[i]))])
            return lax.cummin(c - k) + k

        return (last[n], lax.fori_loop(0, n, rows, k))

    J["levenshtein"] = levenshtein

    @jit
    def sliding(x):
        w = 50
        n = len(x) - w + 1
        v = x[np.arange(n)[:, None] + np.arange(w)]
        m, s = v.mean(1), v.std(1)
        z = (v - m[:, None]) / s[:, None]
        c = v - m[:, None]
        return (
            m,
            s,
            (z**3).mean(1),
            v.argmax(1) + np.arange(n),
            np.sort(v[::100], axis=1)[:, w // 2],
            (c[:, :-1] * c[:, 1:]).sum(1) / (c**2).sum(1),
        )

    J["sliding"] = lambda x, w: (lambda r: r + (np.unique(r[3])[:100],))(sliding(x))

    @jit
    def confusion(y, p, logits):
        C = 12
        M = np.bincount(y * C + p, length=C * C).reshape(C, C)
        tp = np.diagonal(M)
        precision = tp / M.sum(0)
        recall = tp / M.sum(1)
        f1 = 2 * precision * recall / (precision + recall)
        hot = np.eye(C, dtype=np.float32)[y[:20000]]
        same = hot.T @ np.eye(C, dtype=np.float32)[p[:20000]]
        e = np.exp(logits - logits.max(1, keepdims=True))
        soft = e / e.sum(1, keepdims=True)
        at = np.arange(20000)
        rank = np.argsort(-soft, axis=1)[:, :3]
        return (
            M,
            precision,
            recall,
            f1,
            np.mean(np.where(np.isnan(f1), 0, f1)),
            same,
            soft,
            -np.log(soft[at, y[:20000]]).mean(),
            rank,
            (rank == y[:20000, None]).any(1).mean(),
            soft.at[at, y[:20000]].add(-1).mean(0),
            np.zeros(C, np.int64).at[p].add(1),
        )

    J["confusion"] = lambda y, p, logits, C: confusion(y, p, logits)

    @jit
    def hsv(rgb):
        r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
        v = rgb.max(-1)
        c = v - rgb.min(-1)
        safe = np.where(c == 0, 1, c)
        h = np.where(v == r, (g - b) / safe % 6, np.where(v == g, (b - r) / safe + 2, (r - g) / safe + 4))
        h = np.where(c == 0, 0, h) / 6
        s = np.where(v == 0, 0, c / np.where(v == 0, 1, v))
        i = np.floor(h * 6).astype(np.int32)
        f = h * 6 - i
        p, q, t = v * (1 - s), v * (1 - f * s), v * (1 - (1 - f) * s)
        k = i % 6
        back = np.stack(
            [
                np.choose(k, [v, q, p, p, t, v], mode="clip"),
                np.choose(k, [t, v, v, q, p, p], mode="clip"),
                np.choose(k, [p, p, t, v, v, q], mode="clip"),
            ],
            -1,
        )
        edit = rgb.at[..., 1].multiply(0.5).at[100:200, :, 2].set(1)
        edit = np.where(((s > 0.8) & (v < 0.5))[..., None], np.array([1, 0, 0], np.float32), edit)
        return (
            np.stack([h, s, v], -1),
            back,
            np.abs(back - rgb).max() < 1e-06,
            np.histogram(h, bins=36, range=(0, 1))[0],
            edit,
            edit.mean((0, 1)),
        )

    J["hsv"] = hsv

    @jit
    def interp(xp, fp, x, lut, q):
        j = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, len(xp) - 2)
        slope = np.diff(fp) / np.diff(xp)
        lin = np.where(x < xp[0], fp[0], np.where(x > xp[-1], fp[-1], fp[j] + slope[j] * (x - xp[j])))
        near = fp[np.argmin(np.abs(xp[:, None] - x[None, :500]), axis=0)]
        bins = np.digitize(x, np.linspace(0, 1, 11))
        counts = np.bincount(bins, length=12)
        means = np.bincount(bins, weights=lin, length=12) / np.maximum(counts, 1)
        s = q * 63
        i = np.minimum(s.astype(np.int64), 62)
        f = (s - i).astype(np.float32)
        out = np.zeros(len(q), np.float32)
        for dx in (0, 1):
            for dy in (0, 1):
                for dz in (0, 1):
                    out += (
                        np.prod(np.where(np.array([dx, dy, dz]) == 1, f, 1 - f), axis=1)
                        * lut[i[:, 0] + dx, i[:, 1] + dy, i[:, 2] + dz]
                    )
        return (lin, near, bins, counts, means, out)

    J["interp"] = interp

    @jit
    def kalman(z):
        B = z.shape[1]
        dt = 0.1
        F = np.eye(4) + dt * np.eye(4, k=2)
        H = np.eye(2, 4)
        Q = 0.01 * np.eye(4)
        R = 0.5 * np.eye(2)

        def step(c, z):
            x, P, ll = c
            x = x @ F.T
            P = F @ P @ F.T + Q
            y = z - x @ H.T
            S = H @ P @ H.T + R
            K = np.linalg.solve(S, H @ P).swapaxes(1, 2)
            x = x + (K @ y[..., None])[..., 0]
            P = (np.eye(4) - K @ H) @ P
            ll = ll - 0.5 * (np.einsum("bi,bij,bj->b", y, np.linalg.inv(S), y) + np.linalg.slogdet(S)[1])
            return ((x, P, ll), x)

        (x, P, ll), X = lax.scan(step, (np.zeros((B, 4)), np.broadcast_to(np.eye(4), (B, 4, 4)), np.zeros(B)), z)
        return (X, P, ll, np.argmax(ll), np.hypot(X[..., 2], X[..., 3]).max(0))

    J["kalman"] = kalman

    @jit
    def spectrogram(x):
        n, hop = 512, 128
        frames = 1 + (len(x) - n) // hop
        idx = hop * np.arange(frames)[:, None] + np.arange(n)
        win = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / n)).astype(np.float32)
        S = np.fft.rfft(x[idx] * win, axis=1)
        power = np.abs(S) ** 2
        db = 10 * np.log10(np.maximum(power, 1e-10))
        f = np.fft.rfftfreq(n, 1 / 16000)
        out = np.fft.irfft(S, n, axis=1).astype(np.float32) * win
        y = np.zeros(len(x), np.float32).at[idx].add(out)
        norm = np.zeros(len(x), np.float32).at[idx].add(np.broadcast_to(win * win, idx.shape))
        return (
            np.maximum(db, db.max() - 80),
            f[power.argmax(1)],
            (power * f).sum(1) / power.sum(1),
            np.where(norm > 0.001, y / np.maximum(norm, 0.001), 0),
            np.maximum(np.diff(np.abs(S), axis=0), 0).sum(1),
            np.stack([p.sum(1) for p in np.split(power, [8, 32, 128], 1)], 1),
        )

    J["spectrogram"] = spectrogram

    @jit
    def gramschmidt(A):
        n = A.shape[1]
        col = np.arange(n)
        rows = np.arange(A.shape[0])

        def step(k, c):
            Q, R = c
            v = Q[:, k]
            r = np.sqrt(np.sum(v**2))
            v = v / r
            h = np.where(col > k, v @ Q, 0)
            return ((Q - v[:, None] * h).at[:, k].set(v), R.at[k].set(np.where(col == k, r, h)))

        def house(k, H):
            v = np.where(rows >= k, H[:, k], 0)
            v = v.at[k].add(np.copysign(np.linalg.norm(v), v[k]))
            v = v / np.linalg.norm(v)
            return H - 2 * np.outer(v, np.where(col >= k, v @ H, 0))

        Q, R = lax.fori_loop(0, n, step, (A, np.zeros((n, n))))
        H = lax.fori_loop(0, n, house, A)
        return (
            Q,
            R,
            np.abs(Q.T @ Q - np.eye(n)).max() < 1e-12,
            np.abs(np.diagonal(H)),
            np.abs(np.tril(H, -1)).max() < 1e-12,
        )

    J["gramschmidt"] = gramschmidt

    @jit
    def sinkhorn(x, y):
        C = ((x[:, None] - y[None]) ** 2).sum(-1)
        eps = 0.05
        K = np.exp(-C / eps)
        a = np.full(400, 1 / 400)
        b = np.full(500, 1 / 500)

        def step(_, c):
            u = a / (K @ c[1])
            return (u, b / (K.T @ u))

        u, v = lax.fori_loop(0, 200, step, (a, np.ones(500)))
        T = u[:, None] * K * v
        lse = jax.scipy.special.logsumexp

        def log_step(_, c):
            f = eps * (np.log(a) - lse((c[1][None, :] - C) / eps, 1))
            return (f, eps * (np.log(b) - lse((f[:, None] - C) / eps, 0)))

        f, g = lax.fori_loop(0, 50, log_step, (np.zeros(400), np.zeros(500)))
        return (
            T,
            (T * C).sum(),
            T.sum(1),
            np.exp((f[:, None] + g - C) / eps),
            T.argmax(1),
            -np.sum(np.where(T > 0, T * np.log(np.where(T > 0, T, 1)), 0)),
        )

    J["sinkhorn"] = sinkhorn

    @jit
    def pagerank(src, dst):
        n = 3000
        A = np.zeros((n, n), np.float32).at[src, dst].set(1)
        deg = A.sum(1)
        dangling = deg == 0
        Pt = (A / np.where(dangling, 1, deg)[:, None]).T

        def body(c):
            r, _, k = c
            return (np.float32(0.85) * (Pt @ r + np.where(dangling, r, 0).sum() / n) + np.float32(0.15 / n), r, k + 1)

        r = lax.while_loop(
            lambda c: (np.abs(c[0] - c[1]).sum() >= 1e-06) & (c[2] < 100),
            body,
            (np.full(n, 1 / n, np.float32), np.ones(n, np.float32), 0),
        )[0]
        count = np.bincount(src, length=n)
        w = 1 / np.maximum(count, 1)
        out = count == 0
        s = lax.fori_loop(
            0,
            40,
            lambda _, s: 0.85 * (np.bincount(dst, weights=s[src] * w[src], length=n) + np.where(out, s, 0).sum() / n)
            + 0.15 / n,
            np.full(n, 1 / n),
        )
        return (r, s.sum(), s, np.argsort(-s)[:10], np.count_nonzero(dangling), A.sum(dtype=np.int64))

    J["pagerank"] = lambda src, dst, n: pagerank(src, dst)

    @jit
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
            a = np.take_along_axis(s, lo[None], 0)[0]
            b = np.take_along_axis(s, hi[None], 0)[0]
            return a + (b - a) * (pos - lo)

        lo, mid, hi = pct(0.01), pct(0.5), pct(0.99)
        c = np.clip(np.where(ok, x, mid), lo, hi)
        k = len(big) // 100
        part = np.sort(big)
        return (
            ok,
            mean,
            var,
            mid,
            (c - c.mean(0)) / c.std(0),
            np.where(ok, x, mid),
            np.clip(big, part[k], part[len(big) - k]).sum(),
            np.where(ok, x, np.inf).min(1)[:10],
            np.where(ok, x, -np.inf).max(0),
        )

    J["clip"] = lambda x, big: (lambda r: r[1:] + (np.argwhere(~r[0])[:50], np.flatnonzero(~r[0].any(1))))(clip(x, big))

    @jit
    def fields():
        n = 600
        t = np.linspace(-2, 2, n)
        X, Y = np.meshgrid(t, t)
        r = np.hypot(X, Y)
        th = np.arctan2(Y, X)
        u = -Y * np.exp(-r * r)
        v = X * np.exp(-r * r)
        h = t[1] - t[0]
        curl = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * h) - (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * h)
        div = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * h) + (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * h)
        ring = np.bincount(np.floor(r * 20).astype(np.int64).ravel(), weights=np.pad(curl, 1).ravel(), length=57)
        c = X + 1j * Y - 0.5

        def step(_, s):
            z, count, alive = s
            z = np.where(alive, z**2 + c, z)
            alive = alive & (np.abs(z) <= 2)
            return (z, count + alive, alive)

        _, count, _ = lax.fori_loop(
            0, 40, step, (np.zeros_like(c), np.zeros(c.shape, np.int32), np.ones(c.shape, bool))
        )
        return (
            curl,
            np.abs(div).max() < 0.0001,
            ring,
            count,
            th[::50, ::50],
            np.stack(np.unravel_index(np.argmax(curl), curl.shape)),
        )

    J["fields"] = lambda n: (lambda r: r + (np.argwhere(r[3] == 40).min(0),))(fields())

    @jit
    def polyfit(x, y, many):
        V = x[:, None] ** np.arange(6)
        coef, res, rank, sv = np.linalg.lstsq(V, y)
        fit = np.zeros_like(x)
        for k in range(5, -1, -1):
            fit = fit * x + coef[k]
        Q, R = np.linalg.qr(V)
        t = np.arange(50.0)
        tm = t - t.mean()
        slope = (many * tm).sum(1) / (tm * tm).sum()
        inter = many.mean(1) - slope * t.mean()
        resid = many - (slope[:, None] * t + inter[:, None])
        w = 1 / (1 + np.abs(y - fit))
        W = V * w[:, None]
        return (
            coef,
            res,
            rank,
            1 - ((y - fit) ** 2).sum() / ((y - y.mean()) ** 2).sum(),
            np.linalg.solve(R, Q.T @ y),
            slope,
            inter,
            np.argsort((resid**2).sum(1))[:5],
            np.linalg.solve(W.T @ V, W.T @ y),
            np.arange(1, 6) * coef[1:],
        )

    J["polyfit"] = polyfit

    @jit
    def paths(D):
        n = 250
        d = lax.fori_loop(0, n, lambda k, d: np.minimum(d, d[:, k, None] + d[k]), D)
        adj = np.isfinite(D) | np.isfinite(D).T
        start = np.arange(n)
        label = lax.while_loop(
            lambda c: np.any(c[0] != c[1]),
            lambda c: (np.where(adj, c[0][None, :], n).min(1), c[0]),
            (np.where(adj, start[None, :], n).min(1), start),
        )[0]
        return (d, label, np.where(np.isinf(d), -1, d).max(1), np.isfinite(d).sum(1))

    J["paths"] = lambda D: (lambda r: r + (np.unique(r[1], return_counts=True)[1],))(paths(D))
    return J
