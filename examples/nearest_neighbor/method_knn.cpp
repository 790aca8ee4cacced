// The k nearest neighbours (knn.hpp): alone in any metric, and in the ladder, which compares the nearest of them.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "knn_check.hpp"
#include "ladder.hpp"

namespace nearest_neighbor {
namespace {

/// The first of the k neighbours of each row.
result nearest_of(const knn_result& all) {
  result out;
  for (std::size_t i = 0; i < all.index.size(); i += static_cast<std::size_t>(all.k)) {
    out.index.push_back(all.index[i]);
    out.distance.push_back(all.distance[i]);
  }
  return out;
}

/// Results of all blocks may be more than a GPU holds, so each block is dropped where it is.
void time_knn(const ndarray& p, const ndarray& q, int k, metric how, int repeat, timings& seconds) {
  const auto drop = [](std::int64_t, const ndarray& index, const ndarray& distance) { sn::eval(index, distance); };
  time_search(
      [&] {
        knn(p, q, k, how, drop);
        sn::synchronize(p.device());
      },
      repeat, seconds);
}

outcome search_on(const sn::device& on, const places& cities, const task& t) {
  outcome out;
  ndarray p, q;
  out.seconds.uploading = seconds_of([&] {
    p = upload(cities, on);
    q = upload(t.airports, on);
    sn::synchronize(on);
  });
  const int k = static_cast<int>(std::min<std::int64_t>(t.o.k, t.airports.count()));
  time_knn(p, q, k, metric::haversine, t.o.repeat, out.seconds);
  out.found = nearest_of(knn(p, q, k, metric::haversine));
  return out;
}

/// Synthetic vectors (count, dimensions), uniform in a cube around the origin.
std::vector<float> random_vectors(std::int64_t count, int dimensions, std::uint64_t seed) {
  std::vector<float> out(static_cast<std::size_t>(count * dimensions));
  for (auto& x : out) x = static_cast<float>(2 * next_uniform(seed) - 1);
  return out;
}

void read_vectors(const options& o, std::vector<float>& p, std::vector<float>& q) {
  if (o.measure != metric::haversine) {
    p = random_vectors(o.observations, o.dimensions, 1);
    q = random_vectors(o.references, o.dimensions, 2);
  } else if (o.observations > 0) {
    p = random_places(o.observations, 1).radians;
    q = random_places(o.references, 2).radians;
  } else {
    p = read_cities(o.cities).radians;
    q = read_airports(o.airports).radians;
  }
}

double mean_of_column(const knn_result& r, int column) {
  double sum = 0;
  const auto k = static_cast<std::size_t>(r.k);
  for (std::size_t i = static_cast<std::size_t>(column); i < r.distance.size(); i += k) sum += r.distance[i];
  return sum / static_cast<double>(r.distance.size() / k);
}

}  // namespace

bool run_knn(const options& o) {
  const auto on = o.device.empty() ? sn::default_device() : sn::device(o.device);
  timings seconds;
  std::vector<float> from, to;
  seconds.reading = seconds_of([&] { read_vectors(o, from, to); });
  const std::int64_t d = o.dimensions, m = static_cast<std::int64_t>(from.size()) / d,
                     n = static_cast<std::int64_t>(to.size()) / d;
  std::printf("%-12s %s, %s\n", "device", sn::to_string(on).c_str(), sn::description(on).c_str());
  std::printf("%-12s %lld x %lld\n", "sizes", static_cast<long long>(m), static_cast<long long>(n));
  std::printf("%-12s %d nearest, %s, %d dimensions\n", "neighbours", o.k, name_of(o.measure), o.dimensions);

  ndarray p, q;
  seconds.uploading = seconds_of([&] {
    p = sn::array(from.data(), {m, d}, {.device = on});
    q = sn::array(to.data(), {n, d}, {.device = on});
    sn::synchronize(on);
  });
  time_knn(p, q, o.k, o.measure, o.repeat, seconds);
  const auto found = knn(p, q, o.k, o.measure);
  print_timings(seconds, m, n, o.repeat);
  std::printf("%-12s %.1f MB at most\n", "memory", static_cast<double>(sn::memory(on).peak) / 1e6);
  const char* unit = o.measure == metric::haversine ? " km" : "";
  std::printf("%-12s %.6g%s to the nearest, %.6g%s to number %d\n", "mean", mean_of_column(found, 0), unit,
              mean_of_column(found, o.k - 1), unit, o.k);

  // Some rows, as many as float64 does in about a second.
  const std::int64_t rows = std::clamp<std::int64_t>(20'000'000 / (n * d), 1, std::min<std::int64_t>(m, 200));
  const auto failure = check_knn(from, to, static_cast<int>(d), found, o.measure, std::max<std::int64_t>(1, m / rows));
  std::printf("%-12s %s\n", failure.empty() ? "checked" : "WRONG",
              failure.empty() ? "a sample of rows agrees with float64" : failure.c_str());
  return failure.empty();
}

std::vector<rung> knn_rungs(const options& o) {
  const auto gpu = gpu_of(o);
  const std::string variant = "k = " + std::to_string(o.k);
  return {
      {"knn",
       variant,
       "cpu",
       {},
       [](const task& t) { return search_some(t, [&](const places& some) { return search_on(sn::cpu, some, t); }); }},
      {"knn", variant, sn::to_string(gpu), why_no_gpu(o),
       [gpu](const task& t) { return search_on(gpu, t.cities, t); }}};
}

}  // namespace nearest_neighbor
