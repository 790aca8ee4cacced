// Users' functions and reductions on a GPU: the cases of the CPU, and indices beyond 2^31.
#include "gpu/gpu.hpp"
#include "jit/cpu/compile_host.hpp"
#include "sinter/error.hpp"
#include "support/users/effects.hpp"
#include "support/users/reductions.hpp"

using namespace user_test;

namespace {

runtime::device_id gpu() { return runtime::default_device(); }

/// Whether the GPU lacks this much memory; says so.
bool no_memory(std::size_t bytes) {
  const std::size_t available = runtime::get_backend(gpu()).memory().available;
  if (available >= bytes) return false;
  MESSAGE("left out: needs " << bytes << " bytes of GPU memory, " << available << " are free");
  return true;
}

}  // namespace

#define USER_CASE(name, check)      \
  TEST_CASE(name) {                 \
    if (gpu_test::no_gpu()) return; \
    check(gpu());                   \
  }

USER_CASE("gpu: user functions: fused before and after", check_fusion)
USER_CASE("gpu: user functions: several outputs of different types", check_outputs)
USER_CASE("gpu: user functions: every type of element", check_types)
USER_CASE("gpu: user functions: views, broadcasting, ranks", check_layouts)
USER_CASE("gpu: user functions: arrays read by index", check_raw_inputs)
USER_CASE("gpu: user functions: atomic operations", check_atomics)
USER_CASE("gpu: user functions: arrays written by index", check_raw_outputs)
USER_CASE("gpu: user functions: who sees what is written", check_versions)
USER_CASE("gpu: user functions: arrays whose address is out", check_pinned)
USER_CASE("gpu: user functions: text around the loop", check_loop_text)
USER_CASE("gpu: user reductions: the order of sums", check_reduction_order)
USER_CASE("gpu: user reductions: mappings, loops, types, nothing to reduce", check_reduction_kinds)
USER_CASE("gpu: user reductions: structs", check_opaque_reductions)

TEST_CASE("gpu: user functions: positions and arrays beyond 2^31 elements" * doctest::test_suite("alone")) {
  if (gpu_test::no_gpu()) return;
  constexpr std::int64_t n = (std::int64_t{1} << 31) + 1001;
  const auto d = gpu();
  // Nothing in memory: the last position, by a user's maximum of what a call makes of positions.
  const auto* f = function("odd", {par("i", dtype::i64)}, {par("z", dtype::i64)}, "z = i % 2 ? i : -i;");
  const auto* greatest = reduction("greatest", par("", dtype::i64), "max(a, b)", "-1");
  const auto last = std::vector<std::int64_t>{n % 2 ? n - 2 : n - 1};
  CHECK(elements<std::int64_t>(reduce(greatest, call(f, {n}, {position({n}, d)}))) == last);
  CHECK(elements<std::int64_t>(reduce(greatest, call(f, {7, n / 7}, {position({7, n / 7}, d)}), {0})).back() ==
        (n / 7 * 7 - 1) - (n / 7 * 7 - 1 + 1) % 2);

  if (no_memory(std::size_t{3} * n)) return;
  const auto* mark = function("mark", {par("i", dtype::i64)}, {raw("y", dtype::i8)}, "y[i] = i % 101;");
  const auto* again = function("again", {raw("y", dtype::i8), par("i", dtype::i64), par("n", dtype::i64)},
                               {par("wrong", dtype::i64)}, "wrong = y[n - 1 - i] != (n - 1 - i) % 101;");
  value zeros = number(0, dtype::i8, {n}, d);
  graph::flush(std::span(&zeros, 1));
  auto y = graph::make_array(zeros);
  zeros = value();
  run(mark, {n}, {position({n}, d)}, {y});
  value wrong = call(again, {n}, {graph::read(*y), position({n}, d), number(n, dtype::i64, {}, d)});
  CHECK(elements<std::int64_t>(reduce(jit::reduce_op::sum, wrong)) == std::vector<std::int64_t>{0});
  // Read as elements too, and in a loop with text around it.
  const auto* check = function(
      "check", {par("y", dtype::i8), par("i", dtype::i64)}, {raw("bad", dtype::i64)}, "bad_here += y != i % 101;",
      {.loop_prep = "long long bad_here = 0;", .after_loop = "if (bad_here) atomic_add(bad, 0, bad_here);"});
  auto bad = new_array(std::vector<std::int64_t>{0}, d);
  run(check, {n}, {graph::read(*y), position({n}, d)}, {bad});
  CHECK(elements<std::int64_t>(*bad) == std::vector<std::int64_t>{0});
}

TEST_CASE("gpu: user functions: the bits of the CPU, for arithmetic that IEEE 754 fixes") {
  if (gpu_test::no_gpu()) return;
  const auto* f = function("arithmetic", {par("x", dtype::f32), par("y", dtype::f64)}, {par("z", dtype::f64)},
                           "z = sqrt(x * x + 1) / (y + 3) - fma(y, y, double(x)) + floor(x) * rint(y);");
  const auto x = numbers(30000);
  const auto y = numbers<double>(30000, 5);
  auto result = [&](runtime::device_id d) { return elements<double>(call(f, {30000}, {stored(x, d), stored(y, d)})); };
  if (jit::host_compiler::find().path.empty()) return;
  CHECK(gpu_test::first_difference(result(gpu()), result({})) == -1);
}

TEST_CASE("gpu: user functions: text that does not compile is shown by its own lines, and changes nothing") {
  if (gpu_test::no_gpu()) return;
  const auto* f = function("faulty", {par("x", dtype::f32)}, {par("z", dtype::f32)}, "z = x;\nz = missing;");
  const value x = plus(stored(numbers(10), gpu()), 1);
  const value z = call(f, {10}, {x});
  for (int k = 0; k < 2; ++k) {
    std::string message;
    try {
      elements<float>(z);
    } catch (const sinter::compile_error& e) {
      message = e.what();
    }
    CHECK(message.find("[faulty]") != std::string::npos);
    CHECK(message.find("missing") != std::string::npos);
  }
  CHECK(elements<float>(x).size() == 10);
}
