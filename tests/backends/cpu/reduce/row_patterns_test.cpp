// Rows whose operands lie in patterns and are computed before they are reduced: numbers that repeat, coordinates that begin again,
// elements a stride apart, channels. Results are those of operands in memory, one element after the other.
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "backends/cpu/kernels_of.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;
using sinter::test::kernels_of;

namespace {

ndarray count(std::int64_t n) { return arange(n, {.dtype = int64, .device = device("cpu")}); }

ndarray numbers(std::int64_t n, dtype type) {
  const ndarray all = count(n) * 37 % 101;
  ndarray x = (type == uint8 || type == uint16 ? all : all - 50).astype(type);
  eval(x);
  return x;
}

/// The same elements in memory of their own, in C order.
ndarray dense(const ndarray& x) {
  const ndarray at = count(x.size());
  eval(at);
  ndarray y = reshape(take(reshape(x, {-1}), at), x.shape());
  eval(y);
  return y;
}

/// Compiled with its operands as they lie; interpreted with the same; and of operands in memory.
void check(const std::function<ndarray(std::function<ndarray(const ndarray&)>)>& f) {
  const auto found = [&](cpu::tier how, bool copied) {
    const kernels_of now(how);
    ndarray r = f([&](const ndarray& x) { return copied ? dense(x) : x; });
    eval(r);
    return r;
  };
  const ndarray r = found(cpu::tier::compiled, false), same = found(cpu::tier::interpreted, false);
  const ndarray other = found(cpu::tier::compiled, true);
  CHECK(r.dtype() == other.dtype());
  CHECK(array_equal(r, other));
  CHECK(array_equal(r, same));
}

const std::vector<dtype> types{uint8, int8, int16, uint16, int32, float32, int64, float64};

}  // namespace

TEST_CASE("rows of numbers that repeat beside coordinates that begin again") {
  for (const std::int64_t n : {2, 4, 8, 16, 3, 24})
    for (const std::int64_t rows : {4096, 4099, 9001}) {
      CAPTURE(n);
      CAPTURE(rows);
      const ndarray x = numbers(rows, uint8), y = numbers(rows, int64), z = numbers(rows, float32);
      const ndarray of = floor_divide(count(rows * n), n), place = count(rows * n) % n;
      eval(of, place);
      const ndarray k = reshape(place, {rows, n});
      const auto each = [&](const ndarray& a) { return reshape(take(a, of), {rows, n}); };
      const auto both = [&](const auto& computed) {
        const auto found = [&](cpu::tier how, bool as_it_is) {
          const kernels_of now(how);
          ndarray r = as_it_is ? computed([](const ndarray& a) { return a(_, newaxis); }, count(n))
                               : computed([&](const ndarray& a) { return dense(each(a)); }, k);
          eval(r);
          return r;
        };
        const ndarray r = found(cpu::tier::compiled, true);
        CHECK(array_equal(r, found(cpu::tier::compiled, false)));
        CHECK(array_equal(r, found(cpu::tier::interpreted, true)));
      };
      both([&](const auto& of_rows, const ndarray& at) { return sum(of_rows(x) >> at & 1, -1); });
      both([&](const auto& of_rows, const ndarray& at) { return sum((of_rows(x) >> at.astype(uint8)) & 3, -1); });
      both([&](const auto& of_rows, const ndarray& at) { return max((of_rows(y) * 3 + at) % 7, -1); });
      both([&](const auto& of_rows, const ndarray& at) { return sum(of_rows(z) * at.astype(float32) - 1, -1); });
      both([&](const auto& of_rows, const ndarray& at) { return any((of_rows(x) >> at & 3) == 3, -1); });
      both([&](const auto& of_rows, const ndarray& at) { return argmax((of_rows(x) + at) % 5, -1); });
    }
}

TEST_CASE("rows of elements that lie a stride apart, short and long, and of channels") {
  for (const dtype t : types)
    for (const std::int64_t width : {6, 64, 130, 700, 5000}) {
      CAPTURE(name(t));
      CAPTURE(width);
      const std::int64_t height = 40000 / width + 3;
      const ndarray x = reshape(numbers(height * width, t), {height, width});
      check([&](const auto& as) { return sum(maximum(as(x(_, slice(_, _, 2))), as(x(_, slice(1, _, 2)))), -1); });
      check([&](const auto& as) { return sum(x - as(x(_, slice(_, _, -1))) * 2, -1); });
      check([&](const auto& as) { return max(as(x(_, slice(_, width / 3 * 3, 3))) + 1, 1); });
    }
  for (const dtype t : {uint8, int16, float32})
    for (const std::int64_t pixels : {5000, 8193}) {
      CAPTURE(name(t));
      const ndarray p = reshape(numbers(pixels * 4, t), {pixels, 4}), gain = numbers(3, t), one = numbers(pixels, t);
      check([&](const auto& as) { return sum(as(p(_, slice(_, 3))) * gain + as(one(_, newaxis)), 1); });
      check([&](const auto& as) { return max(as(p(_, slice(1, _))) - as(p(_, slice(_, 3))), 1); });
      check([&](const auto& as) { return sum(maximum(as(p(_, slice(_, _, -1))), p), 1); });
    }
}

// Blocks begin with a row, which is no whole period of what is read.
TEST_CASE("rows that are shorter than what their operands repeat after") {
  for (const dtype t : {uint8, int16, float32})
    for (const std::int64_t n : {700, 3001}) {
      CAPTURE(name(t));
      CAPTURE(n);
      const ndarray all = reshape(numbers(n * 16, t), {n, 16}), y = numbers(n, t);
      for (const std::int64_t parts : {2, 3, 4, 6}) {
        CAPTURE(parts);
        for (const ndarray& twelve : {all(_, slice(_, 12)), all(_, slice(11, _, -1))}) {
          const ndarray some = reshape(twelve, {n, parts, 12 / parts});
          check([&](const auto& as) { return sum(as(some) * 2 - 1, -1); });
          check([&](const auto& as) { return max(as(some) - as(y(_, newaxis, newaxis)), -1); });
        }
      }
      const ndarray one = broadcast_to(y(_, newaxis, newaxis), {n, 4, 4}), other = reshape(all, {n, 4, 4});
      check([&](const auto& as) { return sum(maximum(as(one), other), -1); });
    }
}

TEST_CASE("rows of 2, 4 and 8 numbers one after the other are joined several to a vector") {
  const kernels_of now(cpu::tier::compiled);
  for (const dtype t : {int32, int64, float32, float64, uint32, uint64})
    for (const std::int64_t n : {2, 4, 8, 16})
      for (const std::int64_t rows : {1, 7, 8, 15, 16, 17, 300, 2049}) {
        CAPTURE(name(t));
        CAPTURE(n);
        CAPTURE(rows);
        const ndarray x = reshape(numbers(rows * n, t), {rows, n});
        const std::vector<double> all = x.astype(float64).to_vector<double>();
        const auto agrees = [&](const ndarray& r, const std::function<double(double, double)>& join) {
          const std::vector<double> found = r.astype(float64).to_vector<double>();
          std::int64_t wrong = 0;
          for (std::int64_t k = 0; k < rows; ++k) {
            double e = all[static_cast<std::size_t>(k * n)];
            for (std::int64_t j = 1; j < n; ++j) e = join(e, all[static_cast<std::size_t>(k * n + j)]);
            wrong += found[static_cast<std::size_t>(k)] != e;
          }
          CHECK(wrong == 0);
        };
        const auto most = [](double a, double b) { return a > b ? a : b; };
        agrees(max(x, 1), most);
        agrees(max(x * 1, 1), most);
        agrees(min(x, 1), [](double a, double b) { return a < b ? a : b; });
        if (t == uint32 || t == uint64) continue;  // whose numbers below zero are none
        agrees(sum(x, 1), [](double a, double b) { return a + b; });
        agrees(sum(x * 1, 1), [](double a, double b) { return a + b; });
      }
}
