// Minimal residuals: the recurrences of Paige and Saunders (Solution of Sparse Indefinite Systems of Linear Equations, 1975) with
// the stopping rules of their program, which SciPy has too. Their numbers are minres_numbers of number_steps.inl.
#include <cmath>

#include "ops/base/opaque_call.hpp"
#include "ops/sparse_linalg/implicit.hpp"
#include "ops/base/errors.hpp"
#include "ops/sparse_linalg/iteration.hpp"
#include "ops/sparse_linalg/step_numbers.hpp"
#include "ops/sparse_linalg/steps.hpp"
#include "sinter/creation.hpp"
#include "sinter/dtype_info.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"

namespace sinter::inline v0 {

using namespace ops;
using sparse::linalg::minres_kw;
using sparse::linalg::solution;
using std::int64_t;

namespace {

#define SINTER_MINRES(member) SINTER_NUMBER_INDEX(minres_numbers, member)

minres_numbers first_minres_numbers(const minres_kw& kw, double beta, dtype type, int64_t most) {
  minres_numbers k{};
  k.beta = k.beta1 = k.phibar = beta;
  k.cs = -1;
  k.eps = epsilon_of(type);
  k.rtol = kw.rtol;
  k.most = static_cast<double>(most);
  k.gmin = finfo(type).max;
  return k;
}

}  // namespace

namespace sparse::linalg {

solution minres(const linear_operator& A, const ndarray& b, const minres_kw& kw) {
  if (is_within_interceptor()) [[unlikely]] {
    const auto again = [A, m = kw.M, rtol = kw.rtol, shift = kw.shift, most = kw.maxiter](const ndarray& r, bool) {
      return minres(A, r, {.rtol = rtol, .shift = shift, .maxiter = most, .M = m}).x;  // real and symmetric
    };
    const implicit_equation e{"minres", A, kw.shift, again};
    if (auto s = solved_implicitly(e, b, [=](const ndarray& right) { return minres(A, right, kw); })) return *s;
  }
  linear_system s = make_system("minres", A, b, kw.x0, kw.M);
  const dtype type = s.b.dtype();
  if (is_complex(type)) fail<dtype_error>("minres", "the method is one for real matrices, not ", type);
  const int64_t most = kw.maxiter.value_or(5 * s.n);
  ndarray r1 = s.residual(), y = s.precondition(r1), r2 = r1;
  const double square_of_beta = inner_product(r1, y).item<double>();
  if (square_of_beta < 0) fail<value_error>("minres", "the preconditioner M is indefinite");
  if (square_of_beta == 0) return {s.x, 0};
  if (length_of(s.b).item<double>() == 0) return {zeros_like(s.b), 0};
  minres_numbers k = first_minres_numbers(kw, std::sqrt(square_of_beta), type, most);
  onlooker host(s.b.device(), static_cast<bool>(kw.callback));
  number_steps numbers(minres_program, &k.status, s.b.device(), host.is_late());
  const auto number = [&](std::size_t index) { return numbers[index].astype(type, false); };
  ndarray w = zeros_like(s.b), w2 = w;
  for (int64_t itn = 1; itn <= most; ++itn) {
    const ndarray v = y / number(SINTER_MINRES(beta));
    y = s.apply(v);
    if (kw.shift != 0) y = y - kw.shift * v;
    if (itn >= 2) y = y - number(SINTER_MINRES(beta_over_old)) * r1;
    const ndarray alfa = inner_product(v, y);
    y = y - alfa / number(SINTER_MINRES(beta)) * r2;
    r1 = r2;
    r2 = y;
    y = s.precondition(r2);
    const ndarray product = inner_product(r2, y).astype(float64), alfa64 = alfa.astype(float64);
    eval(v, alfa64, r2, y, product);
    numbers.advance(alfa64, product);
    const ndarray w1 = w2;
    w2 = w;
    w = (v - number(SINTER_MINRES(oldeps)) * w1 - number(SINTER_MINRES(delta)) * w2) *
        number(SINTER_MINRES(inverse_gamma));
    s.x = host.unless_ended(numbers[0], s.x + number(SINTER_MINRES(phi)) * w, s.x);
    const ndarray ynorm = length_of(s.x).astype(float64);
    eval(s.x, w, ynorm);
    numbers.test(ynorm);
    if (kw.callback && numbers[0].item<int>() != 8) kw.callback(s.x);
    if (host.sees_end(numbers[0])) break;
  }
  numbers.read(&k.status);
  if (k.status == 8) fail<value_error>("minres", "A is not symmetric, or M is not positive definite");
  return {s.x, k.status == 6 || k.status == 0 ? most : 0};
}

}  // namespace sparse::linalg

}  // namespace sinter::inline v0
