// src/ops/raw: users' CUDA modules and kernels, launched unmodified.
//
// The shared state of the handles raw_module and raw_kernel: a module's source with the modules loaded from it, and a
// kernel with its function on each device.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/raw/signature.hpp"
#include "runtime/backend.hpp"
#include "sinter/raw_kernel.hpp"

namespace sinter::ops {

inline bool is_array(const detail::kernel_argument& a) noexcept {
  using detail::argument_kind;
  return a.kind == argument_kind::array || a.kind == argument_kind::in || a.kind == argument_kind::strided;
}
/// The array of such an argument.
inline const ndarray& array_of(const detail::kernel_argument& a) noexcept {
  return *static_cast<const ndarray*>(a.value);
}

/// A module's source as a program gives it: PTX, or a text to compile.
runtime::module_source source_of(std::string_view text, const raw_kw& kw);

struct raw_source {
  runtime::module_source from;

  explicit raw_source(runtime::module_source s) : from(std::move(s)) {}
  /// The module on a device, compiled and loaded on first use. `who` is the name in error messages.
  std::shared_ptr<runtime::raw_module> on(runtime::device_id device, const std::string& who);

 private:
  std::mutex mutex_;
  std::map<int, std::shared_ptr<runtime::raw_module>> loaded_;  // by the device's number
};

/// A kernel on one device.
struct bound_kernel {
  std::shared_ptr<runtime::raw_function> function;
  std::optional<raw_signature> signature;                   // null if the text does not reveal it
  std::optional<std::vector<std::size_t>> parameter_bytes;  // null if the device does not report them
};

struct raw_entry {
  std::shared_ptr<raw_source> source;
  std::string name;

  raw_entry(std::shared_ptr<raw_source> s, std::string_view n) : source(std::move(s)), name(n) {}
  /// The kernel on a device, loaded and looked up on first use.
  const bound_kernel& on(runtime::device_id device);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<const bound_kernel>> bound_;  // by the device's number
};

/// The GPU to use if there are no arrays: `on`, else the default device. device_error if that is not a GPU.
runtime::device_id raw_device(const std::optional<device>& on, const std::string& who);
/// Throws device_error unless the device can run kernels; `which` describes whose device it is ("argument 2 is on ").
void require_gpu(runtime::device_id id, const std::string& who, const std::string& which);

/// The symbol of a kernel, or of a variable, for the name that a user gives. value_error, with the existing names, if
/// none or more than one matches.
std::string lowered_kernel(const runtime::raw_module& module, const std::string& name);
std::string lowered_variable(const runtime::raw_module& module, const std::string& name);

}  // namespace sinter::ops
