"""Ten programs of sparse matrices, neighbours and clusters by SciPy and scikit-learn; tests/golden/programs has the same lines in C++."""
import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sl
from scipy.cluster.hierarchy import fcluster, inconsistent, linkage
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.cluster import DBSCAN, KMeans

from golden_calls import Calls, absolute
from golden_more_programs import draws
from golden_programs import close as close_exactly


def places(n, rows, columns, seed):
    return (draws(n, seed) * rows).astype(int), (draws(n, seed + 1) ** 2 * columns).astype(int)


def moons(n, noise, seed):
    """Two half circles that reach into each other."""
    half = n // 2
    t = np.pi * draws(half, seed)
    upper, lower = np.column_stack([np.cos(t), np.sin(t)]), np.column_stack([1 - np.cos(t), 0.5 - np.sin(t)])
    return np.concatenate([upper, lower]) + noise * (draws(2 * n, seed + 1).reshape(n, 2) - 0.5)


def signed(v):
    """Columns whose largest elements are positive."""
    return v * np.sign(v[np.abs(v).argmax(axis=0), np.arange(v.shape[1])])


def pagerank():
    """Ranks of a web of links, some of them repeated, with pages that lead nowhere; then from a page of one's own."""
    n = 150
    i, j = places(600, n, n, 1)
    a = sp.coo_array((np.ones(600), (i, j)), shape=(n, n)).tocsr()
    a.data[:] = 1
    a.setdiag(0)
    a.eliminate_zeros()
    out = a.sum(axis=1)
    step = a.T.tocsr().multiply(np.where(out > 0, 1 / np.maximum(out, 1), 0)).tocsr()
    dangling = out == 0

    def iterate(home):
        rank = np.full(n, 1 / n)
        for _ in range(60):
            rank = 0.85 * (step @ rank + rank[dangling].sum() * home) + 0.15 * home
        return rank

    rank = iterate(np.full(n, 1 / n))
    mine = iterate(np.eye(n)[7])
    change = np.abs(0.85 * (step @ rank + rank[dangling].sum() / n) + 0.15 / n - rank).max()
    reach = (a @ a + a).astype(bool).sum(axis=1)
    return [a.nnz, rank, np.argsort(-rank, kind="stable")[:10], mine, change < 1e-4, dangling.sum(), reach]


def propagation():
    """Two labels that spread through a graph of neighbours; harmonic values by a direct solver."""
    x = moons(120, 0.2, 11)
    d, at = KDTree(x).query(x, 7)
    w = sp.csr_array((np.exp(-(d[:, 1:].ravel() / 0.2) ** 2), at[:, 1:].ravel(), np.arange(0, 721, 6)), shape=(120, 120))
    w = w.maximum(w.T)
    walk = sp.diags_array(1 / w.sum(axis=1)) @ w
    start = np.zeros((120, 2))
    start[3, 0] = start[77, 1] = 1
    f = start
    for _ in range(100):
        f = 0.95 * (walk @ f) + 0.05 * start
    laplace = (sp.diags_array(w.sum(axis=1)) - w).tocsc()
    known, free = np.array([3, 77]), np.setdiff1d(np.arange(120), [3, 77])
    inner, edge = laplace[free][:, free], laplace[free][:, known]
    h = sl.spsolve(inner.tocsc(), -(edge @ np.array([0.0, 1])))
    return [f, f.argmax(axis=1), h, w.nnz, walk.max(axis=1).toarray().ravel(), (h > 0.5).sum()]


def poisson():
    """Poisson's equation on a rectangle by three solvers, its energy, the flux through an edge, a coarser correction."""
    m, n = 20, 24
    line = [sp.diags_array([-np.ones(k - 1), 2 * np.ones(k), -np.ones(k - 1)], offsets=[-1, 0, 1]) for k in (m, n)]
    a = (sp.kron(line[0], sp.eye_array(n)) + sp.kron(sp.eye_array(m), line[1])).tocsr()
    f = np.sin(np.arange(m)[:, None] / 3) * np.cos(np.arange(n) / 4)
    u = sl.spsolve(a.tocsc(), f.ravel())
    by_cg, info = sl.cg(a, f.ravel(), rtol=1e-13, M=sp.diags_array(1 / a.diagonal()))
    by_minres, _ = sl.minres(a, f.ravel(), rtol=1e-14)
    x = np.zeros(m * n)
    for _ in range(30):
        x = x + 0.8 * (f.ravel() - a @ x) / a.diagonal()
    coarse = sp.kron(sp.eye_array(m // 2), np.ones((1, 2))) @ sp.eye_array(m)
    r = sp.kron(coarse, sp.kron(sp.eye_array(n // 2), np.ones((1, 2)))).tocsr()
    small = r @ a @ r.T
    y = x + r.T @ sl.spsolve(small.tocsc(), r @ (f.ravel() - a @ x))
    energy = 0.5 * u @ (a @ u) - u @ f.ravel()
    return [u, by_cg, info, by_minres, x, small.diagonal(), y, energy, u.reshape(m, n)[0].sum(), np.linalg.norm(f.ravel() - a @ y)]


def embedding():
    """A graph of radii, its components, eigenvectors of the normalised Laplacian, and groups by their signs."""
    x = np.concatenate([draws(120, 21).reshape(60, 2), draws(120, 22).reshape(60, 2) + [1.05, 0.1]])
    tree = KDTree(x)
    pairs = tree.query_pairs(0.3, output_type="ndarray")
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    a = sp.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(120, 120)).tocsr()
    a = a + a.T
    degree = a.sum(axis=1)
    scale = sp.diags_array(1 / np.sqrt(degree))
    laplace = sp.eye_array(120) - scale @ a @ scale
    w, v = sl.eigsh(laplace.tocsc(), k=4, sigma=-0.1, v0=np.ones(120) + 0.1 * draws(120, 23))
    top = sl.eigsh(laplace, k=2, which="LA", return_eigenvectors=False, v0=np.ones(120) + 0.1 * draws(120, 23))
    v = signed(v)
    side = np.abs(np.diff(v[:, 1] > 0)).sum()
    cut = a[v[:, 1] > 0][:, v[:, 1] <= 0].sum()
    return [degree, w, v, np.sort(top), side, cut, len(pairs)]


def recommender():
    """Ratings of films: means of rows, five factors by singular values, the best film that each has not seen."""
    i, j = places(900, 80, 50, 31)
    r = sp.coo_array((1 + np.floor(5 * draws(900, 33)), (i, j)), shape=(80, 50)).tocsr()
    count = r.count_nonzero(axis=1)
    mean = r.sum(axis=1) / np.maximum(count, 1)
    centred = r.copy()
    centred.data = centred.data - np.repeat(mean, np.diff(centred.indptr))
    u, s, vt = sl.svds(centred, k=5, v0=np.ones(50) + draws(50, 34))
    order = np.argsort(-s)
    s = s[order]
    guess = (u[:, order] * s) @ vt[order] + mean[:, None]
    unseen = np.where(r.toarray() != 0, -np.inf, guess)
    best = unseen.argmax(axis=1)
    fit = np.sqrt(np.mean((centred.data - ((u[:, order] * s) @ vt[order])[centred.tocoo().row, centred.tocoo().col]) ** 2))
    alike = (centred @ centred.T).toarray()
    return [mean, s, guess, best, fit, alike[3], r.max(axis=0).toarray().ravel(), sl.norm(centred)]


def documents():
    """Words weighed by their rarity, rows of length one, the nearest documents by angle, words of a group of them."""
    i, j = places(1500, 60, 90, 41)
    counts = sp.coo_array((np.ones(1500), (i, j)), shape=(60, 90)).tocsr()
    df = counts.count_nonzero(axis=0)
    idf = np.log((1 + 60) / (1 + df)) + 1
    x = counts.multiply(idf).tocsr()
    x = sp.diags_array(1 / sl.norm(x, axis=1)) @ x
    alike = (x @ x.T).toarray()
    distance = cdist(x.toarray(), x.toarray(), "cosine")
    near = np.argsort(distance, axis=1, kind="stable")[:, 1:5]
    group = x[near[0]].sum(axis=0)
    terms = np.argsort(-group, kind="stable")[:6]
    rare = counts[:, df <= np.quantile(df, 0.25)]
    return [idf, alike[0], np.take_along_axis(distance, near, 1), near, terms, rare.nnz, rare.sum(axis=1), x.argmax(axis=1)]


def groups():
    """Noisy moons: what density finds, what means find from given starts, and how well the two separate."""
    x = np.concatenate([moons(200, 0.15, 51), 4 * draws(20, 53).reshape(10, 2) - [1.5, 2]])
    dense = DBSCAN(eps=0.2, min_samples=5).fit(x)
    labels = dense.labels_
    means = KMeans(2, init=x[[0, 150]], n_init=1, tol=0).fit(x)
    both = np.zeros((labels.max() + 2, 2), int)
    np.add.at(both, (labels + 1, means.labels_), 1)
    d = cdist(x, x)
    same = means.labels_[:, None] == means.labels_
    inside = np.where(same, d, 0).sum(1) / (same.sum(1) - 1)
    outside = np.where(~same, d, 0).sum(1) / (~same).sum(1)
    silhouette = ((outside - inside) / np.maximum(inside, outside)).mean()
    return [labels, dense.core_sample_indices_, means.cluster_centers_, means.labels_.astype(int), means.inertia_, both, silhouette]


def hierarchy():
    """Trees of clusters by four rules, cut by number and by height; the distance at which two points meet."""
    x = draws(150, 61).reshape(50, 3) + np.repeat([[0, 0, 0], [1.5, 0, 0], [0, 1.4, 1], [2, 2, 2], [3, 0, 1]], 10, axis=0)
    d = pdist(x)
    results = [d]
    for method in ("single", "complete", "average", "ward"):
        z = linkage(d, method)
        flat = fcluster(z, 5, "maxclust")
        sizes = np.bincount(flat, minlength=6)[1:]
        height = fcluster(z, 0.7 * z[:, 2].max(), "distance").astype(int)
        results += [z[:, 2], z[:, 3], sizes, height, inconsistent(z)[:, 3]]
    city = squareform(pdist(x, "cityblock"))
    rank = np.argsort(city, axis=1, kind="stable")[:, :4]
    return results + [rank, fcluster(linkage(x, "average", "chebyshev"), 4, "maxclust").astype(int)]


def ridge():
    """A path of penalties for a sparse matrix below which an identity is stacked, by least squares and by normal equations."""
    i, j = places(1200, 90, 60, 71)
    a = sp.coo_array((draws(1200, 73) - 0.3, (i, j)), shape=(90, 60)).tocsr()
    b = np.sin(np.arange(90))
    residuals, sizes, steps = [], [], []
    for damp in np.geomspace(0.01, 10, 8):
        stacked = sp.vstack([a, np.sqrt(damp) * sp.eye_array(60)]).tocsr()
        x = sl.lsmr(stacked, np.concatenate([b, np.zeros(60)]), atol=1e-14, btol=1e-14, conlim=0, maxiter=600)[0]
        residuals.append(np.linalg.norm(a @ x - b))
        sizes.append(np.linalg.norm(x))
        y = sl.spsolve((a.T @ a + damp * sp.eye_array(60)).tocsc(), a.T @ b)
        steps.append(np.abs(x - y).max() < 1e-8)
    bend = np.diff(np.log(residuals)) / np.diff(np.log(sizes))
    by_lsqr = sl.lsqr(a, b, damp=0.5, atol=1e-14, btol=1e-14, conlim=0, iter_lim=600)[0]
    return [np.array(residuals), np.array(sizes), np.array(steps), bend, by_lsqr, x]


def constraints():
    """A quadratic with linear constraints as one system of blocks, heat that flows for a while, and parts of the matrices."""
    n, k = 40, 6
    q = sp.diags_array([np.full(n - 2, -0.5), 3 + draws(n, 81), np.full(n - 2, -0.5)], offsets=[-2, 0, 2], format="csr")
    c = sp.csr_array(np.where(draws(k * n, 82).reshape(k, n) < 0.3, draws(k * n, 83).reshape(k, n), 0))
    system = sp.block_array([[q, c.T], [c, None]]).tocsc()
    right = np.concatenate([np.cos(np.arange(n)), np.ones(k)])
    lu = sl.splu(system)
    z = lu.solve(right)
    back = lu.solve(system.T @ z, "T")
    heat = sl.expm_multiply(-0.3 * q, np.linspace(0, 1, n))
    curve = sl.expm_multiply(-q, np.ones(n), start=0, stop=1, num=5, endpoint=True)
    lower = sp.tril(q, 1).tocsr()
    solved = sl.spsolve_triangular(sp.tril(q).tocsr(), right[:n])
    part = system[5:30:3, ::-2].toarray()
    dense = c @ np.vander(np.arange(n) / n, 3)
    mixed = (q.multiply(dense[0, 0]) + sp.eye_array(n, format="csr") > 2).sum()
    return [z, back, heat, curve, lower.nnz, solved, part, dense, mixed, sl.norm(system, 1), np.asarray(q[3:6].sum(axis=0)),
            sl.onenormest(q.tocsc(), t=10), abs(c).max(axis=1).toarray().ravel(), c.argmax(axis=1)]


def close(r):
    """Iterations and factors stop within rounding times a condition number of each other."""
    r = np.asarray(r)
    if r.dtype.kind not in "fc" or r.size == 0:
        return close_exactly(r)
    return absolute(1e-8 * (float(np.abs(r).max()) + 1e-6))


PROGRAMS = [pagerank, propagation, poisson, embedding, recommender, documents, groups, hierarchy, ridge, constraints]


def write_sparse_programs(path, rng):
    c = Calls("sparse programs")
    for program in PROGRAMS:
        with np.errstate(all="ignore"):
            c.add(program.__name__, program, [], [], "", close)
    return c.save(path)


if __name__ == "__main__":
    import sys
    print(write_sparse_programs(sys.argv[1], None))
