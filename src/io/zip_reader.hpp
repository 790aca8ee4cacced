// An archive of .npy files, open for reading.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "io/byte_source.hpp"
#include "sinter/io.hpp"

namespace sinter::detail {

/// Names, sizes and contents of the members. Throws io_error if the data is not an archive.
class zip_reader {
 public:
  explicit zip_reader(const std::string& path);
  /// An archive in memory, which must outlive the reader.
  zip_reader(std::span<const std::byte> bytes, std::string title);
  ~zip_reader();
  zip_reader(const zip_reader&) = delete;
  zip_reader& operator=(const zip_reader&) = delete;

  /// Names of the members as array names (without ".npy"), in the archive's order; of equal names the last one is used.
  const std::vector<std::string>& names() const noexcept { return names_; }
  bool contains(std::string_view name) const noexcept { return find(name) >= 0; }
  ndarray load(std::string_view name, const load_kw& kw);
  /// The text of a member that is a single short string (NumPy's S or U), of ASCII characters.
  std::string load_word(std::string_view name);

 private:
  struct handle;
  void list();
  std::int64_t find(std::string_view name) const noexcept;

  std::string title_;
  std::unique_ptr<handle> archive_;
  std::vector<std::string> names_;
  std::map<std::string, std::int64_t, std::less<>> places_;
  std::mutex mutex_;
};

}  // namespace sinter::detail
