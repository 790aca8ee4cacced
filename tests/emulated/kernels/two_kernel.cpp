// two_kernel.cu as host functions.
#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/kernels.hpp"

#include "examples/nearest_neighbor/kernels/two_kernel.cu"

namespace emulated {
const two_kernel two_kernels{nearest_of_blocks, nearest_of_rows};
}
