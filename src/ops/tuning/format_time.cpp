// Durations and rates as readable text.
#include "ops/tuning/format_time.hpp"

#include <cmath>
#include <cstdio>

namespace sinter::ops {
namespace {

/// Four significant digits of a number below 10,000: 1.234, 12.34, 123.4, 1234.
std::string four_digits(double x) {
  const int decimals = x >= 999.95 ? 0 : x >= 99.995 ? 1 : x >= 9.9995 ? 2 : 3;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", decimals, x);
  return text;
}

std::string printed(const char* format, double x) {
  char text[64];
  std::snprintf(text, sizeof text, format, x);
  return text;
}

}  // namespace

std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  if (seconds < 999.95e-9) return four_digits(seconds * 1e9) + " ns";
  if (seconds < 999.95e-6) return four_digits(seconds * 1e6) + " us";
  if (seconds < 999.95e-3) return four_digits(seconds * 1e3) + " ms";
  return four_digits(seconds) + " s";
}

std::string format_clock(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "?";
  const auto total = static_cast<long long>(std::ceil(seconds));
  const long long days = total / 86400, hours = total / 3600 % 24, minutes = total / 60 % 60, rest = total % 60;
  char text[64];
  if (days > 0) std::snprintf(text, sizeof text, "%lldd %02lld:%02lld:%02lld", days, hours, minutes, rest);
  else if (hours > 0) std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", hours, minutes, rest);
  else std::snprintf(text, sizeof text, "%lld:%02lld", minutes, rest);
  return text;
}

std::string format_rate(double per_second) {
  if (!(per_second > 0) || !std::isfinite(per_second)) return "?/s";
  if (per_second < 1) return printed("%.3g s each", 1 / per_second);
  const char* const suffixes[] = {"", "k", "M", "G", "T"};
  int k = 0;
  while (per_second >= 999.5 && k < 4) {
    per_second /= 1000;
    ++k;
  }
  const char* format = per_second >= 99.95 ? "%.0f" : per_second >= 9.995 ? "%.1f" : "%.2f";
  return printed(format, per_second) + suffixes[k] + "/s";
}

std::string format_percent(double fraction) { return printed("%.1f%%", 100 * fraction); }

}  // namespace sinter::ops
