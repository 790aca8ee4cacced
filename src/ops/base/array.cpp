// The array handle: its properties, transposes, and its connection to the graph.
#include <algorithm>
#include <ostream>
#include <thread>
#include <utility>

#include "core/shape.hpp"
#include "ops/base/as_now.hpp"
#include "ops/base/promotion_args.hpp"

namespace sinter::ops {

graph::value value_of(const ndarray& a, const char* function) {
  if (graph::value v = ndarray_access::recorded(a)) return v;
  return graph::read(view_of(a, function));
}

ndarray wrap(graph::value v) {
  if (graph::may_stay_value(*v)) [[likely]] {
    graph::enter_handle(v);
    return ndarray_access::make_recorded(std::move(v));
  }
  return ndarray_access::make(graph::make_array(std::move(v)));
}

ndarray as_now(const ndarray& a, const char* function) {
  const graph::array_view& v = view_of(a, function);
  graph::version now = v.store->now_as_is();
  if (v.whole || v.parts || now.pinned) return wrap(value_of(a, function));
  const graph::view_ref whole = graph::make_array(std::move(now.v));
  return ndarray_access::make(graph::make_view(*whole, v.shape, v.strides, v.offset, v.readonly));
}

}  // namespace sinter::ops

namespace sinter::inline v0 {

using ops::ndarray_access;
using ops::view_of;

graph::node* detail::recorded_value::take() const noexcept {
  graph::node* const taken = reinterpret_cast<graph::node*>(1);
  graph::node* n = node_.exchange(taken, std::memory_order_acquire);
  for (int k = 0; n == taken; ++k) {
    constexpr int spins = 100;  // after these the holder has probably been descheduled
    if (k >= spins) std::this_thread::yield();
    n = node_.exchange(taken, std::memory_order_acquire);
  }
  return n;
}
void detail::recorded_value::give_up(graph::node* n) noexcept {
  const graph::value v = graph::value::adopt(n);
  graph::storage::leave(v);
}

void ndarray::make_array() const {
  graph::value v = graph::value::adopt(recorded_.take());
  if (v) {
    try {
      view_ = graph::array_of(v);
    } catch (...) {
      recorded_.put(v.release());
      throw;
    }
  }
  recorded_.put(nullptr);
}

sinter::dtype ndarray::dtype() const { return view_of(*this, "dtype").type; }
// The planner treats what names are rebound to as the variables of a loop (storage::note_assigned).
ndarray& ndarray::operator=(const ndarray& other) & noexcept { return *this = ndarray(other); }
ndarray& ndarray::operator=(ndarray&& other) & noexcept {
  if (other.recorded_) other.make_array();
  if (recorded_) detail::recorded_value(std::move(recorded_));
  view_ = std::exchange(other.view_, nullptr);
  if (view_ && view_->store && view_->whole) view_->store->note_assigned();
  return *this;
}

int ndarray::ndim() const { return view_of(*this, "ndim").shape.size(); }
shape_t ndarray::shape() const { return ops::to_shape(view_of(*this, "shape").shape); }
std::int64_t ndarray::shape(std::int64_t axis) const {
  const auto& v = view_of(*this, "shape");
  return v.shape[ops::normalize_axis(axis, v.shape, "shape")];
}
std::int64_t ndarray::size() const { return core::element_count(view_of(*this, "size").shape); }
std::int64_t ndarray::nbytes() const {
  return size() * static_cast<std::int64_t>(itemsize(view_of(*this, "nbytes").type));
}
std::vector<std::int64_t> ndarray::strides() const {
  const auto& v = view_of(*this, "strides");
  std::vector<std::int64_t> bytes(v.strides.begin(), v.strides.end());
  for (auto& s : bytes) s *= static_cast<std::int64_t>(itemsize(v.type));
  return bytes;
}
sinter::device ndarray::device() const { return ops::to_public(view_of(*this, "device").device()); }
std::int64_t ndarray::len() const {
  const auto& v = view_of(*this, "len");
  if (v.shape.empty()) throw shape_error("[len] an array of shape () has no first axis");
  return v.shape[0];
}

ndarray ndarray::T() const {
  const auto& v = view_of(*this, "T");
  core::dims shape = v.shape, strides = v.strides;
  std::reverse(shape.begin(), shape.end());
  std::reverse(strides.begin(), strides.end());
  return ndarray_access::make(graph::make_view(v, std::move(shape), std::move(strides), v.offset));
}

ndarray ndarray::mT() const {
  const auto& v = view_of(*this, "mT");
  if (v.shape.size() < 2) ops::fail<shape_error>("mT", "shape ", v.shape, " has fewer than two axes");
  return ndarray_access::make(
      graph::make_view(v, core::transposed_last(v.shape), core::transposed_last(v.strides), v.offset));
}

std::string to_string(const shape_t& shape) { return core::to_string(ops::to_dims(shape)); }
std::ostream& operator<<(std::ostream& out, const shape_t& shape) { return out << to_string(shape); }

}  // namespace sinter::inline v0
