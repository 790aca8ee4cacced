// First elements of rows, and orders of random keys, on the GPU against a stable sort.
#ifdef SINTER_HAS_CUDA

#include "gpu/algorithms/algorithms.hpp"

using namespace algorithms_test;

namespace {

void check_first(runtime::backend& b, dtype t, pattern p, int64_t rows, int64_t columns, int64_t k, bool down) {
  runtime::algorithms& a = b.algorithms();
  const runtime::row_layout layout{t, rows, columns};
  const std::string type(sinter::name(t)), what(name_of(p));
  CAPTURE(type);
  CAPTURE(what);
  CAPTURE(rows);
  CAPTURE(columns);
  CAPTURE(k);
  CAPTURE(down);
  const size_t item = sinter::itemsize(t);
  const bytes data = make_elements(t, p, rows * columns, static_cast<unsigned>(columns + k));
  std::vector<int64_t> expected, order(static_cast<size_t>(columns));
  for (int64_t r = 0; r < rows; ++r) {
    stable_sort_positions(t, down, data.data() + static_cast<size_t>(r * columns) * item, order);
    std::vector<int64_t> first(order.begin(), order.begin() + k);
    if (!a.orders_first(layout, k)) std::sort(first.begin(), first.end());
    expected.insert(expected.end(), first.begin(), first.end());
  }
  const device_array keys(b, data), result(b, expected.size() * 8);
  const device_array scratch(b, a.select_first_scratch(layout, k));
  a.select_first(layout, down, k, keys.data(), result.as<int64_t>(), scratch.data());
  CHECK(result.to_host_as<int64_t>() == expected);
}

}  // namespace

TEST_CASE("gpu: the first elements of rows of each dtype and pattern, few and many, held by a block and by several") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  unsigned number = 0;
  for (dtype t : all_dtypes())
    for (pattern p : all_patterns)
      for (int64_t columns : {int64_t{1025}, int64_t{4096}, int64_t{4097}, int64_t{16384}, int64_t{50001}}) {
        if (!b->algorithms().can_partition({t, 1, columns})) continue;
        const int64_t ks[] = {1, 64, 256, 257, 1000, 1025, columns / 4};
        for (bool down : {false, true})
          check_first(*b, t, p, 3, columns, std::min(ks[++number % 7], columns / 4), down);
      }
  // Several steps: the parts' first elements are again more than a block holds.
  check_first(*b, dtype::f32, pattern::bits, 1, (int64_t{1} << 20) + 3, 1000, true);
  check_first(*b, dtype::f64, pattern::specials, 2, (int64_t{1} << 19) + 1, 700, false);
}

TEST_CASE("gpu: orders of random keys are those that sorting gives") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  runtime::algorithms& a = b->algorithms();
  for (int64_t n : {int64_t{1}, int64_t{100}, int64_t{4097}, int64_t{70000}, int64_t{300001}, (int64_t{1} << 24) + 5})
    for (const std::uint64_t mask : {~std::uint64_t{0}, std::uint64_t{0xffffff00ff000003}}) {
      CAPTURE(n);
      CAPTURE(mask);
      std::vector<std::uint64_t> keys(static_cast<size_t>(n));
      std::mt19937_64 random(static_cast<unsigned>(n));
      for (auto& k : keys) k = random() & mask;
      const device_array from(*b, keys.data(), keys.size() * 8), result(*b, keys.size() * 8),
          sorted(*b, keys.size() * 8);
      const device_array scratch(*b, std::max(a.random_order_scratch(n), a.argsort_scratch({dtype::u64, 1, n})));
      a.random_order(n, from.as<std::uint64_t>(), result.as<int64_t>(), scratch.data());
      a.argsort({dtype::u64, 1, n}, false, from.data(), sorted.as<int64_t>(), scratch.data());
      CHECK(result.to_host() == sorted.to_host());
    }
}

#endif
