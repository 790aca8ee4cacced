// Basic indexing: integers, slices, newaxis and ellipsis to a view.
#include <algorithm>

#include "ops/promotion_args.hpp"

namespace sinter {
inline namespace v0 {
namespace {

std::string in_shape(const core::dims& shape) { return " in shape " + core::to_string(shape); }

std::int64_t checked_index(std::int64_t i, int axis, const core::dims& shape) {
  const std::int64_t n = shape[axis];
  if (i < -n || i >= n)
    throw index_error("[index] index " + std::to_string(i) + " is out of range for axis " + std::to_string(axis) +
                      " with extent " + std::to_string(n) + in_shape(shape));
  return i < 0 ? i + n : i;
}

struct range {
  std::int64_t first, count, step;
};

/// Python's slice.indices(n).
range resolve(const slice& s, std::int64_t n, int axis, const core::dims& shape) {
  const std::int64_t step = s.step.given ? s.step.value : 1;
  if (step == 0)
    throw value_error("[index] slice step is zero for axis " + std::to_string(axis) + in_shape(shape));
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
  const auto clamp = [&](const bound& b, std::int64_t otherwise) {
    if (!b.given) return otherwise;
    return std::clamp(b.value < 0 ? b.value + n : b.value, low, high);
  };
  const std::int64_t first = clamp(s.start, step > 0 ? low : high), last = clamp(s.stop, step > 0 ? high : low);
  if (step > 0 ? first >= last : first <= last) return {0, 0, step};
  // Unsigned, since a step of INT64_MIN has no negative.
  const auto distance = static_cast<std::uint64_t>(step > 0 ? last - first : first - last);
  const auto width = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  const auto count = static_cast<std::int64_t>((distance - 1) / width + 1);
  return {first, count, count == 1 ? 1 : step};
}

/// How many axes the indices use up; refuses too many of them and a second ellipsis.
int count_axes(const index* first, std::size_t count, const core::dims& shape) {
  int used = 0, ellipses = 0;
  for (std::size_t i = 0; i < count; ++i) {
    used += first[i].kind() == index_kind::integer || first[i].kind() == index_kind::slice;
    ellipses += first[i].kind() == index_kind::ellipsis;
  }
  if (ellipses > 1) throw index_error("[index] more than one ellipsis for shape " + core::to_string(shape));
  if (used > shape.size())
    throw index_error("[index] too many indices: " + std::to_string(used) + " for rank " +
                      std::to_string(shape.size()) + in_shape(shape));
  return used;
}

}  // namespace

subarray ndarray::at(const index* first, std::size_t count) const {
  const graph::array_view& v = ops::view_of(*this, "index");
  const int used = count_axes(first, count, v.shape);
  core::dims shape, strides;
  std::int64_t offset = v.offset;
  int axis = 0;
  const auto keep = [&](int n) {
    for (; n > 0; --n, ++axis) {
      shape.push_back(v.shape[axis]);
      strides.push_back(v.strides[axis]);
    }
  };
  for (std::size_t i = 0; i < count; ++i) {
    switch (first[i].kind()) {
      case index_kind::integer:
        offset += checked_index(first[i].integer(), axis, v.shape) * v.strides[axis];
        ++axis;
        break;
      case index_kind::slice: {
        const range r = resolve(first[i].range(), v.shape[axis], axis, v.shape);
        offset += r.first * v.strides[axis];
        shape.push_back(r.count);
        strides.push_back(r.count == 0 ? v.strides[axis] : v.strides[axis] * r.step);
        ++axis;
        break;
      }
      case index_kind::newaxis:
        shape.push_back(1);
        strides.push_back(0);
        break;
      case index_kind::ellipsis: keep(v.shape.size() - used); break;
    }
  }
  keep(v.shape.size() - axis);
  if (shape.size() > core::max_rank)
    throw index_error("[index] the result has rank " + std::to_string(shape.size()) + ", above " +
                      std::to_string(core::max_rank));
  return ops::ndarray_access::make_sub(graph::make_view(v, std::move(shape), std::move(strides), offset));
}

}  // namespace v0
}  // namespace sinter
