// Keyword arguments: aggregates written as `{.dtype = float32}`. The guard as first member makes positional braces an
// error.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "sinter/device.hpp"
#include "sinter/dtype.hpp"
#include "sinter/scalar.hpp"
#include "sinter/shape.hpp"

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

/// Keywords of creation functions. Without a dtype the function's own rule holds.
struct create_kw {
  kwonly _kw{};
  std::optional<sinter::dtype> dtype{};
  std::optional<sinter::device> device{};
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
};

}  // namespace sinter::inline v0
