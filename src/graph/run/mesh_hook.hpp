// How values on devices of kind `mesh` are evaluated, read and described: by src/dist, which is above this room. Set when
// the first mesh is made; without one there are no such values.
#pragma once
#include <atomic>
#include <span>
#include <string>

#include "graph/values/node.hpp"

namespace sinter::graph {

class mesh_evaluation {
 public:
  virtual ~mesh_evaluation() = default;
  /// flush() of pending values of one mesh, under the flush lock.
  virtual void evaluate(std::span<const value> roots) = 0;
  /// The elements of an evaluated value in C order to host memory; synchronous. Throws the faults of their data.
  virtual void copy_to_host(const value& leaf, void* to) = 0;
  /// A leaf with elements of the host, C order, on every device of a mesh.
  virtual value from_host(const void* from, const dims& shape, dtype type, runtime::device_id mesh) = 0;
  /// The plan of pending values of one mesh as text.
  virtual std::string describe(std::span<const value> roots, bool with_source) = 0;
};

inline std::atomic<mesh_evaluation*> mesh_hook{nullptr};

inline bool is_on_mesh(runtime::device_id d) noexcept { return d.kind == runtime::device_kind::mesh; }
/// For work on one device's memory. device_error: "[data] the array is on mesh:0, whose devices ...".
[[noreturn]] void refuse_mesh(const char* function, runtime::device_id mesh);

}  // namespace sinter::graph
