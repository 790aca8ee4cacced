// Scans on the CPU against plain loops: every operation and dtype, rows and columns, the same bits for any number of
// threads and any layout.
#include "backends/cpu/kernels/hooks.hpp"  // clang takes namespace sinter::cpu only before the device of that name

#include <cmath>

#include "runtime/hooks.hpp"
#include "sinter/error.hpp"
#include "support/algorithm_cases.hpp"
#include "support/cpu_harness.hpp"

using namespace algorithm_cases;
using runtime::scan_layout;
using runtime::scan_op;

namespace {

backend& the_cpu() { return runtime::get_backend({}); }

/// The scan, out of place and in place, with 1, 2 and 7 threads: all the same bits.
template <class T>
std::vector<T> scanned(const scan_layout& l, const std::vector<T>& values) {
  auto& algorithms = the_cpu().algorithms();
  cpu_test::settings restore;
  const bytes data = bytes_of(values);
  bytes first;
  for (int threads : {1, 2, 7}) {
    runtime::set_thread_count(threads);
    guarded_memory from(the_cpu(), data), to(the_cpu(), data.size()), scratch(the_cpu(), algorithms.scan_scratch(l));
    algorithms.scan(l, from.data(), to.data(), scratch.data());
    CHECK(from.download() == data);
    algorithms.scan(l, from.data(), from.data(), scratch.data());
    if (threads == 1) first = to.download();
    CHECK(to.download() == first);
    CHECK(from.download() == first);
  }
  std::vector<T> result(values.size());
  if constexpr (std::is_same_v<T, bool>) result.assign(first.begin(), first.end());
  else if (!first.empty()) std::memcpy(static_cast<void*>(result.data()), first.data(), first.size());
  return result;
}

template <class T>
struct wide {
  using type = T;
};
template <>
struct wide<half> {
  using type = float;
};
template <>
struct wide<bfloat> {
  using type = float;
};

/// One element after the other, in the accumulator's type.
template <class T, class Join>
std::vector<T> plain_scan(const scan_layout& l, const std::vector<T>& values, Join join) {
  using accumulator = typename wide<T>::type;
  std::vector<T> result(values.size());
  for (std::int64_t o = 0; o < l.outer; ++o)
    for (std::int64_t c = 0; c < l.inner; ++c) {
      accumulator sum{};
      for (std::int64_t i = 0; i < l.count; ++i) {
        const auto at = static_cast<std::size_t>((o * l.count + i) * l.inner + c);
        const auto x = static_cast<accumulator>(static_cast<T>(values[at]));
        sum = i == 0 ? x : join(sum, x);
        result[at] = static_cast<T>(sum);
      }
    }
  return result;
}

template <class T>
T wrapped_sum(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) return a || b;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else return a + b;
}
template <class T>
T wrapped_product(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) return a && b;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else if constexpr (is_complex_type<T>)
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  else return a * b;
}

template <class T>
bool has_nan(const T& x) {
  if constexpr (is_complex_type<T>) return has_nan(x.real()) || has_nan(x.imag());
  else return x != x;
}
/// NumPy's comparison of complex numbers is false where an imaginary part is NaN.
template <class T>
bool at_least(const T& a, const T& b) {
  if constexpr (is_complex_type<T>) {
    if (a.real() == b.real()) return a.imag() >= b.imag();
    return a.real() > b.real() && !has_nan(a.imag()) && !has_nan(b.imag());
  } else {
    return a >= b;
  }
}
template <class T>
T greater(T a, T b) {
  return has_nan(a) || at_least(a, b) ? a : b;
}
template <class T>
T lesser(T a, T b) {
  return has_nan(a) || at_least(b, a) ? a : b;
}

/// Numbers whose sums and products are exact in any order: sums within a small range, products powers of two near 1.
template <class T>
std::vector<T> exact_values(std::int64_t n, bool product, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double sign = random() % 2 ? 1 : -1;
    // Along any axis of the layouts used here, neighbours at even and odd places undo each other.
    if constexpr (std::is_integral_v<T>) values[i] = random_bits<T>(random);
    else if constexpr (is_complex_type<T>) {
      using part = typename T::value_type;
      if (product) values[i] = random() % 2 ? T(part(sign), 0) : T(0, part(sign));
      else values[i] = T(part(sign), part(random() % 2 ? 1 : -1));
    } else values[i] = from_double<T>(product ? sign : random() % 3 == 0 ? 0.0 : sign);
  }
  return values;
}

template <class T>
bool same_values(const std::vector<T>& a, const std::vector<T>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(static_cast<T>(a[i]) == static_cast<T>(b[i]))) return false;
  return a.size() == b.size();
}

template <class T>
void check_exact(scan_layout l, unsigned seed) {
  const std::int64_t n = l.outer * l.count * l.inner;
  CAPTURE(name(l.type));
  CAPTURE(l.outer);
  CAPTURE(l.count);
  CAPTURE(l.inner);
  const auto terms = exact_values<T>(n, false, seed), factors = exact_values<T>(n, true, seed);
  using w = typename wide<T>::type;
  l.op = scan_op::sum;
  CHECK(same_values(scanned(l, terms), plain_scan(l, terms, wrapped_sum<w>)));
  l.op = scan_op::prod;
  CHECK(same_values(scanned(l, factors), plain_scan(l, factors, wrapped_product<w>)));
  for (pattern p : {pattern::bits, pattern::specials, pattern::numbers, pattern::few}) {
    CAPTURE(name_of(p));
    const auto values = make_values<T>(p, n, seed);
    l.op = scan_op::max;
    CHECK(bytes_of(scanned(l, values)) == bytes_of(plain_scan(l, values, greater<w>)));
    l.op = scan_op::min;
    CHECK(bytes_of(scanned(l, values)) == bytes_of(plain_scan(l, values, lesser<w>)));
  }
}

}  // namespace

TEST_CASE("scan: sums, products, maxima and minima of every dtype are those of a plain loop") {
  unsigned seed = 0;
  for (dtype t : all_dtypes())
    with_element(t, [&]<class T>(T) {
      for (const auto& c : scan_cases) check_exact<T>({scan_op::sum, t, c.outer, c.count, c.inner}, ++seed);
    });
}

TEST_CASE("scan: long axes, that all threads work on together") {
  unsigned seed = 0;
  for (const auto& c : long_scan_cases)
    for (dtype t : {dtype::f16, dtype::f32, dtype::i64, dtype::u8, dtype::c128})
      with_element(t, [&]<class T>(T) { check_exact<T>({scan_op::sum, t, c.outer, c.count, c.inner}, ++seed); });
}

TEST_CASE("scan: sums of floats are as good as a loop's, and start anew on each row") {
  for (const auto& c : {scan_case{1, 1000000, 1}, scan_case{3, 4097, 1}, scan_case{2, 5000, 3}}) {
    const scan_layout l{scan_op::sum, dtype::f32, c.outer, c.count, c.inner};
    const auto values = make_values<float>(pattern::numbers, c.outer * c.count * c.inner, 4);
    const auto got = scanned(l, values);
    std::vector<double> wide_values(values.begin(), values.end());
    const auto expected =
        plain_scan({scan_op::sum, dtype::f64, c.outer, c.count, c.inner}, wide_values, wrapped_sum<double>);
    // Additions before any element: a segment's and the totals before.
    const double bound = (528 + static_cast<double>(c.count) / 528) * 0x1p-24;
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::fabs(got[i] - expected[i]) / expected[i]);
    CHECK(worst <= bound);
  }
}

TEST_CASE("scan: short axes are added one element after the other, as NumPy adds them") {
  const auto values = make_values<float>(pattern::numbers, 500, 6);
  const scan_layout l{scan_op::sum, dtype::f32, 1, 500, 1};
  CHECK(bytes_of(scanned(l, values)) == bytes_of(plain_scan(l, values, wrapped_sum<float>)));
  // No zero is added in front.
  CHECK(bytes_of(scanned({scan_op::sum, dtype::f64, 1, 2, 1}, std::vector<double>{-0.0, -0.0})) ==
        bytes_of(std::vector<double>{-0.0, -0.0}));
}

TEST_CASE("scan: an element's bits do not depend on the other axes") {
  const std::int64_t n = 20011;
  const auto row = make_values<double>(pattern::numbers, n, 8);
  const auto alone = scanned({scan_op::sum, dtype::f64, 1, n, 1}, row);
  for (std::int64_t copies : {3, 9, 70}) {
    std::vector<double> rows, columns;
    for (std::int64_t k = 0; k < copies; ++k) rows.insert(rows.end(), row.begin(), row.end());
    for (double x : row) columns.insert(columns.end(), static_cast<std::size_t>(copies), x);
    const auto by_rows = scanned({scan_op::sum, dtype::f64, copies, n, 1}, rows);
    const auto by_columns = scanned({scan_op::sum, dtype::f64, 1, n, copies}, columns);
    bool same = true;
    for (std::size_t k = 0; k < static_cast<std::size_t>(copies); ++k)
      for (std::size_t i = 0; i < alone.size(); ++i)
        same = same && by_rows[k * alone.size() + i] == alone[i] &&
               by_columns[i * static_cast<std::size_t>(copies) + k] == alone[i];
    CHECK(same);
  }
}

TEST_CASE("scan: sums of numbers that are not negative never fall") {
  const auto got = scanned({scan_op::sum, dtype::f32, 1, 3000000, 1}, make_values<float>(pattern::numbers, 3000000, 2));
  CHECK(std::is_sorted(got.begin(), got.end()));
}

TEST_CASE("scan: logaddexp is the logarithm of the sum of exponentials") {
  for (dtype t : {dtype::f16, dtype::bf16, dtype::f32, dtype::f64})
    with_element(t, [&]<class T>(T) {
      using w = typename wide<T>::type;
      if constexpr (std::is_floating_point_v<w>) {
        for (const auto& c : {scan_case{1, 4097, 1}, scan_case{3, 600, 1}, scan_case{2, 1200, 5}}) {
          const scan_layout l{scan_op::logaddexp, t, c.outer, c.count, c.inner};
          std::mt19937_64 random(12);
          std::vector<T> values(static_cast<std::size_t>(c.outer * c.count * c.inner));
          for (auto& x : values) x = from_double<T>(static_cast<double>(random() % 2000) / 100 - 10);
          std::vector<long double> wide_values;
          for (auto x : values) wide_values.push_back(static_cast<w>(x));
          const auto expected = plain_scan(
              {scan_op::logaddexp, dtype::f64, c.outer, c.count, c.inner}, wide_values,
              [](long double a, long double b) { return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b))); });
          const auto got = scanned(l, values);
          // Each join adds an error of at most two units in the last place; the result is rounded to the type.
          const long double joins = 528 + c.count / 528;
          const long double rounding = t == dtype::f16 ? 0x1p-11L : t == dtype::bf16 ? 0x1p-8L : 0;
          const long double each = 2 * static_cast<long double>(std::numeric_limits<w>::epsilon());
          long double worst = 0;
          for (std::size_t i = 0; i < got.size(); ++i) {
            const long double error = std::fabs(static_cast<w>(got[i]) - expected[i]);
            worst = std::max(worst, error / (std::max(1.0L, std::fabs(expected[i])) * (joins * each + rounding)));
          }
          CHECK(worst <= 1);
        }
      }
    });
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> special{-inf, -inf, 1, -inf, inf, inf, -inf};
  const auto got = scanned({scan_op::logaddexp, dtype::f64, 1, 7, 1}, special);
  CHECK(bytes_of(got) == bytes_of(std::vector<double>{-inf, -inf, 1, 1, inf, inf, inf}));
  CHECK(std::isnan(scanned({scan_op::logaddexp, dtype::f64, 1, 2, 1}, std::vector<double>{std::nan(""), 1})[1]));
}

TEST_CASE("scan: logaddexp refuses what is not real and floating") {
  for (dtype t : {dtype::b1, dtype::i32, dtype::u8, dtype::c64})
    CHECK_THROWS_AS(the_cpu().algorithms().scan_scratch({scan_op::logaddexp, t, 1, 1000, 1}), dtype_error);
}
