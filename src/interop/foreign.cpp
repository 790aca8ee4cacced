// from_pointer, and views of elements in host memory.
#include "interop/foreign.hpp"

#include <algorithm>
#include <utility>

#include "core/shape.hpp"
#include "graph/capture/capture.hpp"
#include "ops/base/promotion_args.hpp"
#include "sinter/error.hpp"
#include "sinter/interop.hpp"

namespace sinter::interop {
namespace {

template <class... Parts>
[[noreturn]] void refuse(const foreign_memory& m, const Parts&... parts) {
  ops::fail<value_error>(m.function, parts...);
}

/// The number of elements from the lowest address to the pointer, and from there to the highest.
std::pair<std::int64_t, std::int64_t> reach(const foreign_memory& m) {
  std::int64_t below = 0, above = 0;
  for (int a = 0; a < m.shape.size(); ++a) {
    std::int64_t step = 0;
    std::int64_t& side = m.strides[a] < 0 ? below : above;
    if (__builtin_mul_overflow(m.strides[a], m.shape[a] - 1, &step) || step == INT64_MIN ||
        __builtin_add_overflow(side, step < 0 ? -step : step, &side) || side > INT64_MAX / 32)
      refuse(m, "strides ", m.strides, " of shape ", m.shape, " reach too far");
  }
  return {below, above};
}

}  // namespace

graph::view_ref wrap_memory(const foreign_memory& m, std::shared_ptr<void> keep) {
  const std::int64_t count = core::checked_count(m.shape, m.function);
  runtime::backend& device = runtime::get_backend(m.device);
  const auto item = static_cast<std::int64_t>(itemsize(m.type));
  if (count == 0) {
    auto none = std::make_shared<runtime::buffer>(device, 0);
    return graph::make_array(graph::make_leaf(std::move(none), 0, m.shape, m.type));
  }
  if (!m.data) refuse(m, "null pointer for shape ", m.shape);
  if (reinterpret_cast<std::uintptr_t>(m.data) % static_cast<std::uintptr_t>(item) != 0)
    refuse(m, "the address is no multiple of ", item, ", the size of ", m.type, "; copy the elements instead");
  if (m.kind != memory_kind::device) device.memory_pool(m.kind);  // throws if the kind is not available
  const auto [below, above] = reach(m);
  const std::int64_t extent = below + above + 1;
  void* const lowest = static_cast<char*>(m.data) - below * item;
  std::shared_ptr<runtime::buffer> memory;
  {
    const graph::outside_capture now;
    memory = std::make_shared<runtime::buffer>(device, lowest, static_cast<std::size_t>(extent * item), std::move(keep),
                                               !m.live, m.kind);
  }
  return graph::from_buffer(std::move(memory), extent, m.type, m.shape, m.strides, below, m.live,
                            m.readonly || !m.live);
}

}  // namespace sinter::interop

namespace sinter::inline v0 {

using ops::view_of;

namespace {

core::dims strides_in_elements(const std::vector<std::int64_t>& bytes, const core::dims& shape, dtype type) {
  if (bytes.empty()) return core::contiguous_strides(shape);
  const auto item = static_cast<std::int64_t>(itemsize(type));
  core::dims strides(bytes.data(), static_cast<int>(bytes.size()));
  if (strides.size() != shape.size())
    ops::fail<value_error>("from_pointer", strides.size(), " strides for shape ", shape);
  for (auto& s : strides) {
    if (s % item != 0)
      ops::fail<value_error>("from_pointer", "strides ", strides, " are no multiples of ", item, " bytes, the size of ",
                             type);
    s /= item;
  }
  return strides;
}

const graph::array_view& view_of_rank(const ndarray& x, int rank) {
  const graph::array_view& v = view_of(x, "host_mdview");
  if (v.shape.size() != rank) ops::fail<shape_error>("host_mdview", "rank ", rank, " for an array of shape ", v.shape);
  return v;
}

}  // namespace

ndarray from_pointer(void* data, const shape_t& shape, dtype type, const pointer_kw& kw) {
  interop::foreign_memory m{.function = "from_pointer",
                            .data = data,
                            .type = type,
                            .shape = ops::to_dims(shape),
                            .strides = {},
                            .device = ops::to_id(kw.device),
                            .kind = kw.kind,
                            .readonly = kw.readonly,
                            .live = !kw.immutable};
  core::checked_count(m.shape, m.function);
  m.strides = strides_in_elements(kw.strides, m.shape, type);
  auto call = [data, deleter = kw.deleter] {
    if (deleter) deleter(data);
  };
  const auto release = std::make_shared<interop::armed_release<decltype(call)>>(std::move(call));
  ndarray x = ops::ndarray_access::make(interop::wrap_memory(m, release));
  release->arm();
  return x;
}

detail::host_elements detail::host_elements_to_read(const ndarray& x, dtype type, int rank, std::int64_t* extents,
                                                    std::int64_t* strides) {
  const core::dims& shape = view_of_rank(x, rank).shape;
  const core::dims steps = core::contiguous_strides(shape);
  std::copy(shape.begin(), shape.end(), extents);
  std::copy(steps.begin(), steps.end(), strides);
  const auto elements = ops::elements_on_host(x, type, true);
  return {const_cast<void*>(detail::host_data(*elements)), elements};
}

detail::host_elements detail::host_elements_to_write(const ndarray& x, dtype type, int rank, std::int64_t* extents,
                                                     std::int64_t* strides) {
  const graph::array_view& v = view_of_rank(x, rank);
  std::copy(v.shape.begin(), v.shape.end(), extents);
  std::copy(v.strides.begin(), v.strides.end(), strides);
  if (v.type != type) ops::fail<dtype_error>("host_mdview", "the array has dtype ", v.type, ", not ", type);
  if (v.readonly) ops::fail<value_error>("host_mdview", "the array of shape ", v.shape, " is read-only");
  if (!graph::is_host_reachable(v))
    ops::fail<device_error>(
        "host_mdview", "the array lies in the memory of ", v.device(),
        ", which the host cannot address; view a const type, make it in managed or pinned memory, or "
        "move it with to_host");
  return {graph::export_to_host(v), v.store};
}

void detail::not_in_order(const std::int64_t* extents, const std::int64_t* strides, int rank) {
  ops::fail<value_error>("host_mdview", "elements of shape ", core::dims(extents, rank), " with strides ",
                         core::dims(strides, rank), " are not contiguous");
}

}  // namespace sinter::inline v0
