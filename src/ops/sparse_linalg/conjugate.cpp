// Conjugate gradients and their relatives for matrices that are not symmetric.
//
// The order of tests and updates is SciPy's, so that numbers of steps and codes are.
#include "ops/base/opaque_call.hpp"
#include "ops/sparse_linalg/implicit.hpp"
#include "ops/sparse_linalg/iteration.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;
using sparse::linalg::solution;
using sparse::linalg::solver_kw;
using std::int64_t;

namespace {

enum status_code : int { converged = 1, lost_product = 2, lost_denominator = 3 };

/// What the three methods have in common: the test of the residual, the look of the host, the callback, the code.
struct krylov {
  linear_system s;
  const solver_kw& kw;
  int64_t most;
  double limit = 0;
  onlooker host;
  ndarray status;

  krylov(linear_system system, const solver_kw& keywords)
      : s(std::move(system)),
        kw(keywords),
        most(kw.maxiter.value_or(10 * s.n)),
        host(s.b.device(), static_cast<bool>(kw.callback)),
        status(running(s.b.device())) {}

  /// False if b is 0, which solves everything.
  bool begin() {
    const double size = length_of(s.b).item<double>();
    limit = tolerance(s.function, size, kw.rtol, kw.atol);
    if (size == 0) s.x = zeros_like(s.b);
    return size != 0;
  }
  /// The test before a step.
  void test(const ndarray& norm) { status = ended_if(status, norm < limit, converged); }
  /// Once `status` has been enqueued with a step's results: whether to stop. `stepped` is the status before the step.
  bool ends() { return host.sees_end(status); }
  solution result() const {
    switch (status.item<int>()) {
      case converged: return {s.x, 0};
      case lost_product: return {s.x, -10};
      case lost_denominator: return {s.x, -11};
      default: return {s.x, most};
    }
  }
};

/// Products below this count as nothing.
double square_of_epsilon(dtype t) { return epsilon_of(t) * epsilon_of(t); }

using method = solution (*)(const linear_operator&, const ndarray&, const solver_kw&);
/// The solution where a derivative or a vmap follows it.
std::optional<solution> followed(const char* function, method solve, const linear_operator& A, const ndarray& b,
                                 const solver_kw& kw) {
  if (!is_within_interceptor()) [[likely]]
    return {};
  const bool hermitian = solve == &sparse::linalg::cg;
  const solver_kw like{.rtol = kw.rtol, .atol = kw.atol, .maxiter = kw.maxiter};
  const auto again = [=, m = kw.M](const ndarray& r, bool turned) {
    solver_kw with = like;
    with.M = turned ? transposed(m, hermitian) : m;
    return solve(turned ? transposed(A, hermitian) : A, r, with).x;
  };
  return solved_implicitly({function, A, 0, again}, b, [=](const ndarray& right) { return solve(A, right, kw); });
}

}  // namespace

namespace sparse::linalg {

solution cg(const linear_operator& A, const ndarray& b, const solver_kw& kw) {
  if (auto s = followed("cg", &cg, A, b, kw)) return *s;
  krylov k(make_system("cg", A, b, kw.x0, kw.M), kw);
  if (!k.begin()) return {k.s.x, 0};
  ndarray r = k.s.residual(), squares = sum_of_squares(r), rho, p;
  k.test(sqrt(squares));
  eval(r, squares, k.status);
  if (k.most > 0 && k.status.item<int>() != 0) return k.result();
  for (int64_t step = 0; step < k.most; ++step) {
    const ndarray z = k.s.precondition(r), before = k.status;
    const ndarray rho_now = k.s.m.defined() ? inner_product(r, z) : squares;
    p = step > 0 ? z + rho_now / rho * p : z;
    rho = rho_now;
    const ndarray q = k.s.apply(p), alpha = rho / inner_product(p, q);
    k.s.x = k.host.unless_ended(before, k.s.x + alpha * p, k.s.x);
    r = r - alpha * q;
    squares = sum_of_squares(r);
    if (step + 1 < k.most) k.test(sqrt(squares));
    eval(k.s.x, r, p, rho, squares, k.status);
    if (kw.callback) kw.callback(k.s.x);
    if (k.ends()) break;
  }
  return k.result();
}

solution bicgstab(const linear_operator& A, const ndarray& b, const solver_kw& kw) {
  if (auto s = followed("bicgstab", &bicgstab, A, b, kw)) return *s;
  krylov k(make_system("bicgstab", A, b, kw.x0, kw.M), kw);
  if (!k.begin()) return {k.s.x, 0};
  const double least = square_of_epsilon(k.s.b.dtype());
  ndarray r = k.s.residual(), rho, p, v, alpha, omega;
  const ndarray shadow = r;
  ndarray rho_now = inner_product(shadow, r);
  k.test(length_of(r));
  k.status = ended_if(k.status, absolute(rho_now) < least, lost_product);
  eval(r, rho_now, k.status);
  if (k.most > 0 && k.status.item<int>() != 0) return k.result();
  for (int64_t step = 0; step < k.most; ++step) {
    p = step > 0 ? r + rho_now / rho * (alpha / omega) * (p - omega * v) : r;
    rho = rho_now;
    const ndarray along = k.s.precondition(p);
    v = k.s.apply(along);
    const ndarray denominator = inner_product(shadow, v);
    const ndarray usable = ended_if(k.status, denominator == 0, lost_denominator);
    alpha = rho / denominator;
    const ndarray s = r - alpha * v, half = k.s.x + alpha * along;
    const ndarray going_on = ended_if(usable, length_of(s) < k.limit, converged);
    const ndarray across = k.s.precondition(s), t = k.s.apply(across);
    omega = inner_product(t, s) / inner_product(t, t);
    k.s.x = where(going_on == 0, half + omega * across, where(usable == 0, half, k.s.x));
    r = s - omega * t;
    rho_now = inner_product(shadow, r);
    k.status = going_on;
    if (step + 1 < k.most) {
      k.test(length_of(r));
      k.status = ended_if(k.status, absolute(rho_now) < least, lost_product);
      k.status = ended_if(k.status, absolute(omega) < least, lost_denominator);
    }
    eval(k.s.x, r, p, rho, rho_now, alpha, omega, going_on, k.status);
    if (kw.callback && going_on.item<int>() == 0) kw.callback(k.s.x);
    if (k.ends()) break;
  }
  return k.result();
}

solution cgs(const linear_operator& A, const ndarray& b, const solver_kw& kw) {
  if (auto s = followed("cgs", &cgs, A, b, kw)) return *s;
  krylov k(make_system("cgs", A, b, kw.x0, kw.M), kw);
  if (!k.begin()) return {k.s.x, 0};
  const double least = square_of_epsilon(k.s.b.dtype());
  ndarray r = k.s.residual(), rho, p, q;
  const ndarray shadow = r;
  ndarray rho_now = inner_product(shadow, r);
  k.test(length_of(r));
  k.status = ended_if(k.status, absolute(rho_now) < least, lost_product);
  eval(r, rho_now, k.status);
  if (k.most > 0 && k.status.item<int>() != 0) return k.result();
  for (int64_t step = 0; step < k.most; ++step) {
    ndarray u = r;
    if (step == 0) {
      p = r;
    } else {
      const ndarray beta = rho_now / rho;
      u = r + beta * q;
      p = u + beta * (q + beta * p);
    }
    rho = rho_now;
    const ndarray v = k.s.apply(k.s.precondition(p)), denominator = inner_product(shadow, v);
    const ndarray usable = ended_if(k.status, denominator == 0, lost_denominator);
    const ndarray alpha = rho / denominator;
    q = u - alpha * v;
    k.s.x = where(usable == 0, k.s.x + alpha * k.s.precondition(u + q), k.s.x);
    // The residual is computed, not updated, as SciPy does: its updates drift away from it.
    r = k.s.b - k.s.apply(k.s.x);
    rho_now = inner_product(shadow, r);
    k.status = usable;
    if (step + 1 < k.most) {
      k.test(length_of(r));
      k.status = ended_if(k.status, absolute(rho_now) < least, lost_product);
    }
    eval(k.s.x, r, p, q, rho, rho_now, usable, k.status);
    if (kw.callback && usable.item<int>() == 0) kw.callback(k.s.x);
    if (k.ends()) break;
  }
  return k.result();
}

}  // namespace sparse::linalg

}  // namespace sinter::inline v0
