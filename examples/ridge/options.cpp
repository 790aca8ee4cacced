// Reads the command line; every mistake is a usage_error.
#include "ridge/options.hpp"

#include "common/command_line.hpp"

namespace ridge {

options parse_options(int count, const char* const* words) {
  using namespace examples;
  options o;
  word_list list(count, words);
  while (!list.done()) {
    const auto word = list.take();
    if (word == "--help" || word == "-h") {
      o.help = true;
    } else if (word == "--full") {
      o.rows = 10000, o.columns = 15000;
    } else if (word == "--rows") {
      o.rows = parse_count(word, list.value_of(word), 2, 1'000'000);
    } else if (word == "--columns") {
      o.columns = parse_count(word, list.value_of(word), 2, 1'000'000);
    } else if (word == "--percent") {
      o.percent = parse_count(word, list.value_of(word), 1, 100);
    } else if (word == "--parameters") {
      o.parameters = parse_count(word, list.value_of(word), 2, 1000);
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
  return R"(Ridge regression on a random sparse matrix, for many values of its parameter, by LSMR.

  ridge [options]

  --rows M             equations (2000)
  --columns N          unknowns (3000)
  --full               10000 equations, 15000 unknowns
  --percent P          how many of 100 places have an entry (10)
  --parameters K       values of the parameter, from 0.01 to 1000 (20)
  --device NAME        cpu, cuda or cuda:N; without it the first GPU, else the CPU
  --output FOLDER      write ridge.png there: the L-curve
  --help               print this
)";
}

}  // namespace ridge
