// The generated CUDA kernels of sums and products, under every legal schedule, and the CPU give the same bits.
#include <doctest/doctest.h>

#include "emulated/run_generated.hpp"

#ifdef SINTER_HAS_CUDA

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "support/cpu_harness.hpp"

using namespace sinter;
using namespace cpu_test;

namespace {

struct extents {
  std::int64_t results, reduced;
};

/// Runs a launch on the CPU, then all of its schedules on the emulator, and compares the first output.
template <class T>
void compare(jit::launch& l, std::vector<T>& out) {
  run(l);
  const std::vector<T> right = out;
  for (const jit::cuda_variant& v : cuda::legal_schedules(l)) {
    const std::string schedule = cuda::schedule_name(l, v);
    CAPTURE(schedule);
    std::fill(out.begin(), out.end(), T(77));
    emulated::run_emulated(l, v);
    CHECK(same_bits(out, right));
  }
}

template <class T>
T element(std::size_t k) {
  const auto x = static_cast<double>(k * 2654435761u % 1000003) / 1000003.0 - 0.4;
  if constexpr (requires(T v) { v.real(); }) {
    using part = typename T::value_type;
    return {static_cast<part>(x * 3), static_cast<part>(0.3 - x * x)};
  } else {
    return static_cast<T>(x * static_cast<double>(1 << (k * 7 % 11)));
  }
}

/// `order_results`: of the reduction whose order the launch has; 0: its own.
template <class T>
void check(reduce_op op, const extents& e, bool rows, std::int64_t order_results = 0) {
  const std::string type(name(dtype_of<T>));
  CAPTURE(type);
  CAPTURE(static_cast<int>(op));
  CAPTURE(e.results);
  CAPTURE(e.reduced);
  CAPTURE(rows);
  std::vector<T> data(static_cast<std::size_t>(e.results * e.reduced)), out(static_cast<std::size_t>(e.results));
  for (std::size_t k = 0; k < data.size(); ++k) data[k] = element<T>(k);
  if (op == reduce_op::prod)
    for (T& x : data) x = T(1) + x / T(4096);
  builder b;
  b.reduce(op, dtype_of<T>, b.load(dtype_of<T>));
  program p = b.reductions();
  jit::launch l = space(p, {e.results, e.reduced}, 1, rows);
  l.all_results = order_results;
  CAPTURE(order_results);
  l.outputs = {at(out, {1, 0})};
  for (bool across : {false, true}) {
    CAPTURE(across);
    l.inputs = {at(data, across ? core::dims{1, e.results} : core::dims{e.reduced, 1})};
    compare(l, out);
  }
}

/// Sums over pairs, which have schedules of their own.
void check_pairs(std::int64_t down, std::int64_t side, std::int64_t reduced, std::int64_t order_results = 0) {
  CAPTURE(down);
  CAPTURE(reduced);
  std::vector<float> a(static_cast<std::size_t>(down * reduced)), b(static_cast<std::size_t>(side * reduced));
  std::vector<float> out(static_cast<std::size_t>(down * side));
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = element<float>(k);
  for (std::size_t k = 0; k < b.size(); ++k) b[k] = element<float>(k + 7777);
  builder made;
  const auto x = made.load(dtype::f32), y = made.load(dtype::f32);
  const auto d = made.binary(opcode::subtract, dtype::f32, x, y);
  made.reduce(reduce_op::sum, dtype::f32, made.unary(opcode::square, dtype::f32, d));
  program p = made.reductions();
  for (bool rows : {true, false}) {
    if (!rows && order_results == 1) continue;  // one result is a row
    CAPTURE(rows);
    jit::launch l = space(p, {down, side, reduced}, 2, rows);
    l.all_results = order_results;
    l.inputs = {at(a, {reduced, 0, 1}), at(b, {0, reduced, 1})};
    l.outputs = {at(out, {side, 1, 0})};
    compare(l, out);
  }
}

}  // namespace

TEST_CASE("emulated: sums and products have the CPU's bits under every schedule") {
  if (emulated::no_emulation()) return;
  for (const extents& e : std::initializer_list<extents>{{70, 1},
                                                         {33, 2},
                                                         {50, 3},
                                                         {33, 5},
                                                         {9, 7},
                                                         {40, 14},
                                                         {20, 17},
                                                         {7, 31},
                                                         {5, 50},
                                                         {6, 66},
                                                         {5, 130},
                                                         {2, 255},
                                                         {2, 303},
                                                         {1, 1027},
                                                         {3, 2050},
                                                         {1, 4099},
                                                         {1, 18001},
                                                         {2, 16387},
                                                         {1030, 257}}) {
    check<float>(reduce_op::sum, e, true);
    if (e.results * e.reduced > 10000) continue;
    check<double>(reduce_op::prod, e, true);
    check<std::complex<float>>(reduce_op::sum, e, true);
  }
  for (const extents& e : std::initializer_list<extents>{
           {70, 1}, {33, 2}, {130, 7}, {31, 30}, {2, 257}, {3, 1003}, {40, 129}, {300, 34}, {33, 1030}, {5, 4001}}) {
    check<float>(reduce_op::sum, e, false);
    check<double>(reduce_op::prod, e, false);
    check<std::complex<double>>(reduce_op::sum, e, false);
  }
}

TEST_CASE("emulated: sums over pairs have the CPU's bits under every schedule") {
  if (emulated::no_emulation()) return;
  for (std::int64_t reduced : {2, 3, 7, 16, 33, 64, 101}) check_pairs(35, 70, reduced);
}

TEST_CASE("emulated: sums that follow the order of a reduction with fewer results have the CPU's bits") {
  if (emulated::no_emulation()) return;
  check<float>(reduce_op::sum, {1030, 300}, true, 1);   // 256 lanes instead of 32
  check<float>(reduce_op::sum, {3, 18001}, true, 1);    // more splits
  check<float>(reduce_op::sum, {1, 18001}, true, 700);  // fewer
  check<double>(reduce_op::sum, {20, 66}, true, 4000);
  check<float>(reduce_op::sum, {40, 257}, false, 2);  // 128 lanes instead of 8
  check<double>(reduce_op::prod, {36, 1030}, false, 3);
  check<float>(reduce_op::sum, {12, 4001}, false, 2);
  for (std::int64_t reduced : {7, 64, 101}) {
    check_pairs(35, 70, reduced, 70);
    check_pairs(35, 70, reduced, 3);
    check_pairs(35, 70, reduced, 1);
  }
}

TEST_CASE("emulated: sums of zeros of either sign, and of nothing, as on the CPU") {
  if (emulated::no_emulation()) return;
  for (std::int64_t reduced : {0, 1, 3, 70}) {
    builder b;
    b.reduce(reduce_op::sum, dtype::f32, b.load(dtype::f32));
    program p = b.reductions();
    std::vector<float> zeros(static_cast<std::size_t>(5 * reduced + 1), -0.0f), out(5);
    jit::launch l = space(p, {5, reduced}, 1, true);
    l.inputs = {at(zeros, {reduced, 1})};
    l.outputs = {at(out, {1, 0})};
    CAPTURE(reduced);
    compare(l, out);
    CHECK(std::signbit(out[0]) == (reduced != 0));
  }
}

#endif
