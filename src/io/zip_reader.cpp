// Archives through libzip. The declared size of a member is checked against the most that deflate can expand its bytes
// to, so that a small file cannot cause a large allocation.
#include "io/zip_reader.hpp"

#include "io/npy.hpp"
#include "io/zip_library.hpp"
#include "ops/base/errors.hpp"
#include "platform/host_libraries.hpp"
#include "sinter/error.hpp"

namespace sinter {

namespace io {

const zip_api& zip_library(const char* function) {
  static const auto& opened = platform::open_library<zip_api>(platform::libzip_place());
  if (!opened.usable)
    ops::fail<io_error>(function, "libzip cannot be loaded (", opened.place.remedy, "); tried ", opened.tried);
  return opened.api;
}

std::string zip_error_text(const zip_api& api, int code) {
  zip_failure error;
  api.zip_error_init_with_code(&error, code);
  std::string text = api.zip_error_strerror(&error);
  api.zip_error_fini(&error);
  return text;
}

namespace {

/// A member, read from its first to its last byte; the checksum is verified at the end.
class member_source final : public byte_source {
 public:
  member_source(const zip_api& api, zip_archive* archive, std::int64_t index, std::uint64_t archive_bytes,
                std::string title)
      : byte_source(std::move(title)), api_(api) {
    zip_about about;
    if (api_.zip_stat_index(archive, static_cast<std::uint64_t>(index), 0, &about) != 0)
      fail(std::string("cannot be read: ") + api_.zip_strerror(archive));
    check(about, archive_bytes);
    size_ = about.size;
    file_ = api_.zip_fopen_index(archive, static_cast<std::uint64_t>(index), 0);
    if (!file_) fail(std::string("cannot be read: ") + api_.zip_strerror(archive));
  }
  ~member_source() override {
    if (file_) api_.zip_fclose(file_);
  }
  std::uint64_t left() const override { return size_ - position(); }
  /// Reads the remaining bytes.
  void finish() {
    char rest[4096];
    while (read_some(rest, sizeof rest) != 0) {
    }
  }

 private:
  void check(const zip_about& about, std::uint64_t archive_bytes) const {
    constexpr std::uint64_t wanted = zip::has_size | zip::has_compressed_size | zip::has_compression;
    if ((about.valid & wanted) != wanted) fail("is damaged: the archive does not say how large it is");
    if ((about.valid & zip::has_encryption) != 0 && about.encryption != zip::unencrypted) fail("is encrypted");
    const bool stored = about.compression == zip::stored;
    if (!stored && about.compression != zip::deflated)
      fail("is compressed by method " + std::to_string(about.compression) + "; stored and deflated members are known");
    // Deflate expands two bits to at most 258 bytes.
    constexpr std::uint64_t expansion = 1032;
    const bool plausible =
        about.compressed_size <= archive_bytes &&
        (stored ? about.size == about.compressed_size : about.size / expansion <= about.compressed_size + 1);
    if (!plausible)
      fail("is damaged: " + std::to_string(about.size) + " bytes cannot come from " +
           std::to_string(about.compressed_size) + " in an archive of " + std::to_string(archive_bytes));
  }

  std::size_t read_some(void* to, std::size_t bytes) override {
    const std::int64_t got = api_.zip_fread(file_, to, bytes);
    if (got < 0) fail(std::string("cannot be read: ") + api_.zip_file_strerror(file_));
    // A member may have fewer bytes than declared, but never returns more, so that left() stays valid.
    return static_cast<std::size_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(got), left()));
  }

  const zip_api& api_;
  zip_member* file_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace
}  // namespace io

namespace detail {

struct zip_reader::handle {
  const io::zip_api& api;
  io::zip_archive* archive = nullptr;
  std::uint64_t bytes = 0;  // of the whole archive
  ~handle() {
    if (archive) api.zip_discard(archive);
  }
};

zip_reader::zip_reader(const std::string& path)
    : title_(io::title_of("load_npz", path)), archive_(new handle{io::zip_library("load_npz")}) {
  archive_->bytes = io::file_source(path, title_).size();
  int code = 0;
  archive_->archive = archive_->api.zip_open(path.c_str(), io::zip::read_only, &code);
  if (!archive_->archive)
    throw io_error(title_ + " is no archive that can be read: " + io::zip_error_text(archive_->api, code));
  list();
}

zip_reader::zip_reader(std::span<const std::byte> bytes, std::string title)
    : title_(std::move(title)), archive_(new handle{io::zip_library("load_npz")}) {
  const io::zip_api& api = archive_->api;
  archive_->bytes = bytes.size();
  io::zip_failure error;
  api.zip_error_init(&error);
  io::zip_source* const source = api.zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (source) archive_->archive = api.zip_open_from_source(source, io::zip::read_only, &error);
  const std::string text = archive_->archive ? "" : api.zip_error_strerror(&error);
  api.zip_error_fini(&error);
  if (!archive_->archive) {
    if (source) api.zip_source_free(source);
    throw io_error(title_ + " is no archive that can be read: " + text);
  }
  list();
}

void zip_reader::list() {
  if (archive_->bytes < 22) throw io_error(title_ + " is no archive: it has fewer than 22 bytes");
  const std::int64_t count = archive_->api.zip_get_num_entries(archive_->archive, 0);
  for (std::int64_t k = 0; k < count; ++k) {
    const char* const text = archive_->api.zip_get_name(archive_->archive, static_cast<std::uint64_t>(k), 0);
    if (!text) continue;
    std::string name = text;
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    if (places_.insert_or_assign(name, k).second) names_.push_back(std::move(name));
  }
}

ndarray zip_reader::load(std::string_view name, const load_kw& kw) {
  const std::lock_guard lock(mutex_);
  const std::int64_t k = find(name);
  const std::string title = title_ + " member '" + std::string(name) + "'";
  if (k < 0) {
    std::string there;
    for (std::size_t i = 0; i < names_.size() && i < 20; ++i) there += (i == 0 ? "" : ", ") + names_[i];
    throw index_error(title + " is not there; there are " + std::to_string(names_.size()) + ": " + there +
                      (names_.size() > 20 ? ", ..." : ""));
  }
  if (!kw.mmap_mode.empty()) throw value_error(title + " cannot be mapped: save it as a .npy file");
  io::member_source member(archive_->api, archive_->archive, k, archive_->bytes, title);
  ndarray x = io::read_npy(member, kw);
  member.finish();
  return x;
}

std::string zip_reader::load_word(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const std::int64_t k = find(name);
  const std::string title = title_ + " member '" + std::string(name) + "'";
  if (k < 0) throw io_error(title + " is not there");
  io::member_source member(archive_->api, archive_->archive, k, archive_->bytes, title);
  constexpr std::uint64_t longest = 4096;
  if (member.left() > longest) member.fail("is no short text: it has " + std::to_string(member.left()) + " bytes");
  std::string bytes(static_cast<std::size_t>(member.left()), '\0');
  member.read(bytes.data(), bytes.size());
  const auto descr = bytes.find("'descr': '"), end = bytes.find('\n');
  if (!bytes.starts_with("\x93NUMPY") || descr == std::string::npos || end == std::string::npos || end < descr)
    member.fail("is damaged: it is no text in NumPy's format");
  const char kind = bytes[descr + 11];
  if (kind != 'S' && kind != 'U') member.fail("is no text");
  std::string word;
  for (std::size_t i = end + 1; i < bytes.size(); ++i)
    if (bytes[i] != '\0') word += bytes[i];  // U has four bytes for each character
  return word;
}

zip_reader::~zip_reader() = default;

std::int64_t zip_reader::find(std::string_view name) const noexcept {
  const auto found = places_.find(name);
  return found == places_.end() ? -1 : found->second;
}

}  // namespace detail
}  // namespace sinter
