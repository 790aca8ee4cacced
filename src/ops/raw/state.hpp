// src/ops/raw: users' modules and kernels that are launched as they are.
//
// What the handles raw_module and raw_kernel share: a module's source with the modules loaded from it, and a kernel
// with its function on each device.
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

struct raw_source {
  runtime::module_source from;

  explicit raw_source(runtime::module_source s) : from(std::move(s)) {}
  /// The module on a device, compiled and loaded by the first caller. `who` is named in messages.
  std::shared_ptr<runtime::raw_module> on(runtime::device_id device, const std::string& who);

 private:
  std::mutex mutex_;
  std::map<int, std::shared_ptr<runtime::raw_module>> loaded_;  // by the device's number
};

/// A kernel on one device.
struct bound_kernel {
  std::shared_ptr<runtime::raw_function> function;
  std::optional<raw_signature> signature;                   // where the text tells
  std::optional<std::vector<std::size_t>> parameter_bytes;  // where the device tells
};

struct raw_entry {
  std::shared_ptr<raw_source> source;
  std::string name;

  raw_entry(std::shared_ptr<raw_source> s, std::string_view n) : source(std::move(s)), name(n) {}
  /// Loaded and looked up by the first caller.
  const bound_kernel& on(runtime::device_id device);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<const bound_kernel>> bound_;  // by the device's number
};

/// The GPU to use where no array decides: `on`, else the default device. device_error where it is not one.
runtime::device_id raw_device(const std::optional<device>& on, const std::string& who);
/// Throws device_error unless kernels can run there; `which` says whose device it is ("argument 2 is on ").
void require_gpu(runtime::device_id id, const std::string& who, const std::string& which);

/// The name in the compiled code of a kernel, or of a variable, that a user names. value_error, with what there is,
/// where there is none or more than one.
std::string lowered_kernel(const runtime::raw_module& module, const std::string& name);
std::string lowered_variable(const runtime::raw_module& module, const std::string& name);

}  // namespace sinter::ops
