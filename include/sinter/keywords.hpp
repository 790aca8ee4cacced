// Keyword arguments: aggregates written as `{.dtype = float32}`. The guard as first member makes positional braces an
// error.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sinter/device.hpp"
#include "sinter/dtype.hpp"
#include "sinter/scalar.hpp"
#include "sinter/shape.hpp"
#include "sinter/subscript.hpp"

namespace sinter::inline v0 {

/// First member of every keyword aggregate: nothing but `{}` initialises it.
struct kwonly {
  explicit kwonly() = default;
};

/// Axes of a reduction or permutation: `1`, `axes{0, 2}`; none means all of them. Of any integer type, kept as they are:
/// where they are used, index_error for one that is out of range.
class axes {
 public:
  axes() = default;
  template <int_like T>
  axes(T axis) : list_{extent(axis).value}, given_(true) {}
  axes(std::initializer_list<extent> list) : given_(true) {
    for (const extent a : list) list_.push_back(a.value);
  }
  template <int_like T>
  explicit axes(const std::vector<T>& list) : given_(true) {
    for (const T a : list) list_.push_back(extent(a).value);
  }
  /// False where no axes were written, which is not the same as an empty list.
  bool given() const noexcept { return given_; }
  int size() const noexcept { return static_cast<int>(list_.size()); }
  const std::int64_t* begin() const noexcept { return list_.data(); }
  const std::int64_t* end() const noexcept { return list_.data() + list_.size(); }

 private:
  std::vector<std::int64_t> list_;
  bool given_ = false;
};
template <class T>
concept axis_like = int_like<T> || std::same_as<T, axes>;

/// Keywords of functions of some axes, of all where none are given.
struct some_axes_kw {
  kwonly _kw{};
  axes axis{};
};
struct permutation_kw {
  kwonly _kw{};
  sinter::axes axes{};
};

/// An axis, or none (`_`, std::nullopt): the array flattened in C order. Parameter-only.
class optional_axis {
 public:
  optional_axis(none_t) noexcept {}
  optional_axis(std::nullopt_t) noexcept {}
  template <int_like T>
  optional_axis(T axis) noexcept : axis_(extent(axis).value) {}
  explicit operator bool() const noexcept { return axis_.has_value(); }
  std::int64_t operator*() const noexcept { return *axis_; }

 private:
  std::optional<std::int64_t> axis_;
};

/// Parameter-only type: an array, a number, or nothing (`_` or std::nullopt).
class optional_operand {
 public:
  optional_operand() = default;
  optional_operand(std::nullopt_t) noexcept {}
  optional_operand(none_t) noexcept {}
  optional_operand(const ndarray& a) noexcept : value_(a) {}
  template <scalar_like T>
  optional_operand(T v) noexcept : value_(v) {}
  explicit operator bool() const noexcept { return value_.has_value(); }
  const operand& operator*() const noexcept { return *value_; }

 private:
  std::optional<operand> value_;
};

/// Parameter-only type: an array or nothing. It keeps the array. A literal type, so that keywords may be constants.
class optional_array {
 public:
  constexpr optional_array() noexcept = default;
  constexpr optional_array(std::nullopt_t) noexcept {}
  constexpr optional_array(none_t) noexcept {}
  optional_array(const ndarray& a) : array_(kept(a)) {}
  constexpr optional_array(const optional_array& o) : array_(o.array_ ? kept(*o.array_) : nullptr) {}
  constexpr optional_array(optional_array&& o) noexcept : array_(std::exchange(o.array_, nullptr)) {}
  constexpr optional_array& operator=(optional_array o) noexcept {
    std::swap(array_, o.array_);
    return *this;
  }
  constexpr ~optional_array() {
    if (array_) release(array_);
  }
  constexpr explicit operator bool() const noexcept { return array_ != nullptr; }
  const ndarray& operator*() const noexcept { return *array_; }

 private:
  static const ndarray* kept(const ndarray& a);
  static void release(const ndarray* a) noexcept;
  const ndarray* array_ = nullptr;  // owned; ndarray is not complete here
};

/// Keywords of creation functions. Without a dtype the function's own rule holds. `order`, as the elements lie in memory: 'C' (the
/// last axis fastest) or 'F' (the first one), value_error for others; of one axis there is no other order.
struct create_kw {
  kwonly _kw{};
  std::optional<sinter::dtype> dtype{};
  std::optional<sinter::device> device{};
  char order = 'C';
};

/// Keywords of zeros_like and its kin. `order`: 'C', 'F', 'A' ('F' if the other array lies in memory that way only) or 'K' (as the
/// other array lies in memory); value_error for others. A shape with another number of axes makes 'K' 'C'.
struct like_kw {
  kwonly _kw{};
  std::optional<sinter::dtype> dtype{};
  std::optional<sinter::device> device{};
  char order = 'C';
  std::optional<shape_t> shape{};
};

/// Keywords of astype.
struct astype_kw {
  kwonly _kw{};
  bool copy = true;
  std::optional<sinter::device> device{};
};

/// Keywords of reductions.
struct reduce_kw {
  kwonly _kw{};
  axes axis{};
  bool keepdims = false;
  std::optional<sinter::dtype> dtype{};
  /// What the reduction begins with.
  std::optional<scalar> initial{};
  /// Of bools, broadcast to the operand: elements where it is false take no part.
  optional_array where{};
};

/// Keywords of var and std. The divisor is the number of elements less `ddof`; `correction` is its other name. `mean`, which
/// broadcasts to the operand (a mean with `.keepdims = true` does), is what is subtracted, in place of the mean itself.
struct var_kw {
  kwonly _kw{};
  axes axis{};
  bool keepdims = false;
  std::optional<sinter::dtype> dtype{};
  std::optional<double> ddof{};
  std::optional<double> correction{};
  optional_array where{};
  optional_array mean{};
};

namespace detail {
[[noreturn]] void axis_twice(const char* function);
/// The keywords with the axis that was written in second place.
template <class Kw, class A>
Kw with_axis(const char* function, const A& axis, Kw kw) {
  if (kw.axis.given()) axis_twice(function);
  kw.axis = axes(axis);
  return kw;
}
}  // namespace detail

/// Keywords of scans. `out` is an array of the result's shape, and of a dtype that its own can be cast to as same_kind: it takes
/// the elements, and is returned. One whose elements lie in C order is scanned into directly.
struct scan_kw {
  kwonly _kw{};
  optional_axis axis = std::nullopt;
  std::optional<sinter::dtype> dtype{};
  bool include_initial = false;  // only cumulative_sum and cumulative_prod
  optional_array out{};
};

/// Keywords of sort and argsort. Sorts are stable whatever `stable` says.
struct sort_kw {
  kwonly _kw{};
  optional_axis axis = -1;
  bool descending = false;
  bool stable = true;
};

/// Keywords of reshape. `copy`: true copies always, false never (value_error), absent only where needed. `order` 'F': elements
/// are read and placed with the first axis fastest; 'A': so if the array lies in memory that way. value_error for others.
struct reshape_kw {
  kwonly _kw{};
  std::optional<bool> copy{};
  char order = 'C';
};

/// Keyword of ravel, flatten and copy: 'C' (the last axis fastest), 'F' (the first one), 'A' ('F' if the array lies in memory
/// that way) or 'K' (as the array lies in memory). value_error for others.
struct order_kw {
  kwonly _kw{};
  char order = 'C';
};

}  // namespace sinter::inline v0
