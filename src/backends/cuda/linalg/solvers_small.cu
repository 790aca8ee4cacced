// Many small matrices: tables of their addresses; LU factors and their systems, for which the libraries' routines read a matrix by
// more lanes than it has rows; Q from reflectors, for which no library has a batched routine; checks for elements that are not
// finite and for failed factorisations.
#include <type_traits>

#include "backends/cuda/algorithms/device_common.cuh"
#include "backends/cuda/linalg/device_solvers.hpp"
#include "backends/cuda/linalg/form_q_kernel.cuh"
#include "backends/cuda/linalg/matrix_check_kernel.cuh"
#include "backends/cuda/linalg/small_lu_kernel.cuh"

namespace sinter::cuda::device {
namespace {

__device__ void fill(const address_row& row, i64 i) { row.table[i] = static_cast<char*>(row.first) + i * row.stride; }

__global__ void address_table_kernel(address_row one, address_row other, i64 count) {
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += static_cast<i64>(gridDim.x) * blockDim.x) {
    fill(one, i);
    if (other.table) fill(other, i);
  }
}

template <class T>
cudaError_t run_form_q(const context& c, const q_shape& s, void* a, const void* tau) {
  constexpr i64 most = i64{1} << 20;
  return launch(c, form_q_kernel<T>, s.count < most ? s.count : most, q_threads, 0, s.rows, s.columns, s.reflectors,
                s.count, static_cast<T*>(a), static_cast<const T*>(tau));
}

constexpr int lu_threads = 128;

/// f(zero element, number of lanes that a matrix has).
template <class F>
cudaError_t with_lanes(const small_shape& s, F f) {
  const auto with_type = [&](auto zero) {
    if (s.order <= 4) return f(zero, std::integral_constant<int, 4>{});
    if (s.order <= 8) return f(zero, std::integral_constant<int, 8>{});
    return f(zero, std::integral_constant<int, 16>{});
  };
  switch (s.type) {
    case element::f32: return with_type(float{});
    case element::f64: return with_type(double{});
    case element::c64: return with_type(pair<float>{});
    default: return with_type(pair<double>{});
  }
}

template <class R>
cudaError_t run_clear(const context& c, const check_shape& s, int parts, R* a, std::int32_t* flags,
                      std::int32_t* exponents) {
  const number_matrices m{s.rows, s.columns, s.count, parts, static_cast<int>(s.part)};
  constexpr int warps = check_threads / 32;
  if (s.rows * s.columns * parts <= in_one_warp)
    return launch(c, clear_small_kernel<R>, looping_blocks(c, s.count, warps), check_threads, 0, m, a, flags,
                  exponents);
  const i64 blocks = looping_blocks(c, s.count * s.columns, warps);
  SINTER_TRY(cudaMemsetAsync(flags, 0, static_cast<std::size_t>(s.count) * sizeof *flags, c.stream));
  SINTER_TRY(launch(c, flag_columns_kernel<R>, blocks, check_threads, 0, m, a, flags));
  return launch(c, clear_columns_kernel<R>, blocks, check_threads, 0, m, a, flags);
}

}  // namespace

cudaError_t address_table(const context& c, const address_row& row, i64 count) {
  return address_tables(c, row, {}, count);
}
cudaError_t address_tables(const context& c, const address_row& one, const address_row& other, i64 count) {
  return launch(c, address_table_kernel, looping_blocks(c, count, 256), 256, 0, one, other, count);
}

cudaError_t clear_unless_finite(const context& c, const check_shape& s, void* a, std::int32_t* flags,
                                std::int32_t* exponents) {
  switch (s.type) {
    case element::f32: return run_clear(c, s, 1, static_cast<float*>(a), flags, exponents);
    case element::f64: return run_clear(c, s, 1, static_cast<double*>(a), flags, exponents);
    case element::c64: return run_clear(c, s, 2, static_cast<float*>(a), flags, exponents);
    default: return run_clear(c, s, 2, static_cast<double*>(a), flags, exponents);
  }
}

cudaError_t mark(const context& c, const std::int32_t* flags, i64 count, std::int32_t value, std::int32_t* info,
                 const scaled_values& s) {
  const i64 blocks = looping_blocks(c, count, check_threads);
  if (!s.exponents) return launch(c, mark_kernel, blocks, check_threads, 0, flags, count, value, info);
  if (s.wide)
    return launch(c, mark_and_scale_kernel<double>, blocks, check_threads, 0, flags, count, value, info, s.exponents,
                  static_cast<double*>(s.values), s.each);
  return launch(c, mark_and_scale_kernel<float>, blocks, check_threads, 0, flags, count, value, info, s.exponents,
                static_cast<float*>(s.values), s.each);
}

namespace {

constexpr i64 finding_blocks(i64 count) {
  constexpr i64 per_block = i64{check_threads} * 4, most = most_finders * 32 / check_threads;
  const i64 wanted = ceil_div(count, per_block);
  return wanted < most ? wanted : most;
}

}  // namespace

i64 finders(i64 count) noexcept { return finding_blocks(count) * (check_threads / 32); }

cudaError_t find_first(const context& c, const std::int32_t* numbers, i64 count, i64* found) {
  static_assert(sizeof(i64) == sizeof(long long));
  return launch(c, find_first_kernel, finding_blocks(count), check_threads, 0, numbers, count,
                reinterpret_cast<long long*>(found));
}

cudaError_t factor_small_lu(const context& c, const small_shape& s, void* a, std::int32_t* pivots, std::int32_t* info) {
  return with_lanes(s, [&](auto zero, auto lanes) {
    using T = decltype(zero);
    return launch(c, small_lu_kernel<T, lanes>, looping_blocks(c, s.count, lu_threads / lanes), lu_threads, 0, s.count,
                  static_cast<int>(s.order), static_cast<T*>(a), pivots, info);
  });
}

cudaError_t solve_small_lu(const context& c, const small_shape& s, i64 columns, int form, const void* lu,
                           const std::int32_t* pivots, void* sides) {
  return with_lanes(s, [&](auto zero, auto lanes) {
    using T = decltype(zero);
    return launch(c, small_solve_kernel<T, lanes>, looping_blocks(c, s.count, lu_threads / lanes), lu_threads, 0,
                  s.count, static_cast<int>(s.order), columns, static_cast<small_form>(form), static_cast<const T*>(lu),
                  pivots, static_cast<T*>(sides));
  });
}

cudaError_t form_q(const context& c, const q_shape& s, void* a, const void* tau) {
  switch (s.type) {
    case element::f32: return run_form_q<float>(c, s, a, tau);
    case element::f64: return run_form_q<double>(c, s, a, tau);
    case element::c64: return run_form_q<pair<float>>(c, s, a, tau);
    default: return run_form_q<pair<double>>(c, s, a, tau);
  }
}

}  // namespace sinter::cuda::device
