// Discrete Fourier transforms with the names and rules of NumPy, cosine and sine transforms with those of SciPy.
//
// A transform evaluates its argument at the call and enqueues the library's work; it does not wait. Its scale is
// recorded, so that it fuses with what is done to the result. Along other axes than the last ones the elements may be
// transposed on the way in, and what reads the result, or scales it, transposes them back. cuFFT does the work on a GPU, FFTW on the CPU;
// both are opened on first use, and where one is missing device_error says what to install.
//
// dtypes: float16, bfloat16 and float32 are transformed in float32, all other real and integer dtypes in float64;
// complex numbers keep their precision. norm is "backward" (the inverse divides by the number of points), "ortho" (both
// divide by its square root) or "forward" (the forward transform divides). value_error: another norm, a number of
// points below 1. shape_error: more points than an array can have. index_error: an axis out of range, which any axis is
// for rank 0.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {
namespace fft {

/// Keywords of transforms along one axis. `n` points: the axis is cut, or filled with zeros at its end.
struct fft_kw {
  kwonly _kw{};
  std::optional<std::int64_t> n{};
  std::int64_t axis = -1;
  std::string_view norm = "backward";
  std::optional<ndarray> out{};  // takes the result, of its shape; cast as same_kind
};
/// Keywords of transforms along several axes: all by default, or the last ones where only `s` is given. `s` has the
/// number of points along each (-1: what the axis has). An axis that is named twice is transformed twice.
struct fftn_kw {
  kwonly _kw{};
  std::optional<shape_t> s{};
  sinter::axes axes{};
  std::string_view norm = "backward";
  std::optional<ndarray> out{};  // takes the result, of its shape; cast as same_kind
};
/// The same along two axes, by default the last ones.
struct fft2_kw {
  kwonly _kw{};
  std::optional<shape_t> s{};
  sinter::axes axes = sinter::axes{-2, -1};
  std::string_view norm = "backward";
  std::optional<ndarray> out{};  // takes the result, of its shape; cast as same_kind
};

/// sum_j x_j exp(-2 pi i j k / n), complex.
ndarray fft(const ndarray& x, const fft_kw& kw = {});
/// The inverse: the sign of the exponent is +.
ndarray ifft(const ndarray& x, const fft_kw& kw = {});
/// Of real numbers (dtype_error: complex ones): the n / 2 + 1 frequencies that are not negative.
ndarray rfft(const ndarray& x, const fft_kw& kw = {});
/// The inverse of rfft: n real numbers (an even number, 2 (m - 1), unless given) from n / 2 + 1 complex ones.
ndarray irfft(const ndarray& x, const fft_kw& kw = {});
/// fft of a signal that is Hermitian in time, of which x is the half: n real numbers (2 (m - 1) unless given).
ndarray hfft(const ndarray& x, const fft_kw& kw = {});
/// Its inverse: n / 2 + 1 complex numbers from real ones.
ndarray ihfft(const ndarray& x, const fft_kw& kw = {});

ndarray fft2(const ndarray& x, const fft2_kw& kw = {});
ndarray ifft2(const ndarray& x, const fft2_kw& kw = {});
ndarray rfft2(const ndarray& x, const fft2_kw& kw = {});
ndarray irfft2(const ndarray& x, const fft2_kw& kw = {});
ndarray fftn(const ndarray& x, const fftn_kw& kw = {});
ndarray ifftn(const ndarray& x, const fftn_kw& kw = {});
/// rfft along the last of the axes, fft along the others.
ndarray rfftn(const ndarray& x, const fftn_kw& kw = {});
ndarray irfftn(const ndarray& x, const fftn_kw& kw = {});

/// Keywords of frequencies; float64 unless a dtype is given.
struct freq_kw {
  kwonly _kw{};
  double d = 1.0;  // the distance of samples
  std::optional<sinter::dtype> dtype{};
  std::optional<sinter::device> device{};
};
/// Frequencies of fft's n results: 0, 1, ..., -2, -1 over n d.
ndarray fftfreq(std::int64_t n, const freq_kw& kw = {});
inline ndarray fftfreq(std::int64_t n, double d) { return fftfreq(n, {.d = d}); }
/// Frequencies of rfft's n / 2 + 1 results.
ndarray rfftfreq(std::int64_t n, const freq_kw& kw = {});
inline ndarray rfftfreq(std::int64_t n, double d) { return rfftfreq(n, {.d = d}); }
/// The halves of the axes (all by default) exchanged, so that frequency 0 comes to the middle; and back.
ndarray fftshift(const ndarray& x, const sinter::axes& axes = {});
ndarray ifftshift(const ndarray& x, const sinter::axes& axes = {});
/// The smallest length, `target` at the least, that transforms are fast for: SciPy's rule, of factors up to 11, for
/// real transforms up to 5. value_error: a negative target, or one that no such length of 63 bits reaches.
std::int64_t next_fast_len(std::int64_t target, bool real = false);

/// Keywords of cosine and sine transforms: type 1 to 4, as SciPy numbers them. Where `orthogonalize` (by default with
/// norm "ortho") the terms at the ends are weighted so that the transform's matrix is orthogonal.
struct dct_kw {
  kwonly _kw{};
  std::int64_t type = 2;
  std::optional<std::int64_t> n{};
  std::int64_t axis = -1;
  std::string_view norm = "backward";
  std::optional<bool> orthogonalize{};
};
struct dctn_kw {
  kwonly _kw{};
  std::int64_t type = 2;
  std::optional<shape_t> s{};
  sinter::axes axes{};
  std::string_view norm = "backward";
  std::optional<bool> orthogonalize{};
};
/// Of real numbers, or of the two parts of complex ones. value_error: another type, less than two points of type 1.
ndarray dct(const ndarray& x, const dct_kw& kw = {});
ndarray idct(const ndarray& x, const dct_kw& kw = {});
ndarray dst(const ndarray& x, const dct_kw& kw = {});
ndarray idst(const ndarray& x, const dct_kw& kw = {});
ndarray dctn(const ndarray& x, const dctn_kw& kw = {});
ndarray idctn(const ndarray& x, const dctn_kw& kw = {});
ndarray dstn(const ndarray& x, const dctn_kw& kw = {});
ndarray idstn(const ndarray& x, const dctn_kw& kw = {});

/// The convolution of two arrays of equal rank, by transforms along `axes` (all by default); other axes broadcast.
/// "full": n + m - 1 elements; "same": the middle n of them; "valid": those that need no zeros around the arrays
/// (value_error unless one array is at least as long along each axis). shape_error: ranks or shapes do not fit.
ndarray fftconvolve(const ndarray& x, const ndarray& y, std::string_view mode = "full", const sinter::axes& axes = {});

/// Plans that a device keeps, the least recently used ones going first. Their work areas are the pool's.
struct plan_cache_info {
  std::size_t plans = 0, limit = 0;
};
plan_cache_info plan_cache();
plan_cache_info plan_cache(const device& d);
/// Lets a device's plans go.
void clear_plan_cache();
void clear_plan_cache(const device& d);

}  // namespace fft
}  // namespace sinter::inline v0
