// Reads the command line; every mistake is a usage_error.
#include "replay/options.hpp"

#include "common/command_line.hpp"

namespace replay {

options parse_options(int count, const char* const* words) {
  using namespace examples;
  options o;
  word_list list(count, words);
  while (!list.done()) {
    const auto word = list.take();
    if (word == "--help" || word == "-h") {
      o.help = true;
    } else if (word == "--points") {
      o.points = parse_count(word, list.value_of(word), 1, 100'000'000);
    } else if (word == "--side") {
      o.side = parse_count(word, list.value_of(word), 3, 32768);
    } else if (word == "--steps") {
      o.steps = static_cast<int>(parse_count(word, list.value_of(word), 1, 1'000'000));
    } else if (word == "--device") {
      o.device = list.value_of(word);
    } else {
      unknown_option(word);
    }
  }
  return o;
}

std::string help_text() {
  return R"(Loops of small steps, called again and again, and captured once and launched again.

  replay [options]

  --points N           Lorenz systems, integrated side by side (4096)
  --side N             N x N elements of the stencil's field (512)
  --steps K            how many steps of each (1000); the stencil makes two at a time
  --device NAME        cpu, cuda or cuda:N; without it the first GPU, else the CPU
  --help               print this
)";
}

}  // namespace replay
