// For tests only: the folder of the disk cache.
#pragma once
#include <cstdint>
#include <string>

namespace sinter::platform {

/// Redirects disk_cache::instance() to another folder. Calls in progress finish with the folder they began with.
void reset_disk_cache_for_tests(const std::string& folder, std::uint64_t limit_bytes = std::uint64_t{512} << 20);

}  // namespace sinter::platform
