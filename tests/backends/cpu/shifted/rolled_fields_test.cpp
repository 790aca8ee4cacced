// Operations on fields that are rolled along several axes, which run in parts: the elements of rolls that are copied first.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"
#include "backends/cpu/kernels/segments.hpp"
#include "backends/cpu/kernels_of.hpp"
#include "jit/program/launch.hpp"
#include "sinter/sinter.hpp"

namespace sn = sinter;
using namespace sinter;
using namespace sinter::idx;

namespace {

ndarray numbers(const sn::shape_t& extents, sn::dtype type, int factor) {
  std::int64_t n = 1;
  for (const std::int64_t extent : extents) n *= extent;
  ndarray x = sn::reshape(((sn::arange(n, {.dtype = sn::int64}) * factor) % 113).astype(type), extents);
  sn::eval(x);
  return x;
}

/// roll(x, by, axes) as it is read by what is recorded over it, or in memory.
using rolled = std::function<ndarray(const ndarray&, const std::vector<std::int64_t>&)>;

ndarray roll_all(const ndarray& x, const std::vector<std::int64_t>& by) {
  ndarray y = x;
  for (std::size_t a = 0; a < by.size(); ++a)
    if (by[a] != 0) y = sn::roll(y, by[a], static_cast<int>(a));
  return y;
}
ndarray roll_copied(const ndarray& x, const std::vector<std::int64_t>& by) {
  ndarray y = roll_all(x, by).copy();
  sn::eval(y);
  return y;
}

bool same(const ndarray& a, const ndarray& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() && sn::all(a == b).item<bool>();
}

}  // namespace

TEST_CASE("rolled fields: sums of rolls of every rank, extent and dtype are those of copies") {
  for (const cpu::tier t : {cpu::tier::interpreted, cpu::tier::compiled}) {
    const test::kernels_of now(t);
    for (const sn::dtype type : {sn::uint8, sn::int32, sn::float16, sn::float32, sn::float64, sn::complex64})
      for (const sn::shape_t& extents :
           {sn::shape_t{150, 140}, sn::shape_t{97, 129}, sn::shape_t{9, 1300}, sn::shape_t{140, 9},
            sn::shape_t{20, 30, 40}, sn::shape_t{6, 50, 140}, sn::shape_t{3, 4, 30, 70}, sn::shape_t{30000}}) {
        CAPTURE(std::string(sn::name(type)));
        CAPTURE(sn::to_string(extents));
        const ndarray x = numbers(extents, type, 7), y = numbers(extents, type, 31);
        const auto sum = [&](const rolled& by) {
          const std::size_t rank = extents.size();
          std::vector<std::int64_t> one(rank), two(rank);
          ndarray s = x + y;
          for (std::size_t a = 0; a < rank; ++a) {
            one.assign(rank, 0), two.assign(rank, 0);
            one[a] = 1, two[a] = -2;
            s = s + by(x, one) * y + by(y, two);
          }
          one.assign(rank, 3);
          return s - by(x, one);
        };
        CHECK(same(sum(roll_all), sum(roll_copied)));
      }
  }
}

TEST_CASE(
    "rolled fields: operands that lie otherwise, several results, and quotients by what a neighbour is zero for") {
  for (const cpu::tier t : {cpu::tier::interpreted, cpu::tier::compiled}) {
    const test::kernels_of now(t);
    const ndarray x = numbers({140, 150}, sn::float32, 7), wide = numbers({280, 450}, sn::float32, 5),
                  k = numbers({140, 150}, sn::int32, 11), mask = k % 2 == 0;
    sn::eval(mask);
    const auto all = [&](const rolled& by) -> std::vector<ndarray> {
      const ndarray some = wide(slice(_, _, 2), slice(_, _, 3)),
                    across = sn::reshape(wide, {450, 280})(slice(_, 150), slice(_, 140)).T();
      const ndarray backwards = x(_, slice(_, _, -1));
      std::vector<ndarray> r{by(x, {1, 1}) + some,
                             by(some, {1, -1}) * x,
                             by(across, {-1, 2}) - x,
                             by(backwards, {2, 1}) + x,
                             by(x, {1, 1}) + x(0),
                             by(x, {1, 1}) + x(_, slice(0, 1)),
                             by(k, {0, 1}) / by(k, {1, 0}),
                             by(k, {0, 1}) % (by(k, {-1, 0}) + 1),
                             sn::power(by(k, {0, 1}) % 4, by(k, {1, 0}) % 3),
                             sn::where(mask, by(x, {1, 0}) + by(x, {0, -1}), x),
                             by(mask, {1, 1}) & ~mask};
      const ndarray shared = by(x, {1, -1}) * 2.0f, more = shared + x, less = shared - x;
      sn::eval(more, less);
      r.insert(r.end(), {more, less});
      ndarray into = sn::zeros({160, 170}, {.dtype = sn::float32});
      into(slice(10, -10), slice(10, -10)) = by(x, {1, 1}) + by(x, {-1, -1});
      ndarray over = x.copy();
      over = sn::where(mask, by(over, {0, 1}) + by(over, {1, 0}), over);
      over = sn::where(mask, over, by(over, {0, 1}) + by(over, {1, 0}));
      r.insert(r.end(), {into, over});
      for (const ndarray& a : r) sn::eval(a);
      return r;
    };
    const std::vector<ndarray> fused = all(roll_all), copied = all(roll_copied);
    for (std::size_t i = 0; i < fused.size(); ++i) {
      CAPTURE(i);
      CHECK(sn::array_equal(fused[i], copied[i], true));
    }
  }
}

TEST_CASE("rolled fields: what is rolled along the rows of a field takes parts for its edges, not for each row") {
  const ndarray x = numbers({200, 140}, sn::float32, 7);
  if (x.device().kind != sn::device_kind::cpu) return;  // a GPU runs it whole
  const std::string text = sn::explain(sn::roll(x, 1, 0) + sn::roll(x, -1, 1) + sn::roll(x, 1, 1));
  CAPTURE(text);
  CHECK(text.find("lanes of axis 0") != std::string::npos);
}

namespace {

/// What launches that take the place of an operand run as.
struct seen {
  int over = 0, aside = 0;     // launches that write over an operand, and those of them whose edges are stored last
  std::size_t most_parts = 0;  // of the latter
  bool one_run = true;         // whether the first part of the latter is one run of lanes
};
seen* noted = nullptr;
void note_parts(const jit::launch& l) {
  bool over = false;
  for (const jit::operand& o : l.outputs)
    for (const jit::operand& in : l.inputs) over = over || in.base == o.base;
  if (!over) return;
  ++noted->over;
  const cpu::plain_parts parts = cpu::plain_parts_of(l);
  if (!parts.others_aside) return;
  ++noted->aside;
  noted->most_parts = std::max(noted->most_parts, parts.all.size());
  noted->one_run = noted->one_run && parts.all[0].extents.size() == 1;
}

/// Steps of a field that spreads and one that it feeds, which is written over.
std::vector<ndarray> fed(const sn::shape_t& extents, sn::dtype type, const rolled& by) {
  ndarray u = numbers(extents, type, 7), v = numbers(extents, type, 31);
  for (int step = 0; step < 5; ++step) {
    {
      ndarray near = u * 2;
      for (std::size_t a = 0; a < extents.size(); ++a) {
        std::vector<std::int64_t> one(extents.size());
        one[a] = 1;
        near = near + by(u, one);
        one[a] = -1;
        near = near - by(u, one);
      }
      const ndarray next = u + near - v;
      v = v - near * v * 3;
      u = next;
    }
    sn::eval(u, v);
  }
  return {u, v};
}

}  // namespace

TEST_CASE("rolled fields: a result that takes an operand's place keeps one run of lanes, and the bits of copies") {
  if (numbers({2}, sn::int32, 1).device().kind != sn::device_kind::cpu) return;
  for (const cpu::tier t : {cpu::tier::interpreted, cpu::tier::compiled}) {
    const test::kernels_of now(t);
    for (const sn::dtype type : {sn::uint8, sn::int32, sn::float16, sn::float64, sn::complex64})
      for (const sn::shape_t& extents :
           {sn::shape_t{1000, 400}, sn::shape_t{397, 513}, sn::shape_t{30, 70, 140}, sn::shape_t{300000}}) {
        CAPTURE(std::string(sn::name(type)));
        CAPTURE(sn::to_string(extents));
        seen all;
        noted = &all;
        const cpu::launch_observer before = cpu::set_launch_observer(note_parts);
        const std::vector<ndarray> fused = fed(extents, type, roll_all);
        cpu::set_launch_observer(before);
        const std::vector<ndarray> copied = fed(extents, type, roll_copied);
        for (const std::size_t k : {0u, 1u}) CHECK(sn::array_equal(fused[k], copied[k], true));
        CHECK(all.aside == all.over);
        CHECK(all.over >= 3);
        CHECK(all.one_run);
        CHECK(all.most_parts <= (extents.size() < 3 ? 5 : 11));
      }
  }
}

TEST_CASE("rolled fields: launches of one form, by other places, over each other and apart, have the bits of copies") {
  for (const cpu::tier t : {cpu::tier::interpreted, cpu::tier::compiled}) {
    const test::kernels_of now(t);
    const ndarray x = numbers({60, 70}, sn::float32, 7), y = numbers({60, 70}, sn::float32, 31);
    for (const bool again : {false, true})
      for (int by = -75; by <= 75; by += again ? 1 : 3) {
        CAPTURE(by);
        const auto f = [&](const ndarray& a, const ndarray& b, const rolled& of) {
          const ndarray r = of(a, {by, 0}) - of(b, {0, by}) * a;
          sn::eval(r);
          return r;
        };
        CHECK(same(f(x, y, roll_all), f(x, y, roll_copied)));
        CHECK(same(f(x, x, roll_all), f(x, x, roll_copied)));
        const ndarray top = y(slice(_, 30)), low = y(slice(30, _));
        CHECK(same(f(top, low, roll_all), f(top, low, roll_copied)));
        const ndarray s = sn::sum(sn::roll(x, by, 1) * y, 1), c = sn::sum(roll_copied(x, {0, by}) * y, 1);
        CHECK(same(s, c));
      }
  }
}
