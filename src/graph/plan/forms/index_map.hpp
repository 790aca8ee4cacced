// Affine maps from a kernel's variables (its iteration axes, then gathered indices) to coordinates of a value.
#pragma once
#include "core/dims.hpp"

namespace sinter::graph {

using core::dims;

/// coordinate[k] = offset(k) + sum_v coefficient(k, v) * variable[v], dense.
class index_map {
 public:
  index_map() = default;
  index_map(int rows, int variables) : rows_(rows), variables_(variables), cells_(rows * (variables + 1)) {}
  static index_map identity(int rows, int variables) {
    index_map m(rows, variables);
    for (int k = 0; k < rows; ++k) m.coefficient(k, k) = 1;
    return m;
  }
  int rows() const noexcept { return rows_; }
  int variables() const noexcept { return variables_; }
  std::int64_t& offset(int row) noexcept { return cells_[row * (variables_ + 1)]; }
  std::int64_t offset(int row) const noexcept { return cells_[row * (variables_ + 1)]; }
  std::int64_t& coefficient(int row, int v) noexcept { return cells_[row * (variables_ + 1) + 1 + v]; }
  std::int64_t coefficient(int row, int v) const noexcept { return cells_[row * (variables_ + 1) + 1 + v]; }
  void copy_row(int row, const index_map& from, int from_row) noexcept {
    for (int c = 0; c <= variables_; ++c)
      cells_[row * (variables_ + 1) + c] = from.cells_[from_row * (variables_ + 1) + c];
  }
  friend bool operator==(const index_map& a, const index_map& b) noexcept {
    return a.rows_ == b.rows_ && a.cells_ == b.cells_;
  }

 private:
  int rows_ = 0, variables_ = 0;
  dims cells_;
};

/// Linear element index of a view: offset + sum_v coefficient[v] * variable[v].
struct linear_form {
  std::int64_t offset = 0;
  dims coefficients;
};
/// The linear index that `strides` and `offset` give the coordinates of `map`.
linear_form compose(const index_map& map, const dims& strides, std::int64_t offset);

/// The map of an operand of shape `operand` that broadcasts to `shape`, given the map of `shape`.
index_map broadcast(const index_map& map, const dims& shape, const dims& operand);

/// Splits a view's linear index into coordinates of its base: on success `out` maps the *view's coordinates* (as
/// variables) to the base's. False where some step crosses from one base axis into another: the view is not affine.
bool decompose(const dims& base, const dims& shape, const dims& strides, std::int64_t offset, index_map& out);

/// The extents of a space with axes split where a step along one of them crosses from one axis of `base` into another, as in a
/// reshape: with these, `strides` decompose. Empty where no splitting does that.
dims refined(const dims& extents, const dims& strides, const dims& base);

/// The same map with more variables, on which nothing depends.
index_map widened(const index_map& map, int variables);

/// outer after inner: the map of the base in terms of `outer`'s variables, where `inner` maps outer's rows to base
/// rows.
index_map substitute(const index_map& inner, const index_map& outer);

}  // namespace sinter::graph
