// Whether arrays have memory in common; arrays that are looked at before they are used.
#include <algorithm>
#include <utility>
#include <vector>

#include "ops/base/access.hpp"
#include "ops/base/errors.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/grids.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

/// Bytes from a common origin: where a view's first element is, and its steps.
struct placed {
  using dims = core::dims;
  std::int64_t first = 0, width = 0;
  dims shape, steps;

  /// [lowest byte, one behind the highest); nothing for an array without elements.
  std::pair<std::int64_t, std::int64_t> ends() const {
    std::int64_t low = first, high = first;
    for (int a = 0; a < shape.size(); ++a) {
      if (shape[a] == 0) return {0, 0};
      (steps[a] < 0 ? low : high) += (shape[a] - 1) * steps[a];
    }
    return {low, high + width};
  }
  /// Calls f with the first byte of each element along the axes from one on.
  template <class F>
  void each(const F& f, int axis, std::int64_t at) const {
    if (axis == shape.size()) return f(at);
    // A repeated axis says nothing new.
    const std::int64_t n = steps[axis] == 0 ? std::min<std::int64_t>(shape[axis], 1) : shape[axis];
    for (std::int64_t i = 0; i < n; ++i) each(f, axis + 1, at + i * steps[axis]);
  }
};

placed placed_from(const graph::array_view& v, std::int64_t origin) {
  const auto width = static_cast<std::int64_t>(itemsize(v.type));
  placed p{origin + v.offset * width, width, v.shape, v.strides};
  for (std::int64_t& step : p.steps) step *= width;
  return p;
}

/// Where both arrays are, if they may be in the same memory at all.
bool place_both(const ndarray& x, const ndarray& y, const char* function, placed& a, placed& b) {
  const graph::array_view &u = view_of(x, function), &v = view_of(y, function);
  if (u.store == v.store) {
    a = placed_from(u, 0);
    b = placed_from(v, 0);
    return true;
  }
  // Storages have memory of their own, unless somebody else gave it or was given it.
  if (!(u.device() == v.device()) || !u.store->is_written_in_place() || !v.store->is_written_in_place()) return false;
  const auto address = [](const graph::array_view& w) {
    return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(graph::export_address(w))) -
           w.offset * static_cast<std::int64_t>(itemsize(w.type));
  };
  a = placed_from(u, address(u));
  b = placed_from(v, address(v));
  return true;
}

}  // namespace

bool may_share_memory(const ndarray& x, const ndarray& y) {
  placed a, b;
  if (!place_both(x, y, "may_share_memory", a, b)) return false;
  const auto [p, q] = a.ends();
  const auto [r, s] = b.ends();
  return std::max(p, r) < std::min(q, s);
}

bool shares_memory(const ndarray& x, const ndarray& y) {
  placed a, b;
  if (!place_both(x, y, "shares_memory", a, b)) return false;
  const auto [p, q] = a.ends();
  const auto [r, s] = b.ends();
  const std::int64_t low = std::max(p, r), high = std::min(q, s);
  if (low >= high) return false;
  const auto is_dense = [](const ndarray& z, const placed& at, std::int64_t bytes) {
    return z.size() * at.width == bytes && z.size() != 0 &&
           std::none_of(at.steps.begin(), at.steps.end(), [](std::int64_t step) { return step == 0; });
  };
  if (is_dense(x, a, q - p) && is_dense(y, b, s - r)) return true;
  std::vector<bool> used(static_cast<std::size_t>(high - low));
  a.each(
      [&](std::int64_t at) {
        for (std::int64_t k = std::max(at, low); k < std::min(at + a.width, high); ++k)
          used[static_cast<std::size_t>(k - low)] = true;
      },
      0, a.first);
  bool found = false;
  b.each(
      [&](std::int64_t at) {
        for (std::int64_t k = std::max(at, low); k < std::min(at + b.width, high); ++k)
          found = found || used[static_cast<std::size_t>(k - low)];
      },
      0, b.first);
  return found;
}

ndarray asarray_chkfinite(const ndarray& x, const create_kw& kw) {
  const ndarray a = asarray(x, kw);
  if (is_inexact(a.dtype()) && !bool(all(isfinite(a))))
    fail<value_error>("asarray_chkfinite", "array of shape ", a.shape(), " must not contain infs or NaNs");
  return a;
}

}  // namespace sinter::inline v0
