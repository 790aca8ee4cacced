// Singular values and eigenvalues by OpenBLAS's LAPACK, the divide and conquer drivers where there are any.
#include <cmath>

#include "backends/cpu/linalg/lapack_calls.hpp"
#include "backends/cpu/linalg/solvers.hpp"

namespace sinter::cpu {

using runtime::right_vectors;
using runtime::svd_part;

namespace {

/// The real workspace of gesdd for complex matrices, by its documentation.
int64_t gesdd_reals(int64_t rows, int64_t columns, bool vectors) {
  const int64_t least = std::min(rows, columns), most = std::max(rows, columns);
  if (!vectors) return 7 * least;
  return std::max(5 * least * least + 5 * least, 2 * most * least + 2 * least * least + least);
}

template <class T>
class gesdd {
 public:
  gesdd(const lapack_api& api, const matrix_batch& m, svd_part part)
      : api_(api),
        job_("NSA"[static_cast<int>(part)]),
        rows_(counted(m.rows, m.function)),
        columns_(counted(m.columns, m.function)),
        right_(part == svd_part::full ? columns_ : static_cast<blas_int>(m.smaller())),
        integers_(8 * m.smaller()),
        reals_(gesdd_reals(m.rows, m.columns, part != svd_part::values)),
        work_(size_of(m)) {}

  void operator()(T* a, real_part<T>* s, T* u, T* vh, blas_int* info) { run(a, s, u, vh, work_.data(), size_, info); }

 private:
  blas_int size_of(const matrix_batch& m) {
    blas_int info = 0;
    T wanted{};
    run(nullptr, nullptr, nullptr, nullptr, &wanted, -1, &info);
    return size_ = counted(asked_for(wanted), m.function);
  }
  void run(T* a, real_part<T>* s, T* u, T* vh, T* work, blas_int size, blas_int* info) {
    const auto call = lapack_of<T>::gesdd;
    if constexpr (std::is_floating_point_v<T>)
      (api_.*call)(&job_, &rows_, &columns_, a, &rows_, s, u, &rows_, vh, &right_, work, &size, integers_.data(), info,
                   1);
    else
      (api_.*call)(&job_, &rows_, &columns_, a, &rows_, s, u, &rows_, vh, &right_, work, &size, reals_.data(),
                   integers_.data(), info, 1);
  }

  const lapack_api& api_;
  char job_;
  blas_int rows_, columns_, right_, size_ = 0;
  workspace<blas_int> integers_;
  workspace<real_part<T>> reals_;
  workspace<T> work_;
};

template <class T>
class syevd {
 public:
  syevd(const lapack_api& api, const matrix_batch& m, bool upper, bool vectors)
      : api_(api), job_(vectors ? 'V' : 'N'), triangle_(upper ? 'U' : 'L'), order_(counted(m.rows, m.function)) {
    blas_int info = 0, integers = 0;
    T wanted{};
    real_part<T> reals{};
    sizes_ = {-1, -1, -1};
    run(nullptr, nullptr, &wanted, &reals, &integers, &info);
    sizes_ = {counted(asked_for(wanted), m.function), counted(asked_for(reals), m.function), integers};
    work_ = std::make_unique<workspace<T>>(sizes_.work);
    reals_ = std::make_unique<workspace<real_part<T>>>(sizes_.reals);
    integers_ = std::make_unique<workspace<blas_int>>(integers);
  }
  void operator()(T* a, real_part<T>* w, blas_int* info) {
    run(a, w, work_->data(), reals_->data(), integers_->data(), info);
  }

 private:
  void run(T* a, real_part<T>* w, T* work, real_part<T>* reals, blas_int* integers, blas_int* info) {
    const auto call = lapack_of<T>::syevd;
    if constexpr (std::is_floating_point_v<T>)
      (api_.*call)(&job_, &triangle_, &order_, a, &order_, w, work, &sizes_.work, integers, &sizes_.integers, info, 1,
                   1);
    else
      (api_.*call)(&job_, &triangle_, &order_, a, &order_, w, work, &sizes_.work, reals, &sizes_.reals, integers,
                   &sizes_.integers, info, 1, 1);
  }

  const lapack_api& api_;
  char job_, triangle_;
  blas_int order_;
  struct {
    blas_int work, reals, integers;
  } sizes_{};
  std::unique_ptr<workspace<T>> work_;
  std::unique_ptr<workspace<real_part<T>>> reals_;
  std::unique_ptr<workspace<blas_int>> integers_;
};

template <class T>
class geev {
 public:
  using complex = std::complex<real_part<T>>;

  geev(const lapack_api& api, const matrix_batch& m, bool vectors)
      : api_(api),
        job_(vectors ? 'V' : 'N'),
        order_(counted(m.rows, m.function)),
        reals_(2 * m.rows),
        work_(size_of(m)) {}
  void operator()(T* a, complex* w, T* v, blas_int* info) { run(a, w, v, work_.data(), size_, info); }

 private:
  blas_int size_of(const matrix_batch& m) {
    blas_int info = 0;
    T wanted{};
    run(nullptr, nullptr, nullptr, &wanted, -1, &info);
    return size_ = counted(asked_for(wanted), m.function);
  }
  void run(T* a, complex* w, T* v, T* work, blas_int size, blas_int* info) {
    const auto call = lapack_of<T>::geev;
    const char none = 'N';
    const blas_int one = 1;
    if constexpr (std::is_floating_point_v<T>) {
      T *parts = reals_.data(), *imaginary = parts + order_;
      (api_.*call)(&none, &job_, &order_, a, &order_, parts, imaginary, nullptr, &one, v, &order_, work, &size, info, 1,
                   1);
      if (w)
        for (blas_int i = 0; i < order_; ++i) w[i] = {parts[i], imaginary[i]};
    } else {
      (api_.*call)(&none, &job_, &order_, a, &order_, w, nullptr, &one, v, &order_, work, &size, reals_.data(), info, 1,
                   1);
    }
  }

  const lapack_api& api_;
  char job_;
  blas_int order_, size_ = 0;
  workspace<real_part<T>> reals_;
  workspace<T> work_;
};

enum class matrix_part { all, lower, upper };  // with the diagonal

/// Whether the elements in a part of a matrix by columns are finite: LAPACK may not terminate where they are not.
template <class T>
bool is_finite(const T* a, int64_t rows, int64_t columns, matrix_part part) {
  constexpr int64_t numbers = sizeof(T) / sizeof(real_part<T>);
  const auto* x = reinterpret_cast<const real_part<T>*>(a);
  for (int64_t j = 0; j < columns; ++j) {
    const int64_t first = part == matrix_part::lower ? j : 0, last = part == matrix_part::upper ? j + 1 : rows;
    bool fine = true;
    for (int64_t i = (j * rows + first) * numbers; i < (j * rows + last) * numbers; ++i) fine &= std::isfinite(x[i]);
    if (!fine) return false;
  }
  return true;
}

/// The k-th of many equal pieces; null of nothing.
template <class T>
T* piece(void* all, int64_t k, int64_t size) {
  return all ? static_cast<T*>(all) + k * size : nullptr;
}

}  // namespace

right_vectors cpu_solvers::svd(const matrix_batch& m, svd_part part, void* a, void* s, void* u, void* v,
                               std::int32_t* info) {
  const lapack_api& api = lapack(m.function);
  const bool full = part == svd_part::full;
  const int64_t k = m.smaller(), of_u = m.rows * (full ? m.rows : k), of_v = m.columns * (full ? m.columns : k);
  with_type(m.type, [&](auto zero) {
    using T = decltype(zero);
    each_range(
        m.function, m.count, 4 * m.rows * m.columns * k,
        [&](int64_t first, int64_t last) {
          gesdd<T> one(api, m, part);
          const stack<T> matrices(a, m.rows * m.columns, m.count), left(u, of_u, m.count), right(v, of_v, m.count);
          for (int64_t i = first; i < last; ++i) {
            const auto matrix = matrices.at(i), of_left = left.at(i, false), of_right = right.at(i, false);
            if (is_finite(matrix.data(), m.rows, m.columns, matrix_part::all))
              one(matrix.data(), piece<real_part<T>>(s, i, k), of_left.data(), of_right.data(), info + i);
            else info[i] = runtime::not_finite;
          }
        },
        spectral_thread_work);
  });
  return right_vectors::vh;
}

void cpu_solvers::eigh(const matrix_batch& m, bool upper, bool vectors, bool, void* a, void* w, std::int32_t* info) {
  const lapack_api& api = lapack(m.function);
  with_type(m.type, [&](auto zero) {
    using T = decltype(zero);
    each_range(
        m.function, m.count, 4 * m.rows * m.rows * m.rows,
        [&](int64_t first, int64_t last) {
          syevd<T> one(api, m, upper, vectors);
          const stack<T> matrices(a, m.rows * m.rows, m.count);
          for (int64_t i = first; i < last; ++i) {
            const auto matrix = matrices.at(i);
            if (is_finite(matrix.data(), m.rows, m.rows, upper ? matrix_part::upper : matrix_part::lower))
              one(matrix.data(), piece<real_part<T>>(w, i, m.rows), info + i);
            else info[i] = runtime::not_finite;
          }
        },
        spectral_thread_work);
  });
}

void cpu_solvers::eig(const matrix_batch& m, void* a, void* w, void* v, std::int32_t* info) {
  const lapack_api& api = lapack(m.function);
  with_type(m.type, [&](auto zero) {
    using T = decltype(zero);
    each_range(
        m.function, m.count, 10 * m.rows * m.rows * m.rows,
        [&](int64_t first, int64_t last) {
          geev<T> one(api, m, v != nullptr);
          const stack<T> matrices(a, m.rows * m.rows, m.count), of_v(v, m.rows * m.rows, m.count);
          for (int64_t i = first; i < last; ++i) {
            const auto matrix = matrices.at(i), vectors = of_v.at(i, false);
            if (is_finite(matrix.data(), m.rows, m.rows, matrix_part::all))
              one(matrix.data(), piece<std::complex<real_part<T>>>(w, i, m.rows), vectors.data(), info + i);
            else info[i] = runtime::not_finite;
          }
        },
        spectral_thread_work);
  });
}

}  // namespace sinter::cpu
