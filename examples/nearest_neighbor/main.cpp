// Finds the nearest airport of every city: the program around search.hpp.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "options.hpp"
#include "places.hpp"
#include "report.hpp"
#include "search.hpp"

namespace {

using namespace nearest_neighbor;

template <class F>
double seconds_of(F&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void read_inputs(const options& o, places& cities, places& airports) {
  if (o.observations > 0) {
    cities = random_places(o.observations, 1);
    airports = random_places(o.references, 2);
  } else {
    cities = read_cities(o.cities);
    airports = read_airports(o.airports);
  }
}

ndarray upload(const places& p) { return sn::array(p.radians.data(), {p.count(), 2}); }

/// Searches once for the compiler and `repeat` times for the clock.
neighbours timed_search(const ndarray& cities, const ndarray& airports, int repeat, timings& seconds) {
  neighbours found;
  const auto search = [&] {
    found = find_nearest(cities, airports);
    sn::eval(found.index, found.distance);
    sn::synchronize();
  };
  const double first = seconds_of(search);
  std::vector<double> rest;
  for (int k = 0; k < repeat; ++k) rest.push_back(seconds_of(search));
  std::nth_element(rest.begin(), rest.begin() + repeat / 2, rest.end());
  seconds.searching = rest[static_cast<std::size_t>(repeat / 2)];
  seconds.compiling = std::max(0.0, first - seconds.searching);
  return found;
}

void run(const options& o) {
  if (!o.device.empty()) sn::set_default_device(sn::device(o.device));
  if (!o.output.empty()) check_writable(o.output);
  timings seconds;
  places cities, airports;
  seconds.reading = seconds_of([&] { read_inputs(o, cities, airports); });

  const auto device = sn::default_device();
  std::printf("%-12s %s, %s\n", "device", sn::to_string(device).c_str(), sn::description(device).c_str());
  std::printf("%-12s %lld x %lld\n", "sizes", static_cast<long long>(cities.count()),
              static_cast<long long>(airports.count()));

  const sn::fast_math_guard fast(o.fast_math);
  ndarray p, q;
  seconds.uploading = seconds_of([&] {
    p = upload(cities);
    q = upload(airports);
    sn::synchronize();
  });
  if (o.explain) std::printf("\n%s\n", sn::explain(find_nearest(p, q).distance).c_str());

  const auto found = timed_search(p, q, o.repeat, seconds);
  result table;
  seconds.downloading = seconds_of([&] {
    table.index = found.index.to_vector<std::int64_t>();
    table.distance = found.distance.to_vector<float>();
  });
  print_timings(seconds, cities.count(), airports.count(), o.repeat);
  std::printf("%-12s %.1f MB at most\n", "memory", static_cast<double>(sn::memory(device).peak) / 1e6);
  print_summary(cities, airports, table);
  if (!o.output.empty()) write_table(o.output, cities, airports, table);
}

/// One line, whatever the message was.
int complain(std::string message, int status) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::fprintf(stderr, "nearest_neighbor: %s\n", message.c_str());
  return status;
}

}  // namespace

int main(int count, char** words) {
  try {
    const auto o = parse_options(count, words);
    if (o.help) {
      std::fputs(help_text().c_str(), stdout);
      return 0;
    }
    run(o);
    return 0;
  } catch (const usage_error& e) {
    return complain(e.what(), 2);
  } catch (const std::exception& e) {
    return complain(e.what(), 1);
  }
}
