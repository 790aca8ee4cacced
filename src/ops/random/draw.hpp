// src/ops/random: generators and distributions.
//
// Draws of random numbers as values: counter blocks taken from a generator, parameters broadcast and checked.
#pragma once
#include <initializer_list>

#include "ops/base/elementwise_values.hpp"
#include "sinter/random.hpp"

namespace sinter::inline v0::random {

struct generator::access {
  /// Reserves blocks for a draw; no other draw gets them.
  static graph::random_stream take(generator& g, std::uint64_t blocks) noexcept;
};

}  // namespace sinter::inline v0::random

namespace sinter::ops {

/// Shape and device of a draw.
struct draw_space {
  dims shape;
  runtime::device_id device{};
};
/// From the size if one is given, else the parameters' shape. Throws shape_error if they do not broadcast to it, and
/// device_error if arrays are on different devices or on another one than requested.
draw_space draw_space_of(const random::draw_size& size, const std::optional<device>& where, operands parameters,
                         const char* function);

/// The dtype that a floating-point draw is computed in (float32 or float64); dtype_error for any other.
dtype draw_dtype(const std::optional<dtype>& wanted, const char* function);

/// The part of the generator's stream that a draw of this shape takes; no other draw gets it.
graph::random_stream stream_of(random::generator& g, jit::opcode op, dtype type, const draw_space& space);
/// A draw by one of the random operations. `parameters` have the dtypes that it requires.
value drawn(random::generator& g, jit::opcode op, dtype type, const draw_space& space,
            std::initializer_list<value> parameters = {});

/// Throws value_error "[function] name must ..." if a number does not satisfy a test; arrays are not checked.
template <class Test>
void check_number(const operand& x, const char* function, const char* what, Test test) {
  if (!x.is_array() && (x.number().kind() == scalar_kind::complex || !test(x.number().real())))
    fail<value_error>(function, what);
}

}  // namespace sinter::ops
