#include "ops/base/errors.hpp"

namespace sinter::ops {

std::string message_of(std::string_view function, std::initializer_list<message_part> parts) {
  std::string text = "[" + std::string(function) + "] ";
  for (const message_part& p : parts) text += p.text();
  return text;
}

void refuse_undefined(const char* function, const char* what) {
  fail<value_error>(function, what, " is undefined (default-constructed or moved from)");
}

void refuse_devices(const char* function, runtime::device_id a, runtime::device_id b) {
  fail<device_error>(function, "arrays on ", a, " and ", b, "; move one with to_device");
}

void require_same_kind(const char* function, std::string_view what, dtype from, dtype to) {
  if (!can_cast(from, to, casting::same_kind))
    fail<dtype_error>(function, "cannot cast ", what, " from ", from, " to ", to, " (casting rule same_kind)");
}

}  // namespace sinter::ops
