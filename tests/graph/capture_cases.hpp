// Shared by the tests of captures, in addition to stream_cases.hpp.
#pragma once
#include <string>
#include <utility>

#include "support/stream_cases.hpp"

namespace capture_test {

namespace sn = sinter;
using sn::ndarray;
using stream_test::devices;
using stream_test::list;
using stream_test::values;

template <class F>
std::string device_error_of(F&& f) {
  return sinter_test::message_of<sn::device_error>(std::forward<F>(f));
}

/// A pending value, so that the capture evaluates it.
inline ndarray ramp(std::int64_t n, const sn::device& d) { return sn::arange(n, {.device = d}) + 0; }

}  // namespace capture_test
