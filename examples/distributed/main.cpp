// Runs the programs on a mesh and on one device, checks one by the other, times both.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/command_line.hpp"
#include "distributed/programs.hpp"
#include "distributed/scaling.hpp"

namespace {

using namespace distributed;

constexpr const char* help =
    "distributed: one array on several devices\n"
    "  --program NAME  search, heat, gradients, logistic or all (all)\n"
    "  --devices N     positions of the mesh (4): the first N GPUs, or the CPU N times; under mpirun the processes\n"
    "  --size N        points, cells along a side, unknowns, samples\n"
    "  --steps N       of heat and of logistic\n"
    "  --explain       prints the plans: kernels, collectives and their bytes\n"
    "  --scaling FILE  runs them on 1, 2, 4 ... devices of the process, with the same work in all and with the same\n"
    "                  work for each, and draws what that gives as a PNG\n";

struct options {
  std::string program = "all", scaling;
  sizes s;
  bool help = false;
};

options parse(int count, char** words) {
  options o;
  examples::word_list list(count, words);
  while (!list.done()) {
    const auto word = list.take();
    if (word == "--help") o.help = true;
    else if (word == "--explain") o.s.explain = true;
    else if (word == "--scaling") o.scaling = list.value_of(word);
    else if (word == "--program") {
      o.program = list.value_of(word);
      examples::parse_choice(word, o.program, {"all", "search", "heat", "gradients", "logistic"});
    } else if (word == "--devices") {
      o.s.devices = static_cast<int>(examples::parse_count(word, list.value_of(word), 1, 4096));
    } else if (word == "--size") {
      o.s.size = examples::parse_count(word, list.value_of(word), 4, 1'000'000'000);
    } else if (word == "--steps") {
      o.s.steps = examples::parse_count(word, list.value_of(word), 1, 1'000'000);
    } else {
      examples::unknown_option(word);
    }
  }
  return o;
}

constexpr program all_programs[] = {
    {"search", search}, {"heat", heat}, {"gradients", gradients}, {"logistic", logistic}};

outcome run(const program& p, const sizes& s) {
  const outcome r = p.on(s);
  std::printf("%-10s %d devices %.4f s, one %.4f s, ratio %.2f; difference %.3g, %.3g allowed\n", p.name, s.devices,
              r.mesh_seconds, r.one_seconds, r.one_seconds / r.mesh_seconds, r.difference, r.allowed);
  if (!(r.difference <= r.allowed)) throw std::runtime_error(std::string(p.name) + " differs from one device");
  return r;
}

void scale(const options& o, const std::vector<program>& programs) {
  std::vector<curve> curves;
  for (const program& p : programs) curves.push_back(curve_of(p, o.s, run));
  write_scaling(o.scaling, curves);
}

}  // namespace

int main(int count, char** words) {
  return examples::run_program("distributed", [&] {
    const options o = parse(count, words);
    if (o.help) {
      std::fputs(help, stdout);
      return;
    }
    std::vector<program> chosen;
    for (const program& p : all_programs)
      if (o.program == "all" || o.program == p.name) chosen.push_back(p);
    if (!o.scaling.empty()) return scale(o, chosen);
    for (const program& p : chosen) run(p, o.s);
  });
}
