// saxpy as kernels from text: the library does everything but the line that computes.
#include "saxpy/forms.hpp"
#include "sinter/sinter.hpp"

namespace saxpy {
namespace {

const sn::elementwise_kernel& kernel() {
  static const sn::elementwise_kernel k("T x, T y, T a", "T z", "z = a * x + y", "saxpy");
  return k;
}

}  // namespace

work device_function(const ndarray& x, const ndarray& y) {
  static const sn::function axpy("T axpy(T a, T x, T y)", "return a * x + y;");
  return [=] { return axpy(a, x, y); };
}

work elementwise(const ndarray& x, const ndarray& y) {
  return [=] { return kernel()(x, y, a); };
}

work elementwise_into_array(const ndarray& x, const ndarray& y) {
  const ndarray z = sn::empty_like(x);
  return [=] { return kernel()(x, y, a, {.out = {z}}); };
}

work elementwise_raw(const ndarray& x, const ndarray& y) {
  static const sn::elementwise_kernel k("raw T x, raw T y, T a", "T z", "z = a * x[i] + y[i]", "saxpy_raw");
  return [=] { return k(x, y, a, {.size = x.size()}); };
}

work elementwise_every_other(const ndarray& x, const ndarray& y) {
  return elementwise(examples::spread(x), examples::spread(y));
}

work reduction(const ndarray& x, const ndarray& y) {
  static const sn::reduction_kernel total("T x, T y, T factor", "T z", "factor * x + y", "a + b", "z = a", "0",
                                          "saxpy_sum");
  return [=] { return total(x, y, a); };
}

}  // namespace saxpy
