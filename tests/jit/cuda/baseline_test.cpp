// Which CUDA kernels have a baseline form, which compiles sooner, and what it is.
#include <doctest/doctest.h>

#include <string>

#include "jit/cuda/units.hpp"
#include "jit/cuda/written_programs.hpp"

using namespace sinter;
using namespace sinter_test;
using layout = jit::access;

namespace {

constexpr dtype f32 = dtype::f32, f64 = dtype::f64;

}  // namespace

TEST_CASE("cuda: elementwise kernels of a few sines have no baseline form, those of many call them there") {
  const auto chain = [](opcode op, dtype t, int length, bool fast_math) {
    builder b;
    int x = b.input(t);
    const int first = x;
    for (int k = 0; k < length; ++k) x = b.same(opcode::multiply, b.same(op, x), first);
    program p = b.elementwise(x);
    p.flags.fast_math = fast_math;
    return p;
  };
  const auto of = [](const program& p) {
    return variant(p, cuda_shape::linear, 1, 1, layout::linear, jit::cuda_vector_length(p));
  };
  for (opcode op : {opcode::sin, opcode::cos, opcode::tan, opcode::exp}) {
    for (dtype t : {f32, f64}) {
      const program one = chain(op, t, 1, false), many = chain(op, t, 16, false);
      CHECK_FALSE(jit::cuda_has_baseline(one, of(one)));
      cuda_variant v = of(many);
      const std::string optimised = jit::emit_cuda(many, v), optimised_name = jit::cuda_kernel_name(many, v);
      const bool called = t == f32 && (op == opcode::sin || op == opcode::cos);
      if (called) CHECK(jit::cuda_has_baseline(many, v));
      v = jit::cuda_baseline_of(v);
      const std::string baseline = jit::emit_cuda(many, v);
      CHECK(optimised_name != jit::cuda_kernel_name(many, v));
      CHECK((optimised.find("sn::quick_") != std::string::npos) == called);
      CHECK(baseline.find("sn::quick_") == std::string::npos);
      CHECK((baseline.find("sn::any_sine(") != std::string::npos) == called);
      CHECK(baseline.size() < optimised.size());
      v.shape = cuda_shape::stride_loop;
      CHECK_FALSE(jit::cuda_has_baseline(many, v));
    }
  }
  const program fast = chain(opcode::sin, f32, 6, true);
  CHECK_FALSE(jit::cuda_has_baseline(fast, of(fast)));
}

TEST_CASE("cuda: reductions with sine or cosine of float32 have a baseline form") {
  for (opcode op : {opcode::sin, opcode::tan}) {
    builder b;
    b.reduction(reduce_op::sum, f32, b.same(op, b.input(f32)));
    const program p = b.reduced();
    CHECK(jit::cuda_has_baseline(p, variant(p, cuda_shape::reduce_rows, 2, 1, layout::linear, 1)) ==
          (op == opcode::sin));
  }
}

TEST_CASE("cuda: kernels with much unrolled code have a baseline form, those of fast_math and of users' text do not") {
  const auto chain = [](int length) {
    builder b;
    int x = b.input(f32);
    const int first = x;
    for (int k = 0; k < length; ++k) x = b.same(k % 2 ? opcode::add : opcode::multiply, x, first);
    return b.elementwise(x);
  };
  const auto of = [](const program& p, cuda_shape shape) { return variant(p, shape, 1, 1, layout::linear, 4); };
  program longest = chain(200), shortest = chain(3);
  const cuda_variant v = of(longest, cuda_shape::linear);
  CHECK(jit::cuda_text_weight(longest, v) > 10 * jit::cuda_text_weight(shortest, of(shortest, cuda_shape::linear)));
  CHECK(jit::cuda_has_baseline(longest, v));
  CHECK_FALSE(jit::cuda_has_baseline(shortest, of(shortest, cuda_shape::linear)));
  CHECK_FALSE(jit::cuda_has_baseline(longest, of(longest, cuda_shape::stride_loop)));
  longest.flags.fast_math = true;
  CHECK_FALSE(jit::cuda_has_baseline(longest, v));
}

TEST_CASE("cuda: rows on chip of many groups are kept in shared memory in their baseline form") {
  builder b;  // exp(x - max(x)), for which x is kept
  const int x = b.input(f32);
  b.reduction(reduce_op::max, f32, x);
  program p = b.p;
  p.kind = jit::kernel_kind::staged;
  const auto rows = static_cast<std::uint16_t>(p.code.size());
  b.p = p;
  const int most = b.emit(opcode::reduced, f32, f32, 0);
  const auto element = static_cast<std::uint16_t>(b.p.code.size());
  const int d = b.same(opcode::exp, b.same(opcode::subtract, x, most));
  b.output(d);
  p = b.p;
  p.epilogue = static_cast<std::uint16_t>(p.code.size());
  p.stages = {{0, rows, 1}, {element, static_cast<std::uint16_t>(p.code.size()), 1}};
  for (const int groups : {4, 16}) {
    CAPTURE(groups);
    cuda_variant v = variant(p, cuda_shape::staged_rows, 2, 1, layout::linear, 4);
    v.groups = static_cast<std::uint8_t>(groups);
    v.all_groups = true;
    CHECK(jit::cuda_has_baseline(p, v) == (groups == 16));
    CHECK(jit::cuda_kept_bytes(p, v) == 0);
    const cuda_variant shared = jit::cuda_baseline_of(v);
    CHECK(jit::cuda_kept_bytes(p, shared) == groups * 4 * 256 * 4);  // four bytes of each of 256 threads' elements
    const std::string text = jit::emit_cuda(p, shared), registers = jit::emit_cuda(p, v);
    CHECK(text.find("extern __shared__") != std::string::npos);
    CHECK(registers.find("extern __shared__") == std::string::npos);
    CHECK((text.size() < registers.size()) == (groups == 16));
  }
}
