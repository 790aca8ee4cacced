// Small vectors of 64-bit extents: shapes, strides, coordinates. No allocation up to rank 6.
#pragma once
#include <cassert>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>

namespace sinter::core {

/// Highest rank of an array, as NumPy's and CuPy's limit.
inline constexpr int max_rank = 64;

class dims {
 public:
  dims() noexcept : store_{}, size_(0), capacity_(inline_capacity) {}
  explicit dims(int n, std::int64_t value = 0) : dims() { resize(n, value); }
  dims(std::initializer_list<std::int64_t> list) : dims() {
    reserve(static_cast<int>(list.size()));
    for (auto v : list) data()[size_++] = v;
  }
  dims(const std::int64_t* first, int n) : dims() {
    reserve(n);
    if (n > 0) std::memcpy(data(), first, sizeof(std::int64_t) * static_cast<std::size_t>(n));
    size_ = n;
  }
  // Recording and planning copy and compare extents on every call: inline extents are copied without calls and loops.
  dims(const dims& o) : store_(o.store_), size_(o.size_), capacity_(inline_capacity) {
    if (o.capacity_ > inline_capacity) [[unlikely]]
      copy_far(o);
  }
  dims(dims&& o) noexcept : store_(o.store_), size_(o.size_), capacity_(o.capacity_) { o.forget(); }
  dims& operator=(const dims& o) {
    if (capacity_ == inline_capacity && o.capacity_ == inline_capacity) [[likely]] {
      store_ = o.store_;
      size_ = o.size_;
    } else if (this != &o) {
      *this = dims(o.data(), o.size_);
    }
    return *this;
  }
  dims& operator=(dims&& o) noexcept {
    if (this != &o) {
      release();
      store_ = o.store_;
      size_ = o.size_;
      capacity_ = o.capacity_;
      o.forget();
    }
    return *this;
  }
  ~dims() {
    if (capacity_ > inline_capacity) [[unlikely]]
      delete[] store_.heap;
  }

  int size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::int64_t* data() noexcept { return capacity_ > inline_capacity ? store_.heap : store_.local; }
  const std::int64_t* data() const noexcept { return capacity_ > inline_capacity ? store_.heap : store_.local; }
  std::int64_t* begin() noexcept { return data(); }
  std::int64_t* end() noexcept { return data() + size_; }
  const std::int64_t* begin() const noexcept { return data(); }
  const std::int64_t* end() const noexcept { return data() + size_; }
  std::int64_t& operator[](int i) noexcept {
    assert(i >= 0 && i < size_);
    return data()[i];
  }
  std::int64_t operator[](int i) const noexcept {
    assert(i >= 0 && i < size_);
    return data()[i];
  }
  std::int64_t back() const noexcept { return data()[size_ - 1]; }

  void clear() noexcept { size_ = 0; }
  void push_back(std::int64_t v) {
    reserve(size_ + 1);
    data()[size_++] = v;
  }
  void resize(int n, std::int64_t value = 0) {
    reserve(n);
    std::int64_t* const p = data();
    for (int i = size_; i < n; ++i) p[i] = value;
    size_ = n;
  }
  void insert(int at, std::int64_t v) {
    push_back(v);
    for (int i = size_ - 1; i > at; --i) data()[i] = data()[i - 1];
    data()[at] = v;
  }
  void erase(int at) {
    for (int i = at; i + 1 < size_; ++i) data()[i] = data()[i + 1];
    --size_;
  }
  friend bool operator==(const dims& a, const dims& b) noexcept {
    if (a.size_ != b.size_) return false;
    const std::int64_t *p = a.data(), *q = b.data();
    for (int i = 0; i < a.size_; ++i)
      if (p[i] != q[i]) return false;
    return true;
  }

 private:
  static constexpr int inline_capacity = 6;
  union storage {
    std::int64_t local[inline_capacity];
    std::int64_t* heap;
  } store_;
  std::int32_t size_;
  std::int32_t capacity_;

  void reserve(int n) {
    if (n > capacity_) [[unlikely]]
      grow(n);
  }
  void grow(int n) {
    int grown = n < 2 * capacity_ ? 2 * capacity_ : n;
    auto* p = new std::int64_t[static_cast<std::size_t>(grown)];
    std::memcpy(p, data(), sizeof(std::int64_t) * static_cast<std::size_t>(size_));
    release();
    store_.heap = p;
    capacity_ = grown;
  }
  void copy_far(const dims& o) {
    size_ = 0;
    reserve(o.size_);
    std::memcpy(data(), o.data(), sizeof(std::int64_t) * static_cast<std::size_t>(o.size_));
    size_ = o.size_;
  }
  void forget() noexcept {
    size_ = 0;
    capacity_ = inline_capacity;
  }
  void release() noexcept {
    if (capacity_ > inline_capacity) delete[] store_.heap;
    capacity_ = inline_capacity;
  }
};

/// The maximum number of elements of an array of any dtype: their bytes, at most 16 per element, fit in int64.
inline constexpr std::int64_t most_elements = INT64_MAX / 16;
/// Whether the extents are valid: none is negative, and the nonzero ones multiply to at most most_elements. As in NumPy
/// zeros do not lift the limit on the others, since strides are products of those.
inline bool is_countable(const dims& shape) noexcept {
  std::int64_t n = 1;
  bool good = true;
  for (auto d : shape) good = good & !__builtin_mul_overflow(n, d == 0 ? 1 : d, &n) & (d >= 0);
  return good && n <= most_elements;
}
/// element_count(), or -1 where that is not countable.
inline std::int64_t countable_elements(const dims& shape) noexcept {
  std::int64_t n = 1, nonzero = 1;
  bool good = true;
  for (auto d : shape) {
    good = good & !__builtin_mul_overflow(nonzero, d == 0 ? 1 : d, &nonzero) & (d >= 0);
    n = d == 0 ? 0 : nonzero * (n != 0);
  }
  return good && nonzero <= most_elements ? n : -1;
}
/// Number of elements; 1 for rank 0. Requires is_countable, which the shapes of arrays and computed nodes satisfy.
inline std::int64_t element_count(const dims& shape) noexcept {
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  return n;
}
/// Strides in elements of a C-contiguous array of this shape (extents of 0 count as 1).
inline dims contiguous_strides(const dims& shape) {
  dims s = shape;  // each extent is replaced by a stride
  std::int64_t* const all = s.data();
  std::int64_t step = 1;
  for (int i = s.size() - 1; i >= 0; --i) step *= std::exchange(all[i], step) > 0 ? shape[i] : 1;
  return s;
}
/// Whether strides in elements describe a C-contiguous layout; strides of axes with extent 0 or 1 are ignored.
inline bool is_contiguous(const dims& shape, const dims& strides) noexcept {
  std::int64_t step = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    if (shape[i] == 0) return true;
    if (shape[i] != 1) {
      if (strides[i] != step) return false;
      step *= shape[i];
    }
  }
  return true;
}
/// "(3, 4)", "(3,)", "()", as Python prints a shape.
std::string to_string(const dims& shape);

}  // namespace sinter::core
