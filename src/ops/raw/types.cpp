// Parser for the C++ types of kernel parameters.
#include "ops/raw/types.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/identifier.hpp"

namespace sinter::ops {
namespace {

using core::continues_symbol;

bool is_word(std::string_view t) noexcept { return continues_symbol(t[0]); }

bool is_one_of(std::string_view t, std::initializer_list<std::string_view> list) noexcept {
  return std::find(list.begin(), list.end(), t) != list.end();
}
bool is_integer_word(std::string_view t) noexcept {
  return is_one_of(t, {"signed", "unsigned", "char", "short", "int", "long", "__int64"});
}
bool is_builtin(std::string_view t) noexcept {
  return is_integer_word(t) || is_one_of(t, {"void", "bool", "float", "double"});
}
bool is_const(std::string_view t) noexcept { return t == "const" || t == "__const"; }
bool is_decoration(std::string_view t) noexcept {
  return is_one_of(t,
                   {"volatile", "__restrict__", "__restrict", "restrict", "__grid_constant__", "struct", "typename"});
}

element_class plain(dtype t) {
  element_class e;
  e.types[0] = t;
  e.count = 1;
  e.bytes = e.alignment = itemsize(t);
  return e;
}

std::optional<dtype> integer_of(const tokens& t) {
  const auto count = [&](std::string_view w) { return std::count(t.begin(), t.end(), w); };
  if (t.empty() || !std::all_of(t.begin(), t.end(), is_integer_word)) return std::nullopt;
  const int log2 = count("char") ? 0 : count("short") ? 1 : count("long") || count("__int64") ? 3 : 2;
  return static_cast<dtype>(static_cast<int>(count("unsigned") ? dtype::u8 : dtype::i8) + log2);
}

/// Type names of one word.
std::optional<dtype> named_type(std::string_view t) {
  static constexpr std::pair<std::string_view, dtype> names[] = {
      {"bool", dtype::b1},
      {"float", dtype::f32},
      {"double", dtype::f64},
      {"int8_t", dtype::i8},
      {"int16_t", dtype::i16},
      {"int32_t", dtype::i32},
      {"int64_t", dtype::i64},
      {"uint8_t", dtype::u8},
      {"uint16_t", dtype::u16},
      {"uint32_t", dtype::u32},
      {"uint64_t", dtype::u64},
      {"uint", dtype::u32},
      {"size_t", dtype::u64},
      {"ptrdiff_t", dtype::i64},
      {"intptr_t", dtype::i64},
      {"uintptr_t", dtype::u64},
      {"half", dtype::f16},
      {"__half", dtype::f16},
      {"nv_bfloat16", dtype::bf16},
      {"__nv_bfloat16", dtype::bf16},
      {"cuComplex", dtype::c64},
      {"cuFloatComplex", dtype::c64},
      {"cuDoubleComplex", dtype::c128},
  };
  for (const auto& [name, type] : names)
    if (name == t) return type;
  return std::nullopt;
}

/// float4, uchar2, longlong1, half2: vectors of one to four.
element_class vector_type(std::string_view t) {
  static constexpr std::pair<std::string_view, dtype> bases[] = {
      {"char", dtype::i8},   {"uchar", dtype::u8},     {"short", dtype::i16},        {"ushort", dtype::u16},
      {"int", dtype::i32},   {"uint", dtype::u32},     {"long", dtype::i64},         {"ulong", dtype::u64},
      {"float", dtype::f32}, {"longlong", dtype::i64}, {"ulonglong", dtype::u64},    {"double", dtype::f64},
      {"half", dtype::f16},  {"__half", dtype::f16},   {"nv_bfloat16", dtype::bf16}, {"__nv_bfloat16", dtype::bf16},
  };
  element_class e;
  if (t.size() < 2 || t.back() < '1' || t.back() > '4') return e;
  const std::string_view base = t.substr(0, t.size() - 1);
  const int lanes = t.back() - '0';
  for (const auto& [name, type] : bases) {
    if (name != base || ((type == dtype::f16 || type == dtype::bf16) && lanes != 2)) continue;
    e = plain(type);
    e.bytes *= static_cast<std::size_t>(lanes);
    if (lanes != 3) e.alignment = std::min<std::size_t>(e.bytes, 16);
    if (lanes == 2 && (type == dtype::f32 || type == dtype::f64)) {
      e.types[0] = type == dtype::f32 ? dtype::c64 : dtype::c128;
      e.types[1] = type;
      e.count = 2;
    }
  }
  return e;
}

/// Removes "std::", "cuda::std::", "thrust::" and similar; false if the name is in another namespace.
bool strip_namespace(tokens& t) {
  const auto argument = std::find(t.begin(), t.end(), "<");
  auto last = argument;
  for (auto it = t.begin(); it != argument; ++it)
    if (*it == "::") last = it;
  if (last == argument) return true;
  const bool known = t.front() == "::" || is_one_of(t.front(), {"std", "cuda", "thrust", "sinter"});
  t.erase(t.begin(), last + 1);
  return known;
}

/// The tokens between "<" and the ">" at the end, split at commas.
std::vector<tokens> template_arguments(const tokens& t) {
  const auto open = std::find(t.begin(), t.end(), "<");
  if (open == t.end() || t.back() != ">") return {};
  return split_at_commas(tokens(open + 1, t.end() - 1));
}

element_class element_of(tokens t) {
  if (t.size() == 1 && t[0] == "void") {
    element_class e;
    e.anything = true;
    return e;
  }
  if (const auto integer = integer_of(t)) return plain(*integer);
  element_class unknown;
  if (t.empty() || !strip_namespace(t)) return unknown;
  if (t.size() == 1) {
    if (const auto named = named_type(t[0])) return plain(*named);
    return vector_type(t[0]);
  }
  const auto arguments = template_arguments(t);
  if (t[0] != "complex" || arguments.size() != 1) return unknown;
  const element_class part = element_of(arguments[0]);
  if (part.count != 1 || (part.types[0] != dtype::f32 && part.types[0] != dtype::f64)) return unknown;
  return plain(part.types[0] == dtype::f32 ? dtype::c64 : dtype::c128);
}

/// Removes const and decorations outside of template arguments; returns whether there was a const.
bool take_const(tokens& t) {
  bool found = false;
  int depth = 0;
  std::erase_if(t, [&](std::string_view w) {
    depth += w == "<" ? 1 : w == ">" ? -1 : 0;
    if (depth != 0) return false;
    found = found || is_const(w);
    return is_const(w) || is_decoration(w);
  });
  return found;
}

/// strided<T, N>, qualified with sinter:: or found by a using declaration.
bool parse_strided(tokens base, raw_parameter& p) {
  if (!strip_namespace(base) || base.empty() || base[0] != "strided") return false;
  std::vector<tokens> arguments = template_arguments(base);
  if (arguments.size() != 2 || arguments[1].size() != 1) return false;
  p.readonly = take_const(arguments[0]);
  int rank = 0;
  for (const char c : arguments[1][0]) {
    if (c < '0' || c > '9' || rank > 1000) return false;
    rank = 10 * rank + (c - '0');
  }
  p.kind = parameter_kind::strided;
  p.rank = rank;
  p.element = element_of(arguments[0]);
  return true;
}

/// Removes a parameter's name from the tokens: "x" from "float" "x".
void drop_name(tokens& base) {
  if (base.size() < 2 || !is_word(base.back()) || is_builtin(base.back())) return;
  const std::string_view before = base[base.size() - 2];
  if (is_word(before) || before == ">") base.pop_back();
}

}  // namespace

bool element_class::accepts(dtype t) const noexcept {
  return anything || count == 0 || std::find(types, types + count, t) != types + count;
}

tokens tokens_of(std::string_view text) {
  tokens list;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (continues_symbol(text[at]))
      while (end < text.size() && continues_symbol(text[end])) ++end;
    else if (text.substr(at, 2) == "::") end = at + 2;
    if (text[at] != ' ' && text[at] != '\t' && text[at] != '\n' && text[at] != '\r' && text[at] != '\\')
      list.push_back(text.substr(at, end - at));
    at = end;
  }
  return list;
}

std::string rendered(const tokens& t) {
  std::string text;
  for (std::size_t k = 0; k < t.size(); ++k) {
    const std::string_view before = k == 0 ? std::string_view() : t[k - 1];
    const bool behind_word = k > 0 && (is_word(before) || is_one_of(before, {"*", "&", ">"}));
    if ((is_word(t[k]) && behind_word) || before == "," || (t[k] == "=" || before == "=")) text += ' ';
    text += t[k];
  }
  return text;
}

std::vector<tokens> split_at_commas(const tokens& t) {
  std::vector<tokens> parts;
  if (t.empty()) return parts;
  parts.emplace_back();
  int depth = 0;
  for (const std::string_view w : t) {
    if (is_one_of(w, {"<", "(", "[", "{"})) ++depth;
    if (is_one_of(w, {">", ")", "]", "}"})) --depth;
    if (w == "," && depth == 0) parts.emplace_back();
    else parts.back().push_back(w);
  }
  return parts;
}

namespace {

/// Demanglers write const after the type ("float const*"); users usually write it first, which is the normal form.
void const_in_front(tokens& t) {
  std::size_t begin = 0;  // of the type that is being parsed
  for (std::size_t k = 0; k < t.size(); ++k) {
    if (is_one_of(t[k], {"<", ",", "(", "*", "&"})) begin = k + 1;
    if (!is_const(t[k]) || k == begin) continue;
    const auto at = t.begin() + static_cast<std::ptrdiff_t>(begin);
    std::rotate(at, t.begin() + static_cast<std::ptrdiff_t>(k), t.begin() + static_cast<std::ptrdiff_t>(k) + 1);
  }
}

}  // namespace

raw_parameter parameter_of(tokens t, bool may_have_name) {
  raw_parameter p;
  t.erase(std::find(t.begin(), t.end(), "="), t.end());
  if (!may_have_name) const_in_front(t);
  p.text = rendered(t);
  bool array = false;
  if (const auto bracket = std::find(t.begin(), t.end(), "["); bracket != t.end()) {
    array = true;
    t.erase(bracket, t.end());
  }
  if (std::any_of(t.begin(), t.end(), [](std::string_view w) { return is_one_of(w, {"(", "&", "{", "#"}); })) return p;
  const auto star = std::find(t.begin(), t.end(), "*");
  const auto stars = std::count(t.begin(), t.end(), "*") + (array ? 1 : 0);
  tokens base(t.begin(), star);
  const bool readonly = take_const(base);
  if (may_have_name && star == t.end()) drop_name(base);
  if (stars == 0) {
    if (parse_strided(base, p)) return p;
    p.element = element_of(base);
    if (p.element.count != 0) p.kind = parameter_kind::number;
    return p;
  }
  p.kind = parameter_kind::pointer;
  if (stars > 1) return p;
  p.readonly = readonly;
  p.element = element_of(base);
  return p;
}

}  // namespace sinter::ops
