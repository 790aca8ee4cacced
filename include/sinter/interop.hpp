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

namespace sinter::inline v0 {

struct pointer_kw {
  kwonly _kw{};
  /// Bytes from one element to the next along each axis, as x.strides() gives them; none: C order. They may be negative
  /// or zero, and are multiples of the element's size.
  std::vector<std::int64_t> strides{};
  sinter::device device = cpu;
  /// The kind of memory, which is not checked: pinned (of the CPU or a GPU; copies then overlap with other work) or a
  /// GPU's managed memory (host_data and host_mdview then reach it). x.memory_kind() returns this.
  sinter::memory_kind kind = memory_kind::device;
  /// Called with the pointer when nothing refers to the memory any more and the device has finished with it. It must
  /// not throw, and must not call the library. Not called where from_pointer throws.
  std::function<void(void*)> deleter{};
  bool readonly = false;
  /// The caller guarantees that the elements do not change while the array or a view of it lives. Reads then need no
  /// copy, and expressions of it are recorded and fused like any others. Implies readonly.
  bool immutable = false;
};
/// An array over foreign memory, without a copy. Other code may change the elements at any time, so an expression's
/// operands are copied when it is recorded (unless `immutable`), and what is assigned to the array is written at once.
/// Memory of a GPU needs its device named, and is taken to be ready in the order of the calling thread's current
/// stream: the caller waits for other work that is still running on another stream (stream::wait). From then on the
/// library keeps its own work in order, whatever stream it runs on. Throws value_error for a null pointer, for strides
/// that do not fit, for an address that does not suit the dtype (a multiple of its size), and where a write would meet
/// elements that are the same; shape_error; device_error where the device is missing or has no memory of the kind.
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
/// Not to be written, though the type does not say so.
host_elements host_elements_to_read(const ndarray& x, dtype type, int rank, std::int64_t* extents,
                                    std::int64_t* strides);
[[noreturn]] void not_in_order(const std::int64_t* extents, const std::int64_t* strides, int rank);
}  // namespace detail

/// Elements on the host by coordinates, as std::mdspan shows them: extent(i), stride(i), data_handle(), v(i, j), and in
/// C++23 v[i, j]. Keeps the elements alive. Coordinates are not checked.
///
/// host_mdview<const T, R> shows the elements as they were when it was made, in C order, converted if T is another
/// dtype, from any device. Nothing is copied of an array of that dtype that lies in C order on the CPU or in pinned
/// memory, nor of one in managed memory where the GPU has concurrent managed access (device_properties); unless its
/// address is out, as after data(). host_mdview<T, R> shows the elements themselves, to be read and written, of an
/// array on the CPU or of a GPU's in managed or pinned memory, as host_data does and under its rules: from then on the
/// array's own reads and writes happen at once, on a GPU in the order of its streams. Both evaluate and synchronise.
template <class T, int Rank>
  requires(element_type<T>&& Rank >= 0)
class host_mdview {
 public:
  using value_type = std::remove_const_t<T>;
  static constexpr int rank() noexcept { return Rank; }
  /// Throws shape_error for another rank, dtype_error for another dtype (const: complex to real), and to write:
  /// device_error for an array that the host cannot reach, value_error for a read-only one.
  explicit host_mdview(const ndarray& x) {
    if constexpr (std::is_const_v<T>) {
      const auto elements =
          detail::host_elements_to_read(x, dtype_of<value_type>, Rank, extents_.data(), strides_.data());
      data_ = static_cast<T*>(elements.data);
      keep_ = elements.keep;
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
    requires(sizeof...(I) == Rank)
  T& operator()(I... at) const noexcept {
    std::int64_t offset = 0;
    std::size_t axis = 0;
    ((offset += static_cast<std::int64_t>(at) * strides_[axis++]), ...);
    return data_[offset];
  }
#ifdef __cpp_multidimensional_subscript
  template <int_like... I>
    requires(sizeof...(I) == Rank)
  T& operator[](I... at) const noexcept { return (*this)(at...); }
#endif
  /// All elements as one range. Throws value_error where they are not contiguous in C order.
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

}  // namespace sinter::inline v0
