"""The rows of sinter_bench_sparse by SciPy and scikit-learn: peers.py [REGEX] [SECONDS]; ROWS=matrix,solvers chooses groups."""
import os, sys, re, time
import numpy as np, scipy.sparse as sp, scipy.sparse.linalg as sl, scipy.spatial as spa, scipy.spatial.distance as sd, scipy.cluster.hierarchy as h
import warnings
warnings.filterwarnings('ignore')
only = re.compile(sys.argv[1] if len(sys.argv) > 1 else '.')
budget = float(sys.argv[2]) if len(sys.argv) > 2 else 0.1
ROWS = os.environ.get('ROWS')



def want(s):
    return not ROWS or s in ROWS



def row(name, f):
    if not only.search(name):
        return
    try:
        f()
        begin = time.perf_counter()
        bc = bw = 1000000000.0
        k = 0
        while k < 2000 and (k < 3 or time.perf_counter() - begin < budget):
            c = time.process_time()
            w = time.perf_counter()
            f()
            c2 = time.process_time()
            w2 = time.perf_counter()
            bc = min(bc, c2 - c)
            bw = min(bw, w2 - w)
            k += 1
        print(f'{name}\t{bc * 1000.0:.5f}\t{bw * 1000.0:.5f}', flush=True)
    except Exception as e:
        print(f'#{name}: {e!r}', flush=True)



def uni(n, salt):
    with np.errstate(over='ignore'):
        z = (np.arange(n, dtype=np.uint64) + np.uint64(salt * 1000003)) * np.uint64(11400714819323198485)
        z ^= z >> np.uint64(31)
        z *= np.uint64(13787848793156543929)
        z ^= z >> np.uint64(29)
        return (z >> np.uint64(11)).astype(np.float64) * 2.0 ** (-53)



def u(shape, salt):
    return uni(int(np.prod(shape)), salt).reshape(shape)



def lap(side):
    n = side * side
    off = -np.ones(n)
    c = off.copy()
    c[side - 1::side] = 0
    a = sp.diags_array([off[:n - side], c[:-1], np.full(n, 4.0), c[:-1], off[:n - side]], offsets=[-side, -1, 0, 1, side]).tocsr()
    a.eliminate_zeros()
    return a



def rnd(m, n, per, salt):
    v = uni(m * per, salt)
    w = uni(m * per, salt + 1)
    r = (np.arange(m * per) // per).astype(np.int32)
    c = (w * n).astype(np.int32)
    a = sp.coo_array((v, (r, c)), shape=(m, n)).tocsr()
    return a



def matrix_rows(of, a, b, big):
    m, n = a.shape
    x = u((n,), 5)
    y = u((m,), 6)
    x8 = u((n, 8), 7)
    y8 = u((m, 8), 8)
    y8t = u((8, m), 9)
    ac = a.tocsc()
    coo = a.tocoo()
    nz = a.nnz
    step = 7919
    import math
    while math.gcd(step, nz) != 1:
        step += 1
    pm = np.arange(nz) * step % nz
    sd_, sr, sc = (coo.data[pm], coo.row[pm], coo.col[pm])
    scoo = sp.coo_array((sd_, (sr, sc)), shape=(m, n))
    R = lambda name, f: row(of + ' ' + name, f)
    R('csr.v', lambda: a @ x)
    R('csc.v', lambda: ac @ x)
    R('coo.v', lambda: coo @ x)
    R('csrT.v', lambda: a.T @ y)
    R('v.csr', lambda: y @ a)
    R('csr.M8', lambda: a @ x8)
    R('csrT.M8', lambda: a.T @ y8)
    R('M8.csr', lambda: y8t @ a)
    R('2Ax-3y', lambda: 2 * (a @ x) - 3 * y)
    R('csr*csr', lambda: a @ b)
    R('to csc', lambda: a.tocsc())
    R('csc to csr', lambda: ac.tocsr())
    R('to coo', lambda: a.tocoo())
    R('coo to csr', lambda: coo.tocsr())
    R('coo to csc', lambda: coo.tocsc())

    def sh():
        return sp.coo_array((sd_, (sr, sc)), shape=(m, n))
    R('shuffled coo to csr', lambda: sh().tocsr())
    R('shuffled coo to csc', lambda: sh().tocsc())
    R('csr of triplets', lambda: sp.csr_array((sd_, (sr, sc)), shape=(m, n)))
    R('csr of parts', lambda: sp.csr_array((a.data, a.indices, a.indptr), shape=(m, n)))
    R('copy', lambda: a.copy())
    R('astype f32', lambda: a.astype(np.float32))
    if m * n <= 4000000:
        d = a.toarray()
        R('toarray', lambda: a.toarray())
        R('csr of dense', lambda: sp.csr_array(d))
        R('csc of dense', lambda: sp.csc_array(d))
        R('coo of dense', lambda: sp.coo_array(d))
        R('A+dense', lambda: a + d)
        R('A*dense', lambda: a * d)
    R('2*A', lambda: 2 * a)
    R('A*rowvec', lambda: a * x)
    R('A*colvec', lambda: a * y[:, None])
    R('A/2', lambda: a / 2)
    R('-A', lambda: -a)
    R('abs', lambda: abs(a))
    R('sqrt', lambda: abs(a).sqrt())
    R('sin', lambda: a.sin())
    R('power3', lambda: a.power(3))
    R('A+B', lambda: a + b)
    R('A-B', lambda: a - b)
    R('A*B', lambda: a * b)
    R('A!=B', lambda: a != b)
    R('A<B', lambda: a < b)
    R('maximum', lambda: a.maximum(b))
    R('A>0.5', lambda: a > 0.5)
    R('A!=0', lambda: a != 0)
    R('sum', lambda: a.sum())
    R('sum0', lambda: a.sum(0))
    R('sum1', lambda: a.sum(1))
    R('mean0', lambda: a.mean(0))
    R('max', lambda: a.max())
    R('max0', lambda: a.max(0).toarray())
    R('max1', lambda: a.max(1).toarray())
    R('argmax', lambda: a.argmax())
    R('argmax0', lambda: a.argmax(0))
    R('argmax1', lambda: a.argmax(1))
    R('count_nonzero', lambda: a.count_nonzero())
    R('norm', lambda: sl.norm(a))
    R('norm 1', lambda: sl.norm(a, 1))
    R('norm axis1', lambda: sl.norm(a, axis=1))
    R('diagonal', lambda: a.diagonal())
    R('diagonal(1)', lambda: a.diagonal(1))
    R('trace', lambda: a.trace())

    def setd(k):
        t = a.copy()
        t.setdiag(1.0, k)
        return t
    R('setdiag', lambda: setd(0))
    R('setdiag(2)', lambda: setd(2))
    R('tril', lambda: sp.tril(a, format='csr'))
    R('triu', lambda: sp.triu(a, 1, format='csr'))
    R('find', lambda: sp.find(a))
    R('nonzero', lambda: a.nonzero())
    R('A[i]', lambda: a[[m // 2]] if False else a[m // 2])
    R('A[:,j]', lambda: a[:, n // 2])
    R('A[i,j]', lambda: a[m // 2, n // 2])
    R('A[10:m/2]', lambda: a[10:m // 2])
    R('A[::3]', lambda: a[::3])
    R('A[:,q]', lambda: a[:, n // 4:n // 2])
    R('A[::-1]', lambda: a[::-1])
    rr = (np.arange(m // 2) * 7 + 3) % m
    cc = (np.arange(n // 2) * 7 + 3) % n
    mask = y > 0.5
    R('A[rows]', lambda: a[rr])
    R('A[:,cols]', lambda: a[:, cc])
    R('A[i,j] arrays', lambda: a[rr, cc])
    R('A[mask]', lambda: a[mask])

    def sdup():
        t = scoo.copy()
        t.sum_duplicates()
        return t
    R('sum_duplicates', sdup)
    t0 = a @ b

    def srt():
        t = sp.csr_array((t0.data, t0.indices, t0.indptr), shape=t0.shape, copy=True)
        t.sort_indices()
        return t
    R('sort_indices', srt)

    def elz():
        t = a.copy()
        t.eliminate_zeros()
        return t
    R('eliminate_zeros', elz)
    R('vstack', lambda: sp.vstack([a, b], format='csr'))
    R('hstack', lambda: sp.hstack([a, b], format='csr'))
    R('block4', lambda: sp.block_array([[a, b], [b, a]], format='csr'))
    R('block_diag', lambda: sp.block_diag([a, b], format='csr'))
    two = sp.csr_array(u((3, 3), 3))
    if not big:
        R('kron', lambda: sp.kron(a, two, format='csr'))
    R('eye', lambda: sp.eye_array(n, format='csr'))
    R('diags', lambda: sp.diags_array([x[1:], x, x[1:]], offsets=[-1, 0, 1]).tocsr())
    rng = np.random.default_rng(1)
    R('random', lambda: sp.random_array((m, n), density=5.0 / n, format='csr', rng=rng))
    R('transpose', lambda: a.T)
    R('A.T A', lambda: a.T @ a)
if want('small'):
    a = lap(10)
    matrix_rows('lap10', a, a.T.tocsr() * 2.0, False)
    matrix_rows('rnd100', rnd(100, 100, 5, 1), rnd(100, 100, 5, 11), False)
if want('matrix'):
    a = lap(32)
    matrix_rows('lap32', a, a.T.tocsr() * 2.0, False)
    matrix_rows('rnd1000', rnd(1000, 1000, 10, 1), rnd(1000, 1000, 10, 11), False)
    a = lap(200)
    matrix_rows('lap200', a, a.T.tocsr() * 2.0, False)
    matrix_rows('rnd40k', rnd(40000, 40000, 10, 1), rnd(40000, 40000, 10, 11), False)
if want('large'):
    a = lap(1000)
    matrix_rows('lap1000', a, a.T.tocsr() * 2.0, True)
    a = rnd(10000, 15000, 200, 1)
    b = rnd(10000, 15000, 200, 11)
    n = 15000
    x = u((n,), 5)
    y = u((10000,), 5)
    row('wide csr.v', lambda: a @ x)
    row('wide csrT.v', lambda: a.T @ y)
    row('wide to csc', lambda: a.tocsc())
    row('wide A+B', lambda: a + b)
    row('wide sum0', lambda: a.sum(0))
    row('wide sum1', lambda: a.sum(1))
    row('wide max1', lambda: a.max(1).toarray())
    row('wide A[::3]', lambda: a[::3])
    row('wide norm', lambda: sl.norm(a))
    row('wide vstack', lambda: sp.vstack([a, b]))
    row('wide coo to csr', lambda: a.tocoo().tocsr())
    row('wide lsmr 20', lambda: sl.lsmr(a, y, atol=0, btol=0, conlim=0, maxiter=20))
    row('wide lsqr 20', lambda: sl.lsqr(a, y, atol=0, btol=0, conlim=0, iter_lim=20))
if want('solvers'):
    for side in (32, 100, 300):
        a = lap(side)
        n = side * side
        of = f'S{side}'
        b = u((n,), 4)
        ns = (a + rnd(n, n, 3, 21) * 0.1).tocsr()
        dinv = np.full(n, 0.25)
        M = sl.LinearOperator((n, n), matvec=lambda v: dinv * v, dtype=np.float64)
        it = 50
        R = lambda name, f: row(of + ' ' + name, f)
        R('cg 50', lambda: sl.cg(a, b, rtol=0, maxiter=it))
        R('cg 50 M', lambda: sl.cg(a, b, rtol=0, maxiter=it, M=M))
        R('cg 50 fn', lambda: sl.cg(sl.LinearOperator((n, n), matvec=lambda v: a @ v, dtype=np.float64), b, rtol=0, maxiter=it))
        R('cg 50 callback', lambda: sl.cg(a, b, rtol=0, maxiter=it, callback=lambda v: None))
        R('cg 1e-8', lambda: sl.cg(a, b, rtol=1e-08))
        R('cgs 30', lambda: sl.cgs(ns, b, rtol=0, maxiter=30))
        R('bicgstab 20', lambda: sl.bicgstab(ns, b, rtol=0, maxiter=20))
        R('bicgstab lap', lambda: sl.bicgstab(a, b, rtol=1e-08))
        R('gmres 3 cycles', lambda: sl.gmres(a, b, rtol=0, maxiter=3))
        R('gmres 1e-6', lambda: sl.gmres(a, b, rtol=1e-06, maxiter=100000))
        R('minres 50', lambda: sl.minres(a, b, rtol=0, maxiter=it))
        R('lsqr 50', lambda: sl.lsqr(a, b, atol=0, btol=0, conlim=0, iter_lim=it))
        R('lsmr 50', lambda: sl.lsmr(a, b, atol=0, btol=0, conlim=0, maxiter=it))
        R('lsmr 50 damp', lambda: sl.lsmr(a, b, damp=0.1, atol=0, btol=0, conlim=0, maxiter=it))
        ac = a.tocsc()
        if side <= 200:
            R('spsolve', lambda: sl.spsolve(ac, b))
            R('spsolve csr', lambda: sl.spsolve(a, b))
            R('splu', lambda: sl.splu(ac))
            R('spilu', lambda: sl.spilu(ac))
            lu = sl.splu(ac)
            R('lu.solve', lambda: lu.solve(b))
            b8 = u((n, 8), 4)
            R('lu.solve 8', lambda: lu.solve(b8))
            R('lu.solve T', lambda: lu.solve(b, 'T'))
            R('lu.L', lambda: sl.splu(ac).L if False else lu.L)
            v0 = u((n,), 14)
            R('eigsh LM4 1e-6', lambda: sl.eigsh(a, k=4, v0=v0, tol=1e-06))
            R('eigsh LM4 1e-6 one search', lambda: sl.eigsh(a, k=4, v0=v0, tol=1e-06))
            R('eigsh sigma0 6', lambda: sl.eigsh(a, k=6, sigma=0.0, v0=v0))
            R('svds 6', lambda: sl.svds(ns, k=6, v0=v0, tol=1e-06))
            X = u((n, 4), 15)
            R('lobpcg 20', lambda: sl.lobpcg(a, X, tol=1e-12, maxiter=20))
        L = sp.tril(a).tocsr()
        R('spsolve_triangular', lambda: sl.spsolve_triangular(L, b))
        R('expm_multiply', lambda: sl.expm_multiply(a * -0.1, b))
        R('onenormest', lambda: sl.onenormest(a))
        R('norm fro', lambda: sl.norm(a))
        R('op dot', lambda: (2 * sl.aslinearoperator(a) + sl.aslinearoperator(a)).dot(b))
    for m in (500, 20000):
        a = rnd(m, m // 4, 20, 31)
        b = u((m,), 4)
        of = f'LS{m}'
        v0 = u((m // 4,), 14)
        row(of + ' lsqr 50', lambda: sl.lsqr(a, b, atol=0, btol=0, conlim=0, iter_lim=50))
        row(of + ' lsmr 50', lambda: sl.lsmr(a, b, atol=0, btol=0, conlim=0, maxiter=50))
        row(of + ' svds 4', lambda: sl.svds(a, k=4, v0=v0, tol=1e-06))
if want('spatial'):
    metrics = ['euclidean', 'sqeuclidean', 'cityblock', 'chebyshev', 'minkowski', 'cosine', 'correlation', 'canberra', 'braycurtis', 'hamming', 'jensenshannon', 'seuclidean', 'mahalanobis', 'jaccard', 'dice', 'rogerstanimoto', 'russellrao', 'sokalsneath', 'yule']
    from sklearn.neighbors import NearestNeighbors
    for m, d in ((100, 8), (1000, 3), (1000, 32)):
        x = u((m, d), 1)
        y = u((m, d), 2)
        of = f'{m}x{d}'
        xb = x > 0.5
        yb = y > 0.5
        for me in metrics:
            bo = me in ('jaccard', 'dice', 'rogerstanimoto', 'russellrao', 'sokalsneath', 'yule')
            kw = dict(p=3) if me == 'minkowski' else {}
            row(f'cdist {of} {me}', lambda: sd.cdist(xb if bo else x, yb if bo else y, me, **kw))
            row(f'pdist {of} {me}', lambda: sd.pdist(xb if bo else x, me, **kw))
        pd = sd.pdist(x)
        sq = sd.squareform(pd)
        row('squareform ' + of, lambda: sd.squareform(pd))
        row('squareform back ' + of, lambda: sd.squareform(sq))
        row('distance_matrix ' + of, lambda: spa.distance_matrix(x, y))
    for m, d in ((1000, 2), (1000, 3), (1000, 8), (20000, 2), (20000, 3), (20000, 8), (200000, 2)):
        x = u((m, d), 1)
        q = u((min(m, 20000) // 4, d), 2)
        of = f'{m}x{d}'
        row('KDTree ' + of, lambda: spa.KDTree(x))
        t = spa.KDTree(x)
        r = 0.25 if d == 8 else (3.0 / m) ** (1 / 3) if d == 3 else (4.0 / m) ** 0.5
        row('query k1 ' + of, lambda: t.query(q, 1))
        row('query k10 ' + of, lambda: t.query(q, 10))
        row('query one ' + of, lambda: t.query(q[:1], 1))
        row('ball ' + of, lambda: t.query_ball_point(q, r))
        row('ball count ' + of, lambda: t.query_ball_point(q, r, return_length=True))
        row('pairs ' + of, lambda: t.query_pairs(r, output_type='ndarray'))
        row('count_neighbors ' + of, lambda: t.count_neighbors(t, r))
        if m <= 20000:
            row('knn brute ' + of, lambda: NearestNeighbors(n_neighbors=5, algorithm='auto').fit(x).kneighbors(q))
            row('knn cosine ' + of, lambda: NearestNeighbors(n_neighbors=5, metric='cosine').fit(x).kneighbors(q))
            row('knn manhattan ' + of, lambda: NearestNeighbors(n_neighbors=5, metric='manhattan').fit(x).kneighbors(q))
            row('radius ' + of, lambda: NearestNeighbors(radius=r).fit(x).radius_neighbors(q))
        from sklearn.cluster import DBSCAN
        row('dbscan ' + of, lambda: DBSCAN(eps=r).fit(x))
    for m, d in ((1000, 64), (20000, 64)):
        x = u((m, d), 1)
        q = u((1000, d), 2)
        xf = x.astype('f')
        qf = q.astype('f')
        of = f'{m}x{d}'
        row('knn brute ' + of, lambda: NearestNeighbors(n_neighbors=5, algorithm='brute').fit(x).kneighbors(q))
        row('knn cosine ' + of, lambda: NearestNeighbors(n_neighbors=5, metric='cosine').fit(x).kneighbors(q))
        row('knn brute f32 ' + of, lambda: NearestNeighbors(n_neighbors=5, algorithm='brute').fit(xf).kneighbors(qf))
if want('cluster'):
    from sklearn.cluster import KMeans, MiniBatchKMeans, kmeans_plusplus, DBSCAN
    for m, d, k in ((1000, 4, 8), (32768, 16, 32), (200000, 2, 16)):
        x = u((m, d), 1)
        of = f'{m}x{d} to {k}'
        c = x[:k].copy()
        xf = x.astype('f')
        cf = c.astype('f')
        row('kmeans 10 ' + of, lambda: KMeans(k, init=c, max_iter=10, tol=0, n_init=1).fit(x))
        row('kmeans 10 f32 ' + of, lambda: KMeans(k, init=cf, max_iter=10, tol=0, n_init=1).fit(xf))
        row('kmeans++ ' + of, lambda: kmeans_plusplus(x, k, random_state=1))
        row('kmeans full ' + of, lambda: KMeans(k, max_iter=20, tol=0, n_init=2, random_state=1).fit(x))
        row('minibatch ' + of, lambda: MiniBatchKMeans(k, init=c, n_init=1, max_iter=5, max_no_improvement=None, random_state=1).fit(x))
        km = KMeans(k, init=c, max_iter=2, tol=0, n_init=1).fit(x)
        row('kmeans predict ' + of, lambda: km.predict(x))
    for m in (100, 1000, 3000):
        x = u((m, 8), 1)
        pd = sd.pdist(x)
        for me in ('single', 'complete', 'average', 'weighted', 'ward'):
            row(f'linkage {me} {m}', lambda: h.linkage(x, me))
            row(f'linkage pd {me} {m}', lambda: h.linkage(pd, me))
        z = h.linkage(x, 'average')
        row(f'fcluster maxclust {m}', lambda: h.fcluster(z, 10, 'maxclust'))
        row(f'fcluster distance {m}', lambda: h.fcluster(z, 0.3, 'distance'))
        row(f'fcluster inconsistent {m}', lambda: h.fcluster(z, 1.0))
        row(f'inconsistent {m}', lambda: h.inconsistent(z))
        row(f'dbscan 8d {m}', lambda: DBSCAN(eps=0.4).fit(x))
