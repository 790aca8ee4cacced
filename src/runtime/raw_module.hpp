// Kernels that users write: the interface of a device to load a module of them and to launch one. Names here are those
// of the compiled code (mangled); the names that users write are resolved above this layer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sinter::runtime {

/// What a module is made from.
struct module_source {
  std::string text;                         // source text, or the bytes of an image
  bool image = false;                       // already compiled (a cubin, a fatbin, PTX)
  std::string file;                         // where it was read; empty for text of the program
  std::vector<std::string> options, names;  // of the compiler; name expressions of templates
  bool fast_math = false;
};

struct extents3 {
  std::int64_t x = 1, y = 1, z = 1;
};

/// One launch, with extents that lie within the limits.
struct raw_launch {
  extents3 grid, block, cluster{0, 0, 0};  // cluster: all 0 for none
  std::size_t shared_bytes = 0;            // dynamic
  bool cooperative = false;
};

/// What a function uses, and what bounds its launches.
struct function_figures {
  int registers = 0, max_threads = 0, binary_version = 0, ptx_version = 0;
  std::size_t shared_bytes = 0, max_dynamic_shared = 0, constant_bytes = 0, local_bytes = 0;
  extents3 max_grid, max_block;
  bool cooperative = false, clusters = false;  // whether the device has them
};

/// A kernel of a loaded module. Thread safe.
class raw_function {
 public:
  virtual ~raw_function() = default;
  virtual const function_figures& figures() const = 0;
  /// Bytes of each parameter, where the device can tell.
  virtual std::optional<std::vector<std::size_t>> parameter_bytes() const = 0;
  /// Blocks resident on one multiprocessor.
  virtual int occupancy(const extents3& block, std::size_t shared_bytes) = 0;
  /// Enqueues; arguments[i] points to the value of parameter i. Throws value_error or device_error naming the kernel.
  virtual void launch(const raw_launch& how, void** arguments) = 0;
};

/// A variable of a loaded module.
struct raw_variable {
  void* address = nullptr;
  std::size_t bytes = 0;
};

/// A module loaded on one device; unloaded, after the device has finished with it, when the last reference goes.
class raw_module {
 public:
  virtual ~raw_module() = default;
  /// Name expressions of the source with the names they have in the compiled code.
  virtual const std::vector<std::pair<std::string, std::string>>& lowered_names() const = 0;
  /// Kernels and variables in the compiled code; nothing where the image cannot be read.
  virtual const std::optional<std::vector<std::string>>& kernels() const = 0;
  virtual const std::optional<std::vector<std::string>>& variables() const = 0;
  /// Null if there is none. `shown` is the name for messages.
  virtual std::shared_ptr<raw_function> get_function(const std::string& lowered, const std::string& shown) = 0;
  virtual std::optional<raw_variable> get_variable(const std::string& lowered) = 0;
};

}  // namespace sinter::runtime
