// Steps of a loop as graphs: a step's own graph, and the node after it that copies what the next one takes.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include "backends/cuda/driver/step_copies.hpp"
#include "runtime/stepping_work.hpp"

namespace sinter::cuda {

struct destroy_graph {
  void operator()(cudaGraph_t g) const { (void)cudaGraphDestroy(g); }
};
using owned_graph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, destroy_graph>;

/// The state and the tiles of a loop, as they lie in the device's memory.
class step_table {
 public:
  explicit step_table(const runtime::step_sequence& all);
  std::size_t bytes() const noexcept { return sizeof state_ + tiles_.size() * sizeof(step_tile); }
  /// Writes them, in the order of a stream.
  void write(void* room, cudaStream_t on) const;
  /// Of the copy at `room`: a graph of `count` steps, each of which runs `step` and then copies.
  owned_graph steps(cudaGraph_t step, void* room, int count) const;
  /// Whether there is another step, a bool, of the copy at `room`.
  static const bool* goes_on(void* room) noexcept { return &static_cast<step_state*>(room)->goes_on; }

 private:
  void add(const std::vector<runtime::step_copy>& copies, bool is_taken);
  step_state state_ = {};
  std::vector<step_tile> tiles_;
  std::size_t aside_ = 0;  // tiles that are copied before the others
};

/// What a destroyed graph leaves while the device still runs it. Destroyed when it does not.
struct running_graphs {
  int device;
  cudaEvent_t done;
  std::vector<cudaGraphExec_t> graphs;
};
void destroy_when_done(running_graphs r) noexcept;
/// Destroys those that have been run by now.
void destroy_done() noexcept;

}  // namespace sinter::cuda
