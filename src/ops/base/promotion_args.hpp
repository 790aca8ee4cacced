// From the arguments of an elementwise function to graph values: promotion with weak scalars (NEP 50), a common device,
// a common shape, every operand cast to the loop's dtype.
#pragma once
#include <array>
#include <initializer_list>
#include <optional>
#include <span>

#include "core/promotion.hpp"
#include "ops/base/access.hpp"

namespace sinter::ops {

using core::dims;

/// Arguments of a call by address, to avoid copies. A list in braces lives until the end of the call that it is passed to.
struct operands : std::span<const operand* const> {
  using std::span<const operand* const>::span;
  operands(std::span<const operand* const> list) : span(list) {}
  operands(std::initializer_list<const operand*> list) : span(list.begin(), list.size()) {}
};

/// The operands of a loop. `args` are cast to `loop` and broadcast to `shape` (map nodes broadcast implicitly).
struct resolved {
  dtype loop{};
  dims shape;
  runtime::device_id device{};
  std::array<graph::value, 3> args;
  int count = 0;

  /// For moving the arguments into the node (graph::record_map_moving).
  std::span<graph::value> values() noexcept { return {args.data(), static_cast<std::size_t>(count)}; }
};

/// Whether an integer (or bool) lies in the range of an integer dtype.
bool fits(const scalar& x, dtype type);

/// NumPy 2's result_type of the added arguments, in any order: dtypes promote among themselves; numbers only raise the
/// kind (float with int64 gives float64, complex with float32 gives complex64).
class promotion {
 public:
  void add(dtype t) noexcept { arrays_.add(t); }
  void add(const scalar& s) noexcept;
  /// Throws dtype_error if an integer does not fit the result: `[f] ...`.
  dtype result(const char* function) const;

 private:
  core::dtype_set arrays_;
  scalar_kind kind_ = scalar_kind::boolean;
  std::optional<scalar> lowest_, highest_;  // of the negative and of the other integers
};
dtype result_type_of(operands x, const char* function);
/// The promoted dtype of arrays.
dtype promoted_dtype(std::span<const ndarray> arrays, const char* function);

/// The dtype of a number next to an array in functions that convert it to an array first (NumPy's np.asarray(number)):
/// not weak, but its default dtype. If both are integers, the array's dtype is used, so that they are compared exactly;
/// a number that this dtype cannot represent is reported in `out_of_range`: -1 below its range, 1 above.
struct strong_pair {
  dtype type{};
  int out_of_range = 0;
};
strong_pair strong_type_of(const operand& x, const operand& y, const char* function);

/// The shape that all arguments broadcast to (numbers have shape ()). Throws shape_error:
/// "[add] shapes (3, 4) and (5,) do not broadcast", or that the result has too many elements.
dims broadcast_shapes(operands x, const char* function);
dims broadcast_shapes(std::span<const dims* const> shapes, const char* function);

/// The arrays' device; the default device if there is no array. Throws device_error with both if two differ.
runtime::device_id common_device(operands x, const char* function);
runtime::device_id common_device(const ndarray& x, const ndarray& y, const char* function);

/// One argument as a value of dtype `loop`. Arrays are cast and keep their shape; numbers become recorded scalars of
/// `shape`. Throws dtype_error if a number does not fit `loop`.
graph::value to_value(const operand& x, dtype loop, const dims& shape, runtime::device_id device,
                      const char* function = "to_value");

/// A number as a scalar of a dtype, converted as NumPy converts a Python number: integers must fit (dtype_error), a
/// float is truncated if it fits (dtype_error otherwise, NaN included), complex does not convert to real (dtype_error).
jit::scalar scalar_of(const scalar& x, dtype type, const char* function);

/// All of the above for a known loop dtype.
resolved resolve_as(operands x, dtype loop, const char* function);
/// All of the above; `rule` maps the promoted dtype to the loop's (identity for result_type_of itself) and may throw
/// dtype_error for unsupported dtypes.
template <class Rule>
resolved resolve(operands x, const char* function, Rule&& rule) {
  return resolve_as(x, rule(result_type_of(x, function)), function);
}
inline resolved resolve(operands x, const char* function) {
  return resolve_as(x, result_type_of(x, function), function);
}

/// The value broadcast to a shape as an affine view (stride 0); `v` itself if it has that shape.
graph::value broadcast_value(const graph::value& v, const dims& shape);

/// The axis as a non-negative number; index_error "[function] axis 3 is out of range for shape (2, 4)".
int normalize_axis(std::int64_t axis, const dims& shape, const char* function);

inline dims to_dims(const shape_t& s) { return dims(s.data(), s.ndim()); }
inline shape_t to_shape(const dims& d) {
  return shape_t(std::span<const std::int64_t>(d.data(), static_cast<std::size_t>(d.size())));
}

}  // namespace sinter::ops
