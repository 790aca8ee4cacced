// Counters and error texts of the two compilers.
#include "jit/compile.hpp"

#include <cstdio>

#include "jit/hooks.hpp"

namespace sinter::jit {
namespace {
std::atomic<int> compilations_to_failure{-1};
constexpr int usual_wait_limit = 3;  // milliseconds: the order is not worth a longer wait
std::atomic<int> wait_limit{usual_wait_limit};
}  // namespace

std::chrono::milliseconds compile_wait_limit() noexcept { return std::chrono::milliseconds(wait_limit.load()); }
void set_compile_wait_limit_for_tests(int milliseconds) noexcept {
  wait_limit = milliseconds < 0 ? usual_wait_limit : milliseconds;
}

void fail_compilation_for_tests(int n) noexcept { compilations_to_failure = n; }

void fail_on_request(const std::string& compiler, std::string_view source) {
  if (compilations_to_failure.load(std::memory_order_relaxed) < 0) return;
  if (compilations_to_failure.fetch_sub(1) == 0)
    throw_compile_error(compiler, "failed on request of a test", {}, "", source);
}

compile_counters& counters() noexcept {
  static compile_counters& instance = *new compile_counters;
  return instance;
}

compile_figures compile_statistics() noexcept {
  const compile_counters& c = counters();
  return {c.host_compiled.load(), c.host_from_disk.load(), c.cuda_compiled.load(), c.cuda_from_disk.load()};
}

void throw_compile_error(const std::string& compiler, const std::string& what, const std::vector<std::string>& options,
                         std::string_view log, std::string_view source, failure_cause cause) {
  std::string text = "[compile] " + compiler + " " + what + "\noptions:";
  for (const std::string& option : options) text += " " + option;
  text += "\nlog:\n";
  text += log;
  if (!log.empty() && log.back() != '\n') text += '\n';
  text += "source:\n" + number_lines(source);
  throw compiler_failure(text, cause, compiler, what, std::string(log));
}

std::string number_lines(std::string_view source) {
  std::string text;
  int number = 0;
  while (!source.empty()) {
    const std::size_t end = source.find('\n');
    char prefix[24];
    std::snprintf(prefix, sizeof prefix, "%4d  ", ++number);
    text += prefix;
    text += source.substr(0, end);
    text += '\n';
    source.remove_prefix(end == std::string_view::npos ? source.size() : end + 1);
  }
  return text;
}

}  // namespace sinter::jit
