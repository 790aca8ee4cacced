// numpy.linalg's products of more than two factors.
#include "ops/linalg/solver_calls.hpp"
#include "sinter/linalg.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

/// The order of multiplication with the fewest scalar multiplications: split(i, k) is where the product of factors i to
/// k is divided (Cormen et al., Introduction to Algorithms, matrix-chain multiplication).
class chain_order {
 public:
  explicit chain_order(const std::vector<double>& extents) : count_(extents.size() - 1), split_(count_ * count_) {
    std::vector<double> cost(count_ * count_, 0.0);
    for (std::size_t length = 1; length < count_; ++length)
      for (std::size_t i = 0; i + length < count_; ++i) {
        const std::size_t k = i + length;
        double best = -1;
        for (std::size_t s = i; s < k; ++s) {
          const double c =
              cost[i * count_ + s] + cost[(s + 1) * count_ + k] + extents[i] * extents[s + 1] * extents[k + 1];
          if (best >= 0 && c >= best) continue;
          best = c;
          split_[i * count_ + k] = s;
        }
        cost[i * count_ + k] = best;
      }
  }
  std::size_t split(std::size_t i, std::size_t k) const { return split_[i * count_ + k]; }

 private:
  std::size_t count_;
  std::vector<std::size_t> split_;
};

ndarray product_between(const std::vector<ndarray>& factors, const chain_order& order, std::size_t i, std::size_t k,
                        const product_kw& kw) {
  if (i == k) return factors[i];
  const std::size_t s = order.split(i, k);
  const product_kw part{.tf32 = kw.tf32};
  return matmul(product_between(factors, order, i, s, part), product_between(factors, order, s + 1, k, part),
                {.out = kw.out, .dtype = kw.dtype, .tf32 = kw.tf32});
}

void check_factors(const std::vector<ndarray>& factors) {
  const std::size_t last = factors.size() - 1;
  for (std::size_t k = 0; k <= last; ++k) {
    const int rank = view_of(factors[k], "multi_dot").shape.size();
    if (rank == 2 || (rank == 1 && (k == 0 || k == last))) continue;
    fail<linalg_error>("multi_dot", rank, "-dimensional array given as factor ", k, "; it must be two-dimensional",
                       (k == 0 || k == last ? " or a vector" : ""));
  }
  for (std::size_t k = 0; k < last; ++k) {
    const dims &a = view_of(factors[k], "multi_dot").shape, &b = view_of(factors[k + 1], "multi_dot").shape;
    if (a[a.size() - 1] == b[0]) continue;
    fail<shape_error>("multi_dot", "shapes ", a, " and ", b, " of factors ", k, " and ", k + 1,
                      " not aligned: ", a[a.size() - 1], " (dim ", a.size() - 1, ") != ", b[0], " (dim 0)");
  }
}

}  // namespace

ndarray linalg::multi_dot(const std::vector<ndarray>& factors, const product_kw& kw) {
  if (factors.size() < 2) throw value_error("[multi_dot] expecting at least two arrays");
  check_factors(factors);
  if (factors.size() == 2) return matmul(factors[0], factors[1], {.out = kw.out, .dtype = kw.dtype, .tf32 = kw.tf32});
  std::vector<double> extents;
  for (const ndarray& f : factors)
    extents.push_back(f.ndim() == 1 && extents.empty() ? 1.0 : static_cast<double>(f.shape(0)));
  extents.push_back(factors.back().ndim() == 1 ? 1.0 : static_cast<double>(factors.back().shape(1)));
  return product_between(factors, chain_order(extents), 0, factors.size() - 1, kw);
}

ndarray linalg::matrix_power(const ndarray& x, std::int64_t n) {
  const matrix_stack s = square_matrices_of(x, "matrix_power");
  if (n < 0) {
    const ndarray inverse = inv(x);  // since -n overflows for the least integer
    return n == -1 ? inverse : matmul(inverse, matrix_power(inverse, -(n + 1)));
  }
  if (n == 0) return identities(x, s, s.rows, s.rows, x.dtype()).copy();
  ndarray square = x, result;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) result = result.defined() ? matmul(result, square) : square;
    if (n > 1) square = matmul(square, square);
  }
  return view_of(result, "matrix_power").store == view_of(x, "matrix_power").store ? x.copy() : result;
}

}  // namespace sinter::inline v0
