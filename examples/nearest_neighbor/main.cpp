// Finds the nearest airport of every city: the program around the methods.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "ladder.hpp"
#include "map.hpp"
#include "options.hpp"
#include "places.hpp"
#include "report.hpp"

namespace {

using namespace nearest_neighbor;

void read_inputs(const options& o, places& cities, places& airports) {
  if (o.observations > 0) {
    cities = random_places(o.observations, 1);
    airports = random_places(o.references, 2);
  } else {
    cities = read_cities(o.cities);
    airports = read_airports(o.airports);
  }
}

/// "cuda:0, NVIDIA H200".
std::string device_line(const rung& r, const options& o) {
  const bool cpu = r.device.rfind("cpu", 0) == 0;
  return r.device + ", " + sn::description(cpu ? sn::cpu : gpu_of(o));
}

void run_one(const rung& r, const task& t) {
  if (!r.missing.empty()) throw sn::device_error("--method " + r.method + " needs a GPU: " + r.missing);
  const auto& o = t.o;
  if (o.method != "broadcast") std::printf("%-12s %s, %s\n", "method", r.method.c_str(), r.variant.c_str());
  std::printf("%-12s %s\n", "device", device_line(r, o).c_str());
  std::printf("%-12s %lld x %lld\n", "sizes", static_cast<long long>(t.cities.count()),
              static_cast<long long>(t.airports.count()));
  const auto found = run_rung(r, t);
  if (r.method != "loop") {
    const auto on = r.device == "cpu" ? sn::cpu : gpu_of(o);
    std::printf("%-12s %.1f MB at most\n", "memory", static_cast<double>(sn::memory(on).peak) / 1e6);
  }
  const auto some = found.step > 1 ? t.cities.every(found.step) : t.cities;
  print_summary(some, t.airports, found.found);
  if (!o.output.empty()) write_table(o.output, t.cities, t.airports, found.found);
  if (!o.map.empty()) draw_map(o.map, t.cities, t.airports, found.found);
}

bool run(const options& o) {
  if (!o.device.empty()) sn::set_default_device(sn::device(o.device));
  if (!o.output.empty()) check_writable(o.output);
  if (!o.map.empty()) check_map(o.map);
  if (o.method == "knn") return run_knn(o);
  places cities, airports;
  const double reading = seconds_of([&] { read_inputs(o, cities, airports); });
  const task t{cities, airports, o, !o.output.empty() || !o.map.empty(), reading};
  const auto rungs = rungs_of(o);
  if (o.every_method()) {
    std::printf("%-12s %lld x %lld\n", "sizes", static_cast<long long>(cities.count()),
                static_cast<long long>(airports.count()));
    return run_ladder(rungs, t);
  }
  for (std::size_t k = 0; k < rungs.size(); ++k) {
    if (k > 0) std::printf("\n");
    // Another number of cores or of steps is no reason to fail.
    if (k > 0 && !rungs[k].missing.empty())
      std::printf("left out: %s: %s\n", rungs[k].variant.c_str(), rungs[k].missing.c_str());
    else run_one(rungs[k], t);
  }
  return true;
}

/// Buffered output may fail only now, for instance on a full disk.
void finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    throw input_error(std::string("cannot write to standard output: ") + std::strerror(errno));
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
      finish_output();
      return 0;
    }
    const bool good = run(o);
    finish_output();
    return good ? 0 : 1;
  } catch (const usage_error& e) {
    return complain(e.what(), 2);
  } catch (const std::bad_alloc&) {
    return complain("the host has not enough memory for so many points", 1);
  } catch (const std::exception& e) {
    return complain(e.what(), 1);
  }
}
