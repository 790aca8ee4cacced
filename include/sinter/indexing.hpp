// Where elements are, and writing to many of them. `x(idx)`, `x[mask]` and their assignments are in ndarray.hpp.
//
// Functions whose result's size depends on data (nonzero, argwhere, flatnonzero, one-argument where, compress, extract,
// place) evaluate their arguments and synchronise. The others record, or run without waiting. Indices are int64.
// index_error: an index out of range, when the result is read at the latest; shape_error: shapes that do not fit;
// dtype_error: index dtypes other than integers.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"
#include "sinter/take.hpp"

namespace sinter::inline v0 {

// ---- where elements are

/// The coordinates of the elements that are not zero, C order: one vector an axis. value_error for rank 0.
std::vector<ndarray> nonzero(const ndarray& x);
inline std::vector<ndarray> where(const ndarray& condition) { return nonzero(condition); }
/// The same as rows: shape (count, ndim).
ndarray argwhere(const ndarray& x);
/// C-order positions of the elements that are not zero.
ndarray flatnonzero(const ndarray& x);

/// The slices along `axis` (none: the elements of x flattened) where `condition`, rank 1, is true. A condition that is
/// shorter than the axis leaves out the rest.
ndarray compress(const ndarray& condition, const ndarray& x, optional_axis axis = std::nullopt);
/// The elements of x where `condition`, of as many elements, is true; rank 1.
ndarray extract(const ndarray& condition, const ndarray& x);
/// Element k of the result is choices[which[k]][k]; all broadcast together, dtypes promote. With "raise" it synchronises to
/// check: value_error for a number that is no choice's, negative ones included. value_error without choices.
ndarray choose(const ndarray& which, const std::vector<ndarray>& choices, const mode_kw& kw = {});
/// Numbers among them have their default dtype, as NumPy makes arrays of them.
ndarray choose(const ndarray& which, std::initializer_list<operand> choices, const mode_kw& kw = {});

namespace detail {
std::vector<ndarray> open_mesh(std::initializer_list<index> sequences);
}  // namespace detail
/// Index arrays for the cross product of vectors (arrays or lists, also of bools): x(ix_(rows, columns)) has the shape
/// (rows, columns). shape_error unless each has rank 1; value_error for indices that are no arrays.
template <index_like... I>
std::vector<ndarray> ix_(const I&... sequences) {
  return detail::open_mesh({index(sequences)...});
}

/// Coordinates of positions in `shape`, counted with the last axis fastest (order 'C') or the first one ('F'; value_error for
/// others): one array an axis, of the positions' shape. Synchronises to check them: index_error for one out of range, negative
/// ones included.
std::vector<ndarray> unravel_index(const operand& positions, const shape_t& shape, const order_kw& kw = {});
/// Keywords of ravel_multi_index. `modes` are those of each axis in place of one for all (value_error: another number of them).
struct ravel_index_kw {
  kwonly _kw{};
  std::string_view mode = "raise";
  char order = 'C';
  std::vector<std::string_view> modes{};
};
/// The inverse. With "raise" it synchronises to check, and negative coordinates are errors.
ndarray ravel_multi_index(const std::vector<ndarray>& coordinates, const shape_t& shape, const ravel_index_kw& kw = {});

/// Indices of the main diagonal of an n x n x ... array.
std::vector<ndarray> diag_indices(std::int64_t n, std::int64_t ndim = 2);
/// Indices of the elements on and below (tril) or above (triu) the k-th diagonal of an n x m array; m is n if absent.
/// These synchronise.
std::vector<ndarray> tril_indices(std::int64_t n, std::int64_t k = 0, std::optional<std::int64_t> m = {});
std::vector<ndarray> triu_indices(std::int64_t n, std::int64_t k = 0, std::optional<std::int64_t> m = {});
/// The same by name.
struct triangle_kw {
  kwonly _kw{};
  std::int64_t k = 0;
  std::optional<std::int64_t> m{};
};
inline std::vector<ndarray> tril_indices(std::int64_t n, const triangle_kw& kw) { return tril_indices(n, kw.k, kw.m); }
inline std::vector<ndarray> triu_indices(std::int64_t n, const triangle_kw& kw) { return triu_indices(n, kw.k, kw.m); }

// ---- writing

/// x.flat[indices] = values in C order; values are repeated where there are fewer. Of equal indices the last one wins.
void put(const ndarray& x, const operand& indices, const operand& values, const mode_kw& kw = {});
/// x(..., indices(..., k, ...), ...) = values(..., k, ...): the inverse of take_along_axis. `values` broadcasts.
void put_along_axis(const ndarray& x, const ndarray& indices, const operand& values, optional_axis axis);
/// x = values where `mask`, of x's shape, is true; where values have another shape, element k of x takes value
/// k % values.size(). One fused kernel.
void putmask(const ndarray& x, const ndarray& mask, const operand& values);
/// The k-th true element takes value k % values.size(). value_error for no values where something is true.
void place(const ndarray& x, const ndarray& mask, const operand& values);

struct scatter_kw {
  kwonly _kw{};
  bool deterministic = false;
};
/// x(i) += v, once for each time that an element is named: `add_at(x, idx, v)`, `add_at(x(rows, columns), v)`. Runs at
/// once without waiting. By atomic additions, so that the last bits of floating-point sums vary from run to run;
/// with .deterministic values are added in C order, which needs a sort. Integers never vary. Values are cast to x's dtype
/// (dtype_error unless casting::same_kind allows it). scatter_add is another name.
void add_at(subarray&& where, const operand& v, const scatter_kw& kw = {});
inline void add_at(const ndarray& x, const index& where, const operand& v, const scatter_kw& kw = {}) {
  add_at(x(where), v, kw);
}
inline void scatter_add(subarray&& where, const operand& v, const scatter_kw& kw = {}) {
  add_at(std::move(where), v, kw);
}
inline void scatter_add(const ndarray& x, const index& where, const operand& v, const scatter_kw& kw = {}) {
  add_at(x(where), v, kw);
}
/// x(i) = maximum(x(i), v) and minimum, for each value; NaN wins. They do not vary. dtype_error for complex.
void scatter_max(subarray&& where, const operand& v, const scatter_kw& kw = {});
inline void scatter_max(const ndarray& x, const index& where, const operand& v, const scatter_kw& kw = {}) {
  scatter_max(x(where), v, kw);
}
void scatter_min(subarray&& where, const operand& v, const scatter_kw& kw = {});
inline void scatter_min(const ndarray& x, const index& where, const operand& v, const scatter_kw& kw = {}) {
  scatter_min(x(where), v, kw);
}

}  // namespace sinter::inline v0
