// cuSOLVER, and cuBLAS's factorisations and triangular systems, opened on first use. Only if the toolkit has both
// headers.
#pragma once
#if defined(SINTER_HAS_CUSOLVER) && defined(SINTER_HAS_CUBLAS)
#define SINTER_HAS_GPU_SOLVERS 1
#include <cublas_v2.h>
#include <cusolverDn.h>

#include <type_traits>

#include "platform/optional_library.hpp"
#include "sinter/dtype.hpp"

namespace sinter::cuda {

// clang-format off
#define SINTER_CUSOLVER_OF_ALL(F, P)                                                                            \
  F(cusolverDn##P##getrf) F(cusolverDn##P##getrf_bufferSize) F(cusolverDn##P##getrs)                            \
  F(cusolverDn##P##potrfBatched) F(cusolverDn##P##geqrf) F(cusolverDn##P##geqrf_bufferSize)                     \
  F(cusolverDn##P##gesvdjBatched) F(cusolverDn##P##gesvdjBatched_bufferSize)
#define SINTER_CUSOLVER_FUNCTIONS(F)                                                                            \
  F(cusolverDnCreate) F(cusolverDnSetStream) F(cusolverDnCreateParams) F(cusolverDnCreateGesvdjInfo)            \
  F(cusolverDnXpotrf) F(cusolverDnXpotrf_bufferSize) F(cusolverDnXgesvd) F(cusolverDnXgesvd_bufferSize)         \
  F(cusolverDnXgesvdp) F(cusolverDnXgesvdp_bufferSize) F(cusolverDnXsyevd) F(cusolverDnXsyevd_bufferSize)       \
  F(cusolverDnXsyevBatched) F(cusolverDnXsyevBatched_bufferSize)                                                \
  F(cusolverDnXgeev) F(cusolverDnXgeev_bufferSize)                                                              \
  F(cusolverDnCreateSyevjInfo)                                                                                  \
  F(cusolverDnSsyevjBatched) F(cusolverDnDsyevjBatched) F(cusolverDnCheevjBatched) F(cusolverDnZheevjBatched)   \
  F(cusolverDnSsyevjBatched_bufferSize) F(cusolverDnDsyevjBatched_bufferSize)                                   \
  F(cusolverDnCheevjBatched_bufferSize) F(cusolverDnZheevjBatched_bufferSize)                                   \
  F(cusolverDnSorgqr) F(cusolverDnDorgqr) F(cusolverDnCungqr) F(cusolverDnZungqr)                               \
  F(cusolverDnSorgqr_bufferSize) F(cusolverDnDorgqr_bufferSize)                                                 \
  F(cusolverDnCungqr_bufferSize) F(cusolverDnZungqr_bufferSize)                                                 \
  SINTER_CUSOLVER_OF_ALL(F, S) SINTER_CUSOLVER_OF_ALL(F, D) SINTER_CUSOLVER_OF_ALL(F, C) SINTER_CUSOLVER_OF_ALL(F, Z)

#define SINTER_CUBLAS_OF_ALL(F, P)                                                                              \
  F(cublas##P##trsm) F(cublas##P##trsmBatched) F(cublas##P##getrfBatched) F(cublas##P##getrsBatched)            \
  F(cublas##P##geqrfBatched) F(cublas##P##geam)
#define SINTER_CUBLAS_SOLVER_FUNCTIONS(F)                                                                       \
  F(cublasCreate) F(cublasSetStream) F(cublasGetStatusString)                                                   \
  SINTER_CUBLAS_OF_ALL(F, S) SINTER_CUBLAS_OF_ALL(F, D) SINTER_CUBLAS_OF_ALL(F, C) SINTER_CUBLAS_OF_ALL(F, Z)
// clang-format on
SINTER_FUNCTION_TABLE(cusolver_api, SINTER_CUSOLVER_FUNCTIONS);
SINTER_FUNCTION_TABLE(cublas_solver_api, SINTER_CUBLAS_SOLVER_FUNCTIONS);

/// Open them if necessary; device_error, with the prefix `function`, if they cannot be used.
const cusolver_api& cusolver(const char* function);
const cublas_solver_api& cublas_solvers(const char* function);

/// The functions and type tags of an element type.
template <class T>
struct solver_of;
#define SINTER_SOLVER_OF(T, P, ORTHOGONAL, HERMITIAN, DATA, REAL)                                      \
  template <>                                                                                          \
  struct solver_of<T> {                                                                                \
    static constexpr cudaDataType data = DATA, real = REAL;                                            \
    static constexpr auto getrf = &cusolver_api::cusolverDn##P##getrf;                                 \
    static constexpr auto getrf_size = &cusolver_api::cusolverDn##P##getrf_bufferSize;                 \
    static constexpr auto getrs = &cusolver_api::cusolverDn##P##getrs;                                 \
    static constexpr auto potrf_batched = &cusolver_api::cusolverDn##P##potrfBatched;                  \
    static constexpr auto geqrf = &cusolver_api::cusolverDn##P##geqrf;                                 \
    static constexpr auto geqrf_size = &cusolver_api::cusolverDn##P##geqrf_bufferSize;                 \
    static constexpr auto orgqr = &cusolver_api::cusolverDn##P##ORTHOGONAL##gqr;                       \
    static constexpr auto orgqr_size = &cusolver_api::cusolverDn##P##ORTHOGONAL##gqr_bufferSize;       \
    static constexpr auto gesvdj = &cusolver_api::cusolverDn##P##gesvdjBatched;                        \
    static constexpr auto gesvdj_size = &cusolver_api::cusolverDn##P##gesvdjBatched_bufferSize;        \
    static constexpr auto syevj = &cusolver_api::cusolverDn##P##HERMITIAN##evjBatched;                 \
    static constexpr auto syevj_size = &cusolver_api::cusolverDn##P##HERMITIAN##evjBatched_bufferSize; \
    static constexpr auto trsm = &cublas_solver_api::cublas##P##trsm;                                  \
    static constexpr auto trsm_batched = &cublas_solver_api::cublas##P##trsmBatched;                   \
    static constexpr auto getrf_batched = &cublas_solver_api::cublas##P##getrfBatched;                 \
    static constexpr auto getrs_batched = &cublas_solver_api::cublas##P##getrsBatched;                 \
    static constexpr auto geqrf_batched = &cublas_solver_api::cublas##P##geqrfBatched;                 \
    static constexpr auto geam = &cublas_solver_api::cublas##P##geam;                                  \
  };
SINTER_SOLVER_OF(float, S, or, sy, CUDA_R_32F, CUDA_R_32F)
SINTER_SOLVER_OF(double, D, or, sy, CUDA_R_64F, CUDA_R_64F)
SINTER_SOLVER_OF(cuComplex, C, un, he, CUDA_C_32F, CUDA_R_32F)
SINTER_SOLVER_OF(cuDoubleComplex, Z, un, he, CUDA_C_64F, CUDA_R_64F)
#undef SINTER_SOLVER_OF

/// The type of a complex number's parts.
template <class T>
using part_of = std::conditional_t<solver_of<T>::real == CUDA_R_32F, float, double>;

/// Calls f with a value of the dtype's C++ type.
template <class F>
void with_solver_type(dtype t, F&& f) {
  switch (t) {
    case dtype::f32: return f(float{});
    case dtype::f64: return f(double{});
    case dtype::c64: return f(cuComplex{});
    default: return f(cuDoubleComplex{});
  }
}

}  // namespace sinter::cuda
#endif
