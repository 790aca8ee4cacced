// Arrays made larger or smaller: borders, insertions, deletions, repetition, blocks. New arrays throughout; they record unless
// the comment says otherwise. index_error: an axis or a position out of range; shape_error: shapes that do not fit.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

/// What comes before and behind along each axis: `2`, `{1, 2}` (both for every axis) or `{{1, 2}, {0, 3}}` (for each axis).
/// Parameter-only.
template <class T>
class before_and_after {
 public:
  template <scalar_like N>
  before_and_after(N both) : pairs_{{T(both), T(both)}} {}
  template <scalar_like A, scalar_like B>
  before_and_after(A before, B after) : pairs_{{T(before), T(after)}} {}
  before_and_after(std::initializer_list<std::pair<T, T>> each) : pairs_(each) {}
  before_and_after(const std::vector<std::pair<T, T>>& each) : pairs_(each) {}
  std::size_t size() const noexcept { return pairs_.size(); }
  const std::pair<T, T>& operator[](std::size_t i) const noexcept { return pairs_[i]; }

 private:
  std::vector<std::pair<T, T>> pairs_;
};

/// Keywords of pad: the mode, and what some modes need.
struct pad_kw {
  kwonly _kw{};
  std::string_view mode = "constant";
  before_and_after<scalar> constant_values = 0;           // constant
  before_and_after<scalar> end_values = 0;                // linear_ramp
  std::optional<before_and_after<extent>> stat_length{};  // maximum, mean, median, minimum: of how many elements
  std::string_view reflect_type = "even";  // reflect, symmetric: or "odd", twice the edge less the reflection
};
/// Borders around an array, axis after axis. Modes: constant, edge, linear_ramp, maximum, mean, median, minimum, reflect
/// (without the edge), symmetric (with it), wrap, empty (zeros here). Borders may be wider than the array. value_error: another mode, a negative width, an empty axis that has
/// nothing to extend; shape_error: another number of pairs than axes.
ndarray pad(const ndarray& x, const before_and_after<extent>& width, const pad_kw& kw = {});
inline ndarray pad(const ndarray& x, const before_and_after<extent>& width, std::string_view mode, pad_kw kw = {}) {
  kw.mode = mode;
  return pad(x, width, kw);
}

/// `values` behind x along an axis, or both flattened (`_`).
ndarray append(const ndarray& x, const operand& values, optional_axis axis = std::nullopt);
/// A number before the flattened values.
ndarray append(const scalar& number, const ndarray& values);
/// `values` before the elements at one or several positions, which may be the extent: numbers, a slice, a list, integers or
/// a mask (read at the call), counted before anything is inserted. Values broadcast, and take x's dtype; at one number they
/// may have more than one element along the axis.
ndarray insert(const ndarray& x, const index& where, const operand& values, optional_axis axis = std::nullopt);
/// Without the elements at one or several positions, given as for insert. NumPy's `delete`, which C++ reserves.
ndarray delete_(const ndarray& x, const index& where, optional_axis axis = std::nullopt);
/// Another shape, with the elements in C order, again from the first one where they do not suffice; zeros of nothing.
ndarray resize(const ndarray& x, const shape_t& shape);
/// Without the zeros at the front ('f') and back ('b') along all axes or those named; a view. Synchronises.
ndarray trim_zeros(const ndarray& x, std::string_view trim = "fb", const axes& axis = {});

/// Part of nested braces of arrays and numbers. Parameter-only.
class block_node {
 public:
  block_node(const ndarray& x) : array_(x) {}
  template <scalar_like T>
  block_node(T number) : number_(number) {}
  block_node(std::initializer_list<block_node> parts) : parts_(parts), is_list_(true) {}
  bool is_list() const noexcept { return is_list_; }
  const std::vector<block_node>& parts() const noexcept { return parts_; }
  /// An array, or else a number.
  const ndarray& array() const noexcept { return array_; }
  const scalar& number() const noexcept { return number_; }

 private:
  ndarray array_;
  scalar number_ = 0;
  std::vector<block_node> parts_;
  bool is_list_ = false;
};
/// An array of blocks: the innermost braces are joined along the last axis, the next ones along the one before, and so on:
/// `block({{a, b}, {c, d}})`. value_error: braces of different depths, or empty ones.
ndarray block(std::initializer_list<block_node> blocks);

/// Writes where `where` is true (everywhere unless given): `src` broadcasts, and casts as casting::same_kind allows
/// (dtype_error).
struct copyto_kw {
  kwonly _kw{};
  optional_array where{};
};
void copyto(const ndarray& dst, const operand& src, const copyto_kw& kw = {});

/// Keyword of fill_diagonal: whether the diagonal of a tall matrix begins again below.
struct fill_diagonal_kw {
  kwonly _kw{};
  bool wrap = false;
};
/// Writes to the diagonal of a matrix, or of an array with equal extents; values of another size repeat. shape_error: rank
/// below 2, or other extents.
void fill_diagonal(const ndarray& x, const operand& values, const fill_diagonal_kw& kw = {});

}  // namespace sinter::inline v0
