// The relative difference as kernels from text: the library does everything but the line that computes.
#include "relative_difference/forms.hpp"
#include "sinter/sinter.hpp"

namespace relative_difference {
namespace {

const sn::elementwise_kernel& kernel() {
  static const sn::elementwise_kernel k("T x, T y", "T d", "d = 2 * (x - y) / (x + y)", "difference");
  return k;
}

}  // namespace

work device_function(const ndarray& x, const ndarray& y) {
  static const sn::function difference("T difference(T x, T y)", "return 2 * (x - y) / (x + y);");
  return [=] { return difference(x, y); };
}

work elementwise(const ndarray& x, const ndarray& y) {
  return [=] { return kernel()(x, y); };
}

work elementwise_into_array(const ndarray& x, const ndarray& y) {
  const ndarray d = sn::empty_like(x);
  return [=] { return kernel()(x, y, {.out = {d}}); };
}

work elementwise_raw(const ndarray& x, const ndarray& y) {
  static const sn::elementwise_kernel k("raw T x, raw T y", "T d", "d = 2 * (x[i] - y[i]) / (x[i] + y[i])",
                                        "difference_raw");
  return [=] { return k(x, y, {.size = x.size()}); };
}

work elementwise_every_other(const ndarray& x, const ndarray& y) {
  return elementwise(examples::spread(x), examples::spread(y));
}

work reduction(const ndarray& x, const ndarray& y) {
  static const sn::reduction_kernel largest("T x, T y", "T d", "fabs(2 * (x - y) / (x + y))", "max(a, b)", "d = a", "0",
                                            "largest_difference");
  return [=] { return largest(x, y); };
}

}  // namespace relative_difference
