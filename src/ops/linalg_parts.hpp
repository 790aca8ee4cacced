// What functions of linear algebra share beneath their public names.
#pragma once
#include "graph/node.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::ops {

/// Inverses of square matrices, with LAPACK's `info` for each: where it is not 0 there is no inverse, and what stands
/// in its place has no meaning.
struct inverses {
  ndarray x;
  graph::value info;
};
inverses inverses_of(const ndarray& x, const char* function);

}  // namespace sinter::ops
