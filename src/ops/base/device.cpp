// The public API of devices, on top of the runtime's.
#include "sinter/device.hpp"

#include <ostream>

#include "graph/run/array.hpp"
#include "graph/values/faults.hpp"
#include "ops/base/promotion_args.hpp"

namespace sinter::ops {

runtime::device_id to_id(const device& d) { return {static_cast<runtime::device_kind>(d.kind), d.index}; }
device to_public(const runtime::device_id& id) { return {static_cast<sinter::device_kind>(id.kind), id.index}; }

}  // namespace sinter::ops

namespace sinter::inline v0 {

device::device(std::string_view text) : device(ops::to_public(runtime::parse_device(text))) {}
std::string to_string(const device& d) { return runtime::to_string(ops::to_id(d)); }
std::ostream& operator<<(std::ostream& out, const device& d) { return out << to_string(d); }
std::string description(const device& d) { return runtime::get_backend(ops::to_id(d)).description(); }

int device_count(device_kind kind) { return runtime::device_count(ops::to_id(device(kind)).kind); }

device default_device() { return ops::to_public(runtime::default_device()); }
void set_default_device(const device& d) {
  if (d.kind == device_kind::mesh)
    ops::fail<device_error>("set_default_device", d, " is several devices; give it to the functions that make arrays");
  runtime::get_backend(ops::to_id(d));  // throws if it is missing, before any state changes
  runtime::set_default_device(ops::to_id(d));
}

void synchronize() { synchronize(default_device()); }
void synchronize(const device& d) {
  auto& backend = runtime::get_backend(ops::to_id(d));
  if (!graph::is_capturing()) backend.synchronize();  // in a capture, report_faults throws
  graph::report_faults(backend);
}

memory_info memory(const device& d) {
  const auto m = runtime::get_backend(ops::to_id(d)).memory();
  return {m.used, m.reserved, m.peak, m.available};
}

}  // namespace sinter::inline v0
