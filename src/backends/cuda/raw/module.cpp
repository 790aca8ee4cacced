// Users' CUDA modules: loading, variables, attributes, launches and their errors.
#include "backends/cuda/raw/module.hpp"

#include <algorithm>
#include <mutex>

#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/driver/stream.hpp"
#include "jit/cuda/compile_raw.hpp"
#include "runtime/device_image.hpp"
#include "runtime/trace.hpp"
#include "sinter/error.hpp"

namespace sinter::cuda {
namespace {

using runtime::extents3;
using runtime::function_figures;
using runtime::raw_launch;

#define SINTER_DRIVER_FUNCTION(name) \
  static const auto name = reinterpret_cast<decltype(&::name)>(driver_function(#name))

/// A library of the driver (CUlibrary). Unloaded, after a synchronisation, with its last kernel.
class loaded_library {
 public:
  loaded_library(const char* image, const std::string& file, const module_place& p)
      : place(p), shown_file_(file.empty() ? "the image" : file) {
    check_image(cudaLibraryLoadData(&handle, image, options_, values_, 2, nullptr, nullptr, 0), "cudaLibraryLoadData");
  }
  loaded_library(const loaded_library&) = delete;
  loaded_library& operator=(const loaded_library&) = delete;
  ~loaded_library() {
    // At exit the driver may have shut down already, which unloads everything.
    if (!handle || cudaSetDevice(place.device) != cudaSuccess) return;
    try {
      runtime::get_backend({runtime::device_kind::cuda, place.device}).synchronize();
    } catch (...) {  // a failed device executes nothing
    }
    (void)cudaLibraryUnload(handle);
    (void)cudaGetLastError();
  }

  /// Before calls for its device.
  void begin() const {
    check_usable();
    make_current(place.device);
  }

  /// Adds an explanation to load errors, since an image may be invalid. The driver may read an image, and compile PTX,
  /// only when the first kernel is looked up.
  void check_image(cudaError_t status, const char* call) const {
    if (status == cudaSuccess) return;
    (void)cudaGetLastError();
    const std::string gpu =
        "compute capability " + std::to_string(place.arch / 10) + "." + std::to_string(place.arch % 10);
    const std::string why = cudaGetErrorString(status);
    switch (status) {
      case cudaErrorInvalidPtx:
      case cudaErrorUnsupportedPtxVersion:
      case cudaErrorJitCompilerNotFound:
        throw compile_error("[raw_module] the driver cannot compile the PTX of " + shown_file_ + " for " + gpu + " (" +
                            why + ")\nlog:\n" + log_);
      case cudaErrorNoKernelImageForDevice:
      case cudaErrorInvalidKernelImage:
      case cudaErrorInvalidSource:
        throw device_error("[raw_module] " + shown_file_ + " holds no code that a GPU of " + gpu + " can run (" + why +
                           ")");
      default: check(status, call);
    }
  }

  cudaLibrary_t handle = nullptr;
  const module_place place;

 private:
  std::string shown_file_;
  char log_[4096] = "";  // of PTX compilation; the driver may write to it while the library is loaded
  cudaJitOption options_[2] = {cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
  void* values_[2] = {log_, reinterpret_cast<void*>(sizeof log_)};
};
using library_ref = std::shared_ptr<loaded_library>;

int function_attribute(CUfunction f, CUfunction_attribute a) {
  SINTER_DRIVER_FUNCTION(cuFuncGetAttribute);
  int value = 0;
  check_driver(cuFuncGetAttribute(&value, a, f), "cuFuncGetAttribute");
  return value;
}

function_figures figures_of(CUfunction f, int device) {
  const auto of_function = [&](CUfunction_attribute a) { return function_attribute(f, a); };
  const auto bytes = [&](CUfunction_attribute a) { return static_cast<std::size_t>(function_attribute(f, a)); };
  const auto of_device = [&](cudaDeviceAttr a) { return device_attribute(a, device); };
  function_figures n;
  n.registers = of_function(CU_FUNC_ATTRIBUTE_NUM_REGS);
  n.max_threads = of_function(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  n.binary_version = of_function(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  n.ptx_version = of_function(CU_FUNC_ATTRIBUTE_PTX_VERSION);
  n.shared_bytes = bytes(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  n.constant_bytes = bytes(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
  n.local_bytes = bytes(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  const auto most = static_cast<std::size_t>(of_device(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  n.max_dynamic_shared = most - std::min(most, n.shared_bytes);
  n.max_grid = {of_device(cudaDevAttrMaxGridDimX), of_device(cudaDevAttrMaxGridDimY),
                of_device(cudaDevAttrMaxGridDimZ)};
  n.max_block = {of_device(cudaDevAttrMaxBlockDimX), of_device(cudaDevAttrMaxBlockDimY),
                 of_device(cudaDevAttrMaxBlockDimZ)};
  n.cooperative = of_device(cudaDevAttrCooperativeLaunch) != 0;
  n.clusters = of_device(cudaDevAttrClusterLaunch) != 0;
  return n;
}

std::string to_text(const extents3& e) {
  return "{" + std::to_string(e.x) + ", " + std::to_string(e.y) + ", " + std::to_string(e.z) + "}";
}

class gpu_function final : public runtime::raw_function {
 public:
  gpu_function(library_ref library, CUfunction f, std::string shown)
      : library_(std::move(library)),
        f_(f),
        shown_(std::move(shown)),
        figures_(figures_of(f, place().device)),
        allowed_shared_(static_cast<std::size_t>(
            std::max(0, function_attribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)))) {}

  const function_figures& figures() const override { return figures_; }

  std::optional<std::vector<std::size_t>> parameter_bytes() const override {
    static const auto info =
        reinterpret_cast<decltype(&cuFuncGetParamInfo)>(find_driver_function("cuFuncGetParamInfo", 12040));
    if (!info) return std::nullopt;
    begin();
    std::vector<std::size_t> bytes;
    std::size_t offset = 0, size = 0;
    while (info(f_, bytes.size(), &offset, &size) == CUDA_SUCCESS) bytes.push_back(size);
    return bytes;
  }

  int occupancy(const extents3& block, std::size_t shared_bytes) override {
    SINTER_DRIVER_FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessor);
    begin();
    allow_shared(shared_bytes);
    int blocks = 0;
    check_driver(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f_, static_cast<int>(block.x * block.y * block.z),
                                                             shared_bytes),
                 "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    return blocks;
  }

  void launch(const raw_launch& how, void** arguments) override {
    begin();
    if (how.shared_bytes != 0) allow_shared(how.shared_bytes);
    const bool clustered = how.cluster.x != 0;
    const CUresult status =
        how.cooperative || clustered ? launch_extended(how, arguments) : launch_plain(how, arguments);
    if (status != CUDA_SUCCESS) [[unlikely]]
      refuse(status, how);
    if (runtime::use_notes* const captured = capture_notes(place().device)) [[unlikely]]
      captured->keep.push_back(library_);
    place().launches->fetch_add(1, std::memory_order_relaxed);
    after_enqueue(place().device, shown_.c_str());
  }

 private:
  const module_place& place() const noexcept { return library_->place; }
  void begin() const { library_->begin(); }

  /// More than the 48 KB of shared memory that every kernel may use must be requested once per kernel.
  void allow_shared(std::size_t bytes) {
    if (bytes <= allowed_shared_.load(std::memory_order_relaxed)) return;
    SINTER_DRIVER_FUNCTION(cuFuncSetAttribute);
    const std::lock_guard lock(mutex_);
    if (bytes <= allowed_shared_ || bytes > figures_.max_dynamic_shared) return;
    check_driver(cuFuncSetAttribute(f_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(bytes)),
                 "cuFuncSetAttribute");
    allowed_shared_ = bytes;
  }

  CUresult launch_plain(const raw_launch& how, void** arguments) const {
    SINTER_DRIVER_FUNCTION(cuLaunchKernel);
    const auto n = [](std::int64_t e) { return static_cast<unsigned>(e); };
    return cuLaunchKernel(f_, n(how.grid.x), n(how.grid.y), n(how.grid.z), n(how.block.x), n(how.block.y),
                          n(how.block.z), static_cast<unsigned>(how.shared_bytes), current_stream(place().device),
                          arguments, nullptr);
  }

  /// The configuration points to `attributes`, which must have room for two.
  CUlaunchConfig configuration(const raw_launch& how, CUlaunchAttribute* attributes) const {
    const auto n = [](std::int64_t e) { return static_cast<unsigned>(e); };
    CUlaunchConfig c{n(how.grid.x),
                     n(how.grid.y),
                     n(how.grid.z),
                     n(how.block.x),
                     n(how.block.y),
                     n(how.block.z),
                     static_cast<unsigned>(how.shared_bytes),
                     current_stream(place().device),
                     attributes,
                     0};
    if (how.cooperative) {
      attributes[c.numAttrs].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      attributes[c.numAttrs++].value.cooperative = 1;
    }
    if (how.cluster.x != 0) {
      attributes[c.numAttrs].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      auto& dim = attributes[c.numAttrs++].value.clusterDim;
      dim.x = n(how.cluster.x);
      dim.y = n(how.cluster.y);
      dim.z = n(how.cluster.z);
    }
    return c;
  }

  CUresult launch_extended(const raw_launch& how, void** arguments) {
    SINTER_DRIVER_FUNCTION(cuLaunchKernelEx);
    if (how.cluster.x * how.cluster.y * how.cluster.z > 8) allow_large_clusters();
    CUlaunchAttribute attributes[2] = {};
    const CUlaunchConfig c = configuration(how, attributes);
    return cuLaunchKernelEx(&c, f_, arguments, nullptr);
  }

  /// Clusters of up to eight blocks are portable; larger ones must be requested.
  void allow_large_clusters() {
    SINTER_DRIVER_FUNCTION(cuFuncSetAttribute);
    const std::lock_guard lock(mutex_);
    if (large_clusters_) return;
    check_driver(cuFuncSetAttribute(f_, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1), "cuFuncSetAttribute");
    large_clusters_ = true;
  }

  std::string described(const raw_launch& how) const {
    std::string text = "[" + shown_ + "] a launch with grid " + to_text(how.grid) + ", block " + to_text(how.block);
    if (how.cluster.x != 0) text += ", cluster " + to_text(how.cluster);
    if (how.shared_bytes != 0) text += ", " + std::to_string(how.shared_bytes) + " bytes of dynamic shared memory";
    return text;
  }

  std::string resident_limit(const raw_launch& how) {
    const int blocks = occupancy(how.block, how.shared_bytes);
    const int processors = device_attribute(cudaDevAttrMultiProcessorCount, place().device);
    return " is cooperative, which needs all blocks resident at once; at most " + std::to_string(blocks * processors) +
           " are: " + std::to_string(blocks) + " on each of " + std::to_string(processors) + " multiprocessors";
  }

  std::string cluster_limit(const raw_launch& how) const {
    static const auto largest = reinterpret_cast<decltype(&cuOccupancyMaxPotentialClusterSize)>(
        find_driver_function("cuOccupancyMaxPotentialClusterSize"));
    raw_launch free = how;
    free.cluster = {0, 0, 0};
    CUlaunchAttribute attributes[2] = {};
    const CUlaunchConfig c = configuration(free, attributes);
    int blocks = 0;
    if (!largest || largest(&blocks, f_, &c) != CUDA_SUCCESS) return "";
    return "; at most " + std::to_string(blocks) + " such blocks fit in a cluster";
  }

  /// Reports errors that the checks before a launch cannot find.
  [[noreturn]] void refuse(CUresult status, const raw_launch& how) {
    const std::string launch = described(how);
    switch (status) {
      case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: throw value_error(launch + resident_limit(how));
      case CUDA_ERROR_INVALID_CLUSTER_SIZE:
        throw value_error(launch + " has a cluster that the device refuses" + cluster_limit(how));
      case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
        throw value_error(launch + " needs more than a multiprocessor has: " + std::to_string(figures_.registers) +
                          " registers for each thread, " + std::to_string(figures_.shared_bytes) +
                          " bytes of static shared memory for each block");
      case CUDA_ERROR_INVALID_VALUE:
        throw value_error(launch + " is refused by the driver (invalid value)" +
                          (how.cluster.x != 0 ? cluster_limit(how) : ""));
      default: break;
    }
    check_driver(status, "cuLaunchKernel");
    throw device_error(launch + " failed");  // unreachable: the status is an error
  }

  library_ref library_;
  CUfunction f_;
  std::string shown_;
  function_figures figures_;
  std::atomic<std::size_t> allowed_shared_;
  bool large_clusters_ = false;
  std::mutex mutex_;
};

class gpu_module final : public runtime::raw_module {
 public:
  gpu_module(library_ref library, std::vector<std::pair<std::string, std::string>> lowered,
             std::optional<runtime::image_symbols> symbols)
      : library_(std::move(library)), lowered_(std::move(lowered)) {
    if (!symbols) return;
    kernels_ = std::move(symbols->kernels);
    variables_ = std::move(symbols->variables);
  }
  const std::vector<std::pair<std::string, std::string>>& lowered_names() const override { return lowered_; }
  const std::optional<std::vector<std::string>>& kernels() const override { return kernels_; }
  const std::optional<std::vector<std::string>>& variables() const override { return variables_; }

  std::shared_ptr<runtime::raw_function> get_function(const std::string& lowered, const std::string& shown) override {
    SINTER_DRIVER_FUNCTION(cuKernelGetFunction);
    begin();
    cudaKernel_t kernel = nullptr;
    const cudaError_t status = cudaLibraryGetKernel(&kernel, library_->handle, lowered.c_str());
    if (missing(status)) {
      // The image has the kernel, but not for this GPU.
      const bool listed = kernels_ && std::find(kernels_->begin(), kernels_->end(), lowered) != kernels_->end();
      if (listed) library_->check_image(cudaErrorNoKernelImageForDevice, "cudaLibraryGetKernel");
      return nullptr;
    }
    library_->check_image(status, "cudaLibraryGetKernel");
    CUfunction f = nullptr;
    library_->check_image(static_cast<cudaError_t>(cuKernelGetFunction(&f, reinterpret_cast<CUkernel>(kernel))),
                          "cuKernelGetFunction");
    return std::make_shared<gpu_function>(library_, f, shown);
  }

  std::optional<runtime::raw_variable> get_variable(const std::string& lowered) override {
    begin();
    runtime::raw_variable v;
    const cudaError_t status = cudaLibraryGetGlobal(&v.address, &v.bytes, library_->handle, lowered.c_str());
    if (missing(status)) return std::nullopt;
    library_->check_image(status, "cudaLibraryGetGlobal");
    return v;
  }

 private:
  void begin() const { library_->begin(); }
  static bool missing(cudaError_t status) {
    if (status != cudaErrorSymbolNotFound && status != cudaErrorInvalidSymbol) return false;
    (void)cudaGetLastError();
    return true;
  }

  library_ref library_;
  std::vector<std::pair<std::string, std::string>> lowered_;
  std::optional<std::vector<std::string>> kernels_, variables_;
};

void trace_module(int device, const runtime::module_source& source, bool from_disk,
                  const std::optional<runtime::image_symbols>& symbols) {
  std::string line = (from_disk ? "load module" : "compile module") + (source.file.empty() ? "" : " " + source.file);
  if (symbols)
    for (const std::string& kernel : symbols->kernels) line += " " + kernel;
  trace(device, line);
}

}  // namespace

std::shared_ptr<runtime::raw_module> load_module(const runtime::module_source& source, const module_place& place) {
  if (source.image)  // std::string ends in the zero that PTX needs
    return std::make_shared<gpu_module>(std::make_shared<loaded_library>(source.text.c_str(), source.file, place),
                                        std::vector<std::pair<std::string, std::string>>(),
                                        runtime::symbols_of(source.text));
  jit::raw_binary binary =
      jit::compile_raw({source.text, source.file, source.options, source.names, source.fast_math, place.arch});
  auto symbols = runtime::symbols_of({binary.bytes.data(), binary.bytes.size()});
  if (runtime::tracing()) trace_module(place.device, source, binary.from_disk, symbols);
  binary.bytes.push_back('\0');  // in case it is PTX
  return std::make_shared<gpu_module>(std::make_shared<loaded_library>(binary.bytes.data(), source.file, place),
                                      std::move(binary.names), std::move(symbols));
}

}  // namespace sinter::cuda
