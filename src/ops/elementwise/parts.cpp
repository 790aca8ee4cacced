// Elementwise functions composed of operations: parts of numbers, divisors, bits.
#include <cmath>
#include <limits>
#include <numbers>

#include "core/shape.hpp"
#include "ops/base/differentiating.hpp"
#include "ops/base/elementwise_values.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

dtype wide_of(dtype t) { return t == dtype::f16 || t == dtype::bf16 ? dtype::f32 : t; }

/// Whether each element is this infinity.
ndarray is_infinity(const char* function, double infinity, const ndarray& x) {
  const value v = value_of(x, function);
  loop_dtype(loop_rule::ordered, v->type, function);
  if (!is_inexact(v->type)) return wrap(bool_of(false, v->shape, v->device));
  return equal(x, infinity);
}

ndarray compare_imaginary(const char* function, opcode op, const ndarray& x) {
  const value v = value_of(x, function);
  if (!is_complex(v->type)) return wrap(bool_of(op == opcode::equal, v->shape, v->device));
  const dtype part = real_of(v->type);
  return wrap(map_of(op, dtype::b1, map_of(opcode::imag, part, v), constant_of(0, part, v->device)));
}

/// Two integers in their common dtype.
resolved integers(const char* function, const operand& x, const operand& y) {
  return resolve({&x, &y}, function, [&](dtype t) {
    if (!is_integer(t)) fail<dtype_error>(function, "dtype ", t, " is not supported");
    return t;
  });
}

}  // namespace

ndarray logaddexp2(const operand& x, const operand& y) {
  const resolved r = resolve_pair("logaddexp2", loop_rule::real_floating, x, y);
  const dtype type = wide_of(r.loop);
  const auto number = [&](double n) { return constant_of(n, type, r.device); };
  const value a = graph::record_cast(r.args[0], type), b = graph::record_cast(r.args[1], type);
  if (is_differentiating()) {  // the maximum and the difference have no slope where they are equal
    const value of_a = map_of(opcode::multiply, type, a, number(std::numbers::ln2));
    const value of_b = map_of(opcode::multiply, type, b, number(std::numbers::ln2));
    const value sum = map_of(opcode::logaddexp, type, of_a, of_b);
    return wrap(graph::record_cast(map_of(opcode::multiply, type, sum, number(std::numbers::log2e)), r.loop));
  }
  const value apart = map_of(opcode::absolute, type, map_of(opcode::subtract, type, a, b));
  const value small = map_of(opcode::exp2, type, map_of(opcode::negative, type, apart));
  const value more = map_of(opcode::multiply, type, map_of(opcode::log1p, type, small), number(std::numbers::log2e));
  const value sum = map_of(opcode::add, type, map_of(opcode::maximum, type, a, b), more);
  // Of equal numbers, infinities among them, the difference says nothing.
  const value twice = map_of(opcode::add, type, a, number(1));
  return wrap(graph::record_cast(select_of(map_of(opcode::equal, dtype::b1, a, b), twice, sum), r.loop));
}

ndarray sinc(const ndarray& x) {
  const dtype given = view_of(x, "sinc").type;
  const ndarray y = multiply(is_inexact(given) ? x : x.astype(dtype::f64), std::numbers::pi);
  if (is_differentiating()) {  // the slopes of sin(y) / y near 0 are those of its series: 1 - y^2 / 3! + y^4 / 5! ...
    const ndarray near = less(absolute(y), 0.5), square_of = where(near, square(y), 0), far = where(near, 1, y);
    ndarray series = full({}, 1, {.dtype = y.dtype(), .device = y.device()});
    for (int k = 9; k > 0; --k) series = 1 - square_of * series / (2.0 * k * (2.0 * k + 1));
    return where(near, series, sin(far) / far);
  }
  return where(equal(y, 0), 1, divide(sin(y), y));
}

ndarray ldexp(const operand& x, const operand& n) {
  const dtype power = n.is_array() ? view_of(n.array(), "ldexp").type : n.number().default_dtype();
  if (!is_integer(power) && !is_bool(power)) fail<dtype_error>("ldexp", "an exponent of dtype ", power);
  const dtype given = x.is_array() ? view_of(x.array(), "ldexp").type : x.number().default_dtype();
  const dtype loop = loop_dtype(loop_rule::real_floating, given, "ldexp"), wide = wide_of(loop);
  const auto device = common_device({&x, &n}, "ldexp");
  const dims shape = ops::broadcast_shapes({&x, &n}, "ldexp");
  // Exponents that are whole numbers of the loop's dtype, as far as they matter.
  const double most = wide == dtype::f64 ? 2200 : 300;
  const ndarray exponent =
      clip(wrap(to_value(n, is_unsigned_integer(power) ? dtype::u64 : dtype::i64, shape, device, "ldexp")),
           is_unsigned_integer(power) ? 0 : -static_cast<std::int64_t>(most), static_cast<std::int64_t>(most));
  const value by = graph::record_cast(value_of(exponent), wide);
  const value from = graph::record_cast(to_value(x, loop, shape, device, "ldexp"), wide);
  return wrap(graph::record_cast(map_of(opcode::ldexp, wide, from, by), loop));
}

ndarray gcd(const operand& x, const operand& y) {
  const resolved r = integers("gcd", x, y);
  return wrap(map_of(opcode::gcd, r.loop, r.args[0], r.args[1]));
}

ndarray lcm(const operand& x, const operand& y) {
  const resolved r = integers("lcm", x, y);
  const ndarray a = absolute(wrap(r.args[0])), b = absolute(wrap(r.args[1]));
  return multiply(floor_divide(a, gcd(a, b)), b);
}

divmod_result divmod(const operand& x, const operand& y) { return {floor_divide(x, y), remainder(x, y)}; }

modf_result modf(const ndarray& x) {
  const value v = value_of(x, "modf");
  const ndarray y = wrap(graph::record_cast(v, loop_dtype(loop_rule::real_floating, v->type, "modf")));
  const ndarray whole = trunc(y);
  return {copysign(where(isinf(y), 0, subtract(y, whole)), y), whole};
}

frexp_result frexp(const ndarray& x) {
  const value v = value_of(x, "frexp");
  const dtype loop = loop_dtype(loop_rule::real_floating, v->type, "frexp");
  const value y = graph::record_cast(v, loop);
  return {wrap(map_of(opcode::frexp_mantissa, loop, y)),
          wrap(graph::record_cast(map_of(opcode::frexp_exponent, loop, y), dtype::i32))};
}

ndarray isposinf(const ndarray& x) { return is_infinity("isposinf", HUGE_VAL, x); }
ndarray isneginf(const ndarray& x) { return is_infinity("isneginf", -HUGE_VAL, x); }
ndarray isreal(const ndarray& x) { return compare_imaginary("isreal", opcode::equal, x); }
ndarray iscomplex(const ndarray& x) { return compare_imaginary("iscomplex", opcode::not_equal, x); }

bool array_equiv(const ndarray& x, const ndarray& y) {
  const dims &a = view_of(x, "array_equiv").shape, &b = view_of(y, "array_equiv").shape;
  for (int i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const std::int64_t m = a[a.size() - i], n = b[b.size() - i];
    if (m != n && m != 1 && n != 1) return false;
  }
  return bool(all(equal(x, y)));
}

ndarray bitwise_count(const ndarray& x) {
  const dtype type = view_of(x, "bitwise_count").type;
  if (is_inexact(type)) fail<dtype_error>("bitwise_count", "dtype ", type, " is not supported");
  const ndarray size = is_signed_integer(type) ? absolute(x) : x;
  // In the width of the dtype: a negative minimum must not fill the bits above.
  ndarray v = itemsize(type) == 1   ? size.astype(dtype::u8)
              : itemsize(type) == 2 ? size.astype(dtype::u16)
              : itemsize(type) == 4 ? size.astype(dtype::u32)
                                    : size.astype(dtype::u64);
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - 8 * static_cast<int>(itemsize(type)));
  const auto mask = [&](std::uint64_t m) { return m & all; };
  v = v - ((v >> 1) & mask(0x5555555555555555));
  v = (v & mask(0x3333333333333333)) + ((v >> 2) & mask(0x3333333333333333));
  v = (v + (v >> 4)) & mask(0x0f0f0f0f0f0f0f0f);
  if (itemsize(type) > 1) v = (v * mask(0x0101010101010101)) >> (8 * static_cast<int>(itemsize(type)) - 8);
  return v.astype(dtype::u8);
}

}  // namespace sinter::inline v0
