// shape_t: what users write where a shape is wanted and what `shape()` gives back.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "sinter/scalar.hpp"

namespace sinter::inline v0 {

/// One extent (or axis, or size), from any integer type; what does not fit int64 becomes its maximum and is refused
/// where it is used.
struct extent {
  std::int64_t value;
  template <int_like T>
  constexpr extent(T x) noexcept
      : value(x > 0 && static_cast<std::uint64_t>(x) > std::uint64_t{std::numeric_limits<std::int64_t>::max()}
                  ? std::numeric_limits<std::int64_t>::max()
                  : static_cast<std::int64_t>(x)) {}
};

/// The extents of an array. Write `3`, `{3, 4}`, `{}` (rank 0) or a vector of integers.
class shape_t {
 public:
  shape_t() = default;
  template <int_like T>
  shape_t(T n) : extents_{extent(n).value} {}
  shape_t(std::initializer_list<extent> list) {
    extents_.reserve(list.size());
    for (auto e : list) extents_.push_back(e.value);
  }
  template <int_like T>
  shape_t(const std::vector<T>& v) : shape_t(std::span<const T>(v)) {}
  template <int_like T>
  explicit shape_t(std::span<const T> v) {
    extents_.reserve(v.size());
    for (auto e : v) extents_.push_back(extent(e).value);
  }

  int ndim() const noexcept { return static_cast<int>(extents_.size()); }
  std::size_t size() const noexcept { return extents_.size(); }
  bool empty() const noexcept { return extents_.empty(); }
  const std::int64_t* data() const noexcept { return extents_.data(); }
  const std::int64_t* begin() const noexcept { return extents_.data(); }
  const std::int64_t* end() const noexcept { return extents_.data() + extents_.size(); }
  std::int64_t operator[](std::size_t i) const noexcept { return extents_[i]; }
  friend bool operator==(const shape_t&, const shape_t&) = default;
  friend std::ostream& operator<<(std::ostream&, const shape_t&);

 private:
  std::vector<std::int64_t> extents_;
};

/// "(3, 4)", "(3,)", "()".
std::string to_string(const shape_t& shape);

}  // namespace sinter::inline v0
