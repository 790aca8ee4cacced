// Opening libraries by name, and shared objects from memory without relying on a file that other processes could
// replace.
#include "platform/dynamic_library.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>

#include "platform/elf_check.hpp"
#include "platform/files.hpp"
#include "platform/private_folder.hpp"

namespace sinter::platform {
namespace {

void* open_handle(const std::string& path, std::string& error) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* message = ::dlerror();
    error = message != nullptr ? message : "cannot open " + path;
  }
  return handle;
}

// The dynamic linker considers a library loaded if its path was opened before, and descriptor numbers are reused. So
// each load writes the same path differently: the bits of a counter as "/" and "/.".
std::string descriptor_path(int fd) {
  static std::atomic<unsigned> loads{0};
  std::string path = "/proc/self";
  for (unsigned bits = loads.fetch_add(1) + 1; bits != 0; bits >>= 1) path += (bits & 1) != 0 ? "/." : "/";
  return path + "/fd/" + std::to_string(fd);
}

void* load_from_memory(std::string_view bytes, std::string& error) {
  const unique_fd fd(::memfd_create("sinter", MFD_CLOEXEC));
  if (!fd || !write_all(fd.get(), bytes.data(), bytes.size())) {
    error = "memfd_create: " + errno_text(errno);
    return nullptr;
  }
  return open_handle(descriptor_path(fd.get()), error);
}

// For systems that refuse executable anonymous files.
void* load_from_file(std::string_view bytes, std::string& error) {
  const private_folder folder;
  const std::string path = folder.path() + "/" + unique_suffix() + ".so";
  if (folder.path().empty() || !write_file(path, bytes)) {
    const std::string why = folder.path().empty() ? folder.problem() : errno_text(errno);
    error += "; cannot write a temporary file: " + why;
    return nullptr;
  }
  return open_handle(path, error);
}

}  // namespace

dynamic_library dynamic_library::open(const std::string& name, std::string& error) {
  return dynamic_library(open_handle(name, error));
}

dynamic_library dynamic_library::from_bytes(std::string_view bytes, std::string& error) {
  if (const char* const damage = damage_of_library(bytes); *damage != '\0') {
    error = std::string("it is no shared library: ") + damage;
    return {};
  }
  void* handle = load_from_memory(bytes, error);
  if (handle == nullptr) handle = load_from_file(bytes, error);
  return dynamic_library(handle);
}

void* dynamic_library::symbol(const char* name) const noexcept {
  return handle_ == nullptr ? nullptr : ::dlsym(handle_, name);
}

}  // namespace sinter::platform
