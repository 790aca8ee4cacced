// Lists of extents: copies, moves and comparisons within the object, beyond it, and from one to the other.
#include <doctest/doctest.h>

#include <utility>

#include "core/dims.hpp"

using sinter::core::dims;

namespace {

dims ramp(int n) {
  dims d(n);
  for (int k = 0; k < n; ++k) d[k] = k + 1;
  return d;
}
bool is_ramp(const dims& d, int n) {
  bool same = d.size() == n;
  for (int k = 0; same && k < n; ++k) same = d[k] == k + 1;
  return same;
}

}  // namespace

TEST_CASE("dims: what is copied, assigned or moved is equal and independent, for all pairs of sizes") {
  for (int from = 0; from <= 14; ++from)
    for (int to = 0; to <= 14; ++to) {
      CAPTURE(from);
      CAPTURE(to);
      const dims source = ramp(from);
      dims copy(source), assigned = ramp(to), moved = ramp(to);
      CHECK(is_ramp(copy, from));
      assigned = source;
      CHECK(is_ramp(assigned, from));
      moved = std::move(copy);
      CHECK(is_ramp(moved, from));
      CHECK(copy.size() == 0);
      copy = ramp(to);
      CHECK(is_ramp(copy, to));
      if (from > 0) {
        assigned[0] = 99;
        CHECK(is_ramp(source, from));
        CHECK_FALSE(assigned == source);
      }
      const dims constructed(std::move(moved));
      CHECK(is_ramp(constructed, from));
      CHECK((ramp(from) == ramp(to)) == (from == to));
    }
}

TEST_CASE("dims: a list that has been long holds short ones too") {
  dims d = ramp(12);
  const dims few = ramp(3);
  d = few;
  CHECK(is_ramp(d, 3));
  d.resize(2);
  dims copy(d);
  CHECK(is_ramp(copy, 2));
  copy = ramp(12);
  copy.resize(4);
  const dims shortened(copy);
  CHECK(is_ramp(shortened, 4));
  d = copy;
  CHECK(is_ramp(d, 4));
  dims& same = d;
  d = same;
  CHECK(is_ramp(d, 4));
}

TEST_CASE("dims: growing and shrinking element by element") {
  dims d;
  for (int k = 1; k <= 20; ++k) {
    d.push_back(k);
    CHECK(is_ramp(d, k));
  }
  d.erase(0);
  d.insert(0, 1);
  CHECK(is_ramp(d, 20));
  while (d.size() > 5) d.erase(d.size() - 1);
  CHECK(is_ramp(d, 5));
  d.resize(7, 8);
  CHECK(d[6] == 8);
}
