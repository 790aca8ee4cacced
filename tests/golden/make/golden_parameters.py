"""Special functions with parameters: arguments, values by mpmath, and where SciPy's values at ends are not those of the function."""
import mpmath as mp
import numpy as np
import scipy.special as sp

INF, NAN = np.inf, np.nan
POINTS = 36


def uniform(r, low, high, n=POINTS):
    return r.uniform(low, high, n)


def logarithmic(r, low, high, n=POINTS):
    return 10.0 ** r.uniform(low, high, n)


def joined(*parts):
    return np.concatenate(parts)


def whole(values):
    return np.floor(values)


# --- incomplete beta and gamma functions, by series of positive terms

def beta_lower(a, b, x):
    term = total = mp.mpf(1)
    k = 0
    while term > total * mp.mpf(10) ** -mp.mp.dps:
        term *= (a + b + k) * x / (a + 1 + k)
        total += term
        k += 1
    return total * mp.exp(a * mp.log(x) + b * mp.log(1 - x) - log_beta(a, b)) / a


def log_beta(a, b):
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def betainc(a, b, x, upper=False):
    with mp.workdps(90):
        if x <= 0 or x >= 1:
            return mp.mpf((x >= 1) != upper)
        if x <= mp.mpf(1) / 2 or x <= a / (a + b):
            p = beta_lower(a, b, x)
            return 1 - p if upper else p
        q = beta_lower(b, a, 1 - x)
        return q if upper else 1 - q


def gammainc(a, x, upper=False):
    with mp.workdps(220):
        term = total = mp.mpf(1)
        k = 0
        while term > total * mp.mpf(10) ** -220:
            k += 1
            term *= x / (a + k)
            total += term
        p = total * mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1))
        return 1 - p if upper else p


def beta_inverse(a, b, p, upper=False):
    x = mp.mpf(float((sp.betainccinv if upper else sp.betaincinv)(float(a), float(b), float(p))))
    for _ in range(3):
        slope = mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) - log_beta(a, b))
        x -= (betainc(a, b, x, upper) - p) / (-slope if upper else slope)
    return x


def gamma_inverse(a, p, upper=False):
    x = mp.mpf(float((sp.gammainccinv if upper else sp.gammaincinv)(float(a), float(p))))
    for _ in range(3):
        slope = mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))
        x -= (gammainc(a, x, upper) - p) / (-slope if upper else slope)
    return x


def fdtri(a, b, p):
    x = beta_inverse(a / 2, b / 2, p)
    return b * x / (a * (1 - x))


# --- zeta and Bessel functions

def hurwitz(x, q):
    """By Euler's and Maclaurin's formula far out: mpmath's own loses digits where x and q are large."""
    with mp.workdps(70):
        n = int(40 + x - min(q, 0))
        w = q + n
        total = mp.fsum((q + k) ** -x for k in range(n)) + w ** (1 - x) / (x - 1) + w ** -x / 2
        term = x * w ** (-x - 1)
        for j in range(1, 40):
            total += mp.bernoulli(2 * j) / mp.factorial(2 * j) * term
            term *= (x + 2 * j - 1) * (x + 2 * j) / w ** 2
        return total


def polygamma(n, x):
    return mp.psi(int(n), x)


def jv_size(v, x, value):
    x = abs(float(x))
    return min(1.0, np.sqrt(2 / (np.pi * x))) if x > abs(float(v)) else 0.0


def legendre(m, n, x, sine=None):
    m, n = int(m), int(n)
    a = abs(m)
    if a > n:
        return mp.mpf(0)
    sine = mp.sqrt((1 - x) * (1 + x)) if sine is None else sine
    p, before = mp.mpf(1), mp.mpf(0)
    for k in range(1, a + 1):
        p *= -(2 * k - 1) * sine
    for k in range(a + 1, n + 1):
        p, before = ((2 * k - 1) * x * p - (k + a - 1) * before) / (k - a), p
    return p * (-1) ** a * mp.factorial(n - a) / mp.factorial(n + a) if m < 0 else p


def legendre_size(m, n, x, value):
    return float(abs(legendre(m, n + 1, x)))


def harmonic(n, m, theta, phi):
    n, m = int(n), int(m)
    if abs(m) > n:
        return mp.mpc(0)
    norm = mp.sqrt((2 * n + 1) / (4 * mp.pi) * mp.factorial(n - m) / mp.factorial(n + m))
    return norm * legendre(m, n, mp.cos(theta), abs(mp.sin(theta))) * mp.expj(m * phi)


def harmonic_size(n, m, theta, phi, value):
    return max(float(abs(harmonic(n, m, theta, phi))), float(abs(harmonic(n + 1, m, theta, phi))))


def with_parameters(r):
    """name: (value, arguments, the size that the bound may refer to or None)"""
    a = joined(uniform(r, 0, 4), uniform(r, 0, 60), logarithmic(r, -4, 0), logarithmic(r, -4, 2))
    b = joined(uniform(r, 0, 4), uniform(r, 0, 60), logarithmic(r, -1, 2), logarithmic(r, -4, 2))
    mean = a / (a + b)
    x = joined(uniform(r, 0, 1, 2 * POINTS), logarithmic(r, -3, -.01), uniform(r, 0, 1))
    x[POINTS:2 * POINTS] = np.clip(mean + 2 * np.sqrt(mean * (1 - mean) / (a + b)) * r.normal(size=a.size), .01,
                                   .99)[POINTS:2 * POINTS]
    p = joined(uniform(r, 0, 1), logarithmic(r, -12, 0), uniform(r, 0, 1, 2 * POINTS))
    c, d = np.maximum(a, .02), np.maximum(b, .02)
    k, n = whole(uniform(r, 0, 30)), whole(uniform(r, 0, 30))
    some, share = uniform(r, .01, .99), uniform(r, .01, .99)
    s, t = uniform(r, .5, 40), uniform(r, .5, 40)
    quotient = logarithmic(r, -1.5, 1)
    shape, point = uniform(r, 0, 40), uniform(r, 0, 40)
    small_shape = joined(uniform(r, .02, 4), uniform(r, 1, 90), logarithmic(r, -1.5, 0))
    tails = joined(uniform(r, 0, 1), logarithmic(r, -12, 0), uniform(r, 0, 1))
    degree = whole(uniform(r, 0, 30, 2 * POINTS))
    order = whole(uniform(r, -1, 1, 2 * POINTS) * (degree + 1))
    v = joined(uniform(r, 0, 6), whole(uniform(r, -10, 40)), uniform(r, -6, 6), uniform(r, 0, 60))
    z = joined(uniform(r, 0, 40), uniform(r, 0, 90), uniform(r, 0, 60), logarithmic(r, 0, 4))
    sum_ = lambda k, n: k + n + 1
    return {
        "beta": (mp.beta, (joined(a, uniform(r, -9, 5)), joined(b, uniform(r, -5, 9))), None),
        "betaln": (lambda a, b: mp.log(mp.beta(a, b)), (a, b), lambda a, b, y: 1.0),
        "betainc": (betainc, (a, b, x), None),
        "betaincc": (lambda a, b, x: betainc(a, b, x, True), (a, b, x), None),
        "betaincinv": (beta_inverse, (c, d, p), None),
        "betainccinv": (lambda a, b, p: beta_inverse(a, b, p, True), (c, d, p), None),
        "bdtr": (lambda k, n, p: betainc(k + 1, n - k, p, True), (k, sum_(k, n), some), None),
        "bdtrc": (lambda k, n, p: betainc(k + 1, n - k, p), (k, sum_(k, n), some), None),
        "bdtri": (lambda k, n, p: beta_inverse(k + 1, n - k, p, True), (k, sum_(k, n), some), None),
        "nbdtr": (lambda k, n, p: betainc(n, k + 1, p), (k, n + 1, some), None),
        "nbdtrc": (lambda k, n, p: betainc(n, k + 1, p, True), (k, n + 1, some), None),
        "nbdtri": (lambda k, n, p: beta_inverse(n, k + 1, p), (k, n + 1, some), None),
        "fdtr": (lambda a, b, x: betainc(a / 2, b / 2, a * x / (b + a * x)), (s, t, quotient), None),
        "fdtrc": (lambda a, b, x: betainc(a / 2, b / 2, a * x / (b + a * x), True), (s, t, quotient), None),
        "fdtri": (fdtri, (s, t, share), None),
        "gdtr": (lambda a, b, x: gammainc(b, a * x), (quotient, shape, point), None),
        "gdtrc": (lambda a, b, x: gammainc(b, a * x, True), (quotient, shape, point), None),
        "gammaincinv": (gamma_inverse, (small_shape, tails), None),
        "gammainccinv": (lambda a, p: gamma_inverse(a, p, True), (small_shape, tails), None),
        "chdtri": (lambda v, p: 2 * gamma_inverse(v / 2, p, True), (s, some), None),
        "pdtri": (lambda k, p: gamma_inverse(k + 1, p, True), (k, some), None),
        "zeta": (hurwitz, (joined(1 + logarithmic(r, -6, 1), uniform(r, 1, 40)),
                           joined(uniform(r, 0, 20), logarithmic(r, -2, 3))), None),
        "polygamma": (polygamma, (whole(uniform(r, 1, 12, 2 * POINTS)),
                                  joined(uniform(r, 0, 4), logarithmic(r, -2, 3))), None),
        "expn": (lambda n, x: mp.expint(int(n), x), (joined(whole(uniform(r, 0, 10)), whole(uniform(r, 0, 80))),
                                                     joined(logarithmic(r, -5, 0), uniform(r, 0, 40))), None),
        "jv": (mp.besselj, (v, z), jv_size),
        "lpmv": (legendre, (order, degree, uniform(r, -1, 1, 2 * POINTS)), legendre_size),
    }


def inside(name, args):
    """Arguments that float32 has not rounded to an end."""
    if "inv" in name or name in ("betainc", "betaincc"):
        return (args[-1] > 0) & (args[-1] < 1)
    return args[0] > 1 if name == "zeta" else np.ones(args[0].shape, bool)


# --- complex results, as their parts

def modulus_or_1(*args):
    return max(1.0, float(abs(args[-1])))


def with_parts(r):
    """name: (complex value, arguments, size)"""
    n = 3 * POINTS
    x = joined(uniform(r, -8, 8, n), uniform(r, .5, 2.5), logarithmic(r, -3, 5))
    y = joined(uniform(r, -8, 8, n), uniform(r, -.5, .5), -logarithmic(r, -3, 5))
    near = -np.exp(-1.0) + logarithmic(r, -9, 0)
    u = joined(uniform(r, -3, 3, n), near, -logarithmic(r, -9, -.5), logarithmic(r, -20, 20))
    w = joined(uniform(r, -3, 3, n), uniform(r, 0, 1) * logarithmic(r, -9, 0), np.zeros(POINTS), logarithmic(r, -20, 20))
    k = whole(uniform(r, -2, 3, u.size))
    k[::3] = 0
    degree = whole(uniform(r, 0, 30, 2 * POINTS))
    order = whole(uniform(r, -1, 1, 2 * POINTS) * (degree + 1))
    return {
        "loggamma": (lambda x, y: mp.loggamma(mp.mpc(x, y)), (x, y), modulus_or_1),
        "lambertw": (lambda x, y, k: mp.lambertw(mp.mpc(x, y), int(k)), (u, w, k), lambda x, y, k, v: float(abs(v))),
        "sph_harm_y": (harmonic, (degree, order, uniform(r, 0, np.pi, 2 * POINTS), uniform(r, -7, 7, 2 * POINTS)),
                       harmonic_size),
    }


# --- ends

ENDS = [0.0, 1.0, -1.0, 0.5, INF, NAN, 2.0, -2.0, -0.5]


def is_end(value):
    return np.isnan(value) or np.isinf(value) or value in (0.0, 1.0)


def left_out(name, args):
    """SciPy's value is no limit of the function's there, or depends on the order of its checks."""
    unusual = any(np.isnan(a) or np.isinf(a) for a in args)
    if name in ("beta", "betaln"):
        return unusual or any(a <= 0 and a == np.floor(a) for a in args)
    if name in ("fdtr", "fdtrc", "betaincinv", "betainccinv", "zeta", "polygamma", "jv"):
        return unusual
    if name == "nbdtri":
        return unusual or not args[1] >= 1
    if name == "lpmv":
        return unusual or any(a != np.floor(a) for a in args[:2]) or abs(args[2]) > 1
    return False
