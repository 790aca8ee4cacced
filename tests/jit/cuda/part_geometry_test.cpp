// Reductions that are parts of larger ones are distributed among threads as these.
#include <doctest/doctest.h>

#include "jit/cuda/launch.hpp"
#include "jit/program/addition_order.hpp"

using namespace sinter;

TEST_CASE("a part of a reduction has the lanes and splits of the whole") {
  jit::launch l;
  l.extents = {4, 100'000};
  l.kept = 1;
  l.reduces_last = true;
  CHECK(cuda::row_geometry(l).splits == jit::row_order(4, 100'000).splits);
  CHECK(cuda::row_geometry(l).splits > 1);
  l.all_results = 5000;
  CHECK(cuda::row_geometry(l).splits == 1);
  CHECK(cuda::row_geometry(l).results == 4);
  l.extents = {4, 300};
  CHECK(cuda::row_geometry(l).first.block_x == static_cast<unsigned>(jit::row_order(5000, 300).lanes));
  CHECK(cuda::column_geometry(l, 1).first.block_y == static_cast<unsigned>(jit::column_order(5000, 300).lanes));
}

TEST_CASE("a split of a reduction is one split, of the lanes that it is given") {
  jit::launch l;
  l.extents = {3, 1'000'000};
  l.kept = 1;
  l.all_results = 1;
  l.split_lanes = 256;
  CHECK(cuda::row_geometry(l).splits == 1);
  CHECK(cuda::row_geometry(l).first.block_x == 256);
  l.split_lanes = 32;
  CHECK(cuda::column_geometry(l, 1).splits == 1);
  CHECK(cuda::column_geometry(l, 1).first.block_y == 32);
  const jit::addition_order o = jit::order_of_split(false, 32, 10);
  CHECK(o.chunk == 3);
  CHECK(o.lanes == 32);
  CHECK(o.splits == 1);
  CHECK(!o.rows);
}
