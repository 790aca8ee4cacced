// The sources of a reader's bytes: a file, memory, a stream, a member of an archive. Readers query the available size
// before they allocate memory, so that a false size in a file cannot cause a large allocation.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>

namespace sinter::io {

class byte_source {
 public:
  /// `title` is the prefix of all error messages: "[load] 'x.npy'".
  explicit byte_source(std::string title) : title_(std::move(title)) {}
  virtual ~byte_source() = default;
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;

  /// Reads the next bytes; io_error if there are fewer.
  void read(void* to, std::size_t bytes);
  /// An upper limit on the remaining bytes; `unknown` for a stream.
  virtual std::uint64_t left() const = 0;
  static constexpr std::uint64_t unknown = UINT64_MAX;
  /// Bytes read so far.
  std::uint64_t position() const noexcept { return position_; }
  const std::string& title() const noexcept { return title_; }
  /// Throws io_error: the title and `what`.
  [[noreturn]] void fail(const std::string& what) const;

 private:
  /// Up to `bytes` bytes; 0 at the end.
  virtual std::size_t read_some(void* to, std::size_t bytes) = 0;

  std::string title_;
  std::uint64_t position_ = 0;
};

/// Bytes in memory, which must outlive the source.
class memory_source final : public byte_source {
 public:
  memory_source(std::span<const std::byte> bytes, std::string title) : byte_source(std::move(title)), bytes_(bytes) {}
  std::uint64_t left() const override { return bytes_.size() - position(); }

 private:
  std::size_t read_some(void* to, std::size_t bytes) override;
  std::span<const std::byte> bytes_;
};

class stream_source final : public byte_source {
 public:
  stream_source(std::istream& in, std::string title) : byte_source(std::move(title)), in_(in) {}
  std::uint64_t left() const override { return unknown; }

 private:
  std::size_t read_some(void* to, std::size_t bytes) override;
  std::istream& in_;
};

/// A regular file. Throws io_error if it cannot be opened or is not a regular file.
class file_source final : public byte_source {
 public:
  file_source(const std::string& path, std::string title, bool writable = false);
  ~file_source() override;
  std::uint64_t left() const override { return size_ > position() ? size_ - position() : 0; }
  std::uint64_t size() const noexcept { return size_; }
  /// Maps the first `bytes` bytes of the file, for the lifetime of the returned pointer. Throws io_error. shared:
  /// writes go to the file; otherwise pages are copied on write.
  std::shared_ptr<void> map(std::size_t bytes, bool writable, bool shared) const;

 private:
  std::size_t read_some(void* to, std::size_t bytes) override;
  int fd_;
  std::uint64_t size_ = 0;
};

/// A whole file as text. Throws io_error.
std::string read_text(const std::string& path, const std::string& title);

}  // namespace sinter::io
