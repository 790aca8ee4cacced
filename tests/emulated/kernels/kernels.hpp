// The example's kernels as functions of the host, in several configurations; each is compiled in a separate unit.
#pragma once

namespace emulated {

using chord_search_function = void(const float*, const float*, const float*, long long, const float*, const float*,
                                   const float*, int, int, unsigned long long*);
using chord_finish_function = void(const float*, const float*, const float*, long long, const float*, const float*,
                                   const float*, int, const unsigned long long*, const float*, const float*, int, float,
                                   long long*, float*);
struct chord {
  int rows, block, group;
  chord_search_function* search;
  chord_finish_function* finish;
};
extern const chord chord_default, chord_small, chord_odd;

struct knn {
  int list;
  void (*search)(const float*, long long, const float*, int, int, int, float*, int*);
  void (*great_circle)(const float*, long long, const float*, const int*, int, float, long long*, float*);
};
extern const knn knn_8, knn_16, knn_32, knn_64;

struct two_kernel {
  void (*blocks)(const float*, long long, const float*, int, float, float*, int*);
  void (*rows)(const float*, const int*, long long, long long*, float*);
};
extern const two_kernel two_kernels;

}  // namespace emulated
