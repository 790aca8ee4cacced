// From the arguments of an elementwise function to graph values: promotion with weak scalars (NEP 50), one device, one
// shape, every operand cast to the loop's dtype.
#pragma once
#include <array>
#include <initializer_list>
#include <optional>
#include <span>

#include "core/promotion.hpp"
#include "ops/base/access.hpp"

namespace sinter::ops {

using core::dims;

/// Arguments of a call by address; nothing is copied.
using operands = std::span<const operand* const>;

/// What a loop needs. `args` are cast to `loop`; they broadcast to `shape` (nodes take them as they are).
struct resolved {
  dtype loop{};
  dims shape;
  runtime::device_id device{};
  std::array<graph::value, 3> args;
  int count = 0;

  /// To be moved into the node (graph::record_map_moving).
  std::span<graph::value> values() noexcept { return {args.data(), static_cast<std::size_t>(count)}; }
};

/// NumPy 2's result_type of what is added, in any order: dtypes promote among themselves; numbers raise the kind only
/// (float with int64 gives float64, complex with float32 gives complex64).
class promotion {
 public:
  void add(dtype t) noexcept { arrays_.add(t); }
  void add(const scalar& s) noexcept;
  /// Throws dtype_error if an integer does not fit the result: `[f] ...`.
  dtype result(const char* function) const;

 private:
  core::dtype_set arrays_;
  scalar_kind kind_ = scalar_kind::boolean;
  std::optional<scalar> lowest_, highest_;  // of the negative integers, of the others
};
dtype result_type_of(operands x, const char* function);
/// What arrays promote to together.
dtype promoted_dtype(std::span<const ndarray> arrays, const char* function);

/// How a function sees a number beside an array that it takes for an array of its own (NumPy's np.asarray(number)): not
/// weak, but of its default dtype. Only where both are integers does the array's dtype hold, so that they are compared
/// as what they are; a number outside of it then has no place there, and `out_of_range` is -1 below it, 1 above it.
struct strong_pair {
  dtype type{};
  int out_of_range = 0;
};
strong_pair strong_type_of(const operand& x, const operand& y, const char* function);

/// The shape that all arguments broadcast to (numbers have shape ()). Throws shape_error:
/// "[add] shapes (3, 4) and (5,) do not broadcast", or that the result has too many elements to be counted.
dims broadcast_shapes(operands x, const char* function);
dims broadcast_shapes(std::span<const dims* const> shapes, const char* function);

/// The arrays' device; the default device if there is none. Throws device_error naming both if they differ.
runtime::device_id common_device(operands x, const char* function);
runtime::device_id common_device(const ndarray& x, const ndarray& y, const char* function);

/// One argument as a value of dtype `loop`. Arrays are cast and keep their own shape; numbers become recorded scalars
/// of `shape`. Throws dtype_error if a number does not fit `loop`.
graph::value to_value(const operand& x, dtype loop, const dims& shape, runtime::device_id device,
                      const char* function = "to_value");

/// A number as the scalar of a dtype, converted as NumPy converts a Python number: integers must fit (dtype_error),
/// a float is truncated where it fits (dtype_error otherwise, NaN included), complex does not become real
/// (dtype_error).
jit::scalar scalar_of(const scalar& x, dtype type, const char* function);

/// All of the above with a known loop dtype.
resolved resolve_as(operands x, dtype loop, const char* function);
/// All of the above; `rule` maps the promoted dtype to the loop's (identity: result_type_of itself). It may throw
/// dtype_error for dtypes that the function does not take.
template <class Rule>
resolved resolve(operands x, const char* function, Rule&& rule) {
  return resolve_as(x, rule(result_type_of(x, function)), function);
}
inline resolved resolve(operands x, const char* function) {
  return resolve_as(x, result_type_of(x, function), function);
}

/// The value broadcast to a shape as an affine view (stride 0); `v` itself if it has that shape.
graph::value broadcast_value(const graph::value& v, const dims& shape);

/// "[function] axis 3 is out of range for shape (2, 4)" as index_error, else the axis counted from the front.
int normalize_axis(std::int64_t axis, const dims& shape, const char* function);

inline dims to_dims(const shape_t& s) { return dims(s.data(), s.ndim()); }
inline shape_t to_shape(const dims& d) {
  return shape_t(std::span<const std::int64_t>(d.data(), static_cast<std::size_t>(d.size())));
}

}  // namespace sinter::ops
