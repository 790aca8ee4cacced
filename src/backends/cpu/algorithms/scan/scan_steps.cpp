// The steps of scans as templates over the operation and the type.
#include "backends/cpu/algorithms/scan/scan_steps.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "jit/cpu/block.hpp"
#include "jit/cpu/lane_loops.inl"
#include "sinter/error.hpp"

namespace sinter::cpu {
namespace {

using jit::get_lane;
using jit::put_lane;

template <class T>
struct complex_value {
  T re, im;
};

/// Elements as they are added up: float16 and bfloat16 as float.
template <class T>
struct accumulated {
  using type = T;
};
template <>
struct accumulated<half> {
  using type = float;
};
template <>
struct accumulated<bfloat> {
  using type = float;
};

void widen(float* to, const half* from, int n) { jit::widen_f16(to, reinterpret_cast<const std::uint16_t*>(from), n); }
void narrow(half* to, const float* from, int n) { jit::narrow_f16(reinterpret_cast<std::uint16_t*>(to), from, n); }
void widen(float* to, const bfloat* from, int n) {
  jit::widen_bf16(to, reinterpret_cast<const std::uint16_t*>(from), n);
}
void narrow(bfloat* to, const float* from, int n) { jit::narrow_bf16(reinterpret_cast<std::uint16_t*>(to), from, n); }

template <class T>
bool is_nan(T x) noexcept {
  return x != x;  // NOLINT(misc-redundant-expression)
}
template <class T>
bool is_nan(complex_value<T> x) noexcept {
  return is_nan(x.re) || is_nan(x.im);
}
template <class T>
bool at_least(T a, T b) noexcept {
  return a >= b;
}
/// NumPy's comparison of complex numbers.
template <class T>
bool at_least(complex_value<T> a, complex_value<T> b) noexcept {
  return (a.re > b.re && !is_nan(a.im) && !is_nan(b.im)) || (a.re == b.re && a.im >= b.im);
}

// join(a, b): the elements of a precede those of b. The first two operations get integers as unsigned, so that they
// wrap. vector_code: what calls no function and does not branch.
struct addition {
  template <class T>
  static constexpr bool vector_code = true;
  template <class V>
  static V join(V a, V b) noexcept {
    if constexpr (jit::has_parts<V>) return {a.re + b.re, a.im + b.im};
    else return static_cast<V>(a + b);
  }
};
struct multiplication {
  template <class T>
  static constexpr bool vector_code = true;
  template <class V>
  static V join(V a, V b) noexcept {
    if constexpr (std::is_integral_v<V>) return static_cast<V>(std::uint64_t{a} * b);
    else if constexpr (jit::has_parts<V>) return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    else return a * b;
  }
};
/// The first NaN wins, else the first of the largest, or of the smallest.
template <bool Largest>
struct extreme {
  template <class T>
  static constexpr bool vector_code = !jit::has_parts<T>;
  template <class V>
  static V join(V a, V b) noexcept {
    return (Largest ? at_least(a, b) : at_least(b, a)) || is_nan(a) ? a : b;
  }
};
using maximum = extreme<true>;
using minimum = extreme<false>;
struct logaddexp {
  template <class T>
  static constexpr bool vector_code = false;
  template <class V>
  static V join(V a, V b) noexcept {
    if (a == b) return a + static_cast<V>(0.69314718055994530942);
    const V d = a - b;
    return d > 0 ? a + std::log1p(std::exp(-d)) : d <= 0 ? b + std::log1p(std::exp(d)) : d;
  }
};

template <class Op, class T>
struct steps {
  using value = typename accumulated<T>::type;
  static value load(T x) noexcept { return static_cast<value>(x); }
  static value joined(value a, value b) noexcept { return Op::join(a, b); }

  /// float16 and bfloat16: a piece of each lane is widened, scanned and rounded, since their conversions are vectors of loops.
  template <int Lanes>
  static void half_rows(const T* from, T* to, std::int64_t pitch, std::int64_t length, const value* carry,
                        value* totals) {
    constexpr int most = 128;
    float piece[Lanes][most];
    value sum[Lanes] = {};
    for (std::int64_t begin = 0; begin < length; begin += most) {
      const int n = static_cast<int>(std::min<std::int64_t>(most, length - begin));
      for (int c = 0; c < Lanes; ++c) widen(piece[c], from + c * pitch + begin, n);
      for (int i = 0; i < n; ++i)
        for (int c = 0; c < Lanes; ++c) {
          sum[c] = begin + i == 0 ? piece[c][i] : joined(sum[c], piece[c][i]);
          piece[c][i] = carry ? joined(carry[c], sum[c]) : sum[c];
        }
      for (int c = 0; to && c < Lanes; ++c) narrow(to + c * pitch + begin, piece[c], n);
    }
    for (int c = 0; c < Lanes; ++c) totals[c] = sum[c];
  }

  static void half_columns(const T* from, T* to, std::int64_t pitch, int width, std::int64_t length, const value* carry,
                           value* totals) {
    float row[scan_column_lanes], out[scan_column_lanes];
    widen(totals, from, width);
    for (std::int64_t i = 0;;) {
      if (to && carry) {
        for (int c = 0; c < width; ++c) out[c] = joined(carry[c], totals[c]);
        narrow(to + i * pitch, out, width);
      } else if (to) {
        narrow(to + i * pitch, totals, width);
      }
      if (++i == length) return;
      widen(row, from + i * pitch, width);
      for (int c = 0; c < width; ++c) totals[c] = joined(totals[c], row[c]);
    }
  }

  template <int Lanes>
  static void rows(const void* from_address, void* to_address, std::int64_t pitch, std::int64_t length,
                   const void* carry_address, void* totals_address) {
    auto* from = static_cast<const T*>(from_address);
    auto* to = static_cast<T*>(to_address);
    auto* carry = static_cast<const value*>(carry_address);
    if constexpr (!std::is_same_v<T, value>)
      return half_rows<Lanes>(from, to, pitch, length, carry, static_cast<value*>(totals_address));
    value sum[Lanes], before[Lanes] = {};
    for (int c = 0; c < Lanes; ++c) {
      sum[c] = load(from[c * pitch]);
      if (carry) before[c] = carry[c];
    }
    const auto pass = [&](auto&& put) {
      for (std::int64_t i = 0;;) {
        for (int c = 0; c < Lanes; ++c) put(c, i);
        if (++i == length) break;
        for (int c = 0; c < Lanes; ++c) sum[c] = joined(sum[c], load(from[c * pitch + i]));
      }
    };
    if (!to) pass([](int, std::int64_t) {});
    else if (!carry) pass([&](int c, std::int64_t i) { to[c * pitch + i] = static_cast<T>(sum[c]); });
    else pass([&](int c, std::int64_t i) { to[c * pitch + i] = static_cast<T>(joined(before[c], sum[c])); });
    for (int c = 0; c < Lanes; ++c) static_cast<value*>(totals_address)[c] = sum[c];
  }

  template <class F>
  static void each_lane(int width, F&& f) {
    if constexpr (Op::template vector_code<T>) {
      SINTER_LANES(c, width) f(c);
    } else {
      for (int c = 0; c < width; ++c) f(c);
    }
  }

  static void columns(const void* from_address, void* to_address, std::int64_t pitch, int width, std::int64_t length,
                      const void* carry_address, void* totals_address) {
    auto* from = static_cast<const T*>(from_address);
    auto* to = static_cast<T*>(to_address);
    auto* carry = static_cast<const value*>(carry_address);
    if constexpr (!std::is_same_v<T, value>)
      return half_columns(from, to, pitch, width, length, carry, static_cast<value*>(totals_address));
    value sum[scan_column_lanes];
    each_lane(width, [&](int c) { put_lane(sum, c, load(get_lane(from, c))); });
    for (std::int64_t i = 0;;) {
      if (to && carry)
        each_lane(width, [&](int c) { put_lane(to, c, static_cast<T>(joined(get_lane(carry, c), get_lane(sum, c)))); });
      else if (to) each_lane(width, [&](int c) { put_lane(to, c, static_cast<T>(get_lane(sum, c))); });
      if (++i == length) break;
      from += pitch;
      if (to) to += pitch;
      each_lane(width, [&](int c) { put_lane(sum, c, joined(get_lane(sum, c), load(get_lane(from, c)))); });
    }
    for (int c = 0; c < width; ++c) static_cast<value*>(totals_address)[c] = sum[c];
  }

  static void join(const void* before_address, void* totals_address, std::int64_t n) {
    auto* before = static_cast<const value*>(before_address);
    auto* totals = static_cast<value*>(totals_address);
    for (std::int64_t c = 0; c < n; ++c) totals[c] = joined(before[c], totals[c]);
  }

  static scan_steps all() noexcept {
    return {sizeof(T), sizeof(value), &rows<scan_row_lanes>, &rows<1>, &columns, &join};
  }
};

// Types that give the same bits share their code: bool and unsigned integers, and for sums and products all integers of
// a size.

template <class Op>
scan_steps inexact_steps(dtype type) {
  switch (type) {
    case dtype::f16: return steps<Op, half>::all();
    case dtype::bf16: return steps<Op, bfloat>::all();
    case dtype::f32: return steps<Op, float>::all();
    case dtype::f64: return steps<Op, double>::all();
    case dtype::c64: return steps<Op, complex_value<float>>::all();
    default: return steps<Op, complex_value<double>>::all();
  }
}

template <class Op>
scan_steps unsigned_steps(dtype type) {
  switch (itemsize(type)) {
    case 1: return steps<Op, std::uint8_t>::all();
    case 2: return steps<Op, std::uint16_t>::all();
    case 4: return steps<Op, std::uint32_t>::all();
    default: return steps<Op, std::uint64_t>::all();
  }
}

template <class Op>
scan_steps arithmetic_steps(dtype type) {
  return is_inexact(type) ? inexact_steps<Op>(type) : unsigned_steps<Op>(type);
}

template <class Op>
scan_steps extreme_steps(dtype type) {
  switch (type) {
    case dtype::i8: return steps<Op, std::int8_t>::all();
    case dtype::i16: return steps<Op, std::int16_t>::all();
    case dtype::i32: return steps<Op, std::int32_t>::all();
    case dtype::i64: return steps<Op, std::int64_t>::all();
    default: return arithmetic_steps<Op>(type);
  }
}

scan_steps logaddexp_steps(dtype type) {
  switch (type) {
    case dtype::f16: return steps<logaddexp, half>::all();
    case dtype::bf16: return steps<logaddexp, bfloat>::all();
    case dtype::f32: return steps<logaddexp, float>::all();
    case dtype::f64: return steps<logaddexp, double>::all();
    default: throw dtype_error("[scan] logaddexp takes real floating types, not " + std::string(name(type)));
  }
}

}  // namespace

scan_steps find_scan_steps(runtime::scan_op op, dtype type) {
  using runtime::scan_op;
  switch (op) {
    // Of bool, a sum says whether any element is true, a product whether all are.
    case scan_op::sum: return is_bool(type) ? extreme_steps<maximum>(type) : arithmetic_steps<addition>(type);
    case scan_op::prod: return is_bool(type) ? extreme_steps<minimum>(type) : arithmetic_steps<multiplication>(type);
    case scan_op::max: return extreme_steps<maximum>(type);
    case scan_op::min: return extreme_steps<minimum>(type);
    case scan_op::logaddexp: break;
  }
  return logaddexp_steps(type);
}

}  // namespace sinter::cpu
