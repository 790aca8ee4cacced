// The process's disk cache: its folder, its size limit, and its status.
#include <pwd.h>
#include <unistd.h>

#include <memory>
#include <mutex>

#include "platform/cache_folder.hpp"
#include "platform/disk_cache.hpp"
#include "platform/environment.hpp"
#include "platform/files.hpp"
#include "platform/hooks.hpp"

namespace sinter::platform {
namespace {

constexpr std::int64_t default_limit_mb = 512;

std::string home_folder() {
  std::string home = environment("HOME");
  if (!home.empty()) return home;
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> text(16384);
  ::getpwuid_r(::geteuid(), &entry, text.data(), text.size(), &found);
  return found != nullptr && found->pw_dir != nullptr ? found->pw_dir : "";
}

// Relative to the working directory only if the user says so: the XDG specification rules it out for its variable.
std::string default_folder() {
  if (const std::string_view folder = environment_text("SINTER_CACHE_DIR"); !folder.empty()) return std::string(folder);
  if (const std::string folder = environment("XDG_CACHE_HOME"); folder.starts_with('/')) return folder + "/sinter";
  const std::string home = home_folder();
  return home.empty() ? "" : home + "/.cache/sinter";
}

std::uint64_t default_limit() {
  return static_cast<std::uint64_t>(environment_number("SINTER_CACHE_SIZE_MB").value_or(default_limit_mb)) << 20;
}

std::shared_ptr<cache_folder> make_default() {
  std::string folder = default_folder();
  const std::uint64_t limit = default_limit();
  std::string problem;
  if (folder.empty()) problem = "none of SINTER_CACHE_DIR, XDG_CACHE_HOME and HOME is set";
  if (limit == 0) {
    problem = "SINTER_CACHE_SIZE_MB is 0";
    folder.clear();
  }
  return std::make_shared<cache_folder>(std::move(folder), limit, std::move(problem));
}

// Never destroyed: arrays with static lifetime may still cause compilations when the process exits.
struct current_folder {
  std::mutex mutex;
  std::shared_ptr<cache_folder> folder = make_default();
};

current_folder& current() {
  static current_folder& instance = *new current_folder;
  return instance;
}

std::shared_ptr<cache_folder> folder_in_use() {
  current_folder& c = current();
  const std::lock_guard lock(c.mutex);
  return c.folder;
}

}  // namespace

disk_cache::disk_cache() = default;

disk_cache& disk_cache::instance() {
  static disk_cache& instance = *new disk_cache;
  return instance;
}

std::optional<std::vector<char>> disk_cache::load(std::string_view key) { return folder_in_use()->load(key); }

bool disk_cache::store(std::string_view key, const std::vector<char>& bytes) {
  const std::shared_ptr<cache_folder> folder = folder_in_use();
  if (folder->store(key, {bytes.data(), bytes.size()})) return true;
  if (!folder->path().empty() && folder->path() == environment_text("SINTER_CACHE_DIR")) {
    if (const std::string problem = folder->try_writing(); !problem.empty())
      warn_of_environment("SINTER_CACHE_DIR",
                          "cannot be used: " + problem + ": kernels are compiled again in each process");
  }
  return false;
}

void disk_cache::remove(std::string_view key) { folder_in_use()->remove(key); }

std::string disk_cache::folder() const { return folder_in_use()->path(); }

std::string disk_cache::status() const {
  const std::shared_ptr<cache_folder> folder = folder_in_use();
  const std::string problem = folder->try_writing();
  if (!problem.empty()) return "off: " + problem;
  return "on: " + folder->path() + ", at most " + std::to_string(folder->limit_bytes() >> 20) + " MB";
}

void reset_disk_cache_for_tests(const std::string& folder, std::uint64_t limit_bytes) {
  current_folder& c = current();
  const std::lock_guard lock(c.mutex);
  c.folder = std::make_shared<cache_folder>(folder, limit_bytes);
}

}  // namespace sinter::platform
