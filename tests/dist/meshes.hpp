// Meshes of several positions on the default device, and comparisons with one device bit for bit.
#pragma once
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "sinter/dist.hpp"
#include "sinter/sinter.hpp"

namespace sinter::test {

/// What positions are on, in turn: the GPUs where the default device is one, else the default device.
inline std::vector<device>& devices_of_meshes() {
  static std::vector<device> all = [] {
    std::vector<device> some{default_device()};
    if (some[0].kind == device_kind::cuda)
      for (int k = 0; k < device_count(device_kind::cuda); ++k)
        if (const device other(device_kind::cuda, k); other != some[0]) some.push_back(other);
    return some;
  }();
  return all;
}
inline dist::mesh mesh_of(const shape_t& extents) {
  std::int64_t n = 1;
  for (const std::int64_t e : extents) n *= e;
  std::vector<device> devices;
  for (std::int64_t p = 0; p < n; ++p)
    devices.push_back(devices_of_meshes()[static_cast<std::size_t>(p) % devices_of_meshes().size()]);
  return dist::mesh(extents, {.devices = devices});
}

/// The elements' bytes, C order.
inline std::string bytes_of(const ndarray& x) {
  const ndarray here = dist::is_distributed(x) ? dist::gather(x) : x;
  const ndarray bytes = here.copy().reshape({-1}).view(uint8);
  const auto all = bytes.to_vector<std::uint8_t>();
  return std::string(all.begin(), all.end());
}
inline std::string bits(const ndarray& x) { return x.size() == 0 ? std::string() : bytes_of(x); }

/// Whether two arrays have the same dtype, shape and bits.
inline bool identical(const ndarray& x, const ndarray& y) {
  return x.dtype() == y.dtype() && x.shape() == y.shape() && bits(x) == bits(y);
}

/// The numbers of positions of the tests.
inline const std::vector<std::int64_t>& mesh_sizes() {
  static const std::vector<std::int64_t> all{1, 2, 3, 4, 8};
  return all;
}

}  // namespace sinter::test
