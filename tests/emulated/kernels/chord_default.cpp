// chord.cu as host functions: the configuration that the example uses.
#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/kernels.hpp"

#define chord_search chord_default_search
#define chord_finish chord_default_finish
#include "examples/nearest_neighbor/kernels/chord.cu"

namespace emulated {
const chord chord_default{ROWS, BLOCK, GROUP, chord_default_search, chord_default_finish};
}
