// Memory that others have made as arrays, and arrays where other code can get at them on the host.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter {
inline namespace v0 {

struct pointer_kw {
  kwonly _kw{};
  /// Bytes from one element to the next along each axis, as x.strides() gives them; none: C order. They may be negative
  /// or zero, and are multiples of the element's size.
  std::vector<std::int64_t> strides{};
  sinter::device device = cpu;
  /// Called with the pointer when nothing refers to the memory any more and the device has finished with it. It must
  /// not throw, and must not call the library. Not called where from_pointer throws.
  std::function<void(void*)> deleter{};
  bool readonly = false;
  /// A promise that nobody changes the elements while the array or a view of it lives. Reads then need no copy, and
  /// expressions of it are recorded and fused like any others. Implies readonly.
  bool immutable = false;
};
/// An array over memory that somebody else has made, without a copy. Others may change the elements at any time, so
/// what an expression needs of them is copied when it is written down (unless `immutable`), and what is assigned to the
/// array is written at once. Memory of a GPU needs its device named, and work on other streams than sinter's that is
/// still running there is the caller's to wait for. Throws value_error for a null pointer, for strides that do not fit,
/// for an address that does not suit the dtype (a multiple of its size), and where a write would meet elements that are
/// the same; shape_error.
ndarray from_pointer(void* data, const shape_t& shape, dtype type, const pointer_kw& kw = {});
template <element_type T>
ndarray from_pointer(T* data, const shape_t& shape, pointer_kw kw = {}) {
  if constexpr (std::is_const_v<T>) kw.readonly = true;
  return from_pointer(const_cast<std::remove_const_t<T>*>(data), shape, dtype_of<T>, kw);
}

namespace detail {
/// What a view of elements on the host needs; strides in elements.
struct host_elements {
  void* data = nullptr;
  std::shared_ptr<const void> keep;
};
host_elements host_elements_to_write(const ndarray& x, dtype type, int rank, std::int64_t* extents,
                                     std::int64_t* strides);
/// The layout that the elements will have in host memory.
void host_layout(const ndarray& x, int rank, std::int64_t* extents, std::int64_t* strides);
[[noreturn]] void not_in_order(const std::int64_t* extents, const std::int64_t* strides, int rank);
}  // namespace detail

/// Elements on the host by coordinates, as std::mdspan shows them: extent(i), stride(i), data_handle(), v(i, j), and in
/// C++23 v[i, j]. Keeps the elements alive. Coordinates are not checked.
///
/// host_mdview<const T, R> shows the elements as they were when it was made, converted if T is another dtype, from any
/// device. host_mdview<T, R> shows those of an array on the CPU themselves, to be read and written; from then on the
/// array's own reads and writes happen at once (as with data()). Both evaluate and synchronise.
template <class T, int Rank>
  requires(element_type<T> && Rank >= 0)
class host_mdview {
 public:
  using value_type = std::remove_const_t<T>;
  static constexpr int rank() noexcept { return Rank; }
  /// Throws shape_error for another rank, dtype_error for another dtype (const: complex to real), and to write:
  /// device_error for an array that is not on the CPU, value_error for a read-only one.
  explicit host_mdview(const ndarray& x) {
    if constexpr (std::is_const_v<T>) {
      detail::host_layout(x, Rank, extents_.data(), strides_.data());
      const auto elements = std::make_shared<host_view<value_type>>(x.host<value_type>());
      data_ = elements->data();
      keep_ = elements;
    } else {
      const auto elements = detail::host_elements_to_write(x, dtype_of<T>, Rank, extents_.data(), strides_.data());
      data_ = static_cast<T*>(elements.data);
      keep_ = elements.keep;
    }
  }
  T* data_handle() const noexcept { return data_; }
  std::int64_t extent(int axis) const noexcept { return extents_[static_cast<std::size_t>(axis)]; }
  /// In elements.
  std::int64_t stride(int axis) const noexcept { return strides_[static_cast<std::size_t>(axis)]; }
  const std::array<std::int64_t, Rank>& extents() const noexcept { return extents_; }
  const std::array<std::int64_t, Rank>& strides() const noexcept { return strides_; }
  std::int64_t size() const noexcept {
    std::int64_t n = 1;
    for (auto d : extents_) n *= d;
    return n;
  }
  template <int_like... I>
  requires(sizeof...(I) == Rank) T& operator()(I... at) const noexcept {
    std::int64_t offset = 0;
    std::size_t axis = 0;
    ((offset += static_cast<std::int64_t>(at) * strides_[axis++]), ...);
    return data_[offset];
  }
#ifdef __cpp_multidimensional_subscript
  template <int_like... I>
  requires(sizeof...(I) == Rank) T& operator[](I... at) const noexcept { return (*this)(at...); }
#endif
  /// All elements side by side. Throws value_error where they do not lie in C order.
  std::span<T> span() const {
    std::int64_t step = 1;
    for (int a = Rank - 1; a >= 0; --a) {
      if (extent(a) != 1 && stride(a) != step && size() > 0)
        detail::not_in_order(extents_.data(), strides_.data(), Rank);
      step *= extent(a);
    }
    return {data_, static_cast<std::size_t>(size())};
  }

 private:
  T* data_;
  std::array<std::int64_t, Rank> extents_{}, strides_{};
  std::shared_ptr<const void> keep_;
};

}  // namespace v0
}  // namespace sinter
