// The kernels of saxpy, relative_difference and diffusion as functions of the host; each file is a separate unit.
#pragma once

namespace emulated {

struct saxpy_kernels {
  void (*grid_stride)(float a, const float* x, const float* y, float* z, long long n);
  void (*by_four)(float a, const float* x, const float* y, float* z, long long n);
  /// The kernel for views takes what the library passes; this one makes it of addresses and steps.
  void (*strided)(float a, const float* x, long long x_step, const float* y, long long y_step, float* z, long long n);
};
extern const saxpy_kernels saxpy;

struct difference_kernels {
  void (*grid_stride)(const float* x, const float* y, float* d, long long n);
  void (*by_four)(const float* x, const float* y, float* d, long long n);
  void (*strided)(const float* x, long long x_step, const float* y, long long y_step, float* d, long long n);
};
extern const difference_kernels difference;

struct diffuse_kernel {
  int side, rows;
  void (*step)(const float* u, float* next, int n, float rate, bool reflecting);
};
extern const diffuse_kernel diffuse_32, diffuse_8;

}  // namespace emulated
