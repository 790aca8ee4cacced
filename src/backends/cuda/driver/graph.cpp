// CUDA graphs: the work enqueued on a stream while it is captured becomes one graph to launch.
#include <cuda_runtime_api.h>

#include <memory>
#include <utility>

#include "backends/cuda/driver/condition.hpp"
#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/driver/step_graph.hpp"
#include "backends/cuda/driver/stream.hpp"
#include "runtime/repeating_work.hpp"
#include "sinter/error.hpp"

namespace sinter::cuda {
namespace {

/// To look at a condition takes about 3 us, as long as two small kernels.
constexpr int launches_between_looks = 8;
/// Steps of a loop in one graph.
constexpr int steps_at_once = 8;

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

class gpu_graph final : public runtime::repeating_work, public runtime::stepping_work {
 public:
  gpu_graph(int device, owned_graph graph) : device_(device), graph_(std::move(graph)) {
    check(cudaGraphGetNodes(graph_.get(), nullptr, &nodes_), "cudaGraphGetNodes");
  }
  ~gpu_graph() override {
    if (steps_done_) destroy_when_done({device_, steps_done_, std::move(steps_)});
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
  std::size_t room_for(const runtime::step_sequence& all) const override { return step_table(all).bytes(); }
  void launch_steps(const runtime::step_sequence& all, void* room) override;
  std::size_t size() const override { return nodes_; }

 private:
  cudaGraphExec_t made_of(cudaGraph_t graph);
  void launch_while_going(const step_table& table, void* room, cudaStream_t on);

  int device_;
  owned_graph graph_;
  cudaGraphExec_t exec_ = nullptr, loop_ = nullptr;
  std::vector<cudaGraphExec_t> steps_;  // of launch_steps()
  cudaEvent_t steps_done_ = nullptr;
  std::size_t nodes_ = 0;
};

cudaGraphExec_t gpu_graph::made_of(cudaGraph_t graph) {
  steps_.reserve(steps_.size() + 1);
  cudaGraphExec_t exec = nullptr;
  check(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
  steps_.push_back(exec);
  return exec;
}

/// By a graph with a loop, or, where the driver has none, by a host that looks from time to time.
void gpu_graph::launch_while_going(const step_table& table, void* room, cudaStream_t on) {
  const owned_graph one = table.steps(graph_.get(), room, 1);
  if (const owned_graph loop = loop_over(one.get(), step_table::goes_on(room))) {
    cudaGraphExec_t exec = nullptr;
    if (cudaGraphInstantiate(&exec, loop.get(), 0) == cudaSuccess) {
      steps_.push_back(exec);
      return check(cudaGraphLaunch(exec, on), "cudaGraphLaunch");
    }
    (void)cudaGetLastError();  // a body with nodes that it may not have
  }
  const cudaGraphExec_t some = made_of(table.steps(graph_.get(), room, steps_at_once).get());
  for (bool more = true; more;) {
    check(cudaGraphLaunch(some, on), "cudaGraphLaunch");
    check(cudaMemcpyAsync(&more, step_table::goes_on(room), sizeof more, cudaMemcpyDeviceToHost, on),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(on), "cudaStreamSynchronize");
  }
}

void gpu_graph::launch_steps(const runtime::step_sequence& all, void* room) {
  check_usable();
  make_current(device_);
  destroy_done();
  const cudaStream_t on = current_stream(device_);
  const step_table table(all);
  steps_.reserve(2);
  if (!steps_done_) check(cudaEventCreateWithFlags(&steps_done_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  table.write(room, on);
  if (all.steps < 0) {
    launch_while_going(table, room, on);
  } else {
    const auto launch = [&](int at_once, std::int64_t times) {
      if (times == 0) return;
      const cudaGraphExec_t exec = made_of(table.steps(graph_.get(), room, at_once).get());
      for (std::int64_t k = 0; k < times; ++k) check(cudaGraphLaunch(exec, on), "cudaGraphLaunch");
    };
    launch(steps_at_once, all.steps / steps_at_once);
    launch(static_cast<int>(all.steps % steps_at_once), all.steps % steps_at_once != 0);
  }
  check(cudaEventRecord(steps_done_, on), "cudaEventRecord");
}

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
