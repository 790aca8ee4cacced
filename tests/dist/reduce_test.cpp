// Reductions of arrays in parts: the bits of one device.
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "dist/meshes.hpp"

namespace {

using namespace sinter;
using random::default_generator;
using random::generator;
namespace dist = sinter::dist;
using dist::shard;
using test::identical;
using test::mesh_of;
using test::mesh_sizes;

using reduction = ndarray (*)(const ndarray&, const reduce_kw&);

/// All reductions over all axes of x, divided along each axis, beside one device.
void compare(const ndarray& x, std::initializer_list<reduction> functions) {
  std::vector<axes> over;
  for (std::int64_t a = 0; a < x.ndim(); ++a) over.push_back(axes{a});
  for (const reduction f : functions) {
    for (int k = -1; k < static_cast<int>(over.size()); ++k) {
      const reduce_kw kw = k < 0 ? reduce_kw{} : reduce_kw{.axis = over[static_cast<std::size_t>(k)], .keepdims = true};
      const ndarray want = f(x, kw);
      for (const std::int64_t n : mesh_sizes())
        for (std::int64_t a = 0; a < x.ndim(); ++a) {
          const ndarray s = dist::shard(x, mesh_of({n}), {shard(a)});
          INFO(to_string(x.shape()), " ", std::string(name(x.dtype())), " over ", k, ", ", n, " parts of axis ", a);
          CHECK(identical(f(s, kw), want));
        }
    }
  }
}

}  // namespace

TEST_CASE("sums, products and means of distributed arrays have the bits of one device") {
  generator g(11);
  for (const shape_t& shape : {shape_t{5}, shape_t{7, 3}, shape_t{100, 9}, shape_t{9, 100}, shape_t{3, 40, 5}})
    compare(g.standard_normal(shape), {sum, prod, mean});
}

TEST_CASE("long sums are divided at splits") {
  generator g(12);
  compare(g.standard_normal({40000}), {sum});
  compare(g.standard_normal({123457}, {.dtype = float32}), {sum, mean});
  compare(g.standard_normal({3001, 50}), {sum});
  compare(g.standard_normal({3001, 1}), {sum});
  compare(g.standard_normal({50, 3001}, {.dtype = float32}), {sum});
  compare(g.standard_normal({2, 30000}).astype(float16), {sum});
  compare(g.standard_normal({30000, 2}), {sum});
}

TEST_CASE("short rows of many are summed in the order of all of them") {
  generator g(13);
  compare(g.standard_normal({2000, 33}, {.dtype = float32}), {sum});
  compare(g.standard_normal({1100, 300}), {sum});
  compare(g.standard_normal({33, 2000}), {sum});
}

TEST_CASE("complex and 16-bit sums") {
  generator g(14);
  const ndarray c = g.standard_normal({9000}) + g.standard_normal({9000}) * std::complex<double>(0, 1);
  compare(c, {sum});
  compare(c.reshape({3000, 3}), {sum});
  compare(g.standard_normal({33000}).astype(bfloat16), {sum});
}

TEST_CASE("extrema, their places, and truth") {
  generator g(15);
  const ndarray x = floor(g.random({23, 17}) * 8);
  compare(x, {min, max, argmin, argmax, any, all, count_nonzero});
  compare(x.astype(int32), {min, max, argmin, argmax, sum, prod});
  compare(x.astype(uint8), {argmin, argmax, sum});
  compare(x > 3, {argmin, argmax, sum, any, all});
  ndarray y = x.copy();
  y(4, 5) = std::numeric_limits<double>::quiet_NaN();
  y(21, 2) = std::numeric_limits<double>::quiet_NaN();
  compare(y, {min, max, argmin, argmax});
  compare(full({40}, std::numeric_limits<double>::infinity()), {argmin, argmax});
}

TEST_CASE("variances of distributed arrays agree to rounding, and do not depend on the number of parts") {
  generator g(16);
  const ndarray x = g.standard_normal({300, 40});
  const ndarray rows = x.var(axes{1});
  std::vector<std::string> all;
  for (const std::int64_t n : mesh_sizes()) {
    const ndarray s = dist::shard(x, mesh_of({n}), {shard(0)});
    CHECK(identical(s.var(axes{1}), rows));
    CHECK(s.var().item<double>() == doctest::Approx(x.var().item<double>()));
    CHECK(max(abs(dist::gather(s.std(axes{0})) - x.std(axes{0}))).item<double>() < 1e-12);
    all.push_back(test::bits(s.var()));
  }
  for (const std::string& one : all) CHECK(one == all[0]);
}

TEST_CASE("reductions on a mesh of two axes") {
  generator g(17);
  const ndarray x = g.standard_normal({40, 60});
  const dist::mesh m = mesh_of({2, 3});
  const ndarray s = dist::shard(x, m, {shard(0), shard(1)});
  for (const reduction f : std::initializer_list<reduction>{sum, mean, min, max, argmin, argmax})
    for (const reduce_kw& kw : {reduce_kw{}, reduce_kw{.axis = 0}, reduce_kw{.axis = 1}})
      CHECK(identical(f(s, kw), f(x, kw)));
  CHECK(identical(s - s.mean(axes{0}), x - x.mean(axes{0})));
  CHECK(identical(s / s.sum(axes{1}, {.keepdims = true}), x / x.sum(axes{1}, {.keepdims = true})));
}

TEST_CASE("several reductions of one array in one evaluation") {
  generator g(18);
  const ndarray x = g.standard_normal({5000, 3});
  const ndarray s = dist::shard(x, mesh_of({4}), {shard(0)});
  const ndarray a = s.sum(axes{0}), b = s.max(axes{0}), c = s.sum(axes{1}), part = dist::local(s)[0].sum(axes{1});
  eval(a, b, c, part);
  CHECK(identical(a, x.sum(axes{0})));
  CHECK(identical(b, x.max(axes{0})));
  CHECK(identical(c, x.sum(axes{1})));
}

TEST_CASE("sums read parts where they are, also those to which a neighbour sends an edge") {
  for (const std::int64_t extra : {0, 8000, 24000, 40000}) {
    const std::int64_t n = 3000000 + extra;
    const ndarray x = generator(29).random({n}), s = dist::shard(x, mesh_of({4}), {shard(0)});
    CHECK(identical(sum(s), sum(x)));
    const std::string plan = explain(sum(s));
    // "17 kernels, 24.79 MB moved" by all positions, which are one device.
    const auto at = plan.rfind(" kernels, ");
    REQUIRE(at != std::string::npos);
    INFO(plan.substr(at));
    CHECK(plan.find(" MB moved", at) != std::string::npos);
    CHECK(std::stod(plan.substr(at + 10)) < 1.1 * static_cast<double>(n) * 8 / 1e6);
  }
}
