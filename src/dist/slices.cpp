// Strides over a whole array, taken apart into steps along its axes.
#include "dist/slices.hpp"

#include <algorithm>
#include <cstdlib>

namespace sinter::sharding {
namespace {

/// The axis along which a stride steps: the longest stride that divides it. -1: none.
int axis_of(const dims& base, const dims& strides, std::int64_t stride) {
  for (int a = 0; a < base.size(); ++a)
    if (base[a] > 1 && std::abs(stride) >= strides[a] && stride % strides[a] == 0) return a;
  return -1;
}

/// Takes a view apart over a base; the axis whose range is too short, or -1 where there is none. -2: impossible.
int take_apart(slices& s, const dims& shape, const dims& strides, std::int64_t offset) {
  const dims dense = core::contiguous_strides(s.base);
  s.start = dims(s.base.size());
  for (int a = 0; a < s.base.size(); ++a)
    if (s.base[a] > 1) {
      s.start[a] = offset / dense[a];
      offset %= dense[a];
    }
  s.along.assign(static_cast<std::size_t>(shape.size()), {});
  dims low = s.start, high = s.start;
  for (int j = 0; j < shape.size(); ++j) {
    if (shape[j] == 1 || strides[j] == 0) continue;
    const int a = axis_of(s.base, dense, strides[j]);
    if (a < 0) return -2;
    const std::int64_t step = strides[j] / dense[a];
    s.along[static_cast<std::size_t>(j)] = {a, step};
    (step < 0 ? low : high)[a] += step * (shape[j] - 1);
    if (low[a] < 0 || high[a] >= s.base[a]) return a;
  }
  return -1;
}

}  // namespace

std::optional<slices> find_slices(const dims& base, const dims& shape, const dims& strides, std::int64_t offset) {
  slices s;
  s.base = base;
  for (int a = 0; a < base.size(); ++a) s.joined.push_back(a);
  while (true) {
    const int a = take_apart(s, shape, strides, offset);
    if (a == -1) return s;
    if (a <= 0) return std::nullopt;
    s.base[a - 1] *= s.base[a];
    s.base.erase(a);
    for (int& j : s.joined) j -= j >= a;
  }
}

bool slices::is_plain() const noexcept {
  for (std::size_t i = 0; i < along.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (along[i].axis >= 0 && along[i].axis == along[j].axis) return false;
  return true;
}

box slices::reach(const box& of_view) const {
  box b{start, start};
  for (std::size_t j = 0; j < along.size(); ++j) {
    if (along[j].axis < 0) continue;
    const int k = static_cast<int>(j), a = along[j].axis;
    const std::int64_t one = along[j].step * of_view.first[k], other = along[j].step * (of_view.end[k] - 1);
    b.first[a] += std::min(one, other);
    b.end[a] += std::max(one, other);
  }
  for (int a = 0; a < b.end.size(); ++a) ++b.end[a];
  return b;
}

void slices::bind(const box& of_view, const box& of_base, dims& strides, std::int64_t& offset) const {
  const dims dense = core::contiguous_strides(extents_of(of_base));
  strides = dims(static_cast<int>(along.size()));
  offset = 0;
  for (int a = 0; a < start.size(); ++a) offset += (start[a] - of_base.first[a]) * dense[a];
  for (std::size_t j = 0; j < along.size(); ++j) {
    if (along[j].axis < 0) continue;
    const int k = static_cast<int>(j);
    strides[k] = along[j].step * dense[along[j].axis];
    offset += of_view.first[k] * strides[k];
  }
}

namespace {

/// Steps along the axes from `axis` on that add up to a stride; `times` of them stay within the base. The largest axes step by what divides
/// evenly, or by one more, with steps back along the others.
bool find_steps(const dims& base, const dims& dense, int axis, std::int64_t stride, std::int64_t times, dims& steps) {
  if (axis == base.size()) return stride == 0;
  if (base[axis] == 1) return find_steps(base, dense, axis + 1, stride, times, steps);
  const std::int64_t even = stride / dense[axis];
  for (const std::int64_t step : {even, even + (stride < 0 ? -1 : 1)}) {
    if (std::abs(step) * times >= base[axis]) continue;
    steps[axis] = step;
    if (find_steps(base, dense, axis + 1, stride - step * dense[axis], times, steps)) return true;
  }
  steps[axis] = 0;
  return false;
}

}  // namespace

std::optional<oblique> find_oblique(const dims& base, const dims& shape, const dims& strides, std::int64_t offset) {
  const dims dense = core::contiguous_strides(base);
  oblique o{dims(base.size()), {}};
  for (int a = 0; a < base.size(); ++a) {
    if (base[a] == 1) continue;
    o.start[a] = offset / dense[a];
    offset %= dense[a];
  }
  dims low = o.start, high = o.start;
  for (int j = 0; j < shape.size(); ++j) {
    dims steps(base.size());
    if (shape[j] > 1 && !find_steps(base, dense, 0, strides[j], shape[j] - 1, steps)) return std::nullopt;
    for (int a = 0; a < base.size(); ++a) (steps[a] < 0 ? low : high)[a] += steps[a] * (shape[j] - 1);
    o.steps.push_back(std::move(steps));
  }
  for (int a = 0; a < base.size(); ++a)
    if (low[a] < 0 || high[a] >= base[a]) return std::nullopt;
  return o;
}

int oblique::stepping_along(int base_axis) const noexcept {
  int only = -1;
  for (std::size_t j = 0; j < steps.size(); ++j)
    if (steps[j][base_axis] != 0) only = only == -1 ? static_cast<int>(j) : -2;
  return only;
}

void oblique::bind(const box& of_view, const box& of_base, dims& strides, std::int64_t& offset) const {
  const dims dense = core::contiguous_strides(extents_of(of_base));
  strides = dims(static_cast<int>(steps.size()));
  offset = 0;
  for (int a = 0; a < start.size(); ++a) offset += (start[a] - of_base.first[a]) * dense[a];
  for (int j = 0; j < strides.size(); ++j) {
    for (int a = 0; a < start.size(); ++a) strides[j] += steps[static_cast<std::size_t>(j)][a] * dense[a];
    offset += of_view.first[j] * strides[j];
  }
}

}  // namespace sinter::sharding
