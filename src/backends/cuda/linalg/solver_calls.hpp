// runtime::solvers over cuSOLVER, shared declarations: handles, scratch memory, checks.
#pragma once
#include "backends/cuda/linalg/cusolver_library.hpp"
#ifdef SINTER_HAS_GPU_SOLVERS
#include <atomic>
#include <mutex>
#include <vector>

#include "backends/cuda/linalg/device_solvers.hpp"
#include "backends/cuda/linalg/solvers.hpp"

namespace sinter::cuda {

using runtime::matrix_batch;
using std::int64_t;

/// A number in the libraries' integer type; value_error if it does not fit.
int counted(int64_t n, const char* function);

using scratch_memory = std::unique_ptr<runtime::buffer>;

/// The handles of one device, locked: one thread at a time may use them.
class solver_call {
 public:
  solver_call(class cuda_solvers& owner, const char* function);

  const cusolver_api& solver;
  const cublas_solver_api& blas;
  cusolverDnHandle_t solver_handle;
  cusolverDnParams_t parameters;
  cublasHandle_t blas_handle;
  cudaStream_t stream;

  /// Throw device_error with the call's name; count a launch.
  void count(const char* call) const;
  void check(cusolverStatus_t status, const char* call) const;
  void check(cublasStatus_t status, const char* call) const;
  void check(cudaError_t status, const char* call) const;

  /// Device memory that is freed in stream order with the buffer.
  scratch_memory scratch(int64_t bytes) const;
  /// Host memory for the library, until the next call of this function. Work that uses it must be complete by then: see
  /// await_host_memory().
  void* host_memory(std::size_t bytes) const;
  /// Waits for the stream if a call was given host memory.
  void await_host_memory(std::size_t host_bytes) const;
  void synchronize() const;

  /// Addresses of `count` pieces for batched routines; the table lives as long as the buffer.
  scratch_memory addresses(const void* first, int64_t stride_bytes, int64_t count) const;
  /// Two consecutive tables.
  scratch_memory addresses(const void* first, int64_t stride_bytes, const void* second, int64_t second_stride_bytes,
                           int64_t count) const;
  device::context context() const;

 private:
  class cuda_solvers& owner_;
  const char* function_;
  std::unique_lock<std::mutex> lock_;
};

/// Prepares matrices for a library: those that are not finite are set to zero. `scaled` (for at most 32 rows and
/// columns): those that are very small or very large are scaled to about 1, for Jacobi's method, which sums squares.
class fit_matrices {
 public:
  fit_matrices(const solver_call& call, const matrix_batch& m, device::matrix_part part, bool scaled, void* a);
  /// Called after the library has written its numbers, and `each` singular values or eigenvalues per matrix.
  void finish(std::int32_t* info, void* values, int64_t each) const;

 private:
  std::int32_t* flags() const { return static_cast<std::int32_t*>(memory_->data()); }

  const solver_call& call_;
  dtype type_;
  int64_t count_;
  bool scaled_;
  scratch_memory memory_;
};

/// Host memory that the device writes, and the event after the write.
struct check_slot {
  cudaEvent_t done = nullptr;
  int64_t* found = nullptr;  // device::most_finders of them
  int64_t* on_device = nullptr;
};

class cuda_solvers final : public runtime::solvers {
 public:
  explicit cuda_solvers(const solver_target& t) : target_(t) {}

  void expect() override;
  std::unique_ptr<runtime::outcome> look_for_failures(const std::int32_t* info, int64_t count) override;
  void factor_lu(const matrix_batch& m, void* a, std::int32_t* pivots, std::int32_t* info) override;
  void solve_lu(const matrix_batch& b, runtime::matrix_form form, const void* lu, const std::int32_t* pivots,
                void* x) override;
  void solve_triangular(const runtime::triangular_system& s, const void* a, void* x) override;
  void factor_cholesky(const matrix_batch& m, bool upper, void* a, std::int32_t* info) override;
  void factor_qr(const matrix_batch& m, void* a, void* tau) override;
  void form_q(const matrix_batch& q, int64_t reflectors, void* a, const void* tau) override;
  bool svd_takes_wide() const noexcept override { return false; }
  runtime::right_vectors svd(const matrix_batch& m, runtime::svd_part part, void* a, void* s, void* u, void* v,
                             std::int32_t* info) override;
  void eigh(const matrix_batch& m, bool upper, bool vectors, bool robust, void* a, void* w,
            std::int32_t* info) override;
  void eig(const matrix_batch& m, void* a, void* w, void* v, std::int32_t* info) override;

 private:
  friend class solver_call;
  friend class cuda_outcome;
  check_slot take_slot();
  void open(const cusolver_api& solver, const cublas_solver_api& blas, const char* function);

  solver_target target_;
  std::atomic<bool> expected_{false};
  std::mutex mutex_;
  cusolverDnHandle_t solver_handle_ = nullptr;
  cusolverDnParams_t parameters_ = nullptr;
  cublasHandle_t blas_handle_ = nullptr;
  gesvdjInfo_t svd_jacobi_ = nullptr;
  syevjInfo_t eigh_jacobi_ = nullptr;
  scratch_memory last_use_;  // written by every call, which orders calls on different streams
  std::vector<char> host_memory_;
  std::mutex slots_mutex_;
  std::vector<check_slot> slots_;  // unused
};

/// Whether matrices are many and small enough for batched routines, which keep a matrix within a block or two.
inline bool many_small(const matrix_batch& m, int64_t largest) {
  return m.count > 1 && m.rows <= largest && m.columns <= largest;
}

template <class T>
constexpr int64_t size_of(int64_t elements) {
  return elements * static_cast<int64_t>(sizeof(T));
}

/// A real number as an element.
template <class T>
T element_of(double v) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(v);
  else return T{static_cast<part_of<T>>(v), 0};
}

/// The k-th of many equal pieces; null if the first one is null.
template <class T>
T* piece(void* all, int64_t k, int64_t size) {
  return all ? static_cast<T*>(all) + k * size : nullptr;
}

}  // namespace sinter::cuda
#endif
