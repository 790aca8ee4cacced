// Estimates pi in one kernel, from stored points, and from several streams; times them and checks them.
#include <chrono>
#include <cstdio>
#include <string>

#include "common/program.hpp"
#include "monte_carlo_pi/estimate.hpp"

namespace {

using namespace monte_carlo_pi;
using examples::report;

struct options {
  std::int64_t points = 100'000'000, streams = 64, seed = 2026;
  std::string device;
  bool help = false;
};

const char* const help_text = R"(Estimates pi by throwing points at a square.

  monte_carlo_pi [options]

  --points N           points of an estimate (1e8)
  --streams K          spawned generators that share the points (64)
  --seed S             whole number (2026)
  --device NAME        cpu, cuda or cuda:N; without it the first GPU, else the CPU
  --help               print this
)";

options parse_options(int count, const char* const* words) {
  using namespace examples;
  options o;
  word_list list(count, words);
  while (!list.done()) {
    const auto word = list.take();
    if (word == "--help" || word == "-h") {
      o.help = true;
    } else if (word == "--points") {
      o.points = parse_count(word, list.value_of(word), 1000, 1'000'000'000'000);
    } else if (word == "--streams") {
      o.streams = parse_count(word, list.value_of(word), 2, 1000);
    } else if (word == "--seed") {
      o.seed = parse_count(word, list.value_of(word), 0, 1'000'000'000'000);
    } else if (word == "--device") {
      o.device = list.value_of(word);
    } else {
      unknown_option(word);
    }
  }
  return o;
}

/// The count, and the seconds of evaluating it for a second time with other points.
template <class Count>
estimate timed(const char* name, Count count, const options& o) {
  generator g(o.seed);
  const estimate found{count(g, o.points).template item<std::int64_t>(), o.points};
  const auto begin = std::chrono::steady_clock::now();
  count(g, o.points).template item<std::int64_t>();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%-12s %.9f, %.3f ms, %.2f thousand million points a second\n", name, found.pi(), seconds * 1e3,
              static_cast<double>(o.points) / seconds / 1e9);
  return found;
}

void run(const options& o) {
  const auto device = examples::use_device(o.device);
  std::printf("%-12s %lld, seed %lld\n", "points", static_cast<long long>(o.points), static_cast<long long>(o.seed));
  const estimate fused = timed("one kernel", count_inside, o);
  report(distance_from_pi(fused), "distance from pi");
  const double bytes = 8 * static_cast<double>(o.points);
  if (bytes < 0.5 * static_cast<double>(sn::memory(device).available)) {
    const estimate stored = timed("stored", count_stored, o);
    report({static_cast<double>(stored.inside - fused.inside), 0}, "points counted differently when stored");
  } else {
    std::printf("%-12s left out: the points take %.1f GB\n", "stored", bytes / 1e9);
  }
  const auto all = estimates(generator(o.seed).spawn(static_cast<std::size_t>(o.streams)), o.points / o.streams);
  estimate together;
  for (const estimate& e : all) {
    together.inside += e.inside;
    together.points += e.points;
  }
  std::printf("%-12s %.9f from %lld spawned generators\n", "streams", together.pi(), static_cast<long long>(o.streams));
  report(distance_from_pi(together), "their mean's distance from pi");
  report(spread_of(all), "their spread, in standard deviations from the expected one");
}

}  // namespace

int main(int count, char** words) {
  return examples::run_program("monte_carlo_pi", count, words, parse_options, help_text, run);
}
