// Meshes of several devices in one process: parts travel by copies between them. The devices are simulated GPUs, which run
// what is queued in any order that the waits allow.
#include <vector>

#include "dist/compare.hpp"
#include "dist/everyday_programs.hpp"
#include "dist/indexed_programs.hpp"
#include "dist/programs.hpp"
#include "support/simulated_gpu.hpp"

using namespace sinter;
namespace dist = sinter::dist;
using dist::shard;

TEST_CASE("meshes of several devices have the bits of one") {
  random::generator g(51);
  const ndarray x = g.standard_normal({41, 12}, {.device = cpu});
  const ndarray want = x["1:-1"] * x[":-2"] + x["2:"], rows = sum(x, {.axis = 1}), all = mean(x);
  const ndarray a = sort(x.reshape({-1})), b = argmin(x, {.axis = 0});
  for (std::uint64_t seed = 1; seed < 12; ++seed) {
    sim::set_order(seed, seed % 2 == 0);
    const std::vector<device> three{sim::first(), sim::second(), sim::third()};
    for (const std::vector<device>& devices :
         {three, {sim::first(), sim::second()}, {sim::first(), sim::second(), sim::first(), cpu}}) {
      const dist::mesh m({static_cast<std::int64_t>(devices.size())}, {.devices = devices});
      const ndarray s = dist::shard(x, m, {shard(0)});
      CHECK(test::identical(s["1:-1"] * s[":-2"] + s["2:"], want));
      CHECK(test::identical(sum(dist::redistribute(s, {shard(1)}), {.axis = 1}), rows));
      CHECK(test::identical(mean(s), all));
      CHECK(test::identical(argmin(s, {.axis = 0}), b));
      CHECK(test::identical(sort(s.reshape({-1})), a));
      ndarray u = dist::shard(x, m, {shard(0)}), v = x.copy();
      for (int k = 0; k < 4; ++k) {
        u["1:-1"] = 0.5 * (u[":-2"] + u["2:"]);
        v["1:-1"] = 0.5 * (v[":-2"] + v["2:"]);
      }
      CHECK(test::identical(u, v));
    }
  }
}

TEST_CASE("lists of indices between several devices") {
  random::generator g(52);
  const ndarray x = g.standard_normal({50000, 3}, {.device = cpu}),
                k = g.integers(-50000, 50000, {311}, {.device = cpu});
  const ndarray few = g.integers(0, 9, {127}, {.device = cpu}), block = g.random({12, 6, 5}, {.device = cpu});
  ndarray written = x.copy();
  written(k) = x["0:311"] * 2;
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    sim::set_order(seed, seed % 2 == 0);
    const std::vector<device> three{sim::first(), sim::second(), sim::third()};
    for (const std::vector<device>& devices : {three, {sim::first(), sim::second(), sim::first(), cpu}}) {
      const dist::mesh m({static_cast<std::int64_t>(devices.size())}, {.devices = devices});
      const ndarray s = dist::shard(x, m, {shard(0)}), i = dist::shard(k, m, {shard(0)}),
                    d = dist::shard(few, m, {shard(0)});
      CHECK(test::identical(take(s, i, 0), take(x, k, 0)));
      CHECK(test::identical(take(s, dist::shard(k, m, {}), 0) + 1, take(x, k, 0) + 1));
      ndarray u = dist::shard(x, m, {shard(0)});
      u(i) = s["0:311"] * 2;
      CHECK(test::identical(u, written));
      CHECK(test::identical(unique_inverse(d).inverse_indices, unique_inverse(few).inverse_indices));
      CHECK(test::identical(lexsort({d, -d}), lexsort({few, -few})));
      CHECK(test::identical(dist::shard(block, m, {shard(1)}).reshape({-1}) + 1, block.reshape({-1}) + 1));
    }
  }
}

TEST_CASE("random programs on several devices") {
  const device before = default_device();
  set_default_device(cpu);
  for (unsigned seed = 0; seed < 40; ++seed) {
    sim::set_order(seed + 1, seed % 3 == 0);
    test::choices c(seed + 5);
    const dist::mesh m({3}, {.devices = {sim::first(), sim::second(), sim::third()}});
    const std::vector<ndarray> want = test::run_program(seed, [](const ndarray& x) { return x; });
    const std::vector<ndarray> got =
        test::run_program(seed, [&](const ndarray& x) { return dist::shard(x, m, test::any_placements(c, m, x)); });
    INFO("program ", seed);
    for (std::size_t k = want.size(); k-- > 0;) CHECK(test::identical(got[k], want[k].to_device(cpu)));
  }
  set_default_device(before);
}

namespace {

/// The meshes of tests on simulated devices, in turn, for the life of this object. The default device is the CPU.
struct on_simulated_devices {
  device before = default_device();
  std::vector<device> others = test::devices_of_meshes();
  on_simulated_devices() {
    set_default_device(cpu);
    test::devices_of_meshes() = {sim::first(), sim::second(), sim::third()};
  }
  ~on_simulated_devices() {
    test::devices_of_meshes() = others;
    set_default_device(before);
  }
  on_simulated_devices(const on_simulated_devices&) = delete;
  on_simulated_devices& operator=(const on_simulated_devices&) = delete;
};

}  // namespace

TEST_CASE("programs on several devices have the results of one") {
  const on_simulated_devices here;
  for (std::uint64_t seed = 1; seed < 4; ++seed) {
    sim::set_order(seed, seed % 2 == 0);
    const std::vector<std::int64_t> sizes{2, 3 + static_cast<std::int64_t>(seed)};
    test::compare_programs(test::user_programs(), sizes);
    test::compare_programs(test::indexed_programs(), sizes);
    test::compare_programs(test::everyday_programs(), sizes);
  }
}
