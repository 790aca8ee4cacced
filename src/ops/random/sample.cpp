// Permutations by sorting random keys, choices, multivariate normal rows.
#include <cmath>
#include <numeric>

#include "core/shape.hpp"
#include "graph/values/example.hpp"
#include "ops/base/algorithm_calls.hpp"
#include "ops/base/at_call.hpp"
#include "ops/base/differentiating.hpp"
#include "ops/base/one_memory.hpp"
#include "ops/random/draw.hpp"
#include "ops/random/inverse_table.hpp"
#include "sinter/creation.hpp"
#include "sinter/dtype_info.hpp"
#include "sinter/grad.hpp"
#include "sinter/linalg.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/products.hpp"
#include "sinter/reduce.hpp"
#include "sinter/sets.hpp"
#include "sinter/sort.hpp"
#include "sinter/take.hpp"

namespace sinter::inline v0::random {

using namespace ops;

namespace {

/// A permutation of n, of which the first elements are needed.
ndarray random_order(generator& g, std::int64_t n, std::int64_t first, runtime::device_id device) {
  core::checked_count(dims{n}, "permutation");
  const value keys = drawn(g, jit::opcode::random_bits, uint64, {dims{n}, device});
  if (graph::is_example(keys) || is_in_parts(wrap(keys), "permutation")) [[unlikely]]
    return argsort(wrap(keys));  // which is the same order
  return wrap(random_order_of(evaluated(keys), first));
}

/// Probabilities on the host, validated as in NumPy.
std::vector<double> checked_probabilities(const ndarray& p, std::int64_t n) {
  if (p.ndim() != 1 || p.size() != n) fail<shape_error>("choice", "p must have shape (", n, ",), not ", p.shape());
  if (!is_real_floating(p.dtype()) && !is_integer(p.dtype()))
    fail<dtype_error>("choice", "p must be real, not ", p.dtype());
  const std::vector<double> all = p.astype(float64).to_vector<double>();
  double sum = 0, rest = 0;  // compensated (Kahan) summation
  for (const double x : all) {
    if (!(x >= 0)) throw value_error("[choice] probabilities must be numbers that are not negative");
    const double y = x - rest, t = sum + y;
    rest = (t - sum) - y;
    sum = t;
  }
  const double tolerance = std::max(
      std::sqrt(0x1p-52), is_real_floating(p.dtype()) && p.dtype() != float64 ? std::sqrt(finfo(p.dtype()).eps) : 0.0);
  if (std::fabs(sum - 1) > tolerance) throw value_error("[choice] probabilities do not sum to 1");
  return all;
}

/// Indices with replacement, by the places of uniform numbers among the cumulative probabilities, which are summed on the
/// host so that every device draws the same indices.
ndarray weighted_indices(generator& g, const std::vector<double>& p, const draw_space& space) {
  std::vector<double> sums(p.size());
  std::partial_sum(p.begin(), p.end(), sums.begin());
  for (double& x : sums) x /= sums.back();
  const ndarray u = wrap(drawn(g, jit::opcode::random_uniform, float64, space));
  return inverse_of(sums, u);
}

/// The first elements of a weighted random order: sorting exponential variates divided by the weights is equivalent to
/// drawing one element at a time without replacement (Efraimidis and Spirakis, 2006).
ndarray weighted_order(generator& g, const std::vector<double>& p, std::int64_t wanted, runtime::device_id device) {
  std::int64_t possible = 0;
  for (const double x : p) possible += x > 0;
  if (possible < wanted) throw value_error("[choice] fewer probabilities are above 0 than elements are wanted");
  const dims n{static_cast<std::int64_t>(p.size())};
  const ndarray e = wrap(drawn(g, jit::opcode::random_exponential, float64, {n, device}));
  const ndarray weights = array(p, {.device = to_public(device)});
  const ndarray keys = where(weights > 0, e / where(weights > 0, weights, 1.0), INFINITY);
  return topk(keys, wanted, {.largest = false}).indices;
}

/// The first `wanted` different ones of numbers below n that are drawn one after the other: each order of so many is as likely
/// as any other. For few of many, where to sort all would take longer. Nothing where nobody may look at them.
std::optional<ndarray> first_different(generator& g, std::int64_t n, std::int64_t wanted, const draw_space& space) {
  const auto k = static_cast<double>(wanted), of = static_cast<double>(n);
  const double equal = -of * std::log1p(-k / of) - k;  // how many more numbers that takes, on average
  ndarray drawn;
  for (std::int64_t more = wanted + static_cast<std::int64_t>(equal + 4 * std::sqrt(equal)) + 4;; more = more / 2 + 4) {
    const ndarray next = g.integers(0, n, more, {.device = to_public(space.device)});
    if (!may_look_at(value_of(next))) return std::nullopt;
    drawn = drawn.defined() ? concatenate({drawn, next}) : next;
    if (is_in_host_memory(space.device)) {
      if (value found = first_different_of(evaluated(value_of(drawn)), wanted)) return wrap(std::move(found));
      continue;
    }
    const ndarray firsts = unique(drawn, {.return_index = true}).index;
    if (firsts.size() >= wanted) return take(drawn, sort(firsts)(slice(0, wanted)));
  }
}

ndarray chosen_indices(generator& g, std::int64_t n, const draw_space& space, const choice_kw& kw) {
  const std::int64_t wanted = core::element_count(space.shape);
  if (n < 0 || (n == 0 && wanted > 0)) throw value_error("[choice] there is nothing to choose from");
  if (!kw.replace && wanted > n)
    fail<value_error>("choice", wanted, " of ", n, " elements cannot be drawn without replacement");
  std::vector<double> p;
  if (kw.p.defined()) p = checked_probabilities(kw.p, n);
  if (wanted == 0) return zeros(to_shape(space.shape), {.dtype = int64, .device = to_public(space.device)});
  if (kw.replace && !p.empty()) return weighted_indices(g, p, space);
  if (kw.replace) {
    const draw_size size(to_shape(space.shape));
    return g.integers(0, n, size, {.device = to_public(space.device)});
  }
  if (p.empty() && n >= 1024 && wanted <= n / 8)
    if (const std::optional<ndarray> some = first_different(g, n, wanted, space))
      return reshape(*some, to_shape(space.shape));
  const ndarray order =
      p.empty() ? random_order(g, n, wanted, space.device) : weighted_order(g, p, wanted, space.device);
  return reshape(order(slice(0, wanted)), to_shape(space.shape));
}

draw_space space_for_choice(const draw_size& size, const std::optional<device>& where) {
  return draw_space_of(size, where, {}, "choice");
}

/// cov = V L V' with orthogonal V, by Jacobi rotations: the rows of A = sqrt(L) V', so that cov = A' A.
class covariance_root {
 public:
  covariance_root(std::vector<double> cov, std::int64_t n) : a_(std::move(cov)), v_(a_.size()), n_(n) {
    for (std::int64_t i = 0; i < n; ++i) v_[at(i, i)] = 1;
    for (int sweep = 0; sweep < 64 && off_diagonal() > 0x1p-104 * frobenius(); ++sweep)
      for (std::int64_t p = 0; p < n; ++p)
        for (std::int64_t q = p + 1; q < n; ++q) rotate(p, q);
  }
  double smallest() const {
    double least = 0;
    for (std::int64_t i = 0; i < n_; ++i) least = std::min(least, a_[at(i, i)]);
    return least;
  }
  /// Row j is the j-th eigenvector times the square root of its eigenvalue.
  std::vector<double> rows() const {
    std::vector<double> out(v_.size());
    for (std::int64_t j = 0; j < n_; ++j)
      for (std::int64_t i = 0; i < n_; ++i) out[at(j, i)] = v_[at(j, i)] * std::sqrt(std::max(a_[at(j, j)], 0.0));
    return out;
  }

 private:
  std::size_t at(std::int64_t i, std::int64_t j) const { return static_cast<std::size_t>(i * n_ + j); }
  double off_diagonal() const {
    double sum = 0;
    for (std::int64_t i = 0; i < n_; ++i)
      for (std::int64_t j = 0; j < n_; ++j)
        if (i != j) sum += a_[at(i, j)] * a_[at(i, j)];
    return sum;
  }
  double frobenius() const { return std::inner_product(a_.begin(), a_.end(), a_.begin(), 0.0); }
  void rotate(std::int64_t p, std::int64_t q) {
    const double apq = a_[at(p, q)];
    if (apq == 0) return;
    const double tau = (a_[at(q, q)] - a_[at(p, p)]) / (2 * apq);
    const double t = (tau < 0 ? -1 : 1) / (std::fabs(tau) + std::sqrt(1 + tau * tau));
    const double c = 1 / std::sqrt(1 + t * t), s = t * c;
    auto turn = [&](double& x, double& y) {
      const double first = c * x - s * y;
      y = s * x + c * y;
      x = first;
    };
    for (std::int64_t k = 0; k < n_; ++k) turn(a_[at(k, p)], a_[at(k, q)]);
    for (std::int64_t k = 0; k < n_; ++k) turn(a_[at(p, k)], a_[at(q, k)]);
    for (std::int64_t k = 0; k < n_; ++k) turn(v_[at(p, k)], v_[at(q, k)]);
  }

  std::vector<double> a_, v_;
  std::int64_t n_;
};

void check_covariance(const std::vector<double>& cov, std::int64_t n, double tol) {
  double largest = 0;
  for (const double x : cov) largest = std::max(largest, std::fabs(x));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) {
      const double x = cov[static_cast<std::size_t>(i * n + j)], y = cov[static_cast<std::size_t>(j * n + i)];
      if (!(std::fabs(x - y) <= tol * largest))
        throw value_error("[multivariate_normal] the covariance is not symmetric");
    }
}

/// A root A of cov = A' A that moves with it: U A with the upper triangle U of W cov W' = U' U, W being the inverse of A', so that U
/// is 1 here. It has slopes where eigenvalues are equal as well, but none where one is 0.
ndarray root_with_slopes(const ndarray& rows, const ndarray& cov) {
  const ndarray w = linalg::inv(rows.T());
  const ndarray unit = matmul(matmul(w, cov.astype(rows.dtype(), false)), w.T());
  const ndarray moving = matmul(linalg::cholesky((unit + unit.T()) / 2, {.upper = true}), rows);
  return rows + (moving - stop_gradient(moving));
}

}  // namespace

ndarray generator::choice_of(std::int64_t n, const draw_size& size, const choice_kw& kw) {
  return chosen_indices(*this, n, space_for_choice(size, kw.device), kw);
}

ndarray generator::choice(const ndarray& a, const draw_size& size, const choice_kw& kw) {
  const dims shape = view_of(a, "choice").shape;
  const int axis = normalize_axis(kw.axis, shape, "choice");
  if (kw.device && *kw.device != a.device())
    fail<device_error>("choice", "the array is on ", a.device(), ", not on ", *kw.device);
  return take(a, chosen_indices(*this, shape[axis], space_for_choice(size, a.device()), kw), axis);
}

ndarray generator::permutation_of(std::int64_t n) {
  if (n < 0) fail<value_error>("permutation", "there is no order of ", n, " numbers");
  return random_order(*this, n, n, runtime::default_device());
}

ndarray generator::permutation(const ndarray& x, std::int64_t axis) {
  const dims shape = view_of(x, "permutation").shape;
  const int along = normalize_axis(axis, shape, "permutation");
  return take(x, random_order(*this, shape[along], shape[along], value_of(x)->device), along);
}

ndarray generator::permuted(const ndarray& x, const std::optional<std::int64_t>& axis) {
  const dims shape = view_of(x, "permuted").shape;
  if (!axis) return reshape(permutation(ravel(x)), to_shape(shape));
  const int along = normalize_axis(*axis, shape, "permuted");
  const ndarray keys = wrap(drawn(*this, jit::opcode::random_bits, uint64, {shape, value_of(x)->device}));
  return take_along_axis(x, argsort(keys, along), along);
}

void generator::shuffle(const ndarray& x, std::int64_t axis) { x() = permutation(x, axis); }

ndarray generator::multivariate_normal(const ndarray& mean, const ndarray& cov, const draw_size& size,
                                       const multivariate_normal_kw& kw) {
  constexpr const char* function = "multivariate_normal";
  const dtype type = draw_dtype(kw.dtype, function);
  if (mean.ndim() != 1 || cov.shape() != shape_t{mean.size(), mean.size()})
    fail<shape_error>("multivariate_normal", "mean and cov must have shapes (n,) and (n, n), not ", mean.shape(),
                      " and ", cov.shape());
  const operand first(mean), second(cov);
  draw_space space = draw_space_of({}, kw.device, {&first, &second}, function);
  const std::int64_t n = mean.size();
  const std::vector<double> host = cov.astype(float64).to_vector<double>();
  if (kw.check_valid) check_covariance(host, n, kw.tol);
  const covariance_root root(host, n);
  double largest = 0;
  for (const double x : host) largest = std::max(largest, std::fabs(x));
  if (kw.check_valid && root.smallest() < -kw.tol * largest)
    throw value_error("[multivariate_normal] the covariance is not positive semidefinite");
  space.shape = size.given() ? to_dims(size.shape()) : dims();
  space.shape.push_back(n);
  core::checked_count(space.shape, function);
  ndarray rows = reshape(array(root.rows(), {.dtype = type, .device = to_public(space.device)}), {n, n});
  if (is_followed(value_of(cov))) rows = root_with_slopes(rows, cov);
  const value z_value = drawn(*this, jit::opcode::random_normal, type, space);
  // Row times matrix as a sum for each element, of normal numbers that are stored where they may be: each is read n times.
  // A BLAS product would pay off for large operands only.
  if (may_look_at(z_value)) evaluated(z_value);
  const ndarray z = wrap(z_value);
  const ndarray x = mean.astype(type) + sum(expand_dims(z, -1) * rows, -2);
  return x.astype(kw.dtype.value_or(float64), false);
}

}  // namespace sinter::inline v0::random
