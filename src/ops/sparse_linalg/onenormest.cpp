// Estimates of 1-norms: Higham and Tisseur, A Block Algorithm for Matrix 1-Norm Estimation, 2000, algorithm 2.4, in SciPy's order.
// The operator's products run on its device; signs, sums and choices of t columns are the host's.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <vector>

#include "ops/base/errors.hpp"
#include "ops/sparse_linalg/iteration.hpp"
#include "sinter/creation.hpp"
#include "sinter/sparse_functions.hpp"

namespace sinter::inline v0 {

using namespace ops;
using sparse::linalg::onenormest_result;
using std::int64_t;

namespace {

using element = std::complex<double>;

/// (n, t) in C order on the host.
struct host_block_of_columns {
  std::int64_t n, t;
  std::vector<element> v;
  element& operator()(int64_t i, int64_t j) { return v[static_cast<std::size_t>(i * t + j)]; }
  const element& operator()(int64_t i, int64_t j) const { return v[static_cast<std::size_t>(i * t + j)]; }
};

class norm_estimate {
 public:
  norm_estimate(const linear_operator& a, const device& on)
      : a_(a), n_(a.shape(0)), type_(solver_dtype(a.dtype())), on_(on) {}

  onenormest_result by_columns() const {
    host_block_of_columns e{n_, n_, std::vector<element>(static_cast<std::size_t>(n_ * n_))};
    for (int64_t i = 0; i < n_; ++i) e(i, i) = 1;
    const auto y = product(e, false);
    const auto sums = column_sums(y);
    const auto best = std::max_element(sums.begin(), sums.end()) - sums.begin();
    return result(sums[static_cast<std::size_t>(best)], best, y, best);
  }

  onenormest_result by_blocks(int64_t t, int64_t most) {
    auto x = first_columns(t);
    std::vector<int64_t> chosen, tried;
    host_block_of_columns s{n_, t, std::vector<element>(static_cast<std::size_t>(n_ * t))}, w = s;
    double old = 0, est = 0;
    int64_t best = 0, w_column = 0;
    for (int64_t k = 1;; ++k) {
      const auto y = product(x, false);
      const auto sums = column_sums(y);
      const int64_t column = std::max_element(sums.begin(), sums.end()) - sums.begin();
      est = sums[static_cast<std::size_t>(column)];
      if (est > old || k == 2) {
        if (k >= 2) best = chosen[static_cast<std::size_t>(column)];
        w = y;
        w_column = column;
      }
      if (k >= 2 && est <= old) {
        est = old;
        break;
      }
      old = est;
      if (k > most) break;
      const auto before = s;
      s = signs(y);
      if (all_parallel(s, before)) break;
      if (t > 1) renew(s, before);
      const auto h = row_maxima(product(s, true));
      if (k >= 2 && *std::max_element(h.begin(), h.end()) == h[static_cast<std::size_t>(best)]) break;
      if (!choose(h, t, chosen, tried)) break;
      std::fill(x.v.begin(), x.v.end(), element(0));
      for (int64_t j = 0; j < t; ++j) x(chosen[static_cast<std::size_t>(j)], j) = 1;
    }
    return result(est, best, w, w_column);
  }

 private:
  host_block_of_columns product(const host_block_of_columns& x, bool adjoint) const {
    const ndarray all = array(x.v.data(), {x.n, x.t}, {.device = cpu});
    const ndarray dense = (is_complex(type_) ? all : ndarray(real(all))).astype(type_, {.device = on_});
    return {x.n, x.t, (adjoint ? a_.rmatmat(dense) : a_.matmat(dense)).to_vector<element>()};
  }
  static std::vector<double> column_sums(const host_block_of_columns& y) {
    std::vector<double> sums(static_cast<std::size_t>(y.t));
    for (int64_t i = 0; i < y.n; ++i)
      for (int64_t j = 0; j < y.t; ++j) sums[static_cast<std::size_t>(j)] += std::abs(y(i, j));
    return sums;
  }
  static std::vector<double> row_maxima(const host_block_of_columns& z) {
    std::vector<double> h(static_cast<std::size_t>(z.n));
    for (int64_t i = 0; i < z.n; ++i)
      for (int64_t j = 0; j < z.t; ++j)
        h[static_cast<std::size_t>(i)] = std::max(h[static_cast<std::size_t>(i)], std::abs(z(i, j)));
    return h;
  }
  double sign() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 40) & 1 ? 1.0 : -1.0;
  }
  host_block_of_columns first_columns(int64_t t) {
    host_block_of_columns x{n_, t, std::vector<element>(static_cast<std::size_t>(n_ * t))};
    for (int64_t i = 0; i < n_; ++i)
      for (int64_t j = 0; j < t; ++j) x(i, j) = j == 0 ? 1.0 : sign();
    renew(x, {n_, 0, {}});
    for (element& v : x.v) v /= static_cast<double>(n_);
    return x;
  }
  static host_block_of_columns signs(host_block_of_columns y) {
    for (element& v : y.v) v = v == 0.0 ? element(1) : v / std::abs(v);
    return y;
  }
  /// Of columns of signs.
  static bool parallel(const host_block_of_columns& a, int64_t i, const host_block_of_columns& b, int64_t j) {
    element dot = 0;
    for (int64_t k = 0; k < a.n; ++k) dot += std::conj(a(k, i)) * b(k, j);
    return dot == element(static_cast<double>(a.n));
  }
  static bool all_parallel(const host_block_of_columns& a, const host_block_of_columns& b) {
    for (int64_t i = 0; i < a.t; ++i) {
      bool found = false;
      for (int64_t j = 0; j < b.t && !found; ++j) found = parallel(a, i, b, j);
      if (!found) return false;
    }
    return true;
  }
  /// Other signs for columns that are there already; gives up where few columns are possible.
  void renew(host_block_of_columns& s, const host_block_of_columns& before) {
    for (int64_t j = 0; j < s.t; ++j)
      for (int attempt = 0; attempt < 20; ++attempt) {
        bool seen = false;
        for (int64_t i = 0; i < j && !seen; ++i) seen = parallel(s, j, s, i);
        for (int64_t i = 0; i < before.t && !seen; ++i) seen = parallel(s, j, before, i);
        if (!seen) break;
        for (int64_t k = 0; k < s.n; ++k) s(k, j) = sign();
      }
  }
  /// The next t unit vectors, new ones first; false if all have been tried.
  bool choose(const std::vector<double>& h, int64_t t, std::vector<int64_t>& chosen,
              std::vector<int64_t>& tried) const {
    std::vector<int64_t> order(h.size());
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
      return h[static_cast<std::size_t>(i)] > h[static_cast<std::size_t>(j)];
    });
    order.resize(std::min(order.size(), static_cast<std::size_t>(t) + tried.size()));
    const auto is_new = [&](int64_t i) { return std::find(tried.begin(), tried.end(), i) == tried.end(); };
    if (t > 1) {
      if (std::none_of(order.begin(), order.begin() + t, is_new)) return false;
      std::stable_partition(order.begin(), order.end(), is_new);
    }
    chosen.assign(order.begin(), order.begin() + t);
    std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(tried), is_new);
    return true;
  }
  onenormest_result result(double est, int64_t best, const host_block_of_columns& y, int64_t column) const {
    std::vector<double> v(static_cast<std::size_t>(n_));
    v[static_cast<std::size_t>(best)] = 1;
    std::vector<element> w;
    for (int64_t i = 0; i < n_; ++i) w.push_back(y(i, column));
    const ndarray all = array(w, {.device = cpu});
    return {est, array(v, {.device = on_}).astype(type_),
            (is_complex(type_) ? all : ndarray(real(all))).astype(type_, {.device = on_})};
  }

  const linear_operator& a_;
  int64_t n_;
  dtype type_;
  device on_;
  std::uint64_t state_ = 20111;
};

}  // namespace

namespace sparse::linalg {

onenormest_result onenormest(const linear_operator& A, const onenormest_kw& kw) {
  const auto& body = body_of(A, "onenormest");
  if (body.rows() != body.columns()) fail<shape_error>("onenormest", "A of shape ", A.shape(), " is not square");
  if (kw.t < 1 || kw.itmax < 2)
    fail<value_error>("onenormest", "t is ", kw.t, " and itmax ", kw.itmax, "; at least 1 and 2");
  if (body.rows() == 0) fail<value_error>("onenormest", "A of shape ", A.shape(), " has no columns");
  norm_estimate e(A, body.device_hint());
  return kw.t >= (body.rows() + 3) / 4 ? e.by_columns() : e.by_blocks(kw.t, kw.itmax);
}

}  // namespace sparse::linalg

}  // namespace sinter::inline v0
