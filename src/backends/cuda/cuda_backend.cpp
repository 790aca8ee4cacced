// The CUDA backend behind runtime's interface: memory, copies, launches, faults. One stream, the legacy default one, so
// that work of user code on that stream is ordered with sinter's.
#include "backends/cuda/cuda_backend.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>

#include "backends/cuda/cuda_algorithms.hpp"
#include "backends/cuda/cuda_code.hpp"
#include "backends/cuda/cuda_driver.hpp"
#include "backends/cuda/cuda_error.hpp"
#include "backends/cuda/cuda_fourier.hpp"
#include "backends/cuda/cuda_identity.hpp"
#include "backends/cuda/cuda_module.hpp"
#include "backends/cuda/cuda_products.hpp"
#include "backends/cuda/cuda_solvers.hpp"
#include "backends/cuda/cuda_timer.hpp"
#include "jit/block.hpp"
#include "jit/compile.hpp"
#include "runtime/pool.hpp"
#include "sinter/error.hpp"

namespace sinter::cuda {
namespace {

using runtime::launch;
using runtime::prepared;

class device_memory final : public runtime::memory_source {
 public:
  explicit device_memory(int device) : device_(device) {}
  void* allocate(std::size_t bytes) noexcept override {
    void* p = nullptr;
    if (cudaSetDevice(device_) != cudaSuccess || cudaMalloc(&p, bytes) != cudaSuccess) {
      (void)cudaGetLastError();
      return nullptr;
    }
    return p;
  }
  void release(void* p, std::size_t) noexcept override {
    (void)cudaSetDevice(device_);
    (void)cudaFree(p);
  }
  std::size_t available() const noexcept override {
    std::size_t free = 0, total = 0;
    (void)cudaSetDevice(device_);
    return cudaMemGetInfo(&free, &total) == cudaSuccess ? free : 0;
  }
  void synchronize() noexcept override {
    (void)cudaSetDevice(device_);
    (void)cudaDeviceSynchronize();
  }

 private:
  int device_;
};

runtime::pool::options pool_options(int device) {
  runtime::pool::options o;
  o.name = "GPU memory";
  std::size_t free = 0, total = 0;
  make_current(device);
  // Giving memory back to the driver waits for the device, so blocks are kept until something else needs them.
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) o.keep_large = total;
  return o;
}

int attribute(cudaDeviceAttr a, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, a, device), "cudaDeviceGetAttribute");
  return value;
}

class cuda_backend final : public runtime::backend {
 public:
  explicit cuda_backend(int index)
      : index_(index),
        pool_(std::make_unique<device_memory>(index), pool_options(index)),
        arch_(10 * attribute(cudaDevAttrComputeCapabilityMajor, index) +
              attribute(cudaDevAttrComputeCapabilityMinor, index)),
        kernels_(index, arch_),
        multiprocessors_(attribute(cudaDevAttrMultiProcessorCount, index)) {
    jit::warm_up_nvrtc();
    void* host = nullptr;
    check(cudaHostAlloc(&host, sizeof(int) * jit::fault_words, cudaHostAllocMapped | cudaHostAllocPortable), "cudaHostAlloc");
    fault_ = static_cast<int*>(host);
    std::fill_n(fault_, jit::fault_words, 0);
    void* device = nullptr;
    check(cudaHostGetDevicePointer(&device, host, 0), "cudaHostGetDevicePointer");
    device_fault_ = static_cast<int*>(device);
    algorithms_ = make_algorithms({index, multiprocessors_, stream_, &launches_});
    products_ = make_products({index, multiprocessors_, stream_, &launches_, this, [this] { pool_.trim(); }});
    solvers_ = make_solvers({this, index, multiprocessors_, stream_, &launches_, [this] { pool_.trim(); }});
    fourier_ = make_fourier(*this, index, stream_);
  }

  runtime::device_id id() const override { return {runtime::device_kind::cuda, index_}; }
  std::string description() const override {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, index_), "cudaGetDeviceProperties");
    return properties.name;
  }
  std::string identity() const override { return identity_of(index_); }
  bool host_addressable() const override { return false; }

  void* allocate(std::size_t bytes) override {
    check_usable();
    return pool_.allocate(bytes);
  }
  void deallocate(void* p, std::size_t bytes) noexcept override { pool_.deallocate(p, bytes); }
  runtime::memory_figures memory() const override { return pool_.figures(); }
  void trim() noexcept override { pool_.trim(); }
  void reset_peak() noexcept override { pool_.reset_peak(); }

  void copy_from_host(void* to, const void* from, std::size_t bytes) override {
    begin();
    check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  void copy_to_host(void* to, const void* from, std::size_t bytes) override {
    begin();
    check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    begin();
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_), "cudaMemcpyAsync");
  }

  void prepare(std::span<const launch> launches, std::span<const prepared*> results) override {
    begin();
    thread_local std::vector<const kernel*> found;
    found.resize(launches.size());
    kernels_.find(launches, found);
    for (std::size_t k = 0; k < launches.size(); ++k) results[k] = reinterpret_cast<const prepared*>(found[k]);
  }
  std::size_t scratch_bytes(const prepared& code, const launch& l) const override {
    return cuda::scratch_bytes(l, of(code).variant);
  }
  void run(const prepared& code, const launch& l, void* scratch) override {
    if (kept_count(l) == 0 || (l.code->kind == jit::kernel_kind::elementwise && core::element_count(l.extents) == 0))
      return;
    begin();
    const kernel& k = of(code);
    std::uint64_t parameters[parameter_capacity / sizeof(std::uint64_t)];
    const call c = build_call(l, k.variant, multiprocessors_, device_fault_, scratch, parameters);
    start(k.main, c.first, parameters);
    if (c.second_stage) start(k.second, c.second, parameters);
  }

  void synchronize() override {
    begin();
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }
  runtime::data_fault take_fault(runtime::bad_index* index) override {
    synchronize();
    std::atomic_ref<int> flag(*fault_);
    if (flag.load() == 0) return runtime::data_fault::none;
    const runtime::data_fault found = runtime::read_fault(fault_, index);
    flag.store(0);
    return found;
  }
  std::string source(const launch& l) override {
    jit::cuda_variant v;
    classify(l, v);
    return source_of(*l.code, v);
  }
  runtime::counters statistics() const override {
    return {launches_, kernels_.compilations(), kernels_.disk_hits(), pool_.allocations()};
  }
  std::unique_ptr<runtime::timer> make_timer() override {
    begin();
    return cuda::make_timer(index_, stream_);
  }

  std::shared_ptr<runtime::raw_module> load_module(const runtime::module_source& source) override {
    begin();
    return cuda::load_module(source, {index_, arch_, stream_, &launches_});
  }
  runtime::algorithms& algorithms() override { return *algorithms_; }
  runtime::products& products() override { return *products_; }
  runtime::solvers& solvers() override { return *solvers_; }
  runtime::fourier& fourier() override { return *fourier_; }

 private:
  static const kernel& of(const prepared& p) { return reinterpret_cast<const kernel&>(p); }

  void begin() const {
    check_usable();
    make_current(index_);
  }
  void start(CUfunction f, const grid& g, std::uint64_t* parameters) {
    void* arguments[] = {parameters};
    launch_kernel(f, g, arguments, stream_);
    launches_.fetch_add(1, std::memory_order_relaxed);
  }

  int index_;
  runtime::pool pool_;
  int arch_;
  kernel_table kernels_;
  int multiprocessors_;
  cudaStream_t stream_ = nullptr;
  int* fault_ = nullptr;  // pinned host memory, which kernels write through device_fault_
  int* device_fault_ = nullptr;
  std::atomic<std::uint64_t> launches_{0};
  std::unique_ptr<runtime::algorithms> algorithms_;
  std::unique_ptr<runtime::products> products_;
  std::unique_ptr<runtime::solvers> solvers_;
  std::unique_ptr<runtime::fourier> fourier_;
};

/// The number of devices, or the reason for there being none.
struct probe {
  int count = 0;
  std::string reason;
};

probe look_for_devices() {
  probe p;
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
    (void)cudaGetLastError();
    p.reason = "no NVIDIA driver is installed";
    return p;
  }
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    (void)cudaGetLastError();
    p.reason = std::string("the CUDA runtime reports ") + cudaGetErrorName(status) + " (" + cudaGetErrorString(status) +
               ") with driver version " + std::to_string(driver);
    return p;
  }
  p.count = count;
  if (count == 0) p.reason = "the NVIDIA driver offers no GPU";
  return p;
}

const probe& devices() {
  static const probe& found = *new probe(look_for_devices());
  return found;
}

}  // namespace
}  // namespace sinter::cuda

namespace sinter::runtime {

int cuda_device_count() noexcept { return cuda::devices().count; }
std::string cuda_unavailable_reason() { return cuda::devices().reason; }

std::unique_ptr<backend> make_cuda_backend(int index) {
  if (index < 0 || index >= cuda_device_count())
    throw device_error("[device] there is no GPU " + std::to_string(index) + ": " +
                       (cuda_device_count() == 0 ? cuda_unavailable_reason()
                                                 : "the driver offers " + std::to_string(cuda_device_count())));
  cuda::make_current(index);
  return std::make_unique<cuda::cuda_backend>(index);
}

}  // namespace sinter::runtime
