// The functions of FFTW 3 that the library calls. They are declared here, so that a build needs no header of FFTW's;
// where there is one, fftw_functions_test.cpp compares. NAME_type is the type of NAME.
#pragma once
#include <cstddef>

namespace sinter::cpu {

/// An axis: its length, and the elements between neighbours.
struct fftw_axis {
  std::ptrdiff_t length, in_stride, out_stride;
};
inline constexpr unsigned fftw_estimate = 1u << 6;
inline constexpr int fftw_forward = -1, fftw_backward = 1;

/// The functions of one precision; a plan is opaque.
template <class Real>
struct fftw_types {
  using real = Real;
  using complex = Real[2];
  using plan = struct opaque_plan*;
  using plan_complex = plan(int rank, const fftw_axis*, int batch_rank, const fftw_axis* batch, complex* in,
                            complex* out, int sign, unsigned flags);
  using plan_from_real = plan(int rank, const fftw_axis*, int batch_rank, const fftw_axis* batch, real* in,
                              complex* out, unsigned flags);
  using plan_to_real = plan(int rank, const fftw_axis*, int batch_rank, const fftw_axis* batch, complex* in, real* out,
                            unsigned flags);
  using run_complex = void(plan, complex* in, complex* out);
  using run_from_real = void(plan, real* in, complex* out);
  using run_to_real = void(plan, complex* in, real* out);
  using destroy = void(plan);
  using init_threads = int();
  using use_threads = void(int);
  /// `loop` runs work(jobs + k * bytes) for k < count; `data` is handed to it.
  using set_callback = void(void (*loop)(void* (*work)(char*), char* jobs, std::size_t bytes, int count, void* data),
                            void* data);
};

#define SINTER_FFTW_TYPES(X, R)                                      \
  using X##plan_guru64_dft_type = fftw_types<R>::plan_complex;       \
  using X##plan_guru64_dft_r2c_type = fftw_types<R>::plan_from_real; \
  using X##plan_guru64_dft_c2r_type = fftw_types<R>::plan_to_real;   \
  using X##execute_dft_type = fftw_types<R>::run_complex;            \
  using X##execute_dft_r2c_type = fftw_types<R>::run_from_real;      \
  using X##execute_dft_c2r_type = fftw_types<R>::run_to_real;        \
  using X##destroy_plan_type = fftw_types<R>::destroy;               \
  using X##init_threads_type = fftw_types<R>::init_threads;          \
  using X##plan_with_nthreads_type = fftw_types<R>::use_threads;     \
  using X##threads_set_callback_type = fftw_types<R>::set_callback;
SINTER_FFTW_TYPES(fftw_, double)
SINTER_FFTW_TYPES(fftwf_, float)
#undef SINTER_FFTW_TYPES

}  // namespace sinter::cpu
