// Functions whose options have a place among their arguments, called with keywords as NumPy's: `isclose(x, y, {.rtol = 1e-3})` is
// `isclose(x, y, 1e-3)`, `stack({x, y}, {.axis = 1})` is `stack({x, y}, 1)`. Defaults, results and errors are those of the
// functions.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/grids.hpp"
#include "sinter/indexing.hpp"
#include "sinter/keywords.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/numerics.hpp"
#include "sinter/padding.hpp"
#include "sinter/polynomial.hpp"
#include "sinter/sort.hpp"
#include "sinter/take.hpp"

namespace sinter::inline v0 {

// ---- comparisons, replacements, angles, rounding

struct isclose_kw {
  kwonly _kw{};
  double rtol = 1e-5;
  double atol = 1e-8;
  bool equal_nan = false;
};
inline ndarray isclose(const operand& x, const operand& y, const isclose_kw& kw) {
  return isclose(x, y, kw.rtol, kw.atol, kw.equal_nan);
}
inline bool allclose(const operand& x, const operand& y, const isclose_kw& kw) {
  return allclose(x, y, kw.rtol, kw.atol, kw.equal_nan);
}
struct array_equal_kw {
  kwonly _kw{};
  bool equal_nan = false;
};
inline bool array_equal(const ndarray& x, const ndarray& y, const array_equal_kw& kw) {
  return array_equal(x, y, kw.equal_nan);
}
struct nan_to_num_kw {
  kwonly _kw{};
  double nan = 0.0;
  std::optional<double> posinf{};  // the dtype's largest number
  std::optional<double> neginf{};  // its lowest
};
inline ndarray nan_to_num(const ndarray& x, const nan_to_num_kw& kw) {
  return nan_to_num(x, kw.nan, kw.posinf, kw.neginf);
}
struct angle_kw {
  kwonly _kw{};
  bool deg = false;
};
inline ndarray angle(const ndarray& x, const angle_kw& kw) { return angle(x, kw.deg); }
struct real_if_close_kw {
  kwonly _kw{};
  double tol = 100;
};
inline ndarray real_if_close(const ndarray& x, const real_if_close_kw& kw) { return real_if_close(x, kw.tol); }
struct round_kw {
  kwonly _kw{};
  std::int64_t decimals = 0;
};
inline ndarray round(const ndarray& x, const round_kw& kw) { return round(x, kw.decimals); }
inline ndarray around(const ndarray& x, const round_kw& kw) { return round(x, kw.decimals); }

// ---- an axis

struct first_axis_kw {
  kwonly _kw{};
  std::int64_t axis = 0;
};
inline ndarray stack(const std::vector<ndarray>& arrays, const first_axis_kw& kw) { return stack(arrays, kw.axis); }
inline std::vector<ndarray> unstack(const ndarray& x, const first_axis_kw& kw) { return unstack(x, kw.axis); }
inline std::vector<ndarray> split(const ndarray& x, std::int64_t sections, const first_axis_kw& kw) {
  return split(x, sections, kw.axis);
}
inline std::vector<ndarray> split(const ndarray& x, const std::vector<std::int64_t>& indices, const first_axis_kw& kw) {
  return split(x, indices, kw.axis);
}
inline std::vector<ndarray> array_split(const ndarray& x, std::int64_t sections, const first_axis_kw& kw) {
  return array_split(x, sections, kw.axis);
}
inline std::vector<ndarray> array_split(const ndarray& x, const std::vector<std::int64_t>& indices,
                                        const first_axis_kw& kw) {
  return array_split(x, indices, kw.axis);
}
/// `{.axis = _}` flattens.
struct joined_axis_kw {
  kwonly _kw{};
  optional_axis axis = 0;
};
inline ndarray concatenate(const std::vector<ndarray>& arrays, const joined_axis_kw& kw) {
  return concatenate(arrays, kw.axis);
}
inline ndarray concat(const std::vector<ndarray>& arrays, const joined_axis_kw& kw) {
  return concatenate(arrays, kw.axis);
}
/// Without an axis the array is flattened.
struct flat_axis_kw {
  kwonly _kw{};
  optional_axis axis = std::nullopt;
};
inline ndarray repeat(const ndarray& x, std::int64_t repeats, const flat_axis_kw& kw) {
  return repeat(x, repeats, kw.axis);
}
inline ndarray repeat(const ndarray& x, const ndarray& counts, const flat_axis_kw& kw) {
  return repeat(x, counts, kw.axis);
}
inline ndarray repeat(const ndarray& x, const std::vector<std::int64_t>& counts, const flat_axis_kw& kw) {
  return repeat(x, counts, kw.axis);
}
inline ndarray append(const ndarray& x, const operand& values, const flat_axis_kw& kw) {
  return append(x, values, kw.axis);
}
inline ndarray insert(const ndarray& x, const index& where, const operand& values, const flat_axis_kw& kw) {
  return insert(x, where, values, kw.axis);
}
inline ndarray delete_(const ndarray& x, const index& where, const flat_axis_kw& kw) {
  return delete_(x, where, kw.axis);
}
struct take_kw {
  kwonly _kw{};
  optional_axis axis = std::nullopt;
  std::string_view mode = "raise";
};
inline ndarray take(const ndarray& x, const operand& indices, const take_kw& kw) {
  return take(x, indices, kw.axis, {.mode = kw.mode});
}
/// `{.axis = _}` flattens.
struct last_axis_kw {
  kwonly _kw{};
  optional_axis axis = -1;
};
inline ndarray take_along_axis(const ndarray& x, const ndarray& indices, const last_axis_kw& kw) {
  return take_along_axis(x, indices, kw.axis);
}
inline ndarray partition(const ndarray& x, std::int64_t kth, const last_axis_kw& kw) {
  return partition(x, kth, kw.axis);
}
inline ndarray argpartition(const ndarray& x, std::int64_t kth, const last_axis_kw& kw) {
  return argpartition(x, kth, kw.axis);
}

struct rollaxis_kw {
  kwonly _kw{};
  std::int64_t start = 0;
};
inline ndarray rollaxis(const ndarray& x, std::int64_t axis, const rollaxis_kw& kw) {
  return rollaxis(x, axis, kw.start);
}
struct key_axis_kw {
  kwonly _kw{};
  std::int64_t axis = -1;
};
inline ndarray lexsort(const std::vector<ndarray>& keys, const key_axis_kw& kw) { return lexsort(keys, kw.axis); }
inline ndarray lexsort(const ndarray& keys, const key_axis_kw& kw) { return lexsort(keys, kw.axis); }

// ---- planes and borders

struct rot90_kw {
  kwonly _kw{};
  std::int64_t k = 1;
  sinter::axes axes{0, 1};
};
inline ndarray rot90(const ndarray& x, const rot90_kw& kw) { return rot90(x, kw.k, kw.axes); }
struct trim_zeros_kw {
  kwonly _kw{};
  std::string_view trim = "fb";
  axes axis{};
};
inline ndarray trim_zeros(const ndarray& x, const trim_zeros_kw& kw) { return trim_zeros(x, kw.trim, kw.axis); }

// ---- diagonals

struct diagonal_k_kw {
  kwonly _kw{};
  std::int64_t k = 0;
};
inline ndarray diag(const ndarray& x, const diagonal_k_kw& kw) { return diag(x, kw.k); }
inline ndarray diagflat(const ndarray& x, const diagonal_k_kw& kw) { return diagflat(x, kw.k); }
inline ndarray tril(const ndarray& x, const diagonal_k_kw& kw) { return tril(x, kw.k); }
inline ndarray triu(const ndarray& x, const diagonal_k_kw& kw) { return triu(x, kw.k); }
inline std::vector<ndarray> tril_indices_from(const ndarray& x, const diagonal_k_kw& kw) {
  return tril_indices_from(x, kw.k);
}
inline std::vector<ndarray> triu_indices_from(const ndarray& x, const diagonal_k_kw& kw) {
  return triu_indices_from(x, kw.k);
}
inline std::vector<ndarray> mask_indices(std::int64_t n,
                                         const std::function<ndarray(const ndarray&, std::int64_t)>& mask,
                                         const diagonal_k_kw& kw) {
  return mask_indices(n, mask, kw.k);
}
struct diag_indices_kw {
  kwonly _kw{};
  std::int64_t ndim = 2;
};
inline std::vector<ndarray> diag_indices(std::int64_t n, const diag_indices_kw& kw) { return diag_indices(n, kw.ndim); }

// ---- samples and polynomials

struct convolve_kw {
  kwonly _kw{};
  std::string_view mode = "full";
};
inline ndarray convolve(const ndarray& x, const ndarray& y, const convolve_kw& kw) { return convolve(x, y, kw.mode); }
struct correlate_kw {
  kwonly _kw{};
  std::string_view mode = "valid";
};
inline ndarray correlate(const ndarray& x, const ndarray& y, const correlate_kw& kw) {
  return correlate(x, y, kw.mode);
}
struct polyder_kw {
  kwonly _kw{};
  std::int64_t m = 1;
};
inline ndarray polyder(const ndarray& p, const polyder_kw& kw) { return polyder(p, kw.m); }
struct polyint_kw {
  kwonly _kw{};
  std::int64_t m = 1;
  operand k = 0;
};
inline ndarray polyint(const ndarray& p, const polyint_kw& kw) { return polyint(p, kw.m, kw.k); }

}  // namespace sinter::inline v0
