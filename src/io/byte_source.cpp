// Bytes from memory, streams and files.
#include "io/byte_source.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <istream>

#include "platform/files.hpp"
#include "sinter/error.hpp"

namespace sinter::io {

void byte_source::fail(const std::string& what) const { throw io_error(title_ + " " + what); }

void byte_source::read(void* to, std::size_t bytes) {
  auto* at = static_cast<std::byte*>(to);
  for (std::size_t wanted = bytes; wanted > 0;) {
    const std::size_t got = read_some(at, wanted);
    if (got == 0)
      fail("ends after " + std::to_string(position_) + " bytes; " + std::to_string(wanted) + " more are missing");
    at += got;
    wanted -= got;
    position_ += got;
  }
}

std::size_t memory_source::read_some(void* to, std::size_t bytes) {
  const std::size_t n = std::min<std::size_t>(bytes, bytes_.size() - position());
  if (n > 0) std::memcpy(to, bytes_.data() + position(), n);
  return n;
}

std::size_t stream_source::read_some(void* to, std::size_t bytes) {
  in_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
  if (in_.bad()) fail("cannot be read");
  return static_cast<std::size_t>(in_.gcount());
}

file_source::file_source(const std::string& path, std::string title, bool writable)
    : byte_source(std::move(title)),
      fd_(::open(path.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK)) {
  if (fd_ < 0) fail("cannot be opened: " + platform::errno_text(errno));
  struct stat about {};
  const bool known = ::fstat(fd_, &about) == 0;
  if (known && S_ISREG(about.st_mode)) {
    size_ = static_cast<std::uint64_t>(about.st_size);
    return;
  }
  ::close(fd_);
  fail(known ? "is no regular file; read it as a stream" : "cannot be examined");
}

file_source::~file_source() { ::close(fd_); }

std::size_t file_source::read_some(void* to, std::size_t bytes) {
  constexpr std::size_t most = std::size_t{1} << 30;  // one call takes less than 2 GiB
  for (;;) {
    const ssize_t got = ::read(fd_, to, std::min(bytes, most));
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) fail("cannot be read: " + platform::errno_text(errno));
  }
}

std::shared_ptr<void> file_source::map(std::size_t bytes, bool writable, bool shared) const {
  const int protection = PROT_READ | (writable ? PROT_WRITE : 0);
  void* const at = ::mmap(nullptr, bytes, protection, shared ? MAP_SHARED : MAP_PRIVATE, fd_, 0);
  if (at == MAP_FAILED) fail("cannot be mapped: " + platform::errno_text(errno));
  return {at, [bytes](void* p) { ::munmap(p, bytes); }};
}

std::string read_text(const std::string& path, const std::string& title) {
  file_source file(path, title);
  std::string text(file.left(), '\0');
  file.read(text.data(), text.size());
  return text;
}

}  // namespace sinter::io
