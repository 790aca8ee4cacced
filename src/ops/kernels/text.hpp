// Reading what users write for kernels: tokens, parameter lists, type names. Mistakes throw value_error with the
// position and the text.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/dtype.hpp"

namespace sinter::ops {

/// A piece of text with the words by which messages call it: "[sqdiff] input parameters".
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

/// The tokens of C++ text without comments, closed by one of kind `end`. Throws for a string or comment without end.
std::vector<token> tokenize(const kernel_text& t);

/// Throws unless (), [] and {} nest. Text with preprocessor lines is taken as it is.
void check_brackets(const kernel_text& t);
/// Whether the text names a variable: the identifier, unless it is a member (x.i, x->i, s::i).
bool mentions(const kernel_text& t, std::string_view identifier);

/// Whether a word stands anywhere among the tokens.
bool has_word(const kernel_text& t, std::string_view word);
/// The text with its last statement closed; nothing stays nothing. Lines stay the user's.
std::string as_statements(const kernel_text& t);

/// Throws unless the text is an identifier of C++ that is neither a keyword nor reserved (`_x`, `x__y`, `sn_x`).
void check_identifier(const kernel_text& t);

/// A type as it is written: a letter, or a dtype.
struct written_type {
  char letter = 0;  // 'A' to 'Z', or 0
  dtype type{};
};

/// A parameter as it is written.
struct parameter {
  std::string name;
  written_type type;
  bool raw = false;
};

/// "T x, raw unsigned long long y". `raw_allowed` is false where raw has no meaning.
std::vector<parameter> parse_parameters(const kernel_text& t);
/// The type that the whole text is, if it is one: a letter, NumPy's or C++'s name.
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

/// "T x", "raw float32 y": as a signature shows a parameter.
std::string to_string(const parameter& p);
/// "T", "float32".
std::string to_string(const written_type& t);

}  // namespace sinter::ops
