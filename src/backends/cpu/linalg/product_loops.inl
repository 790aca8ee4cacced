// The loops of integer products. Included once for each instruction set, after its target has been opened.
#include "jit/cpu/lane_loops.inl"

namespace sinter::cpu::SINTER_ISA {
namespace {

struct plus_times {
  template <class T>
  [[gnu::always_inline]] static inline T step(T sum, T x, T y) {
    return sum + x * y;
  }
};
struct or_and {
  template <class T>
  [[gnu::always_inline]] static inline T step(T sum, T x, T y) {
    return sum | (x & y);
  }
};

/// Four rows of b at a time, so that sums are read and written a quarter as often.
template <class Step, class T>
void products(T* __restrict sums, const T* __restrict a, const T* __restrict b, int rows, int columns, int inner) {
  for (int i = 0; i < rows; ++i) {
    T* __restrict to = sums + static_cast<std::ptrdiff_t>(i) * columns;
    const T* x = a + static_cast<std::ptrdiff_t>(i) * inner;
    int k = 0;
    for (; k + 4 <= inner; k += 4) {
      const T x0 = x[k], x1 = x[k + 1], x2 = x[k + 2], x3 = x[k + 3];
      const T* y = b + static_cast<std::ptrdiff_t>(k) * columns;
      const T *y1 = y + columns, *y2 = y1 + columns, *y3 = y2 + columns;
      SINTER_LANES(j, columns) {
        T sum = Step::step(to[j], x0, y[j]);
        sum = Step::step(sum, x1, y1[j]);
        sum = Step::step(sum, x2, y2[j]);
        to[j] = Step::step(sum, x3, y3[j]);
      }
    }
    for (; k < inner; ++k) {
      const T x0 = x[k];
      const T* y = b + static_cast<std::ptrdiff_t>(k) * columns;
      SINTER_LANES(j, columns) to[j] = Step::step(to[j], x0, y[j]);
    }
  }
}

}  // namespace

void add_products(std::uint32_t* sums, const std::uint32_t* a, const std::uint32_t* b, int rows, int columns, int inner) {
  products<plus_times>(sums, a, b, rows, columns, inner);
}
void add_products(std::uint64_t* sums, const std::uint64_t* a, const std::uint64_t* b, int rows, int columns, int inner) {
  products<plus_times>(sums, a, b, rows, columns, inner);
}
void or_products(std::uint32_t* sums, const std::uint32_t* a, const std::uint32_t* b, int rows, int columns, int inner) {
  products<or_and>(sums, a, b, rows, columns, inner);
}

}  // namespace sinter::cpu::SINTER_ISA
