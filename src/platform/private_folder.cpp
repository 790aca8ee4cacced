// Private folders and their locks.
#include "platform/private_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>

namespace sinter::platform {
namespace {

constexpr std::string_view prefix = "sinter-jit-";
constexpr const char* lock_name = "lock";
// The lock is renamed once it is held, so that no process finds it free while its creator lives.
constexpr const char* new_lock_name = "lock.new";
constexpr std::time_t unlocked_seconds = 3600;  // longer than creating and then locking a folder takes

std::string base_folder() {
  std::string base = environment("TMPDIR");
  return base.empty() || base[0] != '/' ? "/tmp" : base;
}

// Links are removed, not followed.
void remove_folder(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

unique_fd lock_folder(const std::string& path) {
  const std::string early = path + "/" + new_lock_name, name = path + "/" + lock_name;
  unique_fd fd(::open(early.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  // On file systems without locks the folder is removed by age.
  if (!fd || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 || ::rename(early.c_str(), name.c_str()) != 0) return {};
  return fd;
}

bool is_abandoned(const std::string& path) {
  struct stat st {};
  if (::lstat(path.c_str(), &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != ::geteuid() || (st.st_mode & 077) != 0)
    return false;
  const unique_fd lock(::open((path + "/" + lock_name).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (lock) return ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0;
  return errno == ENOENT && std::time(nullptr) - st.st_mtim.tv_sec > unlocked_seconds;
}

}  // namespace

void clear_abandoned_folders(const std::string& base) {
  DIR* dir = ::opendir(base.c_str());
  if (dir == nullptr) return;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(prefix) || name.size() != prefix.size() + 6) continue;
    const std::string path = base + "/" + entry->d_name;
    if (is_abandoned(path)) remove_folder(path);
  }
  ::closedir(dir);
}

private_folder::private_folder() {
  static std::atomic<bool> cleared{false};
  const std::string base = base_folder();
  if (!cleared.exchange(true)) clear_abandoned_folders(base);
  std::string pattern = base + "/" + std::string(prefix) + "XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    problem_ = base + " (TMPDIR or /tmp): " + errno_text(errno);
    return;
  }
  path_ = std::move(pattern);
  lock_ = lock_folder(path_);
}

private_folder::~private_folder() {
  if (!path_.empty()) remove_folder(path_);
}

}  // namespace sinter::platform
