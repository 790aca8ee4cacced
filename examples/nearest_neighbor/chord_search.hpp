// The nearest neighbour by raw kernels tuned for it (kernels/chord.cu). The points become unit vectors; the smallest
// squared chord gives the neighbour, and the haversine formula the distance to it.
#pragma once
#include <cstdint>

#include "search.hpp"

namespace nearest_neighbor {

/// How the kernels are compiled and launched; see kernels/chord.cu.
struct chord_config {
  int rows = 8, block = 256, group = 32, unroll = 4, tile = 1024;
  bool dpx = true;
  /// Into how many parts the columns are divided, each for separate blocks, where the rows alone do not fill the
  /// device.
  /// 0: as many as fill `resident` blocks evenly.
  std::int64_t splits = 0;
  std::int64_t resident = 396;  // blocks at work at a time: 3 on each of an H200's 132 multiprocessors
};

/// Coordinates of unit vectors, one array (n,) float32 each.
struct unit_vectors {
  ndarray x, y, z;
};

/// From latitude and longitude in radians (n, 2), computed in float64; recorded. `count` vectors, of which those beyond
/// the last repeat it.
unit_vectors unit_vectors_of(const ndarray& points, std::int64_t count);

/// What the kernels read: the points and their unit vectors, those of the references padded to whole groups.
struct chord_points {
  ndarray p, q;  // (M, 2), (N, 2) float32
  unit_vectors from, to;
};

/// Needs a GPU. Copies share the compiled kernels, also between threads and devices.
class chord_search {
 public:
  explicit chord_search(const chord_config& config = {});

  /// p (M, 2), q (N, 2) on one GPU; both at least one point. Enqueues everything and returns.
  neighbours operator()(const ndarray& p, const ndarray& q) const { return find(prepare(p, q)); }

  /// The two halves of it: recorded expressions, and the kernels.
  chord_points prepare(const ndarray& p, const ndarray& q) const;
  neighbours find(const chord_points& points) const;
  const sn::raw_kernel& search_kernel() const { return search_; }

 private:
  chord_config config_;
  sn::raw_kernel search_, finish_;
};

/// The number of parts where chord_config::splits is 0.
std::int64_t chord_splits(const chord_config& config, std::int64_t rows, std::int64_t columns);

}  // namespace nearest_neighbor
