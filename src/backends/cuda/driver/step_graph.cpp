#include "backends/cuda/driver/step_graph.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "backends/cuda/driver/driver.hpp"

namespace sinter::cuda {
namespace {

/// What a block copies at most: some rounds of all its threads.
constexpr std::size_t tile_bytes = 16384;

/// The largest unit that a copy consists of.
std::uint16_t unit_of(const runtime::step_copy& c) {
  const auto of = [](const auto& x) { return static_cast<std::uint64_t>(x); };
  const std::uint64_t all = reinterpret_cast<std::uintptr_t>(c.to) | reinterpret_cast<std::uintptr_t>(c.from) |
                            of(c.bytes) | of(c.to_stride) | of(c.from_stride);
  std::uint16_t unit = 16;
  while ((all & (unit - 1u)) != 0) unit = static_cast<std::uint16_t>(unit / 2);
  return unit;
}

}  // namespace

step_table::step_table(const runtime::step_sequence& all) {
  add(all.aside, false);
  aside_ = tiles_.size();
  add(all.moved, false);
  add(all.taken, true);
  state_.steps = all.steps;
  state_.number = all.number;
  state_.again = static_cast<const bool*>(all.again);
  state_.goes_on = true;
}

void step_table::add(const std::vector<runtime::step_copy>& copies, bool is_taken) {
  for (const runtime::step_copy& c : copies) {
    const std::uint16_t unit = unit_of(c);
    for (std::size_t at = 0; at < c.bytes; at += tile_bytes)
      tiles_.push_back({static_cast<char*>(c.to) + at, static_cast<const char*>(c.from) + at, c.to_stride,
                        c.from_stride, static_cast<std::uint32_t>(std::min(tile_bytes, c.bytes - at)), unit,
                        static_cast<std::uint16_t>(is_taken)});
  }
}

void step_table::write(void* room, cudaStream_t on) const {
  std::vector<char> all(bytes());
  std::memcpy(all.data(), &state_, sizeof state_);
  if (!tiles_.empty()) std::memcpy(all.data() + sizeof state_, tiles_.data(), tiles_.size() * sizeof(step_tile));
  // Of pageable memory: the call returns when it has been read.
  check(cudaMemcpyAsync(room, all.data(), all.size(), cudaMemcpyHostToDevice, on), "cudaMemcpyAsync");
}

owned_graph step_table::steps(cudaGraph_t step, void* room, int count) const {
  auto* const state = static_cast<step_state*>(room);
  const auto* const tiles = reinterpret_cast<const step_tile*>(state + 1);
  cudaGraph_t made = nullptr;
  check(cudaGraphCreate(&made, 0), "cudaGraphCreate");
  owned_graph all(made);
  cudaGraphNode_t last = nullptr;
  const auto add_copies = [&](const step_tile* first, std::size_t n, bool ends_step) {
    cudaGraphNode_t node = nullptr;
    check(add_step_copies(made, &last, 1, state, first, n, ends_step, &node), "cudaGraphAddKernelNode");
    last = node;
  };
  for (int k = 0; k < count; ++k) {
    cudaGraphNode_t node = nullptr;
    check(cudaGraphAddChildGraphNode(&node, made, k > 0 ? &last : nullptr, k > 0, step), "cudaGraphAddChildGraphNode");
    last = node;
    if (aside_ != 0) add_copies(tiles, aside_, false);
    add_copies(tiles + aside_, tiles_.size() - aside_, true);
  }
  return all;
}

namespace {

struct running_list {
  std::mutex mutex;
  std::vector<running_graphs> all;
};
running_list& running() {
  static auto* const list = new running_list;  // outlives static arrays
  return *list;
}

void destroy(const running_graphs& r) noexcept {
  if (cudaSetDevice(r.device) == cudaSuccess) {
    for (const cudaGraphExec_t g : r.graphs) (void)cudaGraphExecDestroy(g);
    (void)cudaEventDestroy(r.done);
  }
  (void)cudaGetLastError();
}

bool is_running(const running_graphs& r) noexcept {
  const bool running = cudaEventQuery(r.done) == cudaErrorNotReady;
  (void)cudaGetLastError();
  return running;
}

}  // namespace

void destroy_when_done(running_graphs r) noexcept {
  if (!is_running(r)) return destroy(r);
  try {
    const std::lock_guard lock(running().mutex);
    running().all.push_back(std::move(r));
  } catch (...) {  // no memory for the list: they are never destroyed
  }
}

void destroy_done() noexcept {
  std::vector<running_graphs>& all = running().all;
  for (;;) {
    running_graphs done;
    {
      const std::lock_guard lock(running().mutex);
      const auto at = std::find_if(all.begin(), all.end(), [](const auto& r) { return !is_running(r); });
      if (at == all.end()) return;
      done = std::move(*at);
      all.erase(at);
    }
    destroy(done);
  }
}

}  // namespace sinter::cuda
