// Scans on the GPU against plain loops: every operation, dtype and layout. Sums and products are of numbers that make
// them exact, so bits are compared; random numbers are compared with float64 and from run to run.
#ifdef SINTER_HAS_CUDA

#include <complex>
#include <functional>
#include <limits>

#include "gpu/algorithms/algorithms.hpp"

using namespace algorithms_test;
using runtime::scan_layout;
using runtime::scan_op;

namespace {

/// Layouts (outer, count, inner) that reach every way of dealing a scan to threads.
struct extents {
  int64_t outer, count, inner;
};
const extents layouts[] = {{1, 1, 1},       {1, 2, 1},     {1, 31, 1},   {1, 32, 1},    {1, 33, 1},     {1, 1000, 1},
                           {1, 4097, 1},    {1, 70000, 1}, {5003, 3, 1}, {1001, 33, 1}, {300, 1000, 1}, {3, 20011, 1},
                           {2100, 2500, 1}, {1, 1000, 7},  {2, 5003, 3}, {3, 300, 64},  {1, 3001, 100}, {4, 50, 33},
                           {1, 70001, 2},   {300, 5, 300}, {1, 1, 5}};
const extents long_layouts[] = {{1, (1 << 20) + 3, 1}, {2, (1 << 20) + 3, 1}, {1, (1 << 19) + 3, 2}, {1, 20000, 150}};

std::string describe(dtype t, scan_op op, const extents& e) {
  const char* ops[] = {"sum", "prod", "max", "min", "logaddexp"};
  return std::string(ops[static_cast<int>(op)]) + " of " + std::string(sinter::name(t)) + ", (" +
         std::to_string(e.outer) + ", " + std::to_string(e.count) + ", " + std::to_string(e.inner) + ")";
}

/// A scan by a loop: `join` takes accumulators, which have type A in memory type T.
template <class T, class A>
bytes plain_scan(const bytes& data, const extents& e, const std::function<A(A, A)>& join) {
  std::vector<T> x(data.size() / sizeof(T)), y(x.size());
  std::memcpy(x.data(), data.data(), data.size());
  for (int64_t o = 0; o < e.outer; ++o)
    for (int64_t i = 0; i < e.inner; ++i) {
      A sum{};
      for (int64_t k = 0; k < e.count; ++k) {
        const size_t at = static_cast<size_t>((o * e.count + k) * e.inner + i);
        sum = k == 0 ? static_cast<A>(x[at]) : join(sum, static_cast<A>(x[at]));
        y[at] = static_cast<T>(sum);
      }
    }
  bytes out(data.size());
  std::memcpy(out.data(), y.data(), out.size());
  return out;
}

template <class A>
A greatest(A a, A b) {
  return a >= b || a != a ? a : b;
}
template <class A>
A least(A a, A b) {
  return a <= b || a != a ? a : b;
}
template <class R>
using cx = std::complex<R>;
template <class R>
bool has_nan(cx<R> a) {
  return std::isnan(a.real()) || std::isnan(a.imag());
}
template <class R>
cx<R> greatest(cx<R> a, cx<R> b) {
  const bool no_nan = !std::isnan(a.imag()) && !std::isnan(b.imag());
  return (a.real() > b.real() && no_nan) || (a.real() == b.real() && a.imag() >= b.imag()) || has_nan(a) ? a : b;
}
template <class R>
cx<R> least(cx<R> a, cx<R> b) {
  const bool no_nan = !std::isnan(a.imag()) && !std::isnan(b.imag());
  return (a.real() < b.real() && no_nan) || (a.real() == b.real() && a.imag() <= b.imag()) || has_nan(a) ? a : b;
}
template <class A>
A product(A a, A b) {
  return a * b;
}
template <class R>
cx<R> product(cx<R> a, cx<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class T, class A>
bytes expected_of(scan_op op, const bytes& data, const extents& e) {
  switch (op) {
    case scan_op::sum: return plain_scan<T, A>(data, e, [](A a, A b) { return static_cast<A>(a + b); });
    case scan_op::prod: return plain_scan<T, A>(data, e, [](A a, A b) { return product(a, b); });
    case scan_op::max: return plain_scan<T, A>(data, e, [](A a, A b) { return greatest(a, b); });
    default: return plain_scan<T, A>(data, e, [](A a, A b) { return least(a, b); });
  }
}

bytes expected_scan(dtype t, scan_op op, const bytes& data, const extents& e) {
  const bool order = op == scan_op::max || op == scan_op::min;
  switch (t) {
    case dtype::b1:  // sums are disjunctions, products conjunctions
      return expected_of<std::uint8_t, std::uint8_t>(op == scan_op::sum    ? scan_op::max
                                                     : op == scan_op::prod ? scan_op::min
                                                                           : op,
                                                     data, e);
    case dtype::i8:
      return order ? expected_of<std::int8_t, std::int8_t>(op, data, e)
                   : expected_of<std::int8_t, std::uint64_t>(op, data, e);
    case dtype::i16:
      return order ? expected_of<std::int16_t, std::int16_t>(op, data, e)
                   : expected_of<std::int16_t, std::uint64_t>(op, data, e);
    case dtype::i32:
      return order ? expected_of<std::int32_t, std::int32_t>(op, data, e)
                   : expected_of<std::int32_t, std::uint64_t>(op, data, e);
    case dtype::i64:
      return order ? expected_of<std::int64_t, std::int64_t>(op, data, e)
                   : expected_of<std::int64_t, std::uint64_t>(op, data, e);
    case dtype::u8: return expected_of<std::uint8_t, std::uint64_t>(op, data, e);
    case dtype::u16: return expected_of<std::uint16_t, std::uint64_t>(op, data, e);
    case dtype::u32: return expected_of<std::uint32_t, std::uint64_t>(op, data, e);
    case dtype::u64: return expected_of<std::uint64_t, std::uint64_t>(op, data, e);
    case dtype::f16: return expected_of<sinter::half, float>(op, data, e);
    case dtype::bf16: return expected_of<sinter::bfloat, float>(op, data, e);
    case dtype::f32: return expected_of<float, float>(op, data, e);
    case dtype::f64: return expected_of<double, double>(op, data, e);
    case dtype::c64: return expected_of<cx<float>, cx<float>>(op, data, e);
    case dtype::c128: return expected_of<cx<double>, cx<double>>(op, data, e);
  }
  return {};
}

void write_real(dtype t, unsigned char* to, double x) {
  const sinter::half h(static_cast<float>(x));
  const sinter::bfloat b(static_cast<float>(x));
  const auto f = static_cast<float>(x);
  if (t == dtype::f16) std::memcpy(to, &h, sizeof h);
  else if (t == dtype::bf16) std::memcpy(to, &b, sizeof b);
  else if (t == dtype::f32 || t == dtype::c64) std::memcpy(to, &f, sizeof f);
  else std::memcpy(to, &x, sizeof x);
}

/// Numbers whose sums and products no order rounds: small integers; or units (1, -1, i, -i).
bytes exact_numbers(dtype t, scan_op op, size_t count, unsigned seed) {
  if (!sinter::is_inexact(t)) return make_elements(t, pattern::bits, static_cast<int64_t>(count), seed);
  if (op == scan_op::max || op == scan_op::min)
    return make_elements(t, pattern::bits, static_cast<int64_t>(count), seed);
  const size_t item = sinter::itemsize(t);
  bytes out(count * item);
  std::mt19937_64 random(seed);
  for (size_t k = 0; k < count; ++k) {
    const auto draw = random();
    if (op == scan_op::sum) {
      write_real(t, &out[k * item], static_cast<double>(draw % 7) - 3);
      if (sinter::is_complex(t)) write_real(t, &out[k * item + item / 2], static_cast<double>(draw / 7 % 7) - 3);
    } else {
      const double sign = draw % 2 ? 1 : -1;
      const bool turned = sinter::is_complex(t) && draw / 2 % 2;
      write_real(t, &out[k * item], turned ? 0 : sign);
      if (sinter::is_complex(t)) write_real(t, &out[k * item + item / 2], turned ? sign : 0);
    }
  }
  return out;
}

/// Scans into other memory that begins `offset` elements into a block, then in place.
void check_scan(runtime::backend& b, dtype t, scan_op op, const extents& e, const bytes& data, const bytes& expected,
                size_t offset) {
  const scan_layout layout{op, t, e.outer, e.count, e.inner};
  runtime::algorithms& a = b.algorithms();
  const device_array from(b, data, offset * sinter::itemsize(t)), to(b, data.size());
  const device_array scratch(b, a.scan_scratch(layout));
  a.scan(layout, from.data(), to.data(), scratch.data());
  CHECK(first_difference(t, to.to_host(), expected) == -1);
  CHECK(from.to_host() == data);
  a.scan(layout, from.data(), from.data(), scratch.data());
  CHECK(first_difference(t, from.to_host(), expected) == -1);
}

/// Units multiply to zeros of either sign in complex numbers.
bytes without_negative_zeros(dtype t, bytes x) {
  if (!sinter::is_complex(t)) return x;
  const size_t part = sinter::itemsize(t) / 2;
  for (size_t at = 0; at < x.size(); at += part)
    if (real_part(t, &x[at], 0) == 0) std::memset(&x[at], 0, part);
  return x;
}

void check_exact(runtime::backend& b, dtype t, scan_op op, const extents& e) {
  const std::string what = describe(t, op, e);
  CAPTURE(what);
  const auto count = static_cast<size_t>(e.outer * e.count * e.inner);
  const bytes data = exact_numbers(t, op, count, static_cast<unsigned>(count));
  const bytes expected = expected_scan(t, op, data, e);
  if (op == scan_op::prod && sinter::is_complex(t)) {
    const scan_layout layout{op, t, e.outer, e.count, e.inner};
    const device_array x(b, data), scratch(b, b.algorithms().scan_scratch(layout));
    b.algorithms().scan(layout, x.data(), x.data(), scratch.data());
    CHECK(first_difference(t, without_negative_zeros(t, x.to_host()), without_negative_zeros(t, expected)) == -1);
    return;
  }
  check_scan(b, t, op, e, data, expected, count % 3);
}

const scan_op exact_ops[] = {scan_op::sum, scan_op::prod, scan_op::max, scan_op::min};

}  // namespace

TEST_CASE("gpu: scans of every dtype, operation and layout agree with a loop to the bit") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  for (dtype t : all_dtypes())
    for (scan_op op : exact_ops)
      for (const extents& e : layouts) check_exact(*b, t, op, e);
}

TEST_CASE("gpu: scans of long axes agree with a loop to the bit") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  for (dtype t : all_dtypes())
    for (scan_op op : exact_ops)
      for (const extents& e : long_layouts)
        if (op != scan_op::prod || e.outer == 1) check_exact(*b, t, op, e);
}

TEST_CASE("gpu: a scan over more than two groups of groups of tiles agrees with a loop to the bit") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  check_exact(*b, dtype::c128, scan_op::sum, {1, (1 << 22) + 4099, 1});
  check_exact(*b, dtype::i8, scan_op::sum, {1, (1 << 24) + (1 << 20) + 5, 1});
  check_exact(*b, dtype::f32, scan_op::max, {1, (1 << 24) + 77, 1});
}

TEST_CASE("gpu: maxima and minima keep NaNs, infinities and the sign of the first of two zeros") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  for (dtype t : all_dtypes())
    for (scan_op op : {scan_op::max, scan_op::min})
      for (const extents& e : {extents{5000, 9, 1}, extents{1, 9000, 1}, extents{40, 300, 3}, extents{9, 40, 100}}) {
        const std::string what = describe(t, op, e);
        CAPTURE(what);
        bytes data = make_elements(t, pattern::specials, e.outer * e.count * e.inner, 11);
        // Few NaNs, or everything would be NaN soon.
        const size_t item = sinter::itemsize(t);
        for (size_t k = 0; k < data.size() / item; ++k)
          if (k % 97 != 0 && is_nan_at(t, &data[k * item])) std::memset(&data[k * item], 0, item);
        check_scan(*b, t, op, e, data, expected_scan(t, op, data, e), 1);
      }
}

TEST_CASE("gpu: a sum of negative zeros is a negative zero, and a NaN stays from where it is") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  for (int64_t n : {int64_t{5}, int64_t{3000}, int64_t{300000}}) {
    bytes zeros(static_cast<size_t>(n) * 4), broken;
    for (int64_t k = 0; k < n; ++k) write_real(dtype::f32, &zeros[static_cast<size_t>(k) * 4], -0.0);
    check_scan(*b, dtype::f32, scan_op::sum, {1, n, 1}, zeros, zeros, 0);
    broken = exact_numbers(dtype::f32, scan_op::sum, static_cast<size_t>(n), 3);
    write_real(dtype::f32, &broken[static_cast<size_t>(n / 2) * 4], std::numeric_limits<double>::quiet_NaN());
    check_scan(*b, dtype::f32, scan_op::sum, {1, n, 1}, broken,
               expected_scan(dtype::f32, scan_op::sum, broken, {1, n, 1}), 0);
  }
}

TEST_CASE("gpu: sums of random numbers have the same bits in every run and are close to those in float64") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  for (dtype t : {dtype::f32, dtype::f64, dtype::f16, dtype::bf16})
    for (const extents& e :
         {extents{1, (1 << 21) + 77, 1}, extents{300, 1000, 1}, extents{1, 100000, 5}, extents{2, 3000, 200}}) {
      const std::string what = describe(t, scan_op::sum, e);
      CAPTURE(what);
      const size_t item = sinter::itemsize(t), count = static_cast<size_t>(e.outer * e.count * e.inner);
      bytes data(count * item), wide(count * 8), sizes(count * 8);
      std::mt19937_64 random(5);
      for (size_t k = 0; k < count; ++k) {
        write_real(t, &data[k * item],
                   (static_cast<double>(random() >> 11) * 0x1p-53 - 0.5) * (t == dtype::f16 ? 0.1 : 1));
        const double x = real_part(t, &data[k * item], 0), size = std::abs(x);
        std::memcpy(&wide[k * 8], &x, 8);
        std::memcpy(&sizes[k * 8], &size, 8);
      }
      const bytes sums = expected_scan(dtype::f64, scan_op::sum, wide, e);
      const bytes bounds = expected_scan(dtype::f64, scan_op::sum, sizes, e);
      const scan_layout layout{scan_op::sum, t, e.outer, e.count, e.inner};
      const device_array from(*b, data), to(*b, data.size()), scratch(*b, b->algorithms().scan_scratch(layout));
      bytes first;
      for (int run = 0; run < 5; ++run) {
        b->algorithms().scan(layout, from.data(), to.data(), scratch.data());
        const bytes got = to.to_host();
        if (run == 0) first = got;
        CHECK(got == first);
      }
      // Pairwise sums: a few roundings for each factor of the length, in the accumulator; one more where stored.
      const double accumulator = t == dtype::f64 ? 0x1p-53 : 0x1p-24;
      const double stored = t == dtype::f16 ? 0x1p-11 : t == dtype::bf16 ? 0x1p-8 : 0;
      int64_t wrong = -1;
      for (size_t k = 0; k < count && wrong < 0; ++k) {
        const double x = real_part(t, &first[k * item], 0), y = read_as<double>(sums.data(), k);
        const double bound = 100 * accumulator * read_as<double>(bounds.data(), k) + stored * std::abs(y) + 1e-30;
        if (!(std::abs(x - y) <= bound)) wrong = static_cast<int64_t>(k);
      }
      CHECK(wrong == -1);
    }
}

TEST_CASE("gpu: logarithms of sums of exponentials are close to a loop in float64") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  for (dtype t : {dtype::f16, dtype::bf16, dtype::f32, dtype::f64})
    for (const extents& e :
         {extents{1, 33, 1}, extents{100, 700, 1}, extents{1, 100003, 1}, extents{1, 3000, 7}, extents{2, 400, 130}}) {
      const std::string what = describe(t, scan_op::logaddexp, e);
      CAPTURE(what);
      const size_t item = sinter::itemsize(t), count = static_cast<size_t>(e.outer * e.count * e.inner);
      const double infinity = std::numeric_limits<double>::infinity();
      bytes data(count * item), wide(count * 8);
      std::mt19937_64 random(9);
      for (size_t k = 0; k < count; ++k) {
        const auto draw = random();
        write_real(t, &data[k * item],
                   draw % 50 == 0 ? -infinity : static_cast<double>(draw >> 11) * 0x1p-53 * 20 - 10);
        const double x = real_part(t, &data[k * item], 0);
        std::memcpy(&wide[k * 8], &x, 8);
      }
      const bytes expected = plain_scan<double, double>(wide, e, [](double x, double y) {
        const double high = std::max(x, y), low = std::min(x, y);
        return high == low ? high + std::log(2.0) : high + std::log1p(std::exp(low - high));
      });
      const scan_layout layout{scan_op::logaddexp, t, e.outer, e.count, e.inner};
      const device_array x(*b, data), scratch(*b, b->algorithms().scan_scratch(layout));
      b->algorithms().scan(layout, x.data(), x.data(), scratch.data());
      const bytes got = x.to_host();
      const double stored = t == dtype::f16 ? 0x1p-11 : t == dtype::bf16 ? 0x1p-8 : 0;
      const double accumulator = t == dtype::f64 ? 0x1p-53 : 0x1p-24;
      int64_t wrong = -1;
      for (size_t k = 0; k < count && wrong < 0; ++k) {
        const double a = real_part(t, &got[k * item], 0), y = read_as<double>(expected.data(), k);
        if (a == y) continue;
        if (!(std::abs(a - y) <= (stored + 300 * accumulator) * std::max(1.0, std::abs(y))))
          wrong = static_cast<int64_t>(k);
      }
      CHECK(wrong == -1);
    }
}

TEST_CASE("gpu: scans of nothing are no error") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  for (const extents& e : {extents{0, 5, 3}, extents{5, 0, 3}, extents{5, 3, 0}, extents{1, 0, 1}}) {
    const scan_layout layout{scan_op::sum, dtype::f32, e.outer, e.count, e.inner};
    const device_array x(*b, size_t{0}), scratch(*b, b->algorithms().scan_scratch(layout));
    b->algorithms().scan(layout, x.data(), x.data(), scratch.data());
    b->synchronize();
  }
}

#endif
