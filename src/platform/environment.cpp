// The table of variables, their allowed values, and the warnings.
#include "platform/environment.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace sinter::platform {
namespace {

template <std::int64_t least, std::int64_t most>
bool is_number(std::string_view text) noexcept {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc() && end == text.data() + text.size() && n >= least && n <= most;
}

bool is_switch(std::string_view text) noexcept { return text == "0" || text == "1"; }
bool is_tier(std::string_view text) noexcept { return is_switch(text) || text == "auto"; }
bool is_amount(std::string_view text) noexcept { return memory_amount(text, std::size_t{1} << 40).has_value(); }
bool is_device(std::string_view text) noexcept {
  const std::string_view kind = text.substr(0, text.find(':'));
  return (kind == "cpu" || kind == "cuda") && (kind == text || is_number<0, INT32_MAX>(text.substr(kind.size() + 1)));
}

bool is_program_at(std::string_view folder, const char* slash, std::string_view name) noexcept {
  char path[4096];
  const int length = std::snprintf(path, sizeof path, "%.*s%s%.*s", static_cast<int>(folder.size()), folder.data(),
                                   slash, static_cast<int>(name.size()), name.data());
  struct stat st {};
  return length < static_cast<int>(sizeof path) && ::access(path, X_OK) == 0 && ::stat(path, &st) == 0 &&
         S_ISREG(st.st_mode);
}
bool is_program(std::string_view text) noexcept {
  if (text.find('/') != std::string_view::npos) return is_program_at("", "", text);
  const char* path = std::getenv("PATH");
  for (std::string_view folders = path ? path : ""; !folders.empty();) {
    const std::size_t end = folders.find(':');
    if (is_program_at(folders.substr(0, end), "/", text)) return true;
    folders.remove_prefix(end == std::string_view::npos ? folders.size() : end + 1);
  }
  return false;
}

constexpr environment_variable variables[] = {
    {"SINTER_DEVICE", "default device: cpu, cuda, cuda:1", "cpu, cuda or cuda:N",
     "there is no default device, and what needs one throws device_error", is_device},
    {"SINTER_NUM_THREADS", "threads on the CPU", "a number from 1 to 1024", "there are as many as usual",
     is_number<1, 1024>},
    {"SINTER_TIER", "kernels: 0 baseline tier (the CPU interprets), 1 optimised tier from the first launch, auto",
     "0, 1 or auto", "auto is used", is_tier},
    {"SINTER_CXX", "compiler of kernels for the CPU", "the name or path of a program",
     "kernels are interpreted, and functions given as text are refused", is_program},
    {"SINTER_COMPILE_TIMEOUT", "seconds until that compiler is given up; 0: never", "a number of seconds up to 86400",
     "60 is used", is_number<0, 86400>},
    {"SINTER_COLLECTIVE_TIMEOUT", "seconds until a rank that the others wait for counts as failed; 0: never",
     "a number of seconds up to 86400", "600 is used", is_number<0, 86400>},
    {"SINTER_CACHE_DIR", "folder of compiled kernels", "", "", nullptr},
    {"SINTER_CACHE_SIZE_MB", "its limit; 0: no cache", "a number of megabytes up to 999999999", "512 is used",
     is_number<0, 999999999>},
    {"SINTER_GPU_MEMORY_LIMIT", "the most that the pool of a GPU holds: bytes, 8GiB, 0.5 of the memory",
     "an amount like 8GiB, 500 MB, 1073741824, or a part of the memory like 0.5", "GPUs cannot be used", is_amount},
    {"SINTER_CHECK_INDEX", "kernels of users check the indices of raw arrays", "0 or 1", "1 is used", is_switch},
    {"SINTER_NVTX", "ranges for profilers", "0 or 1", "1 is used", is_switch},
    {"SINTER_SYNC", "waits for each launch, so that errors name it", "0 or 1", "1 is used", is_switch},
    {"SINTER_LINES", "errors of derivatives name the lines that recorded their operations", "0 or 1", "1 is used",
     is_switch},
    {"SINTER_TRACE", "launches on standard error", "0 or 1", "1 is used", is_switch},
};

std::atomic<bool> warned[std::size(variables)];

std::size_t index_of(const char* name) noexcept {
  const auto* found = std::find_if(std::begin(variables), std::end(variables),
                                   [&](const environment_variable& v) { return std::string_view(v.name) == name; });
  if (found == std::end(variables)) std::abort();  // not in the table: a bug
  return static_cast<std::size_t>(found - variables);
}

std::string_view raw_value(const char* name) noexcept {
  const char* text = std::getenv(name);
  return text ? text : "";
}

bool is_allowed(const environment_variable& v, std::string_view value) noexcept {
  return value.empty() || !v.accepts || v.accepts(value);
}

void warn_once(std::size_t index, std::string_view problem) noexcept {
  if (warned[index].exchange(true)) return;
  constexpr std::size_t most = 200;
  char shown[most + 1] = {};
  std::string_view value = raw_value(variables[index].name).substr(0, most);
  std::transform(value.begin(), value.end(), shown, [](char c) { return c >= 0 && c < ' ' ? ' ' : c; });
  std::fprintf(stderr, "[sinter] %s=%s %.*s\n", variables[index].name, shown, static_cast<int>(problem.size()),
               problem.data());
}

void warn_unless_allowed(std::size_t index) noexcept {
  const environment_variable& v = variables[index];
  if (is_allowed(v, raw_value(v.name))) return;
  char problem[256];
  std::snprintf(problem, sizeof problem, "is not %s: %s", v.allowed, v.otherwise);
  warn_once(index, problem);
}

}  // namespace

std::span<const environment_variable> environment_variables() noexcept { return variables; }

std::string_view environment_text(const char* name) noexcept {
  const std::size_t index = index_of(name);
  warn_unless_allowed(index);
  const std::string_view value = raw_value(name);
  return is_allowed(variables[index], value) ? value : std::string_view();
}

std::optional<std::int64_t> environment_number(const char* name) noexcept {
  const std::string_view text = environment_text(name);
  std::int64_t n = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), n).ec != std::errc()) return std::nullopt;
  return n;
}

std::optional<bool> environment_switch(const char* name) noexcept {
  warn_unless_allowed(index_of(name));
  const std::string_view value = raw_value(name);
  if (value.empty()) return std::nullopt;
  return value != "0";
}

void warn_of_environment(const char* name, std::string_view problem) noexcept { warn_once(index_of(name), problem); }

void warn(std::string_view line) noexcept {
  std::fprintf(stderr, "[sinter] %.*s\n", static_cast<int>(line.size()), line.data());
}

std::string environment_problem(const environment_variable& v) {
  if (is_allowed(v, raw_value(v.name))) return "";
  return std::string("is not ") + v.allowed + ": " + v.otherwise;
}

void check_environment() noexcept {
  for (std::size_t k = 0; k < std::size(variables); ++k) warn_unless_allowed(k);
}

std::optional<std::size_t> memory_amount(std::string_view text, std::size_t total) noexcept {
  const auto trim = [](std::string_view s) {
    while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
    while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
    return s;
  };
  std::string_view rest = trim(text);
  if (rest.empty()) return SIZE_MAX;
  double number = 0;
  const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (status != std::errc() || !std::isfinite(number) || number <= 0) return std::nullopt;
  rest = trim(rest.substr(static_cast<std::size_t>(end - rest.data())));
  struct unit {
    std::string_view name;
    double bytes;
  };
  constexpr unit units[] = {{"B", 1},        {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},    {"TB", 1e12},
                            {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  double bytes = number;
  if (rest.empty()) {
    if (number <= 1) bytes = number * static_cast<double>(total);
  } else {
    const auto* found = std::find_if(std::begin(units), std::end(units), [&](const unit& u) { return u.name == rest; });
    if (found == std::end(units)) return std::nullopt;
    bytes *= found->bytes;
  }
  if (bytes < 1 || bytes >= 0x1p63) return std::nullopt;
  return static_cast<std::size_t>(bytes);
}

}  // namespace sinter::platform
