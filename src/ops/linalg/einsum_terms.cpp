#include "ops/linalg/einsum_terms.hpp"

#include <algorithm>

#include "ops/base/errors.hpp"
#include "sinter/error.hpp"

namespace sinter::ops {
namespace {

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  fail<value_error>("einsum", parts...);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The subscripts of one operand or of the output: letters with at most one ellipsis.
struct term {
  std::string before, after;
  bool ellipsis = false;

  int letters() const { return static_cast<int>(before.size() + after.size()); }
};

term parse_term(std::string_view text) {
  term t;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (is_letter(text[k])) {
      (t.ellipsis ? t.after : t.before) += text[k];
    } else if (text.substr(k, 3) == "..." && !t.ellipsis) {
      t.ellipsis = true;
      k += 2;
    } else if (text[k] == '.') {
      refuse("einstein sum subscripts string contains a '.' that is not part of an ellipsis ('...') in '", text, "'");
    } else {
      refuse("invalid subscript '", text[k], "' in einstein sum subscripts string, subscripts must be letters");
    }
  }
  return t;
}

struct parsed_text {
  std::vector<term> inputs;
  term output;
  bool has_output = false;
};

parsed_text parse_text(std::string_view subscripts) {
  std::string text;
  for (const char c : subscripts)
    if (c != ' ') text += c;
  parsed_text p;
  const std::size_t arrow = text.find("->");
  std::string_view left = text;
  if (arrow != std::string::npos) {
    left = left.substr(0, arrow);
    p.has_output = true;
    p.output = parse_term(std::string_view(text).substr(arrow + 2));
  }
  for (std::size_t at = 0; at <= left.size();) {
    const std::size_t end = std::min(left.find(',', at), left.size());
    p.inputs.push_back(parse_term(left.substr(at, end - at)));
    at = end + 1;
  }
  return p;
}

void append_ellipsis(label_list& to, int axes) {
  for (int k = axes - 1; k >= 0; --k) to.push_back(ellipsis_label + k);
}

label_list labels_of(const term& t, int ellipsis_axes) {
  label_list out(t.before.begin(), t.before.end());
  append_ellipsis(out, ellipsis_axes);
  out.insert(out.end(), t.after.begin(), t.after.end());
  return out;
}

/// How many axes the ellipsis of an operand covers.
int ellipsis_axes(const term& t, int operand, int rank) {
  if (t.letters() > rank)
    refuse("einstein sum subscripts string contains too many subscripts for operand ", operand, " of rank ", rank);
  if (!t.ellipsis && t.letters() < rank)
    refuse(
        "operand ", operand,
        " has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to broadcast the "
        "extra dimensions");
  return rank - t.letters();
}

void collect_extents(einsum_terms& out, const std::vector<dims>& shapes) {
  out.extents.assign(ellipsis_label + core::max_rank, 1);
  for (std::size_t k = 0; k < shapes.size(); ++k)
    for (std::size_t a = 0; a < out.inputs[k].size(); ++a) {
      const label l = out.inputs[k][a];
      const std::int64_t n = shapes[k][static_cast<int>(a)];
      for (std::size_t b = 0; b < a; ++b)
        if (const std::int64_t other = shapes[k][static_cast<int>(b)]; out.inputs[k][b] == l && other != n)
          ops::fail<shape_error>("einsum", "dimensions in operand ", k, " for collapsing index '", text_of({l}),
                                 "' don't match (", other, " != ", n, ")");
      std::int64_t& extent = out.extents[static_cast<std::size_t>(l)];
      if (extent != 1 && n != 1 && n != extent)
        ops::fail<shape_error>("einsum", "operands could not be broadcast together: index '", text_of({l}),
                               "' has extent ", extent, ", but ", n, " in operand ", k, " with shape ", shapes[k]);
      if (n != 1) extent = n;
    }
}

/// The implicit output: the ellipsis, then the letters that occur once, in alphabetical order.
label_list implicit_output(const einsum_terms& terms, int ellipsis) {
  std::vector<int> count(ellipsis_label);
  for (const label_list& in : terms.inputs)
    for (const label l : in)
      if (l < ellipsis_label) ++count[static_cast<std::size_t>(l)];
  label_list out;
  append_ellipsis(out, ellipsis);
  for (label l = 0; l < ellipsis_label; ++l)
    if (count[static_cast<std::size_t>(l)] == 1) out.push_back(l);
  return out;
}

label_list explicit_output(const term& t, const einsum_terms& terms, int ellipsis) {
  if (ellipsis > 0 && !t.ellipsis)
    refuse(
        "output has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to "
        "broadcast the extra dimensions");
  const label_list out = labels_of(t, ellipsis);
  for (std::size_t k = 0; k < out.size(); ++k) {
    const std::string name = text_of({out[k]});
    if (std::count(out.begin(), out.end(), out[k]) > 1)
      refuse("einstein sum subscripts string includes output subscript '", name, "' multiple times");
    if (out[k] < ellipsis_label &&
        std::none_of(terms.inputs.begin(), terms.inputs.end(), [&](auto& in) { return holds(in, out[k]); }))
      refuse("einstein sum subscripts string included output subscript '", name, "' which never appeared in an input");
  }
  return out;
}

}  // namespace

std::string text_of(const label_list& labels) {
  std::string out;
  for (const label l : labels) {
    if (l < ellipsis_label) out += static_cast<char>(l);
    else if (out.size() < 3 || out.substr(out.size() - 3) != "...") out += "...";
  }
  return out;
}

einsum_terms parse_einsum(std::string_view subscripts, const std::vector<dims>& shapes) {
  const parsed_text p = parse_text(subscripts);
  if (p.inputs.size() < shapes.size())
    refuse("more operands provided to einstein sum function than specified in the subscripts string");
  if (p.inputs.size() > shapes.size())
    refuse("fewer operands provided to einstein sum function than specified in the subscripts string");
  einsum_terms out;
  int ellipsis = 0;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    const int axes = ellipsis_axes(p.inputs[k], static_cast<int>(k), shapes[k].size());
    ellipsis = std::max(ellipsis, axes);
    out.inputs.push_back(labels_of(p.inputs[k], axes));
  }
  collect_extents(out, shapes);
  out.output = p.has_output ? explicit_output(p.output, out, ellipsis) : implicit_output(out, ellipsis);
  return out;
}

}  // namespace sinter::ops
