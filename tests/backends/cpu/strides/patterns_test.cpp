// Operands whose lanes generated code reads and writes by a pattern: elements a stride apart, numbers that repeat, coordinates that count,
// bytes that are shifted. The interpreter copies them first; both give the same bits, at the ends of rows and of memory as well.
#include "backends/cpu/kernels/hooks.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

/// While it lives, kernels of the host are of one tier.
struct kernels_of {
  cpu::tier before = cpu::get_tier();
  explicit kernels_of(cpu::tier t) { cpu::set_tier(t); }
  ~kernels_of() { cpu::set_tier(before); }
};

ndarray by(cpu::tier t, const std::function<ndarray()>& f) {
  const kernels_of now(t);
  ndarray x = f();
  eval(x);
  return x;
}

void check(const std::function<ndarray()>& f) {
  const ndarray compiled = by(cpu::tier::compiled, f), interpreted = by(cpu::tier::interpreted, f);
  CHECK(compiled.dtype() == interpreted.dtype());
  CHECK(array_equal(compiled, interpreted));
}

ndarray count(std::int64_t n) { return arange(n, {.dtype = int64, .device = device("cpu")}); }

ndarray numbers(std::int64_t n, dtype type) {
  ndarray x = (count(n) * 37 % 101 - (type == uint8 || type == uint16 || type == uint32 ? 0 : 50)).astype(type);
  eval(x);
  return x;
}

const std::vector<dtype> types{uint8, int8, bool_, int16, uint16, int32, float32, int64, float64};

}  // namespace

TEST_CASE("generated code reads elements that lie a stride apart, up to the last one in memory") {
  for (const dtype t : types)
    for (const std::int64_t step : {2, 3, 4, 5, 8, -1, -2, -3, -4})
      for (const std::int64_t lanes : {8192, 8200, 9001}) {
        CAPTURE(name(t));
        CAPTURE(step);
        CAPTURE(lanes);
        const std::int64_t size = step < 0 ? -step : step;
        const ndarray x = numbers((lanes - 1) * size + 1, t), y = numbers(lanes, t);
        check([&] { return maximum(x(slice(_, _, step)), y); });
      }
}

TEST_CASE("operands apart of several dtypes, of rows with ends, beside each other in one loop") {
  const ndarray x = numbers(40 * 1003, int16), y = numbers(40 * 1003, float64), z = numbers(40 * 501, uint8);
  const auto rows = [](const ndarray& a) { return reshape(a, {40, -1}); };
  check([&] { return rows(x)(_, slice(1, 1002, 2)) + rows(y)(_, slice(_, 501)) * rows(z); });
  check([&] { return rows(x)(_, slice(2, _, 2)) - rows(x)(_, slice(1001, _, -2)); });
  const ndarray p = reshape(numbers(9001 * 3, uint8), {-1, 3});
  check([&] {
    const ndarray q = p.astype(uint32);
    return (q(_, 0) << 16) | (q(_, 1) << 8) | q(_, 2);
  });
  check([&] { return (p(_, 0) * 0.5f + p(_, 2)).astype(uint8); });
}

TEST_CASE("generated code writes elements that lie a stride apart, and nothing between them") {
  for (const dtype t : types)
    for (const std::int64_t step : {2, 3, 4})
      for (const std::int64_t lanes : {8192, 8201}) {
        CAPTURE(name(t));
        CAPTURE(step);
        const ndarray x = numbers(lanes * step + 1, t), y = numbers(lanes, t);
        check([&] {
          ndarray z = x.copy();
          z(slice(_, lanes * step, step)) = z(slice(1, lanes * step + 1, step));
          z(slice(step - 1, lanes * step, step)) = maximum(y, z(slice(step - 1, lanes * step, step)));
          return z;
        });
      }
}

TEST_CASE("numbers that repeat and coordinates that count are lanes of generated code") {
  for (const dtype t : types)
    for (const std::int64_t run : {2, 4, 8, 16})
      for (const std::int64_t rows : {4096, 4099}) {
        CAPTURE(name(t));
        CAPTURE(run);
        const ndarray x = numbers(rows, t), other = reshape(numbers(rows * run, t), {rows, run});
        check([&] { return maximum(x(_, newaxis), other); });
        check([&] { return x(_, newaxis) + (count(run) + 3).astype(t); });
      }
  const ndarray field = reshape(numbers(90 * 203, float32), {90, 203});
  check([&] { return where(count(203) * 3 > count(90)(_, newaxis) * 5, field, -field); });
  check([&] { return count(90 * 203) * 7 + reshape(field, {-1})(slice(_, _, -1)).astype(int64); });
}

TEST_CASE("bits of bytes by shifts of lanes and by numbers") {
  const ndarray x = numbers(8192 + 21, uint8) * 2 + 1;
  eval(x);
  check([&] { return (x(_, newaxis) >> count(8).astype(uint8)) & 1; });
  check([&] { return ((x(_, newaxis) >> count(8)) & 1).astype(uint8); });
  check([&] { return ((x(_, newaxis) << count(16)) & 255).astype(uint8); });
  check([&] { return ((x(_, newaxis) >> (count(8) * 9 - 4)) & 127).astype(uint8); });
  check([&] { return ((x(_, newaxis).astype(int64) * -1 >> count(4)) % 128).astype(int16); });
  for (const int by : {0, 1, 3, 7, 8, 9, 200}) {
    CAPTURE(by);
    const auto n = static_cast<std::uint8_t>(by);
    check([&] { return ((x & 0xf0) >> n) | (x << n); });
    check([&] { return where(x > 100, x >> n, x ^ 85) + (x << 2); });
  }
}

TEST_CASE("quotients and remainders of lanes by a number are those of single divisions") {
  const auto from = [](std::int64_t low, std::int64_t high, dtype t) {
    const ndarray near = count(4001) - 2000;
    const ndarray all =
        concatenate({near + low, near + high, near, (count(30011) * 2654435761) % (high - low + 1) + low});
    ndarray x = clip(all, low, high).astype(t);
    eval(x);
    return x;
  };
  const std::vector<std::pair<dtype, std::pair<std::int64_t, std::int64_t>>> ranges{{int8, {-128, 127}},
                                                                                    {uint8, {0, 255}},
                                                                                    {int16, {-32768, 32767}},
                                                                                    {uint16, {0, 65535}},
                                                                                    {int32, {INT32_MIN, INT32_MAX}}};
  for (const auto& [t, range] : ranges) {
    const std::int64_t low = range.first, high = range.second;
    const ndarray x = from(low, high, t);
    std::vector<std::int64_t> by{0, 1, 2, 3, 5, 7, 10, 100, high, high - 1, high / 2, high / 2 + 1, high / 3};
    for (const std::int64_t n : std::vector<std::int64_t>(by))
      if (low < 0) by.push_back(-n);
    by.push_back(low);
    for (const std::int64_t n : by) {
      CAPTURE(name(t));
      CAPTURE(n);
      ndarray number = full({}, n, {.dtype = t, .device = device("cpu")});
      eval(number);
      check([&] { return floor_divide(x, number); });
      check([&] { return x % number; });
      check([&] { return (x + 1) % number + floor_divide(x, number); });
    }
  }
}
