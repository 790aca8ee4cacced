// The k nearest of N vectors for each of M, on the CPU and on GPUs, in bounded memory.
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "search.hpp"

namespace nearest_neighbor {

enum class metric {
  haversine,  // km between points on the earth, two dimensions: latitude and longitude in radians
  euclidean,
  cosine,  // 1 - cos of the angle between two vectors, neither of which may be zero
};
/// Of "haversine", "euclidean", "cosine"; throws std::invalid_argument.
metric metric_of(std::string_view name);
const char* name_of(metric m);

/// Takes the neighbours of rows `first`, first + 1, ...: index (rows, k) int64 and distance (rows, k) float32, nearest
/// first, of equally near ones the first first. A place that no neighbour at a finite distance could fill has index -1
/// and an infinite distance.
using knn_sink = std::function<void(std::int64_t first, const ndarray& index, const ndarray& distance)>;

/// Searches p (M, D) and q (N, D), float32 on one device, block by block of rows, and hands each block over. No memory
/// of size M x N: a block has `block_rows` rows, by default as many as keep what it needs to 64 MB on the CPU and 256
/// MB on a GPU. k is from 1 to min(64, N), D from 1 to 1,024 (2 for haversine). Throws sn::value_error for others.
///
/// All metrics come down to the smallest squared differences: of unit vectors (haversine: half of the square is the
/// haversine; cosine: half of it is the distance) or of the vectors themselves. That keeps small distances, which a
/// float32 product of the vectors would cancel.
void knn(const ndarray& p, const ndarray& q, int k, metric how, const knn_sink& sink, std::int64_t block_rows = 0);

/// Everything in host memory.
struct knn_result {
  int k = 0;
  std::vector<std::int64_t> index;  // M * k
  std::vector<float> distance;
};
knn_result knn(const ndarray& p, const ndarray& q, int k, metric how, std::int64_t block_rows = 0);

namespace detail {

/// What both devices do before: the vectors whose squared differences count, recorded.
ndarray knn_vectors(const ndarray& x, metric how);
/// The two devices: `p`, `q` as given, `u`, `v` from knn_vectors. One block.
struct knn_block {
  ndarray index, distance;
};
struct knn_inputs {
  ndarray p, q, u, v;
};
knn_block knn_on_cpu(const knn_inputs& in, int k, metric how);

struct knn_kernels {
  sn::raw_kernel search, great_circle;
};
/// Compiled for lists of 8, 16, 32 or 64 places, and for few or many dimensions; a separate module.
knn_kernels make_knn_kernels(int k, std::int64_t dimensions);
knn_block knn_on_gpu(const knn_kernels& kernels, const knn_inputs& in, int k, metric how);

}  // namespace detail
}  // namespace nearest_neighbor
