// LAPACK as OpenBLAS has it, by its Fortran names: the C interface of Debian's liblapacke goes to whatever LAPACK the
// system prefers, which need not be OpenBLAS's. LAPACKE's package has the header.
#pragma once
#if defined(SINTER_HAS_OPENBLAS) && defined(SINTER_HAS_LAPACKE)
#define SINTER_HAS_LAPACK 1
#include <complex>
#define LAPACK_COMPLEX_CUSTOM
#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <cblas.h>
#include <lapack.h>

#include "jit/optional_library.hpp"

namespace sinter::cpu {

// clang-format off
#define SINTER_LAPACK_OF_ALL(F, P)                                                                              \
  F(LAPACK_##P##getrf) F(LAPACK_##P##getrs_base) F(LAPACK_##P##potrf_base) F(LAPACK_##P##geqrf)                  \
  F(LAPACK_##P##gesdd_base) F(LAPACK_##P##geev_base) F(cblas_##P##trsm)
#define SINTER_LAPACK_FUNCTIONS(F)                                                                              \
  SINTER_LAPACK_OF_ALL(F, s) SINTER_LAPACK_OF_ALL(F, d) SINTER_LAPACK_OF_ALL(F, c) SINTER_LAPACK_OF_ALL(F, z)   \
  F(LAPACK_sorgqr) F(LAPACK_dorgqr) F(LAPACK_cungqr) F(LAPACK_zungqr)                                           \
  F(LAPACK_ssyevd_base) F(LAPACK_dsyevd_base) F(LAPACK_cheevd_base) F(LAPACK_zheevd_base)
// clang-format on
SINTER_FUNCTION_TABLE(lapack_api, SINTER_LAPACK_FUNCTIONS);

/// Opens it if need be; throws device_error, in the name of a public function, where it cannot be used.
const lapack_api& lapack(const char* function);

/// The functions of an element type. `real` is the type of its parts.
template <class T>
struct lapack_of;
#define SINTER_LAPACK_OF(T, R, P, ORTHOGONAL, HERMITIAN)                      \
  template <>                                                                \
  struct lapack_of<T> {                                                      \
    using real = R;                                                          \
    static constexpr auto getrf = &lapack_api::LAPACK_##P##getrf;            \
    static constexpr auto getrs = &lapack_api::LAPACK_##P##getrs_base;       \
    static constexpr auto potrf = &lapack_api::LAPACK_##P##potrf_base;       \
    static constexpr auto geqrf = &lapack_api::LAPACK_##P##geqrf;            \
    static constexpr auto orgqr = &lapack_api::LAPACK_##P##ORTHOGONAL##gqr;  \
    static constexpr auto gesdd = &lapack_api::LAPACK_##P##gesdd_base;       \
    static constexpr auto syevd = &lapack_api::LAPACK_##P##HERMITIAN##evd_base; \
    static constexpr auto geev = &lapack_api::LAPACK_##P##geev_base;         \
    static constexpr auto trsm = &lapack_api::cblas_##P##trsm;               \
  };
SINTER_LAPACK_OF(float, float, s, or, sy)
SINTER_LAPACK_OF(double, double, d, or, sy)
SINTER_LAPACK_OF(std::complex<float>, float, c, un, he)
SINTER_LAPACK_OF(std::complex<double>, double, z, un, he)
#undef SINTER_LAPACK_OF

}  // namespace sinter::cpu
#endif
