// Compilation of kernels that users write: NVRTC needs no GPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "gpu/kernels/raw_sources.hpp"
#include "jit/cuda/compile_raw.hpp"
#include "jit/cuda/nvrtc.hpp"
#include "jit/program/include_scan.hpp"
#include "ops/raw/signature.hpp"
#include "runtime/device_image.hpp"
#include "sinter/error.hpp"
#include "support/fresh_cache.hpp"

namespace jit = sinter::jit;
namespace runtime = sinter::runtime;
using sinter_test::fresh_cache;
using sinter_test::no_nvrtc;

namespace {

jit::raw_program program(std::string source, int arch = 90) {
  jit::raw_program p;
  p.source = std::move(source);
  p.arch = arch;
  return p;
}

std::string_view text_of(const jit::raw_binary& b) { return {b.bytes.data(), b.bytes.size()}; }

bool holds(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::string error_of(const jit::raw_program& p) {
  try {
    jit::compile_raw(p);
  } catch (const sinter::compile_error& e) {
    return e.what();
  }
  return "";
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace

TEST_CASE("raw compile: every kernel of the GPU tests compiles for sm_75 and sm_90") {
  if (no_nvrtc()) return;
  for (const int arch : {75, 90}) {
    CAPTURE(arch);
    for (const char* source :
         {raw_test::axpy, raw_test::variables, raw_test::shared, raw_test::strides, raw_test::types}) {
      const auto b = jit::compile_raw(program(source, arch));
      CHECK(runtime::image_kind_of(text_of(b)) == runtime::image_kind::cubin);
    }
    jit::raw_program p = program(raw_test::templates, arch);
    p.names = {"scale<float, 1>", "scale<double,2>", "my::shift"};
    CHECK(jit::compile_raw(p).names.size() == 3);
  }
  CHECK(jit::compile_raw(program(raw_test::grid_sync)).bytes.size() > 0);
  CHECK(jit::compile_raw(program(raw_test::cluster)).bytes.size() > 0);
}

TEST_CASE("raw compile: name expressions come with their names in the code, also from the disk") {
  if (no_nvrtc()) return;
  const fresh_cache cache;
  jit::raw_program p = program(raw_test::templates);
  p.names = {"scale<float, 1>", "my::shift"};
  const auto first = jit::compile_raw(p), second = jit::compile_raw(p);
  CHECK_FALSE(first.from_disk);
  CHECK(second.from_disk);
  CHECK(second.bytes == first.bytes);
  CHECK(second.names == first.names);
  REQUIRE(first.names.size() == 2);
  CHECK(first.names[0].first == "scale<float, 1>");
  CHECK(sinter::ops::demangle(first.names[0].second) == "void scale<float, 1>(float*, float, long long)");
  CHECK(first.names[1].second == "_ZN2my5shiftEPddj");
  p.names.pop_back();
  CHECK_FALSE(jit::compile_raw(p).from_disk);
}

TEST_CASE("raw compile: kernels and variables of a cubin and of PTX are listed") {
  if (no_nvrtc()) return;
  jit::raw_program p = program(raw_test::variables);
  for (const bool ptx : {false, true}) {
    CAPTURE(ptx);
    if (ptx) p.options = {"--gpu-architecture=compute_90"};
    const auto b = jit::compile_raw(p);
    CHECK(runtime::image_kind_of(text_of(b)) == (ptx ? runtime::image_kind::ptx : runtime::image_kind::cubin));
    const auto symbols = runtime::symbols_of(text_of(b));
    REQUIRE(symbols);
    CHECK(symbols->kernels == std::vector<std::string>{"look_up"});
    CHECK(symbols->variables.size() == 4);
    for (const char* name : {"_ZN2my5tableE", "where", "counter", "flags"}) CHECK(holds(symbols->variables, name));
  }
}

TEST_CASE("raw compile: an image that is none, or is cut off, is no image") {
  CHECK(runtime::image_kind_of("") == runtime::image_kind::none);
  CHECK(runtime::image_kind_of("__global__ void k() {}") == runtime::image_kind::none);
  CHECK(runtime::image_kind_of("// comment\n /* more */ .version 8.0\n.target sm_90\n") == runtime::image_kind::ptx);
  CHECK(runtime::image_kind_of(std::string("\x50\xed\x55\xba\x01\x00", 6)) == runtime::image_kind::fatbin);
  CHECK(runtime::image_kind_of(std::string("\x7f") + "ELF" + std::string(100, '\0')) == runtime::image_kind::none);
  CHECK_FALSE(runtime::symbols_of("no image"));
  if (no_nvrtc()) return;
  const auto b = jit::compile_raw(program(raw_test::axpy));
  for (std::size_t n = 0; n < b.bytes.size(); n += 97) {
    const auto symbols = runtime::symbols_of(text_of(b).substr(0, n));  // must not read beyond the end
    if (symbols) CHECK(symbols->kernels.size() <= 1);
  }
}

TEST_CASE("raw compile: errors speak of the user's lines and show no others") {
  if (no_nvrtc()) return;
  const fresh_cache cache;
  const std::string text =
      error_of(program("// first line\nextern \"C\" __global__ void k(float* x) {\n  x[0] = wrong;\n}\n"));
  CHECK(text.find("kernel.cu(3): error: identifier \"wrong\" is undefined") != std::string::npos);
  CHECK(text.find("   1  // first line\n") != std::string::npos);
  CHECK(text.find("   3    x[0] = wrong;\n") != std::string::npos);
  CHECK(text.find("strided") == std::string::npos);
  CHECK(text.find("--gpu-architecture=sm_90a") != std::string::npos);
}

TEST_CASE("raw compile: the user's options come first, and are part of the key") {
  if (no_nvrtc()) return;
  const fresh_cache cache;
  const std::string source =
      "extern \"C\" __global__ void k(float* x) {\n#if N != 4 || __cplusplus < 202002L\n#error no\n#endif\n x[0] = N; "
      "}";
  jit::raw_program p = program(source);
  CHECK(error_of(p).find("kernel.cu(3): ") != std::string::npos);
  CHECK(error_of(p).find("#error directive: no") != std::string::npos);
  p.options = {"-DN=4", "-std=c++20"};
  CHECK(jit::compile_raw(p).bytes.size() > 0);
  p.options[0] = "-DN=5";
  CHECK(error_of(p) != "");
  p.options = {"--no-such-option"};
  CHECK(error_of(p).find("--no-such-option") != std::string::npos);

  jit::raw_program q = program("extern \"C\" __global__ void k(float* x) { x[0] = sinf(x[1]) * x[2] + x[3]; }");
  const auto precise = jit::compile_raw(q);
  q.fast_math = true;
  const auto fast = jit::compile_raw(q);
  CHECK_FALSE(fast.from_disk);
  CHECK(fast.bytes.size() < precise.bytes.size());
}

TEST_CASE("raw compile: sinter::strided demands one index for each axis") {
  if (no_nvrtc()) return;
  const std::string text = error_of(program("__global__ void k(sinter::strided<float, 2> x) { x(1) = 2; }"));
  CHECK(text.find("sinter::strided takes one index for each axis") != std::string::npos);
}

TEST_CASE("raw compile: a header that changes is compiled again") {
  if (no_nvrtc()) return;
  const fresh_cache cache;
  const sinter_test::scratch_folder scratch;
  write(scratch / "outer.h", "#pragma once\n#include \"inner.h\"\n");
  write(scratch / "inner.h", "#define VALUE 1\n");
  jit::raw_program p = program("#include <outer.h>\nextern \"C\" __global__ void k(int* x) { x[0] = VALUE; }");
  p.options = {"-I" + scratch.path().string()};
  const auto one = jit::compile_raw(p);
  CHECK(jit::compile_raw(p).from_disk);
  write(scratch / "inner.h", "#define VALUE 2\n");
  const auto two = jit::compile_raw(p);
  CHECK_FALSE(two.from_disk);
  CHECK(two.bytes != one.bytes);
  p.source = "#define NAME \"outer.h\"\n#include NAME\nextern \"C\" __global__ void k(int* x) { x[0] = VALUE; }";
  CHECK_FALSE(jit::compile_raw(p).from_disk);
  CHECK_FALSE(jit::compile_raw(p).from_disk);  // the value of NAME is unknown
}

TEST_CASE("raw compile: a file names itself in errors and finds headers beside it") {
  if (no_nvrtc()) return;
  const fresh_cache cache;
  const sinter_test::scratch_folder scratch;
  write(scratch / "beside.h", "#define VALUE 1\n");
  jit::raw_program p = program("#include \"beside.h\"\nextern \"C\" __global__ void k(int* x) { x[0] = VALUE; }");
  p.file = scratch / "k.cu";
  CHECK(jit::compile_raw(p).bytes.size() > 0);
  CHECK(jit::compile_raw(p).from_disk);
  p.source += "\nwrong\n";
  CHECK(error_of(p).find(scratch / "k.cu" + "(3): error") != std::string::npos);
}

TEST_CASE("raw compile: which files a source includes") {
  const sinter_test::scratch_folder scratch;
  write(scratch / "a.h", "#include \"b.h\"\n");
  write(scratch / "b.h", "#include \"a.h\"\nint b;\n");
  const auto all = jit::included_text("  #  include <a.h>\n", ".", {scratch.path().string()}, {});
  REQUIRE(all);
  CHECK(all->find("int b;") != std::string::npos);
  CHECK(jit::included_text("int x;\n", ".", {}, {}) == std::optional<std::string>(""));
  CHECK(jit::included_text("#include <a.h>\n", ".", {}, {scratch.path().string()}) == std::optional<std::string>(""));
  CHECK(jit::included_text("#include <nowhere.h>", ".", {}, {})->find("nowhere.h") != std::string::npos);
  CHECK(jit::included_text("#include \"a.h\"", scratch.path().string(), {}, {})->find("int b;") != std::string::npos);
  CHECK(jit::included_text("#include \"" + (scratch / "a.h") + "\"", "/", {}, {})->find("int b;") != std::string::npos);
  CHECK_FALSE(jit::included_text("#include MACRO\n", ".", {}, {}));
  CHECK_FALSE(jit::included_text("#if __has_include(<a.h>)\n", ".", {}, {}));

  const auto found = jit::include_options_of({"-I/a", "-I", "/b", "--include-path=/c", "--include-path", "/d", "-DX",
                                              "-include=e.h", "--pre-include", "f.h", "-I /g"});
  CHECK(found.folders == std::vector<std::string>{"/a", "/b", "/c", "/d", "/g"});
  CHECK(found.files == std::vector<std::string>{"e.h", "f.h"});
  CHECK(jit::has_option({"-std=c++20"}, "--std", "-std"));
  CHECK(jit::has_option({"--std", "c++20"}, "--std", "-std"));
  CHECK_FALSE(jit::has_option({"-stdx"}, "--std", "-std"));
}
