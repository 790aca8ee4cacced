// Block operations whose elements take different branches or numbers of steps: a block is sorted by a key, so that lanes beside
// each other take the same ones, and its results go back to their places. A key only says which elements belong together, so no
// result depends on it. To be included after the texts and before special_loops.inl; overloads of `special_key` say which
// operations are sorted.
namespace sinter::jit::tier0::SINTER_ISA {
namespace {

template <opcode Op>
struct special_tag {};

constexpr int special_keys = 128;     // keys are whole numbers from 0 to special_keys - 1
constexpr int sorted_elements = 256;  // sorted at a time

/// The order of n elements by their keys, which stays as it is among equal ones; whether there are several.
inline bool sort_keys(const double* keys, int n, std::uint16_t* order) {
  std::uint16_t counts[special_keys + 1] = {};
  unsigned char key[sorted_elements];
  for (int l = 0; l < n; ++l) key[l] = static_cast<unsigned char>(int(keys[l]) & (special_keys - 1));
  for (int l = 0; l < n; ++l) ++counts[key[l] + 1];
  if (counts[key[0] + 1] == n) return false;
  for (int k = 0; k < special_keys; ++k) counts[k + 1] = std::uint16_t(counts[k + 1] + counts[k]);
  for (int l = 0; l < n; ++l) order[counts[key[l]]++] = std::uint16_t(l);
  return true;
}

}  // namespace
}  // namespace sinter::jit::tier0::SINTER_ISA

namespace sn {
namespace {

/// A class from 0 to `most` of a number, 0 of NaN.
template <class V>
SN_FN V key_class(V x, double most) {
  return sf_if(x > V(0.0), sf_min(sf_floor(x), V(most)), V(0.0));
}
template <class V, class M>
SN_FN V key_if(M m, double key) {
  return sf_if(m, V(key), V(0.0));
}

/// Of the incomplete gamma functions: series or fraction, which weight, how many steps.
template <class V>
SN_FN V gamma_key(V a, V x) {
  const auto lower = x < a;
  const V steps = sf_sqrt(sf_max(x, V(0.0))), ratio = a / x;
  const V upper = sf_max(V(105.0) / x, V(3.6) * sf_sqrt(sf_max(a, V(0.0))) * ratio);
  const V recurred = key_if<V>(a > V(8.0), 64.0) + sf_if(lower, V(32.0) + key_class(V(4.0) * steps * sf_min(V(1.0), x / a), 31.0),
                                                         key_class(upper, 31.0));
  return sf_if(sf_gamma_is_uniform(a, x), V(64.0), recurred);
}
/// Of the incomplete beta functions: which end, series or fraction, numbers that are moved up, how many steps.
template <class V>
SN_FN V beta_key(V a, V b, V x) {
  const V y = V(1.0) - x, one = V(1.0), three = V(3.0);
  const auto below = a * y >= b * x;
  const V c = sf_if(below, a, b), d = sf_if(below, b, a), u = sf_if(below, x, y);
  const auto series = (u <= V(0.5)) & (d * u <= V(0.8));
  const auto low = (a < three) | (b < three);
  const V far = c / (c + d) - u, spread = V(4.0) * sf_sqrt(sf_max(c * d / ((c + d) * (c + d + one)), V(0.0)));
  const V near = sf_max(one - far / spread, V(0.0)), size = sf_sqrt(sf_max(sf_min(c, d), V(0.0)));
  const V recurred =
      key_if<V>(low, 64.0) + sf_if(series, V(32.0) + key_class(V(16.0) * u, 31.0), key_class(near * size * V(8.0), 31.0));
  return sf_if(sf_beta_is_wide(a, b, x, y), V(127.0), recurred);
}
/// Of inverses of the incomplete gamma functions: the shape, and which tail.
template <class V>
SN_FN V inverse_key(V a, V p) {
  return key_class(V(8.0) * sf_min(a, V(1.0)) + a, 63.0) + key_if<V>(p > V(0.5), 64.0);
}
/// Of inverses of the incomplete beta functions: numbers below 1, which tail, how many steps.
template <class V>
SN_FN V beta_inverse_key(V a, V b, V p) {
  const V least = sf_max(sf_min(a, b), V(0.0));
  return key_if<V>(least < V(1.0), 64.0) + key_if<V>(p > V(0.5), 32.0) + key_class(V(4.0) * sf_sqrt(least), 31.0);
}
/// Of Bessel functions of any order: powers, Hankel's expansion or a recurrence of how many steps.
template <class V>
SN_FN V bessel_key(V order, V argument) {
  const V v = sf_abs(order), x = sf_abs(argument);
  const auto series = x * x < V(4.0) * (v + V(1.0));
  const auto far = (x > V(25.0)) & (x > V(0.5) * v * v);
  return sf_if(series, key_class(x + x, 31.0),
               sf_if(far, V(32.0) + key_class(v, 31.0), V(64.0) + key_class(sf_max(v, x), 63.0)));
}
/// Of Legendre functions: degree and order.
template <class V>
SN_FN V legendre_key(V n, V m) {
  const V degree = sf_if(n < V(0.0), V(-1.0) - n, n);
  return sf_if(degree <= V(30.0),
               V(4.0) * key_class(degree, 30.0) + key_class(V(4.0) * sf_abs(m) / (degree + V(1.0)), 3.0), V(124.0));
}

}  // namespace
}  // namespace sn

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

#define SN_KEY(name, key, ...)                                  \
  template <class V>                                            \
  SN_FN V special_key(special_tag<opcode::name>, __VA_ARGS__) { \
    return sn::key;                                             \
  }
SN_KEY(gammainc, gamma_key(a, x), V a, V x)
SN_KEY(gammaincc, gamma_key(a, x), V a, V x)
SN_KEY(pdtrc, gamma_key(k + V(1.0), m), V k, V m)
SN_KEY(chdtr, gamma_key(V(0.5) * v, V(0.5) * x), V v, V x)
SN_KEY(chdtrc, gamma_key(V(0.5) * v, V(0.5) * x), V v, V x)
SN_KEY(gdtr, gamma_key(b, a* x), V a, V b, V x)
SN_KEY(gdtrc, gamma_key(b, a* x), V a, V b, V x)
SN_KEY(betainc, beta_key(a, b, x), V a, V b, V x)
SN_KEY(betaincc, beta_key(a, b, x), V a, V b, V x)
SN_KEY(bdtr, beta_key(k + V(1.0), n - k, p), V k, V n, V p)
SN_KEY(bdtrc, beta_key(k + V(1.0), n - k, p), V k, V n, V p)
SN_KEY(nbdtr, beta_key(n, k + V(1.0), p), V k, V n, V p)
SN_KEY(nbdtrc, beta_key(n, k + V(1.0), p), V k, V n, V p)
SN_KEY(fdtr, beta_key(V(0.5) * a, V(0.5) * b, a* x / (a * x + b)), V a, V b, V x)
SN_KEY(fdtrc, beta_key(V(0.5) * a, V(0.5) * b, a* x / (a * x + b)), V a, V b, V x)
SN_KEY(gammaincinv, inverse_key(a, p), V a, V p)
SN_KEY(gammainccinv, inverse_key(a, p), V a, V p)
SN_KEY(chdtri, inverse_key(V(0.5) * v, p), V v, V p)
SN_KEY(pdtri, inverse_key(k + V(1.0), p), V k, V p)
SN_KEY(betaincinv, beta_inverse_key(a, b, p), V a, V b, V p)
SN_KEY(betainccinv, beta_inverse_key(a, b, p), V a, V b, V p)
SN_KEY(bdtri, beta_inverse_key(k + V(1.0), n - k, p), V k, V n, V p)
SN_KEY(nbdtri, beta_inverse_key(n, k + V(1.0), p), V k, V n, V p)
SN_KEY(fdtri, beta_inverse_key(V(0.5) * a, V(0.5) * b, p), V a, V b, V p)
SN_KEY(jv, bessel_key(v, x), V v, V x)
SN_KEY(lpmv, legendre_key(n, m), V m, V n, V)
SN_KEY(sph_legendre, legendre_key(n, m), V n, V m, V)
#undef SN_KEY

}  // namespace
}  // namespace sinter::jit::tier0::SINTER_ISA
