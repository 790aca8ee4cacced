// The CUDA kernels that divide rows by rank, run thread by thread on the CPU, against a stable partition.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/partition.hpp"

namespace {

using emulated::partition_kernels;
using std::int64_t;
using integers = std::vector<int64_t>;

enum class pattern { bits, one_magnitude, few, equal, ascending, descending };

template <class U>
std::vector<U> make_keys(pattern p, int64_t count) {
  std::mt19937_64 random(static_cast<unsigned>(count));
  std::vector<U> keys(static_cast<std::size_t>(count));
  for (U& k : keys) {
    const auto x = static_cast<U>(random());
    k = p == pattern::one_magnitude ? static_cast<U>(x >> 6 | U{1} << (8 * sizeof(U) - 2))
        : p == pattern::few         ? static_cast<U>(x % 3 * 1000)
        : p == pattern::equal       ? static_cast<U>(~U{0})
                                    : x;
  }
  if (p == pattern::ascending) std::sort(keys.begin(), keys.end());
  if (p == pattern::descending) std::sort(keys.rbegin(), keys.rend());
  return keys;
}

/// The positions that the kernels write for one row.
template <class U>
integers expected(const U* keys, int64_t columns, int64_t rank, int64_t limit) {
  integers order(static_cast<std::size_t>(columns));
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto key = [&](int64_t i) { return keys[i]; };
  integers sorted = order;
  std::stable_sort(sorted.begin(), sorted.end(), [&](int64_t a, int64_t b) { return key(a) < key(b); });
  if (limit > 0) {
    sorted.resize(static_cast<std::size_t>(limit));
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }
  const U at = key(sorted[static_cast<std::size_t>(rank)]);
  const auto middle = std::stable_partition(order.begin(), order.end(), [&](int64_t i) { return key(i) < at; });
  std::stable_partition(middle, order.end(), [&](int64_t i) { return key(i) == at; });
  return order;
}

void launch(int64_t blocks, const std::function<void()>& kernel) {
  CHECK(cuda_emulator::launch({static_cast<unsigned>(blocks)}, {emulated::partition_threads}, kernel) == std::string());
}

template <class U>
struct result {
  std::vector<U> elements;
  integers positions;
  explicit result(int64_t n) : elements(static_cast<std::size_t>(n) + 1, U{77}), positions(elements.size(), -77) {}
};

template <class U>
result<U> held(const partition_kernels<U>& k, const std::vector<U>& keys, int64_t rows, int64_t columns, int64_t rank,
               int64_t limit) {
  result<U> r(rows * (limit > 0 ? limit : columns));
  launch(rows, [&] { k.divide_rows(keys.data(), columns, rank, limit, r.elements.data(), r.positions.data()); });
  return r;
}

template <class U>
result<U> by_tiles(const partition_kernels<U>& k, const std::vector<U>& keys, int64_t rows, int64_t columns,
                   int64_t rank, int64_t limit) {
  const int64_t tiles = (columns + k.tile - 1) / k.tile, blocks_of_row = 3;
  std::vector<std::uint64_t> searches(static_cast<std::size_t>(3 * rows));
  std::vector<unsigned long long> counts(static_cast<std::size_t>(rows) * emulated::partition_digits);
  integers ends(static_cast<std::size_t>(2 * rows * tiles));
  launch(1, [&] { k.start(searches.data(), rows, rank); });
  for (int top = 8 * static_cast<int>(sizeof(U)); top > 0;) {
    const int bits = std::min(top, emulated::partition_digit_bits), shift = top -= bits;
    launch(rows * blocks_of_row,
           [&] { k.count_digits(keys.data(), columns, blocks_of_row, shift, bits, searches.data(), counts.data()); });
    launch(rows, [&] { k.choose_digit(shift, bits, counts.data(), searches.data()); });
  }
  CHECK(std::count(counts.begin(), counts.end(), 0ull) == static_cast<std::ptrdiff_t>(counts.size()));
  launch(rows * tiles, [&] { k.count_tiles(keys.data(), columns, rows, tiles, searches.data(), ends.data()); });
  for (int64_t r = 0; r < 2 * rows; ++r)
    std::partial_sum(ends.begin() + r * tiles, ends.begin() + (r + 1) * tiles, ends.begin() + r * tiles);
  result<U> r(rows * (limit > 0 ? limit : columns));
  launch(rows * tiles, [&] {
    k.write_tiles(keys.data(), columns, rank, limit, rows, tiles, searches.data(), ends.data(), r.elements.data(),
                  r.positions.data());
  });
  return r;
}

template <class U>
void check(const partition_kernels<U>& k, pattern p, int64_t rows, int64_t columns, int64_t rank, bool first_only) {
  const auto keys = make_keys<U>(p, rows * columns);
  const int64_t limit = first_only ? rank + 1 : 0, length = first_only ? limit : columns;
  CAPTURE(static_cast<int>(p));
  CAPTURE(columns);
  CAPTURE(rank);
  CAPTURE(first_only);
  integers wanted;
  for (int64_t r = 0; r < rows; ++r) {
    const auto row = expected(keys.data() + r * columns, columns, rank, limit);
    wanted.insert(wanted.end(), row.begin(), row.end());
  }
  const auto check_result = [&](const result<U>& got) {
    CHECK(got.positions.back() == -77);
    CHECK(got.elements.back() == U{77});
    CHECK(integers(got.positions.begin(), got.positions.end() - 1) == wanted);
    bool same = true;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      same = same &&
             got.elements[i] == keys[static_cast<std::size_t>(static_cast<int64_t>(i) / length * columns + wanted[i])];
    CHECK(same);
  };
  if (columns <= k.longest_held) check_result(held(k, keys, rows, columns, rank, limit));
  check_result(by_tiles(k, keys, rows, columns, rank, limit));
}

template <class U>
void check_all(const partition_kernels<U>& k) {
  unsigned number = 0;
  for (const pattern p :
       {pattern::bits, pattern::one_magnitude, pattern::few, pattern::equal, pattern::ascending, pattern::descending})
    for (const int64_t columns : {int64_t{1}, int64_t{33}, int64_t{511}, int64_t{513}, int64_t{4096}, int64_t{9001}}) {
      const int64_t ranks[] = {0, columns - 1, columns / 2, std::min<int64_t>(63, columns - 1)};
      for (const bool first_only : {false, true})
        check(k, p, columns > 600 ? 1 : 3, columns, ranks[++number % 4], first_only);
    }
  check(k, pattern::one_magnitude, 1, k.longest_held, 63, true);
  check(k, pattern::bits, 1, k.longest_held, k.longest_held / 2, false);
}

}  // namespace

TEST_CASE("emulated kernels: rows are divided by rank, held by a block and by tiles") {
  if (!cuda_emulator::available()) {
    MESSAGE("left out: the sanitizer does not follow changes of stack");
    return;
  }
  check_all(emulated::partition_of_words);
  check_all(emulated::partition_of_long_words);
}
