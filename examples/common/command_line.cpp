// Reads command lines; every mistake is a usage_error that names the option and what was written.
#include "common/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <optional>

namespace examples {
namespace {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::optional<std::int64_t> digits(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || text.front() == '-') return std::nullopt;
  return value;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  const auto e = text.find('e');
  auto value = digits(text.substr(0, e));
  if (!value || e == text.npos) return value;
  const auto zeros = digits(text.substr(e + 1));
  if (!zeros || *zeros > 18) return std::nullopt;
  for (std::int64_t k = 0; k < *zeros; ++k)
    if (__builtin_mul_overflow(*value, std::int64_t{10}, &*value)) return std::nullopt;
  return value;
}

int complain(const char* program, std::string message, int status) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s\n", program, message.c_str());
  return status;
}

}  // namespace

std::string_view word_list::value_of(std::string_view option) {
  if (done()) throw usage_error(std::string(option) + " needs a value");
  const auto value = take();
  if (value.empty()) throw usage_error(std::string(option) + " needs a value, not an empty one");
  return value;
}

void unknown_option(std::string_view word) {
  throw usage_error("unknown option " + quoted(word) + "; --help lists them");
}

std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t least, std::int64_t most) {
  const auto value = whole_number(text);
  if (!value || *value < least || *value > most)
    throw usage_error(std::string(option) + " takes a whole number from " + std::to_string(least) + " to " +
                      std::to_string(most) + ", not " + quoted(text));
  return *value;
}

std::vector<std::int64_t> parse_counts(std::string_view option, std::string_view text, std::int64_t least,
                                       std::int64_t most) {
  std::vector<std::int64_t> values;
  while (true) {
    const auto comma = text.find(',');
    values.push_back(parse_count(option, text.substr(0, comma), least, most));
    if (comma == text.npos) return values;
    text.remove_prefix(comma + 1);
  }
}

int parse_choice(std::string_view option, std::string_view text, std::initializer_list<std::string_view> choices) {
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found != choices.end()) return static_cast<int>(found - choices.begin());
  std::string list;
  for (const auto choice : choices) list += (list.empty() ? "" : ", ") + std::string(choice);
  throw usage_error(std::string(option) + " takes one of " + list + ", not " + quoted(text));
}

int run_program(const char* name, const std::function<void()>& work) {
  try {
    work();
    return 0;
  } catch (const usage_error& e) {
    return complain(name, e.what(), 2);
  } catch (const std::exception& e) {
    return complain(name, e.what(), 1);
  }
}

}  // namespace examples
