#include "backends/cuda/kernel_list.hpp"

#include <algorithm>
#include <atomic>

#include "backends/cuda/driver/driver.hpp"

namespace sinter::cuda {
namespace {

/// Graphs take memory of the device, so there are so many at most; longer lists than this are launched one by one.
constexpr int most_graphs = 128;
constexpr std::size_t most_kernels = 1024;
/// The first time compiles, and perhaps the second runs better kernels.
constexpr int times_before_graph = 3;

std::atomic<int> graphs{0};
std::atomic<std::uint64_t> launched{0};

/// The driver's functions; of a driver that lacks one, none.
struct driver_calls {
  decltype(&cuGraphCreate) create = nullptr;
  decltype(&cuGraphAddKernelNode) add = nullptr;
  decltype(&cuGraphInstantiateWithFlags) instantiate = nullptr;
  decltype(&cuGraphExecKernelNodeSetParams) set = nullptr;
  decltype(&cuGraphLaunch) launch = nullptr;
  decltype(&cuGraphExecDestroy) destroy_exec = nullptr;
  decltype(&cuGraphDestroy) destroy = nullptr;
  decltype(&cuLaunchKernel) launch_one = nullptr;
  bool complete = false;

  driver_calls() {
    const auto find = [](auto& to, const char* name) {
      to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(find_driver_function(name));
      return to != nullptr;
    };
    launch_one = reinterpret_cast<decltype(&cuLaunchKernel)>(driver_function("cuLaunchKernel"));
    complete = find(create, "cuGraphCreate") && find(add, "cuGraphAddKernelNode") &&
               find(instantiate, "cuGraphInstantiateWithFlags") && find(set, "cuGraphExecKernelNodeSetParams") &&
               find(launch, "cuGraphLaunch") && find(destroy_exec, "cuGraphExecDestroy") &&
               find(destroy, "cuGraphDestroy");
  }
};
const driver_calls& calls() {
  static const driver_calls all;
  return all;
}

CUDA_KERNEL_NODE_PARAMS node_of(const listed_kernel& k, void** parameters) noexcept {
  CUDA_KERNEL_NODE_PARAMS p = {};
  p.func = k.function;
  p.gridDimX = k.grid[0], p.gridDimY = k.grid[1], p.gridDimZ = k.grid[2];
  p.blockDimX = k.block[0], p.blockDimY = k.block[1], p.blockDimZ = 1;
  p.sharedMemBytes = k.shared_bytes;
  p.kernelParams = parameters;
  return p;
}

}  // namespace

std::uint64_t kernel_list::graph_launches() noexcept { return launched.load(std::memory_order_relaxed); }

kernel_list::~kernel_list() { drop_graph(); }

void kernel_list::add(listed_kernel k, std::span<const std::uint64_t> parameters) {
  k.begin = now_words_.size();
  k.words = parameters.size();
  now_words_.insert(now_words_.end(), parameters.begin(), parameters.end());
  now_.push_back(k);
}

void kernel_list::launch(CUstream on) {
  if (!is_as_before()) {
    drop_graph();
    refused_ = false;
    times_ = 0;
    before_ = now_;
    words_ = now_words_;
  }
  ++times_;
  const bool wanted = now_.size() > 1 && now_.size() <= most_kernels && times_ >= times_before_graph && !refused_;
  if (!wanted || !calls().complete) return launch_each(on);
  if (exec_ ? !update_graph() : !make_graph()) {
    refused_ = true;
    drop_graph();
    return launch_each(on);
  }
  check_driver(calls().launch(exec_, on), "cuGraphLaunch");
  launched.fetch_add(1, std::memory_order_relaxed);
}

void kernel_list::launch_each(CUstream on) {
  for (const listed_kernel& k : now_) {
    void* parameters[] = {now_words_.data() + k.begin};
    check_driver(calls().launch_one(k.function, k.grid[0], k.grid[1], k.grid[2], k.block[0], k.block[1], 1,
                                    k.shared_bytes, on, parameters, nullptr),
                 "cuLaunchKernel");
  }
}

bool kernel_list::make_graph() {
  if (graphs.fetch_add(1) >= most_graphs) {
    graphs.fetch_sub(1);
    return false;
  }
  nodes_.reserve(now_.size());
  bool made = calls().create(&graph_, 0) == CUDA_SUCCESS;
  if (!made) graph_ = nullptr, graphs.fetch_sub(1);
  for (std::size_t k = 0; k < now_.size() && made; ++k) {
    void* parameters[] = {now_words_.data() + now_[k].begin};
    const CUDA_KERNEL_NODE_PARAMS p = node_of(now_[k], parameters);
    CUgraphNode node = nullptr;
    made = calls().add(&node, graph_, k > 0 ? &nodes_.back() : nullptr, k > 0, &p) == CUDA_SUCCESS;
    nodes_.push_back(node);
  }
  words_ = now_words_;
  return made && calls().instantiate(&exec_, graph_, 0) == CUDA_SUCCESS;
}

/// Launches that are still running have the parameters that they were launched with.
bool kernel_list::update_graph() {
  for (std::size_t k = 0; k < now_.size(); ++k) {
    const listed_kernel& one = now_[k];
    std::uint64_t* const words = now_words_.data() + one.begin;
    if (std::equal(words, words + one.words, words_.data() + one.begin)) continue;
    void* parameters[] = {words};
    const CUDA_KERNEL_NODE_PARAMS p = node_of(one, parameters);
    if (calls().set(exec_, nodes_[k], &p) != CUDA_SUCCESS) return false;
    std::copy(words, words + one.words, words_.data() + one.begin);
  }
  return true;
}

/// A graph that is running is freed when it has run.
void kernel_list::drop_graph() noexcept {
  if (!graph_) return;
  if (exec_) (void)calls().destroy_exec(exec_);
  (void)calls().destroy(graph_);
  graphs.fetch_sub(1);
  exec_ = nullptr;
  graph_ = nullptr;
  nodes_.clear();
}

}  // namespace sinter::cuda
