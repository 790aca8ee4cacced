// LAPACK as OpenBLAS has it, by its Fortran names: the C interface of Debian's liblapacke calls the LAPACK that
// the system prefers, which need not be OpenBLAS's.
#pragma once
#include "backends/cpu/linalg/openblas_functions.hpp"
#include "platform/optional_library.hpp"

namespace sinter::cpu {

// clang-format off
#define SINTER_LAPACK_OF_ALL(F, P)                                                                              \
  F(P##getrf_) F(P##getrs_) F(P##potrf_) F(P##geqrf_) F(P##gesdd_) F(P##geev_) F(cblas_##P##trsm)
#define SINTER_LAPACK_FUNCTIONS(F)                                                                              \
  SINTER_LAPACK_OF_ALL(F, s) SINTER_LAPACK_OF_ALL(F, d) SINTER_LAPACK_OF_ALL(F, c) SINTER_LAPACK_OF_ALL(F, z)   \
  F(sorgqr_) F(dorgqr_) F(cungqr_) F(zungqr_) F(ssyevd_) F(dsyevd_) F(cheevd_) F(zheevd_)
// clang-format on
SINTER_DECLARED_TABLE(lapack_api, SINTER_LAPACK_FUNCTIONS);

/// Opens it if need be; throws device_error, in the name of a public function, where it cannot be used.
const lapack_api& lapack(const char* function);

/// The functions of an element type. `real` is the type of its parts.
template <class T>
struct lapack_of;
#define SINTER_LAPACK_OF(T, R, P, ORTHOGONAL, HERMITIAN)            \
  template <>                                                       \
  struct lapack_of<T> {                                             \
    using real = R;                                                 \
    static constexpr auto getrf = &lapack_api::P##getrf_;           \
    static constexpr auto getrs = &lapack_api::P##getrs_;           \
    static constexpr auto potrf = &lapack_api::P##potrf_;           \
    static constexpr auto geqrf = &lapack_api::P##geqrf_;           \
    static constexpr auto orgqr = &lapack_api::P##ORTHOGONAL##gqr_; \
    static constexpr auto gesdd = &lapack_api::P##gesdd_;           \
    static constexpr auto syevd = &lapack_api::P##HERMITIAN##evd_;  \
    static constexpr auto geev = &lapack_api::P##geev_;             \
    static constexpr auto trsm = &lapack_api::cblas_##P##trsm;      \
  };
SINTER_LAPACK_OF(float, float, s, or, sy)
SINTER_LAPACK_OF(double, double, d, or, sy)
SINTER_LAPACK_OF(std::complex<float>, float, c, un, he)
SINTER_LAPACK_OF(std::complex<double>, double, z, un, he)
#undef SINTER_LAPACK_OF

}  // namespace sinter::cpu
