// Streams of a GPU: creation, reuse, synchronisation; and events.
#include "backends/cuda/driver/stream.hpp"

#include <string>

#include "backends/cuda/driver/driver.hpp"
#include "runtime/trace.hpp"
#include "sinter/error.hpp"

namespace sinter::cuda {
namespace {

/// The result of a non-blocking query: success or not ready; anything else throws.
bool is_ready(cudaError_t status, const char* call) {
  if (status == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return false;
  }
  check(status, call);
  return true;
}

/// The stream that the calling thread has selected; null: none.
const runtime::stream* chosen(int device) noexcept {
  return runtime::this_thread().current[runtime::slot_of({runtime::device_kind::cuda, device})];
}

class gpu_event final : public runtime::event {
 public:
  gpu_event(int device, bool timing) {
    make_current(device);
    check(cudaEventCreateWithFlags(&handle_, timing ? cudaEventDefault : cudaEventDisableTiming),
          "cudaEventCreateWithFlags");
  }
  ~gpu_event() override { (void)cudaEventDestroy(handle_); }
  void record(runtime::stream& s) override {
    check_usable();
    const auto& on = static_cast<gpu_stream&>(s);
    on.enter();
    check(cudaEventRecord(handle_, on.handle()), "cudaEventRecord");
  }
  bool is_done() override { return is_ready(cudaEventQuery(handle_), "cudaEventQuery"); }
  void synchronize() override { check(cudaEventSynchronize(handle_), "cudaEventSynchronize"); }
  void hold(runtime::stream& s) override {
    if (s.is_host()) return synchronize();
    const auto& on = static_cast<gpu_stream&>(s);
    on.enter();
    check(cudaStreamWaitEvent(on.handle(), handle_, 0), "cudaStreamWaitEvent");
  }
  double seconds_since(runtime::event& begin) override {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, static_cast<gpu_event&>(begin).handle_, handle_), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  cudaEvent_t handle_ = nullptr;
};

}  // namespace

cudaStream_t current_stream(int device) noexcept {
  const runtime::stream* s = chosen(device);
  return s ? static_cast<const gpu_stream*>(s)->handle() : nullptr;
}

void trace(int device, const std::string& what) { runtime::trace("cuda:" + std::to_string(device) + " " + what); }

void after_enqueue(int device, const char* call) {
  if (runtime::tracing()) [[unlikely]]
    trace(device, std::string("launch ") + call);
  if (runtime::synchronous() && !capture_notes(device)) [[unlikely]]
    check(cudaStreamSynchronize(current_stream(device)), call);
}

runtime::use_notes* capture_notes(int device) noexcept {
  const runtime::stream* s = chosen(device);
  return s ? s->notes() : nullptr;
}

void gpu_stream::enter() const { make_current(device_); }

void gpu_stream::synchronize() {
  check_usable();
  enter();
  check(cudaStreamSynchronize(handle_), "cudaStreamSynchronize");
}

bool gpu_stream::is_idle() {
  enter();
  return is_ready(cudaStreamQuery(handle_), "cudaStreamQuery");
}

void gpu_stream::record_event() {
  enter();
  if (!event_) {
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }
  check(cudaEventRecord(event_, handle_), "cudaEventRecord");
}

void gpu_stream::wait_event(stream& of) {
  enter();
  check(cudaStreamWaitEvent(handle_, static_cast<gpu_stream&>(of).event_, 0), "cudaStreamWaitEvent");
}

void gpu_stream::await_event() {
  if (event_) check(cudaEventSynchronize(event_), "cudaEventSynchronize");
}

// The handle may belong to another GPU, or be the default stream of the current device, which enter() sets to this one.
void gpu_stream::hold_at_event(void* theirs) {
  enter();
  check(cudaStreamWaitEvent(static_cast<cudaStream_t>(theirs), event_, 0), "cudaStreamWaitEvent");
}

bool gpu_stream::is_finished() const noexcept {
  const bool finished = !event_ || cudaEventQuery(event_) == cudaSuccess;
  if (!finished) (void)cudaGetLastError();
  return finished;
}

gpu_streams::gpu_streams(runtime::backend& owner, int device) : owner_(owner), device_(device) {
  add(nullptr, {}, false);
}

gpu_stream& gpu_streams::add(cudaStream_t handle, const runtime::stream_options& o, bool foreign) {
  all_.push_back(std::make_unique<gpu_stream>(owner_, static_cast<int>(all_.size()), device_, handle, o, foreign));
  return *all_.back();
}

runtime::stream& gpu_streams::open(const runtime::stream_options& o) {
  const std::lock_guard lock(mutex_);
  for (const auto& s : all_)
    if (s->is_closed() && !s->foreign && s->options == o) {
      s->set_closed(false);
      return *s;
    }
  all_.reserve(all_.size() + 1);
  cudaStream_t handle = nullptr;
  check(cudaStreamCreateWithPriority(&handle, o.non_blocking ? cudaStreamNonBlocking : cudaStreamDefault, o.priority),
        "cudaStreamCreateWithPriority");
  return add(handle, o, false);
}

runtime::stream& gpu_streams::wrap(void* native) {
  const auto handle = static_cast<cudaStream_t>(native);
  if (!handle || handle == cudaStreamLegacy) return owner_.default_stream();
  if (handle == cudaStreamPerThread)
    throw value_error("[stream] cudaStreamPerThread is another stream in each thread; make a stream and give that");
  int device = -1;
  check(cudaStreamGetDevice(handle, &device), "cudaStreamGetDevice");
  if (device != device_)
    throw device_error("[stream] the stream belongs to cuda:" + std::to_string(device) +
                       ", not to cuda:" + std::to_string(device_));
  const std::lock_guard lock(mutex_);
  // One number must not represent two queues whose work may still be running.
  for (const auto& s : all_)
    if (s->is_closed() && s->foreign && s->is_finished()) {
      s->reset(handle);
      s->set_closed(false);
      return *s;
    }
  return add(handle, {}, true);
}

void gpu_streams::close(runtime::stream& s) noexcept {
  auto& mine = static_cast<gpu_stream&>(s);
  const std::lock_guard lock(mutex_);
  if (mine.foreign) {
    try {
      const std::lock_guard order(runtime::order_mutex());
      mine.finish();
    } catch (...) {  // a failed device runs nothing
    }
  }
  mine.set_closed(true);
}

void gpu_streams::synchronize() {
  std::vector<gpu_stream*> busy;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& s : all_)
      if (!s->options.for_capture) busy.push_back(s.get());
  }
  for (gpu_stream* s : busy) {
    if (s->foreign)
      s->await(runtime::unknown_value);  // its handle may become invalid meanwhile: then the last event covers it
    else s->synchronize();
  }
}

std::unique_ptr<runtime::event> make_event(int device, bool timing) {
  return std::make_unique<gpu_event>(device, timing);
}

}  // namespace sinter::cuda
