// diffuse.cu as a host function: the configuration that the example uses.
#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/forms.hpp"

template <class A, class B>
auto max(A a, B b) {
  return a < b ? b : a;
}

#define SIDE 32
#define ROWS 4
#define diffuse diffuse_32
#define write_at_edge write_at_edge_32
#include "examples/diffusion/diffuse.cu"
#undef diffuse

namespace emulated {
const diffuse_kernel diffuse_32{SIDE, ROWS, ::diffuse_32};
}
