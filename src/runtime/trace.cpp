// SINTER_TRACE and SINTER_SYNC.
#include "runtime/trace.hpp"

#include <atomic>
#include <cstdio>

#include "platform/environment.hpp"
#include "runtime/hooks.hpp"

namespace sinter::runtime {
namespace {

std::atomic<bool>& synchronous_setting() noexcept {
  static std::atomic<bool> on{platform::environment_switch("SINTER_SYNC").value_or(false)};
  return on;
}

}  // namespace

bool tracing() noexcept {
  static const bool on = platform::environment_switch("SINTER_TRACE").value_or(false);
  return on;
}

bool synchronous() noexcept { return synchronous_setting().load(std::memory_order_relaxed); }
void set_synchronous(bool on) noexcept { synchronous_setting() = on; }

void trace(const std::string& line) noexcept { std::fprintf(stderr, "[sinter] %s\n", line.c_str()); }

}  // namespace sinter::runtime
