// Large results that are computed where an operand lay, in place, with tails, and beside other readers of the same memory.
#include <doctest/doctest.h>

#include <complex>
#include <functional>
#include <string>
#include <vector>

#include "backends/cpu/kernels_of.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;
using sinter::test::kernels_of;

namespace {

using step = std::function<void(ndarray& x, const ndarray& other)>;

ndarray numbers(std::int64_t n, dtype type) { return (arange(n) % 97 - 40).astype(type); }

/// A step on an array that nothing else refers to, beside the same one on an array whose old value is kept.
void check(const char* what, const step& f, dtype type) {
  INFO("step: ", std::string(what));
  CAPTURE(name(type));
  for (const std::int64_t n : {20001, 40000, 70007}) {
    CAPTURE(n);
    const ndarray other = numbers(n, type) * 3 + 1;
    ndarray kept = numbers(n, type), alone = numbers(n, type);
    eval(other, kept, alone);
    const ndarray old_elements = kept.copy();
    eval(old_elements);
    const ndarray old = kept * 1;  // not evaluated: the old value is needed until it is
    f(kept, other);
    eval(kept);
    CHECK(array_equal(old, old_elements));
    f(alone, other);
    eval(alone);
    CHECK(array_equal(kept, alone));
  }
}

}  // namespace

TEST_CASE("steps on large arrays give the same where their memory is written and where it is kept") {
  const std::vector<std::pair<const char*, step>> steps{
      {"an addition", [](ndarray& x, const ndarray&) { x += 1; }},
      {"a chain", [](ndarray& x, const ndarray& y) { x = where(x > y, x * 2 - y, y - x) + x; }},
      {"reversed", [](ndarray& x, const ndarray&) { x = x + x(slice(_, _, -1)) * 2; }},
      {"rolled", [](ndarray& x, const ndarray& y) { x = x * 2 + roll(x, 1) - y; }},
      {"shifted", [](ndarray& x, const ndarray&) { x(slice(1, _)) = x(slice(_, -1)) + x(slice(1, _)); }},
      {"by index", [](ndarray& x, const ndarray&) { x = x + take(x, (arange(x.size()) * 7) % x.size()); }},
      {"a sum of the whole", [](ndarray& x, const ndarray&) { x = x - max(x); }},
      {"half of it", [](ndarray& x, const ndarray& y) { x(slice(_, _, 2)) += y(slice(_, _, 2)); }},
      {"called", [](ndarray& x, const ndarray&) { x = minimum(x, 3) * maximum(x, 1) + (x % 7); }},
      {"several", [](ndarray& x, const ndarray& y) {
         ndarray a = x + y, b = x * 2;
         x = ndarray();
         eval(a, b);
         x = a - b;
       }}};
  // Interpreted first: what has been compiled is not interpreted any more.
  for (const cpu::tier t : {cpu::tier::interpreted, cpu::tier::compiled}) {
    const kernels_of tier(t);
    for (const auto& s : steps)
      for (const dtype type : {float64, float32, int64, int32, int16}) check(s.first, s.second, type);
  }
}

TEST_CASE("parts of large complex arrays, written where they lie") {
  const kernels_of tier(cpu::tier::compiled);
  for (const dtype type : {complex128, complex64}) {
    CAPTURE(name(type));
    ndarray z = (arange(30011.0) * std::complex<double>(1, -2)).astype(type);
    const ndarray before = z.copy();
    eval(z, before);
    z.real() += 1;
    eval(z);
    CHECK(array_equal(z.real(), before.real() + 1));
    CHECK(array_equal(z.imag(), before.imag()));
    z.imag()(_) = z.real();
    eval(z);
    CHECK(array_equal(z.imag(), before.real() + 1));
    CHECK(array_equal(z.real(), before.real() + 1));
  }
}
