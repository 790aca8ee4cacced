// For tests only: where the disk cache lies.
#pragma once
#include <cstdint>
#include <string>

namespace sinter::platform {

/// Points disk_cache::instance() at another folder. Calls in progress finish with the one they began with.
void reset_disk_cache_for_tests(const std::string& folder, std::uint64_t limit_bytes = std::uint64_t{512} << 20);

}  // namespace sinter::platform
