// Shape arithmetic.
#include "core/shape.hpp"

#include <algorithm>

#include "sinter/error.hpp"

namespace sinter::core {

std::string to_string(const dims& shape) {
  std::string s = "(";
  for (int i = 0; i < shape.size(); ++i) {
    if (i > 0) s += ", ";
    s += std::to_string(shape[i]);
  }
  return s += shape.size() == 1 ? ",)" : ")";
}

std::int64_t checked_count(const dims& shape, const char* function) {
  const auto where = [&] { return "[" + std::string(function) + "] shape " + to_string(shape); };
  if (shape.size() > max_rank) throw shape_error(where() + " has rank above " + std::to_string(max_rank));
  if (!is_countable(shape)) {
    for (auto d : shape)
      if (d < 0) throw shape_error(where() + " has a negative extent");
    throw shape_error(where() + " has too many elements");
  }
  return element_count(shape);
}

std::optional<dims> reshape_strides(const dims& shape, const dims& strides, const dims& to) {
  if (element_count(shape) == 0) return contiguous_strides(to);
  dims from, step;  // without axes of extent 1, whose strides are irrelevant
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    from.push_back(shape[i]);
    step.push_back(strides[i]);
  }
  dims result(to.size());
  int oi = 0, ni = 0;
  while (oi < from.size()) {
    // The smallest groups of old and new axes with the same number of elements.
    int oj = oi + 1, nj = ni + 1;
    std::int64_t old_count = from[oi], new_count = to[ni];
    while (old_count != new_count) {
      if (new_count < old_count) new_count *= to[nj++];
      else old_count *= from[oj++];
    }
    for (int k = oi; k + 1 < oj; ++k)
      if (step[k] != from[k + 1] * step[k + 1]) return std::nullopt;
    std::int64_t s = step[oj - 1];
    for (int k = nj - 1; k >= ni; --k) {
      result[k] = s;
      s *= to[k];
    }
    oi = oj;
    ni = nj;
  }
  for (; ni < to.size(); ++ni) result[ni] = 1;  // trailing extents of 1
  return result;
}

dims at_axes(const dims& all, std::span<const int> axes) {
  dims out;
  for (const int a : axes) out.push_back(all[a]);
  return out;
}

dims transposed_last(dims all) {
  std::swap(all[all.size() - 1], all[all.size() - 2]);
  return all;
}

bool broadcast_into(dims& into, const dims& shape) {
  if (into == shape) return true;
  if (into.empty()) {
    into = shape;
    return true;
  }
  while (into.size() < shape.size()) into.insert(0, 1);
  const int lead = into.size() - shape.size();
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] == into[lead + i] || shape[i] == 1) continue;
    if (into[lead + i] != 1) return false;
    into[lead + i] = shape[i];
  }
  return true;
}

bool broadcasts_to(const dims& shape, const dims& to) noexcept {
  const int lead = to.size() - shape.size();
  if (lead < 0) return false;
  for (int i = 0; i < shape.size(); ++i)
    if (shape[i] != to[lead + i] && shape[i] != 1) return false;
  return true;
}

dims broadcast_strides(const dims& shape, const dims& strides, const dims& to) {
  dims result(to.size());
  const int lead = to.size() - shape.size();
  for (int i = 0; i < shape.size(); ++i) result[lead + i] = shape[i] == 1 && to[lead + i] != 1 ? 0 : strides[i];
  return result;
}

bool may_self_overlap(const dims& shape, const dims& strides) {
  struct axis {
    std::int64_t step, extent;
  };
  axis used[max_rank];
  int n = 0;
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return false;
    if (shape[i] > 1) used[n++] = {strides[i] < 0 ? -strides[i] : strides[i], shape[i]};
  }
  std::sort(used, used + n, [](const axis& a, const axis& b) { return a.step < b.step; });
  std::int64_t reach = 0;
  for (int i = 0; i < n; ++i) {
    if (used[i].step <= reach) return true;
    reach += used[i].step * (used[i].extent - 1);
  }
  return false;
}

}  // namespace sinter::core
