// The dtype that a function computes in for its arguments' dtypes: NumPy 2's loop tables expressed as rules.
#pragma once
#include "ops/base/promotion_args.hpp"

namespace sinter::ops {

/// How a function selects its loop.
enum class loop_rule : std::uint8_t {
  any,            // the promoted dtype, of any kind
  no_bool,        // the promoted dtype; bool is rejected
  bool_as_int8,   // the promoted dtype; bool is computed in int8
  real,           // as bool_as_int8; complex is rejected
  ordered,        // as any; complex is rejected
  floating,       // integers become the smallest float that holds them
  real_floating,  // the same; complex is rejected
  true_divide,    // integers become float64
  bitwise,        // bool and integers
  shift,          // integers; bool is computed in int8
};

/// The smallest of float16, float32, float64 that holds an integer dtype; inexact dtypes unchanged.
dtype float_of(dtype t) noexcept;
/// The dtype of a complex number's parts; real dtypes unchanged.
dtype real_of(dtype t) noexcept;
/// The dtype of a sum of bools or integers: 64 bits; inexact dtypes unchanged.
dtype accumulator_of(dtype t) noexcept;

/// The dtype of a weak number in an operation with an array of dtype `other` (bool is never weak).
dtype weak_dtype(const scalar& x, dtype other) noexcept;
/// The dtypes of two arguments, weak numbers resolved by the other one.
struct dtype_pair {
  dtype first, second;
};
dtype_pair argument_dtypes(const operand& x, const operand& y, const char* function);

/// Throws dtype_error "[f] ... not supported" if the rule rejects the dtypes.
dtype loop_dtype(loop_rule rule, dtype x, const char* function);
dtype loop_dtype(loop_rule rule, dtype x, dtype y, const char* function);

}  // namespace sinter::ops
