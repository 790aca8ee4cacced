// The sources of a GPU's memory pools: device memory, managed memory, and pinned host memory.
#include "backends/cuda/memory/memory.hpp"

#include <cuda_runtime_api.h>
#include <unistd.h>

#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/driver/stream.hpp"
#include "sinter/error.hpp"

namespace sinter::cuda {
namespace {

std::size_t free_device_memory() noexcept {
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) return free;
  (void)cudaGetLastError();
  return 0;
}

std::size_t free_host_memory() noexcept {
  const long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(size) : 0;
}

class gpu_memory : public runtime::memory_source {
 public:
  gpu_memory(int device, gpu_streams& streams) : device_(device), streams_(streams) {}
  void* allocate(std::size_t bytes) noexcept override {
    void* p = nullptr;
    if (cudaSetDevice(device_) == cudaSuccess && try_allocate(&p, bytes) == cudaSuccess) return p;
    (void)cudaGetLastError();
    return nullptr;
  }
  void release(void* p, std::size_t) noexcept override {
    (void)cudaSetDevice(device_);
    (void)cudaFree(p);
  }
  std::size_t available() const noexcept override {
    (void)cudaSetDevice(device_);
    return free_device_memory();
  }
  void synchronize() noexcept override {
    try {
      streams_.synchronize();
    } catch (...) {  // a failed device executes nothing
    }
  }

 protected:
  virtual cudaError_t try_allocate(void** p, std::size_t bytes) const noexcept { return cudaMalloc(p, bytes); }

 private:
  int device_;
  gpu_streams& streams_;
};

class managed_memory final : public gpu_memory {
 public:
  using gpu_memory::gpu_memory;

 private:
  cudaError_t try_allocate(void** p, std::size_t bytes) const noexcept override {
    return cudaMallocManaged(p, bytes, cudaMemAttachGlobal);
  }
};

/// Pinned for all GPUs, at the same address on the host and on the devices.
cudaError_t allocate_pinned(void** p, std::size_t bytes) noexcept {
  return cudaHostAlloc(p, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
}

class pinned_memory final : public gpu_memory {
 public:
  using gpu_memory::gpu_memory;
  void release(void* p, std::size_t) noexcept override { (void)cudaFreeHost(p); }
  std::size_t available() const noexcept override { return free_host_memory(); }

 private:
  cudaError_t try_allocate(void** p, std::size_t bytes) const noexcept override { return allocate_pinned(p, bytes); }
};

/// For arrays on the CPU; their buffers wait for copies to and from them before they are freed.
class host_pinned_memory final : public runtime::memory_source {
 public:
  void* allocate(std::size_t bytes) noexcept override {
    void* p = nullptr;
    if (allocate_pinned(&p, bytes) == cudaSuccess) return p;
    (void)cudaGetLastError();
    return nullptr;
  }
  void release(void* p, std::size_t) noexcept override { (void)cudaFreeHost(p); }
  std::size_t available() const noexcept override { return free_host_memory(); }
  void synchronize() noexcept override { runtime::synchronize_gpus(); }
};

runtime::pool::options options_of(memory_kind kind) {
  runtime::pool::options o;
  o.kind = kind;
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  if (kind == memory_kind::pinned) {
    o.name = "pinned memory";
    return o;
  }
  // Freeing memory synchronises the device, so blocks stay cached until other requests need their memory.
  o.keep_large = total;
  o.name = kind == memory_kind::device ? "GPU memory" : "managed memory";
  if (kind == memory_kind::device) o.limit = runtime::gpu_memory_limit(total);
  return o;
}

#if CUDART_VERSION >= 13000
using location = cudaMemLocation;
location location_of(int gpu) {
  location l{};
  l.type = gpu < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  l.id = gpu < 0 ? 0 : gpu;
  return l;
}
cudaError_t prefetch_to(const void* p, std::size_t bytes, location to, cudaStream_t on) {
  return cudaMemPrefetchAsync(p, bytes, to, 0, on);
}
#else
using location = int;
location location_of(int gpu) { return gpu < 0 ? cudaCpuDeviceId : gpu; }
cudaError_t prefetch_to(const void* p, std::size_t bytes, location to, cudaStream_t on) {
  return cudaMemPrefetchAsync(p, bytes, to, on);
}
#endif

cudaMemoryAdvise advice_of(runtime::memory_hint hint, bool on) {
  switch (hint) {
    case runtime::memory_hint::read_mostly: return on ? cudaMemAdviseSetReadMostly : cudaMemAdviseUnsetReadMostly;
    case runtime::memory_hint::preferred_location:
      return on ? cudaMemAdviseSetPreferredLocation : cudaMemAdviseUnsetPreferredLocation;
    default: return on ? cudaMemAdviseSetAccessedBy : cudaMemAdviseUnsetAccessedBy;
  }
}

}  // namespace

std::unique_ptr<runtime::pool> make_pool(int device, memory_kind kind, gpu_streams& streams) {
  std::unique_ptr<runtime::memory_source> source;
  switch (kind) {
    case memory_kind::device: source = std::make_unique<gpu_memory>(device, streams); break;
    case memory_kind::managed:
      if (device_attribute(cudaDevAttrManagedMemory, device) == 0)
        throw device_error("[memory] cuda:" + std::to_string(device) + " has no managed memory");
      source = std::make_unique<managed_memory>(device, streams);
      break;
    case memory_kind::pinned: source = std::make_unique<pinned_memory>(device, streams); break;
  }
  return std::make_unique<runtime::pool>(std::move(source), options_of(kind));
}

std::unique_ptr<runtime::memory_source> make_pinned_source() { return std::make_unique<host_pinned_memory>(); }

bool has_concurrent_managed_access(int device) {
  return device_attribute(cudaDevAttrConcurrentManagedAccess, device) != 0;
}

void prefetch(int device, const void* p, std::size_t bytes, int to) {
  if (!has_concurrent_managed_access(to < 0 ? device : to)) return;
  check(prefetch_to(p, bytes, location_of(to), current_stream(device)), "cudaMemPrefetchAsync");
}

void advise(int device, const void* p, std::size_t bytes, runtime::memory_hint hint, int where, bool on) {
  if (!has_concurrent_managed_access(where < 0 ? device : where)) return;
  check(cudaMemAdvise(p, bytes, advice_of(hint, on), location_of(where)), "cudaMemAdvise");
}

}  // namespace sinter::cuda
