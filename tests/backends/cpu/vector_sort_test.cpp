// The quicksort in vector registers: every instruction set, lengths around its vectors and blocks, and keys that divide badly.
#include "backends/cpu/algorithms/vector_sort.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "sinter/sinter.hpp"

using namespace sinter;

namespace {

constexpr int kinds = 10;
constexpr std::int64_t lengths[] = {0,   1,   2,    3,    4,    7,    8,    9,    15,   16,   17,  31,
                                    32,  33,  63,   64,   65,   127,  128,  129,  255,  256,  257, 300,
                                    511, 513, 1023, 1024, 1025, 2047, 4095, 4097, 5000, 20011};

/// Random, few distinct, ascending, descending, organ pipe, all equal, mostly equal, extremes, saw, small magnitudes.
template <class T>
std::vector<T> elements_of(std::int64_t n, int kind) {
  std::vector<T> v(static_cast<std::size_t>(n));
  std::uint64_t state = static_cast<std::uint64_t>(31 * n + kind);
  for (std::int64_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t x = state ^ state >> 29;
    const auto signed_number = static_cast<double>(x % 2000001) - (std::is_signed_v<T> ? 1e6 : 0);
    T& to = v[static_cast<std::size_t>(i)];
    switch (kind) {
      case 0: to = static_cast<T>(signed_number / (std::is_floating_point_v<T> ? 7 : 1)); break;
      case 1: to = static_cast<T>(x % 5); break;
      case 2: to = static_cast<T>(i); break;
      case 3: to = static_cast<T>(n - i); break;
      case 4: to = static_cast<T>(std::min(i, n - i)); break;
      case 5: to = static_cast<T>(3); break;
      case 6: to = static_cast<T>(x % 20 ? 5 : x % 1000); break;
      case 7:
        to = x % 4 == 0   ? std::numeric_limits<T>::max()
             : x % 4 == 1 ? std::numeric_limits<T>::lowest()
             : x % 4 == 2 && std::numeric_limits<T>::has_infinity
                 ? (x % 8 < 4 ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity())
                 : static_cast<T>(x % 100);
        break;
      case 8: to = static_cast<T>(i % 100); break;
      default:
        to = std::is_floating_point_v<T> ? static_cast<T>(x % 1000 + 1) * std::numeric_limits<T>::denorm_min()
                                         : static_cast<T>(x);
    }
  }
  return v;
}

template <class Key, class Sort>
void check_keys(const Sort& sort) {
  for (const std::int64_t n : lengths)
    for (int kind = 0; kind < kinds; ++kind)
      for (const int uneven : {0, 1, 60})
        for (const bool to_other : {false, true}) {
          const auto given = elements_of<Key>(n, kind);
          auto expected = given;
          std::sort(expected.begin(), expected.end());
          constexpr Key guard = Key(77);
          std::vector<Key> data(given), other(static_cast<std::size_t>(n));
          data.push_back(guard), other.push_back(guard);
          sort(data.data(), other.data(), n, to_other, uneven);
          const auto& result = to_other ? other : data;
          const bool right = std::equal(expected.begin(), expected.end(), result.begin());
          INFO("n ", n, " kind ", kind, " uneven ", uneven, " to other ", to_other);
          REQUIRE(right);
          REQUIRE((data.back() == guard && other.back() == guard));
        }
}

/// sort and argsort of rows, with bits compared with a stable sort.
template <class T>
void check_rows(std::int64_t n, int kind, int special) {
  auto v = elements_of<T>(n, kind);
  if constexpr (std::is_floating_point_v<T>) {
    if (special == 1) v[static_cast<std::size_t>(n / 3)] = T(-0.0), v[static_cast<std::size_t>(n / 2)] = T(0);
    if (special == 2)
      for (std::int64_t i = 5; i < n; i += 7)
        v[static_cast<std::size_t>(i)] =
            i % 2 ? std::numeric_limits<T>::quiet_NaN() : -std::numeric_limits<T>::quiet_NaN();
  }
  const auto is_nan = [](T x) { return x != x; };
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const T x = v[static_cast<std::size_t>(a)], y = v[static_cast<std::size_t>(b)];
    return x < y || (!is_nan(x) && is_nan(y));
  });
  const ndarray x = array(v, {.device = "cpu"});
  const auto sorted = sort(x).template to_vector<T>();
  const auto indices = argsort(x).template to_vector<std::int64_t>();
  std::int64_t wrong = 0, misplaced = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    wrong += std::memcmp(&sorted[k], &v[static_cast<std::size_t>(order[k])], sizeof(T)) != 0;
    misplaced += indices[k] != order[k];
  }
  CAPTURE(n);
  CAPTURE(kind);
  CAPTURE(special);
  CHECK(wrong == 0);
  CHECK(misplaced == 0);
}

}  // namespace

TEST_CASE("vector sort: keys, for every instruction set, and by the heap sort") {
#if defined(__x86_64__)
  const auto wide = [](auto sort) {
    return [=](std::int64_t* data, std::int64_t* other, std::int64_t n, bool to_other, int uneven) {
      sort(reinterpret_cast<long long*>(data), reinterpret_cast<long long*>(other), n, to_other, uneven);
    };
  };
  if (__builtin_cpu_supports("avx2")) {
    check_keys<float>(cpu::avx2::vector_sort_f32);
    check_keys<double>(cpu::avx2::vector_sort_f64);
    check_keys<std::int32_t>(cpu::avx2::vector_sort_i32);
    check_keys<std::int64_t>(wide(cpu::avx2::vector_sort_i64));
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    check_keys<float>(cpu::avx512::vector_sort_f32);
    check_keys<double>(cpu::avx512::vector_sort_f64);
    check_keys<std::int32_t>(cpu::avx512::vector_sort_i32);
    check_keys<std::int64_t>(wide(cpu::avx512::vector_sort_i64));
  }
#endif
}

TEST_CASE("vector sort: rows of every dtype, with the bits of a stable sort") {
  for (const std::int64_t n : {100, 4097, 5000, 70001})
    for (int kind = 0; kind < kinds; ++kind) {
      for (const int special : {0, 1, 2}) check_rows<float>(n, kind, special), check_rows<double>(n, kind, special);
      check_rows<std::int32_t>(n, kind, 0);
      check_rows<std::uint32_t>(n, kind, 0);
      check_rows<std::int64_t>(n, kind, 0);
      check_rows<std::uint64_t>(n, kind, 0);
    }
}
