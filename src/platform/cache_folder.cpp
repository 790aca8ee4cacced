// Cache entries as files: written whole under a temporary name and renamed, verified byte for byte when read.
#include "platform/cache_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "platform/files.hpp"
#include "platform/hash.hpp"

namespace sinter::platform {
namespace {

constexpr std::string_view entry_suffix = ".sinter";
// A file that is being written is locked, so that other processes can tell whether its writer lives: the lock ends with
// the process, and works across containers. The file is renamed to the second prefix as soon as it is locked.
constexpr std::string_view unlocked_prefix = "sinter-new-", temporary_prefix = "sinter-tmp-";
constexpr std::time_t stale_temporary_seconds = 3600;  // for file systems without locks

struct entry_header {
  char magic[8] = {'s', 'i', 'n', 't', 'e', 'r', 'J', 'C'};
  std::uint32_t version = 1;
  std::uint32_t byte_order = 0x01020304;
  std::uint64_t key_bytes = 0;
  std::uint64_t payload_bytes = 0;
  hash128 checksum;  // of all fields before it, the key and the payload
};
static_assert(sizeof(entry_header) == 48);

hash128 checksum(const entry_header& header, std::string_view key, std::string_view payload) {
  const std::string_view prefix(reinterpret_cast<const char*>(&header), offsetof(entry_header, checksum));
  return hash_bytes(payload, hash_bytes(key, hash_bytes(prefix)));
}

entry_header make_header(std::string_view key, std::string_view payload) {
  entry_header header;
  header.key_bytes = key.size();
  header.payload_bytes = payload.size();
  header.checksum = checksum(header, key, payload);
  return header;
}

// Key and payload determine the whole header, so one comparison checks magic, version, sizes and checksum.
bool is_valid(std::string_view file, std::string_view key) {
  if (file.size() < sizeof(entry_header) + key.size()) return false;
  if (file.substr(sizeof(entry_header), key.size()) != key) return false;
  const entry_header expected = make_header(key, file.substr(sizeof(entry_header) + key.size()));
  return std::memcmp(file.data(), &expected, sizeof expected) == 0;
}

// An entry becomes code of this process: only files that no other user could have written are valid.
bool is_trusted(int fd) {
  struct stat st {};
  return ::fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_uid == ::geteuid() || st.st_uid == 0) &&
         (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Default time stamps have the resolution of the kernel's tick, several milliseconds: too coarse for the order of use.
void touch(int fd) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const timespec stamps[2] = {now, now};
  ::futimens(fd, stamps);
}

bool make_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      struct stat st {};
      const int code = errno;
      if (::stat(part.c_str(), &st) != 0 || !S_ISDIR(st.st_mode)) {  // "/" may be read-only, yet exist
        errno = code;
        return false;
      }
    }
    if (slash == std::string::npos) return true;
  }
}

bool is_entry_name(std::string_view name) {
  return name.size() == 32 + entry_suffix.size() && name.ends_with(entry_suffix) &&
         name.find_first_not_of("0123456789abcdef") == 32;
}

struct stored_entry {
  std::string name;
  std::uint64_t bytes = 0;
  timespec used{};
};

bool used_before(const stored_entry& a, const stored_entry& b) {
  return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
}

bool is_temporary_name(std::string_view name) {
  return name.starts_with(unlocked_prefix) || name.starts_with(temporary_prefix);
}

/// Whether the file's writer has ended.
bool is_abandoned(DIR* dir, const char* name, const struct stat& st) {
  if (std::time(nullptr) - st.st_mtim.tv_sec > stale_temporary_seconds) return true;
  if (!S_ISREG(st.st_mode) || st.st_uid != ::geteuid() || !std::string_view(name).starts_with(temporary_prefix))
    return false;
  const unique_fd fd(::openat(::dirfd(dir), name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
}

// Lists the entries, and removes temporary files of processes that ended while writing.
std::vector<stored_entry> list_entries(DIR* dir) {
  std::vector<stored_entry> entries;
  while (const dirent* item = ::readdir(dir)) {
    const std::string_view name = item->d_name;
    struct stat st {};
    if (!is_temporary_name(name) && !is_entry_name(name)) continue;
    if (::fstatat(::dirfd(dir), item->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (is_entry_name(name)) entries.push_back({std::string(name), static_cast<std::uint64_t>(st.st_size), st.st_mtim});
    else if (is_abandoned(dir, item->d_name, st)) ::unlinkat(::dirfd(dir), item->d_name, 0);
  }
  return entries;
}

bool write_entry(int fd, std::string_view key, std::string_view payload) {
  const entry_header header = make_header(key, payload);
  return write_all(fd, &header, sizeof header) && write_all(fd, key.data(), key.size()) &&
         write_all(fd, payload.data(), payload.size());
}

}  // namespace

cache_folder::cache_folder(std::string path, std::uint64_t limit_bytes, std::string problem)
    : path_(std::move(path)), limit_(limit_bytes), problem_(std::move(problem)) {}

std::string cache_folder::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

std::string cache_folder::entry_path(std::string_view key) const {
  return path_ + "/" + to_hex(hash_bytes(key)).append(entry_suffix);
}

std::optional<std::vector<char>> cache_folder::load(std::string_view key) {
  if (path_.empty() || limit_ == 0) return std::nullopt;
  const std::string path = entry_path(key);
  const unique_fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) {
    if (errno == ELOOP) ::unlink(path.c_str());
    return std::nullopt;
  }
  std::optional<std::vector<char>> file;
  if (is_trusted(fd.get())) file = read_all(fd.get());
  if (!file || !is_valid({file->data(), file->size()}, key)) {
    ::unlink(path.c_str());
    return std::nullopt;
  }
  touch(fd.get());
  file->erase(file->begin(), file->begin() + static_cast<std::ptrdiff_t>(sizeof(entry_header) + key.size()));
  return file;
}

bool cache_folder::fail(const std::string& what, int code) {
  const std::lock_guard lock(mutex_);
  problem_ = what + (code != 0 ? ": " + errno_text(code) : "");
  return false;
}

/// A new file, locked if the file system has locks; no descriptor and a problem if it cannot be created.
unique_fd cache_folder::open_temporary(const std::string& suffix, std::string& path, std::string& problem) const {
  if (!make_folders(path_)) {
    problem = "cannot create the folder " + path_ + ": " + errno_text(errno);
    return {};
  }
  path = path_ + "/" + std::string(unlocked_prefix) + suffix;
  unique_fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) {
    problem = "cannot create a file in " + path_ + ": " + errno_text(errno);
    return {};
  }
  const std::string locked = path_ + "/" + std::string(temporary_prefix) + suffix;
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0 && ::rename(path.c_str(), locked.c_str()) == 0) path = locked;
  return fd;
}

std::string cache_folder::try_writing() {
  if (path_.empty()) return problem();
  std::string path, problem;
  const unique_fd fd = open_temporary(unique_suffix(), path, problem);
  if (!fd) return problem;
  const std::string text(4096, ' ');
  if (!write_all(fd.get(), text.data(), text.size())) problem = "cannot write to " + path_ + ": " + errno_text(errno);
  ::unlink(path.c_str());
  return problem;
}

bool cache_folder::store(std::string_view key, std::string_view payload) {
  if (path_.empty()) return false;
  const std::uint64_t bytes = sizeof(entry_header) + key.size() + payload.size();
  if (bytes > limit_) {
    return fail("an entry of " + std::to_string(bytes) + " bytes exceeds the cache's limit of " +
                    std::to_string(limit_) + " bytes",
                0);
  }
  std::string temporary, problem;
  const unique_fd fd = open_temporary(unique_suffix(), temporary, problem);
  if (!fd) return fail(problem, 0);
  clear_abandoned();
  const std::string target = entry_path(key);
  bool stored = write_entry(fd.get(), key, payload) || fail("cannot write to " + path_, errno);
  touch(fd.get());
  if (stored && ::rename(temporary.c_str(), target.c_str()) != 0) stored = fail("cannot rename to " + target, errno);
  if (!stored) {
    ::unlink(temporary.c_str());
    return false;
  }
  account(bytes, target);
  return true;
}

void cache_folder::remove(std::string_view key) {
  if (!path_.empty()) ::unlink(entry_path(key).c_str());
}

/// Called with the first store: removes temporary files of processes that ended while writing.
void cache_folder::clear_abandoned() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(cleared_, true)) return;
  }
  DIR* dir = ::opendir(path_.c_str());
  if (dir == nullptr) return;
  while (const dirent* item = ::readdir(dir)) {
    struct stat st {};
    if (is_temporary_name(item->d_name) && ::fstatat(::dirfd(dir), item->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        is_abandoned(dir, item->d_name, st))
      ::unlinkat(::dirfd(dir), item->d_name, 0);
  }
  ::closedir(dir);
}

// Scanning the folder at each store would cost more than the store once there are thousands of entries. A scan at one
// store in 32 (chosen by name, so that many short processes share the work) and after each sixteenth of the limit
// bounds the excess.
void cache_folder::account(std::uint64_t bytes, const std::string& path) {
  {
    const std::lock_guard lock(mutex_);
    problem_.clear();
    stored_since_scan_ += bytes;
    const char last_digit = path[path.size() - entry_suffix.size() - 1];
    const char digit_before = path[path.size() - entry_suffix.size() - 2];
    const bool chosen = last_digit == '0' && (digit_before & 1) == 0;
    if (!chosen && stored_since_scan_ <= limit_ / 16) return;
    stored_since_scan_ = 0;
  }
  evict();
}

// Evicts down to seven eighths of the limit, so that a full cache is not scanned again at once. One process at a time:
// a second one would count and remove the same files.
void cache_folder::evict() {
  const unique_fd lock_file(::open((path_ + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock_file && ::flock(lock_file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return;
  DIR* dir = ::opendir(path_.c_str());
  if (dir == nullptr) return;
  std::vector<stored_entry> entries = list_entries(dir);
  std::uint64_t total = 0;
  for (const stored_entry& entry : entries) total += entry.bytes;
  if (total > limit_) {
    std::sort(entries.begin(), entries.end(), used_before);
    for (const stored_entry& entry : entries) {
      if (total <= limit_ - limit_ / 8) break;
      if (::unlinkat(::dirfd(dir), entry.name.c_str(), 0) == 0) total -= entry.bytes;
    }
  }
  ::closedir(dir);
}

}  // namespace sinter::platform
