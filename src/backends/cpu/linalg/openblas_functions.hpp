// The functions of OpenBLAS that the library calls, as distributions build it: integers of 32 bits, Fortran's names
// followed by an underscore, and the length of each text after all other arguments. They are declared here, so
// that a build needs no header of OpenBLAS's; where there is one, openblas_functions_test.cpp compares. NAME_type is
// the type of NAME.
#pragma once
#include <complex>
#include <cstddef>

namespace sinter::cpu {

using blas_int = int;

enum class blas_order : unsigned { by_rows = 101, by_columns = 102 };
enum class blas_form : unsigned { plain = 111, transposed = 112, conjugated = 113 };  // conjugated: and transposed
enum class blas_triangle : unsigned { upper = 121, lower = 122 };
enum class blas_diagonal : unsigned { stored = 131, unit = 132 };
enum class blas_side : unsigned { left = 141, right = 142 };

/// `Factor` is how alpha and beta are passed; matrices of complex elements are void.
template <class Factor, class Element>
using gemm_type = void(blas_order, blas_form, blas_form, blas_int rows, blas_int columns, blas_int inner, Factor alpha,
                       const Element* a, blas_int lda, const Element* b, blas_int ldb, Factor beta, Element* c,
                       blas_int ldc);
using cblas_sgemm_type = gemm_type<float, float>;
using cblas_dgemm_type = gemm_type<double, double>;
using cblas_cgemm_type = gemm_type<const void*, void>;
using cblas_zgemm_type = gemm_type<const void*, void>;

/// One triangle of a a^T, or of a^T a where `form` is transposed.
template <class T>
using syrk_type = void(blas_order, blas_triangle, blas_form, blas_int order, blas_int inner, T alpha, const T* a,
                       blas_int lda, T beta, T* c, blas_int ldc);
using cblas_ssyrk_type = syrk_type<float>;
using cblas_dsyrk_type = syrk_type<double>;

template <class Factor, class Element>
using gemv_type = void(blas_order, blas_form, blas_int rows, blas_int columns, Factor alpha, const Element* a,
                       blas_int lda, const Element* x, blas_int step_x, Factor beta, Element* y, blas_int step_y);
using cblas_sgemv_type = gemv_type<float, float>;
using cblas_dgemv_type = gemv_type<double, double>;
using cblas_cgemv_type = gemv_type<const void*, void>;
using cblas_zgemv_type = gemv_type<const void*, void>;

template <class Factor, class Element>
using trsm_type = void(blas_order, blas_side, blas_triangle, blas_form, blas_diagonal, blas_int rows, blas_int columns,
                       Factor alpha, const Element* a, blas_int lda, Element* b, blas_int ldb);
using cblas_strsm_type = trsm_type<float, float>;
using cblas_dtrsm_type = trsm_type<double, double>;
using cblas_ctrsm_type = trsm_type<const void*, void>;
using cblas_ztrsm_type = trsm_type<const void*, void>;

// LAPACK, by its Fortran names.

using text_length = std::size_t;

template <class T>
using getrf_type = void(const blas_int* rows, const blas_int* columns, T* a, const blas_int* lda, blas_int* pivots,
                        blas_int* info);
template <class T>
using getrs_type = void(const char* form, const blas_int* order, const blas_int* columns, const T* a,
                        const blas_int* lda, const blas_int* pivots, T* b, const blas_int* ldb, blas_int* info,
                        text_length);
template <class T>
using potrf_type = void(const char* triangle, const blas_int* order, T* a, const blas_int* lda, blas_int* info,
                        text_length);
template <class T>
using geqrf_type = void(const blas_int* rows, const blas_int* columns, T* a, const blas_int* lda, T* tau, T* work,
                        const blas_int* size, blas_int* info);
template <class T>
using orgqr_type = void(const blas_int* rows, const blas_int* columns, const blas_int* reflectors, T* a,
                        const blas_int* lda, const T* tau, T* work, const blas_int* size, blas_int* info);

template <class T>
struct spectral_types {
  using gesdd = void(const char* job, const blas_int* rows, const blas_int* columns, T* a, const blas_int* lda, T* s,
                     T* u, const blas_int* ldu, T* vt, const blas_int* ldvt, T* work, const blas_int* size,
                     blas_int* integers, blas_int* info, text_length);
  using syevd = void(const char* job, const char* triangle, const blas_int* order, T* a, const blas_int* lda, T* w,
                     T* work, const blas_int* size, blas_int* integers, const blas_int* integers_size, blas_int* info,
                     text_length, text_length);
  using geev = void(const char* left, const char* right, const blas_int* order, T* a, const blas_int* lda, T* real,
                    T* imaginary, T* vl, const blas_int* ldvl, T* vr, const blas_int* ldvr, T* work,
                    const blas_int* size, blas_int* info, text_length, text_length);
};
template <class R>
struct spectral_types<std::complex<R>> {
  using T = std::complex<R>;
  using gesdd = void(const char* job, const blas_int* rows, const blas_int* columns, T* a, const blas_int* lda, R* s,
                     T* u, const blas_int* ldu, T* vt, const blas_int* ldvt, T* work, const blas_int* size, R* reals,
                     blas_int* integers, blas_int* info, text_length);
  using syevd = void(const char* job, const char* triangle, const blas_int* order, T* a, const blas_int* lda, R* w,
                     T* work, const blas_int* size, R* reals, const blas_int* reals_size, blas_int* integers,
                     const blas_int* integers_size, blas_int* info, text_length, text_length);
  using geev = void(const char* left, const char* right, const blas_int* order, T* a, const blas_int* lda, T* w, T* vl,
                    const blas_int* ldvl, T* vr, const blas_int* ldvr, T* work, const blas_int* size, R* reals,
                    blas_int* info, text_length, text_length);
};

#define SINTER_LAPACK_TYPES(P, T, ORTHOGONAL, HERMITIAN)    \
  using P##getrf__type = getrf_type<T>;                     \
  using P##getrs__type = getrs_type<T>;                     \
  using P##potrf__type = potrf_type<T>;                     \
  using P##geqrf__type = geqrf_type<T>;                     \
  using P##ORTHOGONAL##gqr__type = orgqr_type<T>;           \
  using P##gesdd__type = spectral_types<T>::gesdd;          \
  using P##HERMITIAN##evd__type = spectral_types<T>::syevd; \
  using P##geev__type = spectral_types<T>::geev;
SINTER_LAPACK_TYPES(s, float, or, sy)
SINTER_LAPACK_TYPES(d, double, or, sy)
SINTER_LAPACK_TYPES(c, std::complex<float>, un, he)
SINTER_LAPACK_TYPES(z, std::complex<double>, un, he)
#undef SINTER_LAPACK_TYPES

}  // namespace sinter::cpu
