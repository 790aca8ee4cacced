// The CUDA kernels of users' functions, compiled without a GPU: every shape, type and kind of parameter.
#ifdef SINTER_HAS_CUDA

#include <deque>
#include <set>

#include "graph/plan/bind.hpp"
#include "jit/cuda/emit.hpp"
#include "jit/cuda/schedule/choose.hpp"
#include "jit/cuda/nvrtc.hpp"
#include "jit/cuda/units.hpp"
#include "jit/prelude_text.hpp"
#include "jit/program/index_check.hpp"
#include "jit/user_text.hpp"
#include "sinter/error.hpp"
#include "support/users/functions.hpp"

using namespace user_test;
namespace cuda = sinter::cuda;
using jit::cuda_shape;

namespace {

constexpr dtype f16 = dtype::f16, bf16 = dtype::bf16, f32 = dtype::f32, f64 = dtype::f64, i64 = dtype::i64,
                b1 = dtype::b1, c64 = dtype::c64, c128 = dtype::c128;
constexpr runtime::device_id cpu{};
constexpr dtype all_dtypes[] = {b1,         dtype::i8, dtype::i16, dtype::i32, i64, dtype::u8, dtype::u16, dtype::u32,
                                dtype::u64, f16,       bf16,       f32,        f64, c64,       c128};

/// A leaf of this shape and dtype (elements undefined: nothing here runs).
value leaf(const dims& shape, dtype t) {
  auto bytes = static_cast<std::size_t>(core::element_count(shape)) * itemsize(t);
  return graph::make_leaf(std::make_shared<runtime::buffer>(runtime::get_backend(cpu), bytes), 0, shape, t);
}
/// A value that broadcasts to `shape`, of which only the extents `own` exist.
value spread(const value& v, const dims& shape, const dims& strides) {
  return graph::record_view(v, shape, strides, 0);
}

/// Kernels of one translation unit.
struct module {
  std::deque<jit::program> programs;
  std::vector<jit::cuda_variant> variants;
  std::set<std::string> names;

  void add(const std::vector<value>& roots) {
    graph::planner planner;
    planner.plan(roots);
    for (const auto& k : planner.kernels()) {
      if (k->code.code.empty() || !calls_users(k->code)) continue;
      jit::launch l;
      graph::bind(*k, l);
      jit::cuda_variant v;
      cuda::classify(l, v);
      CHECK(jit::cuda_layout_bytes(k->code, jit::cuda_layout(k->code, v)) <= cuda::parameter_capacity);
      add_form(k->code, v);
      if (jit::cuda_has_baseline(k->code, v)) add_form(k->code, jit::cuda_baseline_of(v));
    }
    planner.clear();
  }
  void add(const value& root) { add(std::vector<value>{root}); }
  void add_form(const jit::program& p, const jit::cuda_variant& v) {
    if (!names.insert(jit::cuda_kernel_name(p, v)).second) return;
    programs.push_back(p);
    variants.push_back(v);
  }
  std::string source() const {
    std::vector<const jit::program*> all;
    for (auto& p : programs) all.push_back(&p);
    std::string text = jit::cuda_prelude(all);
    for (std::size_t k = 0; k < programs.size(); ++k) text += jit::emit_cuda(programs[k], variants[k]);
    return text;
  }
  std::set<cuda_shape> shapes() const {
    std::set<cuda_shape> s;
    for (auto& v : variants) s.insert(v.shape);
    return s;
  }
};

void check_compiles(const module& m) {
  REQUIRE(!m.programs.empty());
  std::string why;
  if (!jit::nvrtc_available(&why)) {
    MESSAGE("skipped: NVRTC is not available: " << why);
    return;
  }
  const std::string text = m.source();
  for (int arch : {75, 90}) {
    const jit::cubin binary = jit::compile_cuda(text, {.arch = arch});
    const std::string bytes(binary.bytes.begin(), binary.bytes.end());
    for (auto& name : m.names) CHECK_MESSAGE(bytes.find(name) != std::string::npos, name);
  }
}

value apply(jit::opcode op, value x) {
  const dtype t = x->type;
  const dims shape = x->shape;
  value operands[] = {std::move(x)};
  return graph::record_map_moving(op, t, shape, operands);
}

std::string letter(dtype t) {
  return std::string("typedef ") + (is_complex(t) ? (t == c64 ? "complex64" : "complex128") : jit::register_type(t)) +
         " T;\n";
}

const extras pairs{.preamble = "struct pair { float v; long long i; };\n"};
const user_function* make_pair() {
  return function("make_pair", {par("x", f32), par("i", i64)}, {opaque("p", "pair")}, "p = pair{x, i};", pairs);
}
const user_reduction* lesser() {
  return reduction("lesser", opaque("", "pair"), "(b.v < a.v || (b.v == a.v && b.i < a.i)) ? b : a",
                   "{1e30f, 1ll << 60}", pairs);
}
const user_function* index_of() {
  return function("index_of", {opaque("p", "pair")}, {par("k", i64)}, "k = p.i;", pairs);
}

}  // namespace

TEST_CASE("cuda: users' functions of every dtype compile, in vectors and along strides") {
  module m;
  for (dtype t : all_dtypes) {
    const auto* f =
        function("twice", {par("x", t), par("y", t)}, {par("z", t), par("w", t)},
                 is_bool(t) ? "z = x || y; w = T(x && y);" : "z = x + y * T(2); w = T(x - y);", {.types = letter(t)});
    value x = leaf({64, 32}, t), y = leaf({64, 32}, t);
    value turned = spread(x, {32, 64}, {1, 32});
    m.add(call(f, {64, 32}, {x, y}));
    m.add({call(f, {32, 64}, {turned, turned}, 0), call(f, {32, 64}, {turned, turned}, 1)});
  }
  CHECK(m.shapes() == std::set<cuda_shape>{cuda_shape::linear, cuda_shape::strided});
  check_compiles(m);
}

TEST_CASE("cuda: the names of the mathematical functions are found for every type of argument") {
  module m;
  const char* body = R"(
    float f = x; double d = x; int k = 3; long long l = 4; unsigned u = 5; short s = 6; bool b = true;
    d += sqrt(f) + sqrt(d) + sqrt(k) + sqrtf(f) + cbrt(f) + cbrtf(f) + exp(f) + expf(f) + exp2(f) + exp2f(f) + expm1(f);
    d += log(f) + logf(f) + log2(d) + log10(l) + log1p(u) + sin(f) + sinf(f) + cos(k) + tan(f) + asin(f) + acos(f);
    d += atan(f) + atan2(f, f) + atan2(f, k) + atan2f(f, f) + sinh(f) + cosh(f) + tanh(f) + asinh(f) + acosh(f) + atanh(f);
    d += floor(f) + ceil(f) + trunc(d) + rint(f) + round(f) + fabs(f) + fabs(k) + abs(f) + abs(k) + abs(l) + abs(u) + abs(s);
    d += fmod(f, f) + fmod(f, 2) + remainder(d, f) + pow(f, f) + pow(f, 2) + powf(f, 2.0f) + hypot(f, d) + copysign(f, -1.0f);
    d += fma(f, f, f) + fmaf(f, f, f) + min(f, f) + min(f, 0) + min(k, l) + min(u, u) + max(s, s) + max(d, f) + max(b, b);
    d += fmin(f, f) + fmax(f, k) + fminf(f, f) + isnan(f) + isnan(k) + isinf(d) + isfinite(f) + signbit(f);
    d += erf(f) + erfc(d) + lgamma(f) + tgamma(f) + erff(f) + rsqrt(f) + rsqrtf(f);
    int8_t a8 = 1; uint64_t a64 = 2; size_t n = 3; z = d + a8 + a64 + n;)";
  m.add(call(function("mathematics", {par("x", f64)}, {par("z", f64)}, body), {8}, {leaf({8}, f64)}));
  const char* complex = R"(
    T w = T(1, 2) * x + x / T(3) - 2.0 * x + x * 3 - T(1); w += x; w *= x; w -= 1; w /= 2;
    w = sqrt(w) + exp(w) + log(w) + sin(w) + cos(w) + tanh(w) + asin(w) + pow(w, w) + pow(w, 2) + conj(w);
    if (w == x || w != T(0)) w = -w + abs(w) + real(w) + imag(w) + w.real() + arg(w) + norm(w);
    complex128 wide = w; complex64 narrow = complex64(wide * complex128(w)); z = T(narrow) + T(wide);)";
  for (dtype t : {c64, c128})
    m.add(call(function("complex_mathematics", {par("x", t)}, {par("z", t)}, complex, {.types = letter(t)}), {8},
               {leaf({8}, t)}));
  check_compiles(m);
}

TEST_CASE("cuda: raw inputs of every dtype and rank compile, alone and beside elements") {
  module m;
  for (dtype t : all_dtypes) {
    const auto* f = function("pick", {raw("a", t, 1), raw("b", t, 2), raw("s", t, 0), par("i", i64)}, {par("z", t)},
                             "z = i < a.size() ? a[i] : i % 2 ? b(0, i % b.shape(1)) : s();"
                             "static_assert(b.ndim == 2, \"\");");
    m.add(call(f, {100}, {leaf({7}, t), leaf({3, 5}, t), leaf({}, t), position({100}, cpu)}));
  }
  const auto* g =
      function("shifted", {par("x", f32), raw("t", f32, 3), par("i", i64)}, {par("z", f32)}, "z = x * t(i % 2, 0, 1);");
  value x = leaf({64, 32}, f32), t = leaf({2, 3, 4}, f32);
  m.add(plus(call(g, {64, 32}, {plus(x, 1), t, position({64, 32}, cpu)}), 2));
  for (auto& v : m.variants) CHECK(v.vector == 1);
  check_compiles(m);
}

TEST_CASE("cuda: raw outputs of every dtype compile, with assignments and atomics, and with no other output") {
  module m;
  for (dtype t : all_dtypes) {
    const bool ordered = !is_complex(t);
    const std::string body = std::string("h[i % 4] = T(x); h(i % 3) = h[0]; auto old = atomic_add(h, i % 5, T(1));") +
                             (ordered ? "atomic_min(h, 0, x); atomic_max(h, 1, T(2));" : "") + "g(1, 2) = old;";
    const auto* f =
        function("scatter", {par("x", t), par("i", i64)}, {raw("h", t), raw("g", t, 2)}, body, {.types = letter(t)});
    value x = leaf({100}, t), h = leaf({8}, t), g = leaf({3, 4}, t);
    m.add(graph::record_effect(f, {100}, {x, position({100}, cpu), h, g}, {}, cpu));
  }
  const auto* f = function("both", {par("x", f16)}, {par("y", bf16), raw("h", f16), par("z", f32)},
                           "h[0] += 1.0f; h[1] *= x; y = x; z = h[2];");
  m.add(graph::record_effect(f, {64, 3}, {leaf({64, 3}, f16), leaf({8}, f16)},
                             {leaf({64, 3}, bf16), leaf({64, 3}, f32)}, cpu));
  const auto* native = function("native", {par("x", f32)}, {raw("h", f32)}, "atomicAdd(&h[2], x);");
  m.add(graph::record_effect(native, {9}, {leaf({9}, f32), leaf({8}, f32)}, {}, cpu));
  check_compiles(m);
}

TEST_CASE("cuda: checked mode compiles with raw arrays of every dtype, around loops and in sub-arrays") {
  struct mode {
    bool before = jit::checks_index();
    mode() { jit::set_checks_index(true); }
    ~mode() { jit::set_checks_index(before); }
  } const restore;
  module m;
  for (dtype t : all_dtypes) {
    const std::string body = std::string("h[i] = a[i]; h(i) = b(i, 0); auto old = atomic_add(h, i, T(1));") +
                             (is_complex(t) ? "" : "atomic_min(h, 0, T(2)); h[1] += T(1);") + "g(1, 2) = old; s();";
    const auto* f = function("scatter", {raw("a", t), raw("b", t, 2), raw("s", t, 0), par("i", i64)},
                             {raw("h", t), raw("g", t, 2)}, body, {.types = letter(t)});
    m.add(graph::record_effect(
        f, {100}, {leaf({7}, t), leaf({3, 5}, t), leaf({}, t), position({100}, cpu), leaf({8}, t), leaf({3, 4}, t)}, {},
        cpu));
  }
  const auto* looped =
      function("looped", {raw("a", f32), par("i", i64)}, {par("z", f32), raw("h", f32)}, "z = a[i] + first; h[i] = z;",
               {.loop_prep = "float first = a[0];", .after_loop = "h[0] = first;"});
  m.add(graph::record_effect(looped, {9}, {leaf({9}, f32), position({9}, cpu), leaf({9}, f32)}, {leaf({9}, f32)}, cpu));
  jit::user_function part;
  part.name = "part";
  part.inputs = {raw("sn_all_x", f32, 2), par("sn_at_x", i64)};
  part.outputs = {par("z", f32)};
  part.setup = "const sn::sub_array<const decltype(sn_all_x), 1> x{sn_all_x, sn_at_x};\n";
  part.body = "z = x[3] + x(4);";
  m.add(call(jit::intern(part), {6}, {leaf({6, 5}, f32), position({6}, cpu)}));
  CHECK(m.source().find("#define SN_CHECK_INDEX\n") == 0);
  CHECK(m.source().find("a.fault, 0x") != std::string::npos);
  CHECK(m.source().find("sn_args.fault, 0x") != std::string::npos);
  check_compiles(m);
}

TEST_CASE("cuda: users' functions beside the library's sine compile in the baseline form, too") {
  module m;
  const auto* f =
      function("mixed", {par("x", f32), raw("t", f32), par("i", i64)}, {par("y", f32)}, "y = sinf(x) * t[i % 4];");
  value x = leaf({64, 32}, f32), t = leaf({4}, f32);
  const value angle = apply(jit::opcode::sin, plus(x, 1));
  m.add(reduce(jit::reduce_op::max, plus(call(f, {64, 32}, {angle, t, position({64, 32}, cpu)}), 2), {0}));
  value turned = spread(x, {32, 64}, {1, 32});
  m.add(reduce(jit::reduce_op::max, apply(jit::opcode::cos, call(f, {32, 64}, {turned, t, position({32, 64}, cpu)})),
               {1}));
  int baseline = 0;
  for (auto& v : m.variants) baseline += v.baseline;
  CHECK(baseline == 2);
  CHECK(m.variants.size() == 4);
  check_compiles(m);
}

TEST_CASE("cuda: text around the loop compiles at any rank, layout and index width") {
  module m;
  const extras text{.preamble = "#define SCALE 3\nstruct tally { float s; };\n",
                    .loop_prep = "tally a{0}; float n = SCALE; // names that kernels use, and a comment",
                    .after_loop = "if (a.s > n) atomic_add(h, 0, a.s)\n;"};
  const auto* f =
      function("tallied", {par("x", f32)}, {par("z", f32), raw("h", f32)}, "a.s += x * SCALE; z = a.s;", text);
  auto run = [&](const value& x, const dims& shape) {
    return graph::record_effect(f, shape, {x, leaf({2}, f32)}, {leaf({1}, f32)}, cpu);
  };
  m.add(run(leaf({100}, f32), {100}));
  m.add(run(plus(leaf({100}, f32), 1), {4, 100}));
  m.add(run(spread(leaf({4, 5, 6}, f32), {6, 5, 4}, {1, 6, 30}), {6, 5, 4}));
  m.add(run(leaf({1 << 16}, f32), {1 << 16, 1 << 16}));
  for (auto& v : m.variants) CHECK(v.shape == cuda_shape::stride_loop);
  CHECK(m.variants.back().wide_index);
  const auto* h = function("counted", {par("x", f16)}, {par("z", f16)}, "++k; z = x * k;", {.loop_prep = "int k = 0;"});
  m.add(call(h, {64}, {leaf({64}, f16)}));
  check_compiles(m);
}

TEST_CASE("cuda: users' reductions compile along rows and columns, with struct values and beside others") {
  module m;
  for (dtype t : all_dtypes) {
    if (is_bool(t)) continue;
    const auto* r = reduction("total", par("", t), "a + b", "0", {.types = letter(t)});
    value x = leaf({600, 700}, t);
    m.add(reduce(r, x, {0}));
    if (t == f32 || t == f16 || t == c128) {
      m.add(reduce(r, x, {1}));
      m.add(reduce(r, x));
    }
  }
  for (dims shape : {dims{3000}, dims{200, 300}, dims{20, 30, 40, 50}})
    for (std::vector<int> kept : {std::vector<int>{}, {0}, {shape.size() - 1}}) {
      if (static_cast<int>(kept.size()) >= shape.size()) continue;
      value x = plus(leaf(shape, f32), 1);
      value mapped = call(make_pair(), shape, {x, position(shape, cpu)});
      value r = reduce(lesser(), mapped, kept);
      m.add(times(call(index_of(), r->shape, {r}), 2));
    }
  const auto* r = reduction("total", par("", f32), "a + b", "0");
  value x = leaf({64, 128}, f32), both = times(x, 2);
  m.add({reduce(r, both, {0}), reduce(jit::reduce_op::sum, both, {0})});
  value wide = spread(leaf({1 << 16}, f32), {1 << 16, 1 << 16}, {0, 1});
  m.add(reduce(r, times(wide, 2)));
  CHECK(m.variants.back().wide_index);
  CHECK(m.shapes() == std::set<cuda_shape>{cuda_shape::reduce_rows, cuda_shape::reduce_columns});
  check_compiles(m);
}

TEST_CASE("cuda: built-in reductions over calls compile, broadcast rows and skipped tails included") {
  module m;
  const auto* f = function("kernel_of", {par("x", f32), par("y", f32)}, {par("z", f32), par("w", f32)},
                           "z = (x - y) * (x - y); w = x + y;");
  const dims shape{1024, 64};
  value row = spread(leaf({1024}, f32), shape, {1, 0}), column = spread(leaf({64}, f32), shape, {0, 1});
  value z = call(f, shape, {row, column}, 0), w = call(f, shape, {row, column}, 1);
  m.add(reduce(jit::reduce_op::max, add(z, w), {0}));
  value own = call(f, {1024}, {leaf({1024}, f32), leaf({1024}, f32)});  // depends on the row alone
  m.add(reduce(jit::reduce_op::min, add(z, call(f, shape, {row, row}, 1)), {0}));
  value root[] = {z};
  value tail = graph::record_map(jit::opcode::arcsin, f32, shape,
                                 std::vector{graph::record_map(jit::opcode::sqrt, f32, shape, root)});
  const bool mask[] = {false, true};
  m.add(graph::record_reduce(jit::reduce_op::argmin, i64, tail, mask));
  CHECK(m.shapes() == std::set<cuda_shape>{cuda_shape::broadcast_rows});
  CHECK(m.variants.back().skip_tail);
  value x = leaf({200, 300}, f32);
  value y = call(f, {200, 300}, {x, times(x, 2)}, 1);
  for (auto op : {jit::reduce_op::sum, jit::reduce_op::max}) {
    m.add(reduce(op, y, {0}));
    value s = reduce(op, y, {1});
    m.add(call(f, {300}, {s, leaf({300}, f32)}));
  }
  check_compiles(m);
}

TEST_CASE("cuda: macros of one preamble do not reach another, nor the library's own text") {
  module m;
  auto sized = [](const char* n) {
    return function(
        "sized", {par("x", f32)}, {par("z", f32)}, "#define TWICE 2\nz = x * N * TWICE + helper(x);",
        {.preamble =
             std::string("#define N ") + n +
             "\n#define T 7\n#define S \\\n  8\nstatic __device__ float helper(float x) { return x + T + S; }\n"});
  };
  value x = leaf({64}, f32);
  m.add(call(sized("4"), {64}, {x}));
  m.add(call(sized("8"), {64}, {x}));
  m.add(call(sized("4"), {64}, {call(sized("8"), {64}, {times(x, 3)})}));
  check_compiles(m);
}

TEST_CASE("cuda: includes precede everything, with what they depend on; lines keep their numbers") {
  const auto* f =
      function("including", {par("x", f32)}, {par("z", f32)}, "z = LIMIT;",
               {.preamble = "#define WANTED 1\n#ifdef __CUDACC__\n#include <first.h>\nint between;\n#else\n#include "
                            "<second.h>\n#endif\n#define LIMIT 3\n"});
  module m;
  m.add(call(f, {8}, {leaf({8}, f32)}));
  const std::string text = m.source();
  CHECK(text.rfind("#define WANTED 1\n#ifdef __CUDACC__\n#include <first.h>\n#else\n#include <second.h>\n#endif\n"
                   "#undef WANTED\n",
                   0) == 0);
  CHECK(text.find("#include <first.h>") == text.rfind("#include <first.h>"));
  CHECK(text.find(
            "#line 1 \"including preamble\"\n#define WANTED 1\n#ifdef __CUDACC__\n\nint between;\n#else\n\n#endif\n") !=
        std::string::npos);
  CHECK(text.find("#undef LIMIT") > text.find("z = LIMIT"));
}

TEST_CASE("cuda: one text for each function of a module, and names that are the same in every process") {
  module m;
  const auto* f = function("shared", {par("x", f32)}, {par("z", f32)}, "z = x + 41;");
  m.add(call(f, {64}, {leaf({64}, f32)}));
  m.add(call(f, {64, 32}, {spread(leaf({32, 64}, f32), {64, 32}, {1, 64})}));
  const std::string text = m.source();
  CHECK(text.find("z = x + 41") == text.rfind("z = x + 41"));
  // In another process the function has another number.
  std::string key, elsewhere;
  m.programs[0].append_stable_key(key);
  auto other = *f;
  other.id += 1000;
  auto program = m.programs[0];
  REQUIRE(program.calls.size() == 1);
  program.calls[0].function = &other;
  program.append_stable_key(elsewhere);
  CHECK(key == elsewhere);
}

TEST_CASE("cuda: an error in a user's text is reported on the user's own line") {
  std::string why;
  if (!jit::nvrtc_available(&why)) {
    MESSAGE("skipped: NVRTC is not available: " << why);
    return;
  }
  module body, preamble, struct_too_long;
  value x = leaf({64}, f32);
  body.add(call(function("faulty", {par("x", f32)}, {par("z", f32)}, "z = x;\n\nz = missing;"), {64}, {x}));
  preamble.add(
      call(function("faulty", {par("x", f32)}, {par("z", f32)}, "z = x;", {.preamble = "\nint f( { }\n"}), {64}, {x}));
  auto message = [](const module& m) {
    try {
      jit::compile_cuda(m.source(), {.arch = 90});
    } catch (const sinter::compile_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(message(body).find("faulty(3): error") != std::string::npos);
  CHECK(message(preamble).find("faulty preamble(2): error") != std::string::npos);
  const extras large{.preamble = "struct large { double x[5]; };\n"};
  const auto* make = function("make_large", {par("x", f32)}, {opaque("p", "large")}, "p = large{{x}};", large);
  const auto* first = reduction("first", opaque("", "large"), "a", "{}", large);
  const auto* done = function("done", {opaque("p", "large")}, {par("z", f64)}, "z = p.x[0];", large);
  value r = reduce(first, call(make, {64}, {x}));
  struct_too_long.add(call(done, {}, {r}));
  CHECK(message(struct_too_long).find("at most 32 bytes") != std::string::npos);
}

#endif
