// The message of a compile_error for users' text.
#include "jit/user_error.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace sinter::jit {
namespace {

/// The texts of one function or reduction, with their names in #line directives.
struct user_source {
  std::string name;
  std::vector<std::pair<std::string, const std::string*>> parts;
};

user_source source_of(const user_function& f) {
  return {f.name,
          {{f.name, &f.body},
           {f.name + " preamble", &f.preamble},
           {f.name + " loop_prep", &f.loop_prep},
           {f.name + " after_loop", &f.after_loop}}};
}
user_source source_of(const user_reduction& r) {
  return {
      r.name,
      {{r.name + " reduction", &r.combine}, {r.name + " identity", &r.identity}, {r.name + " preamble", &r.preamble}}};
}

std::vector<user_source> sources_of(std::span<const program* const> programs) {
  std::vector<user_source> all;
  for (const program* p : programs) {
    for (const user_call& c : p->calls) all.push_back(source_of(*c.function));
    for (const user_reduction* r : p->combines) all.push_back(source_of(*r));
  }
  return all;
}

/// The first position in this part that the log mentions: "name:12".
std::size_t position_in(const std::string& log, const std::string& part) {
  for (std::size_t at = log.find(part + ":"); at != std::string::npos; at = log.find(part + ":", at + 1)) {
    const bool whole = at == 0 || log[at - 1] == '\n' || log[at - 1] == ' ';
    const std::size_t number = at + part.size() + 1;
    if (whole && number < log.size() && log[number] >= '0' && log[number] <= '9') return at;
  }
  // NVRTC: "name(12): error".
  for (std::size_t at = log.find(part + "("); at != std::string::npos; at = log.find(part + "(", at + 1))
    if (at == 0 || log[at - 1] == '\n' || log[at - 1] == ' ') return at;
  return std::string::npos;
}

}  // namespace

std::string user_failure_text(std::span<const program* const> programs, const compiler_failure& failure) {
  const std::vector<user_source> all = sources_of(programs);
  if (failure.cause != failure_cause::text) {
    return "[" + (all.empty() ? std::string("compile") : all[0].name) + "] cannot be compiled: " + failure.compiler +
           " " + failure.reason + (failure.log.empty() ? "" : "\n" + failure.log);
  }
  const user_source* guilty = nullptr;
  std::size_t first = std::string::npos;
  for (const user_source& s : all)
    for (const auto& [part, text] : s.parts) {
      const std::size_t at = text->empty() ? std::string::npos : position_in(failure.log, part);
      if (at < first) first = at, guilty = &s;
    }
  if (guilty == nullptr) {
    // The error is not in the user's lines but in the code around them, so all of it is shown.
    return "[" + (all.empty() ? std::string("compile") : all[0].name) + "] " + failure.what();
  }
  std::string text =
      "[" + guilty->name + "] does not compile: " + failure.compiler + " " + failure.reason + "\n" + failure.log;
  if (text.back() != '\n') text += '\n';
  for (const auto& [part, lines] : guilty->parts)
    if (!lines->empty()) text += part + ":\n" + number_lines(*lines);
  return text;
}

std::string user_names(const program& p) {
  const program* const one[] = {&p};
  std::vector<std::string> seen;
  std::string names;
  for (const user_source& s : sources_of(one)) {
    if (std::find(seen.begin(), seen.end(), s.name) != seen.end()) continue;
    seen.push_back(s.name);
    names += (names.empty() ? "" : ", ") + s.name;
  }
  return names;
}

}  // namespace sinter::jit
