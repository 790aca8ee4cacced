// The array class. An ndarray is a small handle with reference semantics, like a Python name; copying it never copies
// elements, and `auto` is always safe, since recorded expressions own what they refer to.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sinter/device.hpp"
#include "sinter/dtype.hpp"
#include "sinter/error.hpp"
#include "sinter/keywords.hpp"
#include "sinter/list_node.hpp"
#include "sinter/literals.hpp"
#include "sinter/memory_kind.hpp"
#include "sinter/recorded_value.hpp"
#include "sinter/scalar.hpp"
#include "sinter/shape.hpp"
#include "sinter/subscript.hpp"

namespace sinter::graph {
struct array_view;
}
namespace sinter::ops {
struct ndarray_access;
}

namespace sinter::inline v0 {

class subarray;
class stream;

namespace detail {
struct host_block;  // elements in host memory, C order
const void* host_data(const host_block&) noexcept;
[[noreturn]] void host_index_failed(const shape_t& shape, std::initializer_list<std::int64_t> where);
/// shape_error unless a shape has `rank` axes.
void require_rank(const shape_t& shape, int rank, const char* function);
/// The elements from an axis on, in C order, as vectors N deep; advances `from`.
template <class T, int N>
auto nested(const T*& from, const shape_t& shape, std::size_t axis) {
  if constexpr (N == 1) {
    const T* first = from;
    from += shape[axis];
    return std::vector<T>(first, from);
  } else {
    std::vector<decltype(nested<T, N - 1>(from, shape, axis + 1))> all;
    for (std::int64_t i = 0; i < shape[axis]; ++i) all.push_back(nested<T, N - 1>(from, shape, axis + 1));
    return all;
  }
}
}  // namespace detail

/// Read-only view of an array's elements in host memory, C order, as they were when it was made. It keeps them alive;
/// writes to the array do not show in it.
template <element_type T>
class host_view {
 public:
  host_view(std::shared_ptr<const detail::host_block> block, shape_t shape, std::int64_t size)
      : block_(std::move(block)),
        data_(static_cast<const T*>(detail::host_data(*block_))),
        shape_(std::move(shape)),
        size_(static_cast<std::size_t>(size)) {}
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  const shape_t& shape() const noexcept { return shape_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  /// Element by C-order position, unchecked.
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  /// Element by coordinates; index_error if they are out of range or too few or many.
  template <int_like... I>
  const T& operator()(I... i) const {
    const std::initializer_list<std::int64_t> where{extent(i).value...};
    if (where.size() != shape_.size()) detail::host_index_failed(shape_, where);
    std::int64_t at = 0;
    std::size_t axis = 0;
    for (auto k : where) {
      if (k < 0 || k >= shape_[axis]) detail::host_index_failed(shape_, where);
      at = at * shape_[axis++] + k;
    }
    return data_[at];
  }

 private:
  std::shared_ptr<const detail::host_block> block_;
  const T* data_;
  shape_t shape_;
  std::size_t size_;
};

/// An n-dimensional array: dtype and shape are known at run time, elements are computed when they are needed.
class ndarray {
 public:
  /// No array at all; anything but assigning to it throws.
  ndarray() = default;
  ndarray(const ndarray& o) noexcept : view_(o.array()) {}
  ndarray(ndarray&&) noexcept = default;
  ~ndarray() = default;
  // Assigning to a name rebinds it. Assigning to a temporary would be lost, so it does not compile.
  ndarray& operator=(const ndarray&) & noexcept;
  ndarray& operator=(ndarray&&) & noexcept;
  ndarray& operator=(const ndarray&) && = delete;
  ndarray& operator=(ndarray&&) && = delete;
  template <scalar_like T>
  ndarray& operator=(T) = delete;
  ndarray& operator=(std::initializer_list<list_node>) = delete;

  bool defined() const noexcept { return recorded_ || view_ != nullptr; }
  sinter::dtype dtype() const;
  int ndim() const;
  shape_t shape() const;
  /// Extent of one axis; negative axes count from the end. Throws index_error.
  std::int64_t shape(std::int64_t axis) const;
  /// Number of elements.
  std::int64_t size() const;
  /// Bytes of the elements: size() * itemsize(dtype()).
  std::int64_t nbytes() const;
  /// Bytes from one element to the next along each axis.
  std::vector<std::int64_t> strides() const;
  sinter::device device() const;
  /// Where the elements lie, or will lie when they are computed (memory.hpp).
  sinter::memory_kind memory_kind() const;
  /// First extent. Throws shape_error on rank 0.
  std::int64_t len() const;

  /// Basic indexing gives a view: `x(_, newaxis, 0)`. An integer out of range throws index_error.
  /// With arrays or lists among the indices the result is a copy, recorded when it is needed, with the elements and
  /// the shape of NumPy: `x[idx]`, `x(_, idx)`, `x(rows, columns)`, `x[mask]`. Index arrays are integers of any shape
  /// and broadcast together; an index out of range throws index_error that names it, each time the result is read (of a
  /// list: at once). A mask is bools over as many axes as it has; how many it selects depends on data, so needing the
  /// result synchronises. index_error: a mask whose extents are not the axes' (0 fits any, and selects nothing);
  /// dtype_error: other dtypes; device_error.
  template <index_like... I>
  subarray operator()(const I&... i) const;
  /// One array an axis, as nonzero and ix_ (indexing.hpp) give them: `x(nonzero(m))`.
  subarray operator()(const std::vector<ndarray>& indices) const;
  /// A key made at run time, of any indices: `std::vector<index> key{1, slice(2, 5)}; x(key)`. None give the whole array.
  template <std::same_as<std::vector<index>> K>
  subarray operator()(const K& key) const;
  template <class K>
  requires std::same_as<K, std::vector<index>> || std::same_as<K, std::vector<ndarray>> subarray
  operator[](const K& key) const;
  /// The same as text checked by the compiler: `x["1:-1, ::2"]`.
  subarray operator[](const subscript& s) const;
#ifdef __cpp_multidimensional_subscript
  template <index_like... I>
  subarray operator[](const I&... i) const;
#else
  subarray operator[](const index& i) const;
#endif

  /// Axes reversed; a view.
  ndarray T() const;
  /// The last two axes swapped; a view. Throws shape_error below rank 2.
  ndarray mT() const;
  /// Elements converted as NumPy's astype (complex to real drops the imaginary part), on the array's device or another
  /// one. With .copy = false the array itself is returned where it has the dtype and the device already.
  ndarray astype(sinter::dtype to, const astype_kw& kw = {}) const;
  /// The same with .copy.
  template <std::same_as<bool> B>
  ndarray astype(sinter::dtype to, B copy) const {
    return astype(to, astype_kw{.copy = copy});
  }
  /// A new array with the same elements, in C order unless another one is asked for.
  ndarray copy(const order_kw& kw = {}) const;
  /// The same bytes as elements of another dtype, of the same size or with the last axis, which is contiguous then, shorter or
  /// longer (shape_error: it does not divide; value_error: strides or offset are no multiples of the new size). A view: evaluates
  /// the array and pins its storage, as data() does.
  ndarray view(sinter::dtype to) const;
  /// The parts of complex numbers: views, as indexing gives them, `x.imag() = e`, `x.real()(slice(2)) += 1` (elementwise.hpp).
  subarray real() const&;
  subarray imag() const&;
  ndarray real() const&&;
  ndarray imag() const&&;
  /// The array on another device; itself if it is there already. Copies between a GPU and pinned memory, and between
  /// GPUs, are enqueued; others wait.
  ndarray to_device(const sinter::device& to) const;
  /// The same, copied on a stream of a GPU that has a part in it, so that it can run beside other work. The host's side
  /// must be in pinned memory for that (to_host takes care of it). Uses of the array wait by themselves; on the CPU
  /// that holds the host. device_error for a stream of another device.
  ndarray to_device(const sinter::device& to, const stream& on) const;
  /// The array on the CPU; with a stream in pinned memory, and the copy is only enqueued.
  ndarray to_host() const;
  ndarray to_host(const stream& on) const;

  // The functions of the same names (reduce.hpp, scan.hpp, manipulate.hpp, sort.hpp, ...), where laziness, dtypes and errors
  // are said. An axis is a number or `axes{0, 2}`.

  ndarray sum(const reduce_kw& kw = {}) const;
  template <axis_like A>
  ndarray sum(const A& axis, const reduce_kw& kw = {}) const {
    return sum(detail::with_axis("sum", axis, kw));
  }
  ndarray prod(const reduce_kw& kw = {}) const;
  template <axis_like A>
  ndarray prod(const A& axis, const reduce_kw& kw = {}) const {
    return prod(detail::with_axis("prod", axis, kw));
  }
  ndarray mean(const reduce_kw& kw = {}) const;
  template <axis_like A>
  ndarray mean(const A& axis, const reduce_kw& kw = {}) const {
    return mean(detail::with_axis("mean", axis, kw));
  }
  ndarray std(const var_kw& kw = {}) const;
  template <axis_like A>
  ndarray std(const A& axis, const var_kw& kw = {}) const {
    return std(detail::with_axis("std", axis, kw));
  }
  ndarray var(const var_kw& kw = {}) const;
  template <axis_like A>
  ndarray var(const A& axis, const var_kw& kw = {}) const {
    return var(detail::with_axis("var", axis, kw));
  }
  ndarray min(const reduce_kw& kw = {}) const;
  template <axis_like A>
  ndarray min(const A& axis, const reduce_kw& kw = {}) const {
    return min(detail::with_axis("min", axis, kw));
  }
  ndarray max(const reduce_kw& kw = {}) const;
  template <axis_like A>
  ndarray max(const A& axis, const reduce_kw& kw = {}) const {
    return max(detail::with_axis("max", axis, kw));
  }
  ndarray argmin(const reduce_kw& kw = {}) const;
  template <axis_like A>
  ndarray argmin(const A& axis, const reduce_kw& kw = {}) const {
    return argmin(detail::with_axis("argmin", axis, kw));
  }
  ndarray argmax(const reduce_kw& kw = {}) const;
  template <axis_like A>
  ndarray argmax(const A& axis, const reduce_kw& kw = {}) const {
    return argmax(detail::with_axis("argmax", axis, kw));
  }
  ndarray any(const reduce_kw& kw = {}) const;
  template <axis_like A>
  ndarray any(const A& axis, const reduce_kw& kw = {}) const {
    return any(detail::with_axis("any", axis, kw));
  }
  ndarray all(const reduce_kw& kw = {}) const;
  template <axis_like A>
  ndarray all(const A& axis, const reduce_kw& kw = {}) const {
    return all(detail::with_axis("all", axis, kw));
  }
  ndarray cumsum(const scan_kw& kw = {}) const;
  ndarray cumsum(optional_axis axis, const scan_kw& kw = {}) const;
  ndarray cumprod(const scan_kw& kw = {}) const;
  ndarray cumprod(optional_axis axis, const scan_kw& kw = {}) const;
  ndarray trace(std::int64_t offset = 0) const;

  ndarray reshape(const shape_t& shape, const reshape_kw& kw = {}) const;
  /// x.reshape(2, -1).
  template <int_like... I>
    requires(sizeof...(I) > 1)
  ndarray reshape(I... extents)
  const { return reshape(shape_t{extent(extents)...}); }
  ndarray ravel(const order_kw& kw = {}) const;
  ndarray flatten(const order_kw& kw = {}) const;
  ndarray transpose(const axes& permutation = {}) const;
  ndarray squeeze(const axes& axis = {}) const;
  ndarray swapaxes(std::int64_t first, std::int64_t second) const;
  ndarray diagonal(std::int64_t offset = 0) const;
  ndarray repeat(std::int64_t repeats, optional_axis axis = std::nullopt) const;
  ndarray take(const operand& indices, optional_axis axis = std::nullopt) const;

  ndarray clip(const optional_operand& low, const optional_operand& high = {}) const;
  ndarray round(std::int64_t decimals = 0) const;
  ndarray conj() const;
  ndarray dot(const ndarray& y) const;
  ndarray argsort(const sort_kw& kw = {}) const;
  ndarray argsort(optional_axis axis, const sort_kw& kw = {}) const;
  std::vector<ndarray> nonzero() const;

  /// Sorts the elements in place, as NumPy's method; the function `sort` gives a sorted copy. value_error for a read-only
  /// view.
  void sort(const sort_kw& kw = {}) const;
  void sort(optional_axis axis, const sort_kw& kw = {}) const;
  /// Writes a value to all elements, converted as by astype.
  void fill(const operand& value) const;

  /// The elements as vectors of vectors, N deep: `x.tolist<double, 2>()[row][column]`. Synchronises. Throws shape_error
  /// unless N is the rank, dtype_error for complex to real.
  template <element_type T, int N = 1>
  auto tolist() const {
    static_assert(N > 0, "an array of rank 0 has one element: item()");
    detail::require_rank(shape(), N, "tolist");
    const host_view<T> view = host<T>();
    const T* from = view.data();
    return detail::nested<T, N>(from, view.shape(), 0);
  }

  /// The only element, converted (never reinterpreted). Synchronises. Throws shape_error unless size() is 1, and
  /// dtype_error for complex to real.
  template <element_type T>
  T item() const {
    T out{};
    item_to(dtype_of<T>, &out);
    return out;
  }
  /// Truth of the only element. Throws shape_error unless size() is 1.
  explicit operator bool() const;
  template <scalar_like T>
    requires(!std::same_as<T, bool> && element_type<T>)
  explicit operator T() const { return item<T>(); }

  /// All elements in C order, converted. Synchronises. Throws dtype_error for complex to real.
  template <element_type S>
  std::vector<S> to_vector() const {
    const auto view = host<S>();
    return std::vector<S>(view.begin(), view.end());
  }
  /// Read-only elements in host memory, C order, converted if S is another type. A contiguous array of that dtype on
  /// the CPU or in pinned memory is not copied. Synchronises.
  template <element_type S>
  host_view<S> host() const {
    return host_view<S>(host_block(dtype_of<S>), shape(), size());
  }
  /// Address of the first element in the array's own memory (device memory on a GPU), to be read and written through
  /// strides(). Evaluates the array and pins its storage: from then on its reads and writes happen at once. Throws
  /// dtype_error if S is not the dtype.
  template <element_type S>
  S* data() const {
    return static_cast<S*>(address(dtype_of<S>));
  }

  /// The same address for the host: of arrays of the CPU, and of a GPU's in managed or pinned memory. Waits until the
  /// device has finished with the array; wait for the device again (synchronize) before touching elements that it has
  /// been given to work on since. Where a GPU has no concurrent managed access (device_properties), the host may not
  /// touch managed memory while the GPU works on anything. value_error for other memory; dtype_error as data().
  template <element_type S>
  S* host_data() const {
    return static_cast<S*>(host_address(dtype_of<S>));
  }

  // In place: every view of the same elements sees the result. The dtype stays; a result that same_kind casting does
  // not allow throws dtype_error, a right side that does not broadcast to this shape throws shape_error.
  ndarray& operator+=(const operand&) &;
  ndarray& operator-=(const operand&) &;
  ndarray& operator*=(const operand&) &;
  ndarray& operator/=(const operand&) &;
  ndarray& operator%=(const operand&) &;
  ndarray& operator&=(const operand&) &;
  ndarray& operator|=(const operand&) &;
  ndarray& operator^=(const operand&) &;
  ndarray& operator<<=(const operand&) &;
  ndarray& operator>>=(const operand&) &;

  // Elementwise operators: the functions of the same meaning (add, less, bitwise_and, ...), recorded.
  friend ndarray operator+(const operand&, const operand&);
  friend ndarray operator-(const operand&, const operand&);
  friend ndarray operator*(const operand&, const operand&);
  friend ndarray operator/(const operand&, const operand&);
  friend ndarray operator%(const operand&, const operand&);
  friend ndarray operator&(const operand&, const operand&);
  friend ndarray operator|(const operand&, const operand&);
  friend ndarray operator^(const operand&, const operand&);
  friend ndarray operator<<(const operand&, const operand&);
  friend ndarray operator>>(const operand&, const operand&);
  friend ndarray operator==(const operand&, const operand&);
  friend ndarray operator!=(const operand&, const operand&);
  friend ndarray operator<(const operand&, const operand&);
  friend ndarray operator<=(const operand&, const operand&);
  friend ndarray operator>(const operand&, const operand&);
  friend ndarray operator>=(const operand&, const operand&);
  friend ndarray operator+(const ndarray&);
  friend ndarray operator-(const ndarray&);
  friend ndarray operator~(const ndarray&);
  /// NumPy's str(): evaluates, copies what is shown.
  friend std::ostream& operator<<(std::ostream&, const ndarray&);

 protected:
  explicit ndarray(std::shared_ptr<const graph::array_view> view) noexcept : view_(std::move(view)) {}

 private:
  friend struct ops::ndarray_access;
  explicit ndarray(detail::recorded_value v) noexcept : recorded_(std::move(v)) {}
  const std::shared_ptr<const graph::array_view>& array() const {
    if (recorded_) make_array();
    return view_;
  }
  void make_array() const;

  mutable std::shared_ptr<const graph::array_view> view_;
  mutable detail::recorded_value recorded_;  // else

  subarray at(const index* first, std::size_t count) const;
  void item_to(sinter::dtype type, void* to) const;
  std::shared_ptr<const detail::host_block> host_block(sinter::dtype type) const;
  void* address(sinter::dtype type) const;
  void* host_address(sinter::dtype type) const;
};

/// What indexing gives. While it is a temporary, assignment writes through to the array: `x(i) = e`, `x(i) += e`.
/// Once it has a name it is an array like any other, and assignment rebinds the name.
///
/// Through arrays of indices too: `x[idx] = e`; of equal indices the last one in C order wins, and `x[idx] += e` adds once
/// (add_at in indexing.hpp adds each time). Right sides and indices are read before anything is written, and where an
/// index is out of range nothing is. `x[mask] = e` is one fused kernel without a list of indices where e is a number or
/// broadcasts along the selection; an e with one element for each true element synchronises.
class subarray : public ndarray {
 public:
  subarray() = default;
  subarray(const subarray&) = default;
  subarray(subarray&&) = default;

  // A temporary: the elements are written, converted as by astype. Throws shape_error if `e` does not broadcast to the
  // shape, value_error if the elements overlap one another (a broadcast view).
  const subarray& operator=(const operand& e) &&;
  const subarray& operator=(const subarray& e) &&;
  const subarray& operator=(std::initializer_list<list_node>) && = delete;
  const subarray& operator+=(const operand&) &&;
  const subarray& operator-=(const operand&) &&;
  const subarray& operator*=(const operand&) &&;
  const subarray& operator/=(const operand&) &&;
  const subarray& operator%=(const operand&) &&;
  const subarray& operator&=(const operand&) &&;
  const subarray& operator|=(const operand&) &&;
  const subarray& operator^=(const operand&) &&;
  const subarray& operator<<=(const operand&) &&;
  const subarray& operator>>=(const operand&) &&;

  // A name: it is rebound.
  subarray& operator=(const ndarray& o) & {
    ndarray::operator=(o);
    return *this;
  }
  subarray& operator=(const subarray& o) & {
    ndarray::operator=(static_cast<const ndarray&>(o));
    return *this;
  }
  template <scalar_like T>
  subarray& operator=(T) & = delete;

  using ndarray::operator+=;
  using ndarray::operator-=;
  using ndarray::operator*=;
  using ndarray::operator/=;
  using ndarray::operator%=;
  using ndarray::operator&=;
  using ndarray::operator|=;
  using ndarray::operator^=;
  using ndarray::operator<<=;
  using ndarray::operator>>=;

  /// The parts of a temporary can be written, too: `x(0).real() = e`.
  subarray real() const;
  subarray imag() const;

 private:
  friend struct ops::ndarray_access;
  using ndarray::ndarray;
};

template <index_like... I>
subarray ndarray::operator()(const I&... i) const {
  const std::initializer_list<index> list{index(i)...};
  return at(list.begin(), list.size());
}
template <std::same_as<std::vector<index>> K>
subarray ndarray::operator()(const K& key) const {
  return at(key.data(), key.size());
}
template <class K>
requires std::same_as<K, std::vector<index>> || std::same_as<K, std::vector<ndarray>> subarray
ndarray::operator[](const K& key) const {
  return (*this)(key);
}
inline subarray ndarray::operator[](const subscript& s) const {
  return (*this)(std::vector<index>(s.begin(), s.end()));
}
inline const ndarray* optional_array::kept(const ndarray& a) { return new ndarray(a); }
inline void optional_array::release(const ndarray* a) noexcept { delete a; }
inline index::index(const ndarray& a) : basic_{index_kind::array}, array_(std::make_shared<const ndarray>(a)) {}
#ifdef __cpp_multidimensional_subscript
template <index_like... I>
subarray ndarray::operator[](const I&... i) const {
  const std::initializer_list<index> list{index(i)...};
  return at(list.begin(), list.size());
}
#else
inline subarray ndarray::operator[](const index& i) const { return at(&i, 1); }
#endif

}  // namespace sinter::inline v0
