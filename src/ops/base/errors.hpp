// Error messages: the function in brackets, then the problem with the shapes, dtypes, axes or devices concerned.
//
//   fail<shape_error>("add", "shapes ", x.shape, " and ", y.shape, " do not broadcast");
//
// throws "[add] shapes (2, 3) and (4,) do not broadcast". A message without parts may be thrown directly.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "core/dims.hpp"
#include "runtime/backend.hpp"
#include "sinter/device.hpp"
#include "sinter/dtype.hpp"
#include "sinter/error.hpp"
#include "sinter/shape.hpp"

namespace sinter::ops {

/// A part of a message: verbatim text, a number, "(2, 3)", "float32", "cuda:0".
class message_part {
 public:
  message_part(const char* text) : text_(text) {}
  message_part(std::string_view text) : text_(text) {}
  message_part(const std::string& text) : text_(text) {}
  message_part(char c) : text_(1, c) {}
  template <std::signed_integral T>
  message_part(T n) : text_(std::to_string(static_cast<long long>(n))) {}
  template <std::unsigned_integral T>
  message_part(T n) : text_(std::to_string(static_cast<unsigned long long>(n))) {}
  message_part(double x) : text_(std::to_string(x)) {}
  message_part(const core::dims& shape) : text_(core::to_string(shape)) {}
  message_part(const shape_t& shape) : text_(to_string(shape)) {}
  message_part(dtype t) : text_(name(t)) {}
  message_part(runtime::device_id id) : text_(runtime::to_string(id)) {}
  message_part(const device& d) : text_(to_string(d)) {}
  message_part(bool) = delete;
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

/// "[add] shapes (2, 3) and ...".
std::string message_of(std::string_view function, std::initializer_list<message_part> parts);
template <class... Parts>
std::string message(std::string_view function, const Parts&... parts) {
  return message_of(function, {parts...});
}
template <class Error, class... Parts>
[[noreturn]] void fail(std::string_view function, const Parts&... parts) {
  throw Error(message_of(function, {parts...}));
}

[[noreturn]] void refuse_undefined(const char* function, const char* what);
/// The object that a handle refers to. value_error: "[add] the array is undefined (default-constructed or moved from)".
template <class T>
T& defined(const std::shared_ptr<T>& handle, const char* function, const char* what) {
  if (!handle) [[unlikely]]
    refuse_undefined(function, what);
  return *handle;
}

[[noreturn]] void refuse_devices(const char* function, runtime::device_id a, runtime::device_id b);
/// device_error if the devices differ: "[add] arrays on cuda:0 and cpu; move one with to_device".
inline void require_one_device(const char* function, runtime::device_id a, runtime::device_id b) {
  if (!(a == b)) [[unlikely]]
    refuse_devices(function, a, b);
}
/// dtype_error: "[matmul] cannot cast the bias from float64 to int32 (casting rule same_kind)".
void require_same_kind(const char* function, std::string_view what, dtype from, dtype to);

}  // namespace sinter::ops
