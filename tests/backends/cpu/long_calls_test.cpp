// Compiled code that calls block operations takes lanes in any number: the bits of interpreted blocks, wherever a block ends.
#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"
#include "golden/golden.hpp"
#include "sinter/sinter.hpp"

namespace {

using namespace sinter;
using recorder = std::function<std::vector<ndarray>()>;

/// The bytes of what `record` computes by one tier.
auto bytes_by(cpu::tier tier, const recorder& record) {
  const cpu::tier before = cpu::get_tier();
  cpu::set_tier(tier);
  std::vector<decltype(test::download(ndarray()).bytes)> all;
  for (const ndarray& x : record()) all.push_back(test::download(x).bytes);
  cpu::set_tier(before);
  return all;
}

/// All of them interpreted first: what has been compiled is not interpreted any more.
void check_tiers(const std::vector<recorder>& all) {
  std::vector<decltype(bytes_by(cpu::tier::compiled, {}))> interpreted;
  for (const recorder& record : all) interpreted.push_back(bytes_by(cpu::tier::interpreted, record));
  for (std::size_t k = 0; k < all.size(); ++k) {
    CAPTURE(k);
    const auto compiled = bytes_by(cpu::tier::compiled, all[k]);
    for (std::size_t j = 0; j < compiled.size(); ++j) {
      CAPTURE(j);
      CHECK((compiled[j] == interpreted[k][j]));
    }
  }
}

}  // namespace

TEST_CASE("compiled code with calls has the bits of interpreted blocks, for any number of lanes") {
  std::vector<recorder> all_recorders;
  for (const dtype type : {dtype::f32, dtype::f64})
    for (const std::int64_t n : {255, 256, 257, 511, 512, 1000, 8192, 8193, 20011}) {
      const ndarray all = sin(arange(0, 6 * n, 1)).astype(type), x = all.reshape(3, 2 * n), y = x(idx::_, slice(0, n));
      const ndarray z = x(idx::_, slice(0, 2 * n, 2)), scale = max(x, {.axis = 1, .keepdims = true});
      eval(x, scale);
      all_recorders.push_back([=]() -> std::vector<ndarray> {
        const ndarray e = exp(y * scale);
        return {exp(y), log1p(e) + sin(e) * y, exp(y - z), exp(scale) * y, where(y > 0, cos(y), y)};
      });
      all_recorders.push_back([=]() -> std::vector<ndarray> {  // reductions, of which some read coordinates
        const reduce_kw rows{.axis = 1}, columns{.axis = 0};
        const ndarray place = arange(0, n, 1).astype(type);
        return {sum(exp(y), rows), sum(exp(y * scale) * place, rows), sum(sin(y + place), columns),
                max(log1p(exp(z)), rows), sum(exp(all))};
      });
    }
  check_tiers(all_recorders);
}

TEST_CASE(
    "rows of no whole number of vectors, one after the other and with gaps, have the bits of interpreted blocks") {
  std::vector<recorder> all_recorders;
  for (const dtype type : {dtype::f32, dtype::f64})
    for (const std::int64_t n : {257, 527, 1000, 4001, 8191}) {
      const ndarray x = sin(arange(0, 42 * n, 1)).astype(type).reshape(2, 21, n);
      const ndarray scale = max(x, {.axis = 2, .keepdims = true}), row = x(0, 0).copy(), plane = x(1).copy();
      eval(x, scale, row, plane);
      all_recorders.push_back([=]() -> std::vector<ndarray> {
        return {x - scale, exp(x - scale), x - scale + row, x * scale - plane, exp(x - scale) * 2, scale - plane};
      });
      all_recorders.push_back([=]() -> std::vector<ndarray> {
        return {special::softmax(x, 2), special::log_softmax(x, 2), special::logsumexp(x, {.axis = 2})};
      });
      all_recorders.push_back(
          [=]() -> std::vector<ndarray> {  // into some rows, and into parts of rows: what lies between stays
            ndarray rows = full(x.shape(), 7).astype(type), parts = full({2, 21, n + 5}, 7).astype(type),
                    last = rows.copy();
            eval(rows, parts, last);
            rows(idx::_, slice(3, 20)) = x(idx::_, slice(3, 20)) - scale(idx::_, slice(3, 20));
            parts(idx::_, idx::_, slice(2, n + 2)) = x - scale;
            last(idx::_, slice(0, 21, 2)) = x(idx::_, slice(0, 21, 2)) - scale(idx::_, slice(0, 21, 2));
            CHECK(all(rows(idx::_, 20) == 7).item<bool>());
            CHECK(all(last(idx::_, 1) == 7).item<bool>());
            return {rows, parts, last};
          });
    }
  check_tiers(all_recorders);
}

TEST_CASE("rows that one call computes, with numbers of each row and with gaps, have the bits of interpreted blocks") {
  std::vector<recorder> all_recorders;
  for (const dtype type : {dtype::f32, dtype::f64, dtype::u8, dtype::i16})
    for (const std::int64_t n : {128, 144, 200, 256, 259, 1000, 1024}) {
      const ndarray x = (sin(arange(0, 42 * n, 1)) * 50 + 60).astype(type).reshape(2, 21, n);
      const ndarray scale = max(x, {.axis = 2, .keepdims = true}), row = x(0, 0).copy(), plane = x(1).copy();
      const ndarray mirrored = flip(x, 1), odd = x(idx::_, slice(1, 21, 2)), truth = scale > 105;
      eval(x, scale, row, plane, truth);
      all_recorders.push_back([=]() -> std::vector<ndarray> {
        return {x - scale,       x * scale - row,        mirrored + scale, odd - scale(idx::_, slice(1, 21, 2)),
                x / (scale + 3), where(truth, x, plane), scale + 0 * plane};
      });
      if (is_inexact(type)) {  // quotients by numbers of rows that are or give zeros, infinities, tiny numbers, NaN
        const ndarray at = arange(0, 21, 1).reshape(21, 1), tiny = x * (type == dtype::f32 ? 1e-42 : 1e-318);
        const ndarray others = where(at == 4, 0, where(at == 9, 1e30, scale)).astype(type),
                      none = where(at == 20, std::numeric_limits<double>::quiet_NaN(), scale).astype(type);
        eval(tiny, others, none);
        all_recorders.push_back([=]() -> std::vector<ndarray> {
          ndarray own = x.copy();
          eval(own);
          own /= others;
          return {x / scale, tiny / scale, x / others, x / none, (x - 60) / scale + tiny / others, own};
        });
      }
      all_recorders.push_back([=]() -> std::vector<ndarray> {  // several results of one kernel
        ndarray sums = x + scale, products = x * scale;
        eval(sums, products);
        return {sums, products};
      });
      all_recorders.push_back([=]() -> std::vector<ndarray> {  // in place, and into parts of rows
        ndarray own = x.copy(), parts = full({2, 21, n + 32}, 7).astype(type);
        eval(own, parts);
        own -= scale;
        parts(idx::_, slice(2, 19), slice(16, n + 16)) = (x * scale)(idx::_, slice(2, 19));
        eval(own, parts);
        return {own, parts};
      });
    }
  check_tiers(all_recorders);
}

TEST_CASE("extrema of a few elements have the bits of interpreted ones: zeros of both signs, NaN, infinities") {
  std::vector<recorder> all_recorders;
  for (const dtype type : {dtype::f32, dtype::f64}) {
    const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    const ndarray some = array({0.0, -0.0, 1.5, -2.0, 0.0, inf, -inf, nan, -0.0}).astype(type);
    const ndarray x = take(some, remainder(floor_divide(arange(20000) * 7919, 13), 9));
    eval(x);
    all_recorders.push_back([=]() -> std::vector<ndarray> {
      std::vector<ndarray> made;
      for (const std::int64_t n : {2, 3, 5, 8}) {
        const ndarray windows = sliding_window_view(x, {n});
        made.push_back(max(windows, {.axis = 1}));
        made.push_back(min(windows, {.axis = 1}));
      }
      return made;
    });
  }
  check_tiers(all_recorders);
}
