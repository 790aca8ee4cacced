#include "ops/random/composed.hpp"

#include "ops/base/opaque_call.hpp"
#include "sinter/grad.hpp"
#include "sinter/loops.hpp"
#include "sinter/reduce.hpp"

namespace sinter::ops {

bool holds_for_any(const ndarray& condition) {
  bool of_examples = false;
  return detail::goes_on(any(condition), of_examples);
}

ndarray real_parameter(const operand& x, const composed_draw& w) {
  const ndarray a = array_of(x, w);
  return is_inexact(a.dtype()) ? a : a.astype(float64);
}

ndarray constant_parameter(const ndarray& x) { return is_intercepting() ? stop_gradient(x) : x; }

ndarray moving_draw(const char* function, const ndarray& draw, const std::vector<ndarray>& parameters,
                    const draw_slopes& slopes) {
  if (!is_intercepting()) return draw;
  std::vector<ndarray> all{draw};
  all.insert(all.end(), parameters.begin(), parameters.end());
  const auto tangent = [slopes](const std::vector<ndarray>& x, const std::vector<ndarray>& y,
                                const std::vector<ndarray>& t) {
    const std::vector<ndarray> by = slopes({x.begin() + 1, x.end()}, y[0]);
    ndarray sum = t[0];
    for (std::size_t k = 0; k < by.size(); ++k)
      if (by[k].defined()) sum = sum + by[k] * t[k + 1];
    return std::vector<ndarray>{sum};
  };
  const auto drawn = [](const std::vector<ndarray>& x) { return std::vector<ndarray>{x[0]}; };
  return detail::call_with_derivatives(function, drawn, all, tangent, {})[0];
}

}  // namespace sinter::ops
