#include "backends/cuda/sparse/direct_solver.hpp"

#include <memory>
#include <string>

#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/driver/stream.hpp"
#include "backends/cuda/sparse/direct_libraries.hpp"
#include "sinter/error.hpp"

#ifndef SINTER_CUSOLVER_SONAME
#define SINTER_CUSOLVER_SONAME "libcusolver.so"
#endif

namespace sinter::cuda {
namespace {

using runtime::sparse_system;

const auto& cudss() {
  static const auto& opened = platform::open_library<cudss_api>(platform::toolkit_library("cuDSS", {"libcudss.so.1"}));
  return opened;
}
const auto& cusolver_sparse() {
  static const auto& opened =
      platform::open_library<cusolver_sparse_api>(platform::toolkit_library("cuSOLVER", {SINTER_CUSOLVER_SONAME}));
  return opened;
}
const auto& cusparse() {
  static const auto& opened = platform::open_library<cusparse_api>(
      platform::toolkit_library("cuSPARSE", {"libcusparse.so.12", "libcusparse.so.11"}));
  return opened;
}

[[noreturn]] void failed(const char* call, int status) {
  (void)cudaGetLastError();
  throw device_error("[spsolve] " + std::string(call) + ": status " + std::to_string(status));
}
/// Whether a call succeeded; false where it found no memory (a status that cuDSS, cuSOLVER and cuSPARSE share).
bool done(int status, const char* call) {
  if (status == dss::success) return true;
  if (status != dss::no_memory) failed(call, status);
  (void)cudaGetLastError();
  return false;
}
static_assert(dss::success == int{qr::success} && dss::no_memory == int{qr::no_memory});

cudaDataType_t data_type(dtype t) {
  switch (t) {
    case dtype::f32: return CUDA_R_32F;
    case dtype::f64: return CUDA_R_64F;
    case dtype::c64: return CUDA_C_32F;
    default: return CUDA_C_64F;
  }
}

/// An object of a library that is destroyed with this.
template <class Destroy>
class owned {
 public:
  explicit owned(Destroy destroy) : destroy_(destroy) {}
  ~owned() {
    if (object_) (void)destroy_(object_);
  }
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  void** place() { return &object_; }
  void* get() const { return object_; }

 private:
  void* object_ = nullptr;
  Destroy destroy_;
};

}  // namespace

bool direct_solver::takes(const runtime::sparse_matrix& a, std::int64_t columns) const {
  if (a.index != dtype::i32 || a.rows == 0 || a.rows != a.columns || a.entries == 0 || columns == 0) return false;
  if (a.type != dtype::f32 && a.type != dtype::f64 && a.type != dtype::c64 && a.type != dtype::c128) return false;
  return cudss().usable || (columns == 1 && cusolver_sparse().usable && cusparse().usable);
}

bool direct_solver::solve(const sparse_system& s, void* x) {
  if (capture_notes(device_)) throw device_error("[spsolve] factorisations cannot be captured");
  const std::lock_guard lock(mutex_);
  outcome got = attempt(s, x);
  if (got == outcome::no_memory) {
    release_memory_();
    got = attempt(s, x);
  }
  after_enqueue(device_, "spsolve");
  return got == outcome::solved;
}

direct_solver::outcome direct_solver::attempt(const sparse_system& s, void* x) {
  return cudss().usable ? by_cudss(cudss().api, s, x) : by_qr(cusolver_sparse().api, s, x);
}

direct_solver::outcome direct_solver::by_cudss(const cudss_api& api, const sparse_system& s, void* x) {
  const cudaStream_t stream = current_stream(device_);
  const cudaDataType_t type = data_type(s.a.type);
  if (!cudss_ && !done(api.cudssCreate(&cudss_), "cudssCreate")) return outcome::no_memory;
  if (!done(api.cudssSetStream(cudss_, stream), "cudssSetStream")) return outcome::no_memory;
  owned config(api.cudssConfigDestroy), matrix(api.cudssMatrixDestroy);
  owned data([&](void* object) { return api.cudssDataDestroy(cudss_, object); });
  const int on = 1;
  if (!done(api.cudssConfigCreate(config.place()), "cudssConfigCreate") ||
      !done(api.cudssConfigSet(config.get(), dss::deterministic_mode, &on, sizeof on), "cudssConfigSet") ||
      !done(api.cudssDataCreate(cudss_, data.place()), "cudssDataCreate") ||
      !done(api.cudssMatrixCreateCsr(matrix.place(), s.a.rows, s.a.columns, s.a.entries, s.a.indptr, nullptr,
                                     s.a.indices, s.a.data, CUDA_R_32I, CUDA_R_32I, type, dss::general, dss::full_view,
                                     dss::from_zero),
            "cudssMatrixCreateCsr"))
    return outcome::no_memory;
  const auto number = [&](int which) {
    int found = 0;
    std::size_t bytes = 0;
    if (const int status = api.cudssDataGet(cudss_, data.get(), which, &found, sizeof found, &bytes))
      failed("cudssDataGet", status);
    return found;
  };
  // Right sides one by one: what is deterministic takes one only.
  for (std::int64_t k = 0; k < s.columns; ++k) {
    const std::int64_t skip = k * s.a.rows * static_cast<std::int64_t>(itemsize(s.a.type));
    const auto* b = static_cast<const char*>(s.b) + skip;
    auto* found = static_cast<char*>(x) + skip;
    owned right(api.cudssMatrixDestroy), solution(api.cudssMatrixDestroy);
    if (!done(api.cudssMatrixCreateDn(right.place(), s.a.rows, 1, s.a.rows, b, type, dss::by_columns),
              "cudssMatrixCreateDn") ||
        !done(api.cudssMatrixCreateDn(solution.place(), s.a.rows, 1, s.a.rows, found, type, dss::by_columns),
              "cudssMatrixCreateDn"))
      return outcome::no_memory;
    const auto run = [&](int phase) {
      return done(api.cudssExecute(cudss_, phase, config.get(), data.get(), matrix.get(), solution.get(), right.get()),
                  "cudssExecute");
    };
    if (k == 0) {
      if (!run(dss::analysis) || !run(dss::factorization)) return outcome::no_memory;
      if (number(dss::info) != 0 || number(dss::replaced_pivots) != 0) return outcome::undecided;
    }
    if (!run(dss::solution)) return outcome::no_memory;
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");  // before what it refers to is destroyed
  }
  return outcome::solved;
}

direct_solver::outcome direct_solver::by_qr(const cusolver_sparse_api& api, const sparse_system& s, void* x) {
  if ((!cusolver_ && !done(api.cusolverSpCreate(&cusolver_), "cusolverSpCreate")) ||
      (!description_ && !done(cusparse().api.cusparseCreateMatDescr(&description_), "cusparseCreateMatDescr")) ||
      !done(api.cusolverSpSetStream(cusolver_, current_stream(device_)), "cusolverSpSetStream"))
    return outcome::no_memory;
  int singular = -1;
  const int order = s.a.rows < 256 ? qr::reverse_cuthill_mckee : qr::nested_dissection;
  const auto run = [&](auto solver, auto small) {
    return solver(cusolver_, static_cast<int>(s.a.rows), static_cast<int>(s.a.entries), description_, s.a.data,
                  static_cast<const int*>(s.a.indptr), static_cast<const int*>(s.a.indices), s.b, small, order, x,
                  &singular);
  };
  const int status = s.a.type == dtype::f32   ? run(api.cusolverSpScsrlsvqr, static_cast<float>(s.small))
                     : s.a.type == dtype::f64 ? run(api.cusolverSpDcsrlsvqr, s.small)
                     : s.a.type == dtype::c64 ? run(api.cusolverSpCcsrlsvqr, static_cast<float>(s.small))
                                              : run(api.cusolverSpZcsrlsvqr, s.small);
  if (!done(status, "csrlsvqr")) return outcome::no_memory;
  return singular < 0 ? outcome::solved : outcome::undecided;
}

}  // namespace sinter::cuda
