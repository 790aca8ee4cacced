// Random programs over distributed arrays beside the same programs on one device, bit for bit.
#include <cstdlib>
#include <vector>

#include <doctest/doctest.h>

#include "dist/programs.hpp"

namespace {

using namespace sinter;
namespace dist = sinter::dist;

/// Those from first on, a sixth of 300.
void run_programs(int first) {
  const char* const only = std::getenv("SINTER_FUZZ_CASE");
  int refused = 0;
  for (int k = first; k < first + 50; ++k) {
    if (only && std::atoi(only) != k) continue;
    const auto seed = static_cast<unsigned>(k);
    test::choices c(seed + 7777);
    const std::int64_t n = test::mesh_sizes()[static_cast<std::size_t>(c.below(5))];
    const dist::mesh m = c.chance(25) ? test::mesh_of({2, 2}) : test::mesh_of({n});
    const std::vector<ndarray> want = test::run_program(seed, [](const ndarray& x) { return x; });
    INFO("program ", k, " on ", to_string(m.shape()));
    try {
      const std::vector<ndarray> got =
          test::run_program(seed, [&](const ndarray& x) { return dist::shard(x, m, test::any_placements(c, m, x)); });
      for (std::size_t j = want.size(); j-- > 0;) {
        INFO("value ", j, ", shape ", to_string(want[j].shape()));
        CHECK(test::identical(got[j], want[j]));
      }
    } catch (const device_error& e) {
      MESSAGE(k, ": ", e.what());
      ++refused;
    }
  }
  CHECK(refused == 0);
}

}  // namespace

// Several cases, since each compiles hundreds of kernels.
TEST_CASE("random programs on meshes have the bits of one device, 1") { run_programs(0); }
TEST_CASE("random programs on meshes have the bits of one device, 2") { run_programs(50); }
TEST_CASE("random programs on meshes have the bits of one device, 3") { run_programs(100); }
TEST_CASE("random programs on meshes have the bits of one device, 4") { run_programs(150); }
TEST_CASE("random programs on meshes have the bits of one device, 5") { run_programs(200); }
TEST_CASE("random programs on meshes have the bits of one device, 6") { run_programs(250); }
