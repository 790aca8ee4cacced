// Views that are filled in where they will lie: extents that are written one by one, and copied at once, are waited for.
#pragma once
#include <memory>

#include "graph/run/array.hpp"

namespace sinter::graph {

/// A view of the storage of another one: the caller fills in all of `shape` and `strides`, which have `rank` axes.
std::shared_ptr<array_view> begin_view(const array_view& of, int rank);
/// The view, which begins at an element and shows some elements of `of` (make_view).
view_ref end_view(std::shared_ptr<array_view> view, const array_view& of, std::int64_t offset, bool readonly = false);

/// The shape and the strides of a new view of all elements, made in place: each handle asks.
[[gnu::always_inline]] inline void set_whole(array_view& view, const dims& shape) {
  view.whole = true;
  std::construct_at(&view.shape, shape);
  std::construct_at(&view.strides, shape);
  std::int64_t* const strides = view.strides.data();
  std::int64_t step = 1;
  for (int a = shape.size() - 1; a >= 0; --a) {
    const std::int64_t extent = std::exchange(strides[a], step);
    if (extent > 0) step *= extent;
  }
}

}  // namespace sinter::graph
