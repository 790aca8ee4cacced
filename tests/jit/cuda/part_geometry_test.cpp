// Reductions that are parts of larger ones are distributed among threads as these.
#include <doctest/doctest.h>

#include "jit/cuda/launch.hpp"
#include "jit/program/addition_order.hpp"

using namespace sinter;

namespace {

jit::program reducing(jit::reduce_op op, dtype type) {
  jit::program p;
  p.kind = jit::kernel_kind::reduce;
  p.reductions.push_back({.op = op, .type = type, .arg = type, .reg = 0});
  return p;
}

}  // namespace

TEST_CASE("a part of a reduction has the lanes and splits of the whole") {
  const jit::program sum = reducing(jit::reduce_op::sum, dtype::f32);
  jit::launch l;
  l.code = &sum;
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
  const jit::program sum = reducing(jit::reduce_op::sum, dtype::f32);
  jit::launch l;
  l.code = &sum;
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

TEST_CASE("reductions that have no order are split further where few blocks would run") {
  const auto splits = [](jit::reduce_op op, dtype type, std::int64_t results, std::int64_t elements,
                         std::int64_t all = 0) {
    const jit::program p = reducing(op, type);
    jit::launch l;
    l.code = &p;
    l.extents = {results, elements};
    l.kept = 1;
    l.reduces_last = true;
    l.all_results = all;
    const cuda::reduce_geometry g = cuda::row_geometry(l);
    CHECK(g.chunk * g.splits * jit::addition_group >= elements);
    CHECK(g.chunk * (g.splits - 1) * jit::addition_group < elements);
    return g.splits;
  };
  using jit::reduce_op;
  const std::int64_t in_order = jit::row_order(1, 65536).splits;
  CHECK(in_order == 8);
  CHECK(splits(reduce_op::sum, dtype::f32, 1, 65536) == in_order);
  CHECK(splits(reduce_op::sum, dtype::i64, 1, 65536) == 64);
  CHECK(splits(reduce_op::argmax, dtype::f32, 1, 65536) == 64);
  CHECK(splits(reduce_op::max, dtype::f32, 4, 65536) == 64);
  CHECK(splits(reduce_op::max, dtype::f32, 1, 1 << 20) == 256);
  CHECK(splits(reduce_op::max, dtype::f32, 1, 1 << 28) == jit::row_order(1, 1 << 28).splits);
  CHECK(splits(reduce_op::max, dtype::f32, 1, 65536, 1) == in_order);  // a part of a larger one
  CHECK(splits(reduce_op::max, dtype::f32, 64, 4096) == 1);            // one pass as it is
}
