// The kernels that factor and solve small matrices, as host functions for the emulator. lanes: 4, 8 or 16 of a matrix.
#pragma once
#include <complex>

namespace emulated {

void small_lu(int lanes, long long count, int order, float* all, int* pivots, int* info);
void small_lu(int lanes, long long count, int order, double* all, int* pivots, int* info);
void small_lu(int lanes, long long count, int order, std::complex<double>* all, int* pivots, int* info);
/// form: 0 the matrix, 1 its transpose, 2 its conjugated transpose.
void small_solve(int lanes, long long count, int order, long long columns, int form, const float* lu, const int* pivots,
                 float* x);
void small_solve(int lanes, long long count, int order, long long columns, int form, const double* lu,
                 const int* pivots, double* x);
void small_solve(int lanes, long long count, int order, long long columns, int form, const std::complex<double>* lu,
                 const int* pivots, std::complex<double>* x);

}  // namespace emulated
