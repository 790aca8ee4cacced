// Meshes: which devices have the parts of arrays, and in which processes.
#pragma once
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "dist/layout.hpp"
#include "runtime/backend.hpp"
#include "runtime/collectives/communicator.hpp"
#include "sinter/error.hpp"

namespace sinter::sharding {

/// What a handle of a mesh refers to; stays for the process. Meshes with the same extents, names and devices are one.
struct mesh_state {
  int index = 0;  // its device is mesh:index
  dims extents;
  std::vector<std::string> names;           // of its axes; may be empty
  std::vector<runtime::device_id> devices;  // by position, in C order of the extents
  runtime::communicator_ref group;          // of a job of several processes, whose ranks are the positions; else null
  std::vector<int> locals;                  // the positions of this process, ascending

  runtime::device_id id() const noexcept { return {runtime::device_kind::mesh, index}; }
  int size() const noexcept { return static_cast<int>(devices.size()); }
  /// Whether a position is one of this process.
  bool is_local(int position) const noexcept { return !group || group->local_index(position) >= 0; }
  int first_local() const noexcept { return group ? group->local_ranks()[0] : 0; }
  /// Whether two positions share memory: one device of one process.
  bool share_device(int p, int q) const noexcept;
  std::int64_t parts_along(const std::vector<int>& axes) const noexcept;
  /// The number of a position along axes of the mesh, in C order of these.
  std::int64_t number_along(int position, const std::vector<int>& axes) const noexcept;
  /// The part of an array of this shape that a position has.
  box part(const layout& how, const dims& shape, int position) const;
  /// The first position with the same parts under a layout, on the same device.
  int twin(const layout& how, int position) const noexcept;
  /// "mesh of 2 x 4 devices (cpu)".
  std::string description() const;
};

/// Calls f, which is all of what a call does on a mesh. Memory may be missing in one process alone, wherever it asks for some: the
/// others are told. Other errors of f are found by all alike, or have been told where they occurred (runtime::fail_together).
template <class F>
decltype(auto) tells_of_memory(const mesh_state& m, F&& f) {
  if (!m.group) return f();
  try {
    return f();
  } catch (const memory_error& e) {
    m.group->fail(e.what());
    throw;
  } catch (const std::bad_alloc& e) {
    m.group->fail(e.what());
    throw;
  }
}

/// The mesh of a device of kind `mesh`.
mesh_state& mesh_of(runtime::device_id id);
/// Makes a mesh or finds it; arguments have been checked.
mesh_state& intern_mesh(const dims& extents, std::vector<std::string> names, std::vector<runtime::device_id> devices,
                        runtime::communicator_ref group);

}  // namespace sinter::sharding
