// CUDA kernels of users' functions with text around the loop: each thread runs that text once, before and after a
// grid-stride loop over its elements. The body is a lambda inside the kernel, in which the variables of the text before
// the loop are visible.
#include <algorithm>

#include "jit/cuda/emit_body.hpp"
#include "jit/prelude_text.hpp"

namespace sinter::jit::cuda {
namespace {

/// The function `element_at`: everything about one element except the user's body. The user's names are not visible in
/// it.
std::string define_element(const program& p, const cuda_variant& v) {
  phase element = make_phase(p, v, "element", instructions(0, p.code.size()), registers_of(p.outputs));
  element.quick = false;  // called for one element
  text t;
  t(define(p, element));
  t("template <class Body>");
  t("__device__ __forceinline__ void element_at(const args& a, long long at, const Body& sn_body) {");
  t("  const I position = (I)at;");
  t(decompose("position", 0, v.rank, "c", "  "));
  t(call_once(
      element,
      [&](char kind, int k) -> argument {
        if (kind == 'c') return {k < v.rank ? "c" + num(k) : std::string("at"), ""};
        const std::string at = "a.p" + num(k) + " + (" + offset("s", k, 0, v.rank, "c") + ")";
        return {is_gathered(p, k) ? at : widened(p.inputs[static_cast<std::size_t>(k)].type, "*(" + at + ")"), ""};
      },
      "  "));
  for (std::size_t k = 0; k < p.outputs.size(); ++k)
    t("  a.w", static_cast<int>(k), "[", offset("t", static_cast<int>(k), 0, v.rank, "c"),
      "] = ", narrowed(p.outputs[k].type, "out.r" + num(p.outputs[k].reg)), ";");
  t("}");
  return t.str();
}

/// Parameters that are constant for the whole kernel, as variables for the text around the loop: arrays that are read
/// or written by index, and numbers.
std::string kernel_wide(const program& p, const user_call& c) {
  const user_function& f = *c.function;
  text t;
  std::size_t operand = 0;
  for (const user_parameter& in : f.inputs) {
    const std::uint16_t r = c.operands[operand];
    if (in.raw) t("  const auto ", in.name, " = ", whole_array(p, c, operand, "sn_args"), ";");
    else if (p.code[r].op == opcode::param)
      t("  const ", register_type(in.type), " ", in.name, " = ", launch_value(p, r, "sn_args"), ";");
    ++operand;
  }
  for (const user_parameter& out : f.outputs)
    if (out.raw) t("  const auto ", out.name, " = ", whole_array(p, c, operand++, "sn_args"), ";");
  return t.str();
}

}  // namespace

std::string emit_stride_loop(const program& p, const cuda_variant& v) {
  const auto with_text = [](const user_call& c) { return c.function->has_loop_text(); };
  const user_call& call = *std::find_if(p.calls.begin(), p.calls.end(), with_text);
  const user_function& f = *call.function;
  const std::string name = cuda_kernel_name(p, v), space = "::" + name + "_::";
  text t;
  t(open_kernel(p, v));
  t(define_element(p, v));
  t(close_kernel());
  t(open_scope(f));
  t("extern \"C\" __global__ void __launch_bounds__(", cuda_block, ") ", name, "(const __grid_constant__ ", space,
    "args sn_args) {");
  t(kernel_wide(p, call));
  t("  {");
  t(numbered(f, "loop_prep", f.loop_prep));
  t("  auto sn_body = ", body_lambda(f), ";");
  t("#pragma unroll 1");
  t("  for (long long sn_at = (long long)blockIdx.x * ", cuda_block, " + threadIdx.x; sn_at < sn_args.n;");
  t("       sn_at += (long long)gridDim.x * ", cuda_block, ")");
  t("    ", space, "element_at(sn_args, sn_at, sn_body);");
  t(numbered(f, "after_loop", f.after_loop));
  t("  }");
  t("}");
  t(close_scope(f));
  return t.str();
}

}  // namespace sinter::jit::cuda
