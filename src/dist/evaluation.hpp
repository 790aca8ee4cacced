// The evaluation of values on meshes: graph::mesh_evaluation.
#pragma once
#include "dist/partitioner.hpp"

namespace sinter::sharding {

/// Sets graph::mesh_hook, once.
void set_evaluation();
/// A leaf with the elements of a value on a mesh in a layout. What any layout would do for stays pending there.
value divided(const mesh_state& m, const value& v, const layout& how);
/// The same after the value itself has been evaluated; a sum that nothing has needed yet is made as `how` says, and only so.
value redistributed(const mesh_state& m, const value& v, const layout& how);
/// All elements of a value on a mesh, on the device of one of its positions.
value gathered(const mesh_state& m, const value& v, int position);

}  // namespace sinter::sharding
