// Launches in which a few places of an axis are several results of one program, as the colours of pixels that become planes: with the
// bytes that the CPU gives, by all legal schedules.
#include <doctest/doctest.h>

#include "emulated/recorded.hpp"

#ifdef SINTER_HAS_CUDA

using namespace emulated;
using namespace sinter;
using namespace sinter::idx;

namespace {

struct found_launch {
  bool apart = false, in_runs = false;      // in_runs: by some schedule
  std::vector<std::vector<bytes>> results;  // of each schedule, the outputs of the launch as it was recorded
};
std::vector<found_launch> found;

void observe(const jit::launch& l) {
  jit::launch other;
  const jit::launch& one = cuda::lowered(l, other);
  found_launch f{&one != &l && one.extents.size() < l.extents.size(), false, {}};
  std::vector<jit::cuda_variant> all = cuda::legal_schedules(one);
  for (const jit::cuda_variant& v : all) f.in_runs = f.in_runs || !v.runs.empty();
  compile_kernels(*one.code, all);
  for (const jit::cuda_variant& v : all) {
    for (std::size_t k = 0; k < l.outputs.size(); ++k)
      std::memset(begin_of(l, k), 0x55,
                  static_cast<std::size_t>(core::element_count(l.extents)) * itemsize(l.code->outputs[k].type));
    run_emulated(one, v);
    f.results.push_back(outputs_of(l));
  }
  found.push_back(std::move(f));
}

bytes bytes_of(const ndarray& x) {
  const auto raw = x.copy().view(int8).host<char>();
  return bytes(raw.begin(), raw.end());
}

/// The launches of an evaluation, whose last one gives x.
void check(const char* what, const ndarray& x, bool apart, bool in_runs) {
  CAPTURE(what);
  found.clear();
  {
    const observing each(observe);
    eval(x);
  }
  REQUIRE(found.size() == 1);
  CHECK(found[0].apart == apart);
  CHECK(found[0].in_runs == in_runs);
  REQUIRE(!found[0].results.empty());
  for (const std::vector<bytes>& outputs : found[0].results) CHECK((outputs[0] == bytes_of(x)));
}

ndarray pixels(const shape_t& shape, dtype type) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  const ndarray x = (arange(n) * 7 % 251).astype(type).reshape(shape);
  eval(x);
  return x;
}

}  // namespace

TEST_CASE("emulated: pixels become planes by whole vectors") {
  if (no_emulation()) return;
  const device_guard on(device("cpu"));
  for (const dtype type : {uint8, int8, int16, float32}) {
    CAPTURE(type);
    const ndarray image = pixels({2, 100, 112, 3}, type);
    const shape_t planes{0, 3, 1, 2};
    check("copied", permute_dims(image, axes{0, 3, 1, 2}).copy(), true, true);
    check("scaled", permute_dims(image.astype(float32) / 255, axes{0, 3, 1, 2}).copy(), true, true);
    // What depends on the colour alone, or on nothing of it, is there once or for each colour.
    const ndarray mean = pixels({3}, float32), light = pixels({2, 100, 112, 1}, float32);
    check("by colour", permute_dims((image.astype(float32) - mean) * light, axes{0, 3, 1, 2}).copy(), true, true);
    const ndarray without_alpha = pixels({180, 128, 4}, type);
    if (itemsize(type) < 4)
      check("three of four", permute_dims(without_alpha(_, _, slice(0, 3)), axes{2, 0, 1}).copy(), true, true);
  }
  const ndarray points = pixels({40000, 2}, float32);
  check("points", points.T().copy(), true, true);
}

TEST_CASE("emulated: what is not read by whole pixels is not taken apart") {
  if (no_emulation()) return;
  const device_guard on(device("cpu"));
  check("five", pixels({20000, 5}, uint8).T().copy(), false, false);
  check("far", pixels({20000, 27}, uint8)(_, slice(0, 3)).T().copy(), false, false);
  check("few", pixels({200, 3}, uint8).T().copy(), false, false);
  check("by place", permute_dims(pixels({30000, 3}, int64), axes{1, 0}) + arange(3)(_, newaxis), false, false);
}

#endif
