// Reads the command line; every mistake is a usage_error.
#include "memory/options.hpp"

#include "common/command_line.hpp"

namespace memory {

options parse_options(int count, const char* const* words) {
  using namespace examples;
  options o;
  word_list list(count, words);
  while (!list.done()) {
    const auto word = list.take();
    if (word == "--help" || word == "-h") {
      o.help = true;
    } else if (word == "--size") {
      o.size = parse_count(word, list.value_of(word), 8, 1'000'000'000'000);
    } else if (word == "--device") {
      o.device = list.value_of(word);
    } else {
      unknown_option(word);
    }
  }
  return o;
}

std::string help_text() {
  return R"(One computation with its arrays in device, pinned and managed memory, and what each way costs.

  memory [options]

  --size N             float32 elements of each array (16e6)
  --device NAME        cpu, cuda or cuda:N; without it the first GPU, else the CPU
  --help               print this
)";
}

}  // namespace memory
