// Arrays in text files: tables of numbers with blanks, commas or anything else between them. `loadtxt`, `genfromtxt`
// and `savetxt` are NumPy's; `read_csv` takes columns by name.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

/// Columns of a table: numbers from 0 (negative ones count from the end), or names where there is a line of names.
class columns {
 public:
  columns() = default;
  template <int_like T>
  columns(T number) : numbers_{extent(number).value} {}
  columns(const char* name) : names_{name} {}
  columns(std::initializer_list<std::int64_t> numbers) : numbers_(numbers) {}
  columns(std::initializer_list<std::string_view> names) : names_(names.begin(), names.end()) {}
  template <int_like T>
  columns(const std::vector<T>& numbers) {
    for (const T n : numbers) numbers_.push_back(extent(n).value);
  }
  columns(std::vector<std::string> names) : names_(std::move(names)) {}
  bool given() const noexcept { return !numbers_.empty() || !names_.empty(); }
  const std::vector<std::int64_t>& numbers() const noexcept { return numbers_; }
  const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  std::vector<std::int64_t> numbers_;
  std::vector<std::string> names_;
};

/// In all readers below:
/// - dtype: float64 unless said. Floating-point numbers are read as float64 and rounded from that; integers must fit.
///   bool takes true and false in any case, and integers.
/// - delimiter: "" for runs of blanks; otherwise the text between two fields, blanks around them not counting.
/// - comments: what begins a comment that goes to the end of the line; "" for none.
/// - quotechar: 0 for none. Quoted fields may have delimiters, line ends, and the quote twice for one of it.
/// - Lines end with \n, \r\n or \r; empty ones do not count.
/// They read at once, on the host, and the array goes to `device`. They throw io_error with file, line and column for
/// what is no number, and for lines of different lengths.
struct loadtxt_kw {
  kwonly _kw{};
  std::optional<sinter::dtype> dtype{};
  std::string_view comments = "#";
  std::string_view delimiter = "";
  std::int64_t skiprows = 0;  // lines at the beginning, whatever they are
  columns usecols{};          // numbers
  bool unpack = false;        // the transposed table
  std::int64_t ndmin = 0;     // 0 to 2: axes of extent 1 are dropped down to that
  std::optional<std::int64_t> max_rows{};
  char quotechar = '\0';
  std::optional<sinter::device> device{};
};
/// NumPy's loadtxt: every field is a number.
ndarray loadtxt(const std::string& path, const loadtxt_kw& kw = {});
ndarray loadtxt(std::istream& in, const loadtxt_kw& kw = {});

struct genfromtxt_kw {
  kwonly _kw{};
  std::optional<sinter::dtype> dtype{};
  std::string_view comments = "#";
  std::string_view delimiter = "";
  std::int64_t skip_header = 0, skip_footer = 0;  // lines at the beginning; rows at the end
  std::vector<std::string> missing_values{};      // beside the empty field
  std::optional<scalar> filling_values{};         // their value: by default nan, -1 or false
  columns usecols{};
  bool names = false;  // the first line has the names of the columns, commented out or not
  bool unpack = false;
  bool loose = true;          // what is no number is missing as well; as in NumPy, a missing value that is one is not
  bool invalid_raise = true;  // lines of other lengths: io_error that lists them, or left out
  std::optional<std::int64_t> max_rows{};
  std::int64_t ndmin = 0;
  char quotechar = '\0';
  std::optional<sinter::device> device{};
};
/// NumPy's genfromtxt, always into one plain array: fields may be missing. Throws value_error for a name that is no
/// column, and where unsigned integers are missing without filling_values.
ndarray genfromtxt(const std::string& path, const genfromtxt_kw& kw = {});
ndarray genfromtxt(std::istream& in, const genfromtxt_kw& kw = {});

struct csv_kw {
  kwonly _kw{};
  columns usecols{};  // all of them unless said; text in the others does not matter
  std::optional<sinter::dtype> dtype{};
  std::string_view delimiter = ",";
  std::string_view comments = "";
  bool header = true;  // false: the columns are called "0", "1", ...
  std::int64_t skiprows = 0;
  std::optional<std::int64_t> max_rows{};
  std::vector<std::string> missing_values{"", "NA", "N/A", "NULL", "null", "None"};
  std::optional<scalar> filling_values{};
  char quotechar = '"';
  std::optional<sinter::device> device{};
};
/// Columns of numbers with their names.
class csv_table {
 public:
  csv_table(std::vector<std::string> names, const ndarray& rows) : names_(std::move(names)), columns_(rows.T()) {}
  const std::vector<std::string>& names() const noexcept { return names_; }
  std::int64_t rows() const { return columns_.shape(1); }
  bool contains(std::string_view name) const noexcept;
  /// A column, rank 1; a view of the table. Throws index_error for a name that is not there.
  ndarray operator[](std::string_view name) const;
  /// The whole table: shape (rows, columns).
  ndarray array() const { return columns_.T(); }

 private:
  std::vector<std::string> names_;
  ndarray columns_;
};
/// Reads a table with a line of names. A field that is in missing_values is missing, whatever it could be read as;
/// what else is no number throws.
csv_table read_csv(const std::string& path, const csv_kw& kw = {});
csv_table read_csv(std::istream& in, const csv_kw& kw = {});

/// How numbers are written: one printf format for all, one for each column, or one for the whole row.
class text_format {
 public:
  text_format(const char* format) : formats_{format} {}
  text_format(std::string format) : formats_{std::move(format)} {}
  text_format(std::initializer_list<std::string_view> formats)
      : formats_(formats.begin(), formats.end()), each_(true) {}
  text_format(std::vector<std::string> formats) : formats_(std::move(formats)), each_(true) {}
  const std::vector<std::string>& formats() const noexcept { return formats_; }
  /// Whether there is one for each column.
  bool each() const noexcept { return each_; }

 private:
  std::vector<std::string> formats_;
  bool each_ = false;
};
struct savetxt_kw {
  kwonly _kw{};
  text_format fmt = "%.18e";
  std::string_view delimiter = " ";
  std::string_view newline = "\n";
  std::string_view header = "", footer = "";  // each of their lines is prefixed by `comments`
  std::string_view comments = "# ";
};
/// Writes an array of rank 1 (a number a line) or 2. The formats are Python's of old: %d %i %u %e %f %g %s %x with
/// flags, width and precision; %d of a float drops its fraction. Complex numbers are " (re+imj)" unless the format has
/// two for each. Evaluates and synchronises; a file of that name is replaced when the new one is complete. Throws
/// shape_error for other ranks, value_error for formats that do not fit, io_error.
void savetxt(const std::string& path, const ndarray& x, const savetxt_kw& kw = {});
void savetxt(std::ostream& out, const ndarray& x, const savetxt_kw& kw = {});

}  // namespace sinter::inline v0
