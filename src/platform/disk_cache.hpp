// The cache on disk of what has been compiled and measured.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::platform {

/// Cache on disk: $SINTER_CACHE_DIR, else $XDG_CACHE_HOME/sinter, else ~/.cache/sinter; mode 0700. Entries are
/// checksummed, written to a unique temporary and renamed, evicted least recently used first beyond a size limit
/// (SINTER_CACHE_SIZE_MB, default 512). A folder that cannot be written is not an error: the cache is then off, and
/// `status()`, which tries it, says why; of SINTER_CACHE_DIR a line on standard error does too. A damaged entry counts
/// as a miss and is replaced, and so does one that others could have written. Safe under many threads and processes.
class disk_cache {
 public:
  static disk_cache& instance();
  /// The entry for this key (any bytes: source, options, architecture, compiler identity), or nothing.
  std::optional<std::vector<char>> load(std::string_view key);
  /// Stores; returns false (and remembers why) where it cannot.
  bool store(std::string_view key, const std::vector<char>& bytes);
  /// Forgets an entry that cannot be used after all.
  void remove(std::string_view key);
  std::string folder() const;
  std::string status() const;

 private:
  disk_cache();
};

}  // namespace sinter::platform
