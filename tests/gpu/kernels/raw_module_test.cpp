// Modules from files and images on a GPU: cubins, PTX, CUDA C++.
#include <doctest/doctest.h>

#include <fstream>
#include <span>
#include <string>

#include "gpu/gpu.hpp"
#include "gpu/kernels/raw_sources.hpp"
#include "jit/cuda/compile_raw.hpp"
#include "support/scratch_folder.hpp"

namespace sn = sinter;
using sn::ndarray;

namespace {

ndarray ramp(std::int64_t n) { return sn::arange(0, n, 1, {.dtype = sn::float32}); }
bool same(const ndarray& a, const ndarray& b) { return static_cast<bool>(sn::all(a == b)) && a.shape() == b.shape(); }

constexpr const char* ptx = R"(.version 7.8
.target sm_75
.address_size 64

.visible .entry twice(.param .u64 x, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [x];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd4], %f2;
DONE:
  ret;
}
)";

void write(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

int device_arch() { return sn::raw_kernel(raw_test::axpy, "axpy").attributes().binary_version; }

std::string cubin_for(int arch) {
  sinter::jit::raw_program p;
  p.source = raw_test::axpy;
  p.arch = arch;
  const auto b = sinter::jit::compile_raw(p);
  return {b.bytes.begin(), b.bytes.end()};
}

void check_axpy(const sn::raw_module& m) {
  const ndarray x = ramp(1000), y = ramp(1000) * 2.0;
  m.get("axpy")({.grid = 4, .block = 256}, 3.0f, x, y, 1000);
  CHECK(same(y, ramp(1000) * 5.0));
}

}  // namespace

TEST_CASE("raw module on a GPU: a cubin, from memory and from a file") {
  if (gpu_test::no_gpu() || gpu_test::no_nvrtc()) return;
  const std::string cubin = cubin_for(device_arch());
  const sn::raw_module m = sn::raw_module::from_binary(std::as_bytes(std::span(cubin)));
  check_axpy(m);
  // Only the sizes of its parameters are known.
  const ndarray x = ramp(8);
  CHECK_THROWS_AS(m.get("axpy")({.grid = 1, .block = 1}, 3.0f, x, x), sn::value_error);
  CHECK_THROWS_AS(m.get("axpy")({.grid = 1, .block = 1}, 3.0, x, x, 8), sn::dtype_error);
  CHECK_THROWS_AS(m.get("other")({.grid = 1, .block = 1}), sn::value_error);
  const sinter_test::scratch_folder scratch;
  write(scratch / "axpy.bin", cubin);
  check_axpy(sn::raw_module::from_file(scratch / "axpy.bin"));
}

TEST_CASE("raw module on a GPU: a cubin for another GPU is refused in words") {
  if (gpu_test::no_gpu() || gpu_test::no_nvrtc()) return;
  const std::string cubin = cubin_for(device_arch() < 80 ? 90 : 75);
  const sn::raw_module m = sn::raw_module::from_binary(std::as_bytes(std::span(cubin)));
  const ndarray x = ramp(8);
  std::string text;
  try {
    m.get("axpy")({.grid = 1, .block = 32}, 3.0f, x, x, 8);
  } catch (const sn::device_error& e) {
    text = e.what();
  }
  CHECK(text.find("holds no code that a GPU of compute capability") != std::string::npos);
  CHECK(same(x, ramp(8)));
}

TEST_CASE("raw module on a GPU: PTX, from text, from memory and from a file") {
  if (gpu_test::no_gpu()) return;
  const sinter_test::scratch_folder scratch;
  write(scratch / "twice.ptx", ptx);
  const std::string text = ptx;
  const sn::raw_kernel kernels[] = {sn::raw_kernel(ptx, "twice"),
                                    sn::raw_module::from_binary(std::as_bytes(std::span(text))).get("twice"),
                                    sn::raw_module::from_file(scratch / "twice.ptx").get("twice")};
  const ndarray x = ramp(300);
  for (const sn::raw_kernel& k : kernels) k({.grid = 3, .block = 128}, x, 300u);
  CHECK(same(x, ramp(300) * 8.0));
  const sn::raw_kernel broken(".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n  nonsense;\n}\n",
                              "k");
  CHECK_THROWS_AS(broken({.grid = 1, .block = 1}), sn::compile_error);
  CHECK(same(x, ramp(300) * 8.0));
}

TEST_CASE("raw module on a GPU: options that ask for PTX") {
  if (gpu_test::no_gpu() || gpu_test::no_nvrtc()) return;
  // The driver may be older than the compiler: then it says so.
  const sn::raw_kernel k(raw_test::axpy, "axpy", {.options = {"--gpu-architecture=compute_75"}});
  const ndarray x = ramp(1000), y = ramp(1000);
  try {
    k({.grid = 4, .block = 256}, 1.0f, x, y, 1000);
    CHECK(same(y, ramp(1000) * 2.0));
  } catch (const sn::compile_error& e) {
    CHECK(std::string(e.what()).find("the driver cannot compile the PTX") != std::string::npos);
  }
}

TEST_CASE("raw module on a GPU: CUDA C++ from a file, with a header beside it") {
  if (gpu_test::no_gpu() || gpu_test::no_nvrtc()) return;
  const sinter_test::scratch_folder scratch;
  write(scratch / "factor.h", "#define FACTOR 7\n");
  write(scratch / "k.cu",
        "#include \"factor.h\"\nnamespace my { __global__ void times(float* x, int n) {\n"
        "  int i = threadIdx.x; if (i < n) x[i] *= FACTOR * N; } }\n");
  const sn::raw_module m = sn::raw_module::from_file(scratch / "k.cu", {.options = {"-DN=2"}});
  const ndarray x = ramp(64);
  m.get("my::times")({.grid = 1, .block = 64}, x, 64);
  CHECK(same(x, ramp(64) * 14.0));
  write(scratch / "broken.cu", "\n\nnonsense\n");
  std::string text;
  try {
    sn::raw_module::from_file(scratch / "broken.cu").get("k").attributes();
  } catch (const sn::compile_error& e) {
    text = e.what();
  }
  CHECK(text.find(scratch / "broken.cu" + "(3): error") != std::string::npos);
}
