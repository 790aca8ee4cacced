// Arrays in NumPy's binary files: .npy (one array) and .npz (an archive of them). What NumPy writes is read, and what
// is written here NumPy reads; .npy files are the same to the byte.
#pragma once
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

struct load_kw {
  kwonly _kw{};
  /// "": the elements are read. Otherwise the file is mapped and read where and when it is used, on the CPU whatever
  /// the default device: "r" for reading only, "c" (changes stay in memory), "r+" (changes go to the file).
  std::string_view mmap_mode = "";
  /// Converted to; also what NumPy's two-byte elements without a type are, which is how it writes bfloat16.
  std::optional<sinter::dtype> dtype{};
  std::optional<sinter::device> device{};
};

/// The array in a .npy file of version 1.0 to 3.0, C or Fortran order (which gives a transposed view), either byte
/// order. Reads at once. Throws io_error where the file cannot be read, is damaged or cut short, or holds what no array
/// can (structured elements, text, Python objects); sizes are checked against the file before memory is taken.
///
/// A map wants elements in this machine's byte order, at an address that suits them. Of a map in mode "r" the library
/// copies nothing: the file must not change meanwhile. In mode "r+" reads and writes happen at the call,
/// and other processes see them. A mapped file that is cut short ends the program with SIGBUS, as in NumPy.
ndarray load(const std::string& path, const load_kw& kw = {});
/// The next array of a stream, which is then positioned after it. Cannot be mapped.
ndarray load(std::istream& in, const load_kw& kw = {});

/// Writes a .npy file, and adds ".npy" to a path that does not end so. An array whose elements lie in Fortran order is
/// written like that. Evaluates and synchronises; a file of that name is replaced when the new one is complete.
/// bfloat16 is written as two-byte elements without a type, as NumPy does. Throws io_error.
void save(const std::string& path, const ndarray& x);
void save(std::ostream& out, const ndarray& x);

/// One array of an archive.
struct npz_entry {
  std::string name;
  ndarray array;
};
/// Writes an archive of .npy files, uncompressed or deflated, and adds ".npz" to a path that does not end so. Arrays
/// without names are arr_0, arr_1, ... `savez(path, {x, y})`, `savez(path, {{"x", x}, {"y", y}})`. A file of that name
/// is replaced when the new one is complete. Throws io_error, also where libzip is missing, and value_error for a name
/// that is empty or there twice.
void savez(const std::string& path, const std::vector<ndarray>& arrays);
void savez(const std::string& path, const std::vector<npz_entry>& arrays);
void savez_compressed(const std::string& path, const std::vector<ndarray>& arrays);
void savez_compressed(const std::string& path, const std::vector<npz_entry>& arrays);

namespace detail {
class zip_reader;
}
/// An archive that is open for reading. Copies share it; arrays are read when they are asked for, by one thread at a
/// time.
class npz_file {
 public:
  /// Names of the arrays, without ".npy", in the order of the archive.
  const std::vector<std::string>& names() const noexcept { return names_; }
  bool contains(std::string_view name) const noexcept;
  /// Reads an array. Throws index_error for a name that is not there, io_error as `load` does. Members of an archive
  /// cannot be mapped.
  ndarray load(std::string_view name, const load_kw& kw = {}) const;
  ndarray operator[](std::string_view name) const { return load(name); }

 private:
  friend npz_file load_npz(const std::string& path);
  std::shared_ptr<detail::zip_reader> archive_;
  std::vector<std::string> names_;
};
/// Opens an archive (np.load of an .npz file). Throws io_error, also where libzip is missing.
npz_file load_npz(const std::string& path);

}  // namespace sinter::inline v0
