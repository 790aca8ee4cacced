// The fft family: arguments, norms, one transform or several.
#include "sinter/fft.hpp"

#include <utility>
#include <vector>

#include "ops/base/access.hpp"
#include "ops/fft/fourier_calls.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/elementwise_out.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::inline v0::fft {

using namespace ops;
using runtime::fourier_kind;

namespace {

/// The properties of a function.
struct family {
  const char* name;
  fourier_kind kind;
  bool inverse;
};

void check_points(std::int64_t n, const char* function) {
  if (n < 1) fail<value_error>(function, "the number of points (", n, ") must be positive");
}

value argument(const ndarray& x, const family& f) {
  if (f.kind == fourier_kind::real_to_complex && is_complex(x.dtype()))
    fail<dtype_error>(f.name, "takes real numbers, not ", x.dtype());
  return value_of(x, f.name);
}

/// The number of points along an axis if the caller gives none.
std::int64_t own_points(const family& f, std::int64_t extent, bool halved) {
  return f.kind == fourier_kind::complex_to_real && halved ? 2 * (extent - 1) : extent;
}

/// Scaled, and written to the caller's array if there is one: the scale is part of the write.
template <class Keywords>
ndarray scaled(const family& f, const ndarray& x, double scale, const Keywords& kw) {
  const ndarray y = scale == 1 ? x : x * scale;
  return kw.out ? detail::into(y, {.out = kw.out}, f.name) : y;
}

ndarray transform_axis(const family& f, const ndarray& x, const fft_kw& kw) {
  const value v = argument(x, f);
  const int axis = normalize_axis(kw.axis, v->shape, f.name);
  const fourier_axis one{axis, kw.n.value_or(own_points(f, v->shape[axis], true))};
  check_points(one.points, f.name);
  const double scale = fourier_scale(kw.norm, f.inverse, static_cast<double>(one.points), f.name);
  return scaled(f, transformed(f.name, v, f.kind, f.inverse, std::span(&one, 1)), scale, kw);
}

/// NumPy's rules for `s` and `axes`.
std::vector<fourier_axis> axes_of(const family& f, const dims& shape, const std::optional<shape_t>& s,
                                  const sinter::axes& wanted) {
  std::vector<int> list;
  for (const std::int64_t a : wanted) list.push_back(normalize_axis(a, shape, f.name));
  list = fourier_axes(wanted.given(), std::move(list), s, shape, f.name);
  std::vector<fourier_axis> all;
  for (std::size_t k = 0; k < list.size(); ++k) {
    const bool keeps = !s || (*s)[k] == -1;
    const std::int64_t extent = shape[list[k]];
    // For the halved axis of an inverse NumPy interprets -1 as the extent of the axis itself.
    const std::int64_t own = s ? extent : own_points(f, extent, k + 1 == list.size());
    all.push_back({list[k], keeps ? own : (*s)[k]});
    check_points(all.back().points, f.name);
  }
  return all;
}

bool are_distinct(const std::vector<fourier_axis>& all) {
  for (std::size_t k = 0; k < all.size(); ++k)
    for (std::size_t j = 0; j < k; ++j)
      if (all[j].axis == all[k].axis) return false;
  return true;
}

/// One axis at a time in NumPy's order: from the last one listed; a real result is produced last.
ndarray one_by_one(const family& f, ndarray x, const std::vector<fourier_axis>& all) {
  auto step = [&](fourier_kind kind, const fourier_axis& axis) {
    x = transformed(f.name, value_of(x, f.name), kind, f.inverse, std::span(&axis, 1));
  };
  if (f.kind == fourier_kind::complex_to_real) {
    for (std::size_t k = 0; k + 1 < all.size(); ++k) step(fourier_kind::complex, all[k]);
    step(f.kind, all.back());
    return x;
  }
  step(f.kind, all.back());
  for (std::size_t k = all.size() - 1; k-- > 0;) step(fourier_kind::complex, all[k]);
  return x;
}

/// Shared by fft2_kw and fftn_kw.
template <class Keywords>
ndarray transform_axes(const family& f, const ndarray& x, const Keywords& kw) {
  const value v = argument(x, f);
  const std::vector<fourier_axis> all = axes_of(f, v->shape, kw.s, kw.axes);
  double points = 1;
  for (const fourier_axis& a : all) points *= static_cast<double>(a.points);
  const double scale = fourier_scale(kw.norm, f.inverse, points, f.name);
  if (all.empty()) {
    if (f.kind != fourier_kind::complex) fail<index_error>(f.name, "needs at least one axis");
    return scaled(f, wrap(graph::record_cast(v, complex_of(fourier_real(v->type)))), 1, kw);
  }
  if (!are_distinct(all)) return scaled(f, one_by_one(f, x, all), scale, kw);
  return scaled(f, transformed(f.name, v, f.kind, f.inverse, all), scale, kw);
}

constexpr fourier_kind both = fourier_kind::complex, from_real = fourier_kind::real_to_complex,
                       to_real = fourier_kind::complex_to_real;

/// The forward transform of a Hermitian signal is the inverse one of its conjugate, so the norms are exchanged.
fft_kw with_norms_swapped(fft_kw kw) {
  kw.norm = kw.norm == "backward" ? "forward" : kw.norm == "forward" ? "backward" : kw.norm;
  return kw;
}

}  // namespace

ndarray fft(const ndarray& x, const fft_kw& kw) { return transform_axis({"fft", both, false}, x, kw); }
ndarray ifft(const ndarray& x, const fft_kw& kw) { return transform_axis({"ifft", both, true}, x, kw); }
ndarray rfft(const ndarray& x, const fft_kw& kw) { return transform_axis({"rfft", from_real, false}, x, kw); }
ndarray irfft(const ndarray& x, const fft_kw& kw) { return transform_axis({"irfft", to_real, true}, x, kw); }

ndarray hfft(const ndarray& x, const fft_kw& kw) {
  return transform_axis({"hfft", to_real, true}, conj(x), with_norms_swapped(kw));
}
ndarray ihfft(const ndarray& x, const fft_kw& keywords) {
  fft_kw kw = keywords;
  const std::optional<ndarray> out = std::exchange(kw.out, {});
  const ndarray y = conj(transform_axis({"ihfft", from_real, false}, x, with_norms_swapped(kw)));
  return out ? detail::into(y, {.out = out}, "ihfft") : y;
}

ndarray fft2(const ndarray& x, const fft2_kw& kw) { return transform_axes({"fft2", both, false}, x, kw); }
ndarray ifft2(const ndarray& x, const fft2_kw& kw) { return transform_axes({"ifft2", both, true}, x, kw); }
ndarray rfft2(const ndarray& x, const fft2_kw& kw) { return transform_axes({"rfft2", from_real, false}, x, kw); }
ndarray irfft2(const ndarray& x, const fft2_kw& kw) { return transform_axes({"irfft2", to_real, true}, x, kw); }
ndarray fftn(const ndarray& x, const fftn_kw& kw) { return transform_axes({"fftn", both, false}, x, kw); }
ndarray ifftn(const ndarray& x, const fftn_kw& kw) { return transform_axes({"ifftn", both, true}, x, kw); }
ndarray rfftn(const ndarray& x, const fftn_kw& kw) { return transform_axes({"rfftn", from_real, false}, x, kw); }
ndarray irfftn(const ndarray& x, const fftn_kw& kw) { return transform_axes({"irfftn", to_real, true}, x, kw); }

namespace {

runtime::fourier& transforms_of(const device& d) { return runtime::get_backend(to_id(d)).fourier(); }

}  // namespace

plan_cache_info plan_cache(const device& d) {
  const runtime::fourier_figures f = transforms_of(d).figures();
  return {f.plans, f.limit};
}
plan_cache_info plan_cache() { return plan_cache(default_device()); }
void clear_plan_cache(const device& d) { transforms_of(d).clear(); }
void clear_plan_cache() { clear_plan_cache(default_device()); }

}  // namespace sinter::inline v0::fft
