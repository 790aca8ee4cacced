"""Iterative solvers, factorisations and functions of sparse matrices: scipy.sparse.linalg's results of small systems."""
import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as sl

from golden_calls import Calls, EQUAL, absolute


def close(scale):
    """Iterations add in another order: what an error of rounding grows to in so many steps."""
    def policy(r):
        if r.dtype.kind not in "fc":
            return EQUAL
        finite = np.abs(r[np.isfinite(r)])
        return absolute(scale * float(np.finfo(r.dtype).eps) * (1 + float(finite.max() if finite.size else 0)))
    return policy


def laplacian(n, m):
    t = lambda k: sp.diags_array([-np.ones(k - 1), 2 * np.ones(k), -np.ones(k - 1)], offsets=[-1, 0, 1])
    return (sp.kron(sp.eye_array(n), t(m)) + sp.kron(t(n), sp.eye_array(m))).toarray()


def systems(rng):
    lap, n = laplacian(4, 5), 20
    keep = rng.random((n, n)) < 0.2
    general = np.where(keep, rng.normal(size=(n, n)), 0) + 4 * np.eye(n)
    hermitian = lap + 0.3j * np.triu(keep, 1) * rng.normal(size=(n, n))
    hermitian = np.triu(hermitian) + np.triu(hermitian, 1).conj().T + 3 * np.eye(n)
    indefinite = lap - 2.5 * np.eye(n)
    singular = laplacian(4, 5) - np.linalg.eigvalsh(lap)[0] * np.eye(n)
    b = rng.normal(size=n)
    z = b + 1j * rng.normal(size=n)
    return {"laplacian": (lap, b), "general": (general, b), "hermitian": (hermitian, z), "complex": (general + 0.2j * keep, z),
            "indefinite": (indefinite, b), "singular": (singular, singular @ b), "zero": (lap, 0 * b),
            "float32": (lap.astype("f4"), b.astype("f4")), "integers": (np.round(general), np.round(3 * b).astype("i4")),
            "antisymmetric": (np.array([[0.0, 1], [-1, 0]]), np.array([1.0, 0])),
            "nothing": (np.zeros((3, 3)), np.ones(3)), "ill": (1 / (np.arange(5)[:, None] + np.arange(5) + 1), np.ones(5))}


def square_systems(c, rng):
    all_of = systems(rng)
    fits = {"cg": ["laplacian", "hermitian", "zero", "float32", "ill"],
            "cgs": ["laplacian", "general", "complex", "zero", "antisymmetric"],
            "bicgstab": ["laplacian", "general", "complex", "zero", "integers", "antisymmetric"],
            "gmres": ["laplacian", "general", "complex", "zero", "integers", "float32", "antisymmetric"],
            "minres": ["laplacian", "indefinite", "singular", "zero"]}
    for name, which in fits.items():
        f = getattr(sl, name)
        for kind in which:
            a, b = all_of[kind]
            x0 = np.linalg.solve(a, b) if kind in ("laplacian", "general", "complex") else None
            inverse = np.diag(1 / (np.diag(a) + 0.1 * np.arange(len(b)))) if kind in ("laplacian", "general", "complex") else None
            for rtol, most in [(1e-5, -1), (1e-9, -1), (1e-5, 3), (1e-5, 0)]:
                if kind in ("float32", "ill") and rtol < 1e-5:
                    continue
                for option in ["", "x0", "exact", "M"]:
                    if option and (x0 is None or most == 0):
                        continue
                    arrays, kw = [a, b], {"rtol": rtol, "maxiter": None if most < 0 else most}
                    if option in ("x0", "exact"):
                        kw["x0"] = x0 if option == "exact" else x0 + 1
                        arrays.append(kw["x0"])
                    elif option == "M":
                        kw["M"] = inverse
                        arrays.append(inverse)
                    if name == "gmres":
                        if most == 0:
                            continue  # an error of SciPy's: a name that is not set
                        kw["restart"] = 7
                    if name == "minres" and np.iscomplexobj(a):
                        continue
                    steps = [0]

                    def call(f=f, a=a, b=b, kw=kw, name=name, steps=steps):
                        def count(_):
                            steps[0] += 1
                        more = {"callback_type": "pr_norm"} if name == "gmres" else {}
                        x, info = f(a, b, callback=count, **kw, **more)
                        return x, np.array([info, steps[0]])
                    c.add(name, call, arrays, [rtol, most], option,
                          close(1e3 * len(b) * np.linalg.cond(a) if kind == "ill" else 3e4))


def least_squares(c, rng):
    shapes = {"tall": (20, 9), "wide": (9, 20), "square": (12, 12)}
    for shape in shapes.values():
        a = np.where(rng.random(shape) < 0.5, rng.normal(size=shape), 0) + (5 if shape[0] == shape[1] else 2) * np.eye(*shape)
        b, x0 = rng.normal(size=shape[0]), rng.normal(size=shape[1])
        for dt in ["f8", "c16"]:
            if dt == "c16":
                a, b = a + 0.5j * rng.normal(size=shape), b + 1j
            for right in [b, 0 * b]:
                for damp in [0.0, 0.7]:
                    for most in [-1, 4]:
                        for start in [None, x0]:
                            if start is not None and (dt == "c16" or not right.any()):
                                continue
                            numbers, arrays = [damp, most], [a, right] + ([start] if start is not None else [])
                            limit = None if most < 0 else most
                            c.add("lsmr", lambda: flat(a, sl.lsmr(a, right, damp=damp, maxiter=limit, x0=start)), arrays, numbers,
                                  "", close(1e6))
                            c.add("lsqr", lambda: flat(a, sl.lsqr(a, right, damp=damp, iter_lim=limit, x0=start,
                                                               calc_var=dt == "f8")), arrays, numbers, "", close(1e6))
    rank = rng.normal(size=(10, 3)) @ rng.normal(size=(3, 6))
    for f in ["lsmr", "lsqr"]:
        c.add(f, lambda: flat(rank, getattr(sl, f)(rank, np.ones(10))), [rank, np.ones(10)], [0.0, -1], "", close(1e7))


def ill_least_squares(c, rng):
    """Square systems whose last steps are rounding's: results agree as far as the stopping rule tells, and steps need not."""
    tol, n = 1e-6, 12
    a = np.where(rng.random((n, n)) < 0.5, rng.normal(size=(n, n)), 0) + 2 * np.eye(n)
    b = rng.normal(size=n)
    for a, b in [(a, b), (a + 0.5j * rng.normal(size=(n, n)), b + 1j)]:
        for damp in [0.0, 0.7]:
            full = np.vstack([a, damp * np.eye(n)])
            x = np.linalg.lstsq(full, np.concatenate([b, np.zeros(n)]), rcond=None)[0]
            # Of each result: norm(r) <= tol (norm(b) + norm(A) norm(x)), or norm(A^H r) <= tol norm(A) norm(r).
            size, inverse = np.linalg.norm(full), np.linalg.norm(np.linalg.pinv(full), 2)
            left = tol * (np.linalg.norm(b) + size * np.linalg.norm(x))
            solution = absolute(2 * (inverse * left if damp == 0 else inverse**2 * tol * size * np.linalg.norm(b)))
            norms = absolute(2 * left * max(1, size))
            for name in ["lsmr", "lsqr"]:
                def call(name=name, a=a, b=b, damp=damp):
                    x, codes, norms, *_ = flat(a, getattr(sl, name)(a, b, damp=damp))
                    # The norms of residuals alone: estimates of norm(A) and of the condition grow with each step.
                    kept = norms[[0, 1]] if name == "lsmr" else norms[[0, 1, 4]]
                    return x, codes[:1], kept
                policies = iter([solution, EQUAL, norms])
                c.add(name, call, [a, b], [damp, -1], "rule", lambda r, p=policies: next(p))


def flat(a, r):
    """x (which lsqr makes real where it is 0), then the codes, then the norms, then lsqr's variances."""
    arrays = [np.asarray(v, dtype=float) for v in r[3:] if np.ndim(v) == 0]
    return [np.asarray(r[0], dtype=a.dtype), np.array([r[1], r[2]]), np.array(arrays)] + ([np.asarray(v) for v in r[3:] if np.ndim(v)])


def factors(c, rng):
    for kind, (a, b) in systems(rng).items():
        if kind in ("zero", "antisymmetric", "nothing", "ill"):
            continue
        s = sp.csc_array(a)
        many = np.stack([b, b[::-1]], 1)
        policy = close(1e6 if kind == "singular" else 1e4)
        if kind == "singular":
            continue
        c.add("spsolve", lambda: sl.spsolve(s, b), [a, b], [], "", policy)
        c.add("spsolve", lambda: sl.spsolve(s, many), [a, many], [], "", policy)
        # Other orders of the columns are a matter of SuperLU's version.
        lu = sl.splu(s.astype(float) if s.dtype.kind == "i" else s, permc_spec="NATURAL")
        for trans in "NTH":
            c.add("splu solve", lambda: lu.solve(b.astype(lu.L.dtype), trans), [a, b.astype(lu.L.dtype)], [], trans, policy)
        if kind == "integers":
            continue  # pivots of equal size: either is right
        c.add("splu", lambda: [lu.L.toarray(), lu.U.toarray(), lu.perm_r, lu.perm_c], [a], [], "", policy)
        ilu = sl.spilu(s.astype(float) if s.dtype.kind == "i" else s, drop_tol=0.05, fill_factor=2,
                       permc_spec="NATURAL")
        c.add("spilu", lambda: ilu.solve(b.astype(lu.L.dtype)), [a, b.astype(lu.L.dtype)], [0.05, 2], "", policy)
        lower = sp.csr_array(np.tril(a).astype(lu.L.dtype))
        c.add("triangular", lambda: sl.spsolve_triangular(lower, b.astype(lu.L.dtype), lower=True), [a, b], [1], "", policy)


def functions(c, rng):
    for kind, (a, _) in systems(rng).items():
        if kind in ("zero", "ill", "float32", "integers"):
            continue
        s = sp.csr_array(a)
        for order in [1, -1, np.inf, -np.inf]:
            c.add("norm", lambda: sl.norm(s, order), [a], [order], "", close(1e2))
            if abs(order) > 1 or order == 1:
                for axis in [0, 1]:
                    c.add("norm", lambda: sl.norm(s, order, axis=axis), [a], [order, axis], "axis", close(1e2))
        c.add("norm", lambda: sl.norm(s), [a], [], "fro", close(1e2))
        b = rng.normal(size=(a.shape[0], 2))
        for t in [1.0, -3.0]:
            c.add("expm_multiply", lambda: sl.expm_multiply(t * s, b), [t * a, b], [], "", close(1e5))
        c.add("expm_multiply", lambda: sl.expm_multiply(s, b[:, 0], start=0, stop=1, num=4), [a, b[:, 0]], [0, 1, 4], "points",
              close(1e5))
    eigenvalues(c, rng)


def eigenvalues(c, rng):
    a = systems(rng)["laplacian"][0]
    for which in ["LM", "SM", "LA", "SA", "BE"]:
        c.add("eigsh", lambda: np.sort(sl.eigsh(a, k=4, which=which, return_eigenvectors=False, ncv=18)), [a], [4], which, close(1e4))
    c.add("eigsh sigma", lambda: np.sort(sl.eigsh(a, k=3, sigma=2.1, return_eigenvectors=False)), [a], [3, 2.1], "LM", close(1e4))
    pairs(c, rng, a)
    blocks(c, rng)
    for shape in [(30, 12), (12, 30)]:
        m = rng.normal(size=shape)
        c.add("svds", lambda: np.sort(sl.svds(m, k=3, return_singular_vectors=False)), [m], [3], "LM", close(1e5))


def pairs(c, rng, a):
    """A x = w M x: every mode, M well and ill conditioned and, with sigma, singular."""
    n = len(a)
    half = np.where(rng.random((n, n)) < 0.2, rng.normal(size=(n, n)), 0)
    well = half @ half.T + 2 * np.eye(n)
    ill = np.diag(np.logspace(-6, 0, n)) @ well @ np.diag(np.logspace(-6, 0, n))
    singular = np.diag((np.arange(n) % 3 > 0).astype(float))
    indefinite = np.diag(np.where(np.arange(n) % 2, 1.0, -2.0))
    hermitian = a + 0.2j * (np.triu(half, 1) - np.triu(half, 1).T)

    def add(m, which, sigma=None, mode="normal", matrix=a, k=3):
        numbers = [k] + ([] if sigma is None else [sigma])
        conditions = np.linalg.cond(m) if np.linalg.matrix_rank(m) == n else 1
        c.add("eigsh pair", lambda: np.sort(sl.eigsh(matrix, k, M=m, which=which, sigma=sigma, mode=mode, ncv=min(16, len(m) // 2),
                                                     return_eigenvectors=False)),
              [matrix, m], numbers, which + " " + mode, close(1e4 + 1e2 * conditions))

    for which in ["LM", "SM", "LA", "SA", "BE"]:
        add(well, which)
    add(ill, "LM")
    add(well, "LM", matrix=hermitian)
    for m in [well, ill, singular]:
        add(m, "LM", 0.9)
        add(m, "LA", 0.9, "cayley")
    add(well, "LM", 0.9, matrix=hermitian)
    add(indefinite, "LM", 0.7, "buckling")
    add(well, "SA", 1.1, "buckling")
    add(well, "LM", 0.0)


def blocks(c, rng):
    """lobpcg: eigenvalues, and how they came in the first steps, which rounding has not reached yet."""
    a = laplacian(6, 7)
    n, k = len(a), 3
    x = rng.normal(size=(n, k))
    b = np.diag(1 + np.arange(n) / n)
    y = np.linalg.eigh(a)[1][:, [0, 2]]
    inverse = np.diag(1 / (np.diag(a) + 0.1 * np.arange(n)))
    upper = np.triu(rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.1), 1)
    hermitian = a + 0.3j * (upper - upper.T)

    def add(option, arrays, matrix=a, start=x, tol=1e-7, most=90, largest=False, **kw):
        def call():
            w, v, history, norms = sl.lobpcg(matrix, start.copy(), tol=tol, maxiter=most, largest=largest, retLambdaHistory=True,
                                             retResidualNormsHistory=True, **kw)
            assert most < 10 or np.max(norms[-1]) <= tol
            return w, np.atleast_2d(np.array(history).reshape(-1, start.shape[1]))[:5]
        c.add("lobpcg", call, [matrix, start] + arrays, [tol, most, largest], option, close(1e6))

    add("", [])
    add("", [], largest=True)
    add("", [], most=3)
    add("", [], matrix=hermitian)
    add("", [], start=x[:, :1])
    add("B", [b], B=b)
    add("M", [inverse], M=inverse)
    add("Y", [y], Y=y)
    y = scipy.linalg.eigh(a, b)[1][:, [0, 2]]  # else the residuals of what is orthogonal to Y do not vanish
    add("BMY", [b, inverse, y], B=b, M=inverse, Y=y)
    add("", [], matrix=a.astype("f4"), start=x.astype("f4"), tol=1e-2)
    dense = laplacian(3, 4)
    for option, arrays, kw in [("", [], {}), ("B", [b[:12, :12]], {"B": b[:12, :12]})]:
        for largest in [False, True]:
            c.add("lobpcg", lambda: (sl.lobpcg(dense, x[:12], largest=largest, **kw)[0], np.zeros((0, 3))), [dense, x[:12]] + arrays,
                  [0, 20, largest], option, close(1e4))


def write_solvers(folder, rng):
    c = Calls("solvers")
    square_systems(c, rng)
    least_squares(c, rng)
    factors(c, rng)
    functions(c, rng)
    ill_least_squares(c, rng)
    return c.save(folder)
