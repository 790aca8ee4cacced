// Ten programs on meshes beside one device.
#include <string>

#include <doctest/doctest.h>

#include "dist/user_programs.hpp"

using namespace sinter;

TEST_CASE("programs on meshes have the results of one device") {
  for (const test::user_program& u : test::user_programs()) {
    const ndarray want = u.run(test::one_device());
    for (const std::int64_t n : test::mesh_sizes()) {
      INFO(std::string(u.name), " on ", n);
      const test::places p =
          test::on_mesh(test::mesh_of({n}), test::mesh_of({n % 2 == 0 ? 2 : 1, n % 2 == 0 ? n / 2 : n}));
      CHECK(test::difference_of(u, u.run(p), want) == "");
    }
  }
}
