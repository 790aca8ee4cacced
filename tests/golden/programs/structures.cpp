// Programs of structures: chains, clusters, networks, graphs, bits.
#include <cmath>
#include <complex>
#include <numbers>

#include "golden/programs/programs.hpp"
#include "sinter/linalg.hpp"
#include "sinter/polynomial_fit.hpp"
#include "sinter/segments.hpp"

namespace sn = sinter;
using namespace sn::idx;

namespace sinter::test::programs {

using sn::ndarray;

results chains() {
  const auto states = (draws(400, 5) * 4).astype(sn::int64);
  const auto counts = sn::zeros({4, 4});
  sn::add_at(counts(states(slice(-1)), states(slice(1, _))), 1);
  const auto p = counts / counts.sum(1, {.keepdims = true});
  const auto [values, vectors] = sn::linalg::eig(p.T());
  const auto at = sn::argmin(sn::abs(values - 1));
  auto stationary = sn::real(vectors(_, at));
  stationary /= stationary.sum();
  const auto far = sn::linalg::matrix_power(p, 30);
  const bool same = sn::allclose(far, stationary(newaxis), 1e-6);
  const auto q = sn::delete_(sn::delete_(p, 0, 0), 0, 1);
  const auto hitting = sn::linalg::solve(sn::eye(3) - q, sn::ones({3}));
  const auto entropy = -sn::sum(stationary(_, newaxis) * p * sn::log2(p, {.out = sn::zeros_like(p), .where = p > 0}));
  const auto walk = sn::zeros({6, 6});
  const auto i = sn::arange(1, 5);
  walk(i, i - 1) = 0.4;
  walk(i, i + 1) = 0.6;
  walk(sn::list{0, 5}, sn::list{0, 5}) = 1;
  const auto inner = walk(slice(1, 5), slice(1, 5));
  const auto absorbed = sn::matmul(sn::linalg::inv(sn::eye(4) - inner), walk(slice(1, 5))(_, sn::list{0, 5}));
  const auto start = sn::zeros({4});
  start(1) = 1;
  std::vector<ndarray> path{start};
  for (int k = 0; k < 5; ++k) path.push_back(sn::matmul(path.back(), p));
  const auto lengths =
      sn::diff(sn::flatnonzero(sn::concatenate({sn::array({true}), sn::diff(states) != 0, sn::array({true})})));
  const auto longest = lengths.max();
  const auto cumulative = sn::cumsum(p, 1);
  cumulative(_, -1) = 1;
  ndarray now = sn::array(0);
  std::vector<ndarray> seen;
  for (const auto& u : sn::unstack(draws(10, 6))) {
    now = sn::searchsorted(cumulative(now), u);
    seen.push_back(now);
  }
  return {counts,
          stationary,
          sn::array(same),
          hitting,
          entropy,
          absorbed,
          sn::stack(path),
          longest,
          sn::bincount(lengths),
          sn::stack(seen),
          sn::sort(values).real()};
}

results bits() {
  const auto n = sn::arange(16, {.dtype = sn::uint8});
  const auto gray = n ^ (n >> 1);
  const auto planes = (gray(_, newaxis) >> sn::arange(4, {.dtype = sn::uint8})(slice(_, _, -1))) & 1;
  const auto ones = sn::bitwise_count(n);
  const auto even = ones % 2 == 0;
  const auto g =
      sn::array({{1, 0, 0, 0, 1, 1, 0}, {0, 1, 0, 0, 1, 0, 1}, {0, 0, 1, 0, 0, 1, 1}, {0, 0, 0, 1, 1, 1, 1}});
  const auto words = sn::unpackbits(n(_, newaxis), {.axis = 1})(_, slice(4, _));
  const auto coded = sn::matmul(words, g) % 2;
  const auto apart = (coded(_, newaxis) != coded).sum(-1);
  sn::fill_diagonal(apart, 9);
  const std::uint64_t h = 14695981039346656037u;
  auto hashes = sn::full({4}, h);
  for (const char byte : std::string_view("sinter")) {
    hashes ^= byte + sn::arange(4, {.dtype = sn::uint64});
    hashes *= 1099511628211u;
  }
  const auto halves = hashes.view(sn::uint32).reshape(4, 2);
  const auto floats = sn::array({1.0, -2.5, 0.1}, {.dtype = sn::float32});
  const auto fields = floats.view(sn::uint32);
  const auto exponent = ((fields >> 23) & 0xFF).astype(sn::int16) - 127;
  const auto overflow = sn::array({250, 100}, {.dtype = sn::uint8}) + sn::array({10, 200}, {.dtype = sn::uint8});
  const auto wrapped = sn::array({127, -128}, {.dtype = sn::int8}) * 2;
  const auto shifted = sn::left_shift(1, sn::arange(0, 63, 9));
  const auto sieve = sn::ones({60}, sn::bool_);
  sieve(slice(2)) = false;
  for (int k = 2; k < 8; ++k)
    if (sieve(k)) sieve(slice(k * k, _, k)) = false;
  const auto primes = sn::nonzero(sieve)[0];
  std::vector<ndarray> each;
  for (int m = 1; m < 11; ++m) each.push_back((sn::gcd(sn::arange(1, m + 1), m) == 1).sum());
  const auto totient = sn::stack(each);
  const auto common = sn::lcm_reduce(sn::arange(1, 11));
  const auto divisors = sn::gcd_reduce(sn::array({84, 126, 210}));
  auto collatz = sn::arange(1, 13);
  for (int k = 0; k < 5; ++k) collatz = sn::where(collatz % 2 == 0, sn::floor_divide(collatz, 2), 3 * collatz + 1);
  const auto a = sn::array({-7, 7, -7, 7}), b = sn::array({2, -2, -2, 2});
  const auto floor = sn::floor_divide(a, b);
  const auto rest = sn::remainder(a, b);
  const auto trunc = sn::fmod(a, b);
  const auto mask = sn::bitwise_or_reduce(sn::left_shift(1, sn::array({0, 3, 5}, {.dtype = sn::uint8})));
  return {gray,
          planes,
          ones,
          even,
          coded,
          apart.min(),
          hashes,
          halves,
          exponent,
          overflow,
          wrapped,
          shifted,
          primes,
          totient,
          common,
          divisors,
          collatz,
          floor,
          rest,
          trunc,
          mask,
          sn::invert(n(slice(4))),
          (-n.astype(sn::int8))(slice(3)),
          sn::packbits(sieve),
          sn::array(static_cast<std::int64_t>(sn::iinfo(sn::int32).max)),
          sn::bitwise_and_reduce(sn::array({12, 10, 14})),
          sn::power(3, sn::arange(8))};
}

results network() {
  const auto x = draws(120, 17).reshape(60, 2).astype(sn::float32) * 2 - 1;
  const auto labels = (x(_, 0) * x(_, 1) > 0).astype(sn::int64) + (sn::abs(x).sum(1) > 1.2);
  const ndarray one_hot = sn::eye(3, {.dtype = sn::float32})[labels];
  auto w1 = (draws(16, 18).reshape(2, 8).astype(sn::float32) - 0.5f) * 2;
  auto w2 = (draws(24, 19).reshape(8, 3).astype(sn::float32) - 0.5f) * 2;
  auto b1 = sn::zeros({8}, sn::float32), b2 = sn::zeros({1, 3}, sn::float32);
  std::vector<ndarray> losses;
  auto m1 = sn::zeros_like(w1), m2 = sn::zeros_like(w2);
  ndarray p;
  for (int step = 0; step < 15; ++step) {
    const auto hidden = sn::maximum(sn::matmul(x, w1) + b1, 0);
    auto logits = sn::matmul(hidden, w2) + b2;
    logits -= logits.max(1, {.keepdims = true});
    p = sn::exp(logits);
    p /= p.sum(1, {.keepdims = true});
    losses.push_back(-sn::log(sn::take_along_axis(p, labels(_, newaxis), 1)).mean());
    const auto d = (p - one_hot) / x.len();
    const auto dh = sn::matmul(d, w2.T()) * (hidden > 0);
    m1 = 0.9 * m1 + sn::matmul(x.T(), dh);
    m2 = 0.9 * m2 + sn::matmul(hidden.T(), d);
    w1 -= 0.5 * m1;
    w2 -= 0.5 * m2;
    b1 -= 0.5 * dh.sum(0);
    b2 -= 0.5 * d.sum(0, {.keepdims = true});
  }
  const auto guess = p.argmax(-1);
  const auto accuracy = (guess == labels).mean() > 0.5;
  const auto confusion = sn::bincount(labels * 3 + guess, {.minlength = 9}).reshape(3, 3).sum();
  const auto entropy = -(p * sn::log(p + 1e-9)).sum(1).mean();
  const auto sure = p.max(1) > 0.5;
  const auto early =
      sn::round(sn::stack(std::vector<ndarray>(losses.begin(), losses.begin() + 5)).astype(sn::float64), 3);
  return {labels,
          sn::bincount(labels),
          one_hot.sum(0),
          early,
          losses.back() < losses[0],
          accuracy,
          confusion,
          sn::array(entropy.dtype() == sn::float32),
          sn::array(sure.dtype() == sn::bool_),
          sn::array({p.shape(0), p.shape(1)}),
          sn::array(w1.dtype() == sn::float32),
          (p.sum(1) - 1 < 1e-5).all()};
}

results clusters() {
  const auto x = sn::concatenate({draws(40, 20).reshape(20, 2), draws(40, 21).reshape(20, 2) + sn::array({2, 0}),
                                  draws(40, 22).reshape(20, 2) + sn::array({0, 2})});
  const auto truth = sn::repeat(sn::arange(3), 20);
  ndarray centres = x[sn::list{0, 25, 45}];
  ndarray d, near, counts;
  for (int step = 0; step < 6; ++step) {
    d = sn::square(x(_, newaxis, _) - centres).sum(2);
    near = d.argmin(1);
    counts = sn::bincount(near, {.minlength = 3});
    std::vector<ndarray> sums;
    for (int j = 0; j < 2; ++j) sums.push_back(sn::bincount(near, {.weights = x(_, j), .minlength = 3}));
    centres = sn::stack(sums, 1) / counts(_, newaxis);
  }
  const auto inertia = d(sn::arange(60), near).sum();
  const auto agreement = (near == truth).mean();
  const auto sq = sn::square(x).sum(1);
  const auto d2 = sn::maximum(sq(_, newaxis) + sq - 2 * sn::matmul(x, x.T()), 0);
  sn::fill_diagonal(d2, INFINITY);
  const auto five = sn::argpartition(d2, 5, 1)(_, slice(5));
  const ndarray votes = truth[five];
  std::vector<ndarray> each;
  for (const auto& v : sn::unstack(votes)) each.push_back(sn::bincount(v, {.minlength = 3}).argmax());
  const auto elected = sn::stack(each);
  const auto vote_counts = (votes(_, _, newaxis) == sn::arange(3)).sum(1);
  const auto confusion = sn::zeros({3, 3}, sn::int64);
  sn::add_at(confusion(truth, elected), 1);
  const auto precision = sn::diag(confusion) / confusion.sum(0);
  const auto d1 = sn::sqrt(d2);
  d1[sn::isinf(d1)] = 0;
  const auto same = truth(_, newaxis) == truth;
  const auto inner = sn::sum(d1, 1, {.where = same}) / 19;
  std::vector<ndarray> others;
  for (int c = 0; c < 3; ++c)
    others.push_back(sn::where((truth == c) & (truth(_, newaxis) != c), d1, 0).sum(1) / 20 +
                     sn::where(truth == c, INFINITY, 0));
  const auto outer = sn::stack(others).min(0);
  const auto silhouette = (outer - inner) / sn::maximum(inner, outer);
  const auto sorted_d = sn::sort(d2, 1)(_, slice(3));
  const auto spread = sn::matmul(x.T(), x) / 60 - sn::outer(x.mean(0), x.mean(0));
  const auto mahalanobis = sn::sqrt(sn::einsum("ni,ij,nj->n", x - x.mean(0), sn::linalg::inv(spread), x - x.mean(0)));
  return {near,        counts,
          centres,     inertia,
          agreement,   sn::sort(five, 1),
          elected,     vote_counts,
          confusion,   precision,
          silhouette,  sorted_d,
          mahalanobis, sn::array_split(sn::arange(10), 3)[1]};
}

results graphs() {
  const int n = 9;
  const auto a = sn::zeros({n, n}, sn::bool_);
  const auto i = sn::array({0, 0, 1, 2, 3, 3, 5, 6, 6, 7}), j = sn::array({1, 2, 2, 3, 4, 5, 4, 7, 8, 8});
  a(i, j) = true;
  a(j, i) = true;
  auto w = sn::where(a, 1.0 + sn::abs(sn::arange(n)(_, newaxis) - sn::arange(n)) % 3, INFINITY);
  sn::fill_diagonal(w, 0);
  for (int k = 0; k < n; ++k) w = sn::minimum(w, w(_, k, newaxis) + w(k));
  const auto reach = sn::isfinite(w);
  const auto label = sn::argmax(reach, 1);
  const auto components = sn::unique_values(label).size();
  const auto level = sn::full({n}, -1);
  level(0) = 0;
  auto front = sn::zeros({n}, sn::bool_);
  front(0) = true;
  for (int depth = 1; depth < n; ++depth) {
    front = sn::matmul(front, a) & (level < 0);
    if (!front.any()) break;
    level[front] = depth;
  }
  const auto degree = a.sum(1);
  const auto triangles = sn::floor_divide(sn::trace(sn::linalg::matrix_power(a.astype(sn::int64), 3)), 6);
  const auto local =
      sn::diagonal(sn::linalg::matrix_power(a.astype(sn::int64), 3)) / sn::maximum(degree * (degree - 1), 1);
  const auto laplacian = sn::diag(degree) - a;
  const auto spectrum = sn::linalg::eigvalsh(laplacian);
  const auto zero = sn::isclose(spectrum, 0).sum();
  const auto p = a / sn::maximum(degree, 1)(_, newaxis);
  auto rank = sn::full({n}, 1.0 / n);
  for (int k = 0; k < 50; ++k) {
    const auto next = 0.15 / n + 0.85 * sn::matmul(rank, p);
    if (sn::linalg::norm(next - rank, 1) < 1e-12) break;
    rank = next;
  }
  const auto order = sn::argsort(-sn::round(rank, 12));
  const auto edges = sn::argwhere(sn::triu(a));
  const auto incidence = sn::zeros({n, edges.len()}, sn::int8);
  incidence(edges(_, 0), sn::arange(edges.len())) = 1;
  incidence(edges(_, 1), sn::arange(edges.len())) = -1;
  const auto check = (sn::matmul(incidence, incidence.T()) == laplacian).all();
  const auto widest = sn::max(w, {.initial = 0, .where = sn::isfinite(w)});
  const ndarray kept = a(sn::ix_(degree > 2, degree > 2));
  const auto lower = sn::tril(a, -1).sum();
  return {w,
          reach,
          label,
          sn::array(components),
          level,
          degree,
          triangles,
          local,
          laplacian,
          spectrum,
          zero,
          rank,
          order,
          edges,
          check,
          widest,
          kept,
          lower,
          sn::flatnonzero(degree == degree.max()),
          sn::tri(3, {.k = -1}),
          sn::diagflat(sn::array({1, 2}), 1)};
}

}  // namespace sinter::test::programs
