// LU factorisations of matrices so small that a call of LAPACK takes longer than its work.
#pragma once
#include <cstdint>

#include "sinter/dtype.hpp"

namespace sinter::cpu {

/// Rows and columns of such a matrix at most.
inline constexpr std::int64_t largest_small_lu = 8;

/// As getrf for `count` matrices of n x n elements by columns, one after the other.
void factor_small_lu(dtype type, std::int64_t n, std::int64_t count, void* a, std::int32_t* pivots, std::int32_t* info);
/// As getrs with the plain matrices, for `columns` right sides each.
void solve_small_lu(dtype type, std::int64_t n, std::int64_t columns, std::int64_t count, const void* lu,
                    const std::int32_t* pivots, void* x);

}  // namespace sinter::cpu
