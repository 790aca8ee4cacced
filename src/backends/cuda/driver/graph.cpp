// CUDA graphs: the work enqueued on a stream while it is captured becomes one graph to launch.
#include <cuda_runtime_api.h>

#include <memory>

#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/driver/stream.hpp"
#include "sinter/error.hpp"

namespace sinter::cuda {
namespace {

class gpu_graph final : public runtime::recorded_work {
 public:
  explicit gpu_graph(int device) : device_(device) {}
  ~gpu_graph() override {
    if (!exec_) return;
    if (cudaSetDevice(device_) == cudaSuccess) (void)cudaGraphExecDestroy(exec_);
    (void)cudaGetLastError();
  }
  gpu_graph(const gpu_graph&) = delete;
  gpu_graph& operator=(const gpu_graph&) = delete;

  void instantiate(cudaGraph_t graph) {
    check(cudaGraphGetNodes(graph, nullptr, &nodes_), "cudaGraphGetNodes");
    check(cudaGraphInstantiate(&exec_, graph, 0), "cudaGraphInstantiate");
  }
  void launch() override {
    check_usable();
    make_current(device_);
    check(cudaGraphLaunch(exec_, current_stream(device_)), "cudaGraphLaunch");
  }
  std::size_t size() const override { return nodes_; }

 private:
  int device_;
  cudaGraphExec_t exec_ = nullptr;
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
  struct destroy {
    void operator()(cudaGraph_t g) const { (void)cudaGraphDestroy(g); }
  };
  const std::unique_ptr<CUgraph_st, destroy> owner(graph);
  auto work = std::make_unique<gpu_graph>(device);
  work->instantiate(graph);
  return work;
}

void abandon_capture(runtime::stream& s) noexcept {
  cudaGraph_t graph = nullptr;
  if (cudaStreamEndCapture(handle_of(s), &graph) == cudaSuccess && graph) (void)cudaGraphDestroy(graph);
  (void)cudaGetLastError();
}

}  // namespace sinter::cuda
