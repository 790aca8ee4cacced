// Rules of reductions.
#pragma once
#include "graph/values/node.hpp"
#include "ops/base/access.hpp"

namespace sinter::ops::derivatives {

/// `x`, the operand of a reduction node, `y`, its result, and a cotangent of that: the cotangent of x. A broadcast of g
/// and of elementwise functions of x, so it is not stored where it is reduced again. Elements that share an extremum
/// share its cotangent.
ndarray reduced_back(const graph::node& n, const ndarray& x, const ndarray& y, const ndarray& g);
/// The tangent of y for one of x.
ndarray reduced_forward(const graph::node& n, const ndarray& x, const ndarray& y, const ndarray& t);

}  // namespace sinter::ops::derivatives
