// Lines of SINTER_TRACE.
#include "runtime/trace.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sinter::runtime {

bool tracing() noexcept {
  static const bool on = [] {
    const char* text = std::getenv("SINTER_TRACE");
    return text && *text && std::strcmp(text, "0") != 0;
  }();
  return on;
}

void trace(const std::string& line) noexcept { std::fprintf(stderr, "[sinter] %s\n", line.c_str()); }

}  // namespace sinter::runtime
