// What the tests of device-wide algorithms share: elements as bytes, patterns of them, NumPy's order, and memory of the
// backend under test.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "runtime/algorithms/algorithms.hpp"
#include "runtime/backend.hpp"
#include "sinter/dtype.hpp"

namespace algorithms_test {

using sinter::dtype;
namespace runtime = sinter::runtime;
using bytes = std::vector<unsigned char>;
using std::int64_t;
using std::size_t;

inline std::vector<dtype> all_dtypes() {
  std::vector<dtype> all;
  for (int k = 0; k < sinter::dtype_count; ++k) all.push_back(static_cast<dtype>(k));
  return all;
}

/// The GPU's backend, or null with a message that says why there is none.
runtime::backend* backend_under_test();

/// Memory of a backend, filled from host memory; `offset` bytes precede it.
class device_array {
 public:
  device_array(runtime::backend& b, size_t size, size_t offset = 0)
      : memory_(b, size + offset + 1), size_(size), offset_(offset) {}
  device_array(runtime::backend& b, const void* from, size_t size, size_t offset = 0) : device_array(b, size, offset) {
    if (size > 0) b.copy_from_host(data(), from, size);
  }
  device_array(runtime::backend& b, const bytes& from, size_t offset = 0)
      : device_array(b, from.data(), from.size(), offset) {}
  void* data() const { return static_cast<char*>(memory_.data()) + offset_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data());
  }
  bytes to_host() const {
    bytes out(size_);
    if (size_ > 0) memory_.owner().copy_to_host(out.data(), data(), size_);
    return out;
  }
  template <class T>
  std::vector<T> to_host_as() const {
    std::vector<T> out(size_ / sizeof(T));
    if (!out.empty()) memory_.owner().copy_to_host(out.data(), data(), out.size() * sizeof(T));
    return out;
  }

 private:
  mutable runtime::buffer memory_;
  size_t size_, offset_;
};

// --- numbers of any dtype

inline bool is_nan_at(dtype t, const void* p) {
  auto read = [&](auto x, int k) {
    std::memcpy(&x, static_cast<const char*>(p) + static_cast<size_t>(k) * sizeof x, sizeof x);
    return x;
  };
  switch (t) {
    case dtype::f16: return std::isnan(float(read(sinter::half(), 0)));
    case dtype::bf16: return std::isnan(float(read(sinter::bfloat(), 0)));
    case dtype::f32: return std::isnan(read(0.0f, 0));
    case dtype::f64: return std::isnan(read(0.0, 0));
    case dtype::c64: return std::isnan(read(0.0f, 0)) || std::isnan(read(0.0f, 1));
    case dtype::c128: return std::isnan(read(0.0, 0)) || std::isnan(read(0.0, 1));
    default: return false;
  }
}

template <class T>
T read_as(const void* p, size_t k = 0) {
  T x;
  std::memcpy(&x, static_cast<const char*>(p) + k * sizeof(T), sizeof(T));
  return x;
}

/// A real part as double; exact for every real floating type.
inline double real_part(dtype t, const void* p, size_t k) {
  switch (t) {
    case dtype::f16: return float(read_as<sinter::half>(p, k));
    case dtype::bf16: return float(read_as<sinter::bfloat>(p, k));
    case dtype::f32:
    case dtype::c64: return read_as<float>(p, k);
    default: return read_as<double>(p, k);
  }
}

inline bool real_before(double a, double b) { return a < b || (b != b && a == a); }

/// Whether NumPy sorts *a before *b.
inline bool sorts_before(dtype t, const void* a, const void* b) {
  switch (t) {
    case dtype::b1:
    case dtype::u8: return read_as<std::uint8_t>(a) < read_as<std::uint8_t>(b);
    case dtype::i8: return read_as<std::int8_t>(a) < read_as<std::int8_t>(b);
    case dtype::i16: return read_as<std::int16_t>(a) < read_as<std::int16_t>(b);
    case dtype::i32: return read_as<std::int32_t>(a) < read_as<std::int32_t>(b);
    case dtype::i64: return read_as<std::int64_t>(a) < read_as<std::int64_t>(b);
    case dtype::u16: return read_as<std::uint16_t>(a) < read_as<std::uint16_t>(b);
    case dtype::u32: return read_as<std::uint32_t>(a) < read_as<std::uint32_t>(b);
    case dtype::u64: return read_as<std::uint64_t>(a) < read_as<std::uint64_t>(b);
    case dtype::c64:
    case dtype::c128: {
      const double ar = real_part(t, a, 0), ai = real_part(t, a, 1), br = real_part(t, b, 0), bi = real_part(t, b, 1);
      const bool a_nan = ai != ai, b_nan = bi != bi;
      if (ar < br) return !a_nan || b_nan;
      if (ar > br) return b_nan && !a_nan;
      if (ar == br || (ar != ar && br != br)) return real_before(ai, bi);
      return br != br;
    }
    default: return real_before(real_part(t, a, 0), real_part(t, b, 0));
  }
}

// --- patterns

enum class pattern { bits, specials, equal, ascending, descending };
inline const pattern all_patterns[] = {pattern::bits, pattern::specials, pattern::equal, pattern::ascending,
                                       pattern::descending};
inline const char* name_of(pattern p) {
  const char* names[] = {"random bits", "special values", "all equal", "sorted", "reversed"};
  return names[static_cast<int>(p)];
}

/// The bits of a real part: infinities, NaNs of both signs, zeros of both signs, and a few numbers; of an integer: its
/// extremes and a few numbers.
inline std::uint64_t special_bits(dtype t, unsigned choice) {
  const size_t size = sinter::is_complex(t) ? sinter::itemsize(t) / 2 : sinter::itemsize(t);
  const std::uint64_t sign = std::uint64_t{1} << (8 * size - 1);
  if (!sinter::is_inexact(t)) {
    const std::uint64_t values[] = {0, 1, 2, sign, sign - 1, ~std::uint64_t{0}, sign + 1, 100};
    return values[choice % 8];
  }
  const std::uint64_t infinity = t == dtype::f16    ? 0x7c00
                                 : t == dtype::bf16 ? 0x7f80
                                 : size == 4        ? 0x7f800000
                                                    : std::uint64_t{0x7ff} << 52;
  const std::uint64_t half_infinity = infinity / 2;  // some number
  const std::uint64_t values[] = {0,
                                  sign,
                                  infinity,
                                  infinity | sign,
                                  infinity + 1,
                                  sign - 1,
                                  (infinity + 3) | sign,
                                  half_infinity,
                                  half_infinity | sign,
                                  1,
                                  1 | sign,
                                  half_infinity + 1,
                                  0,
                                  sign};
  return values[choice % 14];
}

inline void stable_sort_positions(dtype t, bool down, const unsigned char* row, std::vector<int64_t>& order);

/// `count` elements; ascending and descending patterns are sorted as one row.
inline bytes make_elements(dtype t, pattern p, int64_t count, unsigned seed) {
  const size_t item = sinter::itemsize(t), part = sinter::is_complex(t) ? item / 2 : item;
  bytes out(static_cast<size_t>(count) * item);
  std::mt19937_64 random(seed);
  for (size_t at = 0; at < out.size(); at += part) {
    std::uint64_t value = p == pattern::equal      ? special_bits(t, seed)
                          : p == pattern::specials ? special_bits(t, random() % 64)
                                                   : random();
    if (sinter::is_bool(t)) value &= 1;
    std::memcpy(&out[at], &value, part);
  }
  if (p != pattern::ascending && p != pattern::descending) return out;
  std::vector<int64_t> order(static_cast<size_t>(count));
  stable_sort_positions(t, p == pattern::descending, out.data(), order);
  bytes sorted(out.size());
  for (size_t k = 0; k < order.size(); ++k)
    std::memcpy(&sorted[k * item], &out[static_cast<size_t>(order[k]) * item], item);
  return sorted;
}

inline void stable_sort_positions(dtype t, bool down, const unsigned char* row, std::vector<int64_t>& order) {
  const size_t item = sinter::itemsize(t);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const void *x = row + static_cast<size_t>(a) * item, *y = row + static_cast<size_t>(b) * item;
    return down ? sorts_before(t, y, x) : sorts_before(t, x, y);
  });
}

/// Where two arrays differ first, by element (a NaN equals any NaN), or -1.
inline int64_t first_difference(dtype t, const bytes& a, const bytes& b) {
  if (a.size() != b.size()) return 0;
  const size_t item = sinter::itemsize(t);
  for (size_t at = 0; at < a.size(); at += item)
    if (std::memcmp(&a[at], &b[at], item) != 0 && !(is_nan_at(t, &a[at]) && is_nan_at(t, &b[at])))
      return static_cast<int64_t>(at / item);
  return -1;
}

}  // namespace algorithms_test
