// Groups the airports by density and by distance, checks the groups and draws them.
#include <algorithm>
#include <cstdio>
#include <sinter/sinter.hpp>
#include <stdexcept>
#include <string>

#include "clusters/groups.hpp"
#include "clusters/picture.hpp"
#include "common/program.hpp"

namespace {

namespace sn = sinter;
using namespace clusters;

struct options {
  std::string airports = SINTER_EXAMPLE_AIRPORTS, device, output;
  std::int64_t km = 150, least = 8, parts = 12, seed = 2026;
  bool help = false;
};

const char* const help_text = R"(Groups the world's airports: dense regions by DBSCAN, parts of the sphere by k-means.

  clusters [options]

  --km N               how near airports of a dense region are (150)
  --least N            how many of them make its core (8)
  --parts N            parts of the sphere (12)
  --seed S             whole number (2026)
  --airports FILE      code,name,country,lat,lon
  --output FOLDER      writes clusters.png there
  --device NAME        cpu, cuda or cuda:N; without it the first GPU, else the CPU
  --help               print this
)";

options parse_options(int count, const char* const* words) {
  using namespace examples;
  options o;
  word_list list(count, words);
  while (!list.done()) {
    const auto word = list.take();
    if (word == "--help" || word == "-h") o.help = true;
    else if (word == "--km") o.km = parse_count(word, list.value_of(word), 1, 20000);
    else if (word == "--least") o.least = parse_count(word, list.value_of(word), 1, 1'000'000);
    else if (word == "--parts") o.parts = parse_count(word, list.value_of(word), 1, 1000);
    else if (word == "--seed") o.seed = parse_count(word, list.value_of(word), 0, 1'000'000'000'000);
    else if (word == "--airports") o.airports = list.value_of(word);
    else if (word == "--output") o.output = list.value_of(word);
    else if (word == "--device") o.device = list.value_of(word);
    else unknown_option(word);
  }
  return o;
}

void report(const std::string& what, const std::string& failure) {
  if (!failure.empty()) throw std::runtime_error(what + ": " + failure);
  std::printf("%-12s %s: agrees with loops over pairs\n", "check", what.c_str());
}

void run(const options& o) {
  examples::use_device(o.device);
  const places airports = nearest_neighbor::read_airports(o.airports);
  std::printf("%-12s %lld airports\n", "places", static_cast<long long>(airports.count()));

  const grouping regions = dense_regions(airports, static_cast<double>(o.km), o.least);
  const auto sizes = regions.sizes();
  const auto alone = std::count(regions.labels.begin(), regions.labels.end(), -1);
  std::printf("%-12s %lld dense regions, the largest of %lld airports; %lld airports are in none; %.4f s\n", "dbscan",
              static_cast<long long>(regions.count),
              static_cast<long long>(sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end())),
              static_cast<long long>(alone), regions.seconds);
  report("dbscan", check(airports, regions, static_cast<double>(o.km), o.least));

  const parts_of_sphere parts = divide(airports, o.parts, o.seed);
  std::printf("%-12s %lld parts, %.1f km from an airport to its part's centre; %.4f s\n", "k-means",
              static_cast<long long>(parts.count), parts.mean_km, parts.seconds);
  report("k-means", check(airports, parts));

  examples::draw_in(o.output, "clusters.png", [&](const std::string& path) { draw(path, airports, regions, parts); });
}

}  // namespace

int main(int count, char** words) {
  return examples::run_program("clusters", count, words, parse_options, help_text, run);
}
