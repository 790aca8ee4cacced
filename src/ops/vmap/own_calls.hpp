// Functions of the user's that bring derivatives along, for all examples.
#pragma once
#include "ops/vmap/example_level.hpp"

namespace sinter::ops {

/// The call for all examples, announced again with derivatives for all examples; the results have the axis of examples in
/// front.
std::vector<ndarray> mapped_with_derivatives(const batched_call& c);

}  // namespace sinter::ops
