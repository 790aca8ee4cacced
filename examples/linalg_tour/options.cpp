// Reads the command line; every mistake is a usage_error.
#include "linalg_tour/options.hpp"

#include "common/command_line.hpp"

namespace linalg_tour {

options parse_options(int count, const char* const* words) {
  using namespace examples;
  options o;
  word_list list(count, words);
  while (!list.done()) {
    const auto word = list.take();
    if (word == "--help" || word == "-h") {
      o.help = true;
    } else if (word == "--sizes") {
      o.sizes = parse_counts(word, list.value_of(word), 1, 100'000);
      if (o.sizes.size() != 3) throw usage_error("--sizes takes three numbers: rows, inner, columns");
    } else if (word == "--side") {
      o.side = parse_count(word, list.value_of(word), 1, 100'000);
    } else if (word == "--order") {
      o.order = parse_count(word, list.value_of(word), 1, 30'000);
    } else if (word == "--spectral") {
      o.spectral = parse_count(word, list.value_of(word), 1, 30'000);
    } else if (word == "--plane") {
      o.plane = parse_count(word, list.value_of(word), 1, 30'000);
    } else if (word == "--line") {
      o.line = parse_count(word, list.value_of(word), 1, 1'000'000'000);
    } else if (word == "--normals") {
      o.normals = parse_count(word, list.value_of(word), 1, 10'000'000'000);
    } else if (word == "--device") {
      o.device = list.value_of(word);
    } else if (word == "--repeat") {
      o.repeat = static_cast<int>(parse_count(word, list.value_of(word), 1, 1'000'000));
    } else {
      unknown_option(word);
    }
  }
  return o;
}

std::string help_text() {
  return R"(Linear algebra in NumPy's lines, each checked, and timed against the bare call of cuBLAS, cuSOLVER, cuFFT or cuRAND,
on the CPU of OpenBLAS.

  linalg_tour [options]

  --sizes M,K,N        matrices of M x K and K x N (GPU: 10000,5000,7000; CPU: 1000,500,700)
  --side S             the square product is of S x S matrices (1000)
  --order N            qr and solve are of N x N matrices (GPU: 4096; CPU: 300)
  --spectral N         svd and eigh are of N x N matrices (GPU: 1024; CPU: 150)
  --plane N            fft2 is of N x N elements (GPU: 2000; CPU: 500)
  --line N             fft is of N elements (GPU: 16777216; CPU: 262144)
  --normals N          so many random numbers (GPU: 100000000; CPU: 1000000)
  --device NAME        cpu, cuda or cuda:N; without it the first GPU, else the CPU
  --repeat R           time each R times and take the median (10)
  --help               print this
)";
}

}  // namespace linalg_tour
