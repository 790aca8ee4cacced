// The disk cache of compiled kernels and measurements.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::platform {

/// Cache on disk: $SINTER_CACHE_DIR, else $XDG_CACHE_HOME/sinter, else ~/.cache/sinter; mode 0700. Entries are
/// checksummed, written to a unique temporary and renamed, evicted least recently used first beyond a size limit
/// (SINTER_CACHE_SIZE_MB, default 512). A folder that cannot be written is not an error: the cache is then disabled,
/// and `status()`, which tests it, gives the reason; for SINTER_CACHE_DIR so does a line on standard error. A damaged
/// entry counts as a miss and is replaced, and so does one that other users could have written. Safe under many threads
/// and processes.
class disk_cache {
 public:
  static disk_cache& instance();
  /// The entry for this key (any bytes: source, options, architecture, compiler identity), or nothing.
  std::optional<std::vector<char>> load(std::string_view key);
  /// Stores; returns false (and keeps the reason) on failure.
  bool store(std::string_view key, const std::vector<char>& bytes);
  /// Removes an entry that has turned out to be unusable.
  void remove(std::string_view key);
  std::string folder() const;
  std::string status() const;

 private:
  disk_cache();
};

}  // namespace sinter::platform
