// Schedules as text.
#include "jit/schedule/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sinter::jit {
namespace {

const char* name_of(level on) {
  switch (on) {
    case level::grid: return "grid";
    case level::threads: return "threads";
    case level::serial: return "in turn";
    case level::vector: return "vector";
  }
  return "";
}

/// "0, 2: vectors of 4; 1: one value": operands that are treated alike together.
std::string operands_text(const std::vector<std::string>& ways) {
  std::string text;
  std::vector<bool> told(ways.size());
  for (std::size_t k = 0; k < ways.size(); ++k) {
    if (told[k]) continue;
    std::string numbers;
    for (std::size_t j = k; j < ways.size(); ++j) {
      if (ways[j] != ways[k]) continue;
      told[j] = true;
      numbers += (numbers.empty() ? "" : ", ") + std::to_string(j);
    }
    text += (text.empty() ? "" : "; ") + numbers + ": " + ways[k];
  }
  return text;
}

}  // namespace

std::string time_text(double microseconds) {
  char text[32];
  if (microseconds < 1000) std::snprintf(text, sizeof text, "%.1f us", microseconds);
  else std::snprintf(text, sizeof text, "%.2f ms", microseconds / 1000);
  return text;
}

std::string to_string(const schedule& s, const std::string& indent) {
  std::string out = indent + "runs   " + s.name + ":";
  for (const schedule_part& p : s.parts)
    out +=
        std::string(&p == s.parts.data() ? " " : ", ") + name_of(p.on) + " " + std::to_string(p.count) + " x " + p.what;
  out += "\n";
  const auto line = [&](const char* word, const std::string& text) {
    if (!text.empty()) out += indent + "       " + word + " " + text + "\n";
  };
  line("reads", operands_text(s.inputs));
  line("writes", operands_text(s.outputs));
  line("joins", s.reduction);
  line("compiled for", s.compiled_for);
  if (s.parts.empty() && s.estimate.microseconds == 0) return out;
  const bool known = std::isfinite(s.estimate.microseconds);
  out += indent + "time   " + (known ? time_text(s.estimate.microseconds) + " estimated, by " : "unknown: ") +
         s.estimate.bound;
  if (!s.why.empty()) out += "; " + s.why;
  out += "\n";
  constexpr std::size_t most = 4;
  for (std::size_t k = 0; k < std::min(most, s.others.size()); ++k)
    out += indent + "       " + time_text(s.others[k].microseconds) + " " + s.others[k].name + "\n";
  return out;
}

}  // namespace sinter::jit
