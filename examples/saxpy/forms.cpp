// saxpy as array expressions, and the list of all forms.
#include "saxpy/forms.hpp"

#include <cmath>
#include <cstddef>

#include "sinter/sinter.hpp"

namespace saxpy {

using namespace sn::idx;

work plain_loop(const ndarray& x, const ndarray& y) {
  const ndarray z = sn::empty_like(x);
  return [z, from_x = x.host<float>(), from_y = y.host<float>(), to = z.data<float>()] {
    for (std::size_t i = 0; i < from_x.size(); ++i) to[i] = a * from_x[i] + from_y[i];
    return z;
  };
}

work expression(const ndarray& x, const ndarray& y) {
  return [=] { return a * x + y; };
}

work in_place(const ndarray& x, const ndarray& y) {
  return [=, z = y.copy()]() mutable {
    z += a * x;  // for the second time z is not y any more
    return z;
  };
}

work into_array(const ndarray& x, const ndarray& y) {
  const ndarray z = sn::empty_like(x);
  return [=] {
    z(ellipsis) = a * x + y;
    return z;
  };
}

work every_other(const ndarray& x, const ndarray& y) { return expression(examples::spread(x), examples::spread(y)); }

work sum_of_expression(const ndarray& x, const ndarray& y) {
  return [=] { return sn::sum(a * x + y); };
}

examples::computation all_forms() {
  using examples::gives, examples::runs_on;
  examples::computation c;
  c.name = "saxpy";
  c.formula = "z = a x + y";
  c.exact = [](double x, double y) { return static_cast<double>(a) * x + y; };
  // Half a unit in the last place of the product, and of the sum. Contraction into one operation saves the first.
  c.allowed = [](double x, double y) {
    const double product = static_cast<double>(a) * x;
    return 1.001 * 0x1p-24 * (std::fabs(product) + std::fabs(product + y));
  };
  c.fold = [](double sum, double element) { return sum + element; };
  // Partial sums of 512 numbers, all positive.
  c.fold_allowed = [](double sum) { return 512 * 0x1p-24 * sum; };
  c.forms = {
      {.name = "plain loop, one core", .prepare = plain_loop, .where = runs_on::cpu_only},
      {.name = "expression", .prepare = expression},
      {.name = "in place", .prepare = in_place},
      {.name = "into an array", .prepare = into_array},
      {.name = "every other element", .prepare = every_other},
      {.name = "sum of the expression", .prepare = sum_of_expression, .bytes = 8, .result = gives::number},
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

}  // namespace saxpy
