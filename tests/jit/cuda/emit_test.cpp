// The CUDA generator without a GPU: sources hold no sizes and include nothing, and NVRTC compiles every variant.
#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jit/cuda/emit.hpp"
#include "jit/cuda/nvrtc.hpp"
#include "jit/cuda/units.hpp"
#include "jit/cuda/written_programs.hpp"

using namespace sinter;
using layout = jit::access;
using namespace sinter_test;

namespace {

constexpr dtype f32 = dtype::f32, f64 = dtype::f64, i64 = dtype::i64, b1 = dtype::b1;

program affine() {
  builder b;
  const int x = b.input(f32), two = b.param(f32), y = b.input(f32);
  return b.elementwise(b.same(opcode::add, b.same(opcode::multiply, x, two), y));
}

program cosine_and_sine() {
  builder b;
  const int x = b.input(f32);
  const int c = b.same(opcode::square, b.same(opcode::cos, x)), s = b.same(opcode::square, b.same(opcode::sin, x));
  return b.elementwise(b.same(opcode::add, c, s));
}

program unary(opcode op, dtype t, dtype result) {
  builder b;
  const int x = b.input(t);
  return b.elementwise(b.emit(op, result, t, x));
}

program reduction_of(reduce_op op, dtype t, dtype result) {
  builder b;
  b.reduction(op, result, b.input(t));
  return b.reduced();
}

/// argmin (and, on request, min) of 2R * arcsin(sqrt(square(sin((lat2-lat1)/2)) + c1*c2*square(sin((lon2-lon1)/2)))).
program haversine(dtype t, bool sibling) {
  builder b;
  int in[6];
  for (int& r : in) r = b.input(t);
  const int half = b.param(t), radius = b.param(t);
  auto part = [&](int to, int from) {
    return b.same(opcode::square,
                  b.same(opcode::sin, b.same(opcode::multiply, b.same(opcode::subtract, to, from), half)));
  };
  const int p = part(in[3], in[0]), q = part(in[4], in[1]);
  const int h = b.same(opcode::add, p, b.same(opcode::multiply, b.same(opcode::multiply, in[2], in[5]), q));
  const int d = b.same(opcode::multiply, b.same(opcode::arcsin, b.same(opcode::sqrt, h)), radius);
  b.reduction(reduce_op::argmin, i64, d, 3, h);
  if (sibling) b.reduction(reduce_op::min, t, d, 3, h);
  return b.reduced();
}

/// The parameters that the tail of a kernel is multiplied with or divided by; nothing where there is no tail to skip.
std::optional<std::vector<int>> scales_of_tail(const program& p) {
  const jit::monotone_tail tail = jit::cuda_tail(p);
  if (tail.steps.empty()) return {};
  std::vector<int> scales;
  for (const jit::tail_step& s : tail.steps)
    if (s.scale) scales.push_back(p.code[*s.scale].a);
  return scales;
}

cuda_variant broadcast(const program& p, std::size_t row_inputs, bool skip, bool wide = false,
                       layout columns = layout::linear) {
  cuda_variant v = variant(p, cuda_shape::broadcast_rows, 2, 1, columns, 1, wide);
  v.skip_tail = skip;
  for (std::size_t k = 0; k < p.inputs.size(); ++k) {
    v.row_only.push_back(k < row_inputs);
    if (k < row_inputs) v.inputs[k] = layout::strided;
  }
  return v;
}

/// Kernels of one translation unit, those with a baseline form in both.
struct module {
  std::vector<program> programs;
  std::vector<cuda_variant> variants;
  void add(const program& p, cuda_variant v) {
    programs.push_back(p);
    variants.push_back(v);
    if (!jit::cuda_has_baseline(p, v)) return;
    v = jit::cuda_baseline_of(v);
    programs.push_back(p);
    variants.push_back(v);
  }
  std::string source() const {
    std::vector<const program*> all;
    for (auto& p : programs) all.push_back(&p);
    std::string text;
    std::set<std::string> names;
    for (std::size_t k = 0; k < programs.size(); ++k) {
      CHECK(names.insert(jit::cuda_kernel_name(programs[k], variants[k])).second);
      text += jit::emit_cuda(programs[k], variants[k]);
    }
    return jit::cuda_module(all, text);
  }
};

void check_compiles(const module& m) {
  std::string why;
  if (!jit::nvrtc_available(&why)) {
    MESSAGE("skipped: NVRTC is not available: " << why);
    return;
  }
  const std::string text = m.source();
  CHECK(text.find("#include") == std::string::npos);
  for (int arch : {75, 90}) {
    const jit::cubin binary = jit::compile_cuda(text, {.arch = arch});
    CHECK(!binary.bytes.empty());
    for (std::size_t k = 0; k < m.programs.size(); ++k) {
      const std::string name = jit::cuda_kernel_name(m.programs[k], m.variants[k]);
      const std::string bytes(binary.bytes.begin(), binary.bytes.end());
      CHECK_MESSAGE(bytes.find(name) != std::string::npos, name);
    }
  }
}

constexpr dtype all_dtypes[] = {b1,          dtype::i8,  dtype::i16, dtype::i32, i64,
                                dtype::u8,   dtype::u16, dtype::u32, dtype::u64, dtype::f16,
                                dtype::bf16, f32,        f64,        dtype::c64, dtype::c128};
constexpr dtype real_dtypes[] = {dtype::i8,  dtype::i32, i64,         dtype::u8, dtype::u32,
                                 dtype::u64, dtype::f16, dtype::bf16, f32,       f64};

}  // namespace

TEST_CASE("cuda: a source holds no sizes, includes nothing, and is the same text every time") {
  const program p = affine();
  const cuda_variant v = variant(p, cuda_shape::linear, 1, 1, layout::linear, 4);
  const std::string once = jit::cuda_module({&p}, jit::emit_cuda(p, v));
  CHECK(once == jit::cuda_module({&p}, jit::emit_cuda(p, v)));
  CHECK(once.find("#include") == std::string::npos);
  CHECK(jit::cuda_kernel_name(p, v).rfind("sn_mul_add_", 0) == 0);
  cuda_variant wide = v;
  wide.wide_index = true;
  CHECK(jit::cuda_kernel_name(p, v) != jit::cuda_kernel_name(p, wide));
}

TEST_CASE("cuda: elementwise kernels of every dtype compile in every shape") {
  module linear, strided;
  for (dtype t : all_dtypes) {
    builder b;
    const int x = b.input(t), y = b.input(t), s = b.param(t);
    const program p = b.elementwise(b.same(opcode::multiply, b.same(opcode::add, x, y), s));
    linear.add(p, variant(p, cuda_shape::linear, 1, 1, layout::linear, jit::cuda_vector_length(p)));
    cuda_variant mixed = variant(p, cuda_shape::linear, 1, 1, layout::linear, jit::cuda_vector_length(p));
    mixed.inputs[1] = layout::uniform;
    linear.add(p, mixed);
    strided.add(p, variant(p, cuda_shape::strided, 2, 2, layout::strided));
  }
  const program p = affine();
  for (int rank : {1, 3, 4, 6}) {
    strided.add(p, variant(p, cuda_shape::strided, rank, rank, layout::strided));
    strided.add(p, variant(p, cuda_shape::strided, rank, rank, layout::strided, 1, true));
    strided.add(p, variant(p, cuda_shape::strided, rank, rank, layout::linear, 4));
    cuda_variant mixed = variant(p, cuda_shape::strided, rank, rank, layout::linear, 4);
    mixed.inputs[0] = layout::strided;
    strided.add(p, mixed);
  }
  check_compiles(linear);
  check_compiles(strided);
}

TEST_CASE("cuda: sine and cosine of one float32 share the reduction, and large arguments have a slow way") {
  module m;
  const program both = cosine_and_sine(), one = unary(opcode::sin, f32, f32), wide = unary(opcode::cos, f64, f64);
  for (const program* p : {&both, &one, &wide}) {
    m.add(*p, variant(*p, cuda_shape::linear, 1, 1, layout::linear, jit::cuda_vector_length(*p)));
    m.add(*p, variant(*p, cuda_shape::strided, 2, 2, layout::strided));
  }
  const std::string text = jit::emit_cuda(both, m.variants[0]);
  CHECK(text.find("sincos") != std::string::npos);
  CHECK(text.find("sn::any_sine(") != std::string::npos);
  check_compiles(m);
}

TEST_CASE("cuda: coordinates, gathers and checked indices compile") {
  module m;
  builder b;
  const int index = b.input(i64);
  const int extent = b.param(i64);
  const int safe = b.emit(opcode::checked_index, i64, i64, index, b.p.code[static_cast<std::size_t>(extent)].a);
  const int value = b.gather(f32, safe);
  const int where = b.emit(opcode::cast, f32, i64, b.emit(opcode::coord, i64, i64, 0));
  const program p = b.elementwise(b.same(opcode::add, value, where));
  for (bool wide : {false, true}) {
    m.add(p, variant(p, cuda_shape::strided, 2, 2, layout::strided, 1, wide));
    m.add(p, variant(p, cuda_shape::strided, 1, 1, layout::strided, 1, wide));
  }
  m.add(p, variant(p, cuda_shape::linear, 1, 1, layout::linear, 2));
  builder r;
  const int at = r.emit(opcode::checked_index, i64, i64, r.input(i64), 0);
  r.param(i64);
  const int picked = r.gather(f32, at);
  r.reduction(reduce_op::sum, f32,
              r.same(opcode::add, picked, r.emit(opcode::cast, f32, i64, r.emit(opcode::coord, i64, i64, 1))));
  const program sum = r.reduced();
  for (auto shape : {cuda_shape::reduce_rows, cuda_shape::reduce_columns})
    for (int rank : {2, 3}) m.add(sum, variant(sum, shape, rank, 1, layout::strided));
  check_compiles(m);
}

TEST_CASE("cuda: reductions whose results are not split are one kernel") {
  module m;
  for (auto shape :
       {cuda_shape::reduce_rows, cuda_shape::reduce_columns, cuda_shape::crossed_rows, cuda_shape::crossed_columns}) {
    const program p = reduction_of(reduce_op::sum, f32, f32);
    cuda_variant v = variant(p, shape, 2, 1, layout::strided);
    const std::string split = emit_cuda(p, v), name = cuda_kernel_name(p, v);
    CHECK(split.find(name + "_2(") != std::string::npos);
    v.whole = true;
    const std::string whole = emit_cuda(p, v);
    CHECK(cuda_kernel_name(p, v) != name);
    CHECK(whole.find("_2(") == std::string::npos);
    CHECK(whole.find("partial") == whole.rfind("partial"));  // a parameter that nothing reads
    m.add(p, v);
  }
  check_compiles(m);
}

TEST_CASE("cuda: every reduction compiles along rows and columns, in 32-bit and 64-bit indices") {
  module rows, columns;
  for (reduce_op op : {reduce_op::sum, reduce_op::prod, reduce_op::min, reduce_op::max, reduce_op::argmin,
                       reduce_op::argmax, reduce_op::moment2}) {
    for (dtype t : {i64, dtype::bf16, f32, f64, dtype::c64}) {
      const bool arg = op == reduce_op::argmin || op == reduce_op::argmax;
      if (op == reduce_op::moment2 && !is_inexact(t)) continue;
      const dtype result = arg ? i64 : op == reduce_op::moment2 && t == dtype::c64 ? f32 : t;
      const program p = reduction_of(op, t, result);
      const bool wide = t == f64;
      rows.add(p, variant(p, cuda_shape::reduce_rows, 2, 1, layout::linear, 1, wide));
      if (t == i64 || t == f64) continue;
      const int vector = static_cast<int>(16 / std::max<std::size_t>(4, itemsize(t)));
      columns.add(p, variant(p, cuda_shape::reduce_columns, 2, 1, layout::linear, vector, wide));
    }
  }
  for (reduce_op op : {reduce_op::any, reduce_op::all, reduce_op::count}) {
    const program p = reduction_of(op, b1, op == reduce_op::count ? i64 : b1);
    rows.add(p, variant(p, cuda_shape::reduce_rows, 4, 2, layout::strided));
    columns.add(p, variant(p, cuda_shape::reduce_columns, 4, 2, layout::strided, 1, true));
  }
  check_compiles(rows);
  check_compiles(columns);
}

TEST_CASE("cuda: sibling reductions with a fused prologue and epilogue compile") {
  module m;
  builder b;
  const int x = b.input(f32), y = b.input(f32);
  const int d = b.same(opcode::square, b.same(opcode::subtract, x, y));
  b.reduction(reduce_op::sum, f32, d);
  b.reduction(reduce_op::argmax, i64, d);
  b.reduction(reduce_op::moment2, f32, x);
  b.p.epilogue = static_cast<std::uint16_t>(b.p.code.size());
  const int s = b.emit(opcode::reduced, f32, f32, 0), a = b.emit(opcode::reduced, i64, i64, 1),
            v = b.emit(opcode::reduced, f32, f32, 2);
  const int scale = b.input(f32), n = b.param(f32);
  b.output(b.same(opcode::multiply, b.same(opcode::sqrt, s), scale));
  b.output(a);
  b.output(b.same(opcode::divide, v, n));
  for (auto shape : {cuda_shape::reduce_rows, cuda_shape::reduce_columns})
    for (int rank : {2, 3, 5}) {
      m.add(b.p, variant(b.p, shape, rank, rank - 1 - rank / 4, layout::strided, 1, rank == 3));
      m.add(b.p, variant(b.p, shape, rank, rank - 1 - rank / 4, layout::linear, 1, rank == 5));
    }
  check_compiles(m);
}

TEST_CASE("cuda: broadcast rows compile with and without the skip, for float32 and float64") {
  module m;
  for (dtype t : {f32, f64})
    for (bool sibling : {false, true}) {
      const program p = haversine(t, sibling);
      CHECK(scales_of_tail(p) == std::vector<int>{1});
      for (bool skip : {false, true}) m.add(p, broadcast(p, 3, skip));
      m.add(p, broadcast(p, 3, true, true));
      m.add(p, broadcast(p, 3, true, false, layout::strided));
    }
  for (reduce_op op : {reduce_op::min, reduce_op::max, reduce_op::argmin, reduce_op::argmax, reduce_op::sum}) {
    for (dtype t : real_dtypes) {
      if (op == reduce_op::sum && !is_integer(t)) continue;
      builder b;
      const int x = b.input(t), y = b.input(t);
      b.reduction(op, op == reduce_op::argmin || op == reduce_op::argmax ? i64 : t, b.same(opcode::multiply, x, y));
      const program p = b.reduced();
      m.add(p, broadcast(p, 1, false));
    }
  }
  check_compiles(m);
}

TEST_CASE("cuda: under fast_math a quotient by an odd power of a root takes one inverse root") {
  const auto source_of = [](const std::function<int(builder&, int, int)>& make, bool fast) {
    builder b;
    const int x = b.input(f32), y = b.input(f32);
    program p = b.elementwise(make(b, x, y));
    p.flags.fast_math = fast;
    const cuda_variant v = variant(p, cuda_shape::linear, 1, 1, layout::linear, 4);
    return jit::cuda_module({&p}, jit::emit_cuda(p, v));
  };
  const auto root = [](builder& b, int x) { return b.same(opcode::sqrt, x); };
  const std::pair<const char*, std::function<int(builder&, int, int)>> forms[] = {
      {"sn::inverse_power<1>(r0)", [&](builder& b, int x, int) { return b.same(opcode::reciprocal, root(b, x)); }},
      {"r1 * sn::inverse_power<3>(r0)",
       [&](builder& b, int x, int y) { return b.same(opcode::divide, y, b.same(opcode::multiply, x, root(b, x))); }},
      {"r1 * sn::inverse_power<5>(r0)",
       [&](builder& b, int x, int y) {
         const int r = root(b, x), cube = b.same(opcode::multiply, r, x);
         return b.same(opcode::divide, y, b.same(opcode::multiply, x, cube));
       }},
      {"r1 * sn::inverse_power<3>(r0)",
       [&](builder& b, int x, int y) {
         const int r = root(b, x), square = b.same(opcode::square, r);
         return b.same(opcode::divide, y, b.same(opcode::multiply, square, r));
       }},
      {"", [&](builder& b, int x, int y) { return b.same(opcode::divide, y, b.same(opcode::square, root(b, x))); }},
      {"",
       [&](builder& b, int x, int y) { return b.same(opcode::divide, y, b.same(opcode::multiply, y, root(b, x))); }},
      {"", [&](builder& b, int x, int y) { return b.same(opcode::multiply, y, root(b, x)); }}};
  for (const auto& [wanted, make] : forms) {
    CHECK(source_of(make, false).find("inverse_power") == std::string::npos);
    const std::string source = source_of(make, true);
    CHECK((source.find("inverse_power") != std::string::npos) == (*wanted != 0));
    CHECK(source.find(wanted) != std::string::npos);
  }
}

TEST_CASE("cuda: the tail of a minimum may begin with the minimum with a parameter") {
  for (const reduce_op op : {reduce_op::argmin, reduce_op::max}) {
    builder b;
    const int limit = b.param(f32), h = b.same(opcode::multiply, b.input(f32), b.input(f32));
    const int low = b.same(opcode::minimum, h, limit), root = b.same(opcode::sqrt, low);
    b.reduction(op, op == reduce_op::max ? f32 : i64, root, 1, low);
    const program p = b.reduced();
    const jit::monotone_tail tail = jit::cuda_tail(p);
    const bool limits = op == reduce_op::argmin;
    REQUIRE(tail.steps.size() == (limits ? 2 : 1));
    CHECK(tail.inner() == (limits ? h : low));
    CHECK(tail.steps.back().limit.has_value() == limits);
    const std::string source = jit::emit_cuda(p, broadcast(p, 1, true));
    CHECK((source.find("sn::skip_above<false, float> skip;") != std::string::npos) == limits);
    CHECK((source.find("skip.offer(x" + std::to_string(h) + ", a.q0)") != std::string::npos) == limits);
  }
}

TEST_CASE("cuda: a tail is skipped only where it is monotone on its whole domain") {
  builder b;
  const int q = b.param(f32), h = b.same(opcode::multiply, b.input(f32), b.input(f32));
  // The factor below the arcsine moves its domain: the skip starts above it.
  const int scaled = b.same(opcode::multiply, h, q);
  const int t = b.same(opcode::arcsin, scaled);
  b.reduction(reduce_op::max, f32, t, 2, h);
  CHECK(scales_of_tail(b.reduced()) == std::vector<int>{});

  builder c;
  const int g = c.same(opcode::multiply, c.input(f32), c.input(f32)), e = c.same(opcode::exp, g);
  c.reduction(reduce_op::min, f32, e, 1, g);
  CHECK_FALSE(scales_of_tail(c.reduced()));

  builder d;  // minimum and maximum of one value disagree about what may be skipped
  const int k = d.same(opcode::multiply, d.input(f32), d.input(f32)), r = d.same(opcode::sqrt, k);
  d.reduction(reduce_op::min, f32, r, 1, k);
  d.reduction(reduce_op::max, f32, r, 1, k);
  CHECK_FALSE(scales_of_tail(d.reduced()));
}
