// Arrays of meshes have no memory of their own: functions that need it ask here, and say their name.
#pragma once
#include "graph/run/mesh_hook.hpp"
#include "ops/base/access.hpp"

namespace sinter::ops {

/// Whether the devices of a mesh have parts of an array.
inline bool is_in_parts(const ndarray& x, const char* function) {
  return graph::is_on_mesh(view_of(x, function).device());
}
/// device_error for arrays of meshes: "[knn] the array is on mesh:0, ...; dist::gather makes an array of one device".
inline void require_one_memory(const ndarray& x, const char* function) {
  if (is_in_parts(x, function)) [[unlikely]]
    graph::refuse_mesh(function, view_of(x, function).device());
}

}  // namespace sinter::ops
