// SINTER_TRACE and SINTER_SYNC.
#include "runtime/trace.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sinter::runtime {
namespace {

bool is_set(const char* text) noexcept { return text && *text && std::strcmp(text, "0") != 0; }

std::atomic<bool>& synchronous_setting() noexcept {
  static std::atomic<bool> on{is_set(std::getenv("SINTER_SYNC"))};
  return on;
}

}  // namespace

bool tracing() noexcept {
  static const bool on = is_set(std::getenv("SINTER_TRACE"));
  return on;
}

bool synchronous() noexcept { return synchronous_setting().load(std::memory_order_relaxed); }
void set_synchronous(bool on) noexcept { synchronous_setting() = on; }

void trace(const std::string& line) noexcept { std::fprintf(stderr, "[sinter] %s\n", line.c_str()); }

}  // namespace sinter::runtime
