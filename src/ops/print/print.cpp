// Arrays as text: the layout rules of NumPy's arrayprint (without legacy modes).
#include "sinter/print.hpp"

#include <algorithm>
#include <cstring>

#include "ops/base/promotion_args.hpp"
#include "ops/print/format_elements.hpp"
#include "ops/print/options.hpp"

namespace sinter::inline v0 {
namespace {

using ops::dims;

/// The elements that are printed, in C order, and their shape.
struct shown {
  dims shape;
  std::vector<std::byte> elements;
};

/// Copies one corner block of the array to its position among the printed elements.
void fetch_block(const graph::array_view& v, const dims& first, const dims& extent, const dims& to, shown& out) {
  const std::size_t item = itemsize(v.type);
  std::int64_t offset = v.offset;
  for (int i = 0; i < first.size(); ++i) offset += first[i] * v.strides[i];
  const auto count = static_cast<std::size_t>(core::element_count(extent));
  std::vector<std::byte> block(count * item);
  graph::copy_to_host(*graph::make_view(v, extent, v.strides, offset), block.data());
  const dims steps = core::contiguous_strides(out.shape);
  dims at(extent.size());
  for (std::size_t k = 0; k < count; ++k) {
    std::int64_t place = 0;
    for (int i = 0; i < at.size(); ++i) place += (to[i] + at[i]) * steps[i];
    std::memcpy(&out.elements[static_cast<std::size_t>(place) * item], &block[k * item], item);
    for (int i = at.size() - 1; i >= 0 && ++at[i] == extent[i]; --i) at[i] = 0;
  }
}

void fetch_corners(const graph::array_view& v, int axis, std::int64_t edge, dims& first, dims& extent, dims& to,
                   shown& out) {
  if (axis == v.shape.size()) return fetch_block(v, first, extent, to, out);
  const bool split = out.shape[axis] != v.shape[axis];
  first[axis] = to[axis] = 0;
  extent[axis] = split ? edge : v.shape[axis];
  fetch_corners(v, axis + 1, edge, first, extent, to, out);
  if (!split) return;
  first[axis] = v.shape[axis] - edge;
  extent[axis] = to[axis] = edge;
  fetch_corners(v, axis + 1, edge, first, extent, to, out);
}

shown fetch(const graph::array_view& v, bool summarise, std::int64_t edge) {
  shown out;
  out.shape = v.shape;
  if (summarise)
    for (auto& d : out.shape) d = std::min(d, 2 * edge);
  out.elements.resize(static_cast<std::size_t>(core::element_count(out.shape)) * itemsize(v.type));
  if (out.elements.empty()) return out;
  if (!summarise) {
    graph::copy_to_host(v, out.elements.data());
    return out;
  }
  const int n = v.shape.size();
  dims first(n), extent(n), to(n);
  fetch_corners(v, 0, edge, first, extent, to, out);
  return out;
}

/// The text without trailing blanks, including line ends of a separator.
std::string without_blanks(const std::string& text) { return text.substr(0, text.find_last_not_of(" \t\n\v\f\r") + 1); }

/// Formats strings as nested, wrapped lines.
class layout {
 public:
  layout(const dims& shape, const dims& shown_shape, const std::vector<std::string>& words, std::string separator,
         std::int64_t edge_items)
      : shape_(shape), shown_(shown_shape), words_(words), separator_(std::move(separator)), edge_items_(edge_items) {
    bare_ = without_blanks(separator_);
  }

  std::string run(const std::string& indent, int width) { return level(0, indent, width); }

 private:
  const dims& shape_;
  const dims& shown_;
  const std::vector<std::string>& words_;
  std::string separator_, bare_;
  std::int64_t edge_items_;
  std::size_t next_ = 0;

  static void extend(std::string& text, std::string& line, const std::string& word, int width,
                     const std::string& indent) {
    if (static_cast<int>(line.size() + word.size()) > width && line.size() > indent.size()) {
      text += without_blanks(line) + "\n";
      line = indent;
    }
    line += word;
  }

  std::string row(const std::string& indent, int width, bool cut, std::int64_t n) {
    const int room = width - std::max<int>(static_cast<int>(bare_.size()), 1);
    std::string text, line = indent;
    for (std::int64_t i = 0; i < n; ++i) {
      if (cut && i == edge_items_) {
        extend(text, line, "...", room, indent);
        line += separator_;
      }
      extend(text, line, words_[next_++], room, indent);
      if (i + 1 < n) line += separator_;
    }
    return text + line;
  }

  std::string level(int axis, const std::string& indent, int width) {
    const int left = shape_.size() - axis;
    if (left == 0) return words_[next_++];
    const std::int64_t n = shown_[axis];
    const bool cut = n != shape_[axis];
    std::string text;
    if (left == 1) {
      text = row(indent, width, cut, n);
    } else {
      const std::string between = bare_ + std::string(static_cast<std::size_t>(left - 1), '\n');
      for (std::int64_t i = 0; i < n; ++i) {
        if (cut && i == edge_items_) text += indent + "..." + between;
        text += indent + level(axis + 1, indent + " ", width - 1);
        if (i + 1 < n) text += between;
      }
    }
    return "[" + text.substr(indent.size()) + "]";
  }
};

std::string array_text(const graph::array_view& v, const std::string& separator, std::size_t prefix, std::size_t suffix,
                       const print_options& o) {
  const std::int64_t size = core::element_count(v.shape);
  if (size == 0) return "[]";
  const shown data = fetch(v, size > o.threshold, o.edgeitems);
  const auto words = ops::format_elements(
      data.elements.data(), v.type, static_cast<std::size_t>(core::element_count(data.shape)), v.shape.empty(), o);
  return layout(v.shape, data.shape, words, separator, o.edgeitems)
      .run(std::string(prefix + 1, ' '), o.linewidth - static_cast<int>(suffix));
}

}  // namespace

std::string array2string(const ndarray& x, const array2string_kw& kw) {
  const graph::array_view& v = ops::view_of(x, "array2string");
  return array_text(v, std::string(kw.separator), kw.prefix.size(), kw.suffix.size(),
                    ops::print_options_with(kw.options, "array2string"));
}

std::string array_str(const ndarray& x, const print_kw& kw) {
  const graph::array_view& v = ops::view_of(x, "array_str");
  if (!v.shape.empty()) return array_text(v, " ", 0, 0, ops::print_options_with(kw, "array_str"));
  std::byte element[16];
  graph::copy_to_host(v, element);
  return ops::format_scalar(element, v.type);
}

std::string to_string(const ndarray& x) { return array_str(x); }

std::string array_repr(const ndarray& x, const print_kw& kw) {
  const graph::array_view& v = ops::view_of(x, "array_repr");
  const print_options o = ops::print_options_with(kw, "array_repr");
  const std::int64_t size = core::element_count(v.shape);
  const std::string opening = "array(";
  std::string text = opening + array_text(v, ", ", opening.size(), 1, o);
  std::string extras;
  if ((size == 0 && v.shape.size() != 1) || size > o.threshold) extras = "shape=" + core::to_string(v.shape);
  const bool implied = v.type == bool_ || v.type == int64 || v.type == float64 || v.type == complex128;
  if (!implied || size == 0) extras += (extras.empty() ? "dtype=" : ", dtype=") + std::string(name(v.type));
  if (extras.empty()) return text + ")";
  text += ",";
  extras += ")";
  const std::size_t last_line = text.size() - (text.rfind('\n') + 1);
  const bool wraps = last_line + extras.size() + 1 > static_cast<std::size_t>(o.linewidth);
  return text + (wraps ? "\n" + std::string(opening.size(), ' ') : " ") + extras;
}

std::ostream& operator<<(std::ostream& out, const ndarray& x) { return out << to_string(x); }

}  // namespace sinter::inline v0
