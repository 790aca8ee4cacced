// Components of records that are taken apart and put together in one pass, beside copies of the same elements.
#include "backends/cpu/kernels/hooks.hpp"  // clang takes namespace sinter::cpu only before the device of that name
#include "backends/cpu/kernels/block_plan.hpp"
#include "backends/cpu/strides/strided_loops.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "backends/cpu/scattered.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;
using test::host;
using test::same;

namespace {

/// n records to lanes and back, of components that are all wanted but those of a mask. The memory ends with the last component
/// that is read.
template <class T>
int wrong_records(int components, unsigned wanted, int n) {
  int last = 0;
  for (int c = 0; c < components; ++c)
    if (wanted >> c & 1) last = c;
  const auto records = static_cast<std::size_t>(components);
  std::vector<T> memory(static_cast<std::size_t>(n - 1) * records + static_cast<std::size_t>(last) + 1);
  for (std::size_t k = 0; k < memory.size(); ++k) memory[k] = static_cast<T>(k * 37 + 11);
  std::vector<std::vector<T>> lanes(records, std::vector<T>(static_cast<std::size_t>(n) + 1, T(77)));
  void* to[4] = {};
  for (std::size_t c = 0; c < records; ++c) to[c] = wanted >> c & 1 ? lanes[c].data() : nullptr;
  const cpu::strided_loops& loops = cpu::loops_over_strides();
  loops.take_apart[sizeof(T) / 8](to, memory.data(), components, n);
  int wrong = 0;
  for (std::size_t c = 0; c < records; ++c)
    for (std::size_t l = 0; l <= static_cast<std::size_t>(n); ++l)
      wrong += lanes[c][l] != (to[c] && l < static_cast<std::size_t>(n) ? memory[l * records + c] : T(77));
  if (wanted + 1 != 1u << components) return wrong;
  std::vector<T> back(memory.size() + 1, T(78));
  const void* from[4] = {};
  for (std::size_t c = 0; c < records; ++c) from[c] = lanes[c].data();
  loops.put_together[sizeof(T) / 8](back.data(), from, components, n);
  memory.push_back(T(78));
  return wrong + (back != memory);
}

ndarray points(std::int64_t n, std::int64_t components, dtype type) {
  ndarray x = (arange(n * components, {.device = device("cpu")}) * 37 % 101 - 50).astype(type).reshape({n, components});
  eval(x);
  return x;
}

}  // namespace

TEST_CASE("records: components to lanes and back, of every number and all tails") {
  int wrong = 0;
  for (const int components : {2, 3, 4})
    for (unsigned wanted = 1; wanted < 1u << components; wanted += 2)
      for (int n = 1; n <= 70; ++n)
        wrong +=
            wrong_records<std::uint32_t>(components, wanted, n) + wrong_records<std::uint64_t>(components, wanted, n);
  CHECK(wrong == 0);
}

TEST_CASE("records: functions of components, read and written, have the bits of columns that are copies") {
  const device_guard on(device("cpu"));
  for (const dtype type : {float32, float64, int32, complex64, int16})
    for (const std::int64_t n : {1, 15, 17, 256, 300, 5000})
      for (const std::int64_t components : {2, 3, 4, 5}) {
        const ndarray p = points(n, components, type);
        const auto column = [&](std::int64_t k) { return p(_, k); };
        const auto copied = [&](std::int64_t k) {
          ndarray x = p(_, k).copy();
          eval(x);
          return x;
        };
        const std::int64_t last = components - 1;
        CHECK(same(column(0) * column(last) - column(1), copied(0) * copied(last) - copied(1)));
        CHECK(same(column(last) + column(1), copied(last) + copied(1)));  // not the first component
        std::vector<ndarray> apart, together;
        for (std::int64_t k = 0; k < components; ++k) {
          apart.push_back(column(k) * column(last - k) + 1);
          ndarray x = copied(k) * copied(last - k) + 1;
          eval(x);
          together.push_back(x);
        }
        CHECK(same(stack(apart, -1), stack(together, 0).T()));
        const ndarray back = p(slice(_, _, -1));
        CHECK(same(back(_, 0) + back(_, 1), (column(0) + column(1))(slice(_, _, -1))));
      }
}

TEST_CASE("records: outputs are put together only where a launch writes each component, and those alone") {
  std::vector<float> memory(300);
  const auto groups = [&](const std::vector<std::int64_t>& components, int stride) {
    jit::program code;
    jit::launch l;
    l.code = &code;
    l.extents = {50};
    std::vector<cpu::output_plan> plans;
    for (const std::int64_t c : components) {
      code.outputs.push_back({float32, 0, 0});
      jit::operand o;
      o.base = memory.data();
      o.offset = c;
      o.strides = {stride};
      l.outputs.push_back(o);
    }
    const cpu::walk_axes axes{{}, {0}};
    for (std::size_t k = 0; k < components.size(); ++k) plans.emplace_back(l, k, axes);
    return cpu::output_records(l, plans).size();
  };
  CHECK(groups({0, 1, 2}, 3) == 1);
  CHECK(groups({1, 0}, 2) == 1);
  CHECK(groups({3, 4, 5}, 3) == 1);    // from another record on
  CHECK(groups({0, 1}, 3) == 0);       // the third one is somebody's
  CHECK(groups({0, 1, 0}, 2) == 0);    // written twice: in the order of the outputs
  CHECK(groups({0, 1, 100}, 2) == 0);  // written elsewhere as well
  CHECK(groups({0, 1, 2, 3, 4}, 5) == 0);
}

TEST_CASE("records: components are exchanged where they are, and some of them written alone") {
  const device_guard on(device("cpu"));
  for (const std::int64_t n : {17, 3000}) {
    ndarray p = points(n, 3, float32);
    const ndarray before = p.copy();
    eval(before);
    const ndarray x = p(_, 0) + 0, y = p(_, 1) + 0, z = p(_, 2) + 0;
    p(_, 0) = z;
    p(_, 1) = x;
    p(_, 2) = y;
    CHECK(same(p, stack({before(_, 2), before(_, 0), before(_, 1)}, -1)));
    p(_, 1) = p(_, 0) * p(_, 2);
    CHECK(same(p(_, 1), before(_, 2) * before(_, 1)));
    CHECK(same(p(_, 0), before(_, 2)));
    // Written twice: the later one stays.
    ndarray q = zeros({n, 2}, {.dtype = float32});
    q(_, 0) = x, q(_, 1) = y, q(_, 0) = z;
    CHECK(same(q, stack({before(_, 2), before(_, 1)}, -1)));
  }
}
