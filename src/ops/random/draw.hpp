// src/ops/random: generators and distributions.
//
// Draws of random numbers as values: blocks taken from a generator, parameters broadcast and checked.
#pragma once
#include <span>

#include "ops/base/device.hpp"
#include "ops/base/elementwise_values.hpp"
#include "sinter/random.hpp"

namespace sinter {
inline namespace v0 {
namespace random {

struct generator::access {
  /// Blocks for a draw, which nobody else gets.
  static graph::random_stream take(generator& g, std::uint64_t blocks) noexcept;
};

}  // namespace random
}  // namespace v0
}  // namespace sinter

namespace sinter::ops {

/// Shape and place of a draw.
struct draw_space {
  dims shape;
  runtime::device_id device{};
};
/// From the size if one is given, else the parameters' shape. Throws shape_error where they do not broadcast to it, and
/// device_error where arrays are on different devices, or on another one than is asked for.
draw_space draw_space_of(const random::draw_size& size, const std::optional<device>& where, operands parameters,
                         const char* function);

/// The dtype that a floating-point draw is computed in (float32 or float64); dtype_error for another one.
dtype draw_dtype(const std::optional<dtype>& wanted, const char* function);

/// Elements of a draw by one of the random operations. `parameters` have the dtypes that it takes.
value drawn(random::generator& g, jit::opcode op, dtype type, const draw_space& space,
            std::span<const value> parameters = {});

/// Throws value_error "[function] name must ..." unless a number (arrays pass) satisfies a test.
template <class Test>
void check_number(const operand& x, const char* function, const char* what, Test test) {
  if (!x.is_array() && (x.number().kind() == scalar_kind::complex || !test(x.number().real())))
    fail<value_error>(function, what);
}

}  // namespace sinter::ops
