// Splits into lines first, since most text has no quotes; a quoted line end joins two of them.
#include "io/text_rows.hpp"

#include <algorithm>

namespace sinter::io {

std::string_view trimmed(std::string_view field) noexcept {
  while (!field.empty() && is_blank(field.front())) field.remove_prefix(1);
  while (!field.empty() && is_blank(field.back())) field.remove_suffix(1);
  return field;
}

/// Moves past the next line; returns the end of its text.
std::size_t row_reader::pass_line() {
  // One search per line for each of the two characters; the position of the next line feed is kept, since text of old
  // systems has none.
  if (feed_ < at_ || at_ == 0) feed_ = std::min(text_.find('\n', at_), text_.size());
  const std::size_t back = text_.substr(at_, feed_ - at_).find('\r');
  const std::size_t end = back == std::string_view::npos ? feed_ : at_ + back;
  at_ = std::min(end + (text_.substr(end, 2) == "\r\n" ? 2 : 1), text_.size());
  ++line_;
  return end;
}

bool row_reader::skip_line() {
  if (at_ >= text_.size()) return false;
  pass_line();
  return true;
}

bool row_reader::take_line(std::string_view& line) {
  if (at_ >= text_.size()) return false;
  line = line_from_here();
  return true;
}

std::string_view row_reader::line_from_here() {
  const std::size_t begin = at_, simple_end = pass_line();
  if (rules_.quote == '\0') return text_.substr(begin, simple_end - begin);
  // A line end is quoted if an odd number of quotes precedes it outside of a comment.
  bool open = false, comment = false;
  for (std::size_t k = begin; !comment; k = at_) {
    for (; k < at_ && !comment; ++k) {
      if (text_[k] == rules_.quote) open = !open;
      comment = !open && !rules_.comments.empty() && text_.substr(k).starts_with(rules_.comments);
    }
    if (!open || comment || !skip_line()) break;
  }
  std::size_t end = at_;
  while (end > begin && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) --end;
  return text_.substr(begin, end - begin);
}

/// The closing quote of the quoted text that begins at `quote`, or the end of the line.
std::size_t row_reader::quoted_end(std::string_view line, std::size_t quote) const {
  for (std::size_t k = quote + 1; k < line.size(); ++k) {
    if (line[k] != rules_.quote) continue;
    if (k + 1 < line.size() && line[k + 1] == rules_.quote) {
      ++k;
      continue;
    }
    return k;
  }
  return line.size();
}

std::string_view row_reader::without_comment(std::string_view line) const {
  if (rules_.comments.empty()) return line;
  if (rules_.quote == '\0') return line.substr(0, line.find(rules_.comments));
  for (std::size_t k = 0; k < line.size(); ++k) {
    if (line[k] == rules_.quote) k = quoted_end(line, k);
    else if (line.substr(k).starts_with(rules_.comments)) return line.substr(0, k);
  }
  return line;
}

/// The text of a field with quotes.
std::string_view row_reader::unquoted(std::string_view field) {
  if (rules_.quote == '\0' || field.find(rules_.quote) == std::string_view::npos) return field;
  std::string& text = changed_.emplace_back();
  for (std::size_t k = 0; k < field.size(); ++k) {
    if (field[k] != rules_.quote) {
      text += field[k];
      continue;
    }
    const std::size_t end = quoted_end(field, k);
    for (std::size_t i = k + 1; i < end; ++i) {
      text += field[i];
      if (field[i] == rules_.quote) ++i;  // a doubled quote is a literal one
    }
    k = end;
  }
  return text;
}

void row_reader::split_blanks(std::string_view line, std::vector<std::string_view>& fields) {
  for (std::size_t k = 0; k < line.size();) {
    if (is_blank(line[k])) {
      ++k;
      continue;
    }
    const std::size_t begin = k;
    while (k < line.size() && !is_blank(line[k]))
      k = (line[k] == rules_.quote && rules_.quote ? quoted_end(line, k) : k) + 1;
    fields.push_back(unquoted(line.substr(begin, k - begin)));
  }
}

void row_reader::split(std::string_view line, std::vector<std::string_view>& fields) {
  if (rules_.delimiter.empty()) return split_blanks(line, fields);
  std::size_t begin = 0;
  if (rules_.quote == '\0') {
    for (std::size_t at; (at = line.find(rules_.delimiter, begin)) != std::string_view::npos;) {
      fields.push_back(line.substr(begin, at - begin));
      begin = at + rules_.delimiter.size();
    }
    return fields.push_back(line.substr(begin));
  }
  for (std::size_t k = 0; k < line.size();) {
    if (line[k] == rules_.quote) {
      k = quoted_end(line, k) + 1;
    } else if (line[k] == rules_.delimiter[0] && line.substr(k).starts_with(rules_.delimiter)) {
      fields.push_back(unquoted(line.substr(begin, k - begin)));
      begin = k += rules_.delimiter.size();
    } else {
      ++k;
    }
  }
  fields.push_back(unquoted(line.substr(begin < line.size() ? begin : line.size())));
}

bool row_reader::next(std::vector<std::string_view>& fields) {
  for (std::string_view line; take_line(line);) {
    fields.clear();
    changed_.clear();
    line = without_comment(line);
    while (rules_.trim && !line.empty() && line.front() == ' ') line.remove_prefix(1);
    while (rules_.trim && !line.empty() && line.back() == ' ') line.remove_suffix(1);
    if (line.empty()) continue;
    split(line, fields);
    if (!fields.empty()) return true;
  }
  return false;
}

}  // namespace sinter::io
