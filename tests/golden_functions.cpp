// Tables from NumPy's names to the public functions.
#include "golden_functions.hpp"

#include <unordered_map>

namespace sinter::test {

#define UNARY(f) {#f, [](const ndarray& x) { return sinter::f(x); }}
#define BINARY(f) {#f, [](const operand& x, const operand& y) { return sinter::f(x, y); }}

unary_function find_unary(std::string_view name) {
  static const std::unordered_map<std::string_view, unary_function> table = {
      UNARY(absolute), UNARY(negative), UNARY(positive), UNARY(sign),     UNARY(square),      UNARY(sqrt),
      UNARY(cbrt),     UNARY(reciprocal), UNARY(exp),    UNARY(exp2),     UNARY(expm1),       UNARY(log),
      UNARY(log2),     UNARY(log10),    UNARY(log1p),    UNARY(sin),      UNARY(cos),         UNARY(tan),
      UNARY(arcsin),   UNARY(arccos),   UNARY(arctan),   UNARY(sinh),     UNARY(cosh),        UNARY(tanh),
      UNARY(arcsinh),  UNARY(arccosh),  UNARY(arctanh),  UNARY(floor),    UNARY(ceil),        UNARY(trunc),
      UNARY(rint),     UNARY(isnan),    UNARY(isinf),    UNARY(isfinite), UNARY(signbit),     UNARY(logical_not),
      UNARY(invert),   UNARY(conjugate), UNARY(real),    UNARY(imag),     UNARY(fabs),        UNARY(deg2rad),
      UNARY(rad2deg)};
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

binary_function find_binary(std::string_view name) {
  static const std::unordered_map<std::string_view, binary_function> table = {
      BINARY(add),           BINARY(subtract),    BINARY(multiply),     BINARY(divide),      BINARY(floor_divide),
      BINARY(remainder),     BINARY(fmod),        BINARY(power),        BINARY(arctan2),     BINARY(hypot),
      BINARY(copysign),      BINARY(nextafter),   BINARY(logaddexp),    BINARY(maximum),     BINARY(minimum),
      BINARY(fmax),          BINARY(fmin),        BINARY(equal),        BINARY(not_equal),   BINARY(less),
      BINARY(less_equal),    BINARY(greater),     BINARY(greater_equal), BINARY(logical_and), BINARY(logical_or),
      BINARY(logical_xor),   BINARY(bitwise_and), BINARY(bitwise_or),   BINARY(bitwise_xor), BINARY(left_shift),
      BINARY(right_shift),   BINARY(heaviside),   BINARY(float_power)};
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

#undef UNARY
#undef BINARY

#define ORDINARY(f)                                                                                 \
  {#f, [](const ndarray& x, const axes& a, bool keep, std::optional<dtype> t, double) {            \
     return sinter::f(x, reduce_kw{.axis = a, .keepdims = keep, .dtype = t});                      \
   }}
#define SPREAD(f)                                                                                  \
  {#f, [](const ndarray& x, const axes& a, bool keep, std::optional<dtype> t, double ddof) {       \
     return sinter::f(x, var_kw{.axis = a, .keepdims = keep, .dtype = t, .ddof = ddof});           \
   }}

reduction_function find_reduction(std::string_view name) {
  static const std::unordered_map<std::string_view, reduction_function> table = {
      ORDINARY(sum), ORDINARY(prod),   ORDINARY(mean),   ORDINARY(min), ORDINARY(max),           SPREAD(var),
      SPREAD(std),   ORDINARY(argmin), ORDINARY(argmax), ORDINARY(any), ORDINARY(count_nonzero), ORDINARY(all)};
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

#undef ORDINARY
#undef SPREAD

}  // namespace sinter::test
