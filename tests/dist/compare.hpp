// Programs on meshes beside one device, as checks of a case.
#pragma once
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "dist/user_programs.hpp"

namespace sinter::test {

/// On meshes of these many positions.
inline void compare_programs(const std::vector<user_program>& programs, const std::vector<std::int64_t>& sizes) {
  for (const user_program& u : programs) {
    const ndarray want = u.run(one_device());
    for (const std::int64_t n : sizes) {
      INFO(std::string(u.name), " on ", n);
      const places p = on_mesh(mesh_of({n}), mesh_of({n % 2 == 0 ? 2 : 1, n % 2 == 0 ? n / 2 : n}));
      CHECK(difference_of(u, u.run(p), want) == "");
    }
  }
}

}  // namespace sinter::test
