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

/// The elements, and of each row how many keys have been packed, and whether in brackets.
template <class U>
struct found {
  std::vector<U> elements;
  std::vector<int64_t> packed;
  std::vector<bool> in_brackets;
};

template <class U>
found<U> by_parts(const rank_kernels<U>& k, const std::vector<U>& keys, const rank_request& r, bool brackets,
                  int64_t blocks_of_row = 3) {
  const std::size_t counts_of_row = r.ranks.size() << r.digit_bits, rows = static_cast<std::size_t>(r.rows);
  std::vector<char> searches(k.search_bytes * rows), bounds(k.bracket_bytes * rows);
  std::vector<unsigned long long> counts(counts_of_row * rows);
  constexpr U unused = 77;
  std::vector<U> packed(static_cast<std::size_t>(r.rows * r.capacity) + 1, unused);
  found<U> out{std::vector<U>(rows * r.ranks.size()), {}, std::vector<bool>(rows)};
  launch(1, [&] { k.start(searches.data(), r); });
  if (brackets) {
    bool bracketed = false;
    launch(r.rows, [&] {
      if (k.find_brackets(keys.data(), r, 8 * static_cast<int>(sizeof(U)), bounds.data())) bracketed = true;
    });
    CHECK(bracketed);
    launch(r.rows * blocks_of_row,
           [&] { k.count_brackets(keys.data(), r, blocks_of_row, searches.data(), bounds.data(), packed.data()); });
    launch(1, [&] { k.conclude(searches.data(), bounds.data(), r); });
    for (std::size_t row = 0; row < rows; ++row)
      out.in_brackets[row] = k.is_packed(searches.data(), static_cast<int64_t>(row));
  }
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
  CAPTURE(r.digit_bits);
  if (r.columns <= k.longest_held) CHECK(held(k, keys, r) == wanted);
  for (const int64_t capacity : {int64_t{0}, r.columns / 4, r.columns}) {
    r.capacity = capacity;
    CAPTURE(capacity);
    const auto got = by_parts(k, keys, r, false);
    CHECK(got.elements == wanted);
    for (const int64_t n : got.packed) CHECK(n <= capacity);
    // Random keys of one rank are few after one digit, whose pass all but the narrowest follow.
    if (p == pattern::bits && r.ranks.size() == 1 && capacity > 0 && r.columns > 2000)
      for (const int64_t n : got.packed) CHECK((n > 0 && n < r.columns / 16));
    if (p == pattern::equal && capacity < r.columns)
      for (const int64_t n : got.packed) CHECK(n == 0);
  }
}

/// Rows that are read once first: the ranks are found in brackets exactly where `in_brackets`.
template <class U>
void check_brackets(const rank_kernels<U>& k, const std::vector<U>& keys, rank_request r, bool in_brackets) {
  CAPTURE(r.columns);
  CAPTURE(r.ranks);
  const auto got = by_parts(k, keys, r, true);
  CHECK(got.elements == expected(keys, r));
  for (const bool b : got.in_brackets) CHECK(b == in_brackets);
}

/// Columns that are sampled: ranks near each other, at the ends, and at the edges of runs of equal keys.
template <class U>
void check_all_brackets(const rank_kernels<U>& k) {
  const int64_t n = 20011;
  const std::vector<int64_t> middle{n / 2 - 1, n / 2, n - 1}, ends{0, 1, n / 2, n - 2, n - 1},
      four{n / 100, n / 100 + 1, n / 4, n / 2, n - 1};
  for (const pattern p :
       {pattern::bits, pattern::one_magnitude, pattern::few, pattern::equal, pattern::ascending, pattern::low_bits}) {
    CAPTURE(static_cast<int>(p));
    const auto keys = make_keys<U>(p, 2, n);
    for (const auto& ranks : {middle, ends, four}) check_brackets(k, keys, {2, n, ranks, 8, n / 4}, true);
    check_brackets(k, keys, {2, n, middle, 11, 0}, p == pattern::equal || p == pattern::few);  // no room
  }
  auto keys = make_keys<U>(pattern::few, 1, n);  // each a third
  std::sort(keys.begin(), keys.end());
  const auto second = std::upper_bound(keys.begin(), keys.end(), keys[0]) - keys.begin();
  check_brackets(k, keys, {1, n, {second - 1, second, n - 1}, 8, n / 4}, true);
  for (int64_t i = 0; i < n; ++i) keys[static_cast<std::size_t>(i)] = static_cast<U>(i < second ? 5 : 6 + i);
  check_brackets(k, keys, {1, n, {second - 2, second - 1, second, second + 1}, 8, n / 4}, true);
}

template <class U>
void check_all(const rank_kernels<U>& k) {
  // Warps pack more keys than they hold.
  const rank_request all{1, 20011, {10005}, 8, 20011};
  const auto low = make_keys<U>(pattern::low_bits, 1, all.columns);
  const auto packed = by_parts(k, low, all, false, 1);
  CHECK(packed.elements == expected(low, all));
  CHECK(packed.packed[0] == all.columns);
  int digit_bits = 8;
  for (const pattern p : {pattern::bits, pattern::one_magnitude, pattern::few, pattern::equal, pattern::ascending,
                          pattern::descending, pattern::low_bits}) {
    if (sizeof(U) == 8 && p != pattern::bits && p != pattern::few && p != pattern::low_bits) continue;
    for (const int64_t n : {int64_t{1}, int64_t{33}, int64_t{513}}) check(k, p, {3, n, {0, n / 2, n - 1}, digit_bits});
    digit_bits = 19 - digit_bits;
    check(k, p, {1, 4097, {2048}, digit_bits});
    const int64_t n = 5001;
    check(k, p, {1, n, {n / 2 - 1, n / 2, n - 1}, 19 - digit_bits});
    check(k, p, {1, n, {0, 1, n / 10, n / 10 + 1, n / 2, n - 3, n - 2, n - 1}, digit_bits});
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

TEST_CASE("emulated kernels: the elements of a few ranks, between two keys of a sample") {
  if (!cuda_emulator::available()) {
    MESSAGE("left out: the sanitizer does not follow changes of stack");
    return;
  }
  check_all_brackets(emulated::ranks_of_words);
  check_all_brackets(emulated::ranks_of_long_words);
  // A sample that misleads: where it lies, all keys are the least.
  const int64_t n = 4096 * 5;
  auto keys = make_keys<std::uint32_t>(pattern::bits, 1, n);
  for (std::uint32_t i = 0; i < 4096; ++i)
    keys[i * 5 + static_cast<std::size_t>(std::uint64_t{i * 2654435769u} * 5 >> 32)] = 0;
  check_brackets(emulated::ranks_of_words, keys, {1, n, {n / 2, n - 1}, 8, n / 4}, false);
  // Ranks all over the row have no brackets.
  CHECK(!emulated::ranks_of_words.find_brackets(
      keys.data(), {1, n, {n / 10, n / 5, n / 3, n / 2, 2 * n / 3, 3 * n / 4, n - 1}, 8, n / 4}, 32, nullptr));
}
