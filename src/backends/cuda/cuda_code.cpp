// The kernels that a device holds: looked up by program and variant, compiled by NVRTC on a miss.
#include "backends/cuda/cuda_code.hpp"

#include <algorithm>
#include <mutex>

#include "backends/cuda/cuda_driver.hpp"
#include "backends/cuda/cuda_error.hpp"
#include "jit/compile.hpp"
#include "jit/emit_user.hpp"
#include "jit/user_error.hpp"
#include "sinter/error.hpp"

namespace sinter::cuda {
namespace {

void append_key(const jit::program& p, const jit::cuda_variant& v, std::string& key) {
  p.append_key(key);
  const char head[] = {static_cast<char>(v.shape),  static_cast<char>(v.rank),       static_cast<char>(v.kept),
                       static_cast<char>(v.vector), static_cast<char>(v.wide_index), static_cast<char>(v.skip_tail)};
  key.append(head, sizeof head);
  auto bytes = [&](const auto& list) { key.append(reinterpret_cast<const char*>(list.data()), list.size()); };
  bytes(v.inputs);
  bytes(v.outputs);
  bytes(v.row_only);
}

/// Compiles the modules; where users' text is to blame the message is about that text.
std::vector<jit::cubin> compile_modules(const std::vector<jit::cuda_unit>& units,
                                        const std::vector<const jit::program*>& programs) {
  try {
    return jit::compile_cuda(units);
  } catch (const jit::compiler_failure& failure) {
    const auto calls = [](const jit::program* p) { return jit::calls_users(*p); };
    if (std::none_of(programs.begin(), programs.end(), calls)) throw;
    throw compile_error(jit::user_failure_text(programs, failure));
  }
}

CUfunction function_of(cudaLibrary_t library, const std::string& name) {
  static const auto get = reinterpret_cast<decltype(&cuKernelGetFunction)>(driver_function("cuKernelGetFunction"));
  cudaKernel_t kernel = nullptr;
  check(cudaLibraryGetKernel(&kernel, library, name.c_str()), "cudaLibraryGetKernel");
  CUfunction f = nullptr;
  check_driver(get(&f, reinterpret_cast<CUkernel>(kernel)), "cuKernelGetFunction");
  return f;
}

}  // namespace

void launch_kernel(CUfunction f, const grid& g, void** arguments, cudaStream_t stream) {
  static const auto launch = reinterpret_cast<decltype(&cuLaunchKernel)>(driver_function("cuLaunchKernel"));
  check_driver(launch(f, g.x, g.y, g.z, g.block_x, g.block_y, 1, 0, stream, arguments, nullptr), "cuLaunchKernel");
}

std::string source_of(const jit::program& p, const jit::cuda_variant& v) {
  return jit::cuda_prelude({&p}) + jit::emit_cuda(p, v);
}

const kernel* kernel_table::look_up(std::string_view key) const {
  const std::shared_lock lock(mutex_);
  const auto found = kernels_.find(key);
  return found == kernels_.end() ? nullptr : found->second.get();
}

void kernel_table::find(std::span<const runtime::launch> launches, std::span<const kernel*> results) {
  thread_local jit::cuda_variant variant;
  thread_local std::string key;
  std::vector<miss> misses;
  std::vector<std::size_t> miss_of;  // the miss of each launch that has one
  for (std::size_t k = 0; k < launches.size(); ++k) {
    const runtime::launch& l = launches[k];
    classify(l, variant);
    if (parameter_bytes(l, variant) > parameter_capacity)
      throw compile_error("[cuda] a kernel with " + std::to_string(l.inputs.size()) + " inputs of rank " +
                          std::to_string(l.extents.size()) + " has more parameters than a launch can carry");
    key.clear();
    append_key(*l.code, variant, key);
    results[k] = look_up(key);
    if (results[k]) continue;
    auto same = std::find_if(misses.begin(), misses.end(), [&](const miss& m) { return m.key == key; });
    if (miss_of.empty()) miss_of.assign(launches.size(), 0);
    miss_of[k] = static_cast<std::size_t>(same - misses.begin());
    if (same == misses.end()) misses.push_back({key, l.code, variant, nullptr});
  }
  if (misses.empty()) return;
  compile(misses);
  for (std::size_t k = 0; k < launches.size(); ++k)
    if (!results[k]) results[k] = misses[miss_of[k]].found;
}

void kernel_table::compile(std::vector<miss>& misses) {
  std::vector<jit::cuda_unit> units;
  std::vector<const jit::program*> programs;
  for (const miss& m : misses) {
    programs.push_back(m.code);
    units.push_back({source_of(*m.code, m.variant),
                     {.arch = arch_,
                      .fast_math = m.code->flags.fast_math,
                      .fast_compile = m.variant.shape == jit::cuda_shape::broadcast_rows}});
  }
  const std::vector<jit::cubin> binaries = compile_modules(units, programs);
  for (std::size_t k = 0; k < misses.size(); ++k) misses[k].found = load(misses[k], binaries[k]);
}

const kernel* kernel_table::load(const miss& m, const jit::cubin& binary) {
  ++(binary.from_disk ? disk_hits_ : compilations_);
  cudaLibrary_t library = nullptr;
  check(cudaLibraryLoadData(&library, binary.bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "cudaLibraryLoadData");
  auto loaded = std::make_unique<kernel>();
  const std::string name = jit::cuda_kernel_name(*m.code, m.variant);
  loaded->main = function_of(library, name);
  if (jit::cuda_has_second_stage(m.variant)) loaded->second = function_of(library, name + "_2");
  loaded->variant = m.variant;
  const std::unique_lock lock(mutex_);
  return kernels_.try_emplace(m.key, std::move(loaded)).first->second.get();
}

}  // namespace sinter::cuda
