// savetxt: Python's %-formatting, parsed and validated before it is passed to printf.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ostream>

#include "io/npy.hpp"
#include "io/replace_file.hpp"
#include "ops/base/access.hpp"
#include "ops/print/format_elements.hpp"
#include "sinter/error.hpp"
#include "sinter/text.hpp"

namespace sinter::io {
namespace {

constexpr int most_digits = 1000;  // limit of width and precision

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  ops::fail<value_error>("savetxt", parts...);
}

/// A conversion such as "%-8.3f", and the text before it.
struct piece {
  std::string before;
  std::string flags;
  int width = 0, precision = -1;
  char conversion = '\0';  // none: trailing text of the row
};

bool has(const piece& p, char flag) { return p.flags.find(flag) != std::string::npos; }

/// Parses a row's format into pieces.
class format_reader {
 public:
  explicit format_reader(std::string_view text) : text_(text) {}

  std::vector<piece> read() {
    std::vector<piece> all;
    piece p;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c != '%') {
        p.before += c;
      } else if (at_ < text_.size() && text_[at_] == '%') {
        p.before += text_[at_++];
      } else {
        conversion(p);
        all.push_back(std::move(p));
        p = {};
      }
    }
    if (!p.before.empty()) all.push_back(std::move(p));
    return all;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;

  bool at(std::string_view set) const { return at_ < text_.size() && set.find(text_[at_]) != std::string_view::npos; }
  int number() {
    int n = 0;
    while (at("0123456789")) {
      n = 10 * n + (text_[at_++] - '0');
      if (n > most_digits) wrong();
    }
    return n;
  }
  void conversion(piece& p) {
    while (at("-+ #0")) p.flags += text_[at_++];
    p.width = number();
    if (at(".")) {
      ++at_;
      p.precision = number();
    }
    while (at("hlL")) ++at_;  // ignored, as in Python
    if (!at("diueEfFgGsxX")) wrong();
    p.conversion = text_[at_++];
    if (has(p, '#') && p.conversion != 'x' && p.conversion != 'X') wrong();
  }
  [[noreturn]] void wrong() const {
    refuse("format '", text_, "' is none that numbers can be written by (%d %i %u %e %f %g %s %x)");
  }
};

int conversions(const std::vector<piece>& pieces) {
  int n = 0;
  for (const piece& p : pieces) n += p.conversion != '\0';
  return n;
}

/// Sign and digits padded to the piece's width; zero padding goes between them.
std::string padded(const piece& p, const std::string& sign, const std::string& digits, bool zeros) {
  const std::size_t taken = sign.size() + digits.size(), width = static_cast<std::size_t>(p.width);
  const std::size_t n = taken < width ? width - taken : 0;
  if (zeros && has(p, '0') && !has(p, '-')) return sign + std::string(n, '0') + digits;
  return has(p, '-') ? sign + digits + std::string(n, ' ') : std::string(n, ' ') + sign + digits;
}

std::string sign_of(const piece& p, bool negative) {
  return negative ? "-" : has(p, '+') ? "+" : has(p, ' ') ? " " : "";
}

std::string integer_text(const piece& p, bool negative, std::string digits, const std::string& prefix = "") {
  const auto least = static_cast<std::size_t>(std::max(p.precision, 0));
  if (digits.size() < least) digits.insert(0, least - digits.size(), '0');
  return padded(p, sign_of(p, negative) + prefix, digits, true);
}

std::string real_text(const piece& p, double x) {
  const bool upper = p.conversion == 'E' || p.conversion == 'F' || p.conversion == 'G';
  // In Python nan has no sign and is padded with zeros, which C does not do.
  if (std::isnan(x)) return padded(p, sign_of(p, false), upper ? "NAN" : "nan", true);
  if (std::isinf(x)) return padded(p, sign_of(p, x < 0), upper ? "INF" : "inf", true);
  const char kind = upper ? static_cast<char>(p.conversion - 'A' + 'a') : p.conversion;
  const auto how = kind == 'e'   ? std::chars_format::scientific
                   : kind == 'f' ? std::chars_format::fixed
                                 : std::chars_format::general;
  char text[most_digits + 400];
  const auto end = std::to_chars(text, text + sizeof text, std::fabs(x), how, p.precision < 0 ? 6 : p.precision).ptr;
  std::string digits(text, end);
  if (upper) std::replace(digits.begin(), digits.end(), 'e', 'E');
  return padded(p, sign_of(p, std::signbit(x)), digits, true);
}

/// The elements of one array, complex ones as two numbers each, converted to the types of the conversions.
class numbers {
 public:
  numbers(const std::byte* elements, dtype type)
      : elements_(elements),
        type_(type == dtype::c64    ? dtype::f32
              : type == dtype::c128 ? dtype::f64
                                    : type) {}

  std::string text(const piece& p, std::size_t k) const {
    const std::byte* const at = elements_ + k * itemsize(type_);
    switch (p.conversion) {
      case 's': {
        const std::string word = ops::format_scalar(at, type_);
        return padded(p, "", p.precision < 0 ? word : word.substr(0, static_cast<std::size_t>(p.precision)), false);
      }
      case 'd':
      case 'i':
      case 'u': return decimal(p, at);
      case 'x':
      case 'X': return hexadecimal(p, at);
      default:
        return real_text(p,
                         is_inexact(type_) ? ops::real_element(at, type_) : std::stod(ops::integer_element(at, type_)));
    }
  }

 private:
  const std::byte* elements_;
  dtype type_;

  std::string decimal(const piece& p, const std::byte* at) const {
    std::string digits;
    if (is_inexact(type_)) {
      const double x = std::trunc(ops::real_element(at, type_));
      if (!std::isfinite(x)) refuse("%d cannot write ", std::isnan(x) ? "nan" : "inf");
      char text[400];
      std::snprintf(text, sizeof text, "%.0f", x == 0 ? 0.0 : x);
      digits = text;
    } else {
      digits = ops::integer_element(at, type_);
    }
    const bool negative = digits[0] == '-';
    return integer_text(p, negative, digits.substr(negative ? 1 : 0));
  }

  std::string hexadecimal(const piece& p, const std::byte* at) const {
    if (is_inexact(type_)) refuse("%x writes integers, not ", type_);
    const std::string digits = ops::integer_element(at, type_);
    const bool negative = digits[0] == '-', upper = p.conversion == 'X';
    char text[24];
    std::snprintf(text, sizeof text, upper ? "%llX" : "%llx", std::stoull(digits.substr(negative ? 1 : 0)));
    return integer_text(p, negative, text, !has(p, '#') ? "" : upper ? "0X" : "0x");
  }
};

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string all;
  for (std::size_t k = 0; k < parts.size(); ++k) all += (k == 0 ? "" : std::string(between)) + parts[k];
  return all;
}

/// The format of a whole row of `columns` elements.
struct row_format {
  std::vector<piece> pieces;
  bool mends_signs = false;  // "+-" in the default format of complex numbers
};

row_format format_of_row(const savetxt_kw& kw, std::int64_t columns, bool complex) {
  const auto n = static_cast<std::size_t>(columns);
  const int wanted = static_cast<int>(columns) * (complex ? 2 : 1);
  row_format f;
  std::string text;
  if (kw.fmt.each()) {
    if (kw.fmt.formats().size() != n) refuse("there are ", kw.fmt.formats().size(), " formats for ", n, " columns");
    text = joined(kw.fmt.formats(), kw.delimiter);
  } else {
    const std::string& one = kw.fmt.formats()[0];
    text = one;
    if (conversions(format_reader(one).read()) == 1) {
      f.mends_signs = complex;
      text = joined(std::vector<std::string>(n, complex ? " (" + one + "+" + one + "j)" : one), kw.delimiter);
    }
  }
  f.pieces = format_reader(text).read();
  if (conversions(f.pieces) != wanted)
    refuse("format '", text, "' writes ", conversions(f.pieces), " numbers, a row has ", wanted);
  return f;
}

std::string comment_lines(std::string_view text, const savetxt_kw& kw) {
  if (text.empty()) return "";
  std::string out(kw.comments);
  for (const char c : text) {
    out += c;
    if (c == '\n') out += kw.comments;
  }
  return out + std::string(kw.newline);
}

void mend_signs(std::string& row) {
  for (std::size_t at = row.find("+-"); at != std::string::npos; at = row.find("+-", at)) row.erase(at, 1);
}

/// Calls put(text) for each part of savetxt's output.
template <class Put>
void write_text(const ndarray& x, const savetxt_kw& kw, Put&& put) {
  const graph::array_view& v = ops::view_of(x, "savetxt");
  if (v.shape.size() != 1 && v.shape.size() != 2)
    ops::fail<shape_error>("savetxt", "shape ", v.shape, " is neither a row nor a table");
  const std::int64_t rows = v.shape[0], columns = v.shape.size() == 2 ? v.shape[1] : 1;
  const bool complex = is_complex(v.type);
  const row_format format = format_of_row(kw, columns, complex);
  const auto block = ops::ndarray_access::host(x);
  const numbers elements(static_cast<const std::byte*>(detail::host_data(*block)), v.type);
  std::string text = comment_lines(kw.header, kw), row;
  std::size_t k = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    row.clear();
    for (const piece& p : format.pieces) {
      row += p.before;
      if (p.conversion != '\0') row += elements.text(p, k++);
    }
    if (format.mends_signs) mend_signs(row);
    text += row;
    text += kw.newline;
    if (text.size() < (std::size_t{1} << 16)) continue;
    put(text);
    text.clear();
  }
  put(text + comment_lines(kw.footer, kw));
}

}  // namespace
}  // namespace sinter::io

namespace sinter::inline v0 {

void savetxt(const std::string& path, const ndarray& x, const savetxt_kw& kw) {
  io::replace_file file(path, io::title_of("savetxt", path));
  io::write_text(x, kw, [&](const std::string& part) { file.write(part.data(), part.size()); });
  file.finish();
}

void savetxt(std::ostream& out, const ndarray& x, const savetxt_kw& kw) {
  io::write_text(x, kw,
                 [&](const std::string& part) { out.write(part.data(), static_cast<std::streamsize>(part.size())); });
  if (!out) throw io_error("[savetxt] the stream takes no more");
}

}  // namespace sinter::inline v0
