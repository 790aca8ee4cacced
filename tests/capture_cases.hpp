// What the tests of captures share: where they run, and arrays of counted numbers.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "simulated_gpu.hpp"
#include "sinter/sinter.hpp"

namespace capture_test {

namespace sn = sinter;
using sn::ndarray;

using list = std::vector<std::int64_t>;
inline list values(const ndarray& x) { return x.to_vector<std::int64_t>(); }

template <class F>
std::string device_error_of(F&& f) {
  try {
    f();
  } catch (const sn::device_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

/// The CPU, a simulated GPU, and the GPU where there is one.
inline std::vector<sn::device> devices() {
  std::vector<sn::device> all{sn::cpu, sim::first()};
  if (sn::default_device().kind == sn::device_kind::cuda) all.push_back(sn::default_device());
  return all;
}

inline ndarray ramp(std::int64_t n, const sn::device& d) { return sn::arange(n, {.device = d}) + 0; }

}  // namespace capture_test
