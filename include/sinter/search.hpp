// Searching in sorted arrays. These functions record: the search is an operation of each element that fuses with the
// expressions around it; only the sorted array has to be in memory before.
#pragma once
#include <string_view>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

struct searchsorted_kw {
  kwonly _kw{};
  std::string_view side = "left";
  ndarray sorter{};  // int64 indices that sort `a`; undefined: it is sorted
};
/// int64 index k, of v's shape, before which an element v must be inserted to keep `a` (1-D, ascending as sort orders)
/// in order: a[k-1] < v <= a[k] on the left side, a[k-1] <= v < a[k] on the right one. Both promote to one dtype;
/// a number counts as int64 (uint64), float64 or complex128, and lies before or after all integers of a dtype that it
/// does not fit.
/// value_error: another side. shape_error: `a` or the sorter is not 1-D, or their lengths differ. dtype_error: the
/// sorter is not of integers. A sorter's index out of range is an index_error when the result is read.
ndarray searchsorted(const ndarray& a, const operand& v, const searchsorted_kw& kw = {});
inline ndarray searchsorted(const ndarray& a, const operand& v, std::string_view side, searchsorted_kw kw = {}) {
  kw.side = side;
  return searchsorted(a, v, kw);
}

struct digitize_kw {
  kwonly _kw{};
  bool right = false;
};
/// int64 index of the bin of each element, of x's shape: bins[k-1] <= x < bins[k], or bins[k-1] < x <= bins[k] where
/// `right`; of descending bins, bins[k-1] > x >= bins[k], or bins[k-1] >= x > bins[k]. `bins` is 1-D and monotonic: its
/// ends tell the direction, nothing checks the rest. dtype_error: complex x.
ndarray digitize(const ndarray& x, const ndarray& bins, const digitize_kw& kw = {});

}  // namespace sinter::inline v0
