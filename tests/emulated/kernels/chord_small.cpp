// chord.cu as host functions: one row a thread, references read through the cache.
#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/kernels.hpp"

#define ROWS 1
#define BLOCK 32
#define GROUP 8
#define TILE 0
#define DPX 0
#define chord_search chord_small_search
#define chord_finish chord_small_finish
#include "examples/nearest_neighbor/kernels/chord.cu"

namespace emulated {
const chord chord_small{ROWS, BLOCK, GROUP, chord_small_search, chord_small_finish};
}
