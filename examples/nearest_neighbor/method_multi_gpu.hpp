// How observations are shared out between devices.
#pragma once
#include <cstdint>

namespace nearest_neighbor {

struct share {
  std::int64_t first = 0, count = 0;
  friend bool operator==(const share&, const share&) = default;
};

/// Rows of one device: as equal as they can be, the larger shares first, none where there are fewer rows than devices.
share share_of(std::int64_t rows, int devices, int device);

}  // namespace nearest_neighbor
