// Generated kernels that read at shifted coordinates, as after a roll, without an index for each element.
#include <doctest/doctest.h>

#include "emulated/recorded.hpp"
#include "emulated/observing.hpp"

#ifdef SINTER_HAS_CUDA

#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

using namespace sinter;
using namespace sinter::idx;
using namespace emulated;

namespace {

/// Evaluates it on the emulator and the CPU; whether the emulated kernel wraps.
template <class T>
bool same_elements(const ndarray& x) {
  const recorded r = emulate(x);
  REQUIRE_FALSE(r.launches.empty());
  CHECK((emulated_as<T>(r) == r.result.to_vector<T>()));
  return r.launches.back().wraps;
}

bool now_plain = true;  // of the launch that was seen last

template <class T>
void check_rolls(dtype type) {
  const ndarray m = numbers({37, 70}, type, 13), line = numbers({901}, type, 7), cube = numbers({5, 9, 66}, type, 31);
  eval(m, line, cube);
  for (const std::int64_t by : {1, -1, 36, 70, -200}) {
    CAPTURE(by);
    CHECK(same_elements<T>(roll(line, by) + line));
    CHECK(same_elements<T>(roll(m, by, 0) + m));
    CHECK(same_elements<T>(roll(m, by, 1) + roll(m, {2, by}, axes{0, 1})));
    CHECK(same_elements<T>(roll(m, {by, -by}, axes{0, 1}) + roll(m, {by, by}, axes{0, 1})));
    CHECK(same_elements<T>(roll(cube, {by, 3}, axes{0, 2}) + cube));
  }
}

}  // namespace

TEST_CASE("emulated: rolls of every kind of element are read without indices") {
  if (no_emulation()) return;
  check_rolls<std::uint8_t>(uint8);
  check_rolls<std::int16_t>(int16);
  check_rolls<float>(float32);
  check_rolls<double>(float64);
  check_rolls<std::complex<double>>(complex128);
}

TEST_CASE("emulated: rolls of transposed, reversed, strided and broadcast operands") {
  if (no_emulation()) return;
  const ndarray m = numbers({66, 66}, float32, 13), wide = numbers({130, 200}, float32, 3);
  eval(m, wide);
  CHECK(same_elements<float>(roll(m.T(), {3, -5}, axes{0, 1}) + m));
  CHECK(same_elements<float>(roll(m(_, slice(_, _, -1)), {3, -5}, axes{0, 1}) + m));
  CHECK(same_elements<float>(roll(wide(slice(_, _, 2), slice(0, 198, 3)), {3, -5}, axes{0, 1}) + m(slice(0, 65))));
  CHECK(same_elements<float>(roll(broadcast_to(m(3), {40, 66}), {3, -5}, axes{0, 1}) + m(slice(0, 40))));
  CHECK(same_elements<float>(flip(roll(m, 3, 1), 1) + m));
  // Beside an ordinary gather.
  const ndarray picks = (numbers({66}, int64, 29) % 66).to_device("cpu");
  eval(picks);
  CHECK(same_elements<float>(roll(m, 7, 1) + take(m, picks, 0)));
}

TEST_CASE("emulated: an index that leaves the operand is found out, and one that data decide stays an index") {
  if (no_emulation()) return;
  const ndarray m = numbers({40, 50}, float32, 13);
  eval(m);
  const auto look = [](const jit::launch& l) {
    jit::launch plain;
    now_plain = &cuda::lowered(l, plain) != &l;
  };
  {
    const emulated::observing each(look);
    const ndarray outside = take_along_axis(m, broadcast_to(arange(50).to_device("cpu") + 1, {40, 50}), 1);
    CHECK_THROWS_AS(outside.to_vector<float>(), index_error);
  }
  CHECK_FALSE(now_plain);
  const ndarray steps = (numbers({50}, int64, 7) % 50).to_device("cpu");
  eval(steps);
  CHECK_FALSE(same_elements<float>(take_along_axis(m, broadcast_to(steps, {40, 50}), 1) + m));
}

TEST_CASE("rolls by other distances use the kernel that there is") {
  // A repeated graph has its plan looked up, with other scalars: reads may stop being plain ones, and become so again.
  const ndarray m = numbers({300, 40}, float32, 13);
  eval(m);
  const auto shifted = [&](std::int64_t by) {
    return take_along_axis(m, broadcast_to(arange(40).to_device("cpu") - by, {300, 40}), 1) + m;
  };
  for (const std::int64_t by : {3, 7, 40, 3, 41, 5}) {
    CAPTURE(by);
    if (by > 40) CHECK_THROWS_AS(shifted(by).to_vector<float>(), index_error);
    else CHECK((shifted(by).to_vector<float>() == (roll(m, by, 1) + m).to_vector<float>()));
  }
}

#endif
