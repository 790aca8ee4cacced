// CUDA graphs: the work enqueued on a stream while it is captured becomes one graph to launch.
#include <cuda_runtime_api.h>

#include <memory>
#include <utility>

#include "backends/cuda/driver/condition.hpp"
#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/driver/stream.hpp"
#include "runtime/repeating_work.hpp"
#include "sinter/error.hpp"

namespace sinter::cuda {
namespace {

struct destroy_graph {
  void operator()(cudaGraph_t g) const { (void)cudaGraphDestroy(g); }
};
using owned_graph = std::unique_ptr<CUgraph_st, destroy_graph>;

/// To look at a condition takes about 3 us, as long as two small kernels.
constexpr int launches_between_looks = 8;

/// A graph that launches `body` eight times for as long as a condition holds, which is looked at before the first time too: where the
/// driver has no such nodes (before 12.4), or the GPU has no code for the one that sets the condition, none.
owned_graph loop_over(cudaGraph_t body, const void* go_on) {
  cudaGraph_t made = nullptr;
  check(cudaGraphCreate(&made, 0), "cudaGraphCreate");
  owned_graph loop(made);
  cudaGraphConditionalHandle condition;
  cudaGraphNode_t look = nullptr, repeat = nullptr, last = nullptr, look_again = nullptr;
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.type = cudaGraphCondTypeWhile;
  p.conditional.size = 1;
  const auto add_loop = [&] {
    p.conditional.handle = condition;
#if CUDART_VERSION >= 13000
    return cudaGraphAddNode(&repeat, made, &look, nullptr, 1, &p);
#else
    return cudaGraphAddNode(&repeat, made, &look, 1, &p);
#endif
  };
  const auto add_steps = [&] {
    cudaError_t status = cudaSuccess;
    for (int k = 0; k < launches_between_looks && status == cudaSuccess; ++k) {
      cudaGraphNode_t step = nullptr;
      status = cudaGraphAddChildGraphNode(&step, p.conditional.phGraph_out[0], k > 0 ? &last : nullptr, k > 0, body);
      last = step;
    }
    return status;
  };
  const bool whole =
      cudaGraphConditionalHandleCreate(&condition, made, 0, 0) == cudaSuccess &&
      add_condition(made, nullptr, 0, condition, go_on, &look) == cudaSuccess && add_loop() == cudaSuccess &&
      add_steps() == cudaSuccess &&
      add_condition(p.conditional.phGraph_out[0], &last, 1, condition, go_on, &look_again) == cudaSuccess;
  if (whole) return loop;
  (void)cudaGetLastError();
  return nullptr;
}

class gpu_graph final : public runtime::repeating_work {
 public:
  gpu_graph(int device, owned_graph graph) : device_(device), graph_(std::move(graph)) {
    check(cudaGraphGetNodes(graph_.get(), nullptr, &nodes_), "cudaGraphGetNodes");
  }
  ~gpu_graph() override {
    if (!exec_ && !loop_) return;
    if (cudaSetDevice(device_) == cudaSuccess)
      for (cudaGraphExec_t e : {exec_, loop_})
        if (e) (void)cudaGraphExecDestroy(e);
    (void)cudaGetLastError();
  }
  gpu_graph(const gpu_graph&) = delete;
  gpu_graph& operator=(const gpu_graph&) = delete;

  void instantiate() { check(cudaGraphInstantiate(&exec_, graph_.get(), 0), "cudaGraphInstantiate"); }
  void launch() override {
    check_usable();
    make_current(device_);
    check(cudaGraphLaunch(exec_, current_stream(device_)), "cudaGraphLaunch");
  }
  bool launch_while(const void* go_on) override {
    check_usable();
    make_current(device_);
    if (!loop_) {
      const owned_graph loop = loop_over(graph_.get(), go_on);
      if (!loop ||
          cudaGraphInstantiate(&loop_, loop.get(), 0) != cudaSuccess) {  // a body with nodes that it may not have
        (void)cudaGetLastError();
        loop_ = nullptr;
        return false;
      }
    }
    check(cudaGraphLaunch(loop_, current_stream(device_)), "cudaGraphLaunch");
    return true;
  }
  std::size_t size() const override { return nodes_; }

 private:
  int device_;
  owned_graph graph_;
  cudaGraphExec_t exec_ = nullptr, loop_ = nullptr;
  std::size_t nodes_ = 0;
};

cudaStream_t handle_of(runtime::stream& s) { return static_cast<gpu_stream&>(s).handle(); }

}  // namespace

void begin_capture(runtime::stream& s) {
  // Relaxed, since this and other threads allocate, compile and load during the capture.
  check(cudaStreamBeginCapture(handle_of(s), cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
}

std::unique_ptr<runtime::recorded_work> end_capture(runtime::stream& s, int device) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(handle_of(s), &graph), "cudaStreamEndCapture");
  if (!graph) throw device_error("[capture] the driver has given up the capture");
  auto work = std::make_unique<gpu_graph>(device, owned_graph(graph));
  work->instantiate();
  return work;
}

void abandon_capture(runtime::stream& s) noexcept {
  cudaGraph_t graph = nullptr;
  if (cudaStreamEndCapture(handle_of(s), &graph) == cudaSuccess && graph) (void)cudaGraphDestroy(graph);
  (void)cudaGetLastError();
}

}  // namespace sinter::cuda
