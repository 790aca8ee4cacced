// Kernels of special functions: NVRTC compiles them, and beside users' text they bring only what they need.
#include <doctest/doctest.h>

#include <string>

#include "jit/cuda/emit.hpp"
#include "jit/cuda/nvrtc.hpp"

using namespace sinter;
using jit::opcode;
using jit::program;

namespace {

/// A kernel of one operation over arrays of a dtype.
program of(opcode op, dtype type) {
  program p;
  const int operands = jit::operand_count(op);
  for (int k = 0; k < operands; ++k) {
    p.inputs.push_back({type, 0, {0, 0}});
    p.code.push_back({opcode::load, type, type, 0, static_cast<std::uint16_t>(k), 0, 0, 0});
  }
  p.code.push_back({op, type, type, 0, 0, 1, 2, 0});
  p.outputs.push_back({type, 0, static_cast<std::uint16_t>(operands)});
  p.epilogue = static_cast<std::uint16_t>(p.code.size());
  return p;
}

std::string module_of(const program& p) {
  jit::cuda_variant v;
  v.vector = 2;
  v.inputs.assign(p.inputs.size(), jit::access::linear);
  v.outputs.assign(1, jit::access::linear);
  return jit::cuda_module({&p}, jit::emit_cuda(p, v));
}

}  // namespace

TEST_CASE("CUDA kernels of special functions compile, for both dtypes") {
  std::string why_not;
  if (!jit::nvrtc_available(&why_not)) {
    MESSAGE("left out: " << why_not);
    return;
  }
  for (const opcode op : {opcode::erf,
                          opcode::ndtri,
                          opcode::gammaln,
                          opcode::digamma,
                          opcode::gamma,
                          opcode::expit,
                          opcode::kl_div,
                          opcode::y1,
                          opcode::cosine_integral,
                          opcode::gammainc,
                          opcode::beta,
                          opcode::fdtr,
                          opcode::betaincinv,
                          opcode::gammaincinv,
                          opcode::polygamma,
                          opcode::riemann_zeta,
                          opcode::expn,
                          opcode::loggamma_real,
                          opcode::lambertw_imag,
                          opcode::lpmv,
                          opcode::sph_legendre,
                          opcode::jv})
    for (const dtype type : {dtype::f32, dtype::f64}) {
      CAPTURE(jit::name(op));
      CHECK_NOTHROW(jit::compile_cuda(module_of(of(op, type)), {.arch = 90}));
    }
}

TEST_CASE("a kernel of a special function holds its text and not those of other functions") {
  const std::string text = module_of(of(opcode::erf, dtype::f32));
  CHECK(text.find("sf_erfcx_large(V x)") != std::string::npos);
  CHECK(text.find("sf_gamma") == std::string::npos);
  program p = of(opcode::erf, dtype::f32);
  jit::user_function f;
  f.name = "twice";
  f.body = "return x + x;";
  f.returns = true;
  f.inputs = {{.name = "x", .type = dtype::f32, .opaque = {}}};
  f.outputs = {{.name = "y", .type = dtype::f32, .opaque = {}}};
  p.calls.push_back({jit::intern(f), {1}});
  p.code.push_back({opcode::user, dtype::f32, dtype::f32, 0, 0, 0, 0, 0});
  p.outputs[0].reg = 2;
  p.epilogue = 3;
  const std::string beside = module_of(p);
  CHECK(beside.find("sf_erfcx_large(V x)") != std::string::npos);
  CHECK(beside.find("sf_gamma") == std::string::npos);
  if (jit::nvrtc_available(nullptr)) CHECK_NOTHROW(jit::compile_cuda(beside, {.arch = 90}));
}

TEST_CASE("kernels of long functions call the pieces that stand in many places, those of short ones hold them inline") {
  const auto pieces = [](opcode op) {
    const std::string text = module_of(of(op, dtype::f64));
    const std::size_t at = text.find("#define SN_PIECE ");
    REQUIRE(at != std::string::npos);
    return text.substr(at + 17, text.find('\n', at) - at - 17);
  };
  CHECK(pieces(opcode::erf) == "SN_FN");
  CHECK(pieces(opcode::gammaln) == "SN_FN");
  for (const opcode op : {opcode::betainc, opcode::fdtri, opcode::gammaincinv, opcode::jv, opcode::lambertw_real})
    CHECK(pieces(op) == "SN_SHARED");
  if (!jit::nvrtc_available(nullptr)) return;
  // Bytes of code, a quarter above what CUDA 13.0 gives; what a compilation takes follows them.
  const auto size = [](opcode op) {
    return jit::compile_cuda(module_of(of(op, dtype::f64)), {.arch = 90}).bytes.size();
  };
  CHECK(size(opcode::gammainc) <= 55000);
  CHECK(size(opcode::betainc) <= 80000);
  CHECK(size(opcode::jv) <= 60000);
  CHECK(size(opcode::gammaincinv) <= 86000);
  CHECK(size(opcode::fdtri) <= 118000);
}
