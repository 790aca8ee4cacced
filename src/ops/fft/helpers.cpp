// Helpers of transforms: frequencies, shifts, fast lengths, convolution.
#include <algorithm>
#include <cstdint>
#include <span>

#include "ops/base/axes.hpp"
#include "ops/fft/fourier_calls.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/fft.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::inline v0::fft {

using namespace ops;

namespace {

void check_frequencies(std::int64_t n, const freq_kw& kw, const char* function) {
  if (n < 1) fail<value_error>(function, "n (", n, ") must be positive");
  if (kw.dtype && !is_real_floating(*kw.dtype))
    fail<dtype_error>(function, "gives floating-point numbers, not ", *kw.dtype);
}

// As NumPy: integers times the reciprocal of n d.
ndarray frequencies(const ndarray& k, std::int64_t n, const freq_kw& kw) {
  return (k * (1.0 / (static_cast<double>(n) * kw.d))).astype(kw.dtype.value_or(float64), false);
}

ndarray shifted(const ndarray& x, const sinter::axes& wanted, bool back, const char* function) {
  const dims shape = value_of(x, function)->shape;
  std::vector<std::int64_t> list(wanted.begin(), wanted.end());
  if (!wanted.given())
    for (int a = 0; a < shape.size(); ++a) list.push_back(a);
  std::vector<std::int64_t> shifts;
  for (const std::int64_t a : list) {
    const std::int64_t half = shape[normalize_axis(a, shape, function)] / 2;
    shifts.push_back(back ? -half : half);
  }
  return list.empty() ? x : roll(x, shifts, sinter::axes(list));
}

}  // namespace

ndarray fftfreq(std::int64_t n, const freq_kw& kw) {
  check_frequencies(n, kw, "fftfreq");
  const ndarray k = arange(n, {.device = kw.device});
  return frequencies(where(k < (n + 1) / 2, k, k - n), n, kw);
}

ndarray rfftfreq(std::int64_t n, const freq_kw& kw) {
  check_frequencies(n, kw, "rfftfreq");
  return frequencies(arange(n / 2 + 1, {.device = kw.device}), n, kw);
}

ndarray fftshift(const ndarray& x, const sinter::axes& axes) { return shifted(x, axes, false, "fftshift"); }
ndarray ifftshift(const ndarray& x, const sinter::axes& axes) { return shifted(x, axes, true, "ifftshift"); }

namespace {

/// Updates `best` with the least product of `product` and powers of the primes that reaches the target, if it is
/// smaller.
void find_smooth(std::uint64_t product, std::span<const std::uint64_t> primes, std::uint64_t target,
                 std::uint64_t& best) {
  for (;; product *= primes[0]) {
    if (primes.size() > 1) find_smooth(product, primes.subspan(1), target, best);
    if (product >= target) best = std::min(best, product);
    if (product >= target || product > best / primes[0]) return;
  }
}

}  // namespace

std::int64_t next_fast_len(std::int64_t target, bool real) {
  if (target < 0) fail<value_error>("next_fast_len", "the target (", target, ") must not be negative");
  if (target == 0) return 0;
  constexpr std::uint64_t primes[] = {11, 7, 5, 3, 2};
  std::uint64_t best = std::uint64_t{1} << 63;
  find_smooth(1, std::span(primes).subspan(real ? 2 : 0), static_cast<std::uint64_t>(target), best);
  if (best >> 63) fail<value_error>("next_fast_len", "no fast length of 63 bits reaches ", target);
  return static_cast<std::int64_t>(best);
}

namespace {

constexpr const char* convolving = "fftconvolve";

struct convolution {
  std::vector<int> axes;
  dims first, second, full;  // over all axes; in `full` the broadcast extent of axes that are not convolved
};

convolution plan_of(const ndarray& x, const ndarray& y, const sinter::axes& wanted) {
  convolution c;
  c.first = value_of(x, convolving)->shape;
  c.second = value_of(y, convolving)->shape;
  if (c.first.size() != c.second.size())
    fail<shape_error>("fftconvolve", "arrays of shapes ", c.first, " and ", c.second, " have different ranks");
  std::vector<bool> convolved(static_cast<std::size_t>(c.first.size()), !wanted.given());
  for (const int a : distinct_axes(wanted, c.first, convolving)) convolved[static_cast<std::size_t>(a)] = true;
  for (int a = 0; a < c.first.size(); ++a) {
    const std::int64_t n = c.first[a], m = c.second[a];
    // As SciPy: along an axis of extent 1 the product of the transforms broadcasts, which is the convolution.
    if (convolved[static_cast<std::size_t>(a)]) {
      c.axes.push_back(a);
      c.full.push_back(n + m - 1);
    } else if (n != m && n != 1 && m != 1) {
      fail<shape_error>("fftconvolve", "shapes ", c.first, " and ", c.second, " do not broadcast along axis ", a);
    } else {
      c.full.push_back(std::max(n, m));
    }
  }
  return c;
}

ndarray full_convolution(const ndarray& x, const ndarray& y, const convolution& c) {
  if (c.axes.empty()) return x * y;
  const bool real = !is_complex(x.dtype()) && !is_complex(y.dtype());
  std::vector<std::int64_t> points;
  for (const int a : c.axes) points.push_back(next_fast_len(c.full[a], real));
  const fftn_kw kw{.s = shape_t(points), .axes = sinter::axes(c.axes)};
  const ndarray product = real ? rfftn(x, kw) * rfftn(y, kw) : fftn(x, kw) * fftn(y, kw);
  ndarray all = real ? irfftn(product, kw) : ifftn(product, kw);
  for (const int a : c.axes) all = slice_of(all, a, 0, c.full[a]);
  return all;
}

/// The central part of the convolved axes.
ndarray centered(ndarray x, const convolution& c, const dims& wanted) {
  for (const int a : c.axes) {
    const std::int64_t first = (c.full[a] - wanted[a]) / 2;
    x = slice_of(x, a, first, first + wanted[a]);
  }
  return x;
}

/// Casts to the float dtype, real or complex, of the precision of the transform.
ndarray as_float(const ndarray& x, dtype real) {
  return x.astype(is_complex(x.dtype()) ? complex_of(real) : real, false);
}

}  // namespace

ndarray fftconvolve(const ndarray& x, const ndarray& y, std::string_view mode, const sinter::axes& axes) {
  if (mode != "full" && mode != "same" && mode != "valid")
    fail<value_error>("fftconvolve", "mode must be full, same or valid, not '", mode, "'");
  const convolution c = plan_of(x, y, axes);
  dims valid = c.full;
  bool first_holds = true, second_holds = true;
  for (const int a : c.axes) {
    first_holds = first_holds && c.first[a] >= c.second[a];
    second_holds = second_holds && c.second[a] >= c.first[a];
    valid[a] = std::abs(c.first[a] - c.second[a]) + 1;
  }
  if (mode == "valid" && !first_holds && !second_holds)
    fail<value_error>("fftconvolve", "of shapes ", c.first, " and ", c.second,
                      " neither holds the other, as mode valid needs");
  const dtype real = fourier_real(x.dtype()) == float32 && fourier_real(y.dtype()) == float32 ? float32 : float64;
  const bool complex = is_complex(x.dtype()) || is_complex(y.dtype());
  if (x.size() == 0 || y.size() == 0) return zeros({0}, {.dtype = complex ? complex_of(real) : real});
  const ndarray all = full_convolution(as_float(x, real), as_float(y, real), c);
  if (mode == "full") return all;
  return centered(all, c, mode == "same" ? c.first : valid);
}

}  // namespace sinter::inline v0::fft
