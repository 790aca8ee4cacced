// Reads the command line; every mistake is a usage_error.
#include "cg/options.hpp"

#include <cstdlib>

#include "common/command_line.hpp"

namespace cg {
namespace {

double parse_tolerance(std::string_view option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end != '\0' || !(value >= 1e-14 && value < 1))
    throw examples::usage_error(std::string(option) + " takes a number from 1e-14 to 1, not '" + text + "'");
  return value;
}

}  // namespace

options parse_options(int count, const char* const* words) {
  using namespace examples;
  options o;
  word_list list(count, words);
  while (!list.done()) {
    const auto word = list.take();
    if (word == "--help" || word == "-h") {
      o.help = true;
    } else if (word == "--size") {
      o.size = parse_count(word, list.value_of(word), 2, 32768);
    } else if (word == "--tolerance") {
      o.tolerance = parse_tolerance(word, std::string(list.value_of(word)));
    } else if (word == "--every") {
      o.every = static_cast<int>(parse_count(word, list.value_of(word), 1, 1000));
    } else if (word == "--device") {
      o.device = list.value_of(word);
    } else {
      unknown_option(word);
    }
  }
  return o;
}

std::string help_text() {
  return R"(Solves a dense symmetric system by conjugate gradients, and by factoring its matrix.

  cg [options]

  --size N             N x N float64 elements (4096)
  --tolerance T        stop when the residual is T times the right side (1e-10)
  --every K            look at the residual every K iterations (5)
  --device NAME        cpu, cuda or cuda:N; without it the first GPU, else the CPU
  --help               print this
)";
}

}  // namespace cg
