// Operands that lie a few elements apart, or begin where no vector does, are read and written as runs, and short rows as one line: with the bytes of kernels that
// read element by element, whatever the alignment, the ends of rows, and reads that wrap.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emulated/run_generated.hpp"

#ifdef SINTER_HAS_CUDA

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"
#include "emulated/observing.hpp"
#include "jit/cuda/units.hpp"
#include "sinter/interop.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

/// The memory between an output's first element and its last.
struct region {
  char* begin;
  std::size_t bytes;
};
std::vector<region> regions_of(const jit::launch& l) {
  std::vector<region> all;
  for (std::size_t k = 0; k < l.outputs.size(); ++k) {
    std::int64_t last = 0;
    for (int j = 0; j < l.kept; ++j) last += l.outputs[k].strides[j] * (l.extents[j] - 1);
    all.push_back({emulated::begin_of(l, k), static_cast<std::size_t>(last + 1) * itemsize(l.code->outputs[k].type)});
  }
  return all;
}
std::string bytes_of(const std::vector<region>& regions) {
  std::string all;
  for (const region& r : regions) all.append(r.begin, r.bytes);
  return all;
}
void put_back(const std::vector<region>& regions, const std::string& bytes) {
  std::size_t at = 0;
  for (const region& r : regions) {
    std::memcpy(r.begin, bytes.data() + at, r.bytes);
    at += r.bytes;
  }
}

/// Launches that had schedules with runs, and those that gave other bytes than without.
struct counts {
  int runs = 0, wrong = 0;
  std::set<std::string> names;
};
counts found;

/// Whether what is read by vectors lies between the first and the last element that a row has of a run. (Memory that is not the
/// row's may be there, within the same vector, so that no fault would tell.)
bool stays_inside(const jit::launch& l, const jit::cuda_variant& v) {
  const bool map = l.code->kind == jit::kernel_kind::elementwise;
  const std::int64_t lanes = map ? v.vector : jit::cuda_group, n = l.extents[l.extents.size() - 1];
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    if (v.inputs[k] != jit::access::run || v.runs[k].first != k) continue;
    const jit::cuda_run& r = v.runs[k];
    std::int64_t least = r.shift, most = r.shift;
    for (std::size_t j = 0; j < l.inputs.size(); ++j)
      if (v.inputs[j] == jit::access::run && v.runs[j].first == k) {
        least = std::min<std::int64_t>(least, v.runs[j].shift);
        most = std::max<std::int64_t>(most, v.runs[j].shift);
      }
    for (std::int64_t c = -v.back; c < n; c += lanes) {
      if (c < v.before || c < 0 || c + lanes + v.after > n) continue;
      const std::int64_t begin = r.stride * c, end = begin + r.packs * r.pack;  // of the run, less that of the row
      if (begin < least || end > r.stride * (n - 1) + most + 1) return false;
    }
  }
  return true;
}

bool is_tried(const jit::cuda_variant& v) { return !v.runs.empty() || v.shape == jit::cuda_shape::flat_rows; }

void observe(const jit::launch& recorded) {
  jit::launch plain;
  const jit::launch& l = cuda::lowered(recorded, plain);
  std::vector<jit::cuda_variant> all = cuda::legal_schedules(l);
  const std::size_t legal = all.size();
  for (std::size_t k = 0; k < legal; ++k)
    if (is_tried(all[k]) && l.code->kind == jit::kernel_kind::elementwise) {
      all.push_back(jit::cuda_baseline_of(all[k]));
    }
  emulated::compile_kernels(*l.code, all);
  const std::vector<region> regions = regions_of(l);
  const std::string before = bytes_of(regions);
  std::string wanted;
  for (const bool with_runs : {false, true})
    for (const jit::cuda_variant& v : all) {
      if (is_tried(v) != with_runs) continue;
      put_back(regions, before);
      emulated::run_emulated(l, v);
      if (wanted.empty()) wanted = bytes_of(regions);
      if (!with_runs) continue;
      CHECK(stays_inside(l, v));
      found.runs += !v.baseline;
      found.names.insert(cuda::schedule_name(l, v));
      const bool same = bytes_of(regions) == wanted;
      found.wrong += !same;
      CHECK_MESSAGE(same, l.code->label(), ": ", cuda::schedule_name(l, v));
    }
  put_back(regions, before);
}

/// Records and evaluates what it is given; the number of schedules with runs.
template <class... Arrays>
int runs_in(const Arrays&... x) {
  found = {};
  const emulated::observing each(observe);
  eval(x...);
  return found.runs;
}

ndarray numbers(const shape_t& shape, dtype type, int factor = 7) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  const ndarray k = arange(n, {.device = "cpu"}) * factor % 251;
  const ndarray x = (is_complex(type) ? k - std::complex<double>(0, 0.5) * k : k).astype(type).reshape(shape);
  eval(x);
  return x;
}

}  // namespace

TEST_CASE("emulated: runs of shifted slices, at every alignment and length") {
  if (emulated::no_emulation()) return;
  for (const dtype type : {uint8, int16, float32, float64, complex64}) {
    CAPTURE(type);
    for (const std::int64_t n : {61, 1025, 1030, 2048}) {
      CAPTURE(n);
      const ndarray x = numbers({n}, type), y = numbers({n}, type, 11);
      CHECK(runs_in(x["2:"] + x[":-2"] * x["1:-1"]) > 0);
      CHECK(runs_in(x["3:"] + y["3:"]) > 0);
      CHECK(runs_in(x["1:"] * y[":-1"] + x[":-1"]) > 0);
      ndarray inside = numbers({n}, type, 5);
      eval(inside);
      inside["1:-1"] = x[":-2"] + x["2:"];
      CHECK(runs_in(inside) > 0);
      ndarray late = numbers({n}, type, 5);
      late["3:"] = y["3:"] * 2;
      CHECK(runs_in(late) > 0);
    }
  }
}

TEST_CASE("emulated: runs of rows and planes") {
  if (emulated::no_emulation()) return;
  for (const dtype type : {uint8, float32, complex64}) {
    CAPTURE(type);
    for (const std::int64_t m : {64, 160, 176}) {
      const ndarray x = numbers({9, m}, type);
      runs_in(x["1:-1, 1:-1"] * 2 + x[":-2, 1:-1"] + x["2:, 1:-1"] + x["1:-1, :-2"] + x["1:-1, 2:"]);
      if (m >= 160) CHECK(found.runs > 0);
      ndarray inside = numbers({9, m}, type, 5);
      eval(inside);
      inside["1:-1, 1:-1"] = x[":-2, :-2"] + x["2:, 2:"];
      CHECK(runs_in(inside) > 0);
      const ndarray cube = numbers({3, 4, m}, type, 3);
      runs_in(cube[":, :, 2:"] + cube[":, :, :-2"] + cube[":, :1, 1:-1"]);
    }
  }
  const ndarray x = numbers({7, 333}, float32), i = arange(331, {.device = "cpu"});  // rows that begin at any alignment
  runs_in(x[":, 2:"] - x[":, :-2"] + i, where(i > 100, x[":, 1:-1"], 0));
  const ndarray even = numbers({7, 334}, float32);
  CHECK(runs_in(even[":, 2:"] - even[":, :-2"] + arange(332, {.device = "cpu"})) > 0);
}

TEST_CASE("emulated: runs of many reads, whose results lie at half vectors") {
  if (emulated::no_emulation()) return;
  for (const dtype type : {uint8, int32, float32})
    for (const std::int64_t n : {70, 72, 74}) {
      CAPTURE(type);
      CAPTURE(n);
      const ndarray x = numbers({9, n + 2}, type);
      ndarray sum = zeros({7, n}, {.dtype = float32, .device = "cpu"});
      for (int k = 0; k < 9; ++k) sum = sum + x(slice(k / 3, 7 + k / 3), slice(k % 3, n + k % 3)).astype(float32);
      CHECK(runs_in(sum) > 0);
      CHECK(found.wrong == 0);
      if (n != 72) CHECK(found.names.count("strided, vectors of 4, in runs") == 1);
    }
}

TEST_CASE("emulated: runs of what lies between each other, read and written") {
  if (emulated::no_emulation()) return;
  for (const dtype type : {uint8, int16, float32, float64, complex64})
    for (const std::int64_t n : {70, 1021}) {
      CAPTURE(type);
      CAPTURE(n);
      const ndarray x = numbers({n, 3}, type), q = numbers({n, 4}, type, 11), line = numbers({3 * n + 1}, type);
      CHECK(runs_in(x(_, 0) + x(_, 1) * x(_, 2)) > 0);
      CHECK(runs_in(x(_, 2) * 2) > 0);
      CHECK(runs_in(line["::2"] + line["::-2"]) == 0);
      CHECK(runs_in(line[":-1:2"] * line["1::2"](slice(_, (3 * n + 1) / 2))) > 0);
      CHECK(runs_in(line["1::3"] - line["::3"](slice(_, n))) > 0);
      runs_in(stack({q(_, 0) + q(_, 3), q(_, 1) * 2, q(_, 2) - q(_, 0), q(_, 3) + 1}, 1));
      if (itemsize(type) <= 4) CHECK(found.runs > 0);
      CHECK(runs_in(stack({x(_, 1), x(_, 0) + x(_, 2)}, 1)) > 0);
    }
}

TEST_CASE("emulated: runs of reads that wrap") {
  if (emulated::no_emulation()) return;
  for (const dtype type : {uint8, float32, float64})
    for (const std::int64_t n : {128, 1024, 1030}) {
      CAPTURE(type);
      CAPTURE(n);
      const ndarray x = numbers({n}, type), m = numbers({6, n}, type, 3);
      for (const std::int64_t by : {1, -1, 2, 5, -7, 64, 100}) {
        CAPTURE(by);
        runs_in(roll(x, by) + roll(x, -by) * x);
        if (n == 1024) CHECK(found.runs > 0);
        runs_in(roll(m, by, 1) + roll(m, -by, 1) - roll(m, by, 0));
        if (n == 1024) CHECK(found.runs > 0);
        runs_in(roll(m, {by, 1}, axes{0, 1}) + roll(m, {by, -1}, axes{0, 1}));
      }
    }
}

TEST_CASE("emulated: flat rows of few elements, or of an odd number, beside what repeats") {
  if (emulated::no_emulation()) return;
  for (const dtype type : {uint8, int16, float32, float64, complex64})
    for (const shape_t& shape : {shape_t{70, 3}, shape_t{341, 3}, shape_t{64, 5}, shape_t{37, 41}, shape_t{3, 36, 3},
                                 shape_t{2, 3, 8, 7}, shape_t{1, 29}}) {
      const int rank = static_cast<int>(shape.size());
      CAPTURE(type);
      CAPTURE(rank);
      const auto with = [&](int axis) {
        std::vector<std::int64_t> all(shape.begin(), shape.end());
        all[static_cast<std::size_t>(axis)] = 1;
        return shape_t(all);
      };
      const shape_t row = with(rank - 2), column = with(rank - 1), plane = rank > 2 ? with(0) : shape;
      const ndarray x = numbers(shape, type), r = numbers(row, type, 3), c = numbers(column, type, 5),
                    p = numbers(plane, type, 11), one = numbers({shape[static_cast<std::size_t>(rank - 1)]}, type, 13);
      found = {};
      runs_in((x - r) * c + one);
      const std::int64_t lanes = 16 / static_cast<std::int64_t>(itemsize(type));
      const bool aligned = rank == 2 ? shape[0] > 1 : shape[rank - 1] * shape[rank - 2] % lanes == 0;
      CHECK((found.names.count("flat rows, vectors of " + std::to_string(lanes)) == 1) == aligned);
      runs_in(x * one + r, x + c * c);
      runs_in(where(arange(shape[static_cast<std::size_t>(rank - 1)], {.device = "cpu"}) > 1, x * p, c));
      const ndarray places = (numbers({shape[static_cast<std::size_t>(rank - 1)]}, int64) % 2).astype(int64);
      eval(places);
      runs_in(x + take(one, places));
      ndarray y = numbers(shape, type, 17);
      eval(y);
      y += c - one;
      runs_in(y);
    }
}

TEST_CASE("emulated: runs of reductions along rows") {
  if (emulated::no_emulation()) return;
  for (const dtype type : {uint8, int32, float32, float64, complex64})
    for (const std::int64_t n : {70, 1025, 4100}) {
      CAPTURE(type);
      CAPTURE(n);
      const ndarray x = numbers({n}, type), m = numbers({5, (n + 15) / 16 * 16}, type, 3), c = numbers({n, 3}, type, 5);
      CHECK(runs_in(sum(x["1:"] * x[":-1"])) > 0);
      CHECK(runs_in(sum(x["3:"] + x["1:-2"]), sum(x["2:-1"])) > 0);
      CHECK(runs_in(sum(m[":, 1:"] * m[":, :-1"] + m[":, 1:"], {.axis = 1})) > 0);
      CHECK(runs_in(sum(c(_, 0) * c(_, 1) + c(_, 2))) > 0);
      CHECK(runs_in(max(real(c(_, 1))) + sum(c(_, 1))) >= 0);
    }
}

// Nothing behind the last element is read: there is no memory.
TEST_CASE("emulated: runs end with the array") {
  if (emulated::no_emulation()) return;
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  char* const memory =
      static_cast<char*>(mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  REQUIRE(mprotect(memory, page, PROT_NONE) == 0);
  REQUIRE(mprotect(memory + 3 * page, page, PROT_NONE) == 0);
  const auto count = static_cast<std::int64_t>(2 * page / sizeof(float));
  std::memset(memory + page, 0, 2 * page);
  {
    const ndarray x = from_pointer(memory + page, {count}, float32, {.device = "cpu", .immutable = true});
    for (const std::int64_t from : {0, 1, 2, 3, 5}) {
      const ndarray y = x(slice(from, _));
      CHECK(runs_in(y["1:"] + y[":-1"], y["2:"] * 2) > 0);
      CHECK(runs_in(y["::3"] + y["1::3"](0), y["2::4"] * 2) >= 0);
      CHECK(runs_in(sum(y["1:"] * y[":-1"])) > 0);
      CHECK(runs_in(roll(y, 1) + roll(y, -1)) >= 0);
    }
  }
  munmap(memory, 4 * page);
}

// Launches that recur, with slices that lie otherwise: the schedule that was remembered is not theirs.
TEST_CASE("runs are those of the operands' distances") {
  const ndarray x = numbers({70000}, float32);
  const auto look = [](const jit::launch& recorded) {
    jit::launch plain;
    const jit::launch& l = cuda::lowered(recorded, plain);
    static jit::cuda_variant last;
    jit::cuda_variant v;
    cuda::classify(l, v);
    found.runs += !v.runs.empty();
    CHECK((v.runs.empty() || cuda::same_runs(l, v)));
    if (!last.runs.empty() && last.runs.size() == v.runs.size()) found.wrong += cuda::same_runs(l, last);
    last = v;
  };
  found = {};
  const emulated::observing each(look);
  for (const std::int64_t by : {2, 6, 1, 64, 3, 66})  // alike by alignment, and not
    eval(x(slice(by, 60000 + by)) + x(slice(1, 60001)));
  CHECK(found.runs == 6);
  CHECK(found.wrong == 0);
}

#endif
