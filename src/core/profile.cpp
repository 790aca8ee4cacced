// Profiler ranges through NVTX, whose headers locate the profiler's library themselves. They are in the lowest folder,
// since all others use them.
#include "sinter/profile.hpp"

#ifdef SINTER_HAS_CUDA

#include <nvtx3/nvToolsExt.h>

#include <cstdlib>

#include "platform/environment.hpp"

namespace sinter::inline v0 {
namespace {

bool is_wanted() noexcept {
  if (const auto wanted = platform::environment_switch("SINTER_NVTX")) return *wanted;
  const char* library = std::getenv("NVTX_INJECTION64_PATH");
  return library && *library;
}

}  // namespace

bool profiling() noexcept {
  static const bool wanted = is_wanted();
  return wanted;
}

range::range(const char* name) noexcept : open_(profiling()) {
  if (open_) nvtxRangePushA(name);
}
range::~range() {
  if (open_) nvtxRangePop();
}

}  // namespace sinter::inline v0

#else

namespace sinter::inline v0 {

bool profiling() noexcept { return false; }
range::range(const char*) noexcept : open_(false) {}
range::~range() = default;

}  // namespace sinter::inline v0

#endif
