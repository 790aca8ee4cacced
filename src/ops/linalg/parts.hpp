// Helpers shared by the functions of linear algebra.
#pragma once
#include "graph/values/node.hpp"
#include "ops/base/promotion_args.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::ops {

/// Inverses of square matrices, with LAPACK's `info` for each: where it is nonzero there is no inverse, and the
/// elements are meaningless.
struct inverses {
  ndarray x;
  graph::value info;
};
inverses inverses_of(const ndarray& x, const char* function);

/// Zeros of a shape, usually without elements, on the device of another array.
inline ndarray zeros_beside(const ndarray& like, const dims& shape, dtype type) {
  return zeros(to_shape(shape), {.dtype = type, .device = like.device()});
}

inline ndarray conjugated(const ndarray& x) { return is_complex(view_of(x, "conj").type) ? conj(x) : x; }

}  // namespace sinter::ops
