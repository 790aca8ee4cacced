// The sorting network: every instruction set, every count around its vectors, and rows that it must leave to others.
#include "backends/cpu/algorithms/sort_network.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "sinter/sinter.hpp"

using namespace sinter;

namespace {

std::uint64_t draw(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state ^ state >> 29;
}

/// Keys of all magnitudes and of few values, with both extremes.
template <class Key>
std::vector<Key> keys_of(int n, int kind) {
  std::vector<Key> v(static_cast<std::size_t>(n));
  std::uint64_t state = static_cast<std::uint64_t>(17 * n + kind);
  for (auto& k : v) {
    const std::uint64_t x = draw(state);
    k = static_cast<Key>(kind == 0 ? x : kind == 1 ? x % 3 : x % 2 ? ~(~Key(0) << 1) : x);
    if (x % 11 == 0) k = x % 2 ? std::numeric_limits<Key>::max() : std::numeric_limits<Key>::min();
  }
  return v;
}

template <class Key, class Sort>
void check_network(const Sort& sort) {
  for (int n = cpu::network_lanes<Key>; n <= cpu::most_network_keys; n *= 2)
    for (int kind = 0; kind < 3; ++kind) {
      CAPTURE(n);
      CAPTURE(kind);
      auto expected = keys_of<Key>(n, kind);
      alignas(64) Key keys[cpu::most_network_keys];
      std::copy(expected.begin(), expected.end(), keys);
      std::sort(expected.begin(), expected.end());
      sort(keys, n);
      CHECK(std::equal(expected.begin(), expected.end(), keys));
    }
}

template <class T>
void check_rows(bool descending) {
  for (const std::int64_t n :
       {17, 31, 32, 33, 63, 64, 65, 100, 255, 256, 257, 1000, 1023, 1024, 1025, 2049, 4095, 4096}) {
    std::vector<T> v(static_cast<std::size_t>(n));
    std::uint64_t state = static_cast<std::uint64_t>(n);
    for (auto& x : v)
      x = static_cast<T>(static_cast<double>(draw(state) % 2001) - (std::is_signed_v<T> ? 1000 : 0)) /
          static_cast<T>(3);
    v[3] = std::numeric_limits<T>::lowest();
    v[5] = std::numeric_limits<T>::max();
    auto expected = v;
    std::sort(expected.begin(), expected.end());
    if (descending) std::reverse(expected.begin(), expected.end());
    for (auto& x : v)
      if (x == T(0)) x = T(0);  // -0 is refused
    REQUIRE(cpu::sort_row_by_network(v.data(), n, descending, std::is_signed_v<T>));
    CHECK(v == expected);
  }
}

}  // namespace

TEST_CASE("sort network: keys, for every instruction set") {
  using wide = long long;
  const auto narrow = [](auto sort) { check_network<std::int32_t>([=](std::int32_t* keys, int n) { sort(keys, n); }); };
  const auto broad = [](auto sort) {
    check_network<std::int64_t>([=](std::int64_t* keys, int n) { sort(reinterpret_cast<wide*>(keys), n); });
  };
  narrow(cpu::baseline::sort_network_32);
  broad(cpu::baseline::sort_network_64);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) narrow(cpu::avx2::sort_network_32), broad(cpu::avx2::sort_network_64);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    narrow(cpu::avx512::sort_network_32), broad(cpu::avx512::sort_network_64);
#endif
}

TEST_CASE("sort network: rows of every length, and those whose bits are not their order") {
  for (const bool descending : {false, true}) {
    check_rows<float>(descending);
    check_rows<double>(descending);
    check_rows<std::int32_t>(descending);
    check_rows<std::uint32_t>(descending);
    check_rows<std::int64_t>(descending);
    check_rows<std::uint64_t>(descending);
  }
  std::vector<float> v(40, 1.0f);
  v[20] = -0.0f;
  const auto before = v;
  CHECK(!cpu::sort_row_by_network(v.data(), 40, false, true));
  CHECK(std::memcmp(v.data(), before.data(), 40 * sizeof(float)) == 0);
  v[20] = std::numeric_limits<float>::quiet_NaN();
  CHECK(!cpu::sort_row_by_network(v.data(), 40, false, true));
}

TEST_CASE("sort network: sorts, orders and partitions of short rows, NaNs and zeros of both signs among them") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::int64_t n : {15, 16, 17, 100, 255, 256, 257, 1024, 1025}) {
    CAPTURE(n);
    std::vector<float> v;
    std::uint64_t state = 5;
    for (std::int64_t k = 0; k < 6 * n; ++k) {
      const std::uint64_t x = draw(state);
      v.push_back(k < 2 * n && x % 13 == 0 ? nan : k < 4 * n && x % 7 == 0 ? -0.0f : static_cast<float>(x % 50) - 20);
    }
    const ndarray x = reshape(array(v, {.device = "cpu"}), {6, n});
    const auto sorted = sort(x, 1).to_vector<float>(), part = partition(x, n / 3, 1).to_vector<float>();
    const auto order = argsort(x, 1).to_vector<std::int64_t>();
    for (std::int64_t r = 0; r < 6; ++r) {
      const float* const row = v.data() + r * n;
      std::vector<std::int64_t> expected(static_cast<std::size_t>(n));
      for (std::int64_t k = 0; k < n; ++k) expected[static_cast<std::size_t>(k)] = k;
      std::stable_sort(expected.begin(), expected.end(), [&](std::int64_t a, std::int64_t b) {
        return row[a] < row[b] || (!std::isnan(row[a]) && std::isnan(row[b]));
      });
      int wrong = 0;
      for (std::int64_t k = 0; k < n; ++k) {
        const float right = row[expected[static_cast<std::size_t>(k)]];
        const float mine = sorted[static_cast<std::size_t>(r * n + k)];
        wrong += order[static_cast<std::size_t>(r * n + k)] != expected[static_cast<std::size_t>(k)];
        wrong += std::isnan(right) ? !std::isnan(mine) : mine != right || std::signbit(mine) != std::signbit(right);
      }
      CHECK(wrong == 0);
      const float at = part[static_cast<std::size_t>(r * n + n / 3)];
      const float wanted = row[expected[static_cast<std::size_t>(n / 3)]];
      CHECK((at == wanted || (std::isnan(at) && std::isnan(wanted))));
    }
  }
}

TEST_CASE("sort network: orders of rows of 64-bit keys many of which differ in their last bits alone") {
  for (const std::int64_t n : {31, 33, 64, 100, 200, 256, 257}) {
    CAPTURE(n);
    std::vector<std::int64_t> whole;
    std::vector<double> real;
    std::uint64_t state = 9;
    for (std::int64_t k = 0; k < 17 * n; ++k) {
      const std::uint64_t x = draw(state);
      // The range takes all bits, so that records hold the highest ones only.
      whole.push_back(x % 31 == 0   ? std::numeric_limits<std::int64_t>::min() + static_cast<std::int64_t>(x % 5)
                      : x % 31 == 1 ? std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>(x % 3)
                                    : static_cast<std::int64_t>(x >> 32 & 15));
      real.push_back(x % 29 == 0   ? -1e300
                     : x % 29 == 1 ? std::numeric_limits<double>::quiet_NaN()
                                   : 1 + static_cast<double>(x >> 40 & 31) * 0x1p-52);
    }
    const auto check = [&](const auto& v) {
      const auto order = argsort(reshape(array(v, {.device = "cpu"}), {17, n}), 1).template to_vector<std::int64_t>();
      int wrong = 0;
      for (std::int64_t r = 0; r < 17; ++r) {
        const auto* const row = v.data() + r * n;
        std::vector<std::int64_t> expected(static_cast<std::size_t>(n));
        for (std::int64_t k = 0; k < n; ++k) expected[static_cast<std::size_t>(k)] = k;
        std::stable_sort(expected.begin(), expected.end(), [&](std::int64_t a, std::int64_t b) {
          return row[a] < row[b] || (row[a] == row[a] && row[b] != row[b]);
        });
        for (std::int64_t k = 0; k < n; ++k)
          wrong += order[static_cast<std::size_t>(r * n + k)] != expected[static_cast<std::size_t>(k)];
      }
      CHECK(wrong == 0);
    };
    check(whole);
    check(real);
  }
}
