// Compiling users' text: preambles, errors and what they affect, threads that compile the same text, machines without a
// compiler.
#include <doctest/doctest.h>

#include <cmath>
#include <thread>

#include "jit/compile.hpp"
#include "jit/cpu/compile_host.hpp"
#include "sinter/error.hpp"
#include "support/users/harness.hpp"

using namespace cpu_test;
using sinter_test::fresh_cache;

namespace {

program one_call(const jit::user_function& f, dtype in = dtype::f32) {
  user_builder b;
  return b.elementwise({b.call(f, {b.load(in)})});
}

jit::user_function unary_text(const std::string& name, const std::string& body, dtype t = dtype::f32) {
  return function_text(name, {value_of("x", t)}, {value_of("z", t)}, body);
}

struct prepared_launch {
  program p;
  std::vector<float> in, out;
  launch l;
  explicit prepared_launch(const program& q) : p(q), in{1, 2, 3, 4, 5}, out(5) {
    l = space(p, {5});
    l.inputs = {at(in, {1})};
    l.outputs = {at(out, {1})};
  }
  prepared_launch(const prepared_launch&) = delete;
};

void prepare_all(std::initializer_list<prepared_launch*> all) {
  std::vector<launch> launches;
  for (prepared_launch* p : all) launches.push_back(p->l);
  std::vector<const runtime::prepared*> ready(launches.size());
  device().prepare(launches, ready);
}

template <class F>
std::string compile_message(F f) {
  try {
    f();
  } catch (const compile_error& e) {
    return e.what();
  }
  return {};
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("preambles: types, structs, device functions, includes and macros, which no other text sees") {
  if (no_compiler()) return;
  auto f = unary_text("first", "pair p{x, N}; z = T(p.sum() + std::floor(2.5) + twice(x));");
  f.types = "typedef float T;\ntypedef long long U;";
  f.preamble =
      "#include <cmath>\n#define N 4\n#define n 99\n#define l 98\n#define r1 97\n"
      "struct pair { T a; U b; __host__ __device__ T sum() const { return a + b; } };\n"
      "__device__ __forceinline__ float twice(const float* __restrict__ p) { return 2 * *p; }\n"
      "__device__ float twice(float x) { return twice(&x); }";
  auto g = unary_text("second", "pair p{x}; z = p.a * N + n;");
  g.preamble = "#ifdef N\n#error seen\n#endif\n#define N 3\nstruct pair { float a; };\nstatic const int n = 1;";
  prepared_launch a(one_call(f)), b(one_call(g));
  user_builder c;
  prepared_launch plain(c.elementwise({c.unary(opcode::square, dtype::f32, c.load(dtype::f32))}));
  settings restore;
  cpu::set_tier(cpu::tier::compiled);
  // The host's headers are for the host alone: nothing to be compiled for a GPU.
  const auto observer = cpu::set_launch_observer(nullptr);
  prepare_all({&a, &b, &plain});
  for (auto* p : {&a, &b, &plain}) run(p->l);
  cpu::set_launch_observer(observer);
  for (std::size_t k = 0; k < 5; ++k) {
    const float x = a.in[k];
    CHECK(a.out[k] == x + 4 + 2 + 2 * x);
    CHECK(b.out[k] == x * 3 + 1);
    CHECK(plain.out[k] == x * x);
  }
}

TEST_CASE("a mistake is reported with the kernel's name and the user's own lines") {
  if (no_compiler()) return;
  const auto f = unary_text("wrong_one", "float y = x;\nz = y + undeclared_name;\n");
  prepared_launch p(one_call(f));
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::string message = compile_message([&] { run(p.l); });
    CAPTURE(message);
    CHECK(message.rfind("[wrong_one] ", 0) == 0);
    CHECK(holds(message, "wrong_one:2:"));
    CHECK(holds(message, "undeclared_name"));
    CHECK(holds(message, "2  z = y + undeclared_name;"));
    CHECK(!holds(message, "sn_block_args"));
  }
  auto g = unary_text("wrong_preamble", "z = helper(x);");
  g.preamble = "\n\nfloat helper(float x) { return x + ; }\n";
  prepared_launch q(one_call(g));
  const std::string message = compile_message([&] { run(q.l); });
  CAPTURE(message);
  CHECK(message.rfind("[wrong_preamble] ", 0) == 0);
  CHECK(holds(message, "wrong_preamble preamble:3:"));
  CHECK(holds(message, "3  float helper"));
  auto h = unary_text("wrong_loop", "total += x; z = x;");
  h.loop_prep = "float total = 0;";
  h.after_loop = "\ntotal = nothing;";
  prepared_launch r(one_call(h));
  const std::string third = compile_message([&] { run(r.l); });
  CAPTURE(third);
  CHECK(third.rfind("[wrong_loop] ", 0) == 0);
  CHECK(holds(third, "wrong_loop after_loop:2:"));
}

TEST_CASE("of two functions in one program the message names the one that is wrong") {
  if (no_compiler()) return;
  user_builder b;
  auto x = b.load(dtype::f32);
  auto y = b.call(unary_text("innocent", "z = x * 3;"), {x});
  prepared_launch p(b.elementwise({b.call(unary_text("guilty", "z = x * 3\nz = 1;"), {y})}));
  const std::string message = compile_message([&] { run(p.l); });
  CAPTURE(message);
  CHECK(message.rfind("[guilty] ", 0) == 0);
  CHECK(holds(message, "guilty:"));
}

TEST_CASE("one text that does not compile leaves the other programs of the flush compiled") {
  if (no_compiler()) return;
  const fresh_cache cache;
  settings restore;
  cpu::set_tier(cpu::tier::compiled);
  prepared_launch good(one_call(unary_text("good_company", "z = x + 41;"))),
      bad(one_call(unary_text("bad_company", "z = y;")));
  user_builder b;
  prepared_launch plain(
      b.elementwise({b.unary(opcode::square, dtype::f32, b.unary(opcode::absolute, dtype::f32, b.load(dtype::f32)))}));
  const std::string message = compile_message([&] { prepare_all({&good, &bad, &plain}); });
  CAPTURE(message);
  CHECK(message.rfind("[bad_company] ", 0) == 0);
  const auto before = jit::compile_statistics().host_compiled;
  run(good.l);
  run(plain.l);
  CHECK(jit::compile_statistics().host_compiled == before);
  CHECK(good.out[1] == 43);
  CHECK(plain.out[2] == 9);
}

TEST_CASE("texts that are right alone and wrong together are compiled apart") {
  if (no_compiler()) return;
  auto h = unary_text("first_define", "z = x + value_of_it();"),
       k = unary_text("second_define", "z = x + value_of_it();");
  h.preamble =
      "extern \"C\" __device__ int sinter_test_symbol() { return 1; }\n"
      "static __device__ int value_of_it() { return sinter_test_symbol(); }";
  k.preamble =
      "extern \"C\" __device__ int sinter_test_symbol() { return 2; }\n"
      "static __device__ int value_of_it() { return sinter_test_symbol(); }";
  prepared_launch first(one_call(h)), second(one_call(k));
  prepare_all({&first, &second});
  run(first.l);
  run(second.l);
  CHECK(first.out[0] == 2);
  CHECK(second.out[0] == 3);
}

TEST_CASE("threads that want the same text wait for one compilation") {
  if (no_compiler()) return;
  const fresh_cache cache;
  settings restore;
  cpu::set_tier(cpu::tier::interpreted);
  const program p = one_call(unary_text("wanted_by_all", "z = x * 17 + 3;"));
  const auto before = jit::compile_statistics().host_compiled;
  std::vector<int> right(8);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      std::vector<float> in{1, 2, float(t)}, out(3);
      launch l = space(p, {3});
      l.inputs = {at(in, {1})};
      l.outputs = {at(out, {1})};
      run(l);
      right[t] = out[2] == float(t) * 17 + 3;
    });
  for (auto& t : threads) t.join();
  for (int ok : right) CHECK(ok);
  CHECK(jit::compile_statistics().host_compiled == before + 1);
}

TEST_CASE("threads that want a wrong text all get the message") {
  if (no_compiler()) return;
  const program p = one_call(unary_text("wrong_for_all", "z = x * nonsense;"));
  std::vector<int> told(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<float> in{1, 2, 3}, out(3);
      launch l = space(p, {3});
      l.inputs = {at(in, {1})};
      l.outputs = {at(out, {1})};
      told[t] = compile_message([&] { run(l); }).rfind("[wrong_for_all] ", 0) == 0;
    });
  for (auto& t : threads) t.join();
  for (int ok : told) CHECK(ok);
}

TEST_CASE("without a compiler a user's function is refused by name, and other programs are interpreted") {
  jit::host_compiler none;
  none.reason = "no c++ or g++ on PATH";
  jit::use_host_compiler_for_tests(&none);
  struct back {
    ~back() { jit::use_host_compiler_for_tests(nullptr); }
  } restore;
  prepared_launch p(one_call(unary_text("nobody_compiles", "z = x + 5;")));
  user_builder b;
  prepared_launch plain(
      b.elementwise({b.binary(opcode::multiply, dtype::f32, b.load(dtype::f32), b.load(dtype::f32))}));
  plain.l.inputs.push_back(plain.l.inputs[0]);
  const std::string message = compile_message([&] { run(p.l); });
  CHECK(message == "[nobody_compiles] needs a C++ compiler at run time: no c++ or g++ on PATH");
  run(plain.l);
  CHECK(plain.out[3] == 16);
}

TEST_CASE("the source of a user's function is shown where it is asked for") {
  prepared_launch p(one_call(unary_text("shown", "z = x + 12345;")));
  const std::string text = device().source(p.l);
  CHECK(holds(text, "z = x + 12345;"));
  CHECK(holds(text, "#line 1 \"shown\""));
  CHECK(holds(text, "extern \"C\" void sn_shown("));
}
