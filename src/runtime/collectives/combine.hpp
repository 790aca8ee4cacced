// The local half of a reduction: parts of several ranks that lie in one buffer become their sum, product, least or
// greatest, element by element.
#pragma once
#include "runtime/collectives/communicator.hpp"

namespace sinter::runtime {

/// `parts` holds `count` parts of result.bytes each. Enqueues ((part 0 op part 1) op part 2) ... on the current stream of
/// the device.
void combine_parts(backend& device, const block& parts, const block& result, int count, dtype type, reduce_op op);

}  // namespace sinter::runtime
