// Views of the storages of other views.
#include <memory>
#include <utility>

#include "core/shape.hpp"
#include "graph/run/fresh_view.hpp"
#include "graph/values/recycle.hpp"

namespace sinter::graph {

std::shared_ptr<array_view> begin_view(const array_view& of, int rank) {
  auto view = std::allocate_shared<array_view>(recycling_allocator<array_view>());
  view->store = of.store;
  view->type = of.type;
  view->parts = of.parts;
  view->absent = of.absent;
  view->shape = of.shape;  // shrinking fills nothing
  view->strides = of.strides;
  view->shape.resize(rank);
  view->strides.resize(rank);
  return view;
}

view_ref end_view(std::shared_ptr<array_view> view, const array_view& of, std::int64_t offset, bool readonly) {
  // A handle's shape must be countable, for size().
  if (!core::is_countable(view->shape)) [[unlikely]]
    core::checked_count(view->shape, "shape");
  view->offset = offset;
  view->readonly = of.readonly || readonly;
  // Of a whole view the storage's shape is known.
  view->whole = !view->parts && offset == 0 && (!of.whole || view->shape == of.shape) &&
                core::is_contiguous(view->shape, view->strides) && (of.whole || view->shape == of.store->now()->shape);
  return view;
}

view_ref make_view(const array_view& of, dims shape, dims strides, std::int64_t offset, bool readonly) {
  auto view = begin_view(of, 0);
  view->shape = std::move(shape);
  view->strides = std::move(strides);
  return end_view(std::move(view), of, offset, readonly);
}

view_ref make_parts(const array_view& of, bool imaginary) {
  auto view = begin_view(of, of.shape.size());
  view->type = of.type == dtype::c64 ? dtype::f32 : dtype::f64;
  view->parts = true;
  for (std::int64_t& s : view->strides) s *= 2;
  return end_view(std::move(view), of, 2 * of.offset + (imaginary ? 1 : 0));
}

view_ref make_whole_numbers(const array_view& parts) {
  auto view = begin_view(parts, parts.shape.size());
  view->type = parts.type == dtype::f32 ? dtype::c64 : dtype::c128;
  view->parts = false;
  for (std::int64_t& s : view->strides) s /= 2;
  return end_view(std::move(view), parts, parts.offset / 2);
}

view_ref whole_storage(const array_view& v) {
  return make_view(v, dims{v.store->now()->size() * (v.parts ? 2 : 1)}, dims{1}, 0);
}

}  // namespace sinter::graph
