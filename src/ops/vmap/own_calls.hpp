// Functions of the user's that bring derivatives along, for all examples.
#pragma once
#include "ops/vmap/example_level.hpp"

namespace sinter::ops {

/// f on one example of those arrays that are mapped, and on the others as they are. The results are those of all examples,
/// with their axis in front: those that `gives` says, or all of them; the others do not depend on the example.
std::vector<ndarray> on_examples(std::int64_t count,
                                 const std::function<std::vector<ndarray>(const std::vector<ndarray>&)>& f,
                                 const std::vector<ndarray>& all, const std::vector<bool>& mapped,
                                 const std::vector<bool>& gives = {});

/// The call for all examples, announced again with derivatives for all examples; the results have the axis of examples in
/// front.
std::vector<ndarray> mapped_with_derivatives(const batched_call& c);

}  // namespace sinter::ops
