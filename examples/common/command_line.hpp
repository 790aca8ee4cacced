// What the examples' command lines share: words, whole numbers, choices, and one clear line for every mistake.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

/// Bad use of a program: the message is all that the user needs.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The words after the program's name, one after the other.
class word_list {
 public:
  word_list(int count, const char* const* words) : at_(words + 1), end_(words + count) {}
  bool done() const { return at_ >= end_; }
  std::string_view take() { return *at_++; }
  /// The word after `option`; usage_error if there is none, or an empty one.
  std::string_view value_of(std::string_view option);

 private:
  const char* const* at_;
  const char* const* end_;
};

[[noreturn]] void unknown_option(std::string_view word);

/// A whole number from `least` to `most`, written with digits or as 1e6.
std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t least, std::int64_t most);
/// One or more of them, with commas between them.
std::vector<std::int64_t> parse_counts(std::string_view option, std::string_view text, std::int64_t least,
                                       std::int64_t most);
/// The place of `text` among `choices`.
int parse_choice(std::string_view option, std::string_view text, std::initializer_list<std::string_view> choices);

/// The main function of a program. What `work` throws becomes one line on stderr, after the program's name. The exit
/// status: 0, or 2 for a usage_error, or 1.
int run_program(const char* name, const std::function<void()>& work);

}  // namespace examples
