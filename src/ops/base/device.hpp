// Conversions between the public device names and the runtime's.
#pragma once
#include <optional>

#include "runtime/backend.hpp"
#include "sinter/device.hpp"

namespace sinter::ops {

runtime::device_id to_id(const device& d);
device to_public(const runtime::device_id& id);
/// The given device, which must exist, else the default one.
inline runtime::device_id chosen(const std::optional<device>& d) {
  if (!d) return runtime::default_device();
  return runtime::get_backend(to_id(*d)).id();
}

}  // namespace sinter::ops
