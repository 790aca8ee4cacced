// Files and identities, for the compilers and the cache.
#include "platform/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

namespace sinter::platform {

unique_fd::~unique_fd() {
  if (fd_ >= 0) ::close(fd_);
}

bool write_all(int fd, const void* data, std::size_t bytes) noexcept {
  const char* p = static_cast<const char*>(data);
  while (bytes != 0) {
    const ssize_t n = ::write(fd, p, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = EIO;
    if (n <= 0) return false;
    p += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<std::vector<char>> read_all(int fd, std::size_t most) {
  struct stat st {};
  if (::fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return std::nullopt;
  if (static_cast<std::uint64_t>(st.st_size) > most) return std::nullopt;
  std::vector<char> bytes(static_cast<std::size_t>(st.st_size));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t n = ::read(fd, bytes.data() + have, bytes.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
  }
  bytes.resize(have);
  return bytes;
}

std::optional<std::vector<char>> read_file(const std::string& path, std::size_t most) {
  const unique_fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // must not block on a pipe
  if (!fd) return std::nullopt;
  return read_all(fd.get(), most);
}

bool write_file(const std::string& path, std::string_view bytes) noexcept {
  const unique_fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  return fd && write_all(fd.get(), bytes.data(), bytes.size());
}

std::string errno_text(int code) { return std::generic_category().message(code); }

std::string unique_suffix() {
  static std::atomic<unsigned> count{0};
  static const unsigned random = std::random_device{}();
  char text[64];
  std::snprintf(text, sizeof text, "%ld-%u-%08x", static_cast<long>(::getpid()), count.fetch_add(1), random);
  return text;
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> text(::realpath(path.c_str(), nullptr), &std::free);
  return text ? text.get() : "";
}

std::string file_identity(const std::string& path) {
  const std::string real = real_path(path);
  struct stat st {};
  if (real.empty() || ::stat(real.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return "";
  char figures[96];
  std::snprintf(figures, sizeof figures, "|%lld|%lld.%09ld", static_cast<long long>(st.st_size),
                static_cast<long long>(st.st_mtim.tv_sec), static_cast<long>(st.st_mtim.tv_nsec));
  return real + figures;
}

namespace {

#if defined(__x86_64__) || defined(__i386__)
// Leaf 1's ebx is excluded: it identifies the core that executes the instruction.
std::string read_cpu_features() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  std::string text = "x86";
  char part[48];
  const auto add = [&](unsigned w, unsigned x, unsigned y, unsigned z) {
    std::snprintf(part, sizeof part, "-%x.%x.%x.%x", w, x, y, z);
    text += part;
  };
  if (__get_cpuid(0, &a, &b, &c, &d)) add(0, b, c, d);
  bool extended_state = false;
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    add(a, 0, c, d);
    extended_state = (c & (1U << 27)) != 0;
  }
  for (unsigned leaf = 0; leaf < 2; ++leaf) {
    if (__get_cpuid_count(7, leaf, &a, &b, &c, &d)) add(leaf == 0 ? 0 : a, b, c, d);
  }
  if (__get_cpuid(0x80000001U, &a, &b, &c, &d)) add(0, 0, c, d);
  if (extended_state) {  // the operating system must save the registers, else a feature bit is useless
    unsigned low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    add(low, high, 0, 0);
  }
  return text;
}
#else
std::string read_cpu_features() {
  utsname machine{};
  ::uname(&machine);
  return std::string(machine.machine) + "-" + std::to_string(::getauxval(AT_HWCAP)) + "-" +
         std::to_string(::getauxval(AT_HWCAP2));
}
#endif

}  // namespace

const std::string& cpu_features() {
  static const std::string& text = *new std::string(read_cpu_features());
  return text;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void append_field(std::string& key, std::string_view field) {
  key += std::to_string(field.size());
  key += ':';
  key += field;
}

}  // namespace sinter::platform
