// Random programs that mix sparse and dense arrays, beside the same computation of dense arrays alone. Elements are small whole
// numbers, so that all sums are exact and results are equal to the last bit. SINTER_FUZZ_CASE=1234 replays one program.
#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>
#include <optional>

#include "fuzz/mutation.hpp"
#include "sinter/sinter.hpp"
#include "sinter/sparse.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
using fuzz::random_numbers;
using sparse::sparse_array;

/// A sparse array and the dense one that it must be.
struct pair_of {
  sparse_array s;
  ndarray d;
};

class program {
 public:
  explicit program(std::uint64_t number) : draw_(number) {
    for (int k = 0; k < 3; ++k) all_.push_back(fresh(rows_, columns_));
  }
  void run() {
    const std::size_t steps = 4 + draw_.below(14);
    for (std::size_t k = 0; k < steps; ++k) {
      step();
      if (draw_.below(3) == 0) compare(some());  // else things pile up
    }
    for (const pair_of& p : all_) compare(p);
  }
  const std::string& text() const { return text_; }

 private:
  std::size_t below(std::size_t n) { return draw_.below(n); }
  std::int64_t number(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::size_t>(high - low)));
  }
  pair_of& some() { return all_[below(all_.size())]; }
  ndarray dense(const shape_t& shape) {
    std::vector<double> v;
    for (std::int64_t k = 0; k < product_of(shape); ++k) v.push_back(static_cast<double>(number(-3, 4)));
    return array(v).reshape(shape);
  }
  static std::int64_t product_of(const shape_t& shape) {
    std::int64_t n = 1;
    for (const auto e : shape) n *= e;
    return n;
  }
  /// Entries in no order, some of equal place, some zeros, some rows without any.
  pair_of fresh(std::int64_t rows, std::int64_t columns) {
    const std::int64_t entries = rows * columns == 0 ? 0 : number(0, 2 + rows * columns / 2);
    std::vector<std::int64_t> row, column;
    std::vector<double> data;
    for (std::int64_t k = 0; k < entries; ++k) {
      row.push_back(number(0, rows)), column.push_back(number(0, columns));
      data.push_back(static_cast<double>(number(-3, 4)));
    }
    const ndarray d = zeros({rows, columns}, {.dtype = float64});
    if (entries != 0) add_at(d(array(row), array(column)), array(data));
    sparse_array s = entries == 0 ? sparse::coo_array(shape_t{rows, columns})
                                  : sparse::coo_array(array(data), array(row), array(column), shape_t{rows, columns});
    return {in_some_format(s), d};
  }
  sparse_array in_some_format(const sparse_array& s) {
    switch (below(3)) {
      case 0: return s.tocsr();
      case 1: return s.tocsc();
      default: return s.tocoo();
    }
  }
  bool takes_more(const ndarray& d) const { return max(abs(d), {.initial = 0.0}).item<double>() < 1e5; }
  void keep(const char* what, const sparse_array& s, const ndarray& d) {
    text_ += std::string(what) + "; ";
    if (d.shape(0) > 60 || d.shape(1) > 60 || !takes_more(d)) {
      compare({s, d});
      return;
    }
    if (all_.size() < 6) all_.push_back({s, d});
    else all_[below(all_.size())] = {s, d};
  }
  void same(const char* what, const ndarray& got, const ndarray& expected) {
    text_ += std::string(what) + "; ";
    CHECK(array_equal(got, expected));
  }
  void compare(const pair_of& p) {
    REQUIRE(p.s.shape() == p.d.shape());
    CHECK(array_equal(p.s.toarray(), p.d));
  }
  /// One of the same shape, made for it where there is none.
  pair_of partner(const pair_of& p) {
    for (const pair_of& other : all_)
      if (other.d.shape() == p.d.shape() && below(2) == 0) return other;
    return fresh(p.d.shape(0), p.d.shape(1));
  }

  void step() {
    const pair_of p = some();
    const std::int64_t rows = p.d.shape(0), columns = p.d.shape(1);
    switch (below(5)) {
      case 0: return of_one(p, rows, columns);
      case 1: return of_two(p);
      case 2: return with_dense(p, rows, columns);
      case 3: return parts(p, rows, columns);
      default: return changed(p, rows, columns);
    }
  }
  void of_one(const pair_of& p, std::int64_t rows, std::int64_t columns) {
    switch (below(8)) {
      case 0: return keep("transpose", p.s.T(), p.d.T());
      case 1: return keep("format", in_some_format(p.s), p.d);
      case 2: return keep("twice", p.s * 2, p.d * 2);
      case 3: return keep("abs", abs(p.s), abs(p.d));
      case 4: return keep("negative", -p.s, -p.d);
      case 5: {
        const std::int64_t k = number(-2, 3);
        return keep("tril", sparse::tril(p.s, k), tril(p.d, k));
      }
      case 6:
        if (rows * columns == 0) return;
        same("sums", p.s.sum(0), sum(p.d, 0));
        same("largest", p.s.max(1), max(p.d, 1));
        return same("smallest", p.s.min(0), min(p.d, 0));
      default: return same("sum", p.s.sum(), sum(p.d));
    }
  }
  void of_two(const pair_of& p) {
    const pair_of q = partner(p);
    switch (below(7)) {
      case 0: return keep("add", p.s + q.s, p.d + q.d);
      case 1: return keep("subtract", p.s - q.s, p.d - q.d);
      case 2: return keep("multiply", p.s * q.s, p.d * q.d);
      case 3: return keep("maximum", maximum(p.s, q.s), maximum(p.d, q.d));
      case 4: return keep("product", sparse::matmul(p.s, q.s.T()), matmul(p.d, q.d.T()));
      case 5: return keep("vstack", sparse::vstack({p.s, q.s}), concatenate({p.d, q.d}, 0));
      default: return keep("hstack", sparse::hstack({p.s, q.s}), concatenate({p.d, q.d}, 1));
    }
  }
  void with_dense(const pair_of& p, std::int64_t rows, std::int64_t columns) {
    const ndarray x = dense({columns}), y = dense({rows}),
                  wide = dense({columns, 1 + static_cast<std::int64_t>(below(4))});
    switch (below(7)) {
      case 0: return same("times vector", p.s.dot(x), matmul(p.d, x));
      case 1: return same("from the left", sparse::matmul(y, p.s), matmul(y, p.d));
      case 2: return same("times matrix", p.s.dot(wide), matmul(p.d, wide));
      case 3: return same("transposed", p.s.T().dot(y), matmul(p.d.T(), y));
      case 4: {
        // What reads the product is recorded, and joins what came before it.
        const ndarray got = 3 * p.s.dot(2 * x + 1, {.alpha = 2, .beta = -1, .y = y}) - y;
        return same("scaled", got, 3 * (2 * matmul(p.d, 2 * x + 1) - y) - y);
      }
      case 5: return keep("times row", p.s * x, p.d * x);
      default: return same("plus dense", p.s + y(_, newaxis), p.d + y(_, newaxis));
    }
  }
  void parts(const pair_of& p, std::int64_t rows, std::int64_t columns) {
    if (rows == 0 || columns == 0) return;
    const std::int64_t first = number(0, rows), last = number(first, rows) + 1, step = number(1, 4);
    switch (below(5)) {
      case 0: return keep("rows", p.s(slice(first, last, step), _), p.d(slice(first, last, step), _));
      case 1: return keep("columns from the end", p.s(_, slice(_, _, -step)), p.d(_, slice(_, _, -step)));
      case 2: {
        std::vector<std::int64_t> at;
        for (std::size_t k = below(5) + 1; k > 0; --k) at.push_back(number(-rows, rows));
        return keep("rows by number", p.s(array(at)), p.d(array(at)));
      }
      case 3: {
        const std::int64_t k = number(-2, 3);
        if (k <= -rows || k >= columns) return;
        return same("diagonal", p.s.diagonal(k), diagonal(p.d, k));
      }
      default: return same("element", p.s.at(first, 0), p.d(first, 0));
    }
  }
  void changed(const pair_of& p, std::int64_t rows, std::int64_t columns) {
    sparse_array s = p.s;
    ndarray d = p.d.copy();
    switch (below(5)) {
      case 0: s.sum_duplicates(); break;
      case 1: s.eliminate_zeros(); break;
      case 2: s.sort_indices(); break;
      case 3:
        if (rows == 0 || columns == 0) return;
        s.setdiag(5);
        for (std::int64_t k = 0; k < std::min(rows, columns); ++k) d(k, k) = 5.0;
        break;
      default: s = s.with_data(s.data() * 3), d = d * 3; break;
    }
    compare(p);  // which has not changed
    keep("changed", s, d);
  }

  random_numbers draw_;
  std::int64_t rows_ = number(0, 12), columns_ = number(0, 12);
  std::vector<pair_of> all_;
  std::string text_;
};

}  // namespace

TEST_CASE("random programs of sparse and dense arrays") {
  const char* const wanted = std::getenv("SINTER_FUZZ_CASE");
  const std::uint64_t count = default_device().kind == device_kind::cpu ? 1500 : 150;
  for (std::uint64_t number = 0; number < count; ++number) {
    if (wanted && *wanted && std::strtoull(wanted, nullptr, 10) != number) continue;
    CAPTURE(number);
    program p(number);
    try {
      p.run();
    } catch (const error& e) {
      FAIL_CHECK(p.text() << e.what());
    }
  }
}
