// knn.cu as host functions: lists of 16 places, 16 coordinates at a time.
#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/kernels.hpp"

#define LIST 16
#define CHUNK 16
#define knn_search knn_search_16
#define knn_great_circle knn_great_circle_16
#include "examples/nearest_neighbor/kernels/knn.cu"

namespace emulated {
const knn knn_16{LIST, knn_search_16, knn_great_circle_16};
}
