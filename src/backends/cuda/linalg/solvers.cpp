// The handles of cuSOLVER and cuBLAS for factorisations, their scratch memory and their errors.
#include "backends/cuda/linalg/solvers.hpp"

#include <algorithm>
#include <climits>
#include <string>

#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/driver/hooks.hpp"
#include "backends/cuda/driver/stream.hpp"
#include "backends/cuda/linalg/solver_calls.hpp"
#include "platform/background.hpp"
#include "sinter/error.hpp"

#ifdef SINTER_HAS_GPU_SOLVERS

namespace sinter::cuda {
namespace {

std::string name_of(cusolverStatus_t status) {
  switch (status) {
    case CUSOLVER_STATUS_NOT_INITIALIZED: return "CUSOLVER_STATUS_NOT_INITIALIZED";
    case CUSOLVER_STATUS_ALLOC_FAILED: return "CUSOLVER_STATUS_ALLOC_FAILED";
    case CUSOLVER_STATUS_INVALID_VALUE: return "CUSOLVER_STATUS_INVALID_VALUE";
    case CUSOLVER_STATUS_ARCH_MISMATCH: return "CUSOLVER_STATUS_ARCH_MISMATCH";
    case CUSOLVER_STATUS_EXECUTION_FAILED: return "CUSOLVER_STATUS_EXECUTION_FAILED";
    case CUSOLVER_STATUS_INTERNAL_ERROR: return "CUSOLVER_STATUS_INTERNAL_ERROR";
    case CUSOLVER_STATUS_NOT_SUPPORTED: return "CUSOLVER_STATUS_NOT_SUPPORTED";
    default: return "cuSOLVER status " + std::to_string(static_cast<int>(status));
  }
}

[[noreturn]] void failed(const char* function, const char* call, const std::string& what) {
  (void)cudaGetLastError();
  throw device_error("[" + std::string(function) + "] " + call + ": " + what);
}

}  // namespace

const cusolver_api& cusolver(const char* function) {
  static const auto& opened =
      platform::open_library<cusolver_api>(platform::toolkit_library("cuSOLVER", {SINTER_CUSOLVER_SONAME}));
  return opened.usable_by(function);
}

const cublas_solver_api& cublas_solvers(const char* function) {
  static const auto& opened =
      platform::open_library<cublas_solver_api>(platform::toolkit_library("cuBLAS", {SINTER_CUBLAS_SONAME}));
  return opened.usable_by(function);
}

std::string why_no_solver_libraries() {
  try {
    cublas_solvers("linalg");
    cusolver("linalg");
  } catch (const device_error& e) {
    return e.what();
  }
  return "";
}

int counted(int64_t n, const char* function) {
  if (n > INT_MAX)
    throw value_error("[" + std::string(function) + "] " + std::to_string(n) + " is more than cuSOLVER counts to");
  return static_cast<int>(n);
}

// cuSOLVER depends on cuBLAS, so the version found by the build is opened first.
solver_call::solver_call(cuda_solvers& owner, const char* function)
    : solver((cublas_solvers(function), cusolver(function))),
      blas(cublas_solvers(function)),
      owner_(owner),
      function_(function),
      lock_(owner.mutex_) {
  check_usable();
  make_current(owner.target_.device);
  if (!owner.solver_handle_ || !owner.blas_handle_ || !owner.parameters_ || !owner.svd_jacobi_ || !owner.eigh_jacobi_)
    owner.open(solver, blas, function);
  solver_handle = owner.solver_handle_;
  parameters = owner.parameters_;
  blas_handle = owner.blas_handle_;
  if (owner.target_.owner->current_stream().notes())
    throw device_error("[" + std::string(function) + "] factorisations cannot be captured");
  stream = current_stream(owner.target_.device);
  // The libraries' internal memory is shared by streams, so work on one stream is ordered after earlier work on
  // another.
  if (!owner.last_use_)
    owner.last_use_ = std::make_unique<runtime::buffer>(*owner.target_.owner, 1, owner.target_.owner->plain_memory());
  (void)owner.last_use_->data();
  if (const auto set = solver.cusolverDnSetStream(solver_handle, stream); set != CUSOLVER_STATUS_SUCCESS)
    failed(function, "cusolverDnSetStream", name_of(set));
  if (const auto set = blas.cublasSetStream(blas_handle, stream); set != CUBLAS_STATUS_SUCCESS)
    failed(function, "cublasSetStream", blas.cublasGetStatusString(set));
}

void cuda_solvers::expect() {
  if (expected_.exchange(true)) return;
  platform::run_in_background([this] {
    try {
      const cublas_solver_api& blas = cublas_solvers("linalg");
      const cusolver_api& solver = cusolver("linalg");
      platform::end_background_before_exit_handlers();
      const std::lock_guard lock(mutex_);
      make_current(target_.device);
      open(solver, blas, "linalg");
    } catch (...) {
      return;  // the call tries again, and reports what is wrong
    }
  });
}

void cuda_solvers::open(const cusolver_api& solver, const cublas_solver_api& blas, const char* function) {
  const auto create = [&](auto& handle, auto make, auto text_of, const char* call) {
    if (handle) return;
    auto status = make(&handle);
    if (static_cast<int>(status) != 0) {
      target_.release_memory();  // possibly no memory for their internal buffers
      status = make(&handle);
    }
    if (static_cast<int>(status) == 0) return;
    handle = nullptr;
    failed(function, call, text_of(status));
  };
  create(solver_handle_, solver.cusolverDnCreate, name_of, "cusolverDnCreate");
  create(blas_handle_, blas.cublasCreate, blas.cublasGetStatusString, "cublasCreate");
  create(parameters_, solver.cusolverDnCreateParams, name_of, "cusolverDnCreateParams");
  create(svd_jacobi_, solver.cusolverDnCreateGesvdjInfo, name_of, "cusolverDnCreateGesvdjInfo");
  // The defaults are right: eigenvalues are sorted, and the tolerance is that of the type.
  create(eigh_jacobi_, solver.cusolverDnCreateSyevjInfo, name_of, "cusolverDnCreateSyevjInfo");
}

void solver_call::check(cusolverStatus_t status, const char* call) const {
  if (status != CUSOLVER_STATUS_SUCCESS) failed(function_, call, name_of(status));
  count(call);
}
void solver_call::check(cublasStatus_t status, const char* call) const {
  if (status != CUBLAS_STATUS_SUCCESS) failed(function_, call, blas.cublasGetStatusString(status));
  count(call);
}
void solver_call::count(const char* call) const {
  owner_.target_.launches->fetch_add(1, std::memory_order_relaxed);
  cuda::after_enqueue(owner_.target_.device, call);
}
void solver_call::check(cudaError_t status, const char* call) const { cuda::check(status, call); }

scratch_memory solver_call::scratch(int64_t bytes) const {
  return std::make_unique<runtime::buffer>(*owner_.target_.owner, static_cast<std::size_t>(bytes > 0 ? bytes : 1));
}

void* solver_call::host_memory(std::size_t bytes) const {
  if (owner_.host_memory_.size() < bytes) owner_.host_memory_.resize(bytes);
  return bytes == 0 ? nullptr : owner_.host_memory_.data();
}

void solver_call::await_host_memory(std::size_t host_bytes) const {
  if (host_bytes != 0) synchronize();
}

void solver_call::synchronize() const { cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); }

device::context solver_call::context() const { return {stream, owner_.target_.multiprocessors}; }

scratch_memory solver_call::addresses(const void* first, int64_t stride_bytes, int64_t count) const {
  scratch_memory table = scratch(count * static_cast<int64_t>(sizeof(void*)));
  const device::address_row row{const_cast<void*>(first), stride_bytes, static_cast<void**>(table->data())};
  cuda::check(device::address_table(context(), row, count), "address_table");
  owner_.target_.launches->fetch_add(1, std::memory_order_relaxed);
  return table;
}
scratch_memory solver_call::addresses(const void* first, int64_t stride_bytes, const void* second,
                                      int64_t second_stride_bytes, int64_t count) const {
  scratch_memory tables = scratch(2 * count * static_cast<int64_t>(sizeof(void*)));
  auto** const table = static_cast<void**>(tables->data());
  const device::address_row one{const_cast<void*>(first), stride_bytes, table},
      other{const_cast<void*>(second), second_stride_bytes, table + count};
  cuda::check(device::address_tables(context(), one, other, count), "address_tables");
  owner_.target_.launches->fetch_add(1, std::memory_order_relaxed);
  return tables;
}

fit_matrices::fit_matrices(const solver_call& call, const matrix_batch& m, device::matrix_part part, bool scaled,
                           void* a)
    : call_(call),
      type_(m.type),
      count_(m.count),
      scaled_(scaled),
      memory_(call.scratch(size_of<std::int32_t>((scaled ? 2 : 1) * m.count))) {
  const device::check_shape shape{static_cast<device::element>(m.type), m.rows, m.columns, m.count, part};
  call.check(device::clear_unless_finite(call.context(), shape, a, flags(), scaled ? flags() + count_ : nullptr),
             "clear_unless_finite");
}

void fit_matrices::finish(std::int32_t* info, void* values, int64_t each) const {
  device::scaled_values s;
  if (scaled_) s = {flags() + count_, type_ == dtype::f64 || type_ == dtype::c128, static_cast<int>(each), values};
  call_.check(device::mark(call_.context(), flags(), count_, runtime::not_finite, info, s), "mark");
}

check_slot cuda_solvers::take_slot() {
  {
    const std::lock_guard lock(slots_mutex_);
    if (!slots_.empty()) {
      const check_slot s = slots_.back();
      slots_.pop_back();
      return s;
    }
  }
  check_slot s;
  cuda::check(cudaEventCreateWithFlags(&s.done, cudaEventDisableTiming), "cudaEventCreate");
  void *host = nullptr, *device = nullptr;
  cuda::check(cudaHostAlloc(&host, static_cast<std::size_t>(size_of<int64_t>(device::most_finders)),
                            cudaHostAllocMapped | cudaHostAllocPortable),
              "cudaHostAlloc");
  cuda::check(cudaHostGetDevicePointer(&device, host, 0), "cudaHostGetDevicePointer");
  s.found = static_cast<int64_t*>(host);
  s.on_device = static_cast<int64_t*>(device);
  return s;
}

/// A kernel searches the numbers and writes its result to host memory, which avoids copying all of them.
class cuda_outcome final : public runtime::outcome {
 public:
  cuda_outcome(cuda_solvers& owner, const std::int32_t* info, int64_t count)
      : owner_(owner), slot_(owner.take_slot()), count_(count) {
    cudaStream_t stream = current_stream(owner.target_.device);
    const device::context context{stream, owner.target_.multiprocessors};
    cuda::check(device::find_first(context, info, count, slot_.on_device), "find_first");
    owner.target_.launches->fetch_add(1, std::memory_order_relaxed);
    cuda::check(cudaEventRecord(slot_.done, stream), "cudaEventRecord");
  }
  /// The slot may be reused only after the kernel has written it.
  ~cuda_outcome() override {
    if (cudaEventSynchronize(slot_.done) != cudaSuccess) {
      (void)cudaGetLastError();
      return;
    }
    const std::lock_guard lock(owner_.slots_mutex_);
    owner_.slots_.push_back(slot_);
  }
  int64_t first_failure() override {
    cuda::check(cudaEventSynchronize(slot_.done), "cudaEventSynchronize");
    const int64_t least = *std::min_element(slot_.found, slot_.found + device::finders(count_));
    return least < count_ ? least : -1;
  }

 private:
  cuda_solvers& owner_;
  check_slot slot_;
  int64_t count_;
};

std::unique_ptr<runtime::outcome> cuda_solvers::look_for_failures(const std::int32_t* info, int64_t count) {
  check_usable();
  make_current(target_.device);
  return std::make_unique<cuda_outcome>(*this, info, count);
}

std::unique_ptr<runtime::solvers> make_solvers(const solver_target& target) {
  return std::make_unique<cuda_solvers>(target);
}

}  // namespace sinter::cuda

#else

namespace sinter::cuda {
namespace {

/// For builds without the toolkit's header: every function throws.
class no_solvers final : public runtime::solvers {
 public:
  std::unique_ptr<runtime::outcome> look_for_failures(const std::int32_t*, std::int64_t) override { missing("linalg"); }
  void factor_lu(const runtime::matrix_batch& m, void*, std::int32_t*, std::int32_t*) override { missing(m.function); }
  void solve_lu(const runtime::matrix_batch& b, runtime::matrix_form, const void*, const std::int32_t*,
                void*) override {
    missing(b.function);
  }
  void solve_triangular(const runtime::triangular_system& s, const void*, void*) override { missing(s.function); }
  void factor_cholesky(const runtime::matrix_batch& m, bool, void*, std::int32_t*) override { missing(m.function); }
  void factor_qr(const runtime::matrix_batch& m, void*, void*) override { missing(m.function); }
  void form_q(const runtime::matrix_batch& q, std::int64_t, void*, const void*) override { missing(q.function); }
  bool svd_takes_wide() const noexcept override { return true; }
  runtime::right_vectors svd(const runtime::matrix_batch& m, runtime::svd_part, void*, void*, void*, void*,
                             std::int32_t*) override {
    missing(m.function);
  }
  void eigh(const runtime::matrix_batch& m, bool, bool, bool, void*, void*, std::int32_t*) override {
    missing(m.function);
  }
  void eig(const runtime::matrix_batch& m, void*, void*, void*, std::int32_t*) override { missing(m.function); }

 private:
  [[noreturn]] static void missing(const char* function) {
    throw device_error("[" + std::string(function) +
                       "] sinter was built without cuSOLVER: the CUDA toolkit had no cusolverDn.h or no cublas_v2.h");
  }
};

}  // namespace

std::unique_ptr<runtime::solvers> make_solvers(const solver_target&) { return std::make_unique<no_solvers>(); }
std::string why_no_solver_libraries() { return "the CUDA toolkit had no cusolverDn.h or no cublas_v2.h"; }
void set_svd_method(svd_method) noexcept {}
void set_eigh_method(eigh_method) noexcept {}

}  // namespace sinter::cuda

#endif
