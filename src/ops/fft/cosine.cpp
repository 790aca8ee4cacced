// Cosine and sine transforms on top of Fourier transforms, with the numbering and norms of SciPy.
//
// Each function here works along the last axis and gives the unnormalised transform of SciPy's definition:
//   dct 1: x_0 + (-1)^k x_(n-1) + 2 sum_(0<j<n-1) x_j cos(pi j k / (n-1))
//   dct 2: 2 sum_j x_j cos(pi k (2 j + 1) / (2 n))        dct 3: x_0 + 2 sum_(j>0) x_j cos(pi j (2 k + 1) / (2 n))
//   dct 4: 2 sum_j x_j cos(pi (2 k + 1) (2 j + 1) / (4 n))
// and the same with sines. Types 2 and 3 take one transform of n points (Makhoul, "A fast cosine transform in one and
// two dimensions", 1980); type 1 takes one of the evenly or oddly extended signal; type 4 one of 2 n points.
#include <cmath>

#include "ops/base/axes.hpp"
#include "ops/fft/fourier_calls.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/fft.hpp"
#include "sinter/literals.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/take.hpp"

namespace sinter::inline v0::fft {

using namespace ops;

namespace {

constexpr double pi = 3.14159265358979323846;

std::int64_t length(const ndarray& x) { return x.shape(-1); }
/// 0, 1, ..., n - 1 in float64 on x's device.
ndarray count(std::int64_t n, const ndarray& x) { return arange(n, {.dtype = float64, .device = x.device()}); }
ndarray cosines(const ndarray& angle, dtype t) { return cos(angle).astype(t); }
ndarray sines(const ndarray& angle, dtype t) { return sin(angle).astype(t); }
/// 1, -1, 1, ...
ndarray alternating(const ndarray& x) { return (1.0 - 2.0 * remainder(count(length(x), x), 2.0)).astype(x.dtype()); }
ndarray reversed(const ndarray& x) { return flip(x, -1); }
ndarray part(const ndarray& x, std::int64_t first, std::int64_t last) { return slice_of(x, x.ndim() - 1, first, last); }
ndarray every_other(const ndarray& x, std::int64_t first) { return x(idx::ellipsis, slice(first, idx::_, 2)); }
ndarray complex_number(const ndarray& re, const ndarray& im) {
  const dtype t = complex_of(re.dtype());
  return re.astype(t) + im.astype(t) * std::complex<double>(0, 1);
}

ndarray dct_1(const ndarray& x) {
  const std::int64_t n = length(x);
  return real(rfft(concatenate({x, reversed(part(x, 1, n - 1))}, -1)));
}

ndarray dct_2(const ndarray& x) {
  const std::int64_t n = length(x);
  // Input order x_0, x_2, ..., x_3, x_1; frequencies above n / 2 are the conjugates of those below.
  const ndarray f = rfft(concatenate({every_other(x, 0), reversed(every_other(x, 1))}, -1));
  const ndarray k = count(n, x), angle = k * (pi / (2.0 * static_cast<double>(n)));
  const ndarray above = k > static_cast<double>(n / 2);
  const ndarray from = where(above, static_cast<double>(n) - k, k).astype(int64);
  const ndarray sign = where(above, -2.0, 2.0);
  const dtype t = x.dtype();
  return take(real(f), from, -1) * (2.0 * cos(angle)).astype(t) +
         take(imag(f), from, -1) * (sign * sin(angle)).astype(t);
}

ndarray dct_3(const ndarray& x) {
  const std::int64_t n = length(x), half = n / 2 + 1;
  const ndarray k = count(half, x), angle = k * (pi / (2.0 * static_cast<double>(n)));
  // (x_k - i x_(n-k)) exp(i angle), with x_n = 0.
  const ndarray index = where(k == 0.0, 0.0, static_cast<double>(n) - k).astype(int64);
  const ndarray a = part(x, 0, half), b = take(x, index, -1) * (k > 0.0).astype(x.dtype());
  const ndarray c = cosines(angle, x.dtype()), s = sines(angle, x.dtype());
  const ndarray v = irfft(complex_number(a * c + b * s, a * s - b * c), {.n = n, .norm = "forward"});
  // Restores the order from x_0, x_2, ..., x_3, x_1.
  const ndarray j = count(n, x), odd = remainder(j, 2.0) == 1.0;
  const ndarray from = where(odd, static_cast<double>(n - 1) - floor(j / 2.0), floor(j / 2.0));
  return take(v, from.astype(int64), -1);
}

ndarray dct_4(const ndarray& x) {
  const std::int64_t n = length(x);
  const ndarray k = count(n, x);
  const double step = pi / (2.0 * static_cast<double>(n));
  const dtype t = x.dtype();
  const ndarray turned = complex_number(x * cosines(k * step, t), x * (-sin(k * step)).astype(t));
  const ndarray f = part(fft(turned, {.n = 2 * n}), 0, n);
  const ndarray angle = (k + 0.5) * step;
  return real(f) * (2.0 * cos(angle)).astype(t) + imag(f) * (2.0 * sin(angle)).astype(t);
}

ndarray dst_1(const ndarray& x) {
  const std::int64_t n = length(x);
  const ndarray zero = part(x, 0, 1) * 0;
  const ndarray odd = concatenate({zero, x, zero, -reversed(x)}, -1);
  return -part(imag(rfft(odd)), 1, n + 1);
}
ndarray dst_2(const ndarray& x) { return reversed(dct_2(x * alternating(x))); }
ndarray dst_3(const ndarray& x) { return dct_3(reversed(x)) * alternating(x); }
ndarray dst_4(const ndarray& x) { return dct_4(reversed(x)) * alternating(x); }

/// One transform along one axis.
struct trigonometric {
  const char* function;
  bool sine;
  bool inverse;
};

/// x with the element at one end (for sines the last) times a factor; both ends for a cosine transform of type 1.
ndarray weighted(const ndarray& x, bool at_first, bool at_last, double factor) {
  const ndarray k = count(length(x), x);
  ndarray ends = at_first ? k == 0.0 : k < 0.0;
  if (at_last) ends = ends | (k == static_cast<double>(length(x) - 1));
  return x * where(ends, factor, 1.0).astype(x.dtype());
}

ndarray real_transform(const trigonometric& f, int type, const ndarray& x, double scale, bool orthogonal) {
  const double root = std::sqrt(2.0);
  // In an orthogonal matrix the terms whose function has twice the mean square have another weight.
  const bool first = (type == 1 && !f.sine) || !f.sine, last = f.sine || (type == 1 && !f.sine);
  const bool before = orthogonal && ((type == 1 && !f.sine) || type == 3);
  const bool after = orthogonal && ((type == 1 && !f.sine) || type == 2);
  ndarray y = before ? weighted(x, first, last, root) : x;
  if (f.sine) y = type == 1 ? dst_1(y) : type == 2 ? dst_2(y) : type == 3 ? dst_3(y) : dst_4(y);
  else y = type == 1 ? dct_1(y) : type == 2 ? dct_2(y) : type == 3 ? dct_3(y) : dct_4(y);
  if (after) y = weighted(y, first, last, 1 / root);
  return scale == 1 ? y : y * scale;
}

ndarray transform(const trigonometric& f, const ndarray& x, const dct_kw& kw) {
  if (kw.type < 1 || kw.type > 4) fail<value_error>(f.function, "type must be 1 to 4, not ", kw.type);
  const value v = value_of(x, f.function);
  const int axis = normalize_axis(kw.axis, v->shape, f.function);
  const std::int64_t n = kw.n.value_or(v->shape[axis]);
  if (n < 1 || (kw.type == 1 && !f.sine && n < 2))
    fail<value_error>(f.function, "type ", kw.type, " is not defined for ", n, " points");
  // The inverse of type 2 is type 3, and the other way round.
  const int type = static_cast<int>(f.inverse && (kw.type == 2 || kw.type == 3) ? 5 - kw.type : kw.type);
  const double points = kw.type != 1 ? 2.0 * static_cast<double>(n) : 2.0 * static_cast<double>(f.sine ? n + 1 : n - 1);
  const double scale = fourier_scale(kw.norm, f.inverse, points, f.function);
  const bool orthogonal = kw.orthogonalize.value_or(kw.norm == "ortho");
  const dtype t = fourier_real(v->type);
  const auto run = [&](const ndarray& part_of_x) {
    const ndarray sized = wrap(resized(value_of(part_of_x.astype(t, false)), axis, n));
    const ndarray y = real_transform(f, type, moveaxis(sized, axis, -1), scale, orthogonal);
    return in_c_order(moveaxis(y, -1, axis));
  };
  if (!is_complex(v->type)) return run(x);
  return complex_number(run(real(x)), run(imag(x)));
}

ndarray transform_all(const trigonometric& f, ndarray x, const dctn_kw& kw) {
  const dims shape = value_of(x, f.function)->shape;
  const std::vector<int> list =
      fourier_axes(kw.axes.given(), distinct_axes(kw.axes, shape, f.function), kw.s, shape, f.function);
  for (std::size_t k = 0; k < list.size(); ++k) {
    dct_kw one{.type = kw.type, .axis = list[k], .norm = kw.norm, .orthogonalize = kw.orthogonalize};
    if (kw.s && (*kw.s)[k] != -1) one.n = (*kw.s)[k];
    x = transform(f, x, one);
  }
  return x;
}

}  // namespace

ndarray dct(const ndarray& x, const dct_kw& kw) { return transform({"dct", false, false}, x, kw); }
ndarray idct(const ndarray& x, const dct_kw& kw) { return transform({"idct", false, true}, x, kw); }
ndarray dst(const ndarray& x, const dct_kw& kw) { return transform({"dst", true, false}, x, kw); }
ndarray idst(const ndarray& x, const dct_kw& kw) { return transform({"idst", true, true}, x, kw); }
ndarray dctn(const ndarray& x, const dctn_kw& kw) { return transform_all({"dctn", false, false}, x, kw); }
ndarray idctn(const ndarray& x, const dctn_kw& kw) { return transform_all({"idctn", false, true}, x, kw); }
ndarray dstn(const ndarray& x, const dctn_kw& kw) { return transform_all({"dstn", true, false}, x, kw); }
ndarray idstn(const ndarray& x, const dctn_kw& kw) { return transform_all({"idstn", true, true}, x, kw); }

}  // namespace sinter::inline v0::fft
