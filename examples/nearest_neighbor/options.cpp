// Reads the command line; every mistake is a usage_error that names the option and what was written.
#include "options.hpp"

#include <charconv>
#include <string_view>

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

void check(const options& o) {
  if ((o.observations > 0) != (o.references > 0))
    throw usage_error("--observations and --references go together: give both or neither");
}

}  // namespace

options parse_options(int count, const char* const* words) {
  constexpr std::int64_t most_points = std::int64_t{1} << 30;
  options o;
  o.cities = SINTER_EXAMPLE_DATA "/cities.csv";
  o.airports = SINTER_EXAMPLE_DATA "/airports.csv";
  word_list list(count, words);
  while (!list.done()) {
    const auto word = list.take();
    if (word == "--help" || word == "-h") o.help = true;
    else if (word == "--explain") o.explain = true;
    else if (word == "--fast-math") o.fast_math = true;
    else if (word == "--device") o.device = list.value_of(word);
    else if (word == "--output") o.output = list.value_of(word);
    else if (word == "--cities") o.cities = list.value_of(word);
    else if (word == "--airports") o.airports = list.value_of(word);
    else if (word == "--observations") o.observations = parse_count(word, list.value_of(word), most_points);
    else if (word == "--references") o.references = parse_count(word, list.value_of(word), most_points);
    else if (word == "--repeat") o.repeat = static_cast<int>(parse_count(word, list.value_of(word), 1'000'000));
    else throw usage_error("unknown option '" + std::string(word) + "'; --help lists them");
  }
  check(o);
  return o;
}

std::string help_text() {
  return R"(Finds the nearest airport of every city by great-circle distance.

  nearest_neighbor [options]

  --device NAME        cpu, cuda or cuda:N; without it the first GPU, else the CPU
  --cities FILE        CSV of name,country,lat,lon in degrees
  --airports FILE      CSV of code,name,country,lat,lon in degrees
  --observations M     with --references N: M and N random points, uniform on
  --references N       the sphere, instead of the files
  --output FILE        write city,country,airport_index,airport,distance_km
  --repeat K           time K searches and report the median (1)
  --fast-math          allow contraction and approximate functions
  --explain            print the plan of the search
  --help               print this
)";
}

}  // namespace nearest_neighbor
