// Streams and events of a GPU. All work in this backend is enqueued on current_stream().
#pragma once
#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/backend.hpp"

namespace sinter::cuda {

/// The stream for the calling thread's work on a device; null is the legacy default stream.
cudaStream_t current_stream(int device) noexcept;
/// A line of SINTER_TRACE, "cuda:0 what".
void trace(int device, const std::string& what);
/// Called after each call that enqueues work on the current stream: prints it if SINTER_TRACE is set, and waits for it
/// if SINTER_SYNC is. Errors report the call.
void after_enqueue(int device, const char* call);
/// Where to record what captured work uses; null unless the calling thread's work on the device is being captured.
runtime::use_notes* capture_notes(int device) noexcept;

class gpu_stream final : public runtime::stream {
 public:
  gpu_stream(runtime::backend& owner, int number, int device, cudaStream_t handle, const runtime::stream_options& o,
             bool foreign)
      : stream(owner, number, false), options(o), foreign(foreign), device_(device), handle_(handle) {}

  void* native() const noexcept override { return handle_; }
  void synchronize() override;
  bool is_idle() override;
  cudaStream_t handle() const noexcept { return handle_; }
  /// A null handle means the default stream of the current device: makes the stream's device current.
  void enter() const;
  /// Takes over a new handle, which has not waited for any other stream.
  void reset(cudaStream_t handle) {
    handle_ = handle;
    unseal();
  }
  /// The handle will not be used any more.
  void finish() { seal(); }
  /// Whether all work enqueued so far is complete.
  bool is_finished() const noexcept;

  const runtime::stream_options options;
  const bool foreign;

 protected:
  void record_event() override;
  void wait_event(stream& of) override;
  void await_event() override;
  void hold_at_event(void* theirs) override;

 private:
  int device_;
  cudaStream_t handle_;
  cudaEvent_t event_ = nullptr;
};

/// The streams of one GPU; they live as long as the process.
class gpu_streams {
 public:
  gpu_streams(runtime::backend& owner, int device);
  runtime::stream& default_stream() noexcept { return *all_.front(); }
  runtime::stream& open(const runtime::stream_options& o);
  runtime::stream& wrap(void* native);
  /// Makes the stream available for reuse.
  void close(runtime::stream& s) noexcept;
  /// Blocks the host until all streams except those of captures are idle.
  void synchronize();

 private:
  gpu_stream& add(cudaStream_t handle, const runtime::stream_options& o, bool foreign);

  runtime::backend& owner_;
  int device_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<gpu_stream>> all_;
};

std::unique_ptr<runtime::event> make_event(int device, bool timing);

/// Captures on a dedicated stream, so that the rest of the process may continue to use the others.
void begin_capture(runtime::stream& s);
std::unique_ptr<runtime::recorded_work> end_capture(runtime::stream& s, int device);
void abandon_capture(runtime::stream& s) noexcept;

}  // namespace sinter::cuda
