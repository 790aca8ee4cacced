// What compiling and caching share: files, private folders, processes without a shell, identities for keys.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter::jit {

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

/// Writes all bytes, through interruptions and short writes; false leaves the cause in errno.
bool write_all(int fd, const void* data, std::size_t bytes) noexcept;
/// The rest of the file, at most `limit` bytes more than it had when opened; nothing on a read error.
std::optional<std::vector<char>> read_all(int fd);
std::optional<std::vector<char>> read_file(const std::string& path);
/// Creates or truncates, mode 0600; false leaves the cause in errno.
bool write_file(const std::string& path, std::string_view bytes) noexcept;
/// The message for an errno value.
std::string errno_text(int code);

/// "PID-COUNT-RANDOM": differs between threads, processes and (in all likelihood) machines that share a folder.
std::string unique_suffix();

/// A folder of mode 0700 under $TMPDIR or /tmp, removed with the files in it. `path()` is empty where it could not be
/// made, and errno_code() says why.
class private_folder {
 public:
  private_folder();
  ~private_folder();
  private_folder(const private_folder&) = delete;
  private_folder& operator=(const private_folder&) = delete;
  const std::string& path() const noexcept { return path_; }
  int errno_code() const noexcept { return errno_; }

 private:
  std::string path_;
  int errno_ = 0;
};

struct process_result {
  int start_error = 0;   // errno where the program could not be started
  int exit_status = 0;   // exit status, or 128 + signal; -1 where the process's parent discards it (SIGCHLD ignored)
};
/// Runs a program without a shell and waits: standard input is empty, both outputs go to the file `log`, temporary
/// files to `folder`, messages are in English.
process_result run_process(const std::string& program, const std::vector<std::string>& arguments,
                           const std::string& folder, const std::string& log);

/// "PATH|SIZE|SECONDS.NANOSECONDS" of the file behind all symbolic links, or empty where there is none.
std::string file_identity(const std::string& path);
std::string real_path(const std::string& path);

/// What -march=native depends on: a text that differs between processors with different instruction sets.
const std::string& cpu_features();

/// The text of an environment variable; empty where it is unset.
std::string environment(const char* name);

/// Appends a length-prefixed field, so that no two lists of fields give the same key.
void append_field(std::string& key, std::string_view field);

}  // namespace sinter::jit
