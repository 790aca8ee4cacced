// The library's own declarations of OpenBLAS, FFTW and libzip against those of their headers, where this machine has
// them. Nothing is called: the comparison is the compiler's.
#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <type_traits>

#include "backends/cpu/fft/fftw_functions.hpp"
#include "backends/cpu/linalg/lapack_library.hpp"
#include "backends/cpu/linalg/openblas_library.hpp"
#include "io/zip_library.hpp"

#if __has_include(<openblas-pthread/cblas.h>)
#include <openblas-pthread/cblas.h>
#define HAS_OPENBLAS 1
#elif __has_include(<openblas-openmp/cblas.h>)
#include <openblas-openmp/cblas.h>
#define HAS_OPENBLAS 1
#endif
#if __has_include(<lapack.h>)
#include <complex>
#define LAPACK_COMPLEX_CUSTOM
#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapack.h>
#define HAS_LAPACK 1
#endif
#if __has_include(<fftw3.h>)
#include <fftw3.h>
#define HAS_FFTW 1
#endif
#if __has_include(<zip.h>)
#include <zip.h>
#define HAS_ZIP 1
#endif

namespace {

/// Whether a caller that believes in the first type and a function of the second one understand each other: the same
/// numbers, enumerations as integers of their size, structs of one size, pointers to what agrees. A struct that only
/// one of them holds agrees with any.
template <class T>
constexpr bool is_complete = requires {
  sizeof(T);
};
template <class Ours, class Theirs>
struct agreement {
  static constexpr bool value() {
    if constexpr (std::is_same_v<Ours, Theirs>) return true;
    else if constexpr (std::is_enum_v<Ours> || std::is_enum_v<Theirs>)
      return (std::is_enum_v<Ours> || std::is_integral_v<Ours>)&&(
                 std::is_enum_v<Theirs> || std::is_integral_v<Theirs>)&&sizeof(Ours) == sizeof(Theirs);
    else if constexpr (std::is_integral_v<Ours> && std::is_integral_v<Theirs>)
      return sizeof(Ours) == sizeof(Theirs) && std::is_signed_v<Ours> == std::is_signed_v<Theirs>;
    else if constexpr (std::is_class_v<Ours> && std::is_class_v<Theirs>) {
      if constexpr (is_complete<Ours> && is_complete<Theirs>)
        return sizeof(Ours) == sizeof(Theirs) && alignof(Ours) == alignof(Theirs);
      else return true;
    } else return false;
  }
};
template <class Ours, class Theirs>
struct agreement<Ours*, Theirs*> {
  static constexpr bool value() {
    return std::is_const_v<Ours> == std::is_const_v<Theirs> &&
           agreement<std::remove_const_t<Ours>, std::remove_const_t<Theirs>>::value();
  }
};
template <class R, class... A, class S, class... B>
struct agreement<R(A...), S(B...)> {
  static constexpr bool value() {
    if constexpr (sizeof...(A) == sizeof...(B)) return (agreement<R, S>::value() && ... && agreement<A, B>::value());
    else return false;
  }
};
template <class Ours, class Theirs>
constexpr bool agrees = agreement<Ours, Theirs>::value();

// What the comparison refuses.
struct small {
  int a;
};
struct large {
  int a, b;
};
struct unknown;
static_assert(agrees<void(int, small*), void(int, unknown*)>);
static_assert(!agrees<void(int), void(int, int)>);
static_assert(!agrees<void(int), void(long)>);
static_assert(!agrees<void(int), void(unsigned)>);
static_assert(!agrees<void(int*), void(int)>);
static_assert(!agrees<void(const int*), void(int*)>);
static_assert(!agrees<void(float*), void(double*)>);
static_assert(!agrees<void(small*), void(large*)>);
static_assert(!agrees<int(), void()>);
static_assert(!agrees<void(void (*)(int)), void(void (*)(long))>);

#define FUNCTION(name) static_assert(agrees<name##_type, decltype(name)>, #name);

#ifdef HAS_OPENBLAS
namespace openblas {
using namespace sinter::cpu;
SINTER_OPENBLAS_FUNCTIONS(FUNCTION)
FUNCTION(cblas_strsm)
FUNCTION(cblas_dtrsm) FUNCTION(cblas_ctrsm) FUNCTION(cblas_ztrsm) static_assert(agrees<blas_int, blasint>);
static_assert(int(blas_order::by_rows) == CblasRowMajor && int(blas_order::by_columns) == CblasColMajor);
static_assert(int(blas_form::plain) == CblasNoTrans && int(blas_form::transposed) == CblasTrans &&
              int(blas_form::conjugated) == CblasConjTrans);
static_assert(int(blas_triangle::upper) == CblasUpper && int(blas_triangle::lower) == CblasLower);
static_assert(int(blas_diagonal::stored) == CblasNonUnit && int(blas_diagonal::unit) == CblasUnit);
static_assert(int(blas_side::left) == CblasLeft && int(blas_side::right) == CblasRight);
}  // namespace openblas
#endif

#ifdef HAS_LAPACK
namespace lapack {
using namespace sinter::cpu;
#undef SINTER_LAPACK_OF_ALL
#define SINTER_LAPACK_OF_ALL(F, P) F(P##getrf_) F(P##getrs_) F(P##potrf_) F(P##geqrf_) F(P##gesdd_) F(P##geev_)
SINTER_LAPACK_FUNCTIONS(FUNCTION)
static_assert(agrees<blas_int, lapack_int>);
}  // namespace lapack
#endif

#ifdef HAS_FFTW
namespace fftw {
using namespace sinter::cpu;
// clang-format off
#define EACH(F, X)                                                                                           \
  F(X##plan_guru64_dft)                                                                                      \
  F(X##plan_guru64_dft_r2c)                                                                                  \
  F(X##plan_guru64_dft_c2r) F(X##execute_dft) F(X##execute_dft_r2c) F(X##execute_dft_c2r) F(X##destroy_plan) \
      F(X##init_threads) F(X##plan_with_nthreads) F(X##threads_set_callback)
// clang-format on
EACH(FUNCTION, fftw_)
EACH(FUNCTION, fftwf_)
static_assert(sizeof(fftw_axis) == sizeof(fftw_iodim64) && offsetof(fftw_axis, length) == offsetof(fftw_iodim64, n) &&
              offsetof(fftw_axis, in_stride) == offsetof(fftw_iodim64, is) &&
              offsetof(fftw_axis, out_stride) == offsetof(fftw_iodim64, os));
static_assert(fftw_estimate == FFTW_ESTIMATE && fftw_forward == FFTW_FORWARD && fftw_backward == FFTW_BACKWARD);
}  // namespace fftw
#endif

#ifdef HAS_ZIP
namespace archives {
using namespace sinter::io;
namespace zip = sinter::io::zip;
SINTER_ZIP_FUNCTIONS(FUNCTION)
#define MEMBER(ours, a, theirs, b) \
  static_assert(offsetof(ours, a) == offsetof(theirs, b) && agrees<decltype(ours::a), decltype(theirs::b)>, #b);
MEMBER(zip_failure, code, zip_error_t, zip_err)
MEMBER(zip_failure, system_code, zip_error_t, sys_err)
MEMBER(zip_failure, text, zip_error_t, str)
MEMBER(zip_about, valid, zip_stat_t, valid)
MEMBER(zip_about, name, zip_stat_t, name)
MEMBER(zip_about, index, zip_stat_t, index)
MEMBER(zip_about, size, zip_stat_t, size)
MEMBER(zip_about, compressed_size, zip_stat_t, comp_size)
MEMBER(zip_about, time, zip_stat_t, mtime)
MEMBER(zip_about, checksum, zip_stat_t, crc)
MEMBER(zip_about, compression, zip_stat_t, comp_method)
MEMBER(zip_about, encryption, zip_stat_t, encryption_method)
MEMBER(zip_about, flags, zip_stat_t, flags)
MEMBER(zip_fragment, data, zip_buffer_fragment_t, data)
MEMBER(zip_fragment, length, zip_buffer_fragment_t, length)
static_assert(zip::create == ZIP_CREATE && zip::truncate == ZIP_TRUNCATE && zip::read_only == ZIP_RDONLY);
static_assert(zip::name_is_utf8 == ZIP_FL_ENC_UTF_8 && zip::stored == ZIP_CM_STORE && zip::deflated == ZIP_CM_DEFLATE &&
              zip::unencrypted == ZIP_EM_NONE);
static_assert(zip::has_size == ZIP_STAT_SIZE && zip::has_compressed_size == ZIP_STAT_COMP_SIZE &&
              zip::has_compression == ZIP_STAT_COMP_METHOD && zip::has_encryption == ZIP_STAT_ENCRYPTION_METHOD);
}  // namespace archives
#endif

}  // namespace

TEST_CASE("declarations of the distribution's libraries agree with their headers") {
#if !defined(HAS_OPENBLAS) || !defined(HAS_LAPACK) || !defined(HAS_FFTW) || !defined(HAS_ZIP)
  MESSAGE(
      "not compared for want of headers:"
#ifndef HAS_OPENBLAS
      " cblas.h of OpenBLAS"
#endif
#ifndef HAS_LAPACK
      " lapack.h"
#endif
#ifndef HAS_FFTW
      " fftw3.h"
#endif
#ifndef HAS_ZIP
      " zip.h"
#endif
  );
#endif
}

TEST_CASE("no source of the library includes a header of a library that is opened when it is needed") {
  int sources = 0;
  for (const char* folder : {"/include", "/jit", "/src"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(SINTER_SOURCE_DIR + std::string(folder))) {
      if (!entry.is_regular_file()) continue;
      ++sources;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);)
        for (const char* header : {"cblas.h", "lapack.h", "lapacke.h", "openblas_config.h", "fftw3.h", "zip.h"}) {
          if (line.find("include") == std::string::npos || line.find(std::string("<") + header) == std::string::npos)
            continue;
          CAPTURE(entry.path().string());
          CHECK_MESSAGE(false, line);
        }
    }
  CHECK(sources > 300);
}
