// LSQR: the recurrences of Paige and Saunders (LSQR: An Algorithm for Sparse Linear Equations and Sparse Least Squares, ACM Trans.
// Math. Softw., 1982). Their numbers are lsqr_numbers of number_steps.inl.
#include <array>
#include <vector>

#include "ops/base/opaque_call.hpp"
#include "ops/sparse_linalg/bidiagonal.hpp"
#include "ops/sparse_linalg/step_numbers.hpp"
#include "ops/sparse_linalg/steps.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;
using sparse::linalg::lsqr_kw;
using sparse::linalg::lsqr_result;
using std::int64_t;

namespace {

#define SINTER_LSQR(member) SINTER_NUMBER_INDEX(lsqr_numbers, member)

lsqr_numbers first_lsqr_numbers(const bidiagonalisation& g, const lsqr_kw& kw, double alpha, double beta,
                                int64_t most) {
  auto k = g.first_numbers<lsqr_numbers>(kw, alpha, beta, most);
  k.alpha = k.rhobar = alpha;
  k.r1norm = k.r2norm = k.phibar = beta;
  k.arnorm = alpha * beta;
  k.cs2 = -1;
  return k;
}

/// The same for a device whose products leave nothing else to a step.
constexpr vectors_text lsqr_vectors{"T v, T w, T x", "T new_w, T new_x, T weights",
                                    "const T of_x = (T)k.x_factor, of_w = (T)k.w_factor;\n"
                                    "const T weight = (T)k.weight, inverse = (T)k.inverse_alpha;\n"
                                    "const bool goes_on = k.status == 0;\n",
                                    "new_x = goes_on ? x + of_x * w : x;\n"
                                    "weights = w * w * weight;\n"
                                    "new_w = v * inverse + of_w * w;"};

lsqr_result lsqr_result_of(const ndarray& x, const lsqr_numbers& k, const ndarray& var) {
  return {x,
          static_cast<int64_t>(k.status),
          static_cast<int64_t>(k.itn),
          k.r1norm,
          k.r2norm,
          k.anorm,
          k.acond,
          k.arnorm,
          k.xnorm,
          var};
}

}  // namespace

namespace sparse::linalg {

lsqr_result lsqr(const linear_operator& A, const ndarray& b, const lsqr_kw& kw) {
  bidiagonalisation g = bidiagonalisation::begin("lsqr", A, b, kw.x0);
  const int64_t most = kw.iter_lim.value_or(2 * g.columns);
  ndarray x = g.x, var = zeros({g.columns}, {.dtype = float64, .device = g.device()});
  lsqr_numbers k = first_lsqr_numbers(g, kw, for_host(g.alpha, "lsqr").item<double>(),
                                      for_host(g.beta, "lsqr").item<double>(), most);
  if (k.arnorm == 0) return lsqr_result_of(x, k, var);
  onlooker host(g.device(), false);
  const beside_products beside(g);
  const bool at_once = beside && host.is_late();
  number_steps numbers(lsqr_program, &k.status, g.device(), host.is_late(), at_once ? &lsqr_vectors : nullptr);
  ndarray w = g.direction(numbers[SINTER_LSQR(inverse_alpha)]);
  for (int64_t itn = 1; itn <= most; ++itn) {
    g.step(numbers[SINTER_LSQR(inverse_alpha)], numbers[SINTER_LSQR(alpha_over_beta)]);
    const auto here = beside.enter();
    ndarray weights;
    if (at_once) {
      const std::vector<ndarray> now = numbers.advance(g.alpha, g.beta, std::array{g.v, w, x});
      w = now[0], x = now[1], weights = now[2];
    } else {
      numbers.advance(g.alpha, g.beta);
      x = host.unless_ended(numbers[0], x + g.factor(numbers[SINTER_LSQR(x_factor)]) * w, x);
      const ndarray size = is_complex(w.dtype()) ? square(real(w)) + square(imag(w)) : square(w);
      weights = size * g.factor(numbers[SINTER_LSQR(weight)]);
      w = g.direction(numbers[SINTER_LSQR(inverse_alpha)]) + g.factor(numbers[SINTER_LSQR(w_factor)]) * w;
    }
    const ndarray square_of_dk = sum(weights).astype(float64);
    if (kw.calc_var) var = host.unless_ended(numbers[0], var + weights, var);
    eval(x, w, var, square_of_dk);
    numbers.test(square_of_dk);
    if (host.sees_end(numbers[0])) break;
  }
  numbers.read(&k.status);
  return lsqr_result_of(x, k, var);
}

}  // namespace sparse::linalg

}  // namespace sinter::inline v0
