// Parsing of the texts that users write for kernels: tokens, parameter lists, type names. Errors are value_error with
// the position and the text.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/dtype.hpp"

namespace sinter::ops {

/// A text with its description for messages: "[sqdiff] input parameters".
struct kernel_text {
  std::string_view text;
  std::string where;
};
/// Throws value_error: "[sqdiff] input parameters: expected a name at position 3 of \"T , y\"".
[[noreturn]] void refuse_text(const kernel_text& t, std::size_t position, const std::string& what);

enum class token_kind : unsigned char { identifier, number, literal, mark, end };

struct token {
  token_kind kind{};
  std::string_view text;  // a mark is one character, or one of -> :: ##
  std::size_t position = 0;

  bool is(std::string_view word) const noexcept { return text == word && kind != token_kind::literal; }
};

/// The tokens of C++ text without comments, followed by one of kind `end`. Throws for an unterminated string or
/// comment.
std::vector<token> tokenize(const kernel_text& t);

/// Throws unless (), [] and {} nest. Text with preprocessor directives is not checked.
void check_brackets(const kernel_text& t);
/// Whether the text refers to a variable: the identifier occurs, and not as a member (x.i, x->i, s::i).
bool mentions(const kernel_text& t, std::string_view identifier);

/// Whether a word is one of the tokens.
bool has_word(const kernel_text& t, std::string_view word);
/// The text with its last statement terminated by ";"; empty text stays empty. Line numbers are preserved.
std::string as_statements(const kernel_text& t);

/// Throws unless the text is an identifier of C++ that is neither a keyword nor reserved (`_x`, `x__y`, `sn_x`).
void check_identifier(const kernel_text& t);

/// A type in a parameter list: a letter, or a dtype.
struct written_type {
  char letter = 0;  // 'A' to 'Z', or 0
  dtype type{};
};

/// A parameter in a parameter list.
struct parameter {
  std::string name;
  written_type type;
  bool raw = false;
};

/// Parses "T x, raw unsigned long long y". `raw_allowed` is false where raw has no meaning.
std::vector<parameter> parse_parameters(const kernel_text& t);
/// The type, if the whole text is one: a letter, or a NumPy or C++ name.
std::optional<written_type> parse_type(const kernel_text& t);

/// "T f(T x, T y)".
struct declaration {
  written_type result;
  std::string name;
  std::vector<parameter> parameters;
};
declaration parse_declaration(const kernel_text& t);

/// A core dimension: a name, or an extent.
struct core_dimension {
  std::string name;
  std::int64_t extent = -1;
};
/// "(n,k),(m,k)->(n,m)".
struct core_signature {
  std::vector<std::vector<core_dimension>> inputs, outputs;
};
core_signature parse_core_signature(const kernel_text& t);

/// A parameter as in a signature: "T x", "raw float32 y".
std::string to_string(const parameter& p);
/// "T", "float32".
std::string to_string(const written_type& t);

}  // namespace sinter::ops
