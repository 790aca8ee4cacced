// Generated CUDA kernels as functions of this process, which the emulator runs thread by thread.
#pragma once
#include <doctest/doctest.h>

#include "emulated/cuda_as_host.hpp"
#include "emulated/cuda_emulator.hpp"

#ifdef SINTER_HAS_CUDA

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "jit/cpu/compile_host.hpp"
#include "jit/cuda/schedule/choose.hpp"
#include "jit/program/fault_words.hpp"
#include "jit/program/stages.hpp"

namespace emulated {

using namespace sinter;

/// What the kernel's library calls of the emulator, which lives in this program.
struct emulator_calls {
  const cuda_emulator::position* here;
  const cuda_emulator::index3 *block, *grid;
  const void* (*exchange)(unsigned mask, const void* own, std::size_t bytes, int from);
  int (*lane)();
  void (*barrier)();
};

/// The choice that is written as PTX in the prelude.
constexpr const char* choice = R"({
    const bool odd = (quadrant & 1) != 0;
    p = odd ? even : __uint_as_float(0xB94D4153u);
    c = odd ? __uint_as_float(sine_constants[1]) : __uint_as_float(0x3C0885E4u);
    d = odd ? __uint_as_float(sine_constants[2]) : __uint_as_float(0xBE2AAAA8u);
    factor = odd ? 1.0f : y;
  })";

inline void replace(std::string& source, const std::string& begin, const std::string& last, const char* by) {
  const std::size_t at = source.find(begin), end = source.find(last, at);
  if (at == std::string::npos) return;
  REQUIRE(end != std::string::npos);
  source.replace(at, end + last.size() - at, by);
}
/// What is written as PTX in the prelude; and products that a host's GCC might contract: see jit/prelude/base.h.
inline void replace_for_host(std::string& source) {
  replace(source, "asm(\"{", "\"f\"(y));", choice);
  replace(source, "asm(\"rcp.approx.ftz.f32", "\"f\"(x));", "r = approximate_reciprocal(x);");
  replace(source, "asm(\"rcp.approx.ftz.f64", "\"d\"(x));", "r = approximate_reciprocal(x);");
  replace(source, "asm(\"rsqrt.approx.ftz.f32", "\"f\"(x));", "r = approximate_reciprocal_root(x);");
  replace(source, "asm(\"rsqrt.approx.ftz.f64", "\"d\"(x));", "r = approximate_reciprocal_root(x);");
  constexpr const char* kept = "extern __shared__ __align__(16) unsigned char kept[];";
  while (source.find(kept) != std::string::npos)
    replace(source, kept, kept, "static __attribute__((aligned(16))) unsigned char kept[256 << 10];");
#ifndef __clang__
  constexpr const char* plain = "#define SN_ROUNDED(x) (x)";
  replace(source, plain, plain, "#define SN_ROUNDED(x) __builtin_assoc_barrier(x)");
#endif
}

using kernel_call = void (*)(const void* parameters);

/// A kernel, and the one that merges what it leaves.
struct host_kernel {
  void (*main)(const void* parameters) = nullptr;
  void (*second)(const void* parameters) = nullptr;
};

inline std::map<std::string, host_kernel>& host_kernels() {
  static std::map<std::string, host_kernel> known;
  return known;
}

/// Compiles the kernels of one program that are not known yet, together.
inline void compile_kernels(const jit::program& p, const std::vector<jit::cuda_variant>& variants) {
  std::string text, calls;
  std::vector<std::string> functions{"connect"}, names;
  std::set<std::string>
      begun;  // known only when they are compiled: a text that does not compile leaves no kernel behind
  const auto add_call = [&](const std::string& name, const std::string& kernel, const std::string& args) {
    functions.push_back("call" + std::to_string(functions.size()));
    calls += "extern \"C\" void " + functions.back() + "(const void* p) { " + kernel + "(*(const " + args +
             "_::args*)p); }\n";
    names.push_back(name);
  };
  for (const jit::cuda_variant& v : variants) {
    const std::string name = jit::cuda_kernel_name(p, v);
    if (host_kernels().count(name) != 0 || !begun.insert(name).second) continue;
    text += jit::emit_cuda(p, v);
    add_call(name, name, name);
    if (jit::cuda_has_second_stage(v)) add_call(name, name + "_2", name);
  }
  if (names.empty()) return;
  std::string source = jit::cuda_module({&p}, text);
  replace_for_host(source);
  const std::string before = p.calls.empty() ? cuda_as_host : cuda_as_host_for_users();
  const std::vector<void*> found = jit::compile_host(before + source + calls, functions);
  const emulator_calls connected{&cuda_emulator::here,    &cuda_emulator::block_extent, &cuda_emulator::grid_extent,
                                 cuda_emulator::exchange, cuda_emulator::lane,          cuda_emulator::block_barrier};
  reinterpret_cast<void (*)(const emulator_calls*)>(found[0])(&connected);
  for (std::size_t k = 0; k < names.size(); ++k) {
    host_kernel& kernel = host_kernels()[names[k]];
    (kernel.main ? kernel.second : kernel.main) = reinterpret_cast<void (*)(const void*)>(found[k + 1]);
  }
}

using bytes = std::vector<char>;

inline char* begin_of(const jit::launch& l, std::size_t output) {
  return static_cast<char*>(l.outputs[output].base) +
         l.outputs[output].offset * static_cast<std::int64_t>(itemsize(l.code->outputs[output].type));
}

/// The outputs, which the cases here store without gaps.
inline std::vector<bytes> outputs_of(const jit::launch& l) {
  std::vector<bytes> all;
  for (std::size_t k = 0; k < l.outputs.size(); ++k) {
    const bool elements = l.code->kind == jit::kernel_kind::staged && !jit::is_per_row(*l.code, l.code->outputs[k].reg);
    std::int64_t count = 1;
    for (int j = 0; j < (elements ? l.extents.size() : l.kept); ++j) count *= l.extents[j];
    const char* const from = begin_of(l, k);
    all.emplace_back(from, from + count * static_cast<std::int64_t>(itemsize(l.code->outputs[k].type)));
  }
  return all;
}

inline void run_emulated(const jit::launch& l, const jit::cuda_variant& v) {
  alignas(16) std::uint64_t parameters[256];
  const auto layout = jit::cuda_layout(*l.code, v);
  REQUIRE(jit::cuda_layout_bytes(*l.code, layout) <= sizeof parameters);
  constexpr int multiprocessors = 1;
  int fault[jit::fault_words] = {};
  const std::unique_ptr<std::uint64_t[]> scratch(new std::uint64_t[cuda::scratch_bytes(l, v) / 8 + 1]);
  const cuda::call c = cuda::build_call(l, v, layout, multiprocessors, fault, scratch.get(), parameters);
  compile_kernels(*l.code, {v});
  const host_kernel& call = host_kernels()[jit::cuda_kernel_name(*l.code, v)];
  const auto run = [&](const cuda::grid& g, void (*kernel)(const void*)) {
    const std::string failure =
        cuda_emulator::launch({g.x, g.y, g.z}, {g.block_x, g.block_y, 1}, [&] { kernel(parameters); });
    CHECK_MESSAGE(failure.empty(), failure);
  };
  run(c.first, call.main);
  if (c.second_stage) run(c.second, call.second);
  CHECK(fault[0] == 0);
}

inline bool no_emulation() {
  if (!cuda_emulator::available()) {
    MESSAGE("left out: the sanitizer does not follow changes of stack");
    return true;
  }
  if (const auto& compiler = jit::host_compiler::find(); compiler.path.empty()) {
    MESSAGE("left out: " << compiler.reason);
    return true;
  }
  return false;
}

}  // namespace emulated

#endif
