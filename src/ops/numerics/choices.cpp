// Choices by conditions, packed bits, complex numbers that are real.
#include <cmath>

#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/elementwise_values.hpp"
#include "sinter/creation.hpp"
#include "sinter/dtype_info.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/numerics.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;

ndarray select(const std::vector<ndarray>& conditions, const operand_list& choices, const operand& otherwise) {
  if (conditions.size() != choices.size() || conditions.empty())
    fail<value_error>("select", choices.size(), " choices for ", conditions.size(), " conditions");
  std::vector<const operand*> values, all;
  std::vector<operand> tests;
  for (const ndarray& c : conditions) {
    if (!is_bool(view_of(c, "select").type)) fail<dtype_error>("select", "a condition of dtype ", c.dtype());
    tests.emplace_back(c);
  }
  for (std::size_t i = 0; i < choices.size(); ++i) values.push_back(&choices[i]);
  values.push_back(&otherwise);
  all = values;
  for (const operand& t : tests) all.push_back(&t);
  const dims shape = ops::broadcast_shapes(operands(all), "select");
  const auto device = common_device(operands(all), "select");
  const dtype type = result_type_of(operands(values), "select");
  value out = broadcast_value(to_value(otherwise, type, shape, device, "select"), shape);
  for (std::size_t i = conditions.size(); i-- > 0;)
    out = select_of(value_of(conditions[i], "select"), to_value(choices[i], type, shape, device, "select"), out);
  return wrap(out);
}

ndarray piece::of(const ndarray& x) const {
  if (const scalar* number = std::get_if<scalar>(&value_))
    return full(x.shape(), *number, {.dtype = x.dtype(), .device = x.device()});
  return std::get<1>(value_)(x);
}

ndarray piecewise(const ndarray& x, const std::vector<ndarray>& conditions, const std::vector<piece>& pieces) {
  const std::size_t n = conditions.size();
  const dims& shape = view_of(x, "piecewise").shape;
  if (pieces.size() != n && pieces.size() != n + 1)
    fail<value_error>("piecewise", pieces.size(), " pieces for ", n, " conditions");
  const auto part = [&](const piece& p) {
    const ndarray y = p.of(x);
    if (!core::broadcasts_to(view_of(y, "piecewise").shape, shape))
      fail<shape_error>("piecewise", "a function gives shape ", y.shape(), " for elements of shape ", shape);
    return y.astype(x.dtype(), false);
  };
  ndarray out = pieces.size() > n ? broadcast_to(part(pieces[n]), to_shape(shape)) : zeros_like(x);
  for (std::size_t i = 0; i < n; ++i) {
    if (!core::broadcasts_to(view_of(conditions[i], "piecewise").shape, shape))
      fail<shape_error>("piecewise", "a condition of shape ", conditions[i].shape(), " for elements of shape ", shape);
    out = where(conditions[i], part(pieces[i]), out);
  }
  return out;
}

namespace {

/// The value of each bit of a byte, along the last axis, or how far it is shifted.
ndarray bit_numbers(std::string_view order, const ndarray& like, const char* function) {
  if (order != "big" && order != "little")
    fail<value_error>(function, "the bitorder is 'big' or 'little', not '", order, "'");
  const ndarray up = arange(8, {.dtype = uint8, .device = like.device()});
  return order == "little" ? up : 7 - up;
}

/// The array with the axis in question as the last one.
ndarray axis_last(const ndarray& x, const bits_kw& kw, const char* function) {
  if (!kw.axis) return ravel(x);
  normalize_axis(*kw.axis, view_of(x, function).shape, function);
  return moveaxis(x, *kw.axis, -1);
}
ndarray axis_back(const ndarray& x, const bits_kw& kw) { return kw.axis ? in_c_order(moveaxis(x, -1, *kw.axis)) : x; }

shape_t with_last(const ndarray& x, std::initializer_list<std::int64_t> last) {
  dims shape = to_dims(x.shape());
  shape.erase(shape.size() - 1);
  for (const std::int64_t n : last) shape.push_back(n);
  return to_shape(shape);
}

}  // namespace

ndarray packbits(const ndarray& x, const bits_kw& kw) {
  if (is_inexact(view_of(x, "packbits").type)) fail<dtype_error>("packbits", "dtype ", x.dtype(), " is not supported");
  ndarray bits = not_equal(axis_last(x, kw, "packbits"), 0);
  const std::int64_t n = bits.shape(-1), bytes = (n + 7) / 8;
  if (n % 8 != 0)
    bits = concatenate({bits, zeros(with_last(bits, {bytes * 8 - n}), {.dtype = bool_, .device = x.device()})}, -1);
  const ndarray parts = reshape(bits, with_last(bits, {bytes, 8})).astype(uint8);
  const ndarray packed = sum(left_shift(parts, bit_numbers(kw.bitorder, x, "packbits")), -1, {.dtype = uint8});
  return axis_back(packed, kw);
}

ndarray unpackbits(const ndarray& x, const bits_kw& kw) {
  if (view_of(x, "unpackbits").type != uint8) fail<dtype_error>("unpackbits", "needs uint8, not ", x.dtype());
  const ndarray bytes = axis_last(x, kw, "unpackbits");
  ndarray bits = bitwise_and(right_shift(expand_dims(bytes, -1), bit_numbers(kw.bitorder, x, "unpackbits")), 1);
  std::int64_t n = bytes.shape(-1) * 8;
  bits = reshape(bits, with_last(bytes, {n}));
  if (kw.count) {
    const std::int64_t wanted = *kw.count < 0 ? n + *kw.count : *kw.count;
    if (wanted < 0) fail<value_error>("unpackbits", "a count of ", *kw.count, " for ", n, " bits");
    if (wanted <= n) bits = in_c_order(slice_of(bits, bits.ndim() - 1, 0, wanted));
    else bits = concatenate({bits, zeros(with_last(bits, {wanted - n}), {.dtype = uint8, .device = x.device()})}, -1);
  }
  return axis_back(bits, kw);
}

ndarray real_if_close(const ndarray& x, double tol) {
  if (!is_complex(view_of(x, "real_if_close").type)) return x;
  const double bound = tol > 1 ? tol * static_cast<double>(finfo(x.dtype()).eps) : tol;
  return bool(all(less(absolute(imag(x)), bound))) ? real(x) : x;
}

}  // namespace sinter::inline v0
