// The parameters of a kernel, from its demangled name or its declaration in the source.
#include "ops/raw/signature.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "core/identifier.hpp"
#include "ops/raw/types.hpp"

namespace sinter::ops {
namespace {

using core::continues_symbol;

/// Replaces comments, strings and characters by blanks; line breaks stay.
std::string without_comments(std::string_view source) {
  std::string text(source);
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t k = from; k < std::min(to, text.size()); ++k)
      if (text[k] != '\n') text[k] = ' ';
  };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (source.substr(at, 2) == "//") {
      end = std::min(source.find('\n', at), source.size());
    } else if (source.substr(at, 2) == "/*") {
      end = source.find("*/", at + 2);
      end = end == std::string_view::npos ? source.size() : end + 2;
    } else if (source.substr(at, 3) == "R\"(") {
      end = source.find(")\"", at);
      end = end == std::string_view::npos ? source.size() : end + 2;
    } else if (source[at] == '"' || (source[at] == '\'' && (at == 0 || !continues_symbol(source[at - 1])))) {
      while (end < source.size() && source[end] != source[at] && source[end] != '\n')
        end += source[end] == '\\' ? 2 : 1;
      ++end;
    } else {
      at = end;
      continue;
    }
    blank(at, end);
    at = end;
  }
  return text;
}

/// Position after the bracket that closes the one at `open`; npos if there is none.
std::size_t behind_bracket(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

std::optional<raw_signature> signature_of_list(std::string_view list, bool from_source) {
  raw_signature s;
  for (const tokens& t : split_at_commas(tokens_of(list))) {
    if (t.size() == 1 && t[0] == "void") continue;
    s.parameters.push_back(parameter_of(t, from_source));
    // A single word that is not a type is a macro, which may expand to any number of parameters.
    if (from_source && t.size() == 1 && s.parameters.back().kind == parameter_kind::unknown) return std::nullopt;
  }
  s.text = "(";
  for (const raw_parameter& p : s.parameters) s.text += (s.text.size() > 1 ? ", " : "") + p.text;
  s.text += ")";
  return s;
}

bool same_kinds(const raw_signature& a, const raw_signature& b) {
  return std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(), b.parameters.end(),
                    [](const raw_parameter& p, const raw_parameter& q) {
                      return p.kind == q.kind && p.readonly == q.readonly && p.rank == q.rank &&
                             p.element.count == q.element.count && p.element.bytes == q.element.bytes &&
                             std::equal(p.element.types, p.element.types + p.element.count, q.element.types);
                    });
}

/// Where the parameter list of a demangled function begins; npos for a name that is not a function.
std::size_t parameter_list(std::string_view demangled) {
  std::size_t end = demangled.rfind(')');
  if (end == std::string_view::npos) return std::string_view::npos;
  int depth = 0;
  for (std::size_t at = end + 1; at-- > 0;) {
    if (demangled[at] == ')') ++depth;
    if (demangled[at] == '(' && --depth == 0) return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<raw_signature> signature_of_demangled(std::string_view demangled) {
  const std::size_t open = parameter_list(demangled);
  if (open == std::string_view::npos) return std::nullopt;
  return signature_of_list(demangled.substr(open + 1, demangled.rfind(')') - open - 1), false);
}

std::optional<raw_signature> signature_in_source(std::string_view source, std::string_view kernel) {
  const std::string text = without_comments(source);
  const std::string_view view = text;
  std::optional<raw_signature> found;
  for (std::size_t at = view.find(kernel); at != std::string_view::npos; at = view.find(kernel, at + 1)) {
    std::size_t open = at + kernel.size();
    if ((at > 0 && continues_symbol(view[at - 1])) || kernel.empty()) continue;
    open = view.find_first_not_of(" \t\r\n", open);
    if (open == std::string_view::npos || view[open] != '(') continue;
    // The text between the end of the previous declaration and the name.
    const std::size_t begin = at == 0 ? std::string_view::npos : view.find_last_of(";{}", at - 1);
    const tokens head = tokens_of(view.substr(begin == std::string_view::npos ? 0 : begin + 1,
                                              at - (begin == std::string_view::npos ? 0 : begin + 1)));
    const auto has = [&](std::string_view w) { return std::find(head.begin(), head.end(), w) != head.end(); };
    if (!has("__global__")) continue;
    const std::size_t end = behind_bracket(view, open);
    if (has("template") || end == std::string_view::npos) return std::nullopt;
    const std::string_view list = view.substr(open + 1, end - open - 2);
    if (list.find('#') != std::string_view::npos) return std::nullopt;
    std::optional<raw_signature> next = signature_of_list(list, true);
    if (!next || (found && !same_kinds(*found, *next))) return std::nullopt;
    found = std::move(next);
  }
  return found;
}

std::string qualified_name(std::string_view demangled) {
  const std::size_t open = parameter_list(demangled);
  const std::string_view head = demangled.substr(0, open);
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at < head.size(); ++at) {
    if (head[at] == '<' || head[at] == '(') ++depth;
    if (head[at] == '>' || head[at] == ')') --depth;
    if (head[at] == ' ' && depth == 0) begin = at + 1;  // after the result type
  }
  return squeezed(head.substr(begin));
}

std::string_view without_arguments(std::string_view qualified) {
  if (qualified.empty() || qualified.back() != '>') return qualified;
  int depth = 0;
  for (std::size_t at = qualified.size(); at-- > 0;) {
    if (qualified[at] == '>') ++depth;
    if (qualified[at] == '<' && --depth == 0) return qualified.substr(0, at);
  }
  return qualified;
}

std::string squeezed(std::string_view text) {
  std::string result;
  bool blank = false;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\n') {
      blank = true;
      continue;
    }
    if (blank && !result.empty() && continues_symbol(result.back()) && continues_symbol(c)) result += ' ';
    blank = false;
    result += c;
  }
  return result;
}

std::string demangle(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? text.get() : mangled;
}

}  // namespace sinter::ops
