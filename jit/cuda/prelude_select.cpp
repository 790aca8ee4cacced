// Splits the files of jit/prelude into declarations and selects those that a kernel needs.
#include "jit/cuda/prelude_select.hpp"

#include <cctype>
#include <map>
#include <mutex>
#include <unordered_map>

#include "core/identifier.hpp"
#include "jit/prelude_text.hpp"
#include "sinter/error.hpp"

namespace sinter::jit {
namespace {

using core::continues_identifier;
using core::starts_identifier;

/// A name, a number, a string, a directive with its continuation lines, or one other character.
struct token {
  std::string_view text;
  bool qualified = false;  // after "::" of a scope other than sn, "." or "->": no name of this library
  bool is_name() const noexcept { return !text.empty() && starts_identifier(text[0]); }
  bool is(char c) const noexcept { return text.size() == 1 && text[0] == c; }
};

class lexer {
 public:
  /// Inside a directive "#" is an ordinary character.
  explicit lexer(std::string_view text, bool directives = true) : text_(text), directives_(directives) {}

  /// An empty token at the end of the text.
  token next() {
    skip_blanks();
    token t;
    if (at_ == text_.size()) return t;
    const std::size_t begin = at_;
    const char c = text_[at_];
    if (c == '#' && directives_) {
      skip_directive();
    } else if (c == '"') {
      skip_string();
    } else if (continues_identifier(c)) {
      while (at_ < text_.size() && (continues_identifier(text_[at_]) || text_[at_] == '\'')) ++at_;
    } else {
      ++at_;
    }
    t.text = text_.substr(begin, at_ - begin);
    t.qualified = t.is_name() && (member_ || (scope_ && !of_sn_));
    note(t.text);
    return t;
  }
  std::size_t position() const noexcept { return at_; }

 private:
  void skip_blanks() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (std::isspace(static_cast<unsigned char>(rest[0]))) {
        ++at_;
      } else if (rest.starts_with("//")) {
        at_ += std::min(rest.find('\n'), rest.size());
      } else if (rest.starts_with("/*")) {
        at_ += std::min(rest.find("*/"), rest.size() - 2) + 2;
      } else {
        return;
      }
    }
  }
  void skip_directive() {
    while (at_ < text_.size() && (text_[at_] != '\n' || text_[at_ - 1] == '\\')) ++at_;
  }
  void skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_)
      if (text_[at_] == '\\') ++at_;
    ++at_;
  }
  /// Stores what the classification of the next token depends on.
  void note(std::string_view t) {
    member_ = t == "." || (t == ">" && last_ == "-");
    scope_ = t == ":" && last_ == ":";
    if (scope_) of_sn_ = before_last_ == "sn";
    before_last_ = last_;
    last_ = t;
  }

  std::string_view text_, last_, before_last_;
  std::size_t at_ = 0;
  bool directives_;
  bool member_ = false, scope_ = false, of_sn_ = false;
};

/// A declaration at the level of namespace sn, a #define or #undef, or a macro's line.
struct declaration {
  std::string_view text;
  std::vector<std::string_view> names, mentions;
  std::string pasted;  // a macro's line SN_X(name, ...) may refer to SN_X_name
};

class parser {
 public:
  explicit parser(std::string_view text) : text_(text), lexer_(text) {}

  std::vector<declaration> run() {
    for (token t = lexer_.next(); !t.text.empty(); t = lexer_.next()) {
      if (t.text[0] == '#') {
        directive(t.text);
      } else if (!active()) {
        continue;
      } else if (t.text == "namespace") {
        require(lexer_.next().text == "sn" && lexer_.next().is('{'), "a namespace other than sn");
      } else if (!t.is('}') && !t.is(';')) {
        declare(t);
      }
    }
    return std::move(found_);
  }

 private:
  void require(bool good, const char* what) const {
    if (good) return;
    const std::size_t line = text_.rfind('\n', lexer_.position() - 1) + 1;
    throw compile_error("[select_prelude] a prelude holds " + std::string(what) +
                        " near: " + std::string(text_.substr(line, lexer_.position() - line)));
  }

  // --- directives between declarations
  bool active() const noexcept {
    for (const condition& c : conditions_)
      if (!c.holds) return false;
    return true;
  }
  void directive(std::string_view line) {
    const auto begins = [&](std::string_view word) { return line.substr(1).starts_with(word); };
    const bool cuda = line.find("__CUDACC__") != std::string_view::npos;
    if (begins("if")) {
      require(!begins("ifndef") && line.find('!') == std::string_view::npos, "a condition that is not understood");
      conditions_.push_back({cuda, cuda});
    } else if (begins("elif")) {
      conditions_.back().turn(cuda);
    } else if (begins("else")) {
      conditions_.back().turn(true);
    } else if (begins("endif")) {
      conditions_.pop_back();
    } else if (active()) {
      require(begins("define") || begins("undef"), "a directive that is not understood");
      macro(line);
    }
  }
  void macro(std::string_view line) {
    declaration d;
    d.text = line;
    lexer words(line.substr(1), false);
    words.next();
    d.names.push_back(words.next().text);
    for (token t = words.next(); !t.text.empty(); t = words.next())
      if (t.is_name() && !t.qualified) d.mentions.push_back(t.text);
    found_.push_back(std::move(d));
  }

  // --- declarations
  void declare(token first) {
    declaration d;
    const char* begin = first.text.data();
    head_ = {};
    int depth = 0;
    token t = first;
    bool macro_line = false;
    for (std::size_t k = 0;; ++k, t = lexer_.next()) {
      require(!t.text.empty(), "a declaration without an end");
      if (k == 1) macro_line = first.text.starts_with("SN_") && t.is('(');
      if (depth == 0 && t.is(';')) break;
      if (t.is('(') || t.is('{') || t.is('[')) ++depth;
      if (t.is(')') || t.is('}') || t.is(']')) --depth;
      if (t.is_name() && !t.qualified) d.mentions.push_back(t.text);
      if (macro_line && k == 2) d.names.push_back(t.text);
      if (!macro_line) head_.read(t, d.names);
      if (depth == 0 && (macro_line ? t.is(')') : t.is('}')) && k > 0) break;
    }
    if (!macro_line) head_.finish(d.names);
    std::size_t end = lexer_.position();
    if (text_.substr(end).starts_with(";")) ++end;  // else it would be parsed as an empty declaration
    d.text = text_.substr(static_cast<std::size_t>(begin - text_.data()),
                          end - static_cast<std::size_t>(begin - text_.data()));
    require(!d.names.empty(), "a declaration without a name");
    if (macro_line) d.pasted = std::string(first.text) + "_" + std::string(d.names[0]);
    found_.push_back(std::move(d));
  }

  /// Finds the names that a declaration declares, from its tokens up to a body or an initialiser.
  struct head {
    bool done = false, enumeration = false, in_alignas = false;
    int angles = 0, parentheses = 0;
    std::string_view last, kind;

    void read(const token& t, std::vector<std::string_view>& names) {
      if (enumeration && done) return enumerator(t, names);
      if (done) return;
      if (t.text == "template" || t.text == "struct" || t.text == "enum" || t.text == "typedef") kind = t.text;
      if (t.is('<')) ++angles;
      if (t.is('>')) --angles;
      if (angles > 0) return;
      if (in_alignas) {
        parentheses += t.is('(') ? 1 : t.is(')') ? -1 : 0;
        if (parentheses == 0 && t.is(')')) in_alignas = false;
        return;
      }
      if (t.text == "alignas") {
        in_alignas = true;
      } else if (t.is('{') && kind == "enum") {
        enumeration = done = true;
        if (last != "enum") names.push_back(last);
      } else if (t.is('(') || t.is('{') || t.is('[') || t.is('=') || (t.is(':') && kind == "struct")) {
        done = true;
        names.push_back(last);
      } else if (t.is_name()) {
        last = t.text;
      }
    }
    void enumerator(const token& t, std::vector<std::string_view>& names) {
      if (t.is_name()) names.push_back(t.text);  // includes names in their values, which is harmless
    }
    void finish(std::vector<std::string_view>& names) {
      if (!done && !last.empty()) names.push_back(last);
    }
  };

  struct condition {
    bool holds, taken;
    void turn(bool wanted) {
      holds = wanted && !taken;
      taken = taken || holds;
    }
  };

  std::string_view text_;
  lexer lexer_;
  head head_;
  std::vector<condition> conditions_;
  std::vector<declaration> found_;
};

/// Parsed once per process.
const std::vector<declaration>& declarations_of(std::string_view part) {
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::map<std::string, std::vector<declaration>, std::less<>>;
  const std::lock_guard lock(mutex);
  const auto found = known.find(part);
  if (found != known.end()) return found->second;
  return known.emplace(part, parser(prelude_text(part)).run()).first->second;
}

struct entry {
  const declaration* what;
  bool needed = false;
};

/// The declarations of some files, by the names that they declare.
class selection {
 public:
  explicit selection(const std::vector<std::string_view>& parts) {
    for (std::string_view part : parts)
      for (const declaration& d : declarations_of(part)) entries_.push_back({&d});
    for (std::size_t k = 0; k < entries_.size(); ++k)
      for (std::string_view name : entries_[k].what->names) of_name_[name].push_back(k);
  }
  void need(std::string_view name) {
    waiting_.push_back(name);
    while (!waiting_.empty()) {
      const auto found = of_name_.find(waiting_.back());
      waiting_.pop_back();
      if (found == of_name_.end()) continue;
      for (std::size_t k : found->second) take(entries_[k]);
      of_name_.erase(found);
    }
  }
  std::string text() const {
    std::string out = "namespace sn {\n";
    for (const entry& e : entries_)
      if (e.needed) out.append(e.what->text).push_back('\n');
    return out += "}  // namespace sn\n";
  }

 private:
  void take(entry& e) {
    if (e.needed) return;
    e.needed = true;
    waiting_.insert(waiting_.end(), e.what->mentions.begin(), e.what->mentions.end());
    if (!e.what->pasted.empty()) waiting_.push_back(e.what->pasted);
  }

  std::vector<entry> entries_;
  std::unordered_map<std::string_view, std::vector<std::size_t>> of_name_;
  std::vector<std::string_view> waiting_;
};

}  // namespace

std::string select_prelude(const std::vector<std::string_view>& parts, std::string_view text) {
  selection chosen(parts);
  for (std::size_t at = text.find("sn::"); at != std::string_view::npos; at = text.find("sn::", at + 4)) {
    std::size_t end = at + 4;
    while (end < text.size() && continues_identifier(text[end])) ++end;
    chosen.need(text.substr(at + 4, end - at - 4));
  }
  return chosen.text();
}

std::vector<std::string_view> prelude_names(const std::vector<std::string_view>& parts) {
  std::vector<std::string_view> names;
  for (std::string_view part : parts)
    for (const declaration& d : declarations_of(part)) names.insert(names.end(), d.names.begin(), d.names.end());
  return names;
}

}  // namespace sinter::jit
