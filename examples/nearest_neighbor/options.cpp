// Reads the command line; every mistake is a usage_error that names the option and what was written.
#include "options.hpp"

#include <charconv>
#include <stdexcept>
#include <string_view>

#include "ladder.hpp"

namespace nearest_neighbor {
namespace {

std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t limit) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || value < 1 || value > limit)
    throw usage_error(std::string(option) + " takes a whole number from 1 to " + std::to_string(limit) + ", not '" +
                      std::string(text) + "'");
  return value;
}

class word_list {
 public:
  word_list(int count, const char* const* words) : at_(words + 1), end_(words + count) {}
  bool done() const { return at_ >= end_; }
  std::string_view take() { return *at_++; }
  std::string_view value_of(std::string_view option) {
    if (done()) throw usage_error(std::string(option) + " needs a value");
    const auto value = take();
    if (value.empty()) throw usage_error(std::string(option) + " needs a value, not an empty one");
    return value;
  }

 private:
  const char* const* at_;
  const char* const* end_;
};

metric parse_metric(std::string_view option, std::string_view text) {
  try {
    return metric_of(text);
  } catch (const std::invalid_argument&) {
    throw usage_error(std::string(option) + " is haversine, euclidean or cosine, not '" + std::string(text) + "'");
  }
}

std::string parse_method(std::string_view option, std::string_view text) {
  if (!is_method(std::string(text)))
    throw usage_error(std::string(option) + " is one of " + method_names() + ", not '" + std::string(text) + "'");
  return std::string(text);
}

/// What was written, since some options are only for some methods.
struct given {
  bool k = false, metric = false, dimensions = false, devices = false, files = false;
};

void check(const options& o, const given& was) {
  const bool all = o.every_method(), knn = o.method == "knn";
  if ((o.observations > 0) != (o.references > 0))
    throw usage_error("--observations and --references go together: give both or neither");
  if (was.files && o.observations > 0)
    throw usage_error("--observations and --references take the place of --cities and --airports: give one pair");
  if (was.k && !knn && !all) throw usage_error("--k is for --method knn or all");
  if ((was.metric || was.dimensions) && !knn) throw usage_error("--metric and --dimensions are for --method knn");
  if (was.devices && o.method != "multi_gpu" && o.method != "mesh" && !all)
    throw usage_error("--devices is for --method multi_gpu, mesh or all");
  if (o.explain && o.method != "broadcast") throw usage_error("--explain is for --method broadcast");
  if ((knn || all) && !(o.output.empty() && o.map.empty()))
    throw usage_error("--output and --map take the result of one method, and not of knn");
  if (o.measure == metric::haversine && o.dimensions != 2)
    throw usage_error("--metric haversine takes 2 dimensions, not " + std::to_string(o.dimensions));
  if (o.measure != metric::haversine && o.observations == 0)
    throw usage_error(std::string("--metric ") + name_of(o.measure) +
                      " takes synthetic vectors: give --observations and --references");
  if (knn && o.references > 0 && o.k > o.references)
    throw usage_error("--k " + std::to_string(o.k) + " is more than the " + std::to_string(o.references) +
                      " references");
}

}  // namespace

options parse_options(int count, const char* const* words) {
  constexpr std::int64_t most_points = std::int64_t{1} << 30;
  options o;
  given was;
  const auto small = [](std::string_view option, std::string_view text, std::int64_t limit, bool& written) {
    written = true;
    return static_cast<int>(parse_count(option, text, limit));
  };
  o.cities = SINTER_EXAMPLE_DATA "/cities.csv";
  o.airports = SINTER_EXAMPLE_DATA "/airports.csv";
  word_list list(count, words);
  while (!list.done()) {
    const auto word = list.take();
    if (word == "--help" || word == "-h") o.help = true;
    else if (word == "--explain") o.explain = true;
    else if (word == "--fast-math") o.fast_math = true;
    else if (word == "--method") o.method = parse_method(word, list.value_of(word));
    else if (word == "--k") o.k = small(word, list.value_of(word), 64, was.k);
    else if (word == "--dimensions") o.dimensions = small(word, list.value_of(word), 1024, was.dimensions);
    else if (word == "--devices") o.devices = small(word, list.value_of(word), 1024, was.devices);
    else if (word == "--metric") {
      o.measure = parse_metric(word, list.value_of(word));
      was.metric = true;
    } else if (word == "--map") o.map = list.value_of(word);
    else if (word == "--device") o.device = list.value_of(word);
    else if (word == "--output") o.output = list.value_of(word);
    else if (word == "--cities" || word == "--airports") {
      (word == "--cities" ? o.cities : o.airports) = list.value_of(word);
      was.files = true;
    } else if (word == "--observations") o.observations = parse_count(word, list.value_of(word), most_points);
    else if (word == "--references") o.references = parse_count(word, list.value_of(word), most_points);
    else if (word == "--repeat") o.repeat = static_cast<int>(parse_count(word, list.value_of(word), 1'000'000));
    else throw usage_error("unknown option '" + std::string(word) + "'; --help lists them");
  }
  check(o, was);
  return o;
}

std::string help_text() {
  return R"(Finds the nearest airport of every city by great-circle distance.

  nearest_neighbor [options]

  --method NAME        broadcast (NumPy's lines; what runs without this option),
                       loop, two_kernel, raw, knn, library, multi_gpu, mesh, or
                       all: a table of all of them, each checked against the
                       others

  --device NAME        cpu, cuda or cuda:N; without it the first GPU, else the CPU
  --cities FILE        CSV of name,country,lat,lon in degrees
  --airports FILE      CSV of code,name,country,lat,lon in degrees
  --observations M     with --references N: M and N random points, uniform on
  --references N       the sphere, instead of the files
  --output FILE        write city,country,airport_index,airport,distance_km
  --map FILE           draw the cities by distance to their airport (PNG)
  --k K                knn: neighbours of each point, 1 to 64 (8)
  --metric NAME        knn: haversine, euclidean or cosine (haversine)
  --dimensions D       knn: of synthetic vectors, 1 to 1024 (2)
  --devices N          multi_gpu, mesh: GPUs to use (all); mesh also the CPU N
                       times, and under mpirun the N processes
  --repeat K           time K searches and report the median (1)
  --fast-math          allow contraction and approximate functions
  --explain            print the plan of the search
  --help               print this
)";
}

}  // namespace nearest_neighbor
