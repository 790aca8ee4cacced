// What apply_along_axis and apply_over_axes do around the function.
#include "sinter/apply.hpp"

#include "ops/base/axes.hpp"
#include "ops/base/errors.hpp"
#include "sinter/grids.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::inline v0::detail {

using namespace ops;

ndarray rows_along(const ndarray& x, std::int64_t axis) {
  const int a = normalize_axis(axis, view_of(x, "apply_along_axis").shape, "apply_along_axis");
  const std::int64_t m = x.shape(a);
  std::int64_t n = 1;
  for (int k = 0; k < x.ndim(); ++k)
    if (k != a) n *= x.shape(k);
  if (n == 0)
    fail<value_error>("apply_along_axis", "an array of shape ", x.shape(), " has no vectors along axis ", axis);
  return reshape(moveaxis(x, axes(a), axes(-1)), {n, m});
}

ndarray in_place_of_axis(const ndarray& results, const ndarray& x, std::int64_t axis) {
  const int a = normalize_axis(axis, view_of(x, "apply_along_axis").shape, "apply_along_axis");
  const int parts = results.ndim() - 1, others = x.ndim() - 1;
  dims shape;
  for (int k = 0; k < x.ndim(); ++k)
    if (k != a) shape.push_back(x.shape(k));
  for (int k = 0; k < parts; ++k) shape.push_back(results.shape(k + 1));
  const ndarray behind = reshape(results, to_shape(shape));
  if (parts == 0) return behind;
  std::vector<std::int64_t> order;
  for (int k = 0; k < a; ++k) order.push_back(k);
  for (int k = 0; k < parts; ++k) order.push_back(others + k);
  for (int k = a; k < others; ++k) order.push_back(k);
  return ascontiguousarray(transpose(behind, axes(order)));
}

ndarray with_same_rank(const ndarray& result, const ndarray& x, std::int64_t axis) {
  if (result.ndim() == x.ndim()) return result;
  const int a = normalize_axis(axis, view_of(x, "apply_over_axes").shape, "apply_over_axes");
  if (result.ndim() != x.ndim() - 1)
    fail<value_error>("apply_over_axes", "the function gave shape ", result.shape(), " for an axis of ", x.shape());
  return expand_dims(result, a);
}

}  // namespace sinter::inline v0::detail
