// The CUDA kernels that find the elements of a few ranks, run thread by thread on the CPU, against sorted rows.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/ranks.hpp"

namespace {

using emulated::rank_kernels;
using emulated::rank_request;
using std::int64_t;

enum class pattern { bits, one_magnitude, few, equal, ascending, descending, low_bits };

template <class U>
std::vector<U> make_keys(pattern p, int64_t rows, int64_t columns) {
  std::mt19937_64 random(static_cast<unsigned>(columns));
  std::vector<U> keys(static_cast<std::size_t>(rows * columns));
  for (U& k : keys) {
    const auto x = static_cast<U>(random());
    k = p == pattern::one_magnitude ? static_cast<U>(x >> 6 | U{1} << (8 * sizeof(U) - 2))
        : p == pattern::few         ? static_cast<U>(x % 3 * 1000)
        : p == pattern::equal       ? static_cast<U>(~U{0})
        : p == pattern::low_bits    ? static_cast<U>(x % 1000)
                                    : x;
  }
  for (int64_t r = 0; r < rows; ++r) {
    const auto begin = keys.begin() + r * columns, end = begin + columns;
    if (p == pattern::ascending) std::sort(begin, end);
    if (p == pattern::descending) std::sort(begin, end, std::greater<>());
  }
  return keys;
}

void launch(int64_t blocks, const std::function<void()>& kernel) {
  CHECK(cuda_emulator::launch({static_cast<unsigned>(blocks)}, {emulated::rank_threads}, kernel) == std::string());
}

template <class U>
std::vector<U> expected(std::vector<U> keys, const rank_request& r) {
  std::vector<U> out;
  for (int64_t row = 0; row < r.rows; ++row) {
    std::sort(keys.begin() + row * r.columns, keys.begin() + (row + 1) * r.columns);
    for (const int64_t k : r.ranks) out.push_back(keys[static_cast<std::size_t>(row * r.columns + k)]);
  }
  return out;
}

template <class U>
std::vector<U> held(const rank_kernels<U>& k, const std::vector<U>& keys, const rank_request& r) {
  std::vector<U> out(static_cast<std::size_t>(r.rows) * r.ranks.size());
  launch(r.rows, [&] { k.find_held(keys.data(), r, 8 * static_cast<int>(sizeof(U)), out.data()); });
  return out;
}

/// The elements, and of each row how many keys have been packed.
template <class U>
struct found {
  std::vector<U> elements;
  std::vector<int64_t> packed;
};

template <class U>
found<U> by_parts(const rank_kernels<U>& k, const std::vector<U>& keys, const rank_request& r) {
  const int64_t blocks_of_row = 3;
  const std::size_t counts_of_row = r.ranks.size() << r.digit_bits;
  std::vector<char> searches(k.search_bytes * static_cast<std::size_t>(r.rows));
  std::vector<unsigned long long> counts(counts_of_row * static_cast<std::size_t>(r.rows));
  constexpr U unused = 77;
  std::vector<U> packed(static_cast<std::size_t>(r.rows * r.capacity) + 1, unused);
  found<U> out{std::vector<U>(static_cast<std::size_t>(r.rows) * r.ranks.size()), {}};
  launch(1, [&] { k.start(searches.data(), r); });
  for (int top = 8 * static_cast<int>(sizeof(U)); top > 0;) {
    const int bits = std::min(top, r.digit_bits), shift = top -= bits;
    launch(r.rows * blocks_of_row,
           [&] { k.count(keys.data(), r, blocks_of_row, shift, bits, searches.data(), packed.data(), counts.data()); });
    launch(r.rows, [&] { k.choose(r, shift, bits, counts.data(), searches.data(), out.elements.data()); });
  }
  CHECK(std::count(counts.begin(), counts.end(), 0ull) == static_cast<std::ptrdiff_t>(counts.size()));
  CHECK(packed.back() == unused);
  for (int64_t row = 0; row < r.rows; ++row) out.packed.push_back(k.packed(searches.data(), row));
  return out;
}

template <class U>
void check(const rank_kernels<U>& k, pattern p, rank_request r) {
  std::sort(r.ranks.begin(), r.ranks.end());
  r.ranks.erase(std::unique(r.ranks.begin(), r.ranks.end()), r.ranks.end());
  const auto keys = make_keys<U>(p, r.rows, r.columns);
  const auto wanted = expected(keys, r);
  CAPTURE(static_cast<int>(p));
  CAPTURE(r.columns);
  CAPTURE(r.ranks.size());
  for (const int bits : {8, 11}) {
    r.digit_bits = bits;
    CAPTURE(bits);
    if (r.columns <= k.longest_held) CHECK(held(k, keys, r) == wanted);
    for (const int64_t capacity : {int64_t{0}, r.columns / 4, r.columns}) {
      r.capacity = capacity;
      CAPTURE(capacity);
      const auto got = by_parts(k, keys, r);
      CHECK(got.elements == wanted);
      for (const int64_t n : got.packed) CHECK(n <= capacity);
      // Random keys of one rank are few after one digit, whose pass all but the narrowest follow.
      if (p == pattern::bits && r.ranks.size() == 1 && capacity > 0 && r.columns > 2000)
        for (const int64_t n : got.packed) CHECK((n > 0 && n < r.columns / 16));
      if (p == pattern::equal && capacity < r.columns)
        for (const int64_t n : got.packed) CHECK(n == 0);
    }
  }
}

template <class U>
void check_all(const rank_kernels<U>& k) {
  for (const pattern p : {pattern::bits, pattern::one_magnitude, pattern::few, pattern::equal, pattern::ascending,
                          pattern::descending, pattern::low_bits}) {
    for (const int64_t n : {int64_t{1}, int64_t{33}, int64_t{513}}) check(k, p, {3, n, {0, n / 2, n - 1}, 8});
    check(k, p, {1, 4097, {2048}, 8});
    const int64_t n = 9001;
    check(k, p, {1, n, {n / 2 - 1, n / 2, n - 1}, 8});
    check(k, p, {1, n, {0, 1, n / 10, n / 10 + 1, n / 2, n - 3, n - 2, n - 1}, 8});
  }
}

}  // namespace

TEST_CASE("emulated kernels: the elements of a few ranks, of rows that a block holds and of longer ones") {
  if (!cuda_emulator::available()) {
    MESSAGE("left out: the sanitizer does not follow changes of stack");
    return;
  }
  check_all(emulated::ranks_of_words);
  check_all(emulated::ranks_of_long_words);
}
