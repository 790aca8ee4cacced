// src/platform: the library's interface to the operating system and the process: files and their identities, caches on
// disk, libraries opened at run time, child processes, the background thread, the environment, hashes. Independent of
// arrays, dtypes and programs.
//
// Shared by compiling and caching: files, identities for keys.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter::platform {

/// Owns a file descriptor.
class unique_fd {
 public:
  unique_fd() = default;
  explicit unique_fd(int fd) noexcept : fd_(fd) {}
  unique_fd(unique_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~unique_fd();
  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Writes all bytes, despite interruptions and short writes; false leaves the cause in errno.
bool write_all(int fd, const void* data, std::size_t bytes) noexcept;
/// The contents of a regular file of at most so many bytes; null for anything else, and on a read error.
std::optional<std::vector<char>> read_all(int fd, std::size_t most = SIZE_MAX);
std::optional<std::vector<char>> read_file(const std::string& path, std::size_t most = SIZE_MAX);
/// Creates or truncates, mode 0600; false leaves the cause in errno.
bool write_file(const std::string& path, std::string_view bytes) noexcept;
/// The message for an errno value.
std::string errno_text(int code);

/// "PID-COUNT-RANDOM": differs between threads, processes and (in all likelihood) machines that share a folder.
std::string unique_suffix();

/// "PATH|SIZE|SECONDS.NANOSECONDS" of the file with symbolic links resolved, or empty if there is none.
std::string file_identity(const std::string& path);
std::string real_path(const std::string& path);

/// What -march=native depends on: a text that differs between processors with different instruction sets.
const std::string& cpu_features();

/// The text of an environment variable; empty if it is unset.
std::string environment(const char* name);

/// Appends a length-prefixed field, so that no two lists of fields give the same key.
void append_field(std::string& key, std::string_view field);

}  // namespace sinter::platform
