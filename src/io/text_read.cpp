// loadtxt, genfromtxt and read_csv: rows of fields become rows of numbers of the widest type of their kind, and these
// an array.
#include <algorithm>
#include <istream>
#include <limits>

#include "io/byte_source.hpp"
#include "io/npy.hpp"
#include "io/text_numbers.hpp"
#include "io/text_rows.hpp"
#include "ops/base/promotion_args.hpp"
#include "sinter/error.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/text.hpp"

namespace sinter::io {
namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// The rules shared by the three readers.
struct table_rules {
  const char* function;
  std::string title;  // "[loadtxt] 'x.txt'"
  dtype type = dtype::f64;
  std::int64_t max_rows = no_limit, skip_footer = 0;
  std::vector<std::int64_t> columns{};  // empty: all
  std::int64_t expected = -1;           // columns per line; -1: as in the first line
  bool ragged_throws = true;
  bool lists_ragged = false;           // report all lines of other lengths in one message
  bool choose_from_ragged = false;     // if columns are given, only those must exist
  std::vector<std::string> missing{};  // these fields are missing values, even if they are numbers
  bool others_missing = false;         // fields that are not numbers are missing values, too
  std::optional<scalar> filling{};
};

struct table {
  std::int64_t rows = 0, columns = 0;
  ndarray elements;  // rank 2
};

/// The type that fields are parsed as; numbers are rounded to a narrower dtype once.
dtype wide(dtype t) {
  if (t == dtype::b1 || t == dtype::u64) return t;
  if (is_integer(t)) return dtype::i64;
  return is_complex(t) ? dtype::c128 : dtype::f64;
}

bool fits(std::int64_t v, dtype t) {
  const int bits = static_cast<int>(itemsize(t)) * 8;
  if (is_unsigned_integer(t)) return v >= 0 && (bits == 64 || v >> bits == 0);
  return bits == 64 || (v >= -(std::int64_t{1} << (bits - 1)) && v < std::int64_t{1} << (bits - 1));
}

/// Reads the numbers of a table; T is the wide type.
template <class T>
class table_reader {
 public:
  table_reader(row_reader& rows, const table_rules& rules) : rows_(rows), rules_(rules), first_(rules.expected) {}

  table read(runtime::device_id device) {
    const std::int64_t last = rules_.skip_footer > 0 ? rows_left() - rules_.skip_footer : no_limit;
    for (std::int64_t k = 0; k < last && count_ < rules_.max_rows && rows_.next(fields_); ++k) add_row();
    if (!ragged_.empty()) throw io_error(rules_.title + " has " + std::to_string(first_) + " columns, but" + ragged_);
    table t{count_, count_ > 0 ? width() : static_cast<std::int64_t>(rules_.columns.size()), {}};
    const core::dims shape{t.rows, t.columns};
    const ndarray all = ops::ndarray_access::make(graph::from_host(data(), shape, dtype_of<T>, device));
    t.elements = all.astype(rules_.type, false);
    return t;
  }

 private:
  row_reader& rows_;
  const table_rules& rules_;
  std::vector<std::string_view> fields_;
  std::vector<std::conditional_t<std::is_same_v<T, bool>, char, T>> values_;
  std::int64_t count_ = 0, first_;  // rows; columns per line
  std::string ragged_;
  std::optional<T> fill_;

  const void* data() const { return values_.empty() ? static_cast<const void*>(this) : values_.data(); }
  std::int64_t width() const {
    return rules_.columns.empty() ? first_ : static_cast<std::int64_t>(rules_.columns.size());
  }
  std::int64_t rows_left() {
    row_reader ahead = rows_;
    std::int64_t n = 0;
    while (ahead.next(fields_)) ++n;
    return n;
  }
  std::string line() const { return rules_.title + " line " + std::to_string(rows_.line()); }

  void add_row() {
    const auto n = static_cast<std::int64_t>(fields_.size());
    if (first_ < 0) first_ = n;
    if (n != first_ && !(rules_.choose_from_ragged && !rules_.columns.empty())) return refuse_length(n);
    for (const std::int64_t c : rules_.columns) {
      if (c >= -n && c < n) continue;
      if (rules_.lists_ragged && n != first_) return refuse_length(n);
      throw io_error(line() + " has " + std::to_string(n) + " columns, none with number " + std::to_string(c));
    }
    if (rules_.columns.empty()) {
      for (std::int64_t c = 0; c < n; ++c) add(c);
    } else {
      for (const std::int64_t c : rules_.columns) add(c < 0 ? c + n : c);
    }
    ++count_;
  }

  void refuse_length(std::int64_t n) {
    if (!rules_.ragged_throws) return;
    const std::string what = " line " + std::to_string(rows_.line()) + " has " + std::to_string(n);
    if (!rules_.lists_ragged)
      throw io_error(rules_.title + what + " columns, the lines before have " + std::to_string(first_) +
                     "; usecols chooses from them");
    if (ragged_.size() < 1000) ragged_ += (ragged_.empty() ? "" : ",") + what;
  }

  void add(std::int64_t c) {
    const std::string_view field = fields_[static_cast<std::size_t>(c)];
    T v{};
    if (is_missing(field)) {
      v = filling();
    } else if (!parse(field, v)) {
      if (!rules_.others_missing) refuse(field, c);
      v = filling();
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      if (!fits(v, rules_.type)) refuse(field, c);
    }
    values_.push_back(v);
  }

  [[noreturn]] void refuse(std::string_view field, std::int64_t c) const {
    std::string shown(field.substr(0, 60));
    std::replace_if(
        shown.begin(), shown.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '?');
    throw io_error(line() + ", column " + std::to_string(c + 1) + ": '" + shown + (field.size() > 60 ? "..." : "") +
                   "' is no " + std::string(name(rules_.type)));
  }

  bool is_missing(std::string_view field) const {
    const std::string_view bare = trimmed(field);
    return std::find(rules_.missing.begin(), rules_.missing.end(), bare) != rules_.missing.end();
  }

  T filling() {
    if (!fill_) fill_ = make_filling();
    return *fill_;
  }

  T make_filling() const {
    if (rules_.filling) {
      const jit::scalar s = ops::scalar_of(*rules_.filling, dtype_of<T>, rules_.function);
      if constexpr (std::is_same_v<T, bool>) return s.b;
      else if constexpr (std::is_same_v<T, double>) return s.f[0];
      else if constexpr (std::is_same_v<T, std::complex<double>>) return {s.f[0], s.f[1]};
      else {
        if (!fits(static_cast<std::int64_t>(s.u), rules_.type) && rules_.type != dtype::u64)
          ops::fail<dtype_error>(rules_.function, "filling_values does not fit ", rules_.type);
        return static_cast<T>(s.u);
      }
    }
    if constexpr (std::is_same_v<T, bool>) return false;
    else if constexpr (std::is_integral_v<T>) {
      if (is_unsigned_integer(rules_.type))
        ops::fail<value_error>(rules_.function, "say with filling_values what missing elements of ", rules_.type,
                               " are");
      return static_cast<T>(-1);
    } else {
      return std::numeric_limits<double>::quiet_NaN();
    }
  }
};

table read_table(row_reader& rows, const table_rules& rules, const std::optional<device>& to) {
  const runtime::device_id device = ops::chosen(to);
  switch (wide(rules.type)) {
    case dtype::b1: return table_reader<bool>(rows, rules).read(device);
    case dtype::i64: return table_reader<std::int64_t>(rows, rules).read(device);
    case dtype::u64: return table_reader<std::uint64_t>(rows, rules).read(device);
    case dtype::c128: return table_reader<std::complex<double>>(rows, rules).read(device);
    default: return table_reader<double>(rows, rules).read(device);
  }
}

/// As NumPy: removes axes of extent 1, down to ndmin axes; with ndmin 2 a single column remains a column.
ndarray shaped(const table& t, bool columns_known, std::int64_t ndmin, bool unpack, const char* function) {
  if (ndmin < 0 || ndmin > 2) ops::fail<value_error>(function, "ndmin is 0, 1 or 2");
  core::dims shape{t.rows, t.columns};
  if (t.rows == 0 && !columns_known) {
    shape = ndmin == 2 ? core::dims{0, 1} : core::dims{0};
  } else if (ndmin < 2) {
    core::dims kept;
    for (auto n : shape)
      if (n != 1) kept.push_back(n);
    if (kept.size() == 0 && ndmin == 1) kept.push_back(1);
    shape = kept;
  }
  const ndarray x = reshape(t.elements, ops::to_shape(shape));
  return unpack ? x.T() : x;
}

std::int64_t checked(std::int64_t n, const char* what, const char* function) {
  if (n < 0) ops::fail<value_error>(function, what, " is negative");
  return n;
}

void skip_lines(row_reader& rows, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k)
    if (!rows.skip_line()) return;
}

/// Some editors write a byte order mark before text in UTF-8.
std::string_view without_mark(std::string_view text) {
  return text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text;
}

std::string whole_stream(std::istream& in, const std::string& title) {
  std::string text;
  char part[1 << 16];
  while (in.read(part, sizeof part) || in.gcount() > 0) text.append(part, static_cast<std::size_t>(in.gcount()));
  if (in.bad()) throw io_error(title + " cannot be read");
  return text;
}

std::vector<std::int64_t> places_of(const columns& wanted, const std::vector<std::string>& names,
                                    const char* function) {
  std::vector<std::int64_t> places = wanted.numbers();
  for (const std::string& n : wanted.names()) {
    const auto found = std::find(names.begin(), names.end(), n);
    if (found == names.end()) {
      std::string there;
      for (const auto& other : names) there += (there.empty() ? "" : ", ") + other;
      ops::fail<value_error>(function, "there is no column '", n, "'; there are ",
                             (names.empty() ? "no names" : there));
    }
    places.push_back(found - names.begin());
  }
  return places;
}

/// The column names in the next line that is not empty, commented out or not.
std::vector<std::string> read_names(row_reader& rows, const row_rules& rules) {
  std::vector<std::string_view> fields;
  std::string_view line;
  while (rows.take_line(line)) {
    line = trimmed(line);
    if (!rules.comments.empty() && line.starts_with(rules.comments)) line.remove_prefix(rules.comments.size());
    row_reader one(line, rules);
    std::vector<std::string> names;
    if (one.next(fields))
      for (std::string_view f : fields) names.emplace_back(trimmed(f));
    if (!names.empty()) return names;
  }
  return {};
}

ndarray load_text(const std::string& text, std::string title, const loadtxt_kw& kw) {
  row_reader rows(without_mark(text), {kw.comments, kw.delimiter, kw.quotechar, false});
  skip_lines(rows, checked(kw.skiprows, "skiprows", "loadtxt"));
  if (!kw.usecols.names().empty())
    throw value_error("[loadtxt] usecols are numbers; genfromtxt with names, or read_csv, selects columns by name");
  table_rules rules{.function = "loadtxt", .title = std::move(title)};
  rules.type = kw.dtype.value_or(dtype::f64);
  rules.max_rows = checked(kw.max_rows.value_or(no_limit), "max_rows", "loadtxt");
  rules.columns = kw.usecols.numbers();
  rules.choose_from_ragged = true;
  return shaped(read_table(rows, rules, kw.device), kw.usecols.given(), kw.ndmin, kw.unpack, "loadtxt");
}

ndarray generate_from_text(const std::string& text, std::string title, const genfromtxt_kw& kw) {
  const row_rules cut{kw.comments, kw.delimiter, kw.quotechar, true};
  row_reader rows(without_mark(text), cut);
  skip_lines(rows, checked(kw.skip_header, "skip_header", "genfromtxt"));
  if (kw.skip_footer > 0 && kw.max_rows) throw value_error("[genfromtxt] skip_footer and max_rows exclude each other");
  std::vector<std::string> names;
  if (kw.names) names = read_names(rows, cut);
  table_rules rules{.function = "genfromtxt", .title = std::move(title)};
  rules.type = kw.dtype.value_or(dtype::f64);
  rules.max_rows = checked(kw.max_rows.value_or(no_limit), "max_rows", "genfromtxt");
  rules.skip_footer = checked(kw.skip_footer, "skip_footer", "genfromtxt");
  rules.columns = places_of(kw.usecols, names, "genfromtxt");
  rules.ragged_throws = kw.invalid_raise;
  rules.lists_ragged = rules.choose_from_ragged = true;
  // As NumPy: a loose reader treats every field that fails to parse as missing, so the list is irrelevant.
  rules.others_missing = kw.loose;
  if (!kw.loose) {
    rules.missing = kw.missing_values;
    rules.missing.emplace_back();
  }
  rules.filling = kw.filling_values;
  return shaped(read_table(rows, rules, kw.device), kw.usecols.given(), kw.ndmin, kw.unpack, "genfromtxt");
}

csv_table read_table_of_names(const std::string& text, std::string title, const csv_kw& kw) {
  const row_rules cut{kw.comments, kw.delimiter, kw.quotechar, true};
  row_reader rows(without_mark(text), cut);
  skip_lines(rows, checked(kw.skiprows, "skiprows", "read_csv"));
  std::vector<std::string> names;
  if (kw.header) {
    names = read_names(rows, cut);
  } else {
    row_reader ahead(rows.rest(), cut);
    std::vector<std::string_view> fields;
    if (ahead.next(fields))
      for (std::size_t k = 0; k < fields.size(); ++k) names.push_back(std::to_string(k));
  }
  table_rules rules{.function = "read_csv", .title = std::move(title)};
  rules.type = kw.dtype.value_or(dtype::f64);
  rules.max_rows = checked(kw.max_rows.value_or(no_limit), "max_rows", "read_csv");
  rules.columns = places_of(kw.usecols, names, "read_csv");
  if (rules.columns.empty())
    for (std::size_t k = 0; k < names.size(); ++k) rules.columns.push_back(static_cast<std::int64_t>(k));
  rules.lists_ragged = true;
  rules.missing = kw.missing_values;
  rules.filling = kw.filling_values;
  rules.expected = static_cast<std::int64_t>(names.size());
  std::vector<std::string> chosen;
  for (const std::int64_t c : rules.columns) {
    const auto n = static_cast<std::int64_t>(names.size());
    if (c < -n || c >= n) ops::fail<value_error>("read_csv", "there is no column ", c, " of ", n);
    chosen.push_back(names[static_cast<std::size_t>(c < 0 ? c + n : c)]);
  }
  return {std::move(chosen), read_table(rows, rules, kw.device).elements};
}

}  // namespace
}  // namespace sinter::io

namespace sinter::inline v0 {

ndarray loadtxt(const std::string& path, const loadtxt_kw& kw) {
  const std::string title = io::title_of("loadtxt", path);
  return io::load_text(io::read_text(path, title), title, kw);
}
ndarray loadtxt(std::istream& in, const loadtxt_kw& kw) {
  return io::load_text(io::whole_stream(in, "[loadtxt] the stream"), "[loadtxt] the stream", kw);
}

ndarray genfromtxt(const std::string& path, const genfromtxt_kw& kw) {
  const std::string title = io::title_of("genfromtxt", path);
  return io::generate_from_text(io::read_text(path, title), title, kw);
}
ndarray genfromtxt(std::istream& in, const genfromtxt_kw& kw) {
  return io::generate_from_text(io::whole_stream(in, "[genfromtxt] the stream"), "[genfromtxt] the stream", kw);
}

csv_table read_csv(const std::string& path, const csv_kw& kw) {
  const std::string title = io::title_of("read_csv", path);
  return io::read_table_of_names(io::read_text(path, title), title, kw);
}
csv_table read_csv(std::istream& in, const csv_kw& kw) {
  return io::read_table_of_names(io::whole_stream(in, "[read_csv] the stream"), "[read_csv] the stream", kw);
}

bool csv_table::contains(std::string_view name) const noexcept {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}
ndarray csv_table::operator[](std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    std::string there;
    for (const auto& n : names_) there += (there.empty() ? "" : ", ") + n;
    ops::fail<index_error>("csv_table", "there is no column '", name, "'; there are ", there);
  }
  return columns_(static_cast<std::int64_t>(found - names_.begin()));
}

}  // namespace sinter::inline v0
