// Reductions over a few elements that are operations on elements where they are the result: plans, and the bits of rows.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "backends/cpu/kernels_of.hpp"
#include "graph/values/limits.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;
using sinter::test::kernels_of;

namespace {

const device host("cpu");

/// While it lives, reductions of rows stay that.
struct by_rows {
  by_rows() { graph::limits().apart = false; }
  ~by_rows() { graph::limits().apart = true; }
};

ndarray count(std::int64_t n) { return arange(n, {.dtype = int64, .device = host}); }
ndarray in_memory(const ndarray& x) {
  ndarray y = x.copy();
  eval(y);
  return y;
}
ndarray bytes(std::int64_t n) { return in_memory((count(n) * 89 % 256).astype(uint8)); }
ndarray floats(std::int64_t n) {
  const ndarray k = count(n), x = (k * 37 % 1009 - 500).astype(float32) / 97;
  return in_memory(where(k % 53 == 7, full({}, NAN, {.dtype = float32, .device = host}), where(k % 31 == 3, -0.0f, x)));
}

bool is_of_elements(const ndarray& x) { return explain(x).find("[reduction]") == std::string::npos; }

/// The same dtype and bits as rows have, by both tiers, where it is one kernel over its results.
void check(const char* what, const std::function<ndarray()>& f) {
  INFO(what);
  CHECK(is_of_elements(f()));
  ndarray rows;
  {
    const by_rows now;
    const kernels_of tier(cpu::tier::interpreted);
    CHECK_FALSE(is_of_elements(f()));
    rows = f();
    eval(rows);
  }
  for (const cpu::tier t : {cpu::tier::interpreted, cpu::tier::compiled}) {
    const kernels_of tier(t);
    ndarray x = f();
    eval(x);
    CHECK(x.dtype() == rows.dtype());
    CHECK(array_equal(x, rows, true));
    if (is_real_floating(x.dtype())) CHECK(array_equal(signbit(x), signbit(rows)));
  }
}

}  // namespace

TEST_CASE("reductions over a few elements of operands that vary one way are operations on elements") {
  for (const std::int64_t n : {1031, 4096, 9001}) {
    CAPTURE(n);
    const ndarray b = bytes(n), x = floats(n), t = in_memory(linspace(-4, 4, 16, {.dtype = float32, .device = host}));
    const ndarray few = t(slice(_, _, 2)), at = count(8), each = in_memory(at.astype(uint8));
    check("bits by positions", [&] { return sum((b(_, newaxis) >> at) & 1, -1); });
    check("bits by bytes", [&] { return sum((b(_, newaxis) >> each) & 1, -1); });
    check("bits from the last one on", [&] { return sum(((b(_, newaxis) >> (7 - at)) & 1) * (at + 1), 1); });
    check("thresholds", [&] { return sum(x(_, newaxis) > t, 1); });
    check("thresholds counted", [&] { return count_nonzero(x(_, newaxis) > t, 1); });
    check("thresholds, first axis", [&] { return sum(x > t(_, newaxis), 0); });
    check("any", [&] { return any(x(_, newaxis) == t, 1); });
    check("all", [&] { return all(x(_, newaxis) != t, 1); });
    check("largest product", [&] { return max(x(_, newaxis) * t, 1); });
    check("least sum", [&] { return min(x(_, newaxis) + t, 1); });
    check("product of bytes", [&] { return prod(b(_, newaxis) | each, 1); });
    check("sum of products", [&] { return sum(x(_, newaxis) * few, 1); });
    check("what follows from it", [&] { return sum((b(_, newaxis) >> at) & 1, -1) % 2 * 3; });
    check("its epilogue of bytes", [&] { return (sum(x(_, newaxis) > t, 1) * 15).astype(uint8); });
    const auto of_eight = [&](const ndarray& a) { return reshape(a(slice(_, n / 8 * 8)), {-1, 8}); };
    if (n < 8192) continue;
    check("numbers of eight digits",
          [&] { return sum((of_eight(b).astype(int32) - 48) * power(10, at).astype(int32), 1); });
    check("bytes of rows", [&] { return sum(of_eight(b) & 15, 1); });
    const ndarray s = in_memory((b.astype(int16) - 100)), truths = in_memory(b > 100);
    check("16 bits of rows", [&] { return sum(of_eight(s).astype(int32) * 3, 1); });
    check("truth values packed", [&] { return sum(of_eight(truths).astype(uint8) << each, -1, {.dtype = uint8}); });
  }
}

TEST_CASE("reductions over a few elements of few rows, wide elements and heavy operations are those of rows") {
  const ndarray b = bytes(9001), x = floats(9001), at = count(8), small = bytes(100);
  CHECK_FALSE(is_of_elements(sum((small(_, newaxis) >> at) & 1, -1)));
  CHECK_FALSE(is_of_elements(sum(reshape(x(slice(_, 9000)), {-1, 8}) * 2, 1)));
  CHECK_FALSE(is_of_elements(sum(reshape(b(slice(_, 9000)), {-1, 8}) & 15, 1) % 10));  // a remainder is a call
  CHECK_FALSE(is_of_elements(sum(exp(x(_, newaxis) * at.astype(float32)), 1)));
  CHECK_FALSE(is_of_elements(sum(x(_, newaxis) * linspace(0, 1, 16, {.dtype = float32, .device = host}), 1)));
}

TEST_CASE("what is read at every second, fourth or eighth place is computed where it is read") {
  const auto kernels = [](const ndarray& x) {
    const std::string text = explain(x);
    int n = 0;
    for (std::size_t at = text.find("kernel "); at != std::string::npos; at = text.find("kernel ", at + 1)) ++n;
    return n;
  };
  for (const std::int64_t n : {64, 9000, 20000}) {
    CAPTURE(n);
    const ndarray b = bytes(n);
    const auto digits = [&] { return where(b > 57, b - 87, b - 48); };
    const auto packed = [&](const ndarray& v) { return (v(slice(_, _, 2)) << 4) | v(slice(1, _, 2)); };
    CHECK(kernels(packed(digits())) == 1);
    CHECK(array_equal(packed(digits()), packed(in_memory(digits()))));
    const auto of_four = [&](const ndarray& v) {
      const ndarray c = reshape(v, {-1, 4});
      return c(_, 0) | c(_, 1) << 2 | c(_, 2) << 4 | c(_, 3) << 6;
    };
    CHECK(kernels(of_four((b >> 1) & 3)) == 1);
    CHECK(array_equal(of_four((b >> 1) & 3), of_four(in_memory((b >> 1) & 3))));
    // The same elements twice are stored, as long as computing them costs.
    const auto halves = [&](const ndarray& v) { return v(slice(_, n / 2)) + v(slice(n / 2, _)) + v(slice(_, _, 2)); };
    const auto costly = [&] { return sqrt(sin(b.astype(float32)) + 2); };
    CHECK(kernels(halves(costly())) > 1);
    CHECK(array_equal(halves(costly()), halves(in_memory(costly()))));
  }
}

TEST_CASE(
    "what several reductions of short rows of narrow numbers are combined to is of elements, unless it calls "
    "functions") {
  for (const std::int64_t n : {1031, 9001}) {
    CAPTURE(n);
    const ndarray b = in_memory(bytes(8 * n).reshape({n, 8})), w = in_memory(b.astype(uint16) * 77);
    check("ranges of bytes", [&] { return max(b, 1) - min(b, 1); });
    check("ranges of uint16", [&] { return max(w, 1) - min(w, 1); });
    check("means", [&] { return mean(w.astype(float32) * 0.5f, 1); });
    check("compared", [&] { return max(w, 1) > min(w, 1) * 2; });
    CHECK_FALSE(is_of_elements(sqrt(exp(sum(w, 1) * 1e-6)) + max(w, 1)));
  }
}
