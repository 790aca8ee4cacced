// The tokenizer and parsers of kernel texts.
#include "ops/kernels/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "core/identifier.hpp"
#include "sinter/error.hpp"

namespace sinter::ops {
namespace {

using core::continues_identifier;
using core::is_digit;
using core::starts_identifier;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

constexpr std::array keywords = {
    "alignas",   "alignof",  "and",      "and_eq",    "asm",          "auto",          "bitand",
    "bitor",     "bool",     "break",    "case",      "catch",        "char",          "char16_t",
    "char32_t",  "class",    "compl",    "const",     "constexpr",    "const_cast",    "continue",
    "decltype",  "default",  "delete",   "do",        "double",       "dynamic_cast",  "else",
    "enum",      "explicit", "export",   "extern",    "false",        "float",         "for",
    "friend",    "goto",     "if",       "inline",    "int",          "long",          "mutable",
    "namespace", "new",      "noexcept", "not",       "not_eq",       "nullptr",       "operator",
    "or",        "or_eq",    "private",  "protected", "public",       "register",      "reinterpret_cast",
    "return",    "short",    "signed",   "sizeof",    "static",       "static_assert", "static_cast",
    "struct",    "switch",   "template", "this",      "thread_local", "throw",         "true",
    "try",       "typedef",  "typeid",   "typename",  "union",        "unsigned",      "using",
    "virtual",   "void",     "volatile", "wchar_t",   "while",        "xor",           "xor_eq",
    "raw"};

struct named_type {
  std::string_view name;
  dtype type;
};
constexpr named_type single_word_types[] = {
    {"bool", dtype::b1},       {"bool_", dtype::b1},     {"int8", dtype::i8},       {"int16", dtype::i16},
    {"int32", dtype::i32},     {"int64", dtype::i64},    {"uint8", dtype::u8},      {"uint16", dtype::u16},
    {"uint32", dtype::u32},    {"uint64", dtype::u64},   {"float16", dtype::f16},   {"bfloat16", dtype::bf16},
    {"float32", dtype::f32},   {"float64", dtype::f64},  {"complex64", dtype::c64}, {"complex128", dtype::c128},
    {"half", dtype::f16},      {"float", dtype::f32},    {"double", dtype::f64},    {"int8_t", dtype::i8},
    {"int16_t", dtype::i16},   {"int32_t", dtype::i32},  {"int64_t", dtype::i64},   {"uint8_t", dtype::u8},
    {"uint16_t", dtype::u16},  {"uint32_t", dtype::u32}, {"uint64_t", dtype::u64},  {"size_t", dtype::u64},
    {"ptrdiff_t", dtype::i64},
};

bool is_integer_word(std::string_view w) {
  return w == "signed" || w == "unsigned" || w == "char" || w == "short" || w == "int" || w == "long";
}

/// C++'s integer types, with their words in any order: "unsigned long int".
std::optional<dtype> integer_of_words(const token* first, const token* last) {
  const auto count = [&](std::string_view word) {
    return std::count_if(first, last, [&](const token& t) { return t.text == word; });
  };
  if (!std::all_of(first, last, [](const token& t) { return is_integer_word(t.text); })) return {};
  const auto is_unsigned = count("unsigned"), is_signed = count("signed"), n_char = count("char"),
             n_short = count("short"), n_long = count("long"), n_int = count("int");
  if (is_unsigned + is_signed > 1 || n_int > 1 || n_short > 1 || n_long > 2) return {};
  if (n_char > 0 && (n_char > 1 || n_short + n_long + n_int > 0)) return {};
  if (n_short > 0 && n_long > 0) return {};
  const int log2 = n_char > 0 ? 0 : n_short > 0 ? 1 : n_long > 0 ? 3 : 2;
  return static_cast<dtype>(static_cast<int>(is_unsigned ? dtype::u8 : dtype::i8) + log2);
}

std::optional<written_type> type_of_words(const token* first, const token* last) {
  if (first == last) return {};
  if (last - first == 1) {
    const std::string_view word = first->text;
    if (word.size() == 1 && word[0] >= 'A' && word[0] <= 'Z') return written_type{word[0], {}};
    for (const named_type& t : single_word_types)
      if (t.name == word) return written_type{0, t.type};
  }
  if (const auto type = integer_of_words(first, last)) return written_type{0, *type};
  return {};
}

std::string_view span_of(const kernel_text& t, const token* first, const token* last) {
  const std::size_t from = first->position, to = last[-1].position + last[-1].text.size();
  return t.text.substr(from, to - from);
}

/// A recursive-descent parser over the tokens.
class reader {
 public:
  explicit reader(const kernel_text& t) : t_(t), tokens_(tokenize(t)) {}

  const token& peek() const { return tokens_[at_]; }
  const token& next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool accept(std::string_view mark) {
    if (!peek().is(mark)) return false;
    next();
    return true;
  }
  void expect(std::string_view mark) {
    if (!accept(mark)) refuse("expected '" + std::string(mark) + "'");
  }
  [[noreturn]] void refuse(const std::string& what) const {
    const token& t = peek();
    refuse_text(t_, t.position, t.kind == token_kind::end ? what : what + " instead of '" + std::string(t.text) + "'");
  }

  /// Parses "[raw] type name"; `what` describes the name in messages. Without `raw_allowed`, "raw" is not a keyword.
  parameter read_parameter(const char* what, bool raw_allowed) {
    parameter p;
    if (raw_allowed && accept("raw")) p.raw = true;
    const std::size_t first = at_;
    while (peek().kind == token_kind::identifier) next();
    const std::size_t words = at_ - first;
    if (words == 0) refuse(std::string("expected a type"));
    if (words == 1) refuse("expected " + std::string(what) + " after '" + std::string(tokens_[first].text) + "'");
    const token* const begin = tokens_.data() + first;
    const token& name = tokens_[at_ - 1];
    const auto type = type_of_words(begin, &name);
    if (!type) refuse_text(t_, begin->position, "'" + std::string(span_of(t_, begin, &name)) + "' is not a type");
    check_name(name);
    p.type = *type;
    p.name = std::string(name.text);
    return p;
  }
  void check_name(const token& name) const {
    if (const char* why = why_not_identifier(name.text))
      refuse_text(t_, name.position, "'" + std::string(name.text) + "' " + why);
  }

  /// Parses up to, not including, `close` (or the end of the text).
  std::vector<parameter> read_list(token_kind close_kind, std::string_view close) {
    std::vector<parameter> list;
    const auto at_close = [&] { return peek().kind == close_kind && (close.empty() || peek().is(close)); };
    if (at_close()) return list;
    do {
      const std::size_t position = peek().position;
      list.push_back(read_parameter("a name", true));
      for (std::size_t k = 0; k + 1 < list.size(); ++k)
        if (list[k].name == list.back().name) refuse_text(t_, position, "'" + list[k].name + "' is named twice");
    } while (accept(","));
    if (!at_close()) refuse(close.empty() ? "expected ','" : "expected ',' or '" + std::string(close) + "'");
    return list;
  }

  static const char* why_not_identifier(std::string_view name) {
    if (!core::is_identifier(name)) return "is not an identifier";
    if (std::find(keywords.begin(), keywords.end(), name) != keywords.end()) return "is a keyword";
    if (name[0] == '_' || name.find("__") != name.npos || name.substr(0, 3) == "sn_") return "is a reserved name";
    return nullptr;
  }

  core_dimension read_dimension() {
    core_dimension d;
    const token& t = peek();
    if (t.kind == token_kind::identifier) {
      check_name(t);
      d.name = std::string(t.text);
    } else if (t.kind == token_kind::number) {
      const auto [stop, status] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), d.extent);
      if (status != std::errc() || stop != t.text.data() + t.text.size()) refuse("expected an integer");
    } else {
      refuse("expected a dimension's name or extent");
    }
    next();
    return d;
  }
  std::vector<std::vector<core_dimension>> read_groups() {
    std::vector<std::vector<core_dimension>> groups;
    do {
      expect("(");
      auto& group = groups.emplace_back();
      if (accept(")")) continue;
      do group.push_back(read_dimension());
      while (accept(","));
      if (!accept(")")) refuse("expected ',' or ')'");
    } while (accept(","));
    return groups;
  }

 private:
  const kernel_text& t_;
  std::vector<token> tokens_;
  std::size_t at_ = 0;
};

/// Length of the comment at the beginning of `rest`, 0 if there is none, npos if it is not terminated.
std::size_t comment_length(std::string_view rest) {
  if (rest.substr(0, 2) == "//") return std::min(rest.find('\n'), rest.size());
  if (rest.substr(0, 2) != "/*") return 0;
  const std::size_t end = rest.find("*/", 2);
  return end == rest.npos ? rest.npos : end + 2;
}

/// Length of a string or character literal, npos if it does not end on its line.
std::size_t literal_length(std::string_view rest) {
  for (std::size_t k = 1; k < rest.size() && rest[k] != '\n'; ++k) {
    if (rest[k] == '\\') ++k;
    else if (rest[k] == rest[0]) return k + 1;
  }
  return rest.npos;
}

/// Length of a preprocessing number: 1e-5f, 0x1p+3, 1'000.
std::size_t number_length(std::string_view rest) {
  std::size_t k = 1;
  for (; k < rest.size(); ++k) {
    const char c = rest[k], before = rest[k - 1];
    const bool exponent_sign =
        (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
    const bool separator = c == '\'' && k + 1 < rest.size() && continues_identifier(rest[k + 1]);
    if (!continues_identifier(c) && c != '.' && !exponent_sign && !separator) break;
  }
  return k;
}

std::size_t identifier_length(std::string_view rest) {
  std::size_t k = 1;
  while (k < rest.size() && continues_identifier(rest[k])) ++k;
  return k;
}

}  // namespace

void refuse_text(const kernel_text& t, std::size_t position, const std::string& what) {
  throw value_error(t.where + ": " + what + " at position " + std::to_string(position) + " of \"" +
                    std::string(t.text) + "\"");
}

std::vector<token> tokenize(const kernel_text& t) {
  std::vector<token> tokens;
  std::size_t at = 0;
  const auto take = [&](token_kind kind, std::size_t length) {
    tokens.push_back({kind, t.text.substr(at, length), at});
    at += length;
  };
  while (at < t.text.size()) {
    const std::string_view rest = t.text.substr(at);
    const char c = rest[0];
    if (c == '\0') refuse_text(t, at, "a null character");
    if (is_space(c)) {
      ++at;
    } else if (const std::size_t comment = comment_length(rest)) {
      if (comment == rest.npos) refuse_text(t, at, "a comment without end");
      at += comment;
    } else if (c == '"' || c == '\'') {
      const std::size_t length = literal_length(rest);
      if (length == rest.npos) refuse_text(t, at, "a quote without end");
      take(token_kind::literal, length);
    } else if (starts_identifier(c)) {
      take(token_kind::identifier, identifier_length(rest));
    } else if (is_digit(c) || (c == '.' && rest.size() > 1 && is_digit(rest[1]))) {
      take(token_kind::number, number_length(rest));
    } else {
      const std::string_view two = rest.substr(0, 2);
      take(token_kind::mark, two == "->" || two == "::" ? 2 : 1);
    }
  }
  tokens.push_back({token_kind::end, {}, t.text.size()});
  return tokens;
}

void check_brackets(const kernel_text& t) {
  const std::vector<token> tokens = tokenize(t);
  if (has_word(t, "#")) return;
  std::vector<const token*> open;
  for (const token& k : tokens) {
    if (k.is("(") || k.is("[") || k.is("{")) open.push_back(&k);
    if (!k.is(")") && !k.is("]") && !k.is("}")) continue;
    const bool fits = !open.empty() && ((open.back()->is("(") && k.is(")")) || (open.back()->is("[") && k.is("]")) ||
                                        (open.back()->is("{") && k.is("}")));
    if (!fits) refuse_text(t, k.position, "'" + std::string(k.text) + "' that closes nothing");
    open.pop_back();
  }
  if (!open.empty())
    refuse_text(t, open.back()->position, "'" + std::string(open.back()->text) + "' that is not closed");
}

bool mentions(const kernel_text& t, std::string_view identifier) {
  const token* before = nullptr;
  const std::vector<token> tokens = tokenize(t);
  for (const token& k : tokens) {
    const bool member = before && (before->is(".") || before->is("->") || before->is("::"));
    if (k.kind == token_kind::identifier && k.text == identifier && !member) return true;
    before = &k;
  }
  return false;
}

bool has_word(const kernel_text& t, std::string_view word) {
  const std::vector<token> tokens = tokenize(t);
  return std::any_of(tokens.begin(), tokens.end(), [&](const token& k) { return k.is(word); });
}

std::string as_statements(const kernel_text& t) {
  const std::vector<token> tokens = tokenize(t);
  if (tokens.size() == 1) return {};
  std::string text(t.text);
  const token& last = tokens[tokens.size() - 2];
  if (last.is(";")) return text;
  // The last line may be a preprocessor directive, to which nothing can be appended.
  if (has_word(t, "#")) return text + "\n;";
  return text.insert(last.position + last.text.size(), ";");
}

void check_identifier(const kernel_text& t) {
  if (const char* why = reader::why_not_identifier(t.text))
    throw value_error(t.where + ": '" + std::string(t.text) + "' " + why);
}

std::vector<parameter> parse_parameters(const kernel_text& t) { return reader(t).read_list(token_kind::end, ""); }

std::optional<written_type> parse_type(const kernel_text& t) {
  const std::vector<token> tokens = tokenize(t);
  return type_of_words(tokens.data(), tokens.data() + tokens.size() - 1);
}

declaration parse_declaration(const kernel_text& t) {
  reader r(t);
  const parameter f = r.read_parameter("the function's name", false);
  declaration d{f.type, f.name, {}};
  r.expect("(");
  d.parameters = r.read_list(token_kind::mark, ")");
  r.expect(")");
  if (r.peek().kind != token_kind::end) r.refuse("expected the end");
  return d;
}

core_signature parse_core_signature(const kernel_text& t) {
  reader r(t);
  core_signature s;
  if (!r.peek().is("->")) s.inputs = r.read_groups();
  r.expect("->");
  s.outputs = r.read_groups();
  if (r.peek().kind != token_kind::end) r.refuse("expected ',' or the end");
  return s;
}

std::string to_string(const written_type& t) { return t.letter ? std::string(1, t.letter) : std::string(name(t.type)); }
std::string to_string(const parameter& p) { return (p.raw ? "raw " : "") + to_string(p.type) + " " + p.name; }

}  // namespace sinter::ops
