// One small expression at least for each shape of CUDA kernel, access and kind of element: what a memory checker runs.
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <mutex>
#include <set>

#ifdef SINTER_HAS_CUDA
#include "jit/cuda/schedule/choose.hpp"
#endif
#include "backends/cpu/kernels/hooks.hpp"
#include "golden/batch.hpp"
#include "jit/program/launch.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;
using sinter::idx::_;
using sinter::idx::newaxis;

/// Fractions in (0, 1) that repeat late.
ndarray fractions(const shape_t& shape, dtype type, std::uint32_t seed) {
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  std::vector<double> v(static_cast<std::size_t>(n));
  for (std::size_t k = 0; k < v.size(); ++k) {
    const auto h = static_cast<std::uint32_t>(k + seed) * 2654435761u;
    v[k] = (h >> 8) / 16777217.0 + 1e-9;
  }
  return array(v.data(), shape, {.dtype = type});
}

/// The operands, in the memory of one device: a pending one would be read in place there, a stored one is packed where it
/// is strided, and which of them are pending must not depend on the default device.
struct operands {
  std::map<std::string, ndarray> of;

  explicit operands(const device& where) {
    auto put = [&](const char* name, const ndarray& a) {
      of[name] = a.to_device(where);
      eval(of[name]);
    };
    std::uint32_t seed = 1;
    for (dtype t : {int8, int32, float16, bfloat16, float32, float64}) {
      const bool whole = t == int8 || t == int32;
      const ndarray x = fractions({1037}, float64, seed += 7777), m = fractions({52, 36}, float64, seed += 7777);
      put((std::string("line ") + std::string(name(t))).c_str(), (whole ? x * 9 : x).astype(t));
      put((std::string("matrix ") + std::string(name(t))).c_str(), (whole ? m * 9 : m).astype(t));
    }
    for (dtype t : {complex64, complex128}) {
      const auto part = t == complex64 ? float32 : float64;
      const std::complex<double> j(0, 1);
      put((std::string("line ") + std::string(name(t))).c_str(),
          fractions({1037}, part, 5) + j * fractions({1037}, part, 99));
      put((std::string("matrix ") + std::string(name(t))).c_str(),
          fractions({52, 36}, part, 5) + j * fractions({52, 36}, part, 99));
    }
    put("cube", fractions({9, 20, 24}, float32, 3));
    put("six axes", fractions({3, 4, 5, 3, 4, 6}, float32, 4));
    put("long", fractions({300001}, float32, 11));
    put("tall", fractions({20011, 6}, float32, 12));
    put("wide", fractions({40, 512}, float32, 13));
    put("rows", fractions({700, 1}, float32, 14));
    put("rows64", fractions({700, 1}, float64, 15));
    put("columns", fractions({1, 61}, float32, 16));
    put("columns64", fractions({1, 64}, float64, 17));
    put("points", fractions({170, 1, 24}, float32, 23));
    put("others", fractions({210, 24}, float32, 24));
    put("square bytes", (fractions({260, 256}, float64, 20) * 250).astype(uint8));
    put("square", fractions({259, 257}, float32, 21));
    put("images", fractions({6, 37, 41, 8}, float32, 22));
    put("picks", (fractions({40}, float64, 18) * 36).astype(int64));
    put("picks of rows", (fractions({52, 5}, float64, 19) * 36).astype(int64));
  }
  const ndarray& operator()(const std::string& name) const { return of.at(name); }
};

struct shape_case {
  std::string name;
  std::function<ndarray(const operands&)> record;
};

ndarray haversine(const operands& o, const char* rows, const char* columns, double factor) {
  const ndarray d = o(rows) - o(columns);
  return factor * arcsin(sqrt(square(sin(d * 0.5)) + 0.25 * square(sin(d * 0.25))));
}

void add_elementwise(std::vector<shape_case>& out) {
  for (dtype t : {int8, int32, float16, bfloat16, float32, float64, complex64, complex128}) {
    const std::string of(name(t)), line = "line " + of, matrix = "matrix " + of;
    out.push_back({"linear " + of, [=](const operands& o) { return o(line) * o(line) + o(line); }});
    out.push_back({"every third " + of, [=](const operands& o) {
                     return o(line)(slice(1, none_t{0}, 3)) + o(line)(slice(none_t{0}, none_t{0}, -3))(slice(0, 346));
                   }});
    out.push_back({"transposed " + of, [=](const operands& o) {
                     return o(matrix)(slice(0, 36)) + permute_dims(o(matrix)(slice(0, 36)), {1, 0});
                   }});
    out.push_back({"row over matrix " + of, [=](const operands& o) { return o(matrix) + o(matrix)(7); }});
    out.push_back({"update " + of, [=](const operands& o) {
                     ndarray x = o(line).copy();
                     x(slice(5, 1001)) += o(line)(slice(0, 996));
                     x(slice(none_t{0}, none_t{0}, 4)) = o(line)(slice(0, 260));
                     return x;
                   }});
    out.push_back({"take " + of, [=](const operands& o) { return take(o(matrix), o("picks"), 1); }});
  }
  out.push_back({"three axes", [](const operands& o) { return o("cube") + o("cube")(0, 0, 0); }});
  out.push_back({"three axes, middle broadcast",
                 [](const operands& o) { return o("cube") * o("cube")(slice(0, 9), slice(3, 4)); }});
  out.push_back({"three axes, reversed", [](const operands& o) {
                   return sqrt(permute_dims(o("cube"), {2, 1, 0})) + 1;
                 }});
  out.push_back({"transposed by one number", [](const operands& o) {
                   return permute_dims(o("matrix float32"), {1, 0}) * o("line float32")(3);
                 }});
  out.push_back({"four axes", [](const operands& o) { return sqrt(permute_dims(o("six axes")(1, 2), {3, 2, 1, 0})); }});
  out.push_back({"six axes", [](const operands& o) { return o("six axes") + o("six axes")(2, 3, 4, 2, 3); }});
  out.push_back({"six axes, reversed", [](const operands& o) {
                   return 1 - permute_dims(o("six axes"), {5, 4, 3, 2, 1, 0});
                 }});
  out.push_back({"take_along_axis",
                 [](const operands& o) { return take_along_axis(o("matrix float32"), o("picks of rows"), 1); }});
  out.push_back(
      {"take of an expression", [](const operands& o) { return take(o("matrix float32") * 2, o("picks") - 36, 1); }});
  for (const bool strided : {false, true})
    out.push_back({strided ? "quotients in steps, strided" : "quotients in steps", [=](const operands& o) {
                     const ndarray m = o("matrix float32"), x = strided ? permute_dims(m, {1, 0}) : m;
                     const ndarray r = x / (x + 2), s = sqrt(x), a = (log(r) + 0.5 * x) / s;
                     return 1 / (1 + exp(-a * a)) + 1 / (1 + exp(a - s)) * reciprocal(x) + log(x + s) / (r + x);
                   }});
}

void add_tiles(std::vector<shape_case>& out) {
  out.push_back({"tiles of bytes", [](const operands& o) { return o("square bytes").T() + o("square bytes")(0, 0); }});
  out.push_back({"tiles of odd extents",
                 [](const operands& o) { return o("square")(slice(0, 257)) * o("square")(slice(1, 258)).T(); }});
  out.push_back({"tiles beside a gather", [](const operands& o) {
                   return o("square")(slice(0, 257)).T() +
                          take(o("square")(slice(0, 257)), (o("square")(0) * 250).astype(int64), 1);
                 }});
  out.push_back({"tiles and one number", [](const operands& o) { return o("square").T() * o("square")(3, 4); }});
  out.push_back({"tiles of images", [](const operands& o) { return permute_dims(o("images"), {0, 3, 1, 2}) + 1; }});
  out.push_back({"tiles of four axes", [](const operands& o) { return permute_dims(o("images"), {3, 2, 0, 1}) + 1; }});
}

void add_reductions(std::vector<shape_case>& out) {
  for (dtype t : {int8, int32, float16, bfloat16, float32, float64, complex64, complex128}) {
    const std::string matrix = "matrix " + std::string(name(t)), line = "line " + std::string(name(t));
    out.push_back({"rows of " + matrix, [=](const operands& o) { return sum(o(matrix), {.axis = 1}); }});
    out.push_back({"columns of " + matrix, [=](const operands& o) { return sum(o(matrix), {.axis = 0}); }});
    out.push_back({"all of " + line, [=](const operands& o) { return sum(o(line) + o(line)); }});
    out.push_back({"largest " + line, [=](const operands& o) { return max(real(o(line))); }});
  }
  for (const char* name : {"long", "tall", "wide", "cube"}) {
    const std::string of = name;
    out.push_back({"sum of all, " + of, [=](const operands& o) { return sum(o(of)); }});
    out.push_back({"last axis, " + of, [=](const operands& o) { return sum(o(of), {.axis = -1}); }});
    out.push_back({"first axis, " + of, [=](const operands& o) { return sum(o(of), {.axis = 0}); }});
    out.push_back({"variance, last axis, " + of, [=](const operands& o) { return var(o(of), {.axis = -1}); }});
    out.push_back({"variance, first axis, " + of, [=](const operands& o) { return var(o(of), {.axis = 0}); }});
    out.push_back({"argmax, first axis, " + of, [=](const operands& o) { return argmax(o(of), {.axis = 0}); }});
    out.push_back({"argmin, last axis, " + of, [=](const operands& o) { return argmin(o(of), {.axis = -1}); }});
    out.push_back({"count, " + of, [=](const operands& o) { return count_nonzero(o(of) > 0.5); }});
  }
  out.push_back({"outer axes", [](const operands& o) { return sum(o("cube"), {.axis = {0, 2}}); }});
  out.push_back({"every second axis", [](const operands& o) { return max(o("six axes"), {.axis = {0, 2, 4}}); }});
  out.push_back({"transposed rows", [](const operands& o) {
                   return sum(permute_dims(o("wide"), {1, 0}), {.axis = 1});
                 }});
  out.push_back({"transposed columns", [](const operands& o) {
                   return prod(permute_dims(o("wide"), {1, 0}), {.axis = 0});
                 }});
  out.push_back({"rows across memory", [](const operands& o) { return sum(o("square").T(), {.axis = 1}); }});
  out.push_back({"columns along memory", [](const operands& o) { return sum(o("square").T(), {.axis = 0}); }});
  out.push_back({"columns times a factor of each row",
                 [](const operands& o) { return sum(o("wide") * o("wide")(_, slice(1)), {.axis = 0}); }});
  out.push_back({"rows of gathers",
                 [](const operands& o) { return sum(take(o("matrix float32"), o("picks"), 1), {.axis = 1}); }});
  out.push_back({"columns of gathers",
                 [](const operands& o) { return sum(take(o("matrix float32"), o("picks"), 1), {.axis = 0}); }});
  out.push_back(
      {"epilogue", [](const operands& o) { return sqrt(sum(square(o("wide")), {.axis = 1})) + o("wide")(_, 3); }});
  out.push_back(
      {"any, strided", [](const operands& o) { return any(o("wide")(_, slice(0, 512, 3)) > 0.9, {.axis = 1}); }});
}

void add_broadcasts(std::vector<shape_case>& out) {
  out.push_back(
      {"smallest over columns", [](const operands& o) { return min(abs(o("rows") - o("columns")), {.axis = 1}); }});
  out.push_back(
      {"index over columns", [](const operands& o) { return argmin(abs(o("rows64") - o("columns64")), {.axis = 1}); }});
  out.push_back(
      {"tail skipped", [](const operands& o) { return min(haversine(o, "rows", "columns", 2.5), {.axis = 1}); }});
  out.push_back({"tail skipped, float64",
                 [](const operands& o) { return argmin(haversine(o, "rows64", "columns64", 2.5), {.axis = 1}); }});
  out.push_back(
      {"tail not skipped", [](const operands& o) { return min(haversine(o, "rows", "columns", -2.5), {.axis = 1}); }});
  out.push_back(
      {"count over columns", [](const operands& o) { return count_nonzero(o("rows") > o("columns"), {.axis = 1}); }});
  out.push_back({"columns every second",
                 [](const operands& o) { return max(o("rows") * o("columns")(_, slice(0, 61, 2)), {.axis = 1}); }});
}

void add_pairs(std::vector<shape_case>& out) {
  out.push_back(
      {"distances of pairs", [](const operands& o) { return sum(square(o("points") - o("others")), {.axis = -1}); }});
  out.push_back({"distances of pairs in some columns", [](const operands& o) {
                   const auto some = slice(1, 24, 2);
                   return sum(abs(o("points")(_, _, some) - o("others")(_, some)), {.axis = -1});
                 }});
  out.push_back({"forces of pairs", [](const operands& o) {
                   const ndarray x = o("long")(slice(0, 33000)), y = o("line float32")(slice(3, 67));  // no vectors
                   const ndarray d = x(_, newaxis) - o("line float32")(slice(0, 64));
                   return sum((x(_, newaxis) - y) * exp(-square(d)), {.axis = 1});
                 }});
  out.push_back({"pairs of columns", [](const operands& o) {
                   const ndarray x = reshape(o("square"), {-1})(slice(0, 40 * 200)), y = reshape(x, {40, 200});
                   return sum(y(_, _, newaxis) * y(_, newaxis, _), {.axis = 0});
                 }});
  out.push_back({"nearest of pairs", [](const operands& o) { return argmin(abs(o("points") - o("others")), -1); }});
}

void add_fast_forms(std::vector<shape_case>& out) {
  const auto add = [&](const std::string& name, auto record) {
    out.push_back({name, [=](const operands& o) {
                     const fast_math_guard guard;
                     return record(o);
                   }});
  };
  add("tail that begins with a limit, fast_math", [](const operands& o) {
    return min(2 * arcsin(sqrt(clip(o("rows") * o("columns"), none_t{0}, 1))), {.axis = 1});
  });
  add("quotient by a root, fast_math", [](const operands& o) {
    const ndarray r = square(o("line float32")) + 0.5;
    return 3 / (r * sqrt(r));
  });
  add("scaled differences, fast_math", [](const operands& o) {
    return min(square((o("rows") - o("columns")) / 2) + square(0.25 * (o("columns") + o("rows"))), {.axis = 1});
  });
  add("clip, fast_math", [](const operands& o) { return clip(o("line float32"), 0.25, 0.75); });
  for (const double exponent : {-1.5, -0.5, 3.0, 2.5})
    add("power " + std::to_string(exponent) + ", fast_math",
        [=](const operands& o) { return power(square(o("line float32")) + 0.5, exponent); });
}

std::vector<shape_case> all_cases() {
  std::vector<shape_case> out;
  add_elementwise(out);
  add_tiles(out);
  add_reductions(out);
  add_broadcasts(out);
  add_pairs(out);
  add_fast_forms(out);
  return out;
}

/// 64 epsilons of the value; argmin and the like exactly.
policy tolerance_of(dtype t) {
  if (is_complex(t)) return {closeness::modulus, 64, true};
  return {closeness::unit_ulp, 64, true};
}

#ifdef SINTER_HAS_CUDA
std::set<std::string>& kernel_shapes() {
  static std::set<std::string> shapes;
  return shapes;
}
cpu::launch_observer observer_before = nullptr;

void observe(const jit::launch& l) {
  static constexpr const char* names[] = {
      "linear",          "strided",   "rows",         "columns",     "broadcast",        "loop",
      "rows on chip",    "flat rows", "tiled",        "shared rows", "tiles of results", "crossed rows",
      "crossed columns", "windows",   "loop of steps"};
  static std::mutex mutex;
  jit::cuda_variant v;
  cuda::classify(l, v);
  const std::string shape = names[static_cast<int>(v.shape)];
  const std::lock_guard lock(mutex);
  auto& found = kernel_shapes();
  const bool map = l.code->kind == jit::kernel_kind::elementwise && v.shape != jit::cuda_shape::stride_loop;
  found.insert(shape + (map ? ", rank " + std::to_string(v.rank) : v.skip_tail ? ", tail skipped" : ""));
  found.insert(shape + (v.vector > 1 ? ", vectors" : ", single"));
  if (cuda::scratch_bytes(l, v) > 0) found.insert(shape + ", two stages");
  for (std::size_t k = 0; k < v.inputs.size(); ++k) {
    static constexpr const char* accesses[] = {"uniform", "linear", "strided", "staged", "lanes", "run"};
    const bool gathers = l.code->inputs[k].gathers > 0;
    found.insert(shape + ", " + (gathers ? "gathered" : accesses[static_cast<int>(v.inputs[k])]));
  }
  if (observer_before) observer_before(l);
}
#endif

}  // namespace

TEST_CASE("every kernel shape gives the CPU's values") {
  const operands here(default_device()), reference(device("cpu"));
  batch cases;
  for (auto& c : all_cases()) {
    CAPTURE(c.name);
    const auto expected = download(c.record(reference));
    cases.add(
        c.name, [&here, record = c.record] { return record(here); },
        [=](const host_array& got) {
          const auto diff = difference(got, expected, tolerance_of(got.type));
          CHECK_MESSAGE(diff.empty(), c.name, ": ", diff);
        });
  }
}

#ifdef SINTER_HAS_CUDA
TEST_CASE("the expressions for every kernel shape reach every kernel shape") {
  kernel_shapes().clear();
  observer_before = cpu::set_launch_observer(observe);
  const operands on_cpu(device("cpu"));
  for (auto& c : all_cases()) download(c.record(on_cpu));
  cpu::set_launch_observer(observer_before);
  for (const std::string wanted : {"linear, rank 1",
                                   "linear, vectors",
                                   "linear, single",
                                   "linear, uniform",
                                   "strided, rank 1",
                                   "strided, rank 2",
                                   "strided, rank 3",
                                   "strided, rank 4",
                                   "strided, rank 6",
                                   "strided, vectors",
                                   "strided, single",
                                   "strided, gathered",
                                   "strided, uniform",
                                   "tiled, rank 2",
                                   "tiled, rank 3",
                                   "tiled, vectors",
                                   "tiled, single",
                                   "tiled, staged",
                                   "tiled, gathered",
                                   "tiled, uniform",
                                   "rows",
                                   "rows, linear",
                                   "rows, strided",
                                   "rows, gathered",
                                   "rows, two stages",
                                   "columns",
                                   "columns, vectors",
                                   "columns, single",
                                   "columns, gathered",
                                   "columns, two stages",
                                   "shared rows",
                                   "shared rows, linear",
                                   "shared rows, strided",
                                   "crossed rows",
                                   "crossed columns",
                                   "tiles of results",
                                   "tiles of results, linear",
                                   "tiles of results, strided",
                                   "tiles of results, staged",
                                   "broadcast",
                                   "broadcast, tail skipped",
                                   "broadcast, linear",
                                   "broadcast, strided"}) {
    CHECK_MESSAGE(kernel_shapes().count(wanted) == 1, wanted);
  }
}
#endif
