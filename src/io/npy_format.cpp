// The header is a Python dictionary as text; only the forms that NumPy writes are accepted.
#include "io/npy_format.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <string_view>

namespace sinter::io {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t longest_header = std::size_t{1} << 20;

struct descr_entry {
  std::string_view code;
  dtype type;
};
constexpr descr_entry descrs[] = {{"b1", dtype::b1},  {"i1", dtype::i8},  {"i2", dtype::i16},  {"i4", dtype::i32},
                                  {"i8", dtype::i64}, {"u1", dtype::u8},  {"u2", dtype::u16},  {"u4", dtype::u32},
                                  {"u8", dtype::u64}, {"f2", dtype::f16}, {"V2", dtype::bf16}, {"f4", dtype::f32},
                                  {"f8", dtype::f64}, {"c8", dtype::c64}, {"c16", dtype::c128}};

/// Text made safe for a message: printable, of limited length.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 60)) out += c >= ' ' && c < 127 ? c : '?';
  return out + (text.size() > 60 ? "..." : "");
}

/// Parser for the dictionary.
class header_reader {
 public:
  header_reader(const byte_source& from, std::string_view text, std::optional<dtype> raw_type)
      : from_(from), text_(text), raw_type_(raw_type) {}

  npy_header read() {
    expect('{');
    bool seen[3] = {};
    while (!take('}')) {
      const std::string_view key = string();
      expect(':');
      const int which = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (which < 0 || seen[which]) wrong("has the key '" + shown(key) + "' too much");
      seen[which] = true;
      if (which == 0) descr();
      if (which == 1) header_.fortran = boolean();
      if (which == 2) shape();
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    for (const bool s : seen)
      if (!s) wrong("lacks one of descr, fortran_order and shape");
    skip_space();
    if (at_ != text_.size()) wrong("continues after its dictionary");
    return header_;
  }

 private:
  const byte_source& from_;
  std::string_view text_;
  std::optional<dtype> raw_type_;
  std::size_t at_ = 0;
  npy_header header_;

  [[noreturn]] void wrong(const std::string& what) const { from_.fail("is damaged: its header " + what); }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) wrong("has no '" + std::string(1, c) + "' at character " + std::to_string(at_));
  }
  bool take_word(std::string_view word) {
    skip_space();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::string_view string() {
    const char quote = take('\'') ? '\'' : take('"') ? '"' : '\0';
    const std::size_t end = quote ? text_.find(quote, at_) : std::string_view::npos;
    if (end == std::string_view::npos) wrong("has no text at character " + std::to_string(at_));
    const std::string_view found = text_.substr(at_, end - at_);
    at_ = end + 1;
    return found;
  }
  bool boolean() {
    if (take_word("True")) return true;
    if (!take_word("False")) wrong("says neither True nor False of fortran_order");
    return false;
  }

  void shape() {
    expect('(');
    while (!take(')')) {
      skip_space();
      std::int64_t n = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), n);
      if (error == std::errc::result_out_of_range) wrong("has an extent beyond 64 bits");
      if (error != std::errc()) wrong("has no extent at character " + std::to_string(at_));
      if (n < 0) wrong("has the negative extent " + std::to_string(n));
      at_ = static_cast<std::size_t>(end - text_.data());
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // a Python 2 long
      header_.shape.push_back(n);
      if (header_.shape.size() > core::max_rank) wrong("has more than 64 axes");
      if (take(',')) continue;
      expect(')');
      // In Python (3) is a number, not a tuple.
      if (header_.shape.size() == 1) wrong("has a number where a tuple should be");
      break;
    }
  }

  void descr() {
    skip_space();
    const std::size_t begin = at_;
    if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '(')) {
      const std::size_t end = std::min(text_.find("'fortran_order'", at_), text_.size());
      refuse_elements("structured elements " + shown(text_.substr(begin, end - begin)) +
                      "; save each field separately");
    }
    std::string_view code = string();
    const bool ordered = !code.empty() && std::strchr("<>|=", code[0]) != nullptr;
    const char order = ordered ? code[0] : '=';
    if (ordered) code.remove_prefix(1);
    for (const descr_entry& d : descrs) {
      if (code != d.code) continue;
      if (d.type == dtype::bf16 && raw_type_ != dtype::bf16)
        refuse_elements("two-byte elements without a type (" + std::string(code) +
                        "); say {.dtype = bfloat16} if NumPy wrote them as that");
      header_.type = d.type;
      header_.swapped = order == '>' && itemsize(d.type) > 1 && d.type != dtype::bf16;
      return;
    }
    refuse_elements("elements of type '" + shown(code) + "'" + reason(code));
  }

  static std::string reason(std::string_view code) {
    switch (code.empty() ? '\0' : code[0]) {
      case 'O': return " (pickled Python objects)";
      case 'S':
      case 'U':
      case 'a': return " (text)";
      case 'M':
      case 'm': return " (dates and times)";
      case 'V': return " (raw bytes)";
      case 'f':
      case 'c': return " (extended precision)";
      default: return "";
    }
  }
  [[noreturn]] void refuse_elements(const std::string& what) const {
    from_.fail("has " + what + ", which no array can hold");
  }
};

template <class T, class Swap>
void swap_bytes(std::byte* elements, std::size_t bytes, Swap swap) {
  for (std::size_t k = 0; k < bytes; k += sizeof(T)) {
    T v;
    std::memcpy(&v, elements + k, sizeof v);
    v = swap(v);
    std::memcpy(elements + k, &v, sizeof v);
  }
}

/// Checks the sizes for consistency and against the available bytes of the source.
void check_sizes(npy_header& h, const byte_source& from) {
  std::uint64_t n = 1;
  bool none = false;
  for (const std::int64_t d : h.shape) {
    none |= d == 0;
    // Zero extents do not lift the limit on the others, since strides are products of those.
    if (d != 0 && (__builtin_mul_overflow(n, static_cast<std::uint64_t>(d), &n) || n > INT64_MAX / 16))
      from.fail("is damaged: its header says shape " + core::to_string(h.shape) + ", more elements than any array has");
  }
  h.bytes = none ? 0 : n * itemsize(h.type);
  const std::uint64_t left = from.left();
  if (left != byte_source::unknown && h.bytes > left)
    from.fail("is cut short: shape " + core::to_string(h.shape) + " of " + std::string(name(h.type)) + " takes " +
              std::to_string(h.bytes) + " bytes, " + std::to_string(left) + " are left");
}

}  // namespace

npy_header read_npy_header(byte_source& from, std::optional<dtype> raw_type) {
  unsigned char front[12];
  if (from.left() < 10) from.fail("is no .npy file: it has fewer than 10 bytes");
  from.read(front, 8);
  if (std::memcmp(front, magic.data(), magic.size()) != 0) {
    const bool zip = std::memcmp(front, "PK\3\4", 4) == 0 || std::memcmp(front, "PK\5\6", 4) == 0;
    from.fail(zip ? "is an .npz archive; open it with load_npz" : "is no .npy file: it does not begin as one");
  }
  const int version = front[6];
  if (version < 1 || version > 3 || front[7] != 0)
    from.fail("has format version " + std::to_string(version) + "." + std::to_string(front[7]) +
              "; 1.0 to 3.0 are known");
  const std::size_t width = version == 1 ? 2 : 4;
  from.read(front + 8, width);
  std::size_t length = 0;
  for (std::size_t k = 0; k < width; ++k) length |= std::size_t{front[8 + k]} << (8 * k);
  if (length > longest_header || length > from.left())
    from.fail("is damaged: its header takes " + std::to_string(length) + " bytes");
  std::string text(length, '\0');
  from.read(text.data(), length);
  npy_header h = header_reader(from, text, raw_type).read();
  h.offset = 8 + width + length;
  check_sizes(h, from);
  return h;
}

void normalise_elements(std::byte* elements, std::size_t bytes, const npy_header& h) {
  if (h.type == dtype::b1)
    for (std::size_t k = 0; k < bytes; ++k) elements[k] = std::byte{elements[k] != std::byte{0}};
  if (!h.swapped) return;
  const std::size_t part = is_complex(h.type) ? itemsize(h.type) / 2 : itemsize(h.type);
  if (part == 2) swap_bytes<std::uint16_t>(elements, bytes, [](auto v) { return __builtin_bswap16(v); });
  if (part == 4) swap_bytes<std::uint32_t>(elements, bytes, [](auto v) { return __builtin_bswap32(v); });
  if (part == 8) swap_bytes<std::uint64_t>(elements, bytes, [](auto v) { return __builtin_bswap64(v); });
}

std::string npy_header_bytes(dtype type, const core::dims& shape, bool fortran) {
  std::string_view code;
  for (const descr_entry& d : descrs)
    if (d.type == type) code = d.code;
  std::string text = std::string("{'descr': '") + (itemsize(type) == 1 ? '|' : '<') + std::string(code) +
                     "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + core::to_string(shape) +
                     ", }";
  // Padding for the first axis to grow to 21 digits (Fortran order: the last), then blanks up to a multiple of 64.
  constexpr std::size_t growth = 21;
  if (!shape.empty()) {
    const std::size_t digits = std::to_string(fortran ? shape.back() : shape[0]).size();
    text.append(growth - std::min(growth, digits), ' ');
  }
  const bool longer = 10 + text.size() + 1 + 64 > 0xffff;
  const std::size_t front = longer ? 12 : 10;
  text.append(64 - (front + text.size() + 1) % 64, ' ');
  text += '\n';
  std::string out(magic);
  out += longer ? '\2' : '\1';
  out += '\0';
  for (std::size_t k = 0; k < front - 8; ++k) out += static_cast<char>(text.size() >> (8 * k) & 0xff);
  return out + text;
}

}  // namespace sinter::io
