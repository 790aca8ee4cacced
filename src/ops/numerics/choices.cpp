// Choices by conditions, complex numbers that are real.
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

ndarray real_if_close(const ndarray& x, double tol) {
  if (!is_complex(view_of(x, "real_if_close").type)) return x;
  const double bound = tol > 1 ? tol * static_cast<double>(finfo(x.dtype()).eps) : tol;
  return bool(all(less(absolute(imag(x)), bound))) ? real(x).copy() : x;
}

}  // namespace sinter::inline v0
