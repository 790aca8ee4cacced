// One folder of cache entries: the file format, atomic replacement, verification and eviction.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/files.hpp"

namespace sinter::platform {

/// Safe under many threads and processes. Throws nothing except std::bad_alloc; `problem()` describes failures.
class cache_folder {
 public:
  /// `problem` is set if there is no folder to use (path empty) and nothing can be stored.
  cache_folder(std::string path, std::uint64_t limit_bytes, std::string problem = "");

  /// The payload stored under the key, after comparing the whole key and the checksum. A file of the entry's name with
  /// other contents is removed. A hit makes the entry the most recently used one.
  std::optional<std::vector<char>> load(std::string_view key);
  bool store(std::string_view key, std::string_view payload);
  void remove(std::string_view key);
  /// Writes a file and removes it again; returns why nothing can be stored, or an empty string.
  std::string try_writing();

  const std::string& path() const noexcept { return path_; }
  std::uint64_t limit_bytes() const noexcept { return limit_; }
  std::string problem() const;
  /// The file that holds (or would hold) the entry.
  std::string entry_path(std::string_view key) const;

 private:
  bool fail(const std::string& what, int code);
  unique_fd open_temporary(const std::string& suffix, std::string& path, std::string& problem) const;
  void clear_abandoned();
  void account(std::uint64_t bytes, const std::string& name);
  void evict();

  const std::string path_;
  const std::uint64_t limit_;
  mutable std::mutex mutex_;  // guards the members below
  std::string problem_;
  std::uint64_t stored_since_scan_ = 0;
  bool cleared_ = false;
};

}  // namespace sinter::platform
