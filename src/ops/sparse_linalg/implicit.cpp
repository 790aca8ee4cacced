#include "ops/sparse_linalg/implicit.hpp"

#include "ops/base/differentiating.hpp"
#include "ops/base/of_examples.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/grad.hpp"

namespace sinter::ops {
namespace {

using sparse::linalg::linear_operator;
using sparse::linalg::solution;

/// x0, and S(r) to the derivatives; the value is x0 as it is.
ndarray with_slopes(const implicit_equation& e, const ndarray& x0, const ndarray& r) {
  const auto value = [](const std::vector<ndarray>& a) { return std::vector<ndarray>{a[0]}; };
  const auto forward = [e](const std::vector<ndarray>&, const std::vector<ndarray>&, const std::vector<ndarray>& t) {
    return std::vector<ndarray>{t[0] + e.solve(t[1], false)};
  };
  const auto backward = [e](const std::vector<ndarray>&, const std::vector<ndarray>&, const std::vector<ndarray>& g) {
    return std::vector<ndarray>{g[0], e.solve(g[0], true)};
  };
  return detail::call_with_derivatives(e.function, value, {x0, r}, forward, backward)[0];
}

}  // namespace

linear_operator transposed(const linear_operator& a, bool hermitian) {
  if (!a.defined()) return a;
  if (!hermitian) return a.transpose();
  if (!is_complex(a.dtype())) return a;
  return {a.shape(), [a](const ndarray& x) { return conj(a.matvec(conj(x))); }, {.dtype = a.dtype()}};
}

std::optional<solution> solved_implicitly(const implicit_equation& e, const ndarray& b,
                                          const std::function<solution(const ndarray&)>& first) {
  if (!is_within_interceptor() || !b.defined()) [[likely]]
    return {};
  graph::trace* const derivative = innermost_derivative();
  if (!derivative) {
    // The code of each example is not one of all.
    const auto again = [first](std::span<const ndarray> o) {
      const solution s = first(o[0]);
      return results_of(s.x, array(s.info));
    };
    auto r = intercept_mapped(e.function, {&b}, again);
    if (!r) return {};
    return solution{(*r)[0], 0};
  }
  // What b is for all examples of a vmap within the derivative is recorded here, since the derivative must see it.
  (void)is_of_examples(std::span(&b, 1));
  solution s;
  {
    const graph::trace::pause now(*derivative);
    s = first(b);
  }
  ndarray r = b.astype(s.x.dtype(), false) - e.a.dot(s.x);
  if (e.shift != 0) r = r + e.shift * s.x;
  s.x = with_slopes(e, s.x, r);
  return s;
}

}  // namespace sinter::ops
