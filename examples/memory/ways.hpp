// One computation, z = sqrt(x^2 + y^2) over float32, with its arrays in device, pinned and managed memory.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <sinter/sinter.hpp>

namespace memory {

namespace sn = sinter;
using sn::ndarray;

/// Numbers on the host, as a program would have read or computed them.
struct input {
  std::vector<float> x, y;
};
input make_input(std::int64_t count);
/// What z must be, in float64.
double exact(float x, float y);

/// What a way costs, in seconds.
struct cost {
  double bring = 0;    // until the device can begin: memory, copies, or none
  double first = 0;    // the computation, with what moves because of it
  double again = 0;    // the same once more
  double collect = 0;  // until the host has read every element of the result
};

/// A place for the arrays. `run` fills in the cost and returns the result's elements as the host reads them.
struct way {
  std::string name;
  bool needs_gpu = false;
  std::function<std::vector<float>(const input& in, const sn::device& on, cost& c)> run;
};
std::vector<way> all_ways();

/// Bytes of device memory that a way takes at most for `count` elements.
std::size_t bytes_for(std::int64_t count);

}  // namespace memory
