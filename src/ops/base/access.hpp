// src/ops/base: helpers that the other folders of src/ops share: handles and their views, arguments and their dtypes,
// axes, devices, calls of device-wide algorithms. No NumPy function is defined here.
//
// Access from public handles of arrays and devices to the graph and the runtime, and back.
#pragma once
#include <optional>

#include "graph/capture/capture.hpp"
#include "graph/run/array.hpp"
#include "ops/base/errors.hpp"
#include "sinter/device.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::ops {

/// Evaluates a deferred advanced selection (ops/indexing/advanced_index.hpp).
void resolve(const graph::array_view& v);

struct ndarray_access {
  static ndarray make(graph::view_ref v) noexcept { return ndarray(std::move(v)); }
  static subarray make_sub(graph::view_ref v) noexcept { return subarray(std::move(v)); }
  /// Null for an undefined array.
  static const graph::view_ref& ref(const ndarray& a) {
    const graph::view_ref& v = a.array();
    if (v && v->deferred.load(std::memory_order_acquire)) [[unlikely]]
      resolve(*v);
    if (graph::is_capturing() && v) [[unlikely]]
      graph::touch(v->store);
    return v;
  }
  /// The same, but an advanced selection may not have been evaluated yet.
  static const graph::view_ref& unresolved(const ndarray& a) { return a.array(); }
  /// The value of an array that is not more than that yet; null of all others, and within captures, which note the arrays that they use.
  static graph::value recorded(const ndarray& a) noexcept {
    if (!is_recorded(a)) return {};
    graph::node* const n = a.recorded_.take();
    graph::value v(n);
    a.recorded_.put(n);
    return v;
  }
  static bool is_recorded(const ndarray& a) noexcept { return a.recorded_ && !graph::is_capturing(); }
  static ndarray make_recorded(graph::value v) noexcept { return ndarray(detail::recorded_value(v.release())); }
  /// All elements in host-readable memory, C order; `detail::host_data` has the address. Synchronises.
  static std::shared_ptr<const detail::host_block> host(const ndarray& a) { return a.host_block(a.dtype()); }
};

/// An array's elements in host-readable memory, C order, converted to a dtype; `detail::host_data` has the address. Not
/// copied if the array has that dtype and C order and is in host memory or, with `managed`, in managed memory that the
/// host may access concurrently with the device. Synchronises.
std::shared_ptr<const detail::host_block> elements_on_host(const ndarray& a, dtype type, bool managed);

/// The view of an array; throws value_error naming the function if the handle is undefined.
inline const graph::array_view& view_of(const ndarray& a, const char* function) {
  return defined(ndarray_access::ref(a), function, "the array");
}

/// The array's current value.
graph::value value_of(const ndarray& a, const char* function = "ndarray");
/// New array that holds a value.
ndarray wrap(graph::value v);

runtime::device_id to_id(const device& d);
device to_public(const runtime::device_id& id);
/// The given device, which must exist, else the default one.
inline runtime::device_id chosen(const std::optional<device>& d) {
  return d ? runtime::get_backend(to_id(*d)).id() : runtime::default_device();
}

}  // namespace sinter::ops
