// Shared by the tests of device-wide algorithms on all backends: data of any dtype, the cases, references computed with
// the standard library, and memory of the backend between guard bytes.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "golden/golden.hpp"
#include "runtime/algorithms/algorithms.hpp"
#include "runtime/backend.hpp"
#include "sinter/dtype.hpp"

namespace algorithm_cases {

using namespace sinter;
using runtime::backend;
using bytes = std::vector<unsigned char>;
using sinter::test::with_element;

// --- memory

/// Memory of a backend of exactly the bytes requested, between bytes that must not change.
class guarded_memory {
 public:
  guarded_memory(backend& b, std::size_t size) : buffer_(b, size + 2 * guard), size_(size) {
    const bytes fill(size + 2 * guard, mark);
    b.copy_from_host(buffer_.data(), fill.data(), fill.size());
  }
  guarded_memory(backend& b, const bytes& from) : guarded_memory(b, from.size()) {
    if (size_) b.copy_from_host(data(), from.data(), size_);
  }
  ~guarded_memory() { CHECK(intact()); }
  guarded_memory(const guarded_memory&) = delete;
  guarded_memory& operator=(const guarded_memory&) = delete;

  void* data() const { return static_cast<char*>(buffer_.data()) + guard; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data());
  }
  bytes download() const { return copy(guard, size_); }
  template <class T>
  std::vector<T> download_as() const {
    std::vector<T> values(size_ / sizeof(T));
    const bytes all = download();
    if (!all.empty()) std::memcpy(static_cast<void*>(values.data()), all.data(), all.size());
    return values;
  }
  bool intact() const {
    for (const bytes& edge : {copy(0, guard), copy(guard + size_, guard)})
      for (unsigned char c : edge)
        if (c != mark) return false;
    return true;
  }

 private:
  static constexpr std::size_t guard = 256;  // preserves the alignment
  static constexpr unsigned char mark = 0xa5;
  bytes copy(std::size_t at, std::size_t n) const {
    bytes all(n);
    if (n) buffer_.owner().copy_to_host(all.data(), static_cast<const char*>(buffer_.data()) + at, n);
    return all;
  }
  runtime::buffer buffer_;
  std::size_t size_;
};

template <class T>
bytes bytes_of(const std::vector<T>& values) {
  bytes all(values.size() * sizeof(T));
  if (!all.empty()) std::memcpy(all.data(), values.data(), all.size());
  return all;
}
inline bytes bytes_of(const std::vector<bool>& values) { return bytes(values.begin(), values.end()); }

// --- elements

template <class T>
inline constexpr bool is_complex_type = false;
template <class T>
inline constexpr bool is_complex_type<std::complex<T>> = true;

inline std::vector<dtype> all_dtypes() {
  std::vector<dtype> all;
  for (int k = 0; k < dtype_count; ++k) all.push_back(static_cast<dtype>(k));
  return all;
}

/// NaNs of both signs and different payloads, zeros of both signs, infinities, denormals and a few numbers.
template <class T>
std::vector<T> special_numbers() {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat>) {
    std::vector<T> all;
    const bool wide = std::is_same_v<T, bfloat>;
    for (std::uint16_t bits : {0x0000, 0x8000, 0x0001, 0x8001, wide ? 0x7f80 : 0x7c00, wide ? 0xff80 : 0xfc00,
                               wide ? 0x7fc0 : 0x7e00, wide ? 0xffc1 : 0xfe01, wide ? 0x7f81 : 0x7c01, 0xffff,
                               wide ? 0x3f80 : 0x3c00, wide ? 0xbf80 : 0xbc00, wide ? 0x7f7f : 0x7bff}) {
      T x;
      x.bits = bits;
      all.push_back(x);
    }
    return all;
  } else if constexpr (std::is_floating_point_v<T>) {
    using own = std::numeric_limits<T>;
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const T payload = std::bit_cast<T>(static_cast<bits>(std::bit_cast<bits>(own::quiet_NaN()) + 5));
    return {0,
            -T(0),
            own::denorm_min(),
            -own::denorm_min(),
            own::infinity(),
            -own::infinity(),
            own::quiet_NaN(),
            -own::quiet_NaN(),
            payload,
            -payload,
            1,
            -1,
            own::max(),
            own::lowest(),
            own::min(),
            T(0.1)};
  } else if constexpr (is_complex_type<T>) {
    using part = typename T::value_type;
    std::vector<T> all;
    const auto parts = special_numbers<part>();
    for (auto re : parts)
      for (auto im : parts) all.push_back({re, im});
    return all;
  } else if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else {
    using own = std::numeric_limits<T>;
    return {0, 1, own::min(), own::max(), T(own::max() - 1), T(own::min() + 1), T(own::max() / 2), T(-1)};
  }
}

enum class pattern { numbers, bits, few, specials, equal, ascending, descending, outliers };
inline const pattern all_patterns[] = {pattern::numbers, pattern::bits,      pattern::few,        pattern::specials,
                                       pattern::equal,   pattern::ascending, pattern::descending, pattern::outliers};
inline const char* name_of(pattern p) {
  const char* const names[] = {"numbers from [0, 1)", "random bits", "few values", "special values",
                               "all equal",           "ascending",   "descending", "outliers"};
  return names[static_cast<int>(p)];
}

template <class T>
T from_double(double x) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat>) return T(static_cast<float>(x));
  else return static_cast<T>(x);
}

template <class T>
T random_bits(std::mt19937_64& random) {
  if constexpr (std::is_same_v<T, bool>) {
    return random() & 1;
  } else {
    std::uint64_t words[2] = {random(), random()};
    T x;
    std::memcpy(static_cast<void*>(&x), words, sizeof(T));
    return x;
  }
}

/// A random number: integers over their whole range, others from [0, 1).
template <class T>
T random_number(std::mt19937_64& random) {
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  if constexpr (std::is_integral_v<T>) return random_bits<T>(random);
  else if constexpr (is_complex_type<T>) {
    const double re = unit(), im = unit();
    return T(static_cast<typename T::value_type>(re), static_cast<typename T::value_type>(im));
  } else return from_double<T>(unit());
}

/// A random number among those with equal highest bits.
template <class T>
T close_number(std::mt19937_64& random) {
  const double small = static_cast<double>(random() % 100000);
  if constexpr (std::is_same_v<T, bool>) return random() % 8 == 0;
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(random() % 100);
  else if constexpr (is_complex_type<T>) {
    using part = typename T::value_type;
    return T(part(1), static_cast<part>(1 + small * 0x1p-20));
  } else return from_double<T>(1 + small * 0x1p-40);
}

/// For the ascending and the descending pattern the numbers are sorted afterwards, by sorted_values.
template <class T>
std::vector<T> make_values(pattern p, std::int64_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<std::size_t>(count));
  const auto specials = special_numbers<T>();
  const T one = random_number<T>(random), few[3] = {one, random_number<T>(random), T{}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    T x = one;
    switch (p) {
      case pattern::numbers:
      case pattern::ascending:
      case pattern::descending: x = random_number<T>(random); break;
      case pattern::bits: x = random_bits<T>(random); break;
      case pattern::few: x = few[random() % 3]; break;
      case pattern::specials: x = specials[random() % specials.size()]; break;
      case pattern::equal: break;
      case pattern::outliers: x = i % 1001 == 7 ? specials[i / 1001 % specials.size()] : close_number<T>(random); break;
    }
    values[i] = x;
  }
  return values;
}

// --- the order of sorting, by NumPy's rules

inline bool real_before(double a, double b) { return a < b || (b != b && a == a); }

template <class T>
bool sorts_before(const T& a, const T& b) {
  if constexpr (is_complex_type<T>) {
    const double ar = a.real(), ai = a.imag(), br = b.real(), bi = b.imag();
    if (ar < br) return ai == ai || bi != bi;
    if (ar > br) return bi != bi && ai == ai;
    if (ar == br || (ar != ar && br != br)) return real_before(ai, bi);
    return br != br;
  } else if constexpr (std::is_integral_v<T>) {
    return a < b;
  } else if constexpr (std::is_floating_point_v<T>) {
    return real_before(a, b);
  } else {
    return real_before(static_cast<float>(a), static_cast<float>(b));
  }
}

template <class T>
bool sorts_before(const T& a, const T& b, bool descending) {
  return descending ? sorts_before(b, a) : sorts_before(a, b);
}

/// The indices that sort each row.
template <class T>
std::vector<std::int64_t> stable_order(const std::vector<T>& values, std::int64_t rows, std::int64_t columns,
                                       bool descending) {
  std::vector<std::int64_t> order(values.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto first = order.begin() + r * columns;
    std::iota(first, first + columns, std::int64_t{0});
    std::stable_sort(first, first + columns, [&](std::int64_t a, std::int64_t b) {
      const auto at = [&](std::int64_t i) -> T { return values[static_cast<std::size_t>(r * columns + i)]; };
      return sorts_before(at(a), at(b), descending);
    });
  }
  return order;
}

/// Whether `order` equals stable_order, in linear time: a permutation of each row that ascends among equal elements,
/// which is unique.
template <class T>
bool is_stable_order(const std::vector<T>& values, std::int64_t rows, std::int64_t columns, bool descending,
                     const std::vector<std::int64_t>& order) {
  if (order.size() != values.size()) return false;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto at = [&](std::int64_t i) -> T { return values[static_cast<std::size_t>(r * columns + i)]; };
    const auto index = [&](std::int64_t i) { return order[static_cast<std::size_t>(r * columns + i)]; };
    std::vector<char> seen(static_cast<std::size_t>(columns));
    for (std::int64_t i = 0; i < columns; ++i) {
      if (index(i) < 0 || index(i) >= columns || seen[static_cast<std::size_t>(index(i))]++) return false;
      if (i == 0) continue;
      const T before = at(index(i - 1)), here = at(index(i));
      if (sorts_before(here, before, descending)) return false;
      if (!sorts_before(before, here, descending) && index(i) <= index(i - 1)) return false;
    }
  }
  return true;
}

/// The elements in the given order.
template <class T>
std::vector<T> gathered(const std::vector<T>& values, std::int64_t columns, const std::vector<std::int64_t>& order) {
  std::vector<T> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t row = columns ? i / static_cast<std::size_t>(columns) * static_cast<std::size_t>(columns) : 0;
    result[i] = values[row + static_cast<std::size_t>(order[i])];
  }
  return result;
}

template <class T>
std::vector<T> sorted_values(pattern p, std::int64_t count, unsigned seed) {
  const auto values = make_values<T>(p, count, seed);
  if (p != pattern::ascending && p != pattern::descending) return values;
  return gathered(values, count, stable_order(values, 1, count, p == pattern::descending));
}

// --- cases

struct row_case {
  std::int64_t rows, columns;
};
/// Every single length that may take a separate path, many short rows, a few long ones.
inline const row_case sort_cases[] = {{1, 0},    {0, 5},    {1, 1},     {5, 1},   {1, 2},     {1, 31},
                                      {1, 32},   {1, 33},   {1, 64},    {1, 65},  {1, 129},   {1, 1000},
                                      {1, 4097}, {700, 17}, {600, 130}, {3, 513}, {513, 600}, {4, 5000}};
/// Rows so long that all threads work on each.
inline const row_case long_sort_cases[] = {{1, 70001}, {2, 200000}, {1, (1 << 20) + 3}};

inline const std::int64_t lengths[] = {0, 1, 2, 31, 32, 33, 1000, 4097, (1 << 20) + 3};

struct scan_case {
  std::int64_t outer, count, inner;
};
inline const scan_case scan_cases[] = {
    {1, 0, 1},   {0, 3, 2},    {2, 3, 0},     {1, 1, 1},     {1, 2, 1},     {1, 31, 1},   {1, 33, 1},    {1, 528, 1},
    {1, 529, 1}, {1, 1000, 1}, {1, 4097, 1},  {1, 10000, 1}, {9, 33, 1},    {3, 4097, 1}, {50, 1057, 1}, {300, 300, 1},
    {1, 1, 7},   {2, 1000, 3}, {1, 4097, 64}, {1, 2000, 65}, {3, 700, 130}, {500, 5, 7},  {16, 1057, 1}, {67, 1600, 1}};
inline const scan_case long_scan_cases[] = {{1, (1 << 20) + 3, 1}, {1, 300001, 3}, {5, 100000, 1}, {2, 3000, 100}};

// --- histograms as numpy.histogram(samples, bins, (low, high)) counts them

struct histogram_case {
  dtype type;
  double low, high;
  std::vector<std::int64_t> counts;
};
inline const histogram_case histogram_cases[] = {
    {dtype::f64, 0.0, 1.0, {169, 170, 171, 169, 170, 171, 170, 169, 170, 171}},
    {dtype::f64, -0.1, 0.7, {241, 241, 242, 241, 242, 241, 243}},
    {dtype::f64, 0.001, 1000.0, {130, 131, 131, 132, 131, 131, 132, 132, 131, 131, 132, 130, 134}},
    {dtype::f64, -4.94e-322, 4.94e-322, {210, 212, 211, 212, 212, 212, 212, 221}},
    {dtype::f32, 0.0, 1.0, {169, 170, 170, 170, 170, 170, 170, 170, 170, 171}},
    {dtype::f32, -0.1, 0.7, {241, 241, 242, 241, 242, 241, 243}},
    {dtype::f32, 0.001, 1000.0, {130, 131, 132, 131, 131, 132, 131, 132, 131, 131, 132, 131, 133}},
    {dtype::f32, 0.1, 0.3, {187, 188, 189, 188, 189, 188, 189, 188, 190}},
    {dtype::i32, -50.0, 50.0, {215, 201, 217, 200, 217, 200, 217, 217}},
    {dtype::i32, -3.5, 11.25, {225, 340, 226, 340, 226, 339}},
    {dtype::i64, -1000000000000000.0, 1000000000000000.0, {184, 185, 186, 185, 186, 185, 186, 185, 186}},
    {dtype::i64, 0.0, 7.0, {237, 238, 239, 238, 239, 238, 405}},
    {dtype::u8, 0.0, 255.0, {335, 163, 170, 164, 170, 164, 170, 164, 170, 330}},
    {dtype::u8, 10.0, 20.0, {666, 501, 667}},
    {dtype::u16, 0.0, 65535.0, {304, 139, 139, 139, 139, 139, 139, 139, 139, 139, 139, 306}},
    {dtype::u16, 100.0, 1000.0, {238, 239, 237, 240, 237, 239, 239}},
};

/// The samples of a case: spread over the range and slightly beyond, and for floating types every edge and its
/// neighbours, NaN, infinities. Computed by the same arithmetic as the samples that NumPy counted.
template <class T>
std::vector<T> histogram_samples(const histogram_case& c) {
  const double width = c.high - c.low;
  const auto bins = static_cast<int>(c.counts.size());
  std::vector<T> samples;
  for (int k = 0; k < 2000; ++k) {
    const double x = c.low - 0.1 * width + 1.2 * width * static_cast<double>(k * 7919 % 2003) / 2003.0;
    if constexpr (std::is_integral_v<T>) {
      const double low = static_cast<double>(std::numeric_limits<T>::min()),
                   high = static_cast<double>(std::numeric_limits<T>::max());
      samples.push_back(static_cast<T>(std::clamp(std::floor(x), low, high)));
    } else {
      samples.push_back(static_cast<T>(x));
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    for (int j = 0; j <= bins; ++j) {
      const T edge = static_cast<T>(c.low + width * j / bins);
      for (T x : {edge, std::nextafter(edge, infinity), std::nextafter(edge, -infinity)}) samples.push_back(x);
    }
    for (T x : {std::numeric_limits<T>::quiet_NaN(), infinity, -infinity, -T(0)}) samples.push_back(x);
  }
  return samples;
}

/// The edges of equal bins as computed by numpy.linspace, in the type in which samples are compared.
template <class T>
auto edges_of(const runtime::bin_range& b) {
  using edge = std::conditional_t<std::is_same_v<T, float>, float, double>;
  const auto with = [&]<class R>(R) {
    const R low = static_cast<R>(b.low), step = (static_cast<R>(b.high) - low) / static_cast<R>(b.count);
    std::vector<edge> edges;
    for (std::int64_t k = 0; k < b.count; ++k) edges.push_back(static_cast<edge>(static_cast<R>(k) * step + low));
    edges.push_back(static_cast<edge>(b.high));
    return edges;
  };
  return b.narrow ? with(float{}) : with(double{});
}

/// The samples, and each edge with both neighbours, for at most as many edges as there are samples.
template <class T>
std::vector<T> samples_around(const std::vector<T>& edges, std::vector<T> samples) {
  const std::size_t n = samples.size();
  for (std::size_t k = 0; k < std::min(n, edges.size()); ++k)
    for (T x : {edges[k], std::nextafter(edges[k], T(-1000)), std::nextafter(edges[k], T(1000))}) samples.push_back(x);
  return samples;
}

/// The number of samples between edges, the last bin closed.
template <class T, class E>
std::vector<std::int64_t> counts_between(const std::vector<T>& samples, const std::vector<E>& edges) {
  std::vector<std::int64_t> counts(edges.size() - 1);
  for (T sample : samples) {
    const E x = static_cast<E>(sample);
    if (!(x >= edges.front() && x <= edges.back())) continue;
    ++counts[static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end() - 1, x) - edges.begin() - 1)];
  }
  return counts;
}

/// Calls f with an element of each type that histograms support.
template <class F>
void with_sample_type(dtype type, F&& f) {
  switch (type) {
    case dtype::u8: return f(std::uint8_t{});
    case dtype::u16: return f(std::uint16_t{});
    case dtype::i32: return f(std::int32_t{});
    case dtype::i64: return f(std::int64_t{});
    case dtype::f32: return f(float{});
    case dtype::f64: return f(double{});
    default: FAIL("no samples of this type");
  }
}

}  // namespace algorithm_cases
