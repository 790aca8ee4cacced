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

}  // namespace sinter::sharding
