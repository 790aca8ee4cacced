// What is stored on the host though it could be computed where it is read: rolled fields of which a coarser grid reads every second
// element, and what an algorithm reads beside others.
#include <doctest/doctest.h>

#include <string>

#include "backends/cpu/kernels/hooks.hpp"
#include "core/shape.hpp"
#include "graph/loop_programs.hpp"
#include "jit/program/launch.hpp"
#include "sinter/sinter.hpp"

namespace sn = sinter;
using namespace sinter;
using namespace sinter::idx;
using namespace sinter::test::loops;

namespace {

bool on_host() { return current_backend().host_addressable(); }

int kernels_of(const ndarray& x) {
  const std::string text = explain(x);
  int n = 0;
  for (std::size_t at = text.find("\nkernel "); at != std::string::npos; at = text.find("\nkernel ", at + 1)) ++n;
  return n;
}

ndarray residual(const ndarray& x, const ndarray& b) {
  return b - (4.0f * x - roll(x, 1, 0) - roll(x, -1, 0) - roll(x, 1, 1) - roll(x, -1, 1));
}
ndarray coarser(const ndarray& r) {
  return r(slice(_, _, 2), slice(_, _, 2)) + r(slice(1, _, 2), slice(_, _, 2)) + r(slice(_, _, 2), slice(1, _, 2)) +
         r(slice(1, _, 2), slice(1, _, 2));
}

/// Elements for which exponentials are computed.
std::int64_t exponentials = 0;
void count(const jit::launch& l) {
  for (const jit::instr& i : l.code->code)
    if (i.op == jit::opcode::exp) exponentials += core::element_count(l.extents);
}
template <class F>
std::int64_t exponentials_of(const F& f) {
  exponentials = 0;
  const auto before = cpu::set_launch_observer(&count);
  f();
  cpu::set_launch_observer(before);
  return exponentials;
}

}  // namespace

TEST_CASE("rolled reads: what a coarser grid reads of rolled fields is stored first") {
  if (!on_host()) return;
  const ndarray x = uniform({256, 256}, 81), b = uniform({256, 256}, 82);
  const ndarray lazy = coarser(residual(x, b));
  CHECK(kernels_of(lazy) == 2);
  const ndarray stored = residual(x, b);
  eval(stored);
  CHECK(array_equal(lazy, coarser(stored)));
  // Rolls of all elements in their order, whatever the shape, are read one after the other: a kernel for each step but what it reads whole.
  ndarray flat = x.reshape({256 * 256}), square = x;
  for (int k = 0; k < 3; ++k) {
    flat = flat + 0.1f * (roll(flat, 1) - 2 * flat);
    square = square + 0.1f * (roll(square, 1) - 2 * square);
  }
  CHECK(kernels_of(square) == kernels_of(flat));
  // A sum of neighbours that are read one after the other has nothing stored, nor have few elements.
  CHECK(kernels_of(residual(x, b)) == 1);
  CHECK(kernels_of(coarser(residual(uniform({8, 8}, 83), uniform({8, 8}, 84)))) == 1);
}

TEST_CASE("rolled reads: what an algorithm reads by a view, and others read as well, is computed once") {
  if (!on_host()) return;
  const std::int64_t n = 20000;
  const ndarray x = uniform({n}, 85) - 0.5f;
  eval(x);
  const auto check = [&](const char* what, const auto& of) {
    INFO(what);
    ndarray first, second;
    CHECK(exponentials_of([&] {
            const ndarray r = exp(x);
            first = of(r);
            second = r * 2;
            eval(first, second);
          }) == n);
    const ndarray r = exp(x);
    eval(r);
    CHECK(array_equal(first, of(r)));
    CHECK(array_equal(second, r * 2));
  };
  check("sums from the end", [](const ndarray& r) { return flip(cumsum(flip(r, 0), 0), 0); });
  check("sums of every second", [](const ndarray& r) { return cumsum(r(slice(_, _, 2)), 0); });
  check("order", [](const ndarray& r) { return sort(flip(r, 0)); });
}
