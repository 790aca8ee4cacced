// Every legal schedule of a launch gives the same bits: generated CUDA kernels of small launches of many kinds, run on the
// emulator. What a schedule is chosen by can therefore never change a result.
#include <doctest/doctest.h>

#include "emulated/run_generated.hpp"

#ifdef SINTER_HAS_CUDA

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"
#include "graph/values/limits.hpp"
#include "sinter/sinter.hpp"
#include "emulated/observing.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

/// Every schedule that was run, and how many launches had a choice.
struct seen {
  std::set<std::string> names;
  int choices = 0;
};
seen* now = nullptr;

void clear(const jit::launch& l, const std::vector<std::vector<char>>& outputs) {
  for (std::size_t k = 0; k < l.outputs.size(); ++k) std::memset(emulated::begin_of(l, k), 0x55, outputs[k].size());
}

/// Runs all schedules of a launch of the CPU before it runs itself; the launches that follow read the CPU's values.
void observe(const jit::launch& l) {
  const std::vector<jit::cuda_variant> all = cuda::legal_schedules(l);
  emulated::compile_kernels(*l.code, all);
  now->choices += all.size() > 1;
  std::vector<std::vector<char>> first;
  for (const jit::cuda_variant& v : all) {
    const std::string name = cuda::schedule_name(l, v);
    CAPTURE(name);
    CAPTURE(l.code->label());
    now->names.insert(name.substr(0, name.find(',')));
    now->names.insert(name);
    if (!first.empty()) clear(l, first);
    emulated::run_emulated(l, v);
    const auto got = emulated::outputs_of(l);
    if (first.empty()) first = got;
    CHECK_MESSAGE((got == first), name, " differs from ", cuda::schedule_name(l, all[0]));
  }
  jit::cuda_variant chosen;
  cuda::classify(l, chosen);
  const std::string name = cuda::schedule_name(l, chosen);
  CHECK_MESSAGE(std::any_of(all.begin(), all.end(), [&](auto& v) { return cuda::schedule_name(l, v) == name; }), name);
}

/// Fractions of either sign of any dtype, some of them large, so that sums depend on their order.
ndarray numbers(const shape_t& shape, dtype type, int factor) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  const ndarray k = arange(n) * factor % 1009;
  const ndarray x = reshape((k - 500) * where(k % 7 == 0, 1000.0, 0.37), shape);
  const ndarray cast = is_complex(type) ? (x + std::complex<double>(0, 1) * x(slice(_, _, -1))).astype(type)
                                        : x.astype(type == uint8 ? int32 : type).astype(type);
  const ndarray stored = cast.to_device("cpu");
  const emulated::observing nothing(nullptr);
  eval(stored);
  return stored;
}

template <class F>
seen run_all(F&& expressions) {
  seen s;
  now = &s;
  const emulated::observing each(observe);
  expressions();
  return s;
}

}  // namespace

TEST_CASE("emulated: all schedules of maps give the same bytes") {
  if (emulated::no_emulation()) return;
  const seen s = run_all([] {
    for (const dtype type : {uint8, int16, float32, complex128}) {
      CAPTURE(type);
      const ndarray m = numbers({36, 52}, type, 7), cube = numbers({5, 12, 9}, type, 3),
                    line = numbers({1037}, type, 5);
      eval(m(_, slice(1, 37)) + m(_, slice(0, 36)).T());
      eval(m.T() + m.T()(0), permute_dims(cube, {2, 1, 0}) + cube(0, 0, 0));
      eval(line + line, line(slice(1, _, 2)) * line(3));
      eval(cube + cube(2));
      ndarray edges = numbers({6, 53}, type, 11);  // two writes in one kernel, to places that are aligned differently
      edges(0, _) = line(slice(_, 53)) + line(5);
      edges(-1, _) = line(slice(8, 61));
      eval(edges);
    }
    const ndarray bytes = numbers({40, 64}, uint8, 3), wide = numbers({64, 40}, float64, 11);
    const ndarray picks = array(std::vector<std::int64_t>{3, 1, 39, 0, 17, 17, 2, -1}).to_device("cpu");
    eval(bytes.T()(_, slice(0, 8)) + wide(_, slice(0, 8)) + take(wide, picks, 1), bytes.T() * wide);
  });
  CHECK(s.names.count("linear") == 1);
  CHECK(s.names.count("strided") == 1);
  CHECK(s.names.count("tiled") == 1);
  CHECK(s.choices > 15);
}

TEST_CASE("emulated: all schedules of reductions give the same bits") {
  if (emulated::no_emulation()) return;
  const seen s = run_all([] {
    for (const dtype type : {int32, float32, float64, complex64}) {
      CAPTURE(type);
      const ndarray m = numbers({70, 44}, type, 7), odd = numbers({13, 135}, type, 3);
      for (const int axis : {0, 1}) {
        eval(sum(m, {.axis = axis}), sum(odd.T(), {.axis = axis}));
        eval(sum(m.T()(slice(1, 43, 2)), {.axis = axis}));
      }
      eval(max(real(m), {.axis = 0}), argmin(real(odd.T()), 1), max(real(odd.T()), {.axis = 0}));
    }
    const ndarray cube = numbers({6, 34, 10}, float32, 3);
    eval(sum(cube, {.axis = {0, 2}}), var(cube.T(), {.axis = 0}), mean(permute_dims(cube, {1, 0, 2}), {.axis = 2}));
    eval(any(cube > 300, {.axis = 1}), prod(cube * 0.001F, {.axis = 2}));
    eval(sum(numbers({3, 9001}, float32, 5).T(), {.axis = 0}), sum(numbers({9001, 6}, float32, 5).T(), {.axis = 1}));
    // Parts of a result that a second kernel joins.
    eval(sum(numbers({40000, 3}, float32, 5).T(), {.axis = 1}), sum(numbers({3, 40000}, float32, 5).T(), {.axis = 0}));
    // Lanes that a warp has several of: with all rounds whole, with some, and with groups that are not.
    for (const std::int64_t n : {4096, 3000, 3001, 2051})
      eval(sum(numbers({3, n}, float32, 7), 1), argmax(numbers({3, n}, uint8, 5), 1),
           sum(numbers({3, n}, int16, 3), 1));
    eval(var(numbers({1025, 2061}, float32, 7), 1), sum(numbers({9, 201}, float32, 7), 1));
    // Vectors of neighbouring results, of one kept axis and of two, beside an operand that is the same for all of a vector.
    for (const dtype type : {uint8, float32, float64}) {
      const ndarray across = numbers({1501, 132}, type, 7), planes = numbers({522, 3, 64}, type, 5);
      eval(sum(across.T(), {.axis = 1}), argmin(across.T(), 1), max(permute_dims(planes, {1, 2, 0}), {.axis = 2}));
      eval(sum(across.T() * numbers({1501}, type, 3) - numbers({132, 1}, type, 11), {.axis = 1}));
    }
    eval(sum(numbers({33000}, float32, 5)), max(numbers({5, 4200}, float64, 5), {.axis = 1}));
  });
  CHECK(s.names.count("rows") == 1);
  CHECK(s.names.count("columns") == 1);
  CHECK(s.names.count("rows, a warp each") == 1);
  CHECK(s.names.count("rows, neighbouring threads across") == 1);
  CHECK(s.names.count("rows, neighbouring threads across, 2 results a thread") == 1);
  CHECK(s.names.count("rows, neighbouring threads across, 4 results a thread") == 1);
  CHECK(s.names.count("columns, neighbouring threads along") == 1);
  CHECK(s.choices > 10);
}

TEST_CASE("emulated: reductions over several axes whose groups lie along the last one give the same bits") {
  if (emulated::no_emulation()) return;
  const seen s = run_all([] {
    for (const dtype type : {uint8, float32, float64, complex64}) {
      CAPTURE(type);
      const ndarray x = numbers({90, 1}, type, 5), y = numbers({72}, type, 3), z = numbers({3, 90, 1}, type, 11),
                    far = numbers({145}, type, 7)(slice(1, _, 2)), cube = numbers({6, 34, 12}, type, 3);
      const ndarray i = arange(90, {.device = "cpu"})(_, newaxis), j = arange(72, {.device = "cpu"});
      eval(sum((x - y) * (x + y)), sum(where(equal(i, j), 0, x * y)));
      eval(sum(x * y + far), sum(z * y, {.axis = {1, 2}}), sum(z(_, slice(_, _, -1)) - far, {.axis = {1, 2}}));
      eval(sum(cube(_, slice(1, 33), slice(4, 12)) * y(slice(8))), sum(cube(_, _, slice(3, 7)), {.axis = {1, 2}}));
      eval(any(x > y), max(real(x) - real(y)), argmin(real(x) + real(y)));
    }
  });
  CHECK(s.choices >= 12);
}

TEST_CASE("emulated: all schedules of pairs give the same bits") {
  if (emulated::no_emulation()) return;
  const seen s = run_all([] {
    for (const dtype type : {int32, float32, float64}) {
      CAPTURE(type);
      const ndarray a = numbers({37, 1, 22}, type, 7), b = numbers({41, 22}, type, 3);
      eval(sum(square(a - b), {.axis = -1}), max(a * b, {.axis = -1}));
      // Rows of whole groups, whose lanes go two by two where elements are cheap: 2, 4 and 8 lanes.
      for (const std::int64_t n : {16, 44, 64}) {
        const ndarray u = numbers({19, 1, n}, type, 7), w = numbers({35, n}, type, 3);
        eval(sum(square(u - w), {.axis = -1}), sum(abs(u - w), {.axis = -1}) * 2 + 1, max(u * w, {.axis = -1}));
      }
      const ndarray p = numbers({22, 37, 1}, type, 5), q = numbers({22, 1, 41}, type, 5);
      eval(sum(p * q, {.axis = 0}), argmin(p - q, 0));
      const ndarray x = numbers({90, 1}, type, 5), y = numbers({70}, type, 3), z = numbers({140}, type, 11);
      eval(sum((x - y) * z(slice(_, _, 2)), {.axis = 1}), sum(x * y + y, {.axis = 1}));
      eval(min(abs(x - y), {.axis = 1}), argmax(x * y(slice(_, _, -1)), 1), count_nonzero(x > y, {.axis = 1}));
    }
  });
  for (const char* name : {"tiles of results", "shared rows", "broadcast rows", "rows", "columns"})
    CHECK_MESSAGE(s.names.count(name) == 1, name);
}

TEST_CASE("emulated: all schedules of windows give the same bits") {
  if (emulated::no_emulation()) return;
  const auto windows = [](const ndarray& x, const shape_t& w) { return sliding_window_view(x, w); };
  const seen s = run_all([&] {
    for (const dtype type : {uint8, float32, float64, complex64}) {
      CAPTURE(type);
      // The last threads of a row have fewer results, or read vectors that would end behind the array.
      for (const std::int64_t n : {41, 44}) {
        const ndarray x = numbers({n}, type, 7);
        eval(sum(windows(x, {16}), {.axis = -1}), sum(windows(x, {5}), {.axis = -1}));
      }
      const ndarray m = numbers({11, 24}, type, 3), cube = numbers({3, 9, 20}, type, 5);
      eval(sum(windows(m, {3, 3}), {.axis = {2, 3}}), sum(windows(m.T(), {2, 7}), {.axis = {2, 3}}));
      eval(sum(windows(cube, {2, 2, 3}), {.axis = {3, 4, 5}}));
      eval(sum(sliding_window_view(m, {9}, 1), {.axis = -1}), sum(sliding_window_view(m, {6}, 0), {.axis = -1}));
      // Every other window, and windows of every other element, or backwards.
      eval(sum(windows(m(0), {7})(slice(_, _, 2)), {.axis = 1}), sum(windows(m(1, slice(_, _, 2)), {4}), {.axis = 1}));
      eval(sum(windows(m(2, slice(_, _, -1)), {6}), {.axis = 1}), sum(windows(m(3, slice(1, _)), {8}), {.axis = 1}));
      // Window by window: weights, an offset of each result, and an epilogue that reads.
      const ndarray w = numbers({5}, type, 11), x = numbers({50}, type, 3), each = numbers({46}, type, 13);
      eval(sum(windows(x, {5}) * w, {.axis = 1}), sum(windows(x, {5}) + each(_, newaxis), {.axis = 1}));
      eval(sum(windows(x, {5}), {.axis = 1}) * each + 1);
      eval(sum(windows(x, {5}) * windows(x(slice(_, _, -1)), {5}), {.axis = 1}));
      eval(max(windows(x, {6}), {.axis = 1}), argmin(windows(x, {10}), 1), max(windows(m, {2, 3}), {.axis = {2, 3}}));
      eval(mean(windows(m, {3, 3}), {.axis = {2, 3}}), var(windows(x, {9}), {.axis = 1}));
    }
    const ndarray x = numbers({150}, float32, 7);
    eval(sum(windows(x, {2}), {.axis = 1}), sum(windows(x, {64}), {.axis = 1}),
         prod(windows(x, {33}) * 0.01F, {.axis = 1}));
    eval(sum(windows(x, {16}), {.axis = 0}), sum(windows(x, {100}), {.axis = 1}));
    eval(any(windows(x, {7}) > 300, {.axis = 1}), count_nonzero(windows(x, {31}) > 3, {.axis = 1}));
  });
  CHECK(s.names.count("windows") == 1);
  CHECK(s.names.count("rows") == 1);
  CHECK(s.choices > 60);
}

#endif
