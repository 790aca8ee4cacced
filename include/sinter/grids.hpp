// Arrays from rules, beside creation.hpp: grids, diagonals, series, and views by strides.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sinter/creation.hpp"
#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

// ---- diagonals and triangles

/// Of a matrix its k-th diagonal (a read-only view), of a vector the matrix that has it there. shape_error: another rank.
ndarray diag(const ndarray& x, std::int64_t k = 0);
/// The matrix with the flattened elements on the k-th diagonal.
ndarray diagflat(const ndarray& x, std::int64_t k = 0);
/// Ones on and below the k-th diagonal, float64.
ndarray tri(std::int64_t rows, const eye_kw& kw = {});
ndarray tri(std::int64_t rows, std::int64_t columns, const eye_kw& kw = {});
/// Indices of the elements of an n x n matrix that `mask(ones, k)` leaves. Synchronises.
std::vector<ndarray> mask_indices(std::int64_t n, const std::function<ndarray(const ndarray&, std::int64_t)>& mask,
                                  std::int64_t k = 0);
/// diag_indices, tril_indices and triu_indices for an array's shape and device. shape_error: no matrix, or (diag) extents
/// that differ.
std::vector<ndarray> diag_indices_from(const ndarray& x);
std::vector<ndarray> tril_indices_from(const ndarray& x, std::int64_t k = 0);
std::vector<ndarray> triu_indices_from(const ndarray& x, std::int64_t k = 0);

// ---- series

/// `count` arrays evenly from one to another, which broadcast, along a new axis. Dtypes as linspace of numbers, of float32 and
/// float16 float64, too. value_error: count < 0; index_error: the axis is not one of the result's.
struct linspace_arrays_kw {
  kwonly _kw{};
  bool endpoint = true;
  std::optional<sinter::dtype> dtype{};
  std::int64_t axis = 0;
};
ndarray linspace(const ndarray& start, const operand& stop, std::int64_t count = 50, const linspace_arrays_kw& kw = {});
ndarray linspace(const scalar& start, const ndarray& stop, std::int64_t count = 50, const linspace_arrays_kw& kw = {});
/// base ** linspace(start, stop).
struct logspace_kw {
  kwonly _kw{};
  bool endpoint = true;
  double base = 10.0;
  std::optional<sinter::dtype> dtype{};
  std::optional<sinter::device> device{};
};
ndarray logspace(const scalar& start, const scalar& stop, std::int64_t count = 50, const logspace_kw& kw = {});
/// The same between arrays, which broadcast with the base, along a new axis of the result. Dtypes and errors as linspace.
struct logspace_arrays_kw {
  kwonly _kw{};
  bool endpoint = true;
  operand base = 10.0;
  std::optional<sinter::dtype> dtype{};
  std::int64_t axis = 0;
};
ndarray logspace(const ndarray& start, const operand& stop, std::int64_t count = 50, const logspace_arrays_kw& kw = {});
ndarray logspace(const scalar& start, const ndarray& stop, std::int64_t count = 50, const logspace_arrays_kw& kw = {});
/// Numbers from start to stop with a constant ratio, both exact. value_error: one of them is 0, or their signs differ.
ndarray geomspace(double start, double stop, std::int64_t count = 50, const linspace_kw& kw = {});
/// The same between arrays, real or complex (spirals), along a new axis. Looks whether there is a 0. Real ends of different signs
/// give NaN.
ndarray geomspace(const ndarray& start, const operand& stop, std::int64_t count = 50,
                  const linspace_arrays_kw& kw = {});
ndarray geomspace(const scalar& start, const ndarray& stop, std::int64_t count = 50, const linspace_arrays_kw& kw = {});
/// linspace and its step, NaN where there is none (NumPy's retstep).
struct linspace_result {
  ndarray samples;
  double step;
};
linspace_result linspace_with_step(double start, double stop, std::int64_t count = 50, const linspace_kw& kw = {});

// ---- grids

/// A range in a grid: `{stop}`, `{start, stop}`, `{start, stop, step}`; an imaginary step is a number of points from start
/// to stop, both included (NumPy's 5j is std::complex(0.0, 5.0)). Parameter-only.
class grid_range {
 public:
  grid_range(scalar stop) : start_(0), stop_(stop), step_(1) {}
  grid_range(scalar start, scalar stop, scalar step = 1) : start_(start), stop_(stop), step_(step) {}
  /// Its numbers: int64 of integers, else float64.
  ndarray numbers(const std::optional<device>& device = {}) const;

 private:
  scalar start_, stop_, step_;
};
/// The coordinates of a dense grid, one grid for each axis, as one array, of one dtype.
ndarray mgrid(std::initializer_list<grid_range> ranges, const create_kw& kw = {});
/// The same with extent 1 along the other axes, which broadcast.
std::vector<ndarray> ogrid(std::initializer_list<grid_range> ranges, const create_kw& kw = {});
/// The coordinates of a shape's elements, as one array; int64.
ndarray indices(const shape_t& shape, const create_kw& kw = {});

/// What r_ and c_ join: an array, a number, or a range. Parameter-only.
class grid_part {
 public:
  grid_part(const ndarray& x) : value_(x) {}
  template <scalar_like T>
  grid_part(T number) : value_(sinter::array(number)), is_number_(true) {}
  grid_part(const grid_range& range) : value_(range.numbers()) {}
  const ndarray& value() const noexcept { return value_; }
  bool is_number() const noexcept { return is_number_; }

 private:
  ndarray value_;
  bool is_number_ = false;
};
/// Joined along the first axis; numbers count as vectors of one element.
ndarray r_(std::initializer_list<grid_part> parts);
/// Joined along the last axis; vectors are columns.
ndarray c_(std::initializer_list<grid_part> parts);

/// A C++ expression of the coordinates i0, i1, ... (of the dtype that the result has), for each element:
/// `fromfunction("i0 * 10 + i1", {3, 4})`. It records, and fuses, as kernels' texts do (kernel.hpp). float64 unless given.
ndarray fromfunction(std::string_view expression, const shape_t& shape, const create_kw& kw = {});
/// f of the coordinates, one array for each axis.
ndarray fromfunction(const std::function<ndarray(const std::vector<ndarray>&)>& f, const shape_t& shape,
                     const create_kw& kw = {});

// ---- memory

/// A C-contiguous array of at least one axis; x itself if it is one.
ndarray ascontiguousarray(const ndarray& x, const create_kw& kw = {});
/// Keywords of require. Requirements are letters: C (C order), F (the first axis fastest), W (may be written), O (owns its
/// elements), A and E (nothing).
struct require_kw {
  kwonly _kw{};
  std::optional<sinter::dtype> dtype{};
  std::string_view requirements = "";
};
/// x itself where it meets the requirements, else a copy. value_error: C and F, or another letter.
ndarray require(const ndarray& x, const require_kw& kw = {});

/// asarray that looks at the elements: value_error for a NaN or an infinity.
ndarray asarray_chkfinite(const ndarray& x, const create_kw& kw = {});

/// Whether a write to one array changes an element of the other: whether they are views of one array, or of the same foreign
/// memory, that have a byte in common. Looks at no elements; takes time and bits as the bytes between their ends have.
bool shares_memory(const ndarray& x, const ndarray& y);
/// The same by their ends alone: true as well for views that lie between each other.
bool may_share_memory(const ndarray& x, const ndarray& y);

/// Keywords of as_strided. Absent, shape and strides (in bytes) are x's.
struct as_strided_kw {
  kwonly _kw{};
  std::optional<shape_t> shape{};
  std::optional<std::vector<std::int64_t>> strides{};
  bool writeable = true;
};
/// A view of x's memory by other strides. Unlike NumPy's it is checked: value_error where it would leave x's memory, or for
/// strides that are no multiples of the itemsize. Writing to overlapping elements throws.
ndarray as_strided(const ndarray& x, const as_strided_kw& kw);

/// Keywords of sliding_window_view.
struct sliding_window_view_kw {
  kwonly _kw{};
  axes axis{};
  bool writeable = false;
};
/// All windows of a shape along all axes or those named: a view with an axis more for each axis of a window. It takes no
/// memory, and a reduction over windows reads x alone. shape_error: a window longer than its axis, or another number of axes.
ndarray sliding_window_view(const ndarray& x, const shape_t& window, const sliding_window_view_kw& kw = {});
template <axis_like A>
ndarray sliding_window_view(const ndarray& x, const shape_t& window, A axis, sliding_window_view_kw kw = {}) {
  kw.axis = axis;
  return sliding_window_view(x, window, kw);
}

}  // namespace sinter::inline v0
