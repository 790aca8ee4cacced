// Text that all kernel shapes share: heads, lanes of inputs, steps of accumulators.
#include "jit/cuda/emit_body.hpp"
#include "jit/prelude_text.hpp"

namespace sinter::jit::cuda {

std::string kernel_head(const program& p, const cuda_variant& v, int threads, const char* suffix) {
  text t;
  t("extern \"C\" __global__ void __launch_bounds__(", threads, ") ", cuda_kernel_name(p, v), suffix,
    "(const __grid_constant__ args a) {");
  return t.str();
}

std::string shared_memory(int bytes) {
  text t;
  t("  __shared__ __align__(16) unsigned char shared[", bytes, "];");
  return t.str();
}

std::string lane_values(const program& p, int k, int lanes, const std::string& stored, const std::string& indent) {
  const dtype type = p.inputs[static_cast<std::size_t>(k)].type;
  text t;
  t(indent, register_type(type), " z", k, "[", lanes, "];");
  t("#pragma unroll");
  t(indent, "for (int l = 0; l < ", lanes, "; ++l) z", k, "[l] = ", widened(type, stored), ";");
  return t.str();
}

std::string accumulate(const program& p, const std::string& acc, int lanes, const std::string& indent) {
  text t;
  for (std::size_t j = 0; j < p.reductions.size(); ++j)
    t(indent, acc, ".a", static_cast<int>(j), lanes == 1 ? ".step(x" : ".step4(x", p.reductions[j].reg,
      lanes == 1 ? "[0]" : "", ", r0);");
  return t.str();
}

}  // namespace sinter::jit::cuda
