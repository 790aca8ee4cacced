#include "graph/values/recorded_lines.hpp"

#include <mutex>
#include <unordered_map>
#include <utility>

#include "platform/environment.hpp"
#include "platform/symbols/source_lines.hpp"

namespace sinter::graph {
namespace {

using lines_of_trace = std::unordered_map<const node*, std::pair<value, platform::call_stack>>;

/// Traces end on any thread.
struct all_lines {
  std::mutex guard;
  std::unordered_map<const trace*, lines_of_trace> of;
};
all_lines& all() {
  static all_lines& lines = *new all_lines;
  return lines;
}

}  // namespace

bool& keeps_lines() noexcept {
  static bool keeps = platform::environment_switch("SINTER_LINES").value_or(false);
  return keeps;
}

void note_line(const trace& t, const value& v) {
  const platform::call_stack here = platform::stack_here();
  const std::lock_guard lock(all().guard);
  all().of[&t].insert_or_assign(v.get(), std::pair(v, here));
}

void forget_lines(const trace& t) noexcept {
  if (!keeps_lines()) return;
  lines_of_trace gone;  // its values may be the last of theirs
  const std::lock_guard lock(all().guard);
  if (const auto found = all().of.find(&t); found != all().of.end()) {
    gone = std::move(found->second);
    all().of.erase(found);
  }
}

std::string line_of(const trace& t, const value& v) {
  if (!keeps_lines()) return {};
  platform::call_stack there;
  {
    const std::lock_guard lock(all().guard);
    const auto found = all().of.find(&t);
    if (found == all().of.end()) return {};
    const auto line = found->second.find(v.get());
    if (line == found->second.end()) return {};
    there = line->second.second;
  }
  return platform::source_line_of(there);
}

std::string recorded_at(const trace& t, const value& v) {
  const std::string line = line_of(t, v);
  return line.empty() ? line : " (recorded at " + line + ")";
}

std::string line_here() { return keeps_lines() ? platform::source_line_of(platform::stack_here()) : std::string(); }

}  // namespace sinter::graph
