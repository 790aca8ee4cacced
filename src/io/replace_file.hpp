// Atomic replacement of a file: the bytes go to a temporary file in the same folder, which is renamed when it is
// complete. A failure leaves the old file, and arrays mapped from the old file keep their elements.
#pragma once
#include <cstddef>
#include <string>

namespace sinter::io {

class replace_file {
 public:
  /// Follows links. An existing path that is not a regular file (a pipe, a terminal) is written directly. Throws
  /// io_error with the prefix `title`.
  replace_file(const std::string& path, std::string title);
  /// Without finish() the old file is unchanged.
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
