// Files that a preamble includes: when one has changed, no cache gives the code made from the old one.
#include <fstream>

#include "backends/cpu/kernels/hooks.hpp"
#include "jit/compile.hpp"
#include "jit/cpu/compile_host.hpp"
#include "jit/cuda/nvrtc.hpp"
#include "jit/program/include_scan.hpp"
#include "jit/program/user_function.hpp"
#include "support/fresh_cache.hpp"
#include "support/kernel_test.hpp"

using namespace sinter;
using namespace sinter::test;
using sinter_test::no_compiler;

namespace {

struct fresh_cache : sinter_test::fresh_cache {
  // Host headers are for the host: nothing for the tests of CUDA kernels to compile.
  cpu::launch_observer observer = cpu::set_launch_observer(nullptr);
  ~fresh_cache() { cpu::set_launch_observer(observer); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(scratch / name) << text; }
  std::string include(const std::string& name) const { return "#include \"" + (scratch / name) + "\"\n"; }
};

ndarray ones_on_cpu() { return ones({3}, {.device = "cpu"}); }

double by_function(const std::string& preamble) {
  const function f("T scaled(T x)", "return x * FACTOR;", {.preamble = preamble});
  return f(ones_on_cpu())(0).item<double>();
}
double by_kernel(const std::string& preamble) {
  const elementwise_kernel f("T x", "T z", "z = x * FACTOR;", "scaled_too", {.preamble = preamble});
  return f(ones_on_cpu())(0).item<double>();
}
double by_reduction(const std::string& preamble) {
  const reduction_kernel f("T x", "T z", "x", "a + b * FACTOR / FACTOR", "z = a * FACTOR", "0", "scaled_sum",
                           {.preamble = preamble});
  return f(ones_on_cpu()).item<double>();
}
double by_generalized(const std::string& preamble) {
  const generalized_kernel f("(n)->()", "T x", "T z", "z = x[0] * FACTOR;", "scaled_row", {.preamble = preamble});
  return f(ones({2, 3}, {.device = "cpu"}))(0).item<double>();
}

}  // namespace

TEST_CASE("includes of users: a header that has changed is compiled again, in the same process and in the next") {
  if (no_compiler()) return;
  const fresh_cache cache;
  cache.write("outer.h", "#pragma once\n#include \"inner.h\"\n");
  const auto all = [&](double factor) {
    const std::string preamble = cache.include("outer.h");
    CHECK(by_function(preamble) == factor);
    CHECK(by_kernel(preamble) == factor);
    CHECK(by_reduction(preamble) == 3 * factor);
    CHECK(by_generalized(preamble) == factor);
  };
  for (const int factor : {3, 7, 3}) {  // back again: the old code is the right one now
    cache.write("inner.h", "#define FACTOR " + std::to_string(factor) + "\n");
    all(factor);
    jit::forget_loaded_modules_for_tests();
    all(factor);
  }
}

TEST_CASE("includes of users: an unchanged header is found on the disk, a changed one is not, and comes back") {
  if (no_compiler()) return;
  const fresh_cache cache;
  const auto source = [&] { return cache.include("h.h") + "extern \"C\" int answer() { return FACTOR; }\n"; };
  const auto answer = [&] {
    jit::forget_loaded_modules_for_tests();
    return reinterpret_cast<int (*)()>(jit::compile_host(source(), {"answer"}).at(0))();
  };
  const auto compiled = [] { return jit::compile_statistics().host_compiled; };
  cache.write("h.h", "#define FACTOR 3\n");
  auto before = compiled();
  CHECK(answer() == 3);
  CHECK(answer() == 3);
  CHECK(compiled() == before + 1);
  cache.write("h.h", "#define FACTOR 7\n");
  CHECK(answer() == 7);
  CHECK(compiled() == before + 2);
  cache.write("h.h", "#define FACTOR 3\n");
  CHECK(answer() == 3);
  CHECK(compiled() == before + 2);
  // What a macro names cannot be known, so it is compiled by every process.
  cache.write("n.h", "#define NAME \"" + (cache.scratch / "h.h") + "\"\n#include NAME\n");
  const auto unknown = [&] {
    jit::forget_loaded_modules_for_tests();
    const std::string text = cache.include("n.h") + "extern \"C\" int answer() { return FACTOR; }\n";
    return reinterpret_cast<int (*)()>(jit::compile_host(text, {"answer"}).at(0))();
  };
  CHECK(unknown() == 3);
  cache.write("h.h", "#define FACTOR 5\n");
  CHECK(unknown() == 5);
}

TEST_CASE("includes of users: a header that changes while the compiler runs leaves nothing on the disk") {
  if (no_compiler()) return;
  const fresh_cache cache;
  // This compiler changes the header when it has read it.
  const std::string script = cache.scratch / "g++";
  cache.write("h.h", "#define FACTOR 3\n");
  cache.write("g++", "#!/bin/sh\n" + jit::host_compiler::find().path + " \"$@\" || exit 1\necho '#define FACTOR 7' > " +
                         (cache.scratch / "h.h") + "\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const auto compiler = jit::probe_host_compiler(script, "");
  REQUIRE(compiler.path == script);
  const std::string source = cache.include("h.h") + "extern \"C\" int answer() { return FACTOR; }\n";
  const auto answer = [&] {
    jit::forget_loaded_modules_for_tests();
    return reinterpret_cast<int (*)()>(jit::compile_host_with(compiler, source, {"answer"}).at(0))();
  };
  cache.write("h.h", "#define FACTOR 3\n");
  CHECK(answer() == 3);
  cache.write("h.h", "#define FACTOR 3\n");
  const auto before = jit::compile_statistics().host_compiled;
  CHECK(answer() == 3);
  CHECK(jit::compile_statistics().host_compiled == before + 1);
  CHECK(answer() == 7);  // and this was no change
  CHECK(answer() == 7);
  CHECK(jit::compile_statistics().host_compiled == before + 2);
}

TEST_CASE("includes of users: kernels for the GPU have the header's text in their key") {
  std::string why;
  if (!jit::nvrtc_available(&why)) {
    MESSAGE("left out: " << why);
    return;
  }
  const fresh_cache cache;
  const std::string source = cache.include("h.h") + "extern \"C\" __global__ void k(int* x) { x[0] = FACTOR; }\n";
  jit::cuda_unit unit;
  unit.name = "k";
  unit.identity = source;
  unit.is_source = true;
  unit.source = [&] { return source; };
  const auto from_disk = [&] { return jit::compile_cuda(std::span(&unit, 1)).at(0).from_disk; };
  cache.write("h.h", "#define FACTOR 3\n");
  CHECK_FALSE(from_disk());
  CHECK(from_disk());
  cache.write("h.h", "#define FACTOR 7\n");
  CHECK_FALSE(jit::load_cuda(unit));
  CHECK_FALSE(from_disk());
  CHECK(from_disk());
  cache.write("h.h", "#if __has_include(\"nothing.h\")\n#endif\n#define FACTOR 7\n");
  CHECK_FALSE(from_disk());
  CHECK_FALSE(from_disk());  // not known, so not kept
}

TEST_CASE("includes of users: functions are other functions when a file has changed") {
  const fresh_cache cache;
  const auto make = [&] {
    jit::user_function f;
    f.name = "f";
    f.preamble = cache.include("h.h");
    f.body = "return 1;";
    return jit::intern(std::move(f));
  };
  cache.write("h.h", "1");
  const auto* first = make();
  CHECK(make() == first);
  cache.write("h.h", "2");
  const auto* second = make();
  CHECK(second != first);
  CHECK(second->symbol != first->symbol);
  CHECK(second->id != first->id);
  cache.write("h.h", "1");
  CHECK(make() == first);
}

TEST_CASE("includes of users: however the directive is written, the file is found") {
  const fresh_cache cache;
  cache.write("h.h", "int seen;\n");
  const std::string h = cache.scratch / "h.h";
  for (const std::string& text :
       {"#include \"" + h + "\"", "  #\tinclude <" + h + ">", "#/**/include/* x */\"" + h + "\"",
        "/* one */ /* two */#include \"" + h + "\"", "/* begins\n ends */ #include \"" + h + "\"",
        "/* begins\n*/ /* again */ /* and again */ #include \"" + h + "\"", "#inc\\\nlude \"" + h + "\"",
        "#include \\\n  \"" + h + "\"", "#include \\ \r\n \"" + h + "\"", "%:include \"" + h + "\"",
        "#import \"" + h + "\"", "int x; // \n#if 0\n#include \"" + h + "\"\n#endif",
        "const char* s = \"/*\";\n#include \"" + h + "\"", "const char* s = R\"(/*)\";\n#include \"" + h + "\""}) {
    CAPTURE(text);
    const auto found = jit::included_by_users(text);
    REQUIRE(found);
    CHECK(found->find("int seen;") != std::string::npos);
  }
  for (const char* text : {"#include NAME", "#include_next <h.h>", "#if 1 && \\\n __has_include(<h.h>)", "#include"}) {
    CAPTURE(text);
    CHECK_FALSE(jit::included_by_users(text));
  }
  for (const char* text : {"", "int x;", "# define X 1\n#undef X\n", "#include <math.h>\n"}) {
    CAPTURE(text);
    CHECK(jit::included_by_users(text) == std::optional<std::string>(""));
  }
}

TEST_CASE("includes of users: folders that the compiler's variables name are looked into") {
  const fresh_cache cache;
  cache.write("found_by_name.h", "int seen;\n");
  CHECK(jit::included_by_users("#include <found_by_name.h>")->find("int seen;") == std::string::npos);
  for (const char* variable : {"CPATH", "CPLUS_INCLUDE_PATH"}) {
    const char* const before = std::getenv(variable);
    const std::string kept = before ? before : "";
    ::setenv(variable, ("/nowhere:" + cache.scratch.path().string()).c_str(), 1);
    CHECK(jit::included_by_users("#include <found_by_name.h>")->find("int seen;") != std::string::npos);
    before ? ::setenv(variable, kept.c_str(), 1) : ::unsetenv(variable);
  }
}
