// Libraries opened at run time: optional vendor libraries, and shared objects that were just compiled.
#pragma once
#include <string>
#include <string_view>

namespace sinter::platform {

/// A loaded library. It stays loaded for the life of the process: its code may be running, and its exit handlers may be
/// registered, so closing it would save nothing and could crash.
class dynamic_library {
 public:
  dynamic_library() = default;

  /// Opens by file name (searched for as by the dynamic linker) or path; on failure the result is empty and `error`
  /// holds the linker's message.
  static dynamic_library open(const std::string& name, std::string& error);
  /// Loads a shared object held in memory.
  static dynamic_library from_bytes(std::string_view bytes, std::string& error);

  /// The address of a symbol, or null.
  void* symbol(const char* name) const noexcept;
  template <class Function>
  bool resolve(Function& function, const char* name) const noexcept {
    function = reinterpret_cast<Function>(symbol(name));
    return function != nullptr;
  }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

 private:
  explicit dynamic_library(void* handle) noexcept : handle_(handle) {}
  void* handle_ = nullptr;
};

}  // namespace sinter::platform

/// Resolves `name`, as renamed by the macros of the vendor's header, into table.name.
#define SINTER_SYMBOL_TEXT_(name) #name
#define SINTER_SYMBOL_TEXT(name) SINTER_SYMBOL_TEXT_(name)
