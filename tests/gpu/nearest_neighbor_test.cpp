// The nearest-neighbour example's GPU methods on a GPU, against float64.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "examples/nearest_neighbor_points.hpp"
#include "gpu/gpu.hpp"
#include "nearest_neighbor/check.hpp"
#include "nearest_neighbor/chord_search.hpp"
#include "nearest_neighbor/knn_check.hpp"
#include "nearest_neighbor/ladder.hpp"
#include "nearest_neighbor/two_kernel_search.hpp"

namespace {

using namespace nearest_neighbor;

template <class Search>
void agrees(const Search& search, const places& p, const places& q, double floor_km = 1e-3) {
  const auto on = sn::default_device();
  const auto found = search(upload(p, on), upload(q, on));
  const result r{found.index.template to_vector<std::int64_t>(), found.distance.template to_vector<float>()};
  CHECK(compare(p, q, {{&r, 1, floor_km}})[0].failure == std::string());
}

places repeated(const places& some, int times) {
  places out;
  for (int k = 0; k < times; ++k) out.radians.insert(out.radians.end(), some.radians.begin(), some.radians.end());
  return out;
}

}  // namespace

TEST_CASE("nearest neighbor on a GPU: the tuned kernels in several configurations, for all kinds of sizes") {
  if (gpu_test::no_gpu()) return;
  const std::vector<chord_config> configs = {{},
                                             {.dpx = false},
                                             {.tile = 0},
                                             {.rows = 4, .block = 128, .group = 16, .tile = 512},
                                             {.rows = 1, .block = 32, .group = 8, .tile = 0, .dpx = false},
                                             {.rows = 6, .block = 192, .group = 64, .tile = 256, .splits = 5},
                                             {.rows = 3, .block = 64, .group = 128, .tile = 384, .splits = 1}};
  for (const auto& c : configs) {
    CAPTURE(c.rows);
    CAPTURE(c.group);
    const chord_search search(c);
    for (const auto& [m, n] : {std::pair(1, 1), {1, 5000}, {5000, 1}, {2047, 33}, {2049, 4096}, {70001, 1023}})
      agrees(search, random_places(m, 1), random_places(n, 2));
    for (const double latitude : {0.02, -1.1, 1.5}) {
      const auto near = metres_apart(latitude, 1.3);
      agrees(search, near.from, near.to);
    }
    const auto far = opposite_points();
    agrees(search, far.from, far.to);
    const auto on = sn::default_device();
    const auto tied = search(upload(random_places(3000, 5), on), upload(repeated(random_places(100, 6), 20), on));
    CHECK(sn::max(tied.index).item<std::int64_t>() < 100);
  }
}

TEST_CASE("nearest neighbor on a GPU: the tuned kernels on the real data, and again with what is cached") {
  if (gpu_test::no_gpu()) return;
  const auto p = read_cities(SINTER_SOURCE_DIR "/examples/data/cities.csv");
  const auto q = read_airports(SINTER_SOURCE_DIR "/examples/data/airports.csv");
  const chord_search search;
  agrees(search, p, q);
  agrees(search, p, q);
}

TEST_CASE("nearest neighbor on a GPU: the two-kernel scheme, precise and fast") {
  if (gpu_test::no_gpu()) return;
  const two_kernel_search precise(false);
  for (const auto& [m, n] : {std::pair(1, 1), {5, 1}, {1, 3000}, {3001, 1025}, {60000, 777}})
    agrees(precise, random_places(m, 1), random_places(n, 2));
  const auto near = metres_apart(0.7, 1.3);
  agrees(precise, near.from, near.to);
  const auto tied = precise(upload(random_places(500, 5), sn::default_device()),
                            upload(repeated(random_places(40, 6), 60), sn::default_device()));
  CHECK(sn::max(tied.index).item<std::int64_t>() < 40);
  const two_kernel_search fast(true);
  agrees(fast, random_places(30000, 1), random_places(3001, 2), fast_math_km);
  agrees(fast, near.from, near.to, fast_math_km);
}

TEST_CASE("nearest neighbor on a GPU: k neighbours in every metric") {
  if (gpu_test::no_gpu()) return;
  const auto check = [](const std::vector<float>& p, const std::vector<float>& q, int d, int k, metric how,
                        std::int64_t block_rows) {
    CAPTURE(d);
    CAPTURE(k);
    CAPTURE(name_of(how));
    const auto on = sn::default_device();
    const auto x = sn::array(p.data(), {static_cast<std::int64_t>(p.size()) / d, d}, {.device = on});
    const auto y = sn::array(q.data(), {static_cast<std::int64_t>(q.size()) / d, d}, {.device = on});
    CHECK(check_knn(p, q, d, knn(x, y, k, how, block_rows), how, 1 + static_cast<std::int64_t>(p.size()) / d / 200) ==
          std::string());
  };
  for (const int d : {2, 3, 4, 5, 16, 17, 100, 1024})
    for (const int k : {1, 8, 9, 33, 64}) {
      const auto p = random_vectors(d > 100 ? 70 : 1000, d, 1), q = random_vectors(d > 100 ? 200 : 3000, d, 2);
      for (const auto how : {metric::euclidean, metric::cosine}) check(p, q, d, k, how, k == 9 ? 300 : 0);
    }
  for (const int k : {1, 8, 20, 64}) {
    check(random_places(5001, 1).radians, random_places(777, 2).radians, 2, k, metric::haversine, 0);
    const auto near = metres_apart(0.9, 3);
    check(near.from.radians, near.to.radians, 2, k, metric::haversine, 0);
  }
  check({0.1f, 0.2f}, {0.3f, 0.4f}, 2, 1, metric::haversine, 0);
}

TEST_CASE("nearest neighbor on a GPU: the whole ladder agrees, on one device and on all") {
  if (gpu_test::no_gpu()) return;
  options o;
  o.method = "all";
  const int devices = sn::device_count(sn::device_kind::cuda);
  const auto p = random_places(20011, 1), q = random_places(1501, 2);
  for (const int used : {1, devices}) {
    o.devices = used;
    const task t{p, q, o};
    for (const auto& r : rungs_of(o)) {
      CAPTURE(r.method);
      CAPTURE(r.variant);
      if (r.device == "cpu") continue;
      CHECK(r.missing == std::string());
      const auto found = r.run(t);
      CHECK(compare(p, q, {{&found.found, found.step, r.exact ? 1e-3 : fast_math_km}})[0].failure == std::string());
    }
  }
  // More devices than rows.
  o.devices = devices;
  const auto one = random_places(1, 3);
  const task t{one, q, o};
  for (const auto& r : multi_gpu_rungs(o)) CHECK(r.run(t).found.index.size() == 1);
  o.devices = devices + 1;
  CHECK(multi_gpu_rungs(o)[0].missing.find("--devices ") == 0);
}
