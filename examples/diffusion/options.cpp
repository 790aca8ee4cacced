// Reads the command line; every mistake is a usage_error.
#include "diffusion/options.hpp"

#include "common/command_line.hpp"

namespace diffusion {

options parse_options(int count, const char* const* words) {
  using namespace examples;
  options o;
  word_list list(count, words);
  while (!list.done()) {
    const auto word = list.take();
    if (word == "--help" || word == "-h") {
      o.help = true;
    } else if (word == "--size") {
      o.size = parse_count(word, list.value_of(word), 3, 32768);
    } else if (word == "--steps") {
      o.steps = static_cast<int>(parse_count(word, list.value_of(word), 1, 10'000'000));
    } else if (word == "--method") {
      o.method = static_cast<method>(parse_choice(word, list.value_of(word), {"slices", "raw", "all"}));
    } else if (word == "--border") {
      o.border = static_cast<border>(parse_choice(word, list.value_of(word), {"fixed", "reflecting"}));
    } else if (word == "--device") {
      o.device = list.value_of(word);
    } else if (word == "--output") {
      o.output = list.value_of(word);
    } else {
      unknown_option(word);
    }
  }
  return o;
}

std::string help_text() {
  return R"(Diffuses a random field: explicit steps of the heat equation with the five-point stencil.

  diffusion [options]

  --size N             N x N float32 elements, the border among them (2000)
  --steps K            how many steps (1000)
  --method NAME        slices, raw (a CUDA kernel, needs a GPU), or all
  --border NAME        fixed (at zero) or reflecting (nothing flows out)
  --device NAME        cpu, cuda or cuda:N; without it the first GPU, else the CPU
  --output FOLDER      write diffusion.png there: before, after, Laplacian
  --help               print this
)";
}

}  // namespace diffusion
