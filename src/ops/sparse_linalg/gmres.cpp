// Generalised minimal residuals with restarts: Saad and Schultz, GMRES: A Generalized Minimal Residual Algorithm for Solving
// Nonsymmetric Linear Systems, 1986. The device makes the Arnoldi vectors; the small least-squares problem is the host's.
#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "ops/base/opaque_call.hpp"
#include "ops/sparse_linalg/implicit.hpp"
#include "ops/base/errors.hpp"
#include "ops/sparse_linalg/iteration.hpp"
#include "ops/sparse_linalg/orthogonal.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/products.hpp"

namespace sinter::inline v0 {

using namespace ops;
using namespace idx;
using sparse::linalg::gmres_kw;
using sparse::linalg::solution;
using std::int64_t;

namespace {

using complex_t = std::complex<double>;

/// The least-squares problem of a cycle, column by column, by plane rotations: SciPy's steps.
class hessenberg {
 public:
  hessenberg(double norm, double eps) : s_{norm}, eps_(eps) {}
  /// Takes the next column, its last element (the norm of what is left), and the norm of what it was made of. Returns the norm
  /// of the residual.
  double add(std::vector<complex_t> h, double left, double whole) {
    exact_ = !(left > eps_ * whole);
    h.push_back(exact_ ? 0 : left);
    const std::size_t col = h.size() - 2;
    for (std::size_t k = 0; k < col; ++k) {
      const complex_t a = h[k], b = h[k + 1];
      h[k] = c_[k] * a + sn_[k] * b;
      h[k + 1] = -std::conj(sn_[k]) * a + c_[k] * b;
    }
    const double a = std::abs(h[col]), b = std::abs(h[col + 1]), size = std::hypot(a, b);
    // LAPACK's lartg: c real, and the phase of the first element stays.
    const complex_t phase = a == 0 ? complex_t(1) : h[col] / a;
    c_.push_back(size == 0 ? 1 : a / size);
    sn_.push_back(size == 0 ? complex_t(0) : phase * std::conj(h[col + 1]) / size);
    h[col] = phase * size;
    h.pop_back();
    columns_.push_back(std::move(h));
    s_.push_back(-std::conj(sn_[col]) * s_[col]);
    s_[col] *= c_[col];
    return std::abs(s_[col + 1]);
  }
  bool is_exact() const noexcept { return exact_; }
  std::size_t size() const noexcept { return columns_.size(); }
  /// The coefficients of the Arnoldi vectors; singular cases as SciPy's.
  std::vector<complex_t> solve() const {
    const std::size_t n = columns_.size();
    std::vector<complex_t> y(s_.begin(), s_.begin() + static_cast<std::ptrdiff_t>(n));
    if (columns_[n - 1][n - 1] == 0.0) y[n - 1] = 0;
    for (std::size_t k = n; k-- > 0;) {
      if (y[k] == 0.0) continue;
      y[k] /= columns_[k][k];
      for (std::size_t i = 0; i < k; ++i) y[i] -= y[k] * columns_[k][i];
    }
    return y;
  }

 private:
  std::vector<complex_t> s_;
  std::vector<double> c_;
  std::vector<complex_t> sn_;
  std::vector<std::vector<complex_t>> columns_;
  double eps_;
  bool exact_ = false;
};

std::vector<complex_t> on_host(const ndarray& x) { return x.to_vector<complex_t>(); }
/// Coefficients as an array in the dtype of vectors.
ndarray on_device(const std::vector<complex_t>& y, const ndarray& like) {
  if (is_complex(like.dtype())) return array(y, {.dtype = like.dtype(), .device = like.device()});
  std::vector<double> parts;
  for (const complex_t& v : y) parts.push_back(v.real());
  return array(parts, {.dtype = like.dtype(), .device = like.device()});
}

struct gmres_state {
  linear_system s;
  const gmres_kw& kw;
  int64_t most, restart;
  bool legacy, at_steps, at_cycles;
  double norm_of_b = 0, limit = 0, eps = 0;
  int64_t inner = 0;
  ndarray basis = {};  // a row for each Arnoldi vector

  /// Steps between two looks of the host.
  int64_t stride() const {
    if (at_steps) return 1;
    return onlooker(s.b.device(), false).stride();
  }
  struct cycle_end {
    std::size_t columns = 0;
    double residual = 0;
    bool exact = false;
  };
  /// Columns that have been enqueued and that the host has not seen.
  struct pending_column {
    ndarray h, left, whole;
  };
  /// A cycle: fills `basis` and `small`, and says where it ended.
  cycle_end run(const ndarray& r, double ptol, hessenberg& small, double norm) {
    basis(0, _) = r / norm;
    std::vector<pending_column> pending;
    cycle_end end;
    for (int64_t col = 0; col < restart; ++col) {
      pending.push_back(expand(col));
      if (static_cast<int64_t>(pending.size()) < stride() && col + 1 < restart) continue;
      for (const pending_column& p : pending) {
        end.residual = small.add(on_host(p.h), p.left.item<double>(), p.whole.item<double>());
        end.columns = small.size();
        end.exact = small.is_exact();
        ++inner;
        if (at_steps) kw.callback(array(end.residual / norm_of_b, {.dtype = float64, .device = r.device()}));
        if ((legacy && inner == most) || end.residual <= ptol || end.exact) return end;
      }
      pending.clear();
    }
    return end;
  }
  /// The Arnoldi vector after `col`, orthogonal to the others.
  pending_column expand(int64_t col) {
    const ndarray v = basis(slice(col + 1), _), w = s.precondition(s.apply(basis(col, _))), whole = length_of(w);
    const projected q = project_out_twice(v, v, w);
    const ndarray left = length_of(q.left);
    eval(q.left, q.h, left, whole);
    basis(col + 1, _) = q.left / left;
    return {q.h, left, whole};
  }
};

}  // namespace

namespace sparse::linalg {

solution gmres(const linear_operator& A, const ndarray& b, const gmres_kw& kw) {
  if (is_within_interceptor()) [[unlikely]] {
    const auto again = [A, m = kw.M, rtol = kw.rtol, atol = kw.atol, restart = kw.restart, most = kw.maxiter](
                           const ndarray& r, bool turned) {
      const gmres_kw with{
          .rtol = rtol, .atol = atol, .restart = restart, .maxiter = most, .M = turned ? transposed(m, false) : m};
      return gmres(turned ? A.transpose() : A, r, with).x;
    };
    const auto first = [=, type = std::string(kw.callback_type)](const ndarray& right) {
      gmres_kw with = kw;
      with.callback_type = type;
      return gmres(A, right, with);
    };
    if (auto s = solved_implicitly({"gmres", A, 0, again}, b, first)) return *s;
  }
  if (kw.callback_type != "x" && kw.callback_type != "pr_norm" && kw.callback_type != "legacy")
    fail<value_error>("gmres", "Unknown callback_type: '", kw.callback_type, "'");
  linear_system system = make_system("gmres", A, b, kw.x0, kw.M);
  const bool calls = static_cast<bool>(kw.callback), at_cycles = calls && kw.callback_type == "x";
  const bool legacy = calls && kw.callback_type == "legacy";
  const int64_t restart = std::min(kw.restart.value_or(20), system.n);
  gmres_state g{system, kw, kw.maxiter.value_or(10 * system.n), restart, legacy, calls && !at_cycles, at_cycles};
  if (kw.restart && *kw.restart < 1) fail<value_error>("gmres", "restart is ", *kw.restart, "; it must be positive");
  g.norm_of_b = length_of(g.s.b).item<double>();
  g.limit = tolerance("gmres", g.norm_of_b, kw.rtol, kw.atol);
  g.eps = epsilon_of(g.s.b.dtype());
  if (g.norm_of_b == 0) return {zeros_like(g.s.b), 0};
  ndarray r = g.s.residual();
  double norm = length_of(r).item<double>();
  if (g.most > 0 && norm < g.limit) return {g.s.x, 0};
  g.basis = zeros({restart + 1, g.s.n}, {.dtype = g.s.b.dtype(), .device = g.s.b.device()});
  double factor = 1, ptol = length_of(g.s.precondition(g.s.b)).item<double>() * std::min(1.0, g.limit / g.norm_of_b);
  for (int64_t cycle = 0; cycle < g.most; ++cycle) {
    const ndarray start = g.s.precondition(r);
    const double size = length_of(start).item<double>();
    hessenberg small(size, g.eps);
    const auto end = g.run(start, ptol, small, size);
    const auto used = static_cast<int64_t>(end.columns);
    g.s.x = g.s.x + matmul(on_device(small.solve(), g.s.x), g.basis(slice(used), _));
    r = g.s.b - g.s.apply(g.s.x);
    const ndarray length = length_of(r);
    eval(g.s.x, r, length);
    norm = length.item<double>();
    if (g.legacy && g.inner == g.most) break;
    if (g.at_cycles) kw.callback(g.s.x);
    if (norm <= g.limit || end.exact) break;
    factor = end.residual <= ptol ? std::max(g.eps, 0.25 * factor) : std::min(1.0, 1.5 * factor);
    ptol = end.residual * std::min(factor, g.limit / norm);
  }
  return {g.s.x, norm <= g.limit ? 0 : g.most};
}

}  // namespace sparse::linalg

}  // namespace sinter::inline v0
