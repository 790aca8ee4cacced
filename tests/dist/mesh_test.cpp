// Meshes, placements, arrays in parts, and what elementwise work does with them.
#include <sstream>
#include <vector>

#include <doctest/doctest.h>

#include "dist/meshes.hpp"
#include "graph/values/limits.hpp"
#include "support/message_of.hpp"

namespace {

using namespace sinter;
using random::default_generator;
using random::generator;
namespace dist = sinter::dist;
using dist::replicate;
using dist::shard;
using test::identical;
using test::mesh_of;
using test::mesh_sizes;

std::vector<std::int64_t> rows_of(const ndarray& x) {
  std::vector<std::int64_t> out;
  for (const ndarray& part : dist::local(x)) out.push_back(part.shape(0));
  return out;
}

}  // namespace

TEST_CASE("meshes with the same extents, names and devices are equal") {
  CHECK(mesh_of({4}) == mesh_of({4}));
  CHECK(!(mesh_of({4}) == mesh_of({2, 2})));
  const std::vector<device> two(2, default_device());
  CHECK(!(dist::mesh({2}, {"rows"}, {.devices = two}) == dist::mesh({2}, {.devices = two})));
  const dist::mesh m({2, 1}, {"rows", "columns"}, {.devices = two});
  CHECK(m.size() == 2);
  CHECK(m.shape() == shape_t{2, 1});
  CHECK(m.names() == std::vector<std::string>{"rows", "columns"});
  CHECK(m.devices() == two);
  CHECK(m.device().kind == device_kind::mesh);
}

TEST_CASE("meshes refuse extents, names and devices that do not fit") {
  CHECK_THROWS_AS(dist::mesh({0}), value_error);
  CHECK_THROWS_AS(dist::mesh({-1}), value_error);
  CHECK_THROWS_AS(dist::mesh({1 << 20, 1 << 20}), value_error);
  CHECK_THROWS_AS(dist::mesh({INT64_MAX, 2}), value_error);
  CHECK_THROWS_AS(dist::mesh({2}, {"a", "b"}), value_error);
  CHECK_THROWS_AS(dist::mesh({2}, {.devices = {default_device()}}), value_error);
  CHECK_THROWS_AS(dist::mesh({1}, {.devices = {mesh_of({1}).device()}}), value_error);
  CHECK_THROWS_AS(dist::mesh({1}, {.devices = {cuda(61)}}), device_error);
}

TEST_CASE("uneven extents leave the last parts shorter or empty") {
  const ndarray x = arange(10).reshape({5, 2});
  const ndarray s = dist::shard(x, mesh_of({4}), {shard(0)});
  CHECK(rows_of(s) == std::vector<std::int64_t>{2, 2, 1, 0});
  CHECK(identical(s, x));
  CHECK(rows_of(dist::shard(x, mesh_of({4}), {})) == std::vector<std::int64_t>{5, 5, 5, 5});
  const ndarray none = dist::shard(zeros({0, 3}), mesh_of({3}), {shard(0)});
  CHECK(none.shape() == shape_t{0, 3});
  CHECK((none + 1).sum().item<double>() == 0.0);
}

TEST_CASE("two axes of a mesh divide two axes of an array, or one") {
  const ndarray x = arange(35).reshape({5, 7});
  const dist::mesh m = mesh_of({2, 3});
  const ndarray both = dist::shard(x, m, {shard(0), shard(-1)});
  CHECK(identical(both, x));
  CHECK(dist::placements_of(both) == dist::placements{shard(0), shard(1)});
  CHECK(dist::local(both)[5].shape() == shape_t{2, 1});
  const ndarray one = dist::shard(x, m, {shard(0), shard(0)});
  CHECK(rows_of(one) == std::vector<std::int64_t>{1, 1, 1, 1, 1, 0});
  CHECK(identical(one, x));
  const ndarray second = dist::shard(x, m, {replicate(), shard(1)});
  CHECK(identical(second * 2, x * 2));
}

TEST_CASE("placements must fit the mesh and the array") {
  const dist::mesh m = mesh_of({2});
  CHECK_THROWS_AS(dist::shard(arange(4), m, {shard(0), shard(0)}), value_error);
  CHECK_THROWS_AS(dist::shard(arange(4), m, {shard(1)}), index_error);
  CHECK_THROWS_AS(dist::shard(arange(4), m, {shard(-2)}), index_error);
  CHECK_THROWS_AS(dist::shard(full({}, 1.0), m, {shard(0)}), index_error);
  const ndarray s = dist::shard(arange(4), m, {shard(0)});
  CHECK_THROWS_AS(dist::shard(s, m, {shard(0)}), value_error);
  CHECK_THROWS_AS(dist::gather(arange(4)), value_error);
  CHECK_THROWS_AS(dist::redistribute(arange(4), {}), value_error);
  CHECK_THROWS_AS(dist::gather(s, 2), index_error);
  CHECK_THROWS_AS(s + arange(4), device_error);
  CHECK_THROWS_AS(s + dist::shard(arange(4), mesh_of({4}), {shard(0)}), device_error);
}

TEST_CASE("what needs the memory of one device says so") {
  const ndarray s = dist::shard(arange(4), mesh_of({2}), {shard(0)});
  CHECK_THROWS_AS(s.data<std::int64_t>(), device_error);
  CHECK_THROWS_AS(s.to_device(default_device()), device_error);
  CHECK_THROWS_AS(arange(4).to_device(mesh_of({2}).device()), device_error);
  CHECK_THROWS_AS(s.to_host(), device_error);
  CHECK_THROWS_AS(set_default_device(s.device()), device_error);
  CHECK_THROWS_AS(device_guard(s.device()), device_error);
  CHECK_THROWS_AS((void)memory(s.device()), device_error);
  sinter_test::refuses<device_error>([&] { s.data<std::int64_t>(); }, "dist::gather");
}

TEST_CASE("elementwise work has the bits of one device on any mesh") {
  generator g(7);
  const ndarray x = g.standard_normal({37, 11}), y = g.random({37, 1}, {.dtype = float32}), z = g.random({11});
  const ndarray want = where(x > 0.25, sin(x) * y + z, exp(-x * x) / (y + 1)).astype(float32);
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    for (const dist::placements& how : {dist::placements{shard(0)}, {shard(1)}, {replicate()}}) {
      const ndarray a = dist::shard(x, m, how);
      for (const bool divided : {false, true}) {
        const ndarray b = dist::shard(y, m, divided ? dist::placements{shard(0)} : dist::placements{});
        const ndarray c = dist::shard(z, m, divided ? dist::placements{shard(0)} : dist::placements{});
        CHECK(identical(where(a > 0.25, sin(a) * b + c, exp(-a * a) / (b + 1)).astype(float32), want));
      }
    }
  }
}

TEST_CASE("what is made on a mesh does not depend on it") {
  const ndarray want = generator(3).random({100, 7}) + arange(7) * 2 - full({100, 1}, 0.5);
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    generator g(3);
    const ndarray r = dist::random(g, {100, 7}, m, {shard(0)});
    const ndarray k = dist::arange(7, m, {shard(0)}), h = dist::full({100, 1}, 0.5, m, {shard(0)});
    CHECK(identical(r + k * 2 - h, want));
    CHECK(identical(zeros_like(r) + 1, ones({100, 7})));
  }
  const dist::mesh m = mesh_of({3});
  CHECK(dist::placements_of(dist::zeros({6}, m, {shard(0)})) == dist::placements{shard(0)});
  CHECK(identical(dist::ones({6}, m, {}, {.dtype = int32}), ones({6}, {.dtype = int32})));
  CHECK(generator(5).normal(0, 1, {20}, {.device = m.device()}).sum().item<double>() ==
        generator(5).normal(0, 1, {20}).sum().item<double>());
}

TEST_CASE("an evaluated array keeps its parts, and pending ones use them") {
  const ndarray x = arange(1000).reshape({50, 20}).astype(float64);
  ndarray s = dist::shard(x, mesh_of({4}), {shard(0)});
  ndarray want = x;
  for (int k = 0; k < 40; ++k) {
    s = s * 1.01 + 1;
    want = want * 1.01 + 1;
    if (k % 7 == 0) eval(s);
  }
  CHECK(identical(s, want));
  CHECK(rows_of(s) == std::vector<std::int64_t>{13, 13, 13, 11});
}

TEST_CASE("no part is larger than its share") {
  const ndarray s = dist::shard(ones({64, 32}), mesh_of({8}), {shard(0)});
  for (const ndarray& part : dist::local(sqrt(s) + 1)) CHECK(part.shape() == shape_t{8, 32});
  for (const ndarray& part : dist::local(dist::random(default_generator(), {64}, mesh_of({8}), {shard(0)})))
    CHECK(part.shape() == shape_t{8});
}

TEST_CASE("redistribution keeps the elements") {
  const ndarray x = arange(60).reshape({12, 5});
  ndarray s = dist::shard(x, mesh_of({4}), {shard(0)});
  for (const dist::placements& how : {dist::placements{shard(1)}, {}, {shard(0)}, {shard(1)}}) {
    s = dist::redistribute(s + 0, how);
    CHECK(identical(s, x));
    CHECK(dist::placements_of(s) == (how.empty() ? dist::placements{replicate()} : how));
  }
}

TEST_CASE("distributed arrays print, and show their parts") {
  const ndarray x = arange(6).reshape({3, 2});
  const ndarray s = dist::shard(x, mesh_of({2}), {shard(0)});
  std::ostringstream one, other;
  one << x;
  other << s;
  CHECK(one.str() == other.str());
  CHECK(s(2, 1).item<int>() == 5);
  CHECK(s.to_vector<int>() == x.to_vector<int>());
  const std::string text = dist::visualize(s);
  CHECK(text.find("{shard(0)}") != std::string::npos);
  CHECK(text.find("[2:3, 0:2]") != std::string::npos);
}

TEST_CASE("parts do not share writes with the array") {
  const ndarray x = arange(12).reshape({6, 2});
  const ndarray s = dist::shard(x, mesh_of({2}), {shard(0)});
  for (const ndarray& part : dist::local(s)) part["..."] = 7;
  CHECK(identical(s, x));
  ndarray t = s.copy();
  t["0:3"] = -1;
  CHECK(identical(s, x));
  ndarray u = dist::shard(x, mesh_of({2}), {shard(0)});
  const std::vector<ndarray> before = dist::local(u);
  u += 1;
  eval(u);
  CHECK(before[0](0, 0).item<int>() == 0);
}

TEST_CASE("a failing evaluation leaves a distributed array pending") {
  const ndarray x = arange(30).reshape({10, 3}).astype(float64);
  const ndarray s = dist::shard(x, mesh_of({2}), {shard(0)}), y = exp(s) + 1;
  graph::limits().fail_allocation = 0;
  CHECK_THROWS_AS(eval(y), memory_error);
  CHECK(identical(y, exp(x) + 1));
}

TEST_CASE("users' kernels run on parts, at the positions of the whole array") {
  const elementwise_kernel k("T x", "T y", "y = x * 2 + i;", "twice");
  const ndarray x = arange(35).reshape({7, 5}).astype(float64);
  for (const std::int64_t n : mesh_sizes()) CHECK(identical(k(dist::shard(x, mesh_of({n}), {shard(n % 2)})), k(x)));
}

TEST_CASE("numbers of the program are on all devices of a mesh") {
  const dist::mesh m = mesh_of({3});
  const ndarray x = array({{1, 2}, {3, 4}}, {.device = m.device()});
  CHECK(dist::placements_of(x) == dist::placements{replicate()});
  CHECK(identical(x, array({{1, 2}, {3, 4}})));
  CHECK(identical(dist::shard(arange(2), m, {shard(0)}) + x, arange(2) + array({{1, 2}, {3, 4}})));
}

TEST_CASE("what is recorded in parts is computed once it is evaluated, not by each reader") {
  const dist::mesh m = mesh_of({3});
  generator g(9), same(9);
  const ndarray x = dist::random(g, {3000}, m, {shard(0)}), want = same.random({3000});
  eval(x);
  for (const ndarray& part : dist::local(x)) CHECK(explain(part * 1.0).find("random") == std::string::npos);
  CHECK(explain(x * 2).find("random") == std::string::npos);
  CHECK(identical(x, want));
}
