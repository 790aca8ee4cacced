// Writes through arrays of indices, for all examples.
#pragma once
#include "ops/vmap/example_level.hpp"

namespace sinter::ops {

/// "write_selection", as announced in ops/indexing/advanced_write.cpp.
std::vector<ndarray> written_selection(const batched_call& c);

}  // namespace sinter::ops
