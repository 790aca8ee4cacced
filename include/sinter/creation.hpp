// Functions that make arrays from numbers, host memory and rules. Nothing but `array` and `asarray` touches memory:
// the others record what the elements are.
#pragma once
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

namespace detail {
ndarray from_memory(const void* elements, dtype type, const shape_t& shape, const create_kw& kw);
/// A container of contiguous elements (vector, std::array, span), but not an ndarray.
template <class R>
concept element_range = !std::derived_from<R, ndarray> && requires(const R& r) {
  std::size(r);
  requires element_type<std::remove_pointer_t<decltype(std::data(r))>>;
};
}  // namespace detail

/// Array from nested braces: `array({{1, 2}, {3, 4}})`. The dtype is that of the widest kind among the numbers: bool,
/// int64, float64 or complex128, unless given. Throws shape_error if the lists are ragged, dtype_error if an integer
/// does not fit.
ndarray array(std::initializer_list<list_node> list, const create_kw& kw = {});
/// 0-d array.
template <scalar_like T>
ndarray array(T value, const create_kw& kw = {});
/// Copy of a container of numbers, rank 1, of the C++ type's dtype unless given.
template <detail::element_range R>
ndarray array(const R& range, const create_kw& kw = {}) {
  return detail::from_memory(std::data(range), dtype_of<std::remove_pointer_t<decltype(std::data(range))>>,
                             shape_t(static_cast<std::int64_t>(std::size(range))), kw);
}
ndarray array(const std::vector<bool>& bits, const create_kw& kw = {});
/// Copy of C-contiguous host memory.
template <element_type T>
ndarray array(const T* elements, const shape_t& shape, const create_kw& kw = {}) {
  return detail::from_memory(elements, dtype_of<T>, shape, kw);
}
/// Copy of an array, of another dtype or on another device if asked.
ndarray array(const ndarray& x, const create_kw& kw = {});

/// The array itself unless another dtype or device is asked for.
ndarray asarray(const ndarray& x, const create_kw& kw = {});
ndarray asarray(std::initializer_list<list_node> list, const create_kw& kw = {});
template <class X>
  requires(scalar_like<X> || detail::element_range<X>)
ndarray asarray(const X& x, const create_kw& kw = {}) { return array(x, kw); }
/// The array API's spelling of x.astype(to, kw).
inline ndarray astype(const ndarray& x, dtype to, const astype_kw& kw = {}) { return x.astype(to, kw); }

/// All elements 0, 1 or `value`; no memory until something needs it. dtype: float64; `full`: the value's. Throws
/// shape_error for a negative or too large shape.
ndarray zeros(const shape_t& shape, const create_kw& kw = {});
ndarray ones(const shape_t& shape, const create_kw& kw = {});
/// Unspecified elements: zeros here, since they cost nothing, unless a raw kernel is the first to touch them.
ndarray empty(const shape_t& shape, const create_kw& kw = {});
ndarray full(const shape_t& shape, const operand& value, const create_kw& kw = {});
template <std::same_as<dtype> D>
ndarray zeros(const shape_t& shape, D type) {
  return zeros(shape, create_kw{.dtype = type});
}
template <std::same_as<dtype> D>
ndarray ones(const shape_t& shape, D type) {
  return ones(shape, create_kw{.dtype = type});
}
template <std::same_as<dtype> D>
ndarray empty(const shape_t& shape, D type) {
  return empty(shape, create_kw{.dtype = type});
}
template <std::same_as<dtype> D>
ndarray full(const shape_t& shape, const operand& value, D type) {
  return full(shape, value, create_kw{.dtype = type});
}

/// Shape, dtype and device of `x`, unless given.
ndarray zeros_like(const ndarray& x, const like_kw& kw = {});
ndarray ones_like(const ndarray& x, const like_kw& kw = {});
ndarray empty_like(const ndarray& x, const like_kw& kw = {});
ndarray full_like(const ndarray& x, const operand& value, const like_kw& kw = {});

/// start, start + step, ... below stop: ceil((stop - start) / step) elements. int64 where all are integers that fit it,
/// else float64. Throws value_error for a step of zero or a length that no array has.
ndarray arange(const scalar& stop, const create_kw& kw = {});
ndarray arange(const scalar& start, const scalar& stop, const create_kw& kw = {});
ndarray arange(const scalar& start, const scalar& stop, const scalar& step, const create_kw& kw = {});

struct linspace_kw {
  kwonly _kw{};
  bool endpoint = true;
  std::optional<sinter::dtype> dtype{};
  std::optional<sinter::device> device{};
};
/// `count` numbers evenly from start to stop, which is the last one unless endpoint is false. float64 or complex128;
/// an integer dtype rounds down, as NumPy. Throws value_error if count < 0.
ndarray linspace(const scalar& start, const scalar& stop, std::int64_t count = 50, const linspace_kw& kw = {});

struct eye_kw {
  kwonly _kw{};
  std::optional<std::int64_t> columns{};
  std::int64_t k = 0;
  std::optional<sinter::dtype> dtype{};
  std::optional<sinter::device> device{};
  char order = 'C';  // or 'F'
};
/// Ones on the k-th diagonal (positive above the main one), float64. Square unless columns are given.
ndarray eye(std::int64_t rows, const eye_kw& kw = {});
ndarray eye(std::int64_t rows, std::int64_t columns, const eye_kw& kw = {});
ndarray identity(std::int64_t n, const create_kw& kw = {});

/// The last two axes with the elements above (tril) or below (triu) the k-th diagonal zeroed. A vector counts as each
/// row of a square matrix, as in NumPy. Throws shape_error on rank 0.
ndarray tril(const ndarray& x, std::int64_t k = 0);
ndarray triu(const ndarray& x, std::int64_t k = 0);

struct meshgrid_kw {
  kwonly _kw{};
  std::string_view indexing = "xy";
  bool sparse = false;  // extent 1 along the other axes, which broadcast
  bool copy = false;    // arrays of their own, which can be written to, in place of views
};
/// Coordinate arrays of a grid from one vector an axis; recorded, so that they take no memory until needed. With "xy"
/// the first two axes change places, with "ij" they do not. Throws value_error for another word.
std::vector<ndarray> meshgrid(const std::vector<ndarray>& vectors, const meshgrid_kw& kw = {});

namespace detail {
ndarray from_scalar(const scalar& value, const create_kw& kw);
}  // namespace detail
template <scalar_like T>
ndarray array(T value, const create_kw& kw) {
  return detail::from_scalar(value, kw);
}

}  // namespace sinter::inline v0
