// Device time by events on a stream. On an idle stream the time between two events around a short kernel is mostly
// launch latency, so the stream can be held by a kernel that does nothing for a given time: work that is enqueued
// meanwhile then runs back to back. A fixed time cannot deadlock, as waiting for a signal of the host would if the
// timed code synchronises.
#include "backends/cuda/timer.hpp"

#include <array>
#include <memory>
#include <mutex>

#include "backends/cuda/driver/driver.hpp"
#include "jit/cuda/nvrtc.hpp"

namespace sinter::cuda {
namespace {

constexpr int most_devices = 64;

cudaKernel_t load_hold_kernel(int device) {
  const jit::cubin binary = jit::compile_cuda(hold_source(), {.arch = compute_capability(device)});
  cudaLibrary_t library = nullptr;
  check(cudaLibraryLoadData(&library, binary.bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "cudaLibraryLoadData");
  cudaKernel_t kernel = nullptr;
  check(cudaLibraryGetKernel(&kernel, library, "sn_hold"), "cudaLibraryGetKernel");
  return kernel;
}

/// Loaded on first use, and never unloaded.
cudaKernel_t hold_kernel(int device) {
  static std::mutex& mutex = *new std::mutex;
  static std::array<cudaKernel_t, most_devices> kernels{};
  if (device >= most_devices) return load_hold_kernel(device);
  const std::lock_guard lock(mutex);
  cudaKernel_t& kernel = kernels[static_cast<std::size_t>(device)];
  if (!kernel) kernel = load_hold_kernel(device);
  return kernel;
}

class event_timer final : public runtime::timer {
 public:
  event_timer(int device, cudaStream_t stream) : device_(device), stream_(stream) {
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    if (const cudaError_t status = cudaEventCreate(&end_); status != cudaSuccess) {
      (void)cudaEventDestroy(begin_);
      check(status, "cudaEventCreate");
    }
  }
  ~event_timer() override {
    (void)cudaEventDestroy(begin_);
    (void)cudaEventDestroy(end_);
  }
  event_timer(const event_timer&) = delete;
  event_timer& operator=(const event_timer&) = delete;

  void start(double hold) override {
    enter();
    if (hold > 0) {
      auto nanoseconds = static_cast<unsigned long long>(hold * 1e9);
      void* arguments[] = {&nanoseconds};
      check(cudaLaunchKernel(reinterpret_cast<const void*>(hold_kernel(device_)), dim3(1), dim3(1), arguments, 0,
                             stream_),
            "cudaLaunchKernel");
    }
    check(cudaEventRecord(begin_, stream_), "cudaEventRecord");
  }
  void stop() override {
    enter();
    check(cudaEventRecord(end_, stream_), "cudaEventRecord");
  }
  bool is_held() override {
    const cudaError_t status = cudaEventQuery(begin_);
    if (status == cudaErrorNotReady) {
      (void)cudaGetLastError();
      return true;
    }
    check(status, "cudaEventQuery");
    return false;
  }
  double seconds() override {
    check(cudaEventSynchronize(end_), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  /// Restores the current device, which the timed code may have changed.
  void enter() const {
    check_usable();
    check(cudaSetDevice(device_), "cudaSetDevice");
  }

  int device_;
  cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace

std::unique_ptr<runtime::timer> make_timer(int device, cudaStream_t stream) {
  return std::make_unique<event_timer>(device, stream);
}

std::string hold_source() {
  return R"(__device__ __forceinline__ unsigned long long clock_now() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
extern "C" __global__ void sn_hold(unsigned long long nanoseconds) {
  const unsigned long long begin = clock_now();
  while (clock_now() - begin < nanoseconds) {}
}
)";
}

}  // namespace sinter::cuda
