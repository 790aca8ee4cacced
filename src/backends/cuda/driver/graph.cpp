// CUDA graphs: the work enqueued on a stream while it is captured becomes one graph to launch.
#include <cuda_runtime_api.h>

#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/driver/stream.hpp"
#include "sinter/error.hpp"

namespace sinter::cuda {
namespace {

class gpu_graph final : public runtime::recorded_work {
 public:
  gpu_graph(int device, cudaGraphExec_t exec, std::size_t nodes) : device_(device), exec_(exec), nodes_(nodes) {}
  ~gpu_graph() override {
    if (cudaSetDevice(device_) == cudaSuccess) (void)cudaGraphExecDestroy(exec_);
    (void)cudaGetLastError();
  }
  gpu_graph(const gpu_graph&) = delete;
  gpu_graph& operator=(const gpu_graph&) = delete;

  void launch() override {
    check_usable();
    make_current(device_);
    check(cudaGraphLaunch(exec_, current_stream(device_)), "cudaGraphLaunch");
  }
  std::size_t size() const override { return nodes_; }

 private:
  int device_;
  cudaGraphExec_t exec_;
  std::size_t nodes_;
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
  cudaGraphExec_t exec = nullptr;
  std::size_t nodes = 0;
  cudaError_t status = cudaGraphGetNodes(graph, nullptr, &nodes);
  if (status == cudaSuccess) status = cudaGraphInstantiate(&exec, graph, 0);
  (void)cudaGraphDestroy(graph);
  check(status, "cudaGraphInstantiate");
  return std::make_unique<gpu_graph>(device, exec, nodes);
}

void abandon_capture(runtime::stream& s) noexcept {
  cudaGraph_t graph = nullptr;
  if (cudaStreamEndCapture(handle_of(s), &graph) == cudaSuccess && graph) (void)cudaGraphDestroy(graph);
  (void)cudaGetLastError();
}

}  // namespace sinter::cuda
