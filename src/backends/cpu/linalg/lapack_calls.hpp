// What the calls of LAPACK share: element types, sizes as LAPACK counts, workspaces, batches over threads.
#pragma once
#include <algorithm>
#include <climits>
#include <complex>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include "backends/cpu/linalg/lapack_library.hpp"
#include "backends/cpu/linalg/openblas_library.hpp"
#include "runtime/algorithms/solvers.hpp"
#include "runtime/parallel.hpp"
#include "sinter/error.hpp"

namespace sinter::cpu {

using runtime::matrix_batch;
using std::int32_t;
using std::int64_t;

template <class T>
using real_part = typename lapack_of<T>::real;

/// Calls f with a value of the dtype's C++ type.
template <class F>
void with_type(dtype t, F&& f) {
  switch (t) {
    case dtype::f32: return f(float{});
    case dtype::f64: return f(double{});
    case dtype::c64: return f(std::complex<float>{});
    default: return f(std::complex<double>{});
  }
}

/// A number as LAPACK counts; value_error where it does not.
inline blas_int counted(int64_t n, const char* function) {
  if (n > INT_MAX)
    throw value_error("[" + std::string(function) + "] " + std::to_string(n) + " is more than LAPACK counts to");
  return static_cast<blas_int>(n);
}

/// The address of vectors. The library's loops round by where a matrix begins between two of these.
inline constexpr std::size_t vector_alignment = 64;
inline bool is_aligned(const void* p) noexcept { return reinterpret_cast<std::uintptr_t>(p) % vector_alignment == 0; }

/// Uninitialised memory that begins where vectors do.
template <class T>
class workspace {
 public:
  explicit workspace(int64_t count)
      : memory_(static_cast<T*>(::operator new (static_cast<std::size_t>(std::max<int64_t>(count, 1)) * sizeof(T),
                                                std::align_val_t{vector_alignment}))) {}
  T* data() const noexcept { return memory_.get(); }

 private:
  struct release {
    void operator()(T* p) const noexcept { ::operator delete (p, std::align_val_t{vector_alignment}); }
  };
  std::unique_ptr<T, release> memory_;
};

/// A matrix of a stack, in its own place if vectors begin there, else in `room` until the end of the scope: equal matrices
/// have equal factors wherever they are in a stack.
template <class T>
class aligned_matrix {
 public:
  /// is_read: not only written.
  aligned_matrix(T* at, int64_t elements, const workspace<T>& room, bool is_read = true)
      : at_(at), elements_(elements), used_(at) {
    if (!at || is_aligned(at)) return;
    used_ = room.data();
    if (is_read) std::copy_n(at, elements, used_);
  }
  ~aligned_matrix() {
    if (used_ != at_) std::copy_n(used_, elements_, at_);
  }
  aligned_matrix(const aligned_matrix&) = delete;
  aligned_matrix& operator=(const aligned_matrix&) = delete;

  T* data() const noexcept { return used_; }

 private:
  T* at_;
  int64_t elements_;
  T* used_;
};

/// Matrices behind each other, which a thread factors one by one; null of nothing.
template <class T>
class stack {
 public:
  stack(void* all, int64_t elements, int64_t count)
      : all_(static_cast<T*>(all)),
        elements_(elements),
        room_(is_aligned(all_) && (count < 2 || is_aligned(all_ + elements)) ? 0 : elements) {}
  aligned_matrix<T> at(int64_t k, bool is_read = true) const {
    return {all_ ? all_ + k * elements_ : nullptr, elements_, room_, is_read};
  }

 private:
  T* all_;
  int64_t elements_;
  workspace<T> room_;
};

/// What a query has left in the first element of the workspace.
template <class T>
int64_t asked_for(T first) {
  // The number may have been rounded down to a float.
  return static_cast<int64_t>(static_cast<double>(std::real(first)) * (1 + 1e-6));
}

/// Operations that are worth a thread of OpenBLAS. Its threads wait for each other actively, and often: with less work
/// they take longer than one, in particular where other programs use the cores.
inline constexpr int64_t thread_work = 250'000'000;
/// Most steps of spectral decompositions are products with a vector, which are not faster on several threads.
inline constexpr int64_t spectral_thread_work = 16 * thread_work;

/// Calls f(first, last) for ranges of a batch. Many matrices: each on one thread. Few: one after the other, each on as
/// many threads as its work is worth.
template <class F>
void each_range(const char* function, int64_t count, int64_t work_each, F&& f, int64_t worth = thread_work) {
  const int threads = runtime::thread_count();
  const bool side_by_side = threads > 1 && count >= threads;
  const auto useful = static_cast<int>(std::clamp<int64_t>(work_each / worth, 1, threads));
  const openblas_section blas(function, side_by_side ? 1 : useful);
  if (!side_by_side) return f(int64_t{0}, count);
  const int64_t enough = std::max<int64_t>(1, 1'000'000 / std::max<int64_t>(1, work_each));
  const int64_t each = std::clamp<int64_t>(count / (4 * threads), 1, enough);
  const double nanoseconds = static_cast<double>(count) * (1000 + static_cast<double>(work_each));
  runtime::parallel_for((count + each - 1) / each, nanoseconds,
                        [&](int64_t task) { f(task * each, std::min(count, (task + 1) * each)); });
}

}  // namespace sinter::cpu
