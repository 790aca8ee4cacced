// Arrays that are assembled from parts.
#pragma once
#include "graph/values/limits.hpp"
#include "ops/base/access.hpp"

namespace sinter::ops {

/// An array that so many writes are going to fill. Its memory is allocated with their evaluation, so that a chain of such
/// arrays needs no more than its last ones, unless the writes are so many that some of them are evaluated before the
/// others: those would fill the rest first.
inline graph::value unset_value(const graph::dims& shape, dtype type, runtime::device_id device, std::size_t writes) {
  const bool together = writes <= static_cast<std::size_t>(graph::limits().update_chain);
  const bool in_parts = device.kind == runtime::device_kind::mesh;  // whose parts are allocated when they are written
  return together || in_parts ? graph::record_unset(type, shape, device) : graph::unset_leaf(shape, type, device);
}
inline ndarray unset_array(const graph::dims& shape, dtype type, runtime::device_id device, std::size_t writes) {
  return wrap(unset_value(shape, type, device, writes));
}

}  // namespace sinter::ops
