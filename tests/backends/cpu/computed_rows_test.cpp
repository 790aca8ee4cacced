// Reductions of computed elements against the order of additions in scalar code: every row length up to some lanes, every
// layout, interpreted and compiled, on several threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include "jit/cpu/block.hpp"
#include "backends/cpu/addition_order.hpp"
#include "support/cpu_harness.hpp"

using namespace cpu_test;

namespace {

template <class T>
constexpr bool is_real_float = std::is_floating_point_v<T>;
template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// As NumPy joins two values, with NaN and both zeros; NaN has one bit pattern in results.
template <class T>
T joined(reduce_op op, T a, T b) {
  if (op == reduce_op::sum) return a + b;
  if (op == reduce_op::prod) return a * b;
  if constexpr (is_real_float<T>) {
    if (a != a) return a;
    if (b != b) return b;
    if (a == b && a == 0) return op == reduce_op::min ? (std::signbit(a) ? a : b) : (std::signbit(a) ? b : a);
  }
  if constexpr (requires { a < b; }) return op == reduce_op::min ? std::min(a, b) : std::max(a, b);
  else return a;
}
template <class T>
T tidy(T x) {
  if constexpr (is_real_float<T>) return x != x ? std::numeric_limits<T>::quiet_NaN() : x;
  else return x;
}

/// The result of a row, or of a column, of so many.
template <class T>
T result_of(reduce_op op, const std::vector<T>& line, bool row, std::size_t results) {
  const jit::addition_order order =
      jit::order_of_additions(row, static_cast<std::int64_t>(results), static_cast<std::int64_t>(line.size()));
  return tidy(*order_test::joined(line, order, [op](T a, T b) { return joined(op, a, b); }));
}

enum class expression { plain, product, by_row, by_column };

/// Values of both signs, some of them zeros of both signs; `wild`: some infinite or not numbers.
template <class T>
std::vector<T> values(std::size_t n, unsigned seed, bool wild) {
  std::mt19937 engine(seed);
  std::vector<T> v(n);
  for (T& x : v) {
    const auto draw = static_cast<int>(engine() % 4001);
    if constexpr (std::is_integral_v<T>) x = static_cast<T>(draw - 2000);
    else if constexpr (is_real_float<T>) {
      x = draw % 19 == 0 ? T(-0.0) : draw % 23 == 0 ? T(0) : static_cast<T>(draw - 2000) / T(777);
      if (wild && draw % 501 == 7) x = std::numeric_limits<T>::quiet_NaN();
      if (wild && draw % 501 == 8) x = -std::numeric_limits<T>::infinity();
    } else {
      x = T(static_cast<float>(draw - 2000) / 777, static_cast<float>(engine() % 1000) / 7);
    }
  }
  return v;
}

/// A matrix in memory: element (r, e) is at r * strides[0] + e * strides[1] + offset.
struct layout {
  dims strides;
  std::int64_t offset, size;
};
std::vector<layout> layouts(std::int64_t rows, std::int64_t columns) {
  const std::int64_t all = rows * columns;
  return {{{columns, 1}, 0, all},
          {{columns + 3, 1}, 1, rows * (columns + 3) + 1},
          {{2 * columns, 2}, 1, 2 * all + 1},
          {{1, rows}, 0, all},
          {{columns, -1}, columns - 1, all},
          {{-columns, 1}, all - columns, all}};
}
template <class T>
std::vector<T> laid_out(const std::vector<T>& m, std::int64_t rows, std::int64_t columns, const layout& to) {
  std::vector<T> out(static_cast<std::size_t>(to.size), T(77));
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t e = 0; e < columns; ++e)
      out[static_cast<std::size_t>(r * to.strides[0] + e * to.strides[1] + to.offset)] =
          m[static_cast<std::size_t>(r * columns + e)];
  return out;
}

/// One reduction of one expression, for any extents and layouts.
template <class T>
class reduction_case {
 public:
  reduction_case(reduce_op op, expression what) : op_(op), what_(what) {
    builder b;
    const dtype t = dtype_of<T>;
    auto x = b.load(t);
    if (what != expression::plain) {
      const auto y = b.load(t);
      const auto d = b.binary(what == expression::by_column ? opcode::subtract : opcode::multiply, t, x, y);
      x = what == expression::by_row ? b.binary(opcode::subtract, t, d, x) : d;
    }
    b.reduce(op, t, x);
    program_ = b.reductions();
  }
  /// The last axis of a (rows, columns) matrix, or the first one.
  void check(std::int64_t rows, std::int64_t columns, bool last, bool wild) {
    CAPTURE(rows);
    CAPTURE(columns);
    CAPTURE(last);
    CAPTURE(static_cast<int>(op_));
    CAPTURE(static_cast<int>(what_));
    const auto x = values<T>(static_cast<std::size_t>(rows * columns), 3, wild);
    const std::int64_t others = what_ == expression::product  ? rows * columns
                                : what_ == expression::by_row ? rows
                                                              : columns;
    const auto y = values<T>(static_cast<std::size_t>(others), 4, false);
    const dims y_strides = what_ == expression::product  ? dims{columns, 1}
                           : what_ == expression::by_row ? dims{1, 0}
                                                         : dims{0, 1};
    const auto expected = results(x, y, y_strides, rows, columns, last);
    std::vector<T> out(expected.size());
    int turn = 0;
    for (const layout& l : layouts(rows, columns)) {
      CAPTURE(turn);
      const auto moved = laid_out(x, rows, columns, l);
      launch run_this = space(program_, last ? dims{rows, columns} : dims{columns, rows}, 1, last);
      const auto in_order = [&](const dims& s) { return last ? s : dims{s[1], s[0]}; };
      run_this.inputs = {at(moved, in_order(l.strides), l.offset)};
      if (what_ != expression::plain) run_this.inputs.push_back(at(y, in_order(y_strides)));
      run_this.outputs = {at(out, {1, 0})};
      settings restore;
      for (const auto tier : {cpu::tier::interpreted, cpu::tier::compiled}) {
        cpu::set_tier(tier);
        runtime::set_thread_count(1 + turn++ % 4);
        std::memset(static_cast<void*>(out.data()), 0x5a, out.size() * sizeof(T));
        run(run_this);
        CHECK(same_bits(expected, out));
      }
    }
  }

 private:
  std::vector<T> results(const std::vector<T>& x, const std::vector<T>& y, const dims& y_strides, std::int64_t rows,
                         std::int64_t columns, bool last) const {
    std::vector<T> all;
    for (std::int64_t i = 0; i < (last ? rows : columns); ++i) {
      std::vector<T> line;
      for (std::int64_t j = 0; j < (last ? columns : rows); ++j) {
        const std::int64_t r = last ? i : j, c = last ? j : i;
        const T a = x[static_cast<std::size_t>(r * columns + c)];
        const T b = what_ == expression::plain ? T() : y[static_cast<std::size_t>(r * y_strides[0] + c * y_strides[1])];
        line.push_back(what_ == expression::plain       ? a
                       : what_ == expression::by_column ? T(a - b)
                       : what_ == expression::by_row    ? T(T(a * b) - a)
                                                        : T(a * b));
      }
      all.push_back(result_of(op_, line, last, static_cast<std::size_t>(last ? rows : columns)));
    }
    return all;
  }

  reduce_op op_;
  expression what_;
  program program_;
};

const std::int64_t long_rows[] = {100, 127,  128,  129,  200,  255,  256,  257,
                                  500, 1000, 1024, 1025, 2047, 2048, 2049, 5000};

template <class T>
void check_rows(reduce_op op, bool wild) {
  for (const auto what : {expression::plain, expression::product, expression::by_row, expression::by_column}) {
    reduction_case<T> c(op, what);
    for (std::int64_t n = 1; n <= 70; ++n) {
      c.check(37, n, true, wild);
      c.check(n % 5 == 0 ? 300 : 1, n, true, wild);
    }
    for (const std::int64_t n : long_rows) c.check(n < 600 ? 19 : 3, n, true, wild);
  }
}
template <class T>
void check_columns(reduce_op op, bool wild) {
  for (const auto what : {expression::plain, expression::product, expression::by_row, expression::by_column}) {
    reduction_case<T> c(op, what);
    for (const std::int64_t columns : {1, 5, 64, 129, 200, 256, 300, 500, 1023, 1025, 2500, 9000})
      for (const std::int64_t rows : {1, 2, 64, 129, 300})
        if (rows * columns < 400000) c.check(rows, columns, false, wild);
  }
}

}  // namespace

TEST_CASE("computed rows: sums in the order of additions, every length and layout") {
  check_rows<float>(reduce_op::sum, false);
  check_rows<double>(reduce_op::sum, true);
  check_rows<std::complex<float>>(reduce_op::sum, false);
}

TEST_CASE("computed rows: products and extrema, with NaN and zeros of both signs") {
  check_rows<double>(reduce_op::prod, false);
  check_rows<float>(reduce_op::min, true);
  check_rows<float>(reduce_op::max, false);
  check_rows<double>(reduce_op::max, true);
}

TEST_CASE("computed rows: integers of every width") {
  check_rows<std::int32_t>(reduce_op::max, false);
  check_rows<std::uint32_t>(reduce_op::sum, false);
  check_rows<std::uint64_t>(reduce_op::prod, false);
  check_rows<std::int64_t>(reduce_op::min, false);
  check_rows<std::int16_t>(reduce_op::max, false);
}

TEST_CASE("computed columns: every width, in groups of more than a block") {
  check_columns<float>(reduce_op::sum, true);
  check_columns<double>(reduce_op::sum, false);
  check_columns<float>(reduce_op::max, true);
  check_columns<std::int64_t>(reduce_op::prod, false);
}

TEST_CASE("computed rows: truth values, any, all and counts of comparisons") {
  for (const reduce_op op : {reduce_op::any, reduce_op::all, reduce_op::count})
    for (const bool rows : {true, false}) {
      builder b;
      const auto x = b.load(dtype::f32), t = b.param(dtype::f32);
      const auto above = b.emit(opcode::greater, dtype::b1, dtype::f32, x, t);
      b.reduce(op, op == reduce_op::count ? dtype::i64 : dtype::b1, above);
      const program p = b.reductions();
      for (std::int64_t n : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 50, 63, 64, 65, 127, 128, 300, 2040, 2041, 3000})
        for (const float threshold : {-2.7f, 0.0f, 2.5f, 9.0f}) {
          CAPTURE(n);
          CAPTURE(threshold);
          const std::int64_t results = n < 100 ? 41 : 5;
          const auto data = values<float>(static_cast<std::size_t>(results * n), static_cast<unsigned>(n), false);
          std::vector<std::int64_t> counts(static_cast<std::size_t>(results));
          std::vector<std::uint8_t> truths(counts.size());
          launch l = space(p, {results, n}, 1, rows);
          l.inputs = {at(data, {n, 1})};
          l.outputs = {op == reduce_op::count ? at(counts, {1, 0}) : at(truths, {1, 0})};
          l.params = {number(threshold)};
          if (op == reduce_op::count) in_all_ways(l, counts);
          else in_all_ways(l, truths);
          bool right = true;
          for (std::size_t r = 0; r < counts.size(); ++r) {
            const auto begin = data.begin() + static_cast<std::ptrdiff_t>(r) * n;
            const auto count = std::count_if(begin, begin + n, [&](float v) { return v > threshold; });
            right = right && (op == reduce_op::count ? counts[r] == count
                              : op == reduce_op::any ? truths[r] == (count > 0)
                                                     : truths[r] == (count == n));
          }
          CHECK(right);
        }
    }
}

TEST_CASE("computed rows: float16 and bfloat16 rows, several reductions of one row, an epilogue") {
  for (const dtype t : {dtype::f16, dtype::bf16})
    for (const bool rows : {true, false})
      for (std::int64_t n : {1, 3, 16, 17, 50, 64, 65, 128, 300, 1100}) {
        CAPTURE(n);
        builder b;
        const auto x = b.load(t), y = b.load(t);
        const auto product = b.binary(opcode::multiply, t, x, y);
        b.reduce(reduce_op::sum, t, product);
        b.reduce(reduce_op::max, t, x);
        b.p.epilogue = static_cast<std::uint16_t>(b.p.code.size());
        const auto sum = b.emit(opcode::reduced, t, t, 0), most = b.emit(opcode::reduced, t, t, 1);
        b.p.outputs.push_back({t, 0, b.binary(opcode::add, t, sum, most)});
        const std::int64_t results = rows ? 41 : 700;
        std::vector<std::uint16_t> data(static_cast<std::size_t>(results * n)), out(static_cast<std::size_t>(results));
        for (std::size_t i = 0; i < data.size(); ++i)  // small integers, so that every order gives the same
          data[i] = t == dtype::f16 ? std::uint16_t(i % 3 == 0 ? 0x3c00 : 0) : std::uint16_t(i % 3 == 0 ? 0x3f80 : 0);
        launch l = space(b.p, {results, n}, 1, rows);
        const dims strides = rows ? dims{n, 1} : dims{1, results};
        l.inputs = {at(data, strides), at(data, strides)};
        l.outputs = {at(out, {1, 0})};
        const auto got = in_all_ways(l, out);
        std::vector<float> wide(got.size());
        (t == dtype::f16 ? jit::widen_f16 : jit::widen_bf16)(wide.data(), got.data(), static_cast<int>(got.size()));
        bool right = true;
        for (std::int64_t r = 0; r < results; ++r) {
          int count = 0;
          for (std::int64_t e = 0; e < n; ++e) count += (rows ? r * n + e : e * results + r) % 3 == 0;
          const float expected = static_cast<float>(count) + (count > 0 ? 1.0f : 0.0f);
          right = right && std::fabs(wide[static_cast<std::size_t>(r)] - expected) <= expected / 128;
        }
        CHECK(right);
      }
}
