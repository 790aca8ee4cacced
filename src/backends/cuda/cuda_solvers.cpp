// The handles of cuSOLVER and cuBLAS for factorisations, their scratch memory and their errors.
#include "backends/cuda/cuda_solvers.hpp"

#include <climits>
#include <string>

#include "backends/cuda/cuda_driver.hpp"
#include "backends/cuda/cuda_error.hpp"
#include "backends/cuda/cuda_solver_calls.hpp"
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
      jit::open_library<cusolver_api>(jit::toolkit_library("cuSOLVER", {SINTER_CUSOLVER_SONAME}));
  return opened.usable_by(function);
}

const cublas_solver_api& cublas_solvers(const char* function) {
  static const auto& opened =
      jit::open_library<cublas_solver_api>(jit::toolkit_library("cuBLAS", {SINTER_CUBLAS_SONAME}));
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

// cuSOLVER wants cuBLAS, so the one that the build knows is opened first.
solver_call::solver_call(cuda_solvers& owner, const char* function)
    : solver((cublas_solvers(function), cusolver(function))), blas(cublas_solvers(function)), owner_(owner),
      function_(function), lock_(owner.mutex_) {
  check_usable();
  make_current(owner.target_.device);
  if (!owner.solver_handle_ || !owner.blas_handle_ || !owner.parameters_ || !owner.jacobi_)
    owner.open(solver, blas, function);
  solver_handle = owner.solver_handle_;
  parameters = owner.parameters_;
  blas_handle = owner.blas_handle_;
  stream = owner.target_.stream;
}

void cuda_solvers::open(const cusolver_api& solver, const cublas_solver_api& blas, const char* function) {
  const auto attempt = [&](auto create, auto succeeded) {
    auto status = create();
    if (status == succeeded) return status;
    target_.release_memory();  // their own memory may not have fitted
    return create();
  };
  if (!solver_handle_) {
    const auto status = attempt([&] { return solver.cusolverDnCreate(&solver_handle_); }, CUSOLVER_STATUS_SUCCESS);
    if (status != CUSOLVER_STATUS_SUCCESS) {
      solver_handle_ = nullptr;
      failed(function, "cusolverDnCreate", name_of(status));
    }
    if (const auto set = solver.cusolverDnSetStream(solver_handle_, target_.stream); set != CUSOLVER_STATUS_SUCCESS)
      failed(function, "cusolverDnSetStream", name_of(set));
  }
  if (!blas_handle_) {
    const auto status = attempt([&] { return blas.cublasCreate(&blas_handle_); }, CUBLAS_STATUS_SUCCESS);
    if (status != CUBLAS_STATUS_SUCCESS) {
      blas_handle_ = nullptr;
      failed(function, "cublasCreate", blas.cublasGetStatusString(status));
    }
    if (const auto set = blas.cublasSetStream(blas_handle_, target_.stream); set != CUBLAS_STATUS_SUCCESS)
      failed(function, "cublasSetStream", blas.cublasGetStatusString(set));
  }
  if (!parameters_)
    if (const auto made = solver.cusolverDnCreateParams(&parameters_); made != CUSOLVER_STATUS_SUCCESS)
      failed(function, "cusolverDnCreateParams", name_of(made));
  if (!jacobi_)
    if (const auto made = solver.cusolverDnCreateGesvdjInfo(&jacobi_); made != CUSOLVER_STATUS_SUCCESS)
      failed(function, "cusolverDnCreateGesvdjInfo", name_of(made));
}

void solver_call::check(cusolverStatus_t status, const char* call) const {
  if (status != CUSOLVER_STATUS_SUCCESS) failed(function_, call, name_of(status));
  owner_.target_.launches->fetch_add(1, std::memory_order_relaxed);
}
void solver_call::check(cublasStatus_t status, const char* call) const {
  if (status != CUBLAS_STATUS_SUCCESS) failed(function_, call, blas.cublasGetStatusString(status));
  owner_.target_.launches->fetch_add(1, std::memory_order_relaxed);
}
void solver_call::check(cudaError_t status, const char* call) const { cuda::check(status, call); }

scratch_memory solver_call::scratch(int64_t bytes) const {
  return std::make_unique<runtime::buffer>(*owner_.target_.owner, static_cast<std::size_t>(bytes > 0 ? bytes : 1));
}

void* solver_call::host_memory(std::size_t bytes) const {
  if (owner_.host_memory_.size() < bytes) owner_.host_memory_.resize(bytes);
  return bytes == 0 ? nullptr : owner_.host_memory_.data();
}

void solver_call::settle(std::size_t host_bytes) const {
  if (host_bytes != 0) synchronize();
}

void solver_call::synchronize() const { cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); }

device::context solver_call::context() const { return {stream, owner_.target_.multiprocessors}; }

scratch_memory solver_call::addresses(const void* first, int64_t stride_bytes, int64_t count) const {
  scratch_memory table = scratch(count * static_cast<int64_t>(sizeof(void*)));
  cuda::check(device::address_table(context(), const_cast<void*>(first), stride_bytes, count,
                                    static_cast<void**>(table->data())),
              "address_table");
  owner_.target_.launches->fetch_add(1, std::memory_order_relaxed);
  return table;
}

std::unique_ptr<runtime::solvers> make_solvers(const solver_target& target) {
  return std::make_unique<cuda_solvers>(target);
}

}  // namespace sinter::cuda

#else

namespace sinter::cuda {
namespace {

/// Where the toolkit had no header: every function says so.
class no_solvers final : public runtime::solvers {
 public:
  void factor_lu(const runtime::matrix_batch& m, void*, std::int32_t*, std::int32_t*) override { missing(m.function); }
  void solve_lu(const runtime::matrix_batch& b, runtime::matrix_form, const void*, const std::int32_t*, void*) override {
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
  void eigh(const runtime::matrix_batch& m, bool, bool, void*, void*, std::int32_t*) override { missing(m.function); }
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

}  // namespace sinter::cuda

#endif
