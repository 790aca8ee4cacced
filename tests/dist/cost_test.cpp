// What arrays on a mesh take beside one device: nothing is stored that one device does not store, and few kernels run for a position.
#include <functional>

#include <doctest/doctest.h>

#include "dist/meshes.hpp"
#include "runtime/backend.hpp"
#include "runtime/hooks.hpp"

namespace {

using namespace sinter;
namespace dist = sinter::dist;
using dist::replicate;
using dist::shard;
using test::identical;
using test::mesh_of;

runtime::backend& device_of_tests() { return runtime::get_backend(runtime::default_device()); }

/// Bytes beyond what is held before that an evaluation occupies at most, and its launches, on the default device.
struct spent {
  std::size_t bytes = 0;
  std::uint64_t launches = 0;

  explicit spent(const std::function<ndarray()>& record) {
    eval(record());  // what is compiled and kept
    runtime::backend& b = device_of_tests();
    b.reset_peak();
    const std::size_t held = b.memory().used;
    const std::uint64_t before = b.statistics().launches;
    const ndarray x = record();
    eval(x);
    bytes = b.memory().peak - held;
    launches = b.statistics().launches - before;
  }
};

constexpr std::int64_t n = 400'000;

}  // namespace

TEST_CASE("a matrix times a divided vector stores no products, and runs a kernel for each position") {
  random::generator g(71);
  const ndarray a = g.random({600, 500}), v = g.random({500});
  for (const std::int64_t positions : {1, 2, 4}) {
    CAPTURE(positions);
    const dist::mesh m = mesh_of({positions});
    const ndarray rows = dist::shard(a, m, {shard(0)}), x = dist::shard(v, m, {shard(0)});
    eval(rows, x);
    const auto product = [&] { return matmul(rows, x); };
    const spent s(product);
    CHECK(s.bytes < 600 * 500 * 8 / 4);
    CHECK(s.launches <= static_cast<std::uint64_t>(3 * positions));
    CHECK(max(abs(dist::gather(product()) - matmul(a, v))).item<double>() < 1e-10);
  }
}

TEST_CASE("sums whose splits are many are joined by few kernels") {
  random::generator g(72);
  const ndarray table = g.standard_normal({50'000, 32}), list = g.standard_normal({n});
  for (const std::int64_t positions : {1, 2, 4}) {
    CAPTURE(positions);
    const dist::mesh m = mesh_of({positions});
    const ndarray t = dist::shard(table, m, {shard(0)}), x = dist::shard(list, m, {shard(0)});
    eval(t, x);
    const auto most = static_cast<std::uint64_t>(6 * positions);  // however many splits there are
    CHECK(spent([&] { return sum(t, 0); }).launches <= most);
    CHECK(spent([&] { return sum(x); }).launches <= most);
    CHECK(identical(sum(t, 0), sum(table, 0)));
    CHECK(identical(sum(x), sum(list)));
    CHECK(identical(prod(x * 0.001 + 1), prod(list * 0.001 + 1)));
    const ndarray nothing = full({50'000, 32}, -0.0);
    CHECK(identical(sum(dist::shard(nothing, m, {shard(0)}), 0), sum(nothing, 0)));
    const ndarray waves = table.astype(complex64) * scalar(std::complex<float>(1, 2));
    CHECK(identical(sum(dist::shard(waves, m, {shard(0)}), 0), sum(waves, 0)));
  }
}

TEST_CASE("reductions of what reads neighbours' elements do not store it") {
  random::generator g(73);
  const ndarray list = g.standard_normal({n}), table = g.standard_normal({1000, 400});
  const dist::mesh m = mesh_of({4});
  const ndarray x = dist::shard(list, m, {shard(0)}), u = dist::shard(table, m, {shard(0)});
  eval(x, u);
  const auto curved = [](const ndarray& y) { return y["2:"] - 2 * y["1:-1"] + y[":-2"]; };
  using reduction = std::function<ndarray(const ndarray&, const ndarray&)>;
  const reduction all[] = {[&](const ndarray& y, const ndarray&) { return max(abs(curved(y))); },
                           [&](const ndarray& y, const ndarray&) { return min(curved(y)); },
                           [&](const ndarray& y, const ndarray&) { return any(curved(y) > 3); },
                           [&](const ndarray& y, const ndarray&) { return sinter::all(curved(y) > -99); },
                           [&](const ndarray& y, const ndarray&) { return count_nonzero(curved(y) > 0); },
                           [&](const ndarray& y, const ndarray&) { return sum((curved(y) * 100).astype(int64)); },
                           [&](const ndarray& y, const ndarray&) { return sum(square(curved(y))); },
                           [&](const ndarray&, const ndarray& t) { return sum(square(t["1:"] - t[":-1"]), 1); },
                           [&](const ndarray&, const ndarray& t) { return max(t["1:"] - t[":-1"], 0); },
                           [&](const ndarray&, const ndarray& t) { return argmax(t["1:"] - t[":-1"], 1); },
                           [&](const ndarray&, const ndarray& t) { return max(abs(t["1:, 1:"] + t[":-1, :-1"])); }};
  for (std::size_t k = 0; k < std::size(all); ++k) {
    CAPTURE(k);
    CHECK(spent([&] { return all[k](x, u); }).bytes < n * 8 / 3);
    CHECK(identical(all[k](x, u), all[k](list, table)));
  }
}

TEST_CASE("writes through views that cross the parts leave the array divided") {
  for (const std::int64_t positions : {2, 3, 4}) {
    CAPTURE(positions);
    const dist::mesh m = mesh_of({positions});
    for (const std::int64_t rows : {6, 60'000}) {  // up to 1 MB, and beyond
      const ndarray whole = arange(rows * 5, {.dtype = float64}).reshape({rows, 5}).copy();
      ndarray divided = dist::shard(whole, m, {shard(1)});
      const dist::placements before = dist::placements_of(divided);
      const auto write = [](const ndarray& x) {
        const ndarray flat = x.reshape({-1});
        flat["3:-2"] = -flat["3:-2"];
        if (x.size() < 100) flat["1::4"] = flat["1::4"] * 2;  // of large arrays parts of views are not read across
      };
      write(whole);
      write(divided);
      CHECK(identical(divided, whole));
      CHECK(dist::placements_of(divided) == before);
    }
  }
}

TEST_CASE("arrays of a few elements are sorted and ranked wherever they are divided") {
  for (const std::int64_t positions : {2, 8})
    for (const shape_t& shape : {shape_t{1, 1}, {1, 3}, {4, 1, 2}})
      for (std::int64_t axis = 0; axis < shape.ndim(); ++axis) {
        CAPTURE(positions);
        CAPTURE(axis);
        const ndarray x = random::generator(74).standard_normal(shape);
        const ndarray y = dist::shard(x, mesh_of({positions}), {shard(axis)});
        CHECK(identical(sort(y, idx::_), sort(x, idx::_)));
        CHECK(identical(argsort(y, idx::_), argsort(x, idx::_)));
        CHECK(identical(quantile(y, 0.5), quantile(x, 0.5)));
        CHECK(identical(quantile(y, 0.3, {.axis = 0, .method = "lower"}),
                        quantile(x, 0.3, {.axis = 0, .method = "lower"})));
      }
}
