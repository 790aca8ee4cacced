// Where a reader gets its bytes: a file, memory, a stream, a member of an archive. Readers query how much there may
// be before they allocate memory for it, so that a false size in a file costs nothing.
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
  /// `title` begins every message about it: "[load] 'x.npy'".
  explicit byte_source(std::string title) : title_(std::move(title)) {}
  virtual ~byte_source() = default;
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;

  /// The next bytes; io_error where there are fewer.
  void read(void* to, std::size_t bytes);
  /// No more than this many bytes are left. `unknown` of a stream.
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

/// Bytes in memory, which must outlive it.
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

/// A regular file. Throws io_error where it cannot be opened or is none.
class file_source final : public byte_source {
 public:
  file_source(const std::string& path, std::string title, bool writable = false);
  ~file_source() override;
  std::uint64_t left() const override { return size_ > position() ? size_ - position() : 0; }
  std::uint64_t size() const noexcept { return size_; }
  /// Maps the first `bytes` bytes of the file, until the last copy of the pointer is gone. Throws io_error.
  /// shared: what is written goes to the file; else the first write to a page makes a copy of it.
  std::shared_ptr<void> map(std::size_t bytes, bool writable, bool shared) const;

 private:
  std::size_t read_some(void* to, std::size_t bytes) override;
  int fd_;
  std::uint64_t size_ = 0;
};

/// A whole file as text. Throws io_error.
std::string read_text(const std::string& path, const std::string& title);

}  // namespace sinter::io
