// Programs on meshes beside one device.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "dist/everyday_programs.hpp"
#include "dist/indexed_programs.hpp"

using namespace sinter;

namespace {

void compare_programs(const std::vector<test::user_program>& programs) {
  for (const test::user_program& u : programs) {
    const ndarray want = u.run(test::one_device());
    for (const std::int64_t n : test::mesh_sizes()) {
      INFO(std::string(u.name), " on ", n);
      const test::places p =
          test::on_mesh(test::mesh_of({n}), test::mesh_of({n % 2 == 0 ? 2 : 1, n % 2 == 0 ? n / 2 : n}));
      CHECK(test::difference_of(u, u.run(p), want) == "");
    }
  }
}

}  // namespace

TEST_CASE("programs on meshes have the results of one device") { compare_programs(test::user_programs()); }
TEST_CASE("programs with lists of indices have the results of one device") {
  compare_programs(test::indexed_programs());
}
TEST_CASE("programs of statistics, systems and neighbours have the results of one device") {
  compare_programs(test::everyday_programs());
}
