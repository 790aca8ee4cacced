// Amounts of memory as text, and the limit that the environment sets for GPUs.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include "runtime/pool.hpp"
#include "sinter/error.hpp"

namespace sinter::runtime {

std::size_t parse_memory_limit(std::string_view text, std::size_t total, const char* where) {
  const auto trim = [](std::string_view s) {
    while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
    while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
    return s;
  };
  const auto refuse = [&] {
    throw value_error("[" + std::string(where) + "] '" + std::string(text) +
                      "' is no amount of memory: use 8GiB, 500 MB, 1073741824, or a part of the memory like 0.5");
  };
  std::string_view rest = trim(text);
  if (rest.empty()) return SIZE_MAX;
  double number = 0;
  const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (status != std::errc() || !std::isfinite(number) || number <= 0) refuse();
  rest = trim(rest.substr(static_cast<std::size_t>(end - rest.data())));
  struct unit {
    std::string_view name;
    double bytes;
  };
  constexpr unit units[] = {{"B", 1},      {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},      {"TB", 1e12},
                            {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  double bytes = number;
  if (rest.empty()) {
    if (number <= 1) bytes = number * static_cast<double>(total);
  } else {
    const auto* found = std::find_if(std::begin(units), std::end(units), [&](const unit& u) { return u.name == rest; });
    if (found == std::end(units)) refuse();
    bytes *= found->bytes;
  }
  if (bytes < 1 || bytes >= 0x1p63) refuse();
  return static_cast<std::size_t>(bytes);
}

std::size_t gpu_memory_limit(std::size_t total) {
  const char* text = std::getenv("SINTER_GPU_MEMORY_LIMIT");
  return text ? parse_memory_limit(text, total, "SINTER_GPU_MEMORY_LIMIT") : SIZE_MAX;
}

}  // namespace sinter::runtime
