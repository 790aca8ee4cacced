// Prints the times of the programs, each on the inputs that programs.py left for it in a folder: the first pass of the
// process, and the best of those that follow.
#include "programs.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

#include "../bench.hpp"

namespace bench {
namespace {

struct program {
  const char* file;
  const char* name;
  programs::outputs (*compute)(const programs::inputs&);
};

#define SINTER_BENCH_ROW(function, name) program{#function, name, &programs::function},
const std::vector<program> table = {SINTER_BENCH_PROGRAMS(SINTER_BENCH_ROW)};
#undef SINTER_BENCH_ROW

programs::inputs read_inputs(const std::string& path) {
  programs::inputs in;
  const auto file = sn::load_npz(path);
  for (const auto& name : file.names()) {
    in.arrays[name] = file[name];
    sn::eval(in.arrays[name]);
  }
  sn::synchronize();
  return in;
}

void print_program(const program& p, const std::string& folder) {
  const programs::inputs in = read_inputs(folder + "/" + p.file + ".in.npz");
  programs::outputs out;
  const auto pass = [&] {
    out.clear();
    return seconds_of([&] {
      out = p.compute(in);
      for (const auto& [name, x] : out) sn::eval(x);
      sn::synchronize();
    });
  };
  const double first = pass();
  std::vector<ndarray> results;
  for (const auto& [name, x] : out) results.push_back(x);
  const double sum = sum_of_magnitudes(results);
  results.clear();
  double best = first, spent = first;
  for (int k = 1; k < 15 && (k < 3 || spent < 2) && (k < 2 || best < 3); ++k) {
    const double seconds = pass();
    spent += seconds;
    best = std::min(best, seconds);
  }
  std::printf("| %s | %.2f | %.4f | | %.6g | |\n", p.name, 1e3 * first, 1e3 * best, sum);
}

}  // namespace

void program_rows(const std::string& folder, const std::string& only) {
  std::printf("%s, %s\n\n", sn::to_string(sn::default_device()).c_str(), sn::description(sn::default_device()).c_str());
  std::printf("| work | first, ms | ms | | sum | |\n| --- | ---: | ---: | --- | ---: | --- |\n");
  for (const program& p : table) {
    if (std::string(p.name).find(only) == std::string::npos) continue;
    try {
      print_program(p, folder);
    } catch (const std::exception& e) {
      const std::string text = e.what();
      std::printf("| %s | %s | | | | |\n", p.name, text.substr(0, text.find('\n')).c_str());
    }
    std::fflush(stdout);
  }
}

}  // namespace bench
