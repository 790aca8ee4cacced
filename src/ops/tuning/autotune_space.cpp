// Configurations: macros with their values, and their combinations.
#include <charconv>

#include "ops/base/errors.hpp"
#include "ops/tuning/autotune_space.hpp"

namespace sinter::ops {
namespace {

std::string text_of(const dims& d) {
  if (d.y == 1 && d.z == 1) return std::to_string(d.x);
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + (d.z == 1 ? "" : ", " + std::to_string(d.z)) + ")";
}

}  // namespace

std::string text_of(const configuration& c, bool with_grid) {
  std::string text;
  for (const macro& m : c.macros) text += (text.empty() ? "" : " ") + m.name + "=" + m.value.text();
  if (!text.empty()) text += ", ";
  if (with_grid) text += "grid " + text_of(c.launch.grid) + ", ";
  text += "block " + text_of(c.launch.block);
  if (c.launch.shared_mem != 0) text += ", " + std::to_string(c.launch.shared_mem) + " bytes shared";
  if (c.launch.cluster != dims(0, 0, 0)) text += ", cluster " + text_of(c.launch.cluster);
  if (c.launch.cooperative) text += ", cooperative";
  return text;
}

}  // namespace sinter::ops

namespace sinter::inline v0 {

const std::string& macros::operator[](std::string_view name) const {
  for (const macro& m : list_)
    if (m.name == name) return m.value.text();
  std::string known;
  for (const macro& m : list_) known += (known.empty() ? "" : ", ") + m.name;
  ops::fail<value_error>("macros", "there is no macro ", name, (known.empty() ? "" : "; there are: " + known));
}

std::int64_t macros::integer(std::string_view name) const {
  const std::string& text = (*this)[name];
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size())
    ops::fail<value_error>("macros", name, " is '", text, "', not an integer");
  return n;
}

std::string to_string(const configuration& c) { return ops::text_of(c, true); }

std::vector<configuration> cartesian(const std::vector<macro_space>& spaces,
                                     const std::function<std::optional<launch>(const macros&)>& launch_of) {
  for (const macro_space& s : spaces)
    if (s.values.empty()) ops::fail<value_error>("cartesian", "macro ", s.name, " has no values");
  std::vector<configuration> all;
  std::vector<std::size_t> digit(spaces.size(), 0);
  for (bool more = true; more;) {
    std::vector<macro> list;
    for (std::size_t k = 0; k < spaces.size(); ++k) list.push_back({spaces[k].name, spaces[k].values[digit[k]]});
    macros chosen(std::move(list));
    if (const std::optional<launch> how = launch_of(chosen))
      all.push_back({.macros = std::move(chosen), .launch = *how});
    more = false;
    for (std::size_t k = spaces.size(); k-- > 0 && !more;) {
      more = ++digit[k] < spaces[k].values.size();
      if (!more) digit[k] = 0;
    }
  }
  return all;
}

}  // namespace sinter::inline v0
