// From the names that users write to the symbols in the compiled code.

#include "ops/base/errors.hpp"
#include "ops/raw/state.hpp"

namespace sinter::ops {
namespace {

/// The normal form in which names are compared: no blanks, no leading "&" or "::".
std::string normal(std::string_view name) {
  std::string text = squeezed(name);
  if (text.starts_with("&")) text.erase(0, 1);
  if (text.starts_with("::")) text.erase(0, 2);
  return text;
}

std::string list_of(const std::vector<std::string>& lowered) {
  std::string text;
  for (const std::string& l : lowered) text += (text.empty() ? "" : ", ") + demangle(l);
  return text.empty() ? "none" : text;
}

/// Whether `name` (normal form) refers to a symbol: it equals the symbol, its qualified name, or that without template
/// arguments.
bool is_named(const std::string& lowered, const std::string& name) {
  const std::string qualified = qualified_name(demangle(lowered));
  return lowered == name || qualified == name || without_arguments(qualified) == name;
}

std::string find(const runtime::raw_module& module, const std::optional<std::vector<std::string>>& symbols,
                 const std::string& name, const char* what) {
  const std::string wanted = normal(name);
  for (const auto& [expression, lowered] : module.lowered_names())
    if (normal(expression) == wanted) return lowered;
  if (!symbols) return name;
  std::vector<std::string> found;
  for (const std::string& s : *symbols) {
    if (s == name) return s;
    if (is_named(s, wanted)) found.push_back(s);
  }
  if (found.size() == 1) return found[0];
  const std::string names = std::string(what) + "s: ";
  if (found.size() > 1)
    ops::fail<value_error>(name, "the name fits several ", names, list_of(found),
                           "; give a name expression (raw_kw::names) or the mangled name");
  ops::fail<value_error>(
      name, "the module has no ", what, " of this name; ", names, list_of(*symbols),
      (wanted.find('<') == std::string::npos ? "" : "; a template must be listed in raw_kw::names to be compiled"));
}

}  // namespace

std::string lowered_kernel(const runtime::raw_module& module, const std::string& name) {
  return find(module, module.kernels(), name, "kernel");
}

std::string lowered_variable(const runtime::raw_module& module, const std::string& name) {
  return find(module, module.variables(), name, "variable");
}

}  // namespace sinter::ops
