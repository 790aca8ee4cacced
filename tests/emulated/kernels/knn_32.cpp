// knn.cu as host functions: lists of 32 places, 4 coordinates at a time.
#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/kernels.hpp"

#define LIST 32
#define CHUNK 4
#define knn_search knn_search_32
#define knn_great_circle knn_great_circle_32
#include "examples/nearest_neighbor/kernels/knn.cu"

namespace emulated {
const knn knn_32{LIST, knn_search_32, knn_great_circle_32};
}
