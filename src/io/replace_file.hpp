// Writing a file that readers see whole or not at all: the bytes go to a temporary beside it, which takes its name when
// it is complete. So a failure leaves the old file, and arrays mapped from the old file keep their elements.
#pragma once
#include <cstddef>
#include <string>

namespace sinter::io {

class replace_file {
 public:
  /// Links are followed. What is there and is no regular file (a pipe, a terminal) is written directly. Throws io_error
  /// that begins with `title`.
  replace_file(const std::string& path, std::string title);
  /// Without finish() the old file stays as it is.
  ~replace_file();
  replace_file(const replace_file&) = delete;
  replace_file& operator=(const replace_file&) = delete;

  void write(const void* data, std::size_t bytes);
  void finish();

 private:
  [[noreturn]] void fail(const std::string& what, int code) const;

  std::string title_, path_, temporary_;
  int fd_ = -1;
};

}  // namespace sinter::io
