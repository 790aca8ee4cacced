// LSMR: the recurrences of Fong and Saunders (LSMR: An Iterative Algorithm for Sparse Least-Squares Problems, SIAM J. Sci.
// Comput., 2011). Their numbers are lsmr_numbers of number_steps.inl, by the names of the paper and of SciPy.
#include <algorithm>
#include <array>
#include <vector>

#include "ops/base/opaque_call.hpp"
#include "ops/sparse_linalg/bidiagonal.hpp"
#include "ops/sparse_linalg/step_numbers.hpp"
#include "ops/sparse_linalg/steps.hpp"
#include "sinter/creation.hpp"
#include "sinter/eval.hpp"

namespace sinter::inline v0 {

using namespace ops;
using sparse::linalg::lsmr_kw;
using sparse::linalg::lsmr_result;
using std::int64_t;

namespace {

#define SINTER_LSMR(member) SINTER_NUMBER_INDEX(lsmr_numbers, member)

lsmr_numbers first_lsmr_numbers(const bidiagonalisation& g, const lsmr_kw& kw, double alpha, double beta,
                                int64_t most) {
  auto k = g.first_numbers<lsmr_numbers>(kw, alpha, beta, most);
  k.normr = k.betadd = beta;
  k.normar = k.zetabar = alpha * beta;
  k.norma = k.alpha = k.alphabar = alpha;
  k.norma2 = alpha * alpha;
  k.conda = k.rho = k.rhobar = k.cbar = k.rhodold = 1;
  k.minrbar = 1e100;
  return k;
}

/// The same for a device whose products leave nothing else to a step.
constexpr vectors_text lsmr_vectors{"T v, T h, T hbar, T x", "T new_h, T new_hbar, T new_x",
                                    "const T of_hbar = (T)k.hbar_factor, of_x = (T)k.x_factor;\n"
                                    "const T of_h = (T)k.h_factor, inverse = (T)k.inverse_alpha;\n"
                                    "const bool goes_on = k.status == 0;\n",
                                    "new_hbar = h + of_hbar * hbar;\n"
                                    "new_x = goes_on ? x + of_x * new_hbar : x;\n"
                                    "new_h = v * inverse + of_h * h;"};

lsmr_result lsmr_result_of(const ndarray& x, const lsmr_numbers& k) {
  return {x, static_cast<int64_t>(k.status), static_cast<int64_t>(k.itn), k.normr, k.normar, k.norma, k.conda, k.normx};
}

}  // namespace

namespace sparse::linalg {

lsmr_result lsmr(const linear_operator& A, const ndarray& b, const lsmr_kw& kw) {
  bidiagonalisation g = bidiagonalisation::begin("lsmr", A, b, kw.x0);
  const int64_t most = kw.maxiter.value_or(std::min(g.rows, g.columns));
  ndarray x = g.x;
  lsmr_numbers k = first_lsmr_numbers(g, kw, for_host(g.alpha, "lsmr").item<double>(),
                                      for_host(g.beta, "lsmr").item<double>(), most);
  if (k.normar == 0) return lsmr_result_of(x, k);
  if (g.norm_of_b == 0) return lsmr_result_of(zeros_like(x), k);
  onlooker host(g.device(), false);
  const beside_products beside(g);
  const bool at_once = beside && host.is_late();
  number_steps numbers(lsmr_program, &k.status, g.device(), host.is_late(), at_once ? &lsmr_vectors : nullptr);
  ndarray h = g.direction(numbers[SINTER_LSMR(inverse_alpha)]), hbar = zeros_like(x);
  for (int64_t itn = 1; itn <= most; ++itn) {
    g.step(numbers[SINTER_LSMR(inverse_alpha)], numbers[SINTER_LSMR(alpha_over_beta)]);
    const auto here = beside.enter();
    if (at_once) {
      const std::vector<ndarray> now = numbers.advance(g.alpha, g.beta, std::array{g.v, h, hbar, x});
      h = now[0], hbar = now[1], x = now[2];
    } else {
      numbers.advance(g.alpha, g.beta);
      hbar = h + g.factor(numbers[SINTER_LSMR(hbar_factor)]) * hbar;
      x = host.unless_ended(numbers[0], x + g.factor(numbers[SINTER_LSMR(x_factor)]) * hbar, x);
      h = g.direction(numbers[SINTER_LSMR(inverse_alpha)]) + g.factor(numbers[SINTER_LSMR(h_factor)]) * h;
    }
    const ndarray normx = length_of(x).astype(float64);
    eval(x, h, hbar, normx);
    numbers.test(normx);
    if (host.sees_end(numbers[0])) break;
  }
  numbers.read(&k.status);
  return lsmr_result_of(x, k);
}

}  // namespace sparse::linalg

}  // namespace sinter::inline v0
