// Kernels that are launched one after the other, again and again, as one graph: to launch it takes the host as long as two of them.
#pragma once
#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/backend.hpp"

namespace sinter::cuda {

struct listed_kernel {
  CUfunction function = nullptr;
  unsigned grid[3] = {1, 1, 1}, block[2] = {1, 1};
  unsigned shared_bytes = 0;
  std::size_t begin = 0, words = 0;  // its parameters, among those of the list

  bool operator==(const listed_kernel&) const = default;
};

/// One for each plan that recurs. The graph is made when the same kernels come for the third time; what is other than before, such
/// as addresses, is written into it before a launch.
class kernel_list final : public jit::launch_list {
 public:
  kernel_list() = default;
  ~kernel_list() override;
  kernel_list(const kernel_list&) = delete;
  kernel_list& operator=(const kernel_list&) = delete;

  void begin() noexcept { now_.clear(), now_words_.clear(); }
  void add(listed_kernel k, std::span<const std::uint64_t> parameters);
  std::size_t size() const noexcept { return now_.size(); }
  /// Launches what was added on a stream of the current device. Throws device_error; nothing has been launched then.
  void launch(CUstream on);

  /// Graphs that were launched by this process.
  static std::uint64_t graph_launches() noexcept;

 private:
  bool is_as_before() const noexcept { return now_ == before_ && now_words_.size() == words_.size(); }
  void launch_each(CUstream on);
  bool make_graph();
  bool update_graph();
  void drop_graph() noexcept;

  std::vector<listed_kernel> now_, before_;
  std::vector<std::uint64_t> now_words_, words_;  // words_: what the graph's nodes have
  int times_ = 0;                                 // that these kernels came
  bool refused_ = false;                          // the driver makes no graph of them
  CUgraph graph_ = nullptr;
  CUgraphExec exec_ = nullptr;
  std::vector<CUgraphNode> nodes_;
};

}  // namespace sinter::cuda
