// Reading at indices: recorded as gathers, which the planner composes with the producer of the array.
#include "sinter/take.hpp"

#include <string>

#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/elementwise_values.hpp"
#include "ops/indexing/index_mode.hpp"
#include "ops/indexing/advanced_index.hpp"
#include "sinter/creation.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

void require_integers(dtype type, const char* function) {
  if (!is_integer(type) && !is_bool(type)) fail<dtype_error>(function, "indices must be integers, not ", type);
}

struct index_list {
  value flat;  // int64, of shape () for a number
  dims shape;
};
/// The index operand; a number is checked at once. What an array in memory is reshaped to is a view of it, other than what a
/// conversion of it would be.
index_list indices_of(const operand& indices, std::int64_t extent, runtime::device_id device, std::string_view mode) {
  if (indices.is_array() || check_mode(mode, "take") != index_mode::raise) {
    const ndarray list = indices.is_array() ? indices.array() : full({}, indices, {.device = to_public(device)});
    const value v = value_of(list, "take");
    require_integers(v->type, "take");
    const value flat = graph::record_cast(flattened(v), dtype::i64);
    return {bring_into_range(flat, extent, check_mode(mode, "take")), v->shape};
  }
  const scalar& i = indices.number();
  require_integers(i.default_dtype(), "take");
  if (!i.fits_int64() || i.as_int64() >= extent || i.as_int64() < -extent)
    fail<index_error>("take", "index ", (i.fits_int64() ? std::to_string(i.as_int64()) : std::to_string(i.as_uint64())),
                      " is out of range for an axis of extent ", extent);
  return {graph::record_scalar(scalar_of(i, dtype::i64, "take"), dtype::i64, dims(), device), dims()};
}

}  // namespace

ndarray take(const ndarray& x, const operand& indices, optional_axis axis, const mode_kw& kw) {
  const operand subject(x);
  const auto device = common_device({&subject, &indices}, "take");
  value v = value_of(x, "take");
  const bool flat = !axis || (v->shape.empty() && (*axis == 0 || *axis == -1));
  if (flat) v = flattened(v);
  const int a = flat ? 0 : normalize_axis(*axis, v->shape, "take");
  const index_list index = indices_of(indices, v->shape[a], device, kw.mode);
  const std::int64_t points = core::element_count(index.shape);
  dims along(v->shape.size(), 1), gathered = v->shape, shape;
  along[a] = gathered[a] = points;
  for (int k = 0; k < a; ++k) shape.push_back(v->shape[k]);
  for (const std::int64_t n : index.shape) shape.push_back(n);
  for (int k = a + 1; k < v->shape.size(); ++k) shape.push_back(v->shape[k]);
  core::checked_count(shape, "take");
  const bool is_checked = check_mode(kw.mode, "take") == index_mode::raise;
  // NumPy checks the indices once per leading index, even where trailing extents are 0.
  std::int64_t in_front = 1;
  for (int k = 0; k < a; ++k) in_front *= v->shape[k];
  if (v->shape[a] == 0 && points != 0 && ((is_checked && in_front != 0) || core::element_count(shape) != 0))
    fail<index_error>("take", "cannot take elements of axis ", a, " of shape ", v->shape, ", which has none");
  if (is_checked && points != 0 && in_front != 0 && core::element_count(shape) == 0 && indices.is_array())
    require_within(index.flat, v->shape[a], a);
  const bool within = indices.is_array() && always_within(indices.array().dtype(), v->shape[a]);
  const int reported = within ? graph::payload::gather::in_range : a;
  return wrap(reshape_value(graph::record_gather(v, reshape_value(index.flat, along), a, gathered, reported), shape));
}

ndarray take_along_axis(const ndarray& x, const ndarray& indices, optional_axis axis) {
  common_device(x, indices, "take_along_axis");
  value v = value_of(x, "take_along_axis");
  if (!axis) v = flattened(v);
  require_integers(view_of(indices, "take_along_axis").type, "take_along_axis");
  const value index = graph::record_cast(value_of(indices, "take_along_axis"), dtype::i64);
  const std::string shapes =
      "array with shape " + core::to_string(v->shape) + " and indices with shape " + core::to_string(index->shape);
  if (index->shape.size() != v->shape.size()) fail<shape_error>("take_along_axis", shapes, " have different ranks");
  const int a = axis ? normalize_axis(*axis, v->shape, "take_along_axis") : 0;
  // Every axis but `a` broadcasts, in both directions.
  dims source = v->shape, result = index->shape;
  for (int k = 0; k < source.size(); ++k) {
    if (k == a || source[k] == result[k]) continue;
    if (source[k] != 1 && result[k] != 1)
      fail<shape_error>("take_along_axis", shapes, " do not broadcast along axis ", k);
    source[k] = result[k] = source[k] == 1 ? result[k] : source[k];
  }
  if (source[a] == 0 && core::element_count(result) != 0)
    fail<index_error>("take_along_axis", shapes, ": axis ", a, " has no elements");
  const int reported = always_within(indices.dtype(), source[a]) ? graph::payload::gather::in_range : a;
  return wrap(graph::record_gather(broadcast_value(v, source), index, a, result, reported));
}

}  // namespace sinter::inline v0
