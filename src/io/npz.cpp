// Archives of arrays: writing, and the public handle of an open archive.
#include <set>

#include "io/npy.hpp"
#include "io/npz_members.hpp"
#include "io/replace_file.hpp"
#include "io/zip_library.hpp"
#include "io/zip_reader.hpp"
#include "ops/base/errors.hpp"
#include "sinter/error.hpp"

namespace sinter::inline v0 {
namespace {

void check_names(const std::vector<npz_entry>& arrays, const char* function) {
  std::set<std::string_view> seen;
  for (const npz_entry& e : arrays) {
    if (e.name.empty() || e.name.find('\0') != std::string::npos)
      ops::fail<value_error>(function, "a name must have characters, and none of value 0");
    if (!seen.insert(e.name).second) ops::fail<value_error>(function, "the name '", e.name, "' is there twice");
  }
}

std::vector<npz_entry> numbered(const std::vector<ndarray>& arrays) {
  std::vector<npz_entry> named;
  for (const ndarray& x : arrays) named.push_back({"arr_" + std::to_string(named.size()), x});
  return named;
}

/// libzip does not write archives without members.
void write_empty(const std::string& path, const std::string& title) {
  std::string end_record(22, '\0');
  end_record.replace(0, 4, "PK\5\6");
  io::replace_file file(path, title);
  file.write(end_record.data(), end_record.size());
  file.finish();
}

class zip_writer {
 public:
  zip_writer(const std::string& path, std::string title, const char* function)
      : api_(io::zip_library(function)), title_(std::move(title)) {
    int code = 0;
    archive_ = api_.zip_open(path.c_str(), io::zip::create | io::zip::truncate, &code);
    if (archive_) return;
    throw io_error(title_ + " cannot be written: " + io::zip_error_text(api_, code));
  }
  ~zip_writer() {
    if (archive_) api_.zip_discard(archive_);
  }
  zip_writer(const zip_writer&) = delete;
  zip_writer& operator=(const zip_writer&) = delete;

  /// finish() reads the bytes, which must exist until then.
  void add(const std::string& name, const io::npy_image& image, bool compress) {
    io::zip_fragment parts[2] = {{bytes_of(image.header.data()), image.header.size()},
                                 {bytes_of(image.elements), image.bytes}};
    io::zip_source* const source = api_.zip_source_buffer_fragment(archive_, parts, image.bytes == 0 ? 1 : 2, 0);
    if (!source) fail();
    const std::int64_t k = api_.zip_file_add(archive_, name.c_str(), source, io::zip::name_is_utf8);
    if (k < 0) {
      api_.zip_source_free(source);
      fail();
    }
    const auto index = static_cast<std::uint64_t>(k);
    // Fixed to the first of January 1980, as in NumPy, so that equal arrays give equal files.
    constexpr std::uint16_t first_day = 1 << 5 | 1;
    if (api_.zip_set_file_compression(archive_, index, compress ? io::zip::deflated : io::zip::stored, 0) != 0 ||
        api_.zip_file_set_dostime(archive_, index, 0, first_day, 0) != 0)
      fail();
  }
  void finish() {
    if (api_.zip_close(archive_) != 0) fail();
    archive_ = nullptr;
  }

 private:
  static std::uint8_t* bytes_of(const void* p) { return static_cast<std::uint8_t*>(const_cast<void*>(p)); }
  [[noreturn]] void fail() { throw io_error(title_ + " cannot be written: " + api_.zip_strerror(archive_)); }

  const io::zip_api& api_;
  std::string title_;
  io::zip_archive* archive_ = nullptr;
};

/// Images are kept until the archive is closed.
void write_archive(const std::string& path, const std::string& title, const std::vector<io::npz_member>& members,
                   bool compress, const char* function) {
  zip_writer archive(path, title, function);
  for (const io::npz_member& m : members) archive.add(m.name + ".npy", m.image, compress);
  archive.finish();
}

std::string with_ending(const std::string& path) { return path.ends_with(".npz") ? path : path + ".npz"; }

void write_npz(const std::string& path, const std::vector<npz_entry>& arrays, bool compress, const char* function) {
  check_names(arrays, function);
  if (arrays.empty()) {
    const std::string file = with_ending(path);
    return write_empty(file, io::title_of(function, file));
  }
  std::vector<io::npz_member> members;
  for (const npz_entry& e : arrays) members.push_back({e.name, io::npy_image_of(e.array, function)});
  io::write_npz_members(path, members, compress, function);
}

}  // namespace

void savez(const std::string& path, const std::vector<ndarray>& arrays) {
  write_npz(path, numbered(arrays), false, "savez");
}
void savez(const std::string& path, const std::vector<npz_entry>& arrays) { write_npz(path, arrays, false, "savez"); }
void savez_compressed(const std::string& path, const std::vector<ndarray>& arrays) {
  write_npz(path, numbered(arrays), true, "savez_compressed");
}
void savez_compressed(const std::string& path, const std::vector<npz_entry>& arrays) {
  write_npz(path, arrays, true, "savez_compressed");
}

bool npz_file::contains(std::string_view name) const noexcept { return archive_ && archive_->contains(name); }

ndarray npz_file::load(std::string_view name, const load_kw& kw) const {
  if (!archive_) throw io_error("[npz_file] no archive is open");
  return archive_->load(name, kw);
}

npz_file load_npz(const std::string& path) {
  npz_file file;
  file.archive_ = std::make_shared<detail::zip_reader>(path);
  file.names_ = file.archive_->names();
  return file;
}

}  // namespace sinter::inline v0

namespace sinter::io {

void write_npz_members(const std::string& path, const std::vector<npz_member>& members, bool compress,
                       const char* function) {
  const std::string file = with_ending(path);
  write_archive(file, title_of(function, file), members, compress, function);
}

}  // namespace sinter::io
