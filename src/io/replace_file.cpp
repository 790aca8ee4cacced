// A temporary file and its rename.
#include "io/replace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "platform/files.hpp"
#include "sinter/error.hpp"

namespace sinter::io {

replace_file::replace_file(const std::string& path, std::string title) : title_(std::move(title)), path_(path) {
  if (const std::string real = platform::real_path(path); !real.empty()) path_ = real;
  struct stat old {};
  const bool exists = ::stat(path_.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail("cannot be written", errno);
    return;
  }
  if (exists && ::access(path_.c_str(), W_OK) != 0) fail("cannot be written", errno);
  temporary_ = path_ + "." + platform::unique_suffix();
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) {
    temporary_.clear();
    fail("cannot be written", errno);
  }
  if (exists) (void)!::fchmod(fd_, old.st_mode & 07777);  // some file systems have no modes, which is not an error
}

replace_file::~replace_file() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void replace_file::write(const void* data, std::size_t bytes) {
  if (!platform::write_all(fd_, data, bytes)) fail("cannot be written", errno);
}

void replace_file::finish() {
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) fail("cannot be written", errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be written", errno);
  temporary_.clear();
}

void replace_file::fail(const std::string& what, int code) const {
  throw io_error(title_ + " " + what + ": " + platform::errno_text(code));
}

}  // namespace sinter::io
