// Sets: distinct elements, and what two arrays have in common. Arrays are flattened in C order; results are sorted as
// by sort. How many elements a result has depends on the data, so these functions evaluate and synchronise; isin, whose
// result has the shape of its first argument, does not.
//
// Elements are the same where they compare equal: -0 and +0 are one element. NaN is no element's equal, not even its
// own: each is an element by itself. Only where NumPy's own functions look for duplicates within one array (`unique`
// unless equal_nan is false, intersect1d, union1d, setdiff1d, setxor1d) its NaNs become one.
#pragma once
#include "sinter/take.hpp"

namespace sinter::inline v0 {

/// The distinct elements; of two zeros or two equal numbers the first one in C order.
ndarray unique_values(const ndarray& x);
struct unique_counts_result {
  ndarray values, counts;
};
/// And how often each is there (int64).
unique_counts_result unique_counts(const ndarray& x);
struct unique_inverse_result {
  ndarray values, inverse_indices;
};
/// And for each element of x, in x's shape, which of the values it is (int64): take(values, inverse_indices) is x.
unique_inverse_result unique_inverse(const ndarray& x);
struct unique_all_result {
  ndarray values, indices, inverse_indices, counts;
};
/// All of it, with the C-order position of each value's first occurrence (int64).
unique_all_result unique_all(const ndarray& x);

/// Keywords of unique.
struct unique_kw {
  kwonly _kw{};
  bool return_index = false;
  bool return_inverse = false;
  bool return_counts = false;
  optional_axis axis = std::nullopt;
  bool equal_nan = true;
  bool sorted = true;  // changes nothing: values are sorted
};
/// What was asked for; the others are undefined. Where an array is wanted, the values.
struct unique_result {
  ndarray values, index, inverse, counts;
  operator ndarray() const { return values; }
};
/// NumPy's unique. With an axis, the distinct sub-arrays along it, in lexicographic order, and 1-D indices along it; it
/// sorts once for each element of a sub-array, and takes NaNs for different whatever equal_nan says, as NumPy does.
unique_result unique(const ndarray& x, const unique_kw& kw = {});

struct set_kw {
  kwonly _kw{};
  bool assume_unique = false;  // both arrays are sets already: nothing looks for duplicates
};
struct intersect_kw {
  kwonly _kw{};
  bool assume_unique = false;
  bool return_indices = false;
};
/// The common elements; where asked for, the positions of their first occurrences in the flattened arrays (int64).
struct intersect_result {
  ndarray values, indices1, indices2;
  operator ndarray() const { return values; }
};
intersect_result intersect1d(const ndarray& x, const ndarray& y, const intersect_kw& kw = {});
/// The elements of either.
ndarray union1d(const ndarray& x, const ndarray& y);
/// The elements of x that y has not; with assume_unique in the order of x.
ndarray setdiff1d(const ndarray& x, const ndarray& y, const set_kw& kw = {});
/// The elements of only one of the two.
ndarray setxor1d(const ndarray& x, const ndarray& y, const set_kw& kw = {});

struct isin_kw {
  kwonly _kw{};
  bool assume_unique = false;  // changes nothing
  bool invert = false;
};
/// Whether each element of x is among those of `test` (the opposite where `invert`): bool of x's shape. Both promote to
/// one dtype; a number counts as int64 (uint64), float64 or complex128, and is no element of an integer dtype that it
/// does not fit. `test` is sorted at the call; the search records.
ndarray isin(const operand& x, const operand& test, const isin_kw& kw = {});

}  // namespace sinter::inline v0
