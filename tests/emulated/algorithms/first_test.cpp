// The CUDA kernels that find the first elements of rows and order random keys, run thread by thread on the CPU, against
// stable sorts.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/first.hpp"

namespace {

using std::int64_t;
using integers = std::vector<int64_t>;

enum class pattern { bits, one_magnitude, few, equal, ascending, descending, outliers };

template <class U>
std::vector<U> make_keys(pattern p, int64_t count) {
  std::mt19937_64 random(static_cast<unsigned>(count));
  std::vector<U> keys(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto x = static_cast<U>(random());
    keys[i] = p == pattern::one_magnitude ? static_cast<U>(x >> 6 | U{1} << (8 * sizeof(U) - 2))
              : p == pattern::few         ? static_cast<U>(x % 3 * 1000)
              : p == pattern::equal       ? static_cast<U>(~U{0})
              // All small keys belong to few threads, so that the threads' least keys bound nothing.
              : p == pattern::outliers ? static_cast<U>(i % emulated::first_block < 7 ? x % 100000 : ~x | U{1} << 31)
                                       : x;
  }
  if (p == pattern::ascending) std::sort(keys.begin(), keys.end());
  if (p == pattern::descending) std::sort(keys.rbegin(), keys.rend());
  return keys;
}

integers sorted_positions(const auto* keys, int64_t count) {
  integers order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return keys[a] < keys[b]; });
  return order;
}

void launch(int64_t blocks, const std::function<void()>& kernel) {
  CHECK(cuda_emulator::launch({static_cast<unsigned>(blocks)}, {emulated::first_block}, kernel) == std::string());
}

template <class U>
void check(const emulated::first_kernels<U>& kernels, pattern p, int64_t rows, int64_t columns, int64_t parts, int k) {
  CAPTURE(static_cast<int>(p));
  CAPTURE(columns);
  CAPTURE(parts);
  CAPTURE(k);
  const auto keys = make_keys<U>(p, rows * columns);
  integers got(static_cast<std::size_t>(rows * parts * k) + 1, -77), expected;
  launch(rows * parts, [&] { kernels.first_of_parts(keys.data(), columns, parts, k, got.data()); });
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t part = 0, begin = 0; part < parts; ++part) {
      const int64_t length = columns / parts + (part < columns % parts);
      auto order = sorted_positions(keys.data() + row * columns + begin, length);
      for (int i = 0; i < k; ++i) expected.push_back(begin + order[static_cast<std::size_t>(i)]);
      begin += length;
    }
  expected.push_back(-77);
  CHECK(got == expected);
}

template <class U>
void check_all(const emulated::first_kernels<U>& kernels) {
  constexpr int64_t most = emulated::first_block * emulated::first_held;
  for (const pattern p : {pattern::bits, pattern::one_magnitude, pattern::few, pattern::equal, pattern::ascending,
                          pattern::descending, pattern::outliers}) {
    check(kernels, p, 2, most, 1, 64);
    check(kernels, p, 1, 1025, 1, 256);
    check(kernels, p, 1, most - 3, 1, 1);
    check(kernels, p, 1, 2 * most - 5, 2, 100);
    check(kernels, p, 1, most, 1, 1024);
    check(kernels, p, 1, 5, 1, 5);
  }
  check(kernels, pattern::bits, 1, most, 1, 257);
  check(kernels, pattern::few, 1, most, 1, 300);
}

}  // namespace

TEST_CASE("emulated kernels: the first elements of parts of rows, in order") {
  if (!cuda_emulator::available()) {
    MESSAGE("left out: the sanitizer does not follow changes of stack");
    return;
  }
  check_all(emulated::first_of_words);
  check_all(emulated::first_of_long_words);
}

TEST_CASE("emulated kernels: random keys that were sorted by a few bits come into order") {
  if (!cuda_emulator::available()) {
    MESSAGE("left out: the sanitizer does not follow changes of stack");
    return;
  }
  std::mt19937_64 random(5);
  for (const std::uint64_t mask : {~std::uint64_t{0}, std::uint64_t{0xff0000ff00000003}, std::uint64_t{3}})
    for (const int shift : {0, 8, 24}) {
      const int64_t n = 1500;
      std::vector<std::uint64_t> keys(static_cast<std::size_t>(n));
      for (auto& k : keys) k = random() & mask;
      std::vector<unsigned> upper(keys.size()), positions(keys.size());
      launch(1, [&] { emulated::random_order.split(keys.data(), upper.data(), positions.data(), n); });
      std::stable_sort(positions.begin(), positions.end(),
                       [&](unsigned a, unsigned b) { return upper[a] >> shift < upper[b] >> shift; });
      std::vector<unsigned> sorted(upper.size());
      for (std::size_t k = 0; k < sorted.size(); ++k) sorted[k] = upper[positions[k]];
      integers result(keys.size(), -1);
      launch(2, [&] {
        emulated::random_order.order_neighbours(sorted.data(), positions.data(), keys.data(), result.data(), n, shift);
      });
      CHECK(result == sorted_positions(keys.data(), n));
    }
}
