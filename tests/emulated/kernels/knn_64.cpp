// knn.cu as host functions: lists of 64 places, 16 coordinates at a time.
#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/kernels.hpp"

#define LIST 64
#define CHUNK 16
#define knn_search knn_search_64
#define knn_great_circle knn_great_circle_64
#include "examples/nearest_neighbor/kernels/knn.cu"

namespace emulated {
const knn knn_64{LIST, knn_search_64, knn_great_circle_64};
}
