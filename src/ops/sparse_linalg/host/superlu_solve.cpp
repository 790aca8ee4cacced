// SuperLU's own routine calls the BLAS for every supernode, of which most have a few columns only: here these are plain loops,
// with the right-hand sides beside each other in memory.
#include "ops/sparse_linalg/host/superlu_solve.hpp"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace sinter::ops::slu {
namespace {

template <class T>
T product(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) return a * b;
  else return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <bool Conjugated, class T>
T element(const T& a) {
  if constexpr (Conjugated && !std::is_floating_point_v<T>) return std::conj(a);
  else return a;
}

/// W right-hand sides, of which row i is x[i * W], ...
template <class T, int W>
class sides {
 public:
  sides(const factors& f, std::vector<T>& x, std::vector<T>& work) : f_(f), x_(x.data()), work_(work.data()) {}

  /// L x = x.
  void lower() {
    for (int s = 0; s <= f_.l->nsuper; ++s) {
      const block a = block_of(s);
      for (int j = 0; j < a.width; ++j)
        for (int i = j + 1; i < a.width; ++i) subtract(row(a.first + i), a.at(i, j), row(a.first + j));
      if (a.width == 1) {
        for (int i = 1; i < a.height; ++i) subtract(row(a.rows[i]), a.at(i, 0), row(a.first));
        continue;
      }
      if (a.height == a.width) continue;
      multiply_below(a);
      for (int i = a.width; i < a.height; ++i)
        for (int w = 0; w < W; ++w) row(a.rows[i])[w] -= work_[(i - a.width) * W + w];
    }
  }
  /// U x = x.
  void upper() {
    const T* const values = static_cast<const T*>(f_.u->nzval);
    for (int s = f_.l->nsuper; s >= 0; --s) {
      const block a = block_of(s);
      for (int j = a.width - 1; j >= 0; --j) {
        for (int w = 0; w < W; ++w) row(a.first + j)[w] /= a.at(j, j);
        for (int i = 0; i < j; ++i) subtract(row(a.first + i), a.at(i, j), row(a.first + j));
      }
      for (int j = a.first; j < a.first + a.width; ++j)
        for (int k = f_.u->colptr[j]; k < f_.u->colptr[j + 1]; ++k) subtract(row(f_.u->rowind[k]), values[k], row(j));
    }
  }
  /// U^T x = x, or U^H x = x.
  template <bool Conjugated>
  void upper_turned() {
    const T* const values = static_cast<const T*>(f_.u->nzval);
    for (int s = 0; s <= f_.l->nsuper; ++s) {
      const block a = block_of(s);
      for (int j = 0; j < a.width; ++j) {
        const int begin = f_.u->colptr[a.first + j], end = f_.u->colptr[a.first + j + 1];
        subtract_products<Conjugated>(row(a.first + j), end - begin, values + begin,
                                      [&](int k) { return row(f_.u->rowind[begin + k]); });
        subtract_products<Conjugated>(row(a.first + j), j, a.values + a.column(j),
                                      [&](int k) { return row(a.first + k); });
        for (int w = 0; w < W; ++w) row(a.first + j)[w] /= element<Conjugated>(a.at(j, j));
      }
    }
  }
  /// L^T x = x, or L^H x = x.
  template <bool Conjugated>
  void lower_turned() {
    for (int s = f_.l->nsuper; s >= 0; --s) {
      const block a = block_of(s);
      const int below = a.height - a.width;
      if (a.width > 1)
        for (int i = 0; i < below; ++i) std::copy_n(row(a.rows[a.width + i]), W, work_ + i * W);
      for (int j = a.width - 1; j >= 0; --j) {
        const T* const column = a.values + a.column(j);
        if (a.width > 1)
          subtract_products<Conjugated>(row(a.first + j), below, column + a.width,
                                        [&](int i) { return work_ + i * W; });
        else subtract_products<Conjugated>(row(a.first), below, column + 1, [&](int i) { return row(a.rows[1 + i]); });
        subtract_products<Conjugated>(row(a.first + j), a.width - 1 - j, column + j + 1,
                                      [&](int i) { return row(a.first + j + 1 + i); });
      }
    }
  }

 private:
  /// A supernode: `width` columns from `first` on, with the same `height` rows, of which the first are the columns themselves;
  /// there L is below the diagonal and U on and above it.
  struct block {
    int first, width, height;
    const int* rows;
    const T* values;
    std::ptrdiff_t column(int j) const { return std::ptrdiff_t{j} * height; }
    const T& at(int i, int j) const { return values[column(j) + i]; }
  };
  block block_of(int s) const {
    const supernodes& l = *f_.l;
    const int first = l.sup_to_col[s], begin = l.rowind_colptr[first];
    return {first, l.sup_to_col[s + 1] - first, l.rowind_colptr[first + 1] - begin, l.rowind + begin,
            static_cast<const T*>(l.nzval) + l.nzval_colptr[first]};
  }
  T* row(int i) const { return x_ + std::ptrdiff_t{i} * W; }
  static void subtract(T* from, const T& factor, const T* x) {
    for (int w = 0; w < W; ++w) from[w] -= product(factor, x[w]);
  }
  /// What the rows of a supernode below its columns take away, in work_; four columns at a time.
  void multiply_below(const block& a) {
    const int below = a.height - a.width;
    std::fill_n(work_, std::ptrdiff_t{below} * W, T(0));
    int j = 0;
    for (; j + 4 <= a.width; j += 4) {
      const T *c = a.values + a.column(j) + a.width, *x = row(a.first + j);
      for (int i = 0; i < below; ++i)
        for (int w = 0; w < W; ++w)
          work_[i * W + w] += (product(c[i], x[w]) + product(c[i + a.column(1)], x[W + w])) +
                              (product(c[i + a.column(2)], x[2 * W + w]) + product(c[i + a.column(3)], x[3 * W + w]));
    }
    for (; j < a.width; ++j) {
      const T *c = a.values + a.column(j) + a.width, *x = row(a.first + j);
      for (int i = 0; i < below; ++i)
        for (int w = 0; w < W; ++w) work_[i * W + w] += product(c[i], x[w]);
    }
  }
  /// from -= sum of values[k] * x(k), in four sums of which each has every fourth.
  template <bool Conjugated, class X>
  static void subtract_products(T* from, int count, const T* values, X x) {
    T sums[4][W] = {};
    int k = 0;
    for (; k + 4 <= count; k += 4)
      for (int q = 0; q < 4; ++q)
        for (int w = 0; w < W; ++w) sums[q][w] += product(element<Conjugated>(values[k + q]), x(k + q)[w]);
    for (; k < count; ++k)
      for (int w = 0; w < W; ++w) sums[0][w] += product(element<Conjugated>(values[k]), x(k)[w]);
    for (int w = 0; w < W; ++w) from[w] -= (sums[0][w] + sums[1][w]) + (sums[2][w] + sums[3][w]);
  }

  const factors& f_;
  T *x_, *work_;
};

template <class T, int W>
void solve_some(const factors& f, form how, const T* b, std::int64_t count, T* x, std::vector<T>& rows,
                std::vector<T>& work) {
  const int *from = f.perm_r, *to = f.perm_c;
  if (how != form::plain) std::swap(from, to);
  for (int i = 0; i < f.n; ++i) std::copy_n(b + i * count, W, rows.data() + std::ptrdiff_t{from[i]} * W);
  sides<T, W> s(f, rows, work);
  if (how == form::plain) s.lower(), s.upper();
  else if (how == form::transposed) s.template upper_turned<false>(), s.template lower_turned<false>();
  else s.template upper_turned<true>(), s.template lower_turned<true>();
  for (int i = 0; i < f.n; ++i) std::copy_n(rows.data() + std::ptrdiff_t{to[i]} * W, W, x + i * count);
}

/// Rows of the highest supernode.
int highest(const supernodes& l) {
  int most = 0;
  for (int s = 0; s <= l.nsuper; ++s) {
    const int first = l.sup_to_col[s];
    most = std::max(most, l.rowind_colptr[first + 1] - l.rowind_colptr[first]);
  }
  return most;
}

}  // namespace

template <class T>
void solve(const factors& f, form how, const T* b, std::int64_t count, T* x) {
  const std::size_t width = count >= 8 ? 8 : count >= 4 ? 4 : 1;
  std::vector<T> rows(static_cast<std::size_t>(f.n) * width), work(static_cast<std::size_t>(highest(*f.l)) * width);
  std::int64_t done = 0;
  for (; done + 8 <= count; done += 8) solve_some<T, 8>(f, how, b + done, count, x + done, rows, work);
  for (; done + 4 <= count; done += 4) solve_some<T, 4>(f, how, b + done, count, x + done, rows, work);
  for (; done < count; ++done) solve_some<T, 1>(f, how, b + done, count, x + done, rows, work);
}

template void solve(const factors&, form, const float*, std::int64_t, float*);
template void solve(const factors&, form, const double*, std::int64_t, double*);
template void solve(const factors&, form, const std::complex<float>*, std::int64_t, std::complex<float>*);
template void solve(const factors&, form, const std::complex<double>*, std::int64_t, std::complex<double>*);

}  // namespace sinter::ops::slu
