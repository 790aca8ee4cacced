// The relative difference as array expressions, and the list of all forms.
#include "relative_difference/forms.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "sinter/sinter.hpp"

namespace relative_difference {

using namespace sn::idx;

work plain_loop(const ndarray& x, const ndarray& y) {
  const ndarray d = sn::empty_like(x);
  return [d, from_x = x.host<float>(), from_y = y.host<float>(), to = d.data<float>()] {
    for (std::size_t i = 0; i < from_x.size(); ++i) to[i] = 2 * (from_x[i] - from_y[i]) / (from_x[i] + from_y[i]);
    return d;
  };
}

work expression(const ndarray& x, const ndarray& y) {
  return [=] { return 2 * (x - y) / (x + y); };
}

work in_place(const ndarray& x, const ndarray& y) {
  return [=] {
    ndarray d = x - y;
    d *= 2;
    d /= x + y;
    return d;
  };
}

work into_array(const ndarray& x, const ndarray& y) {
  const ndarray d = sn::empty_like(x);
  return [=] {
    d(ellipsis) = 2 * (x - y) / (x + y);
    return d;
  };
}

work every_other(const ndarray& x, const ndarray& y) { return expression(examples::spread(x), examples::spread(y)); }

work largest_of_expression(const ndarray& x, const ndarray& y) {
  return [=] { return sn::max(sn::absolute(2 * (x - y) / (x + y))); };
}

examples::computation all_forms() {
  using examples::gives, examples::runs_on;
  examples::computation c;
  c.name = "relative_difference";
  c.formula = "d = 2 (x - y) / (x + y)";
  c.exact = [](double x, double y) { return 2 * (x - y) / (x + y); };
  // Half a unit in the last place of the difference, the sum and the quotient.
  c.allowed = [](double x, double y) { return 1.001 * 3 * 0x1p-24 * std::fabs(2 * (x - y) / (x + y)); };
  c.fold = [](double largest, double element) { return std::max(largest, std::fabs(element)); };
  c.fold_allowed = [](double largest) { return 1.001 * 3 * 0x1p-24 * largest; };
  c.forms = {
      {.name = "plain loop, one core", .prepare = plain_loop, .where = runs_on::cpu_only},
      {.name = "expression", .prepare = expression},
      {.name = "in place, operation by operation", .prepare = in_place},
      {.name = "into an array", .prepare = into_array},
      {.name = "every other element", .prepare = every_other},
      {.name = "largest of the expression", .prepare = largest_of_expression, .bytes = 8, .result = gives::number},
      {.name = "device function", .prepare = device_function},
      {.name = "elementwise_kernel", .prepare = elementwise},
      {.name = "elementwise_kernel into an array", .prepare = elementwise_into_array},
      {.name = "elementwise_kernel, raw arguments", .prepare = elementwise_raw},
      {.name = "elementwise_kernel, every other element", .prepare = elementwise_every_other},
      {.name = "reduction_kernel", .prepare = reduction, .bytes = 8, .result = gives::number},
      {.name = "raw kernel, grid-stride loop", .prepare = raw_grid_stride, .where = runs_on::gpu_only},
      {.name = "raw kernel, four at a time", .prepare = raw_by_four, .where = runs_on::gpu_only},
      {.name = "raw kernel, every other element", .prepare = raw_strided, .where = runs_on::gpu_only},
  };
  return c;
}

}  // namespace relative_difference
