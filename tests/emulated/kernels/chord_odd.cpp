// chord.cu as host functions: several tiles, the last of them not full.
#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/kernels.hpp"

#define ROWS 3
#define BLOCK 64
#define GROUP 16
#define TILE 48
#define DPX 0
#define chord_search chord_odd_search
#define chord_finish chord_odd_finish
#include "examples/nearest_neighbor/kernels/chord.cu"

namespace emulated {
const chord chord_odd{ROWS, BLOCK, GROUP, chord_odd_search, chord_odd_finish};
}
