"""Distances, neighbours and clusters: by SciPy 1.17 and scikit-learn 1.9, from points of float32 and float64."""
import numpy as np
from scipy.cluster import hierarchy
from scipy.spatial import KDTree, distance, distance_matrix
from sklearn import cluster

from golden_calls import Calls, EQUAL, absolute

REAL = ["euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "cosine", "correlation", "canberra",
        "braycurtis", "hamming", "jaccard", "jensenshannon", "seuclidean", "mahalanobis"]
TRUTH = ["dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule", "hamming", "jaccard"]
WEIGHTED = [m for m in REAL if m not in ("jensenshannon", "seuclidean", "mahalanobis")]


def near(dt, scale=64):
    """Rounding of sums in the dtype of the points, relative to the largest result."""
    eps = np.finfo(dt).eps

    def policy(r):
        finite = np.abs(r[np.isfinite(r)])
        return absolute(scale * eps * max(1.0, float(finite.max()) if finite.size else 1.0))
    return policy


def result_in(dt, f):
    return lambda: np.asarray(f()).astype(dt)


def points(rng, n, d, dt, few=False, positive=False):
    x = rng.integers(-2, 3, (n, d)) if few else rng.normal(size=(n, d)) * 2
    return (np.abs(x) + 0.1 if positive else x).astype(dt)


def matrices(c, rng):
    for dt in ["f4", "f8"]:
        for m, n, d in [(5, 7, 4), (1, 3, 1), (9, 6, 20), (2, 9, 70)]:
            for metric in REAL:
                if metric in ("correlation", "mahalanobis", "seuclidean", "jensenshannon") and (d < 2 or m + n <= d):
                    continue
                few = metric in ("hamming", "jaccard", "canberra", "braycurtis", "chebyshev")
                a, b = (points(rng, k, d, dt, few, metric == "jensenshannon") for k in (m, n))
                kw = {"p": float(rng.choice([1.0, 2.0, 3.0, 2.5, np.inf]))} if metric == "minkowski" else {}
                A, B = a.astype("f8"), b.astype("f8")
                # The inverse of a covariance enlarges rounding.
                scale = 100000 if metric == "mahalanobis" else 500
                c.add("cdist", result_in(dt, lambda: distance.cdist(A, B, metric, **kw)), [a, b], kw.values(), metric,
                      near(dt, scale))
                if metric in WEIGHTED:
                    w = rng.random(d)
                    w[0] = 0 if d > 2 else 1
                    c.add("cdist", result_in(dt, lambda: distance.cdist(A, B, metric, w=w, **kw)), [a, b, w],
                          kw.values(), metric + " weights", near(dt, 500))
                c.add("pdist", result_in(dt, lambda: distance.pdist(B, metric, **kw)), [b], kw.values(), metric,
                      near(dt, scale))
    for m, n, d in [(5, 7, 4), (3, 3, 20)]:
        for metric in TRUTH:
            a, b = rng.integers(0, 2, (m, d)).astype(bool), rng.integers(0, 2, (n, d)).astype(bool)
            a[0], b[0] = False, False
            w = rng.random(d)
            c.add("cdist", lambda: distance.cdist(a, b, metric), [a, b], [], metric, near("f8"))
            c.add("cdist", lambda: distance.cdist(a, b, metric, w=w), [a, b, w], [], metric + " weights", near("f8"))
            c.add("pdist", lambda: distance.pdist(b, metric), [b], [], metric, near("f8"))
    a, b = points(rng, 6, 3, "f8"), points(rng, 4, 3, "f8")
    v, vi = rng.random(3) + 0.5, rng.normal(size=(3, 3))
    vi = vi @ vi.T
    c.add("cdist", lambda: distance.cdist(a, b, "seuclidean", V=v), [a, b, v], [], "seuclidean V", near("f8"))
    c.add("cdist", lambda: distance.cdist(a, b, "mahalanobis", VI=vi), [a, b, vi], [], "mahalanobis VI", near("f8", 500))
    for p in [1, 2, 3, np.inf]:
        c.add("distance_matrix", lambda: distance_matrix(a, b, p), [a, b], [p], "", near("f8"))
    zero = np.zeros((2, 3))
    for metric in ["cosine", "canberra", "braycurtis", "jaccard", "hamming", "euclidean"]:
        c.add("cdist", lambda: distance.cdist(a, zero, metric), [a, zero], [], metric, near("f8"))
    far = points(rng, 4, 3, "f8") + 1e8
    c.add("cdist", lambda: distance.cdist(far, far, "euclidean"), [far, far], [], "euclidean", near("f8"))
    c.add("cdist", lambda: distance.cdist(a, b, "nearly"), [a, b], [], "nearly")
    c.add("cdist", lambda: distance.cdist(a, b[:, :2]), [a, b[:, :2]], [], "euclidean")
    c.add("cdist", lambda: distance.cdist(a[0], b), [a[0], b], [], "euclidean")
    c.add("cdist", lambda: distance.cdist(a, b, w=-v), [a, b, -v], [], "euclidean weights")
    for n in [1, 2, 3, 30]:
        y = rng.random(n * (n - 1) // 2)
        full = distance.squareform(y) if n > 1 else np.zeros((1, 1))
        c.add("squareform", lambda: full, [y])
        c.add("squareform", lambda: y, [full])
    c.add("squareform", lambda: distance.squareform(rng.random(4)), [rng.random(4)])
    c.add("squareform", lambda: distance.squareform(a @ a.T), [a @ a.T])
    c.add("squareform", lambda: distance.squareform(a), [a])


def lists(found):
    return [np.cumsum([0] + [len(f) for f in found]), np.array([i for f in found for i in sorted(f)], "i8")]


def trees(c, rng):
    for d in [1, 2, 3]:
        for n, m in [(1, 3), (40, 9), (150, 12)]:
            x, q = rng.random((n, d)), rng.random((m, d))
            t = KDTree(x)
            for p in [1, 2, 3, np.inf]:
                for k, bound in [(1, np.inf), (4, np.inf), (5, 0.1)]:
                    c.add("KDTree.query", lambda: t.query(q, k, p=p, distance_upper_bound=bound), [x, q], [k, p, bound],
                          "", near("f8"))
                r = 0.2
                c.add("KDTree.query_ball_point", lambda: lists(t.query_ball_point(q, r, p=p)), [x, q], [r, p])
                c.add("KDTree.query_ball_count", lambda: t.query_ball_point(q, r, p=p, return_length=True), [x, q],
                      [r, p])
                c.add("KDTree.query_pairs", lambda: np.array(sorted(t.query_pairs(0.05, p=p)), "i8").reshape(-1, 2), [x],
                      [0.05, p])
                c.add("KDTree.count_neighbors", lambda: t.count_neighbors(KDTree(q), r, p=p), [x, q], [r, p])
    x = rng.random((30, 2))
    c.add("KDTree.query", lambda: KDTree(x).query(x[:, :1]), [x, x[:, :1]], [1, 2, np.inf])
    c.add("KDTree.query", lambda: KDTree(x).query(x * np.nan), [x, x * np.nan], [1, 2, np.inf])
    c.add("KDTree.query", lambda: KDTree(x * np.inf).query(x), [x * np.inf, x], [1, 2, np.inf])
    c.add("KDTree.query", lambda: KDTree(x).query(x, 1, p=0.5), [x, x], [1, 0.5, np.inf])
    c.add("KDTree.query", lambda: KDTree(x).query(x, 0), [x, x], [0, 2, np.inf])


def k_means(c, rng):
    for n, d, k in [(60, 2, 3), (200, 5, 8), (250, 3, 20)]:
        x = rng.normal(size=(n, d)) + rng.integers(0, 4, (n, 1)) * 3 + 100
        start = x[:k].copy()
        for limit in [1, 2, 300]:
            def fit(weights=None, begin=start):
                r = cluster.KMeans(k, init=begin, n_init=1, max_iter=limit).fit(x, sample_weight=weights)
                return [r.cluster_centers_, r.labels_.astype("i8"), np.float64(r.inertia_), np.int64(r.n_iter_)]
            c.add("kmeans", fit, [x, start], [k, limit], "", near("f8", 1000))
            w = rng.random(n)
            c.add("kmeans", lambda: fit(w), [x, start, w], [k, limit], "weights", near("f8", 1000))
        far = start.copy()
        far[-1] += 1000
        c.add("kmeans", lambda: fit(None, far), [x, far], [k, 300], "host", near("f8", 1000))
    c.add("kmeans", lambda: cluster.KMeans(5).fit(x[:3]), [x[:3], x[:5]], [5, 10])
    c.add("kmeans", lambda: cluster.KMeans(5).fit(x * np.nan), [x * np.nan, x[:5]], [5, 10])


def densities(c, rng):
    for d, n, eps, least in [(2, 300, 0.3, 5), (2, 300, 0.15, 3), (3, 400, 0.5, 4), (1, 100, 0.02, 3), (5, 200, 1.2, 5),
                             (2, 50, 10, 5), (2, 50, 1e-9, 1), (2, 5, 1.0, 9)]:
        centers = rng.normal(size=(6, d)) * 2
        x = centers[rng.integers(0, 6, n)] + rng.normal(size=(n, d)) * 0.3
        for metric in ["euclidean", "cityblock"]:
            def fit(data=x, eps=eps, metric=metric):
                r = cluster.DBSCAN(eps=eps, min_samples=least, metric=metric).fit(data)
                return [r.labels_.astype("i8"), r.core_sample_indices_.astype("i8")]
            c.add("dbscan", fit, [x], [eps, least], metric)
    x = np.stack([rng.uniform(-1.5, 1.5, 300), rng.uniform(-np.pi, np.pi, 300)], 1)
    c.add("dbscan", lambda: fit(x, 0.15, "haversine"), [x], [0.15, least], "haversine")
    grid = np.stack(np.meshgrid(np.arange(8.0), np.arange(5.0)), -1).reshape(-1, 2)
    for least in [3, 4, 5]:
        c.add("dbscan", lambda: fit(grid, 1.0, "euclidean"), [grid], [1.0, least], "euclidean")
    c.add("dbscan", lambda: cluster.DBSCAN(eps=0).fit(x), [x], [0, 3], "euclidean")
    c.add("dbscan", lambda: cluster.DBSCAN(eps=1).fit(x * np.nan), [x * np.nan], [1, 3], "euclidean")


def agglomerations(c, rng):
    for method in ["single", "complete", "average", "weighted", "ward"]:
        for n in [2, 3, 10, 60]:
            x = rng.normal(size=(n, 3))
            y = rng.random(n * (n - 1) // 2)
            ties = rng.integers(1, 4, n * (n - 1) // 2).astype("f8")
            c.add("linkage", lambda: hierarchy.linkage(x, method), [x], [], method, near("f8"))
            c.add("linkage", lambda: hierarchy.linkage(y, method), [y], [], method, near("f8"))
            if method in ("single", "complete"):
                c.add("linkage", lambda: hierarchy.linkage(ties, method), [ties], [], method, near("f8"))
            z = hierarchy.linkage(x, method)
            for depth in [1, 2, 4]:
                c.add("inconsistent", lambda: hierarchy.inconsistent(z, depth), [z], [depth], "",
                      lambda r: absolute(1e-6))
            for t in [0.3, 0.8, 1.2]:
                c.add("fcluster", lambda: hierarchy.fcluster(z, t).astype("i8"), [z], [t], "inconsistent")
                c.add("fcluster", lambda: hierarchy.fcluster(z, t, "distance").astype("i8"), [z], [t], "distance")
            for k in [1, 2, 3, 7]:
                c.add("fcluster", lambda: hierarchy.fcluster(z, k, "maxclust").astype("i8"), [z], [k], "maxclust")
    c.add("linkage", lambda: hierarchy.linkage(rng.random(4)), [rng.random(4)], [], "single")
    c.add("linkage", lambda: hierarchy.linkage(rng.random((1, 3))), [rng.random((1, 3))], [], "single")
    c.add("linkage", lambda: hierarchy.linkage(x * np.nan), [x * np.nan], [], "single")
    c.add("linkage", lambda: hierarchy.linkage(x, "middle"), [x], [], "middle")
    c.add("linkage", lambda: hierarchy.linkage(x, "ward", "cityblock"), [x], [], "ward cityblock")
    c.add("fcluster", lambda: hierarchy.fcluster(z, 1, "best"), [z], [1], "best")
    c.add("fcluster", lambda: hierarchy.fcluster(z[:, :3], 1), [z[:, :3]], [1], "distance")


def more_columns_than_points(c, rng):
    """What needs no covariance, of one column and of more columns than points."""
    for dt in ["f4", "f8"]:
        for m, n, d in [(1, 3, 1), (4, 5, 1), (9, 6, 20), (2, 9, 70)]:
            for metric in ["jensenshannon", "seuclidean"] + (["correlation"] if d > 1 else []):
                a, b = (points(rng, k, d, dt, positive=metric == "jensenshannon") for k in (m, n))
                A, B = a.astype("f8"), b.astype("f8")
                # Of one column all distributions are the same; SciPy gives NaN where rounding leaves less than nothing.
                alike = metric == "jensenshannon" and d == 1

                def known(r):
                    return np.zeros_like(r) if alike else r
                c.add("cdist", result_in(dt, lambda: known(distance.cdist(A, B, metric))), [a, b], [], metric, near(dt, 500))
                c.add("pdist", result_in(dt, lambda: known(distance.pdist(B, metric))), [b], [], metric, near(dt, 500))


def weighed_densities(c, rng):
    """Weights of samples, matrices of distances, Minkowski's metric, by scikit-learn."""
    for n, d in [(60, 2), (40, 5)]:
        centers = rng.normal(size=(5, d)) * 2
        x = centers[rng.integers(0, 5, n)] + rng.normal(size=(n, d)) * 0.3
        far = distance.cdist(x, x)
        weights = rng.integers(-1, 5, n).astype("f8")
        for eps, least in [(0.3, 5), (0.8, 9), (0.05, 1)]:
            def fit(data, metric, w=None, p=None):
                r = cluster.DBSCAN(eps=eps, min_samples=least, metric=metric, p=p).fit(data, sample_weight=w)
                return [r.labels_.astype("i8"), r.core_sample_indices_.astype("i8")]
            c.add("dbscan", lambda: fit(x, "euclidean", weights), [x, weights], [eps, least], "euclidean weights")
            c.add("dbscan", lambda: fit(x, "chebyshev", weights), [x, weights], [eps, least], "chebyshev weights")
            c.add("dbscan", lambda: fit(far, "precomputed"), [far], [eps, least], "precomputed")
            c.add("dbscan", lambda: fit(far, "precomputed", weights), [far, weights], [eps, least], "precomputed weights")
            c.add("dbscan", lambda: fit(x, "minkowski", None, 3), [x], [eps, least, 3], "minkowski")
    c.add("dbscan", lambda: fit(x, "precomputed"), [x], [1, 3], "precomputed")
    c.add("dbscan", lambda: fit(x, "euclidean", weights[:3]), [x, weights[:3]], [1, 3], "euclidean weights")
    z = hierarchy.linkage(x, "average")
    for depth in [1, 3]:
        r = hierarchy.inconsistent(z, depth)
        for t in [0.4, 0.9, 1.3]:
            c.add("fcluster of R", lambda: hierarchy.fcluster(z, t, R=r).astype("i8"), [z, r], [t])


def k_means_of_batches(c, rng):
    """What no draw decides: places with many points each, near which centers start. Each case is fitted with several seeds, and stored
    where all give the same number of batches."""
    for k, d, each in [(3, 2, 20), (1, 1, 60), (5, 3, 12), (4, 6, 12), (2, 17, 16)]:
        half = rng.integers(1, 9, (k, d)) * rng.choice([-1.0, 1.0], (k, d))
        places = np.concatenate([half, -half]) if k > 1 else np.zeros((1, d))  # a mean of 0, so that sums are exact
        n, groups = each * len(places), len(places)
        x = np.repeat(places, each, axis=0)[rng.permutation(n)]
        near_by = places + rng.choice([-0.25, 0.25], places.shape)
        lost = near_by.copy()
        lost[-1] += 1024
        weights = rng.integers(0, 3, n).astype(float)
        for batch, most, stall, tol in [(32, 100, 10, 0.0), (100, 100, 3, 0.0), (50, 100, None, 1e-3), (32, 2, None, 0.0),
                                        (48, 3, 50, 0.0), (10 ** 6, 4, None, 0.0)]:
            for start, w in [(near_by, None), (near_by, weights), (lost, None)]:
                def fit(seed):
                    r = cluster.MiniBatchKMeans(groups, init=start, n_init=1, batch_size=batch, max_iter=most,
                                                max_no_improvement=stall, tol=tol, reassignment_ratio=0,
                                                random_state=seed).fit(x, sample_weight=w)
                    return [r.cluster_centers_, r.labels_.astype("i8"), np.float64(r.inertia_), np.int64(r.n_steps_)]
                fits = [fit(seed) for seed in range(60)]
                if any(int(f[3]) != int(fits[0][3]) or np.any(f[1] != fits[0][1]) or
                       not np.allclose(f[0], fits[0][0], atol=1e-12) for f in fits):
                    continue
                arrays = [x, start] + ([w] if w is not None else [])
                c.add("minibatch_kmeans", lambda: fits[0], arrays,
                      [groups, batch, most, 10 ** 6 if stall is None else stall, tol],
                      "weights" if w is not None else "", near("f8", 1000))


def write_spatial(path, rng):
    c = Calls("spatial")
    matrices(c, rng)
    trees(c, rng)
    k_means(c, rng)
    densities(c, rng)
    agglomerations(c, rng)
    more_columns_than_points(c, rng)
    weighed_densities(c, rng)
    k_means_of_batches(c, rng)
    return c.save(path)
