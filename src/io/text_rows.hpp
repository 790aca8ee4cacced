// Splits text into rows and fields: line ends, comments, delimiters, quotes. Numbers are parsed in text_numbers.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::io {

struct row_rules {
  std::string_view comments, delimiter;  // empty: no comments; runs of blanks
  char quote = '\0';
  bool trim = false;  // ignore blanks at both ends of a line (they may be delimiters)
};

/// Iterates over the rows of a text, which must outlive it and the fields. A copy continues independently; fields live
/// as long as the reader that returned them.
class row_reader {
 public:
  row_reader(std::string_view text, const row_rules& rules) : text_(text), rules_(rules) {}

  /// Moves past the next line; false at the end.
  bool skip_line();
  /// The next line without its end; line ends within quotes are part of it.
  bool take_line(std::string_view& line);
  /// The fields of the next line that is not empty; false at the end.
  bool next(std::vector<std::string_view>& fields);
  /// The line number of the last row, from 1; with quoted line ends, that of its last line.
  std::int64_t line() const noexcept { return line_; }
  std::string_view rest() const noexcept { return text_.substr(at_); }

 private:
  std::size_t pass_line();
  std::string_view line_from_here();
  std::string_view without_comment(std::string_view line) const;
  std::size_t quoted_end(std::string_view line, std::size_t quote) const;
  void split(std::string_view line, std::vector<std::string_view>& fields);
  void split_blanks(std::string_view line, std::vector<std::string_view>& fields);
  std::string_view unquoted(std::string_view field);

  std::string_view text_;
  row_rules rules_;
  std::size_t at_ = 0, feed_ = 0;  // position of the next line feed, unless at_ is past it
  std::int64_t line_ = 0;
  std::deque<std::string> changed_;  // fields after removal of quotes, until the next row
};

/// The field without blanks at both ends.
std::string_view trimmed(std::string_view field) noexcept;
inline bool is_blank(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace sinter::io
