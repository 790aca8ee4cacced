// The adjoint of reads by index.
#pragma once
#include "ops/base/elementwise_values.hpp"

namespace sinter::ops::derivatives {

/// The cotangent of what a gather node reads, of shape `shape`: each element the sum of those elements of `g` that were
/// read from it. Few indices along the axis are compared with the coordinate, element by element, which fuses and stores
/// nothing; many are added by position, in order.
value gathered_back(const graph::node& n, const dims& shape, const value& index, const value& g);

}  // namespace sinter::ops::derivatives
