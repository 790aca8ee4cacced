// knn.cu as host functions: lists of 8 places, 4 coordinates at a time.
#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/kernels.hpp"

#define LIST 8
#define CHUNK 4
#define knn_search knn_search_8
#define knn_great_circle knn_great_circle_8
#include "examples/nearest_neighbor/kernels/knn.cu"

namespace emulated {
const knn knn_8{LIST, knn_search_8, knn_great_circle_8};
}
