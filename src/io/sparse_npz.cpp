// SciPy's files of sparse arrays: the parts, the shape, and the name of the format as text.
#include "io/npz_members.hpp"
#include "io/zip_reader.hpp"
#include "ops/base/errors.hpp"
#include "sinter/creation.hpp"
#include "sinter/sparse.hpp"

namespace sinter::io {
namespace {

/// A string of three characters as NumPy's S3, of shape ().
npy_image image_of_word(std::string_view word) {
  std::string text = "{'descr': '|S" + std::to_string(word.size()) + "', 'fortran_order': False, 'shape': (), }";
  text.append(64 - (10 + text.size() + 1) % 64, ' ');
  text += '\n';
  npy_image image;
  image.header = std::string("\x93NUMPY\1\0", 8) + static_cast<char>(text.size() & 0xff) +
                 static_cast<char>(text.size() >> 8) + text + std::string(word);
  return image;
}

/// The extents that a file gives.
shape_t shape_in(const std::shared_ptr<detail::zip_reader>& file, const std::string& title) {
  const device host("cpu");
  const ndarray shape = file->load("shape", {.device = host});
  if (shape.ndim() != 1 || shape.size() != 2 || !is_integer(shape.dtype()))
    throw io_error(title + " holds no sparse array of two axes");
  const auto extents = shape.to_vector<std::int64_t>();
  if (extents[0] < 0 || extents[1] < 0) throw io_error(title + " is damaged: a shape is negative");
  return {extents[0], extents[1]};
}

sparse::sparse_array read_sparse(const std::shared_ptr<detail::zip_reader>& file, const std::string& title,
                                 const sparse::array_kw& kw) {
  if (!file->contains("format")) throw io_error(title + " holds no sparse array: it has no format");
  const std::string format = file->load_word("format");
  const shape_t shape = shape_in(file, title);
  const load_kw where{.device = kw.device};
  const auto part = [&](const char* name) { return file->load(name, where); };
  if (format == "csr") return sparse::csr_array(part("data"), part("indices"), part("indptr"), shape, kw);
  if (format == "csc") return sparse::csc_array(part("data"), part("indices"), part("indptr"), shape, kw);
  if (format == "dia") return sparse::dia_array(part("data"), part("offsets"), shape, kw);
  if (format != "coo") throw io_error(title + " holds a sparse array of format '" + format + "', which is not known");
  if (!file->contains("coords")) return sparse::coo_array(part("data"), part("row"), part("col"), shape, kw);
  const ndarray both = part("coords");
  if (both.ndim() != 2 || both.shape(0) != 2)
    throw io_error(title + " is damaged: coords have shape " + to_string(both.shape()));
  return sparse::coo_array(part("data"), both(0), both(1), shape, kw);
}

}  // namespace
}  // namespace sinter::io

namespace sinter::inline v0 {
namespace sparse {

void save_npz(const std::string& path, const sparse_array& a, bool compressed) {
  constexpr const char* function = "save_npz";
  std::vector<io::npz_member> members;
  const auto add = [&](const char* name, const ndarray& x) {
    members.push_back({name, io::npy_image_of(x, function)});
  };
  if (a.format() == format::coo) {
    add("row", a.row());
    add("col", a.col());
  } else {
    add("indices", a.indices());
    add("indptr", a.indptr());
  }
  members.push_back({"format", io::image_of_word(name(a.format()))});
  add("shape", array({a.shape(0), a.shape(1)}));
  add("data", a.data());
  add("_is_array", array(true));
  io::write_npz_members(path, members, compressed, function);
}

sparse_array load_npz(const std::string& path, const array_kw& kw) {
  const auto file = std::make_shared<sinter::detail::zip_reader>(path);
  const std::string title = io::title_of("load_npz", path);
  try {
    return io::read_sparse(file, title, kw);
  } catch (const io_error&) {
    throw;
  } catch (const error& e) {
    // Parts that the makers refuse, or that are missing, are a damaged file.
    throw io_error(title + " is damaged: " + e.what());
  }
}

}  // namespace sparse
}  // namespace sinter::inline v0
