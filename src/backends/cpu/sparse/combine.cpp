// Two matrices of one dtype element by element, in one pass over both. Which matrix has the next place is not guessed: of
// places in no relation every second guess of the processor would be wrong, and take longer than the step.
#include <bit>
#include <type_traits>

#include "backends/cpu/sparse/compact.hpp"
#include "backends/cpu/sparse/sparse.hpp"

namespace sinter::cpu {
namespace {

using runtime::sparse_matrix;
using runtime::sparse_pairing;

/// x, or 0.
template <class T>
T where_on(T x, bool on) {
  if constexpr (std::is_integral_v<T>) {
    return x & static_cast<T>(-static_cast<T>(on));
  } else if constexpr (std::is_floating_point_v<T>) {
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    return std::bit_cast<T>(static_cast<bits>(std::bit_cast<bits>(x) & (bits{0} - static_cast<bits>(on))));
  } else {
    return {where_on(x.re, on), where_on(x.im, on)};
  }
}
template <class T>
bool is_nothing(T x) {
  return x == T{};
}

/// NaN wins, the first one of two.
template <bool Largest, class T>
T extreme_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a) return a;
  return (Largest ? a >= b : a <= b) ? a : b;
}

/// Whether two rows of as many entries have the same places, as those of A and its transpose often do.
template <class I>
bool are_same(const I* a, const I* b, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k)
    if (a[k] != b[k]) return false;
  return true;
}

/// The places that either matrix has.
template <class T, class I, class R, class F>
std::int64_t combine_rows(const typed_rows<T, I>& a, const typed_rows<T, I>& b, I* indptr, entry_places<R, I> to,
                          F&& f) {
  const double time = 3.0 * static_cast<double>(a.indptr[a.rows] + b.indptr[a.rows]) + static_cast<double>(a.rows);
  const auto room = [&](std::int64_t r) { return static_cast<std::int64_t>(a.indptr[r]) + b.indptr[r]; };
  return write_compactly(a.rows, time, to, indptr, room, [&](std::int64_t first, std::int64_t last, std::int64_t at) {
    const auto put = [&](I column, R result) {
      to.indices[at] = column;
      to.data[at] = result;
      at += !is_nothing(result);
    };
    for (std::int64_t r = first; r < last; ++r) {
      std::int64_t i = a.indptr[r], j = b.indptr[r];
      const std::int64_t end_a = a.indptr[r + 1], end_b = b.indptr[r + 1];
      if (end_a - i == end_b - j && are_same(a.indices + i, b.indices + j, end_a - i))
        for (; i < end_a; ++i, ++j) put(a.indices[i], f(a.data[i], b.data[j]));
      while (i < end_a && j < end_b) {
        const I in_a = a.indices[i], in_b = b.indices[j];
        const bool of_a = in_a <= in_b, of_b = in_b <= in_a;
        put(std::min(in_a, in_b), f(where_on(a.data[i], of_a), where_on(b.data[j], of_b)));
        i += of_a, j += of_b;
      }
      for (; i < end_a; ++i) put(a.indices[i], f(a.data[i], T{}));
      for (; j < end_b; ++j) put(b.indices[j], f(T{}, b.data[j]));
      indptr[r + 1] = static_cast<I>(at);
    }
    return at;
  });
}

/// The places that both have.
template <class T, class I, class F>
std::int64_t combine_common(const typed_rows<T, I>& a, const typed_rows<T, I>& b, I* indptr, entry_places<T, I> to,
                            F&& f) {
  const double time = 2.0 * static_cast<double>(a.indptr[a.rows] + b.indptr[a.rows]) + static_cast<double>(a.rows);
  const I* const fewer = a.indptr[a.rows] <= b.indptr[a.rows] ? a.indptr : b.indptr;
  const auto room = [&](std::int64_t r) { return static_cast<std::int64_t>(fewer[r]); };
  return write_compactly(a.rows, time, to, indptr, room, [&](std::int64_t first, std::int64_t last, std::int64_t at) {
    for (std::int64_t r = first; r < last; ++r) {
      std::int64_t i = a.indptr[r], j = b.indptr[r];
      const std::int64_t end_a = a.indptr[r + 1], end_b = b.indptr[r + 1];
      while (i < end_a && j < end_b) {
        const I in_a = a.indices[i], in_b = b.indices[j];
        if (in_a == in_b) {
          const T result = f(a.data[i], b.data[j]);
          to.indices[at] = in_a;
          to.data[at] = result;
          at += !is_nothing(result);
        }
        i += in_a <= in_b, j += in_b <= in_a;
      }
      indptr[r + 1] = static_cast<I>(at);
    }
    return at;
  });
}

/// Integers wrap around.
template <class T>
using wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

template <class T, class I>
class combination {
 public:
  combination(const sparse_matrix& a, const sparse_matrix& b, void* indptr, void* indices, void* data)
      : a_(a), b_(b), indptr_(static_cast<I*>(indptr)), indices_(static_cast<I*>(indices)), data_(data) {}

  std::int64_t run(sparse_pairing p) {
    using W = wrapping<T>;
    const auto sum = [](T x, T y) { return static_cast<T>(static_cast<W>(x) + static_cast<W>(y)); };
    const auto difference = [](T x, T y) { return static_cast<T>(static_cast<W>(x) - static_cast<W>(y)); };
    const auto product = [](T x, T y) { return static_cast<T>(static_cast<W>(x) * static_cast<W>(y)); };
    switch (p) {
      case sparse_pairing::add: return of_either<T>(sum);
      case sparse_pairing::subtract: return of_either<T>(difference);
      case sparse_pairing::multiply: return combine_common(a_, b_, indptr_, places<T>(), product);
      case sparse_pairing::maximum: return of_either<T>([](T x, T y) { return extreme_of<true>(x, y); });
      case sparse_pairing::minimum: return of_either<T>([](T x, T y) { return extreme_of<false>(x, y); });
      case sparse_pairing::not_equal: return of_either<bool>([](T x, T y) { return x != y; });
      case sparse_pairing::less: return of_either<bool>([](T x, T y) { return x < y; });
      case sparse_pairing::greater: return of_either<bool>([](T x, T y) { return x > y; });
    }
    return 0;
  }

 private:
  template <class R>
  entry_places<R, I> places() const {
    return {indices_, static_cast<R*>(data_)};
  }
  template <class R, class F>
  std::int64_t of_either(F&& f) {
    return combine_rows(a_, b_, indptr_, places<R>(), f);
  }
  typed_rows<T, I> a_, b_;
  I *indptr_, *indices_;
  void* data_;
};

}  // namespace

bool cpu_sparse::combines(sparse_pairing, dtype t) const {
  return t == dtype::f32 || t == dtype::f64 || t == dtype::i32 || t == dtype::i64;
}

std::int64_t cpu_sparse::combine(sparse_pairing p, const sparse_matrix& a, const sparse_matrix& b, void* indptr,
                                 void* indices, void* data) {
  std::int64_t count = 0;
  const auto run = [&](auto element) {
    with_index(a.index, [&](auto index) {
      count = combination<decltype(element), decltype(index)>(a, b, indptr, indices, data).run(p);
    });
  };
  switch (a.type) {
    case dtype::f32: run(float{}); break;
    case dtype::i32: run(std::int32_t{}); break;
    case dtype::i64: run(std::int64_t{}); break;
    default: run(double{});
  }
  return count;
}

}  // namespace sinter::cpu
