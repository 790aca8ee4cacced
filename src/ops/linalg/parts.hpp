// What functions of linear algebra share beneath their public names.
#pragma once
#include "graph/values/node.hpp"
#include "ops/base/promotion_args.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::ops {

/// Inverses of square matrices, with LAPACK's `info` for each: where it is not 0 there is no inverse, and what stands
/// in its place has no meaning.
struct inverses {
  ndarray x;
  graph::value info;
};
inverses inverses_of(const ndarray& x, const char* function);

/// Zeros of a shape, most often without elements, on the device of another array.
inline ndarray zeros_beside(const ndarray& like, const dims& shape, dtype type) {
  return zeros(to_shape(shape), {.dtype = type, .device = like.device()});
}

inline ndarray conjugated(const ndarray& x) { return is_complex(view_of(x, "conj").type) ? conj(x) : x; }

}  // namespace sinter::ops
