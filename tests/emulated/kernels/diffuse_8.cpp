// diffuse.cu as a host function: small tiles.
#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/forms.hpp"

template <class A, class B>
auto max(A a, B b) {
  return a < b ? b : a;
}

#define SIDE 8
#define ROWS 2
#define diffuse diffuse_8
#define write_at_edge write_at_edge_8
#include "examples/diffusion/diffuse.cu"
#undef diffuse

namespace emulated {
const diffuse_kernel diffuse_8{SIDE, ROWS, ::diffuse_8};
}
