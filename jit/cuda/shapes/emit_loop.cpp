// CUDA kernels of users' functions with text around the loop: each thread runs that text once, before and after a
// grid-stride loop over its elements. The body is a lambda inside the kernel, in which the variables of the text before
// the loop are visible.
#include <algorithm>

#include "jit/cuda/emit_kernel.hpp"

namespace sinter::jit::cuda {
namespace {

class loop_writer : kernel_writer {
 public:
  loop_writer(const program& p, const cuda_variant& v)
      : kernel_writer(p, v),
        call_(*std::find_if(p.calls.begin(), p.calls.end(), [](auto& c) { return c.function->has_loop_text(); })) {}

  std::string run() {
    const user_function& f = *call_.function;
    const std::string name = cuda_kernel_name(p_, v_), space = "::" + name + "_::", block = num(cuda_block);
    define_element();
    t_("}");
    t_.add(open_scope(f));
    t_("extern \"C\" __global__ void __launch_bounds__(", block, ") ", name, "(const __grid_constant__ ", space,
       "args sn_args) {");
    kernel_wide();
    t_("{");
    t_.add(numbered(f, "loop_prep", f.loop_prep) + "\nauto sn_body = " + body_lambda(f) + ";\n");
    t_("#pragma unroll 1");
    t_("for (long long sn_at = (long long)blockIdx.x * ", block, " + threadIdx.x; sn_at < sn_args.n;");
    t_("     sn_at += (long long)gridDim.x * ", block, ")");
    t_("  ", space, "element_at(sn_args, sn_at, sn_body);");
    t_.add(numbered(f, "after_loop", f.after_loop) + "\n");
    t_("}");
    t_("}");
    t_.add(close_scope(f));
    return t_.str();
  }

 private:
  /// The function `element_at`: everything about one element except the user's body. The user's names are not visible in
  /// it.
  void define_element() {
    phase element = make_phase(p_, v_, "element", instructions(0, p_.code.size()), registers_of(p_.outputs));
    element.runs_once();  // called for one element
    open({&element});
    t_("template <class Body>");
    t_.scope("__device__ __forceinline__ void element_at(const args& a, long long at, const Body& sn_body)", [&] {
      t_("const I position = (I)at;");
      decompose(t_, "position", 0, v_.rank, "k");
      one_element({.element = element,
                   .address = [this](int k) { return address(k); },
                   .coordinate = [this](int j) { return j < v_.rank ? "k" + num(j) : std::string("at"); },
                   .place = [this](int k) { return "a.w" + num(k) + "[" + offset("t", k, 0, v_.rank, "k") + "]"; }});
    });
  }

  /// Parameters that are constant for the whole kernel, as variables for the text around the loop: arrays that are read
  /// or written by index, and numbers.
  void kernel_wide() {
    const user_function& f = *call_.function;
    std::size_t operand = 0;
    for (const user_parameter& in : f.inputs) {
      const std::uint16_t r = call_.operands[operand];
      if (in.raw) t_("const auto ", in.name, " = ", whole_array(p_, call_, operand, "sn_args"), ";");
      else if (p_.code[r].op == opcode::param)
        t_("const ", register_type(in.type), " ", in.name, " = ", launch_value(p_, r, "sn_args"), ";");
      ++operand;
    }
    for (const user_parameter& out : f.outputs)
      if (out.raw) t_("const auto ", out.name, " = ", whole_array(p_, call_, operand++, "sn_args"), ";");
  }

  const user_call& call_;
};

}  // namespace

std::string emit_stride_loop(const program& p, const cuda_variant& v) { return loop_writer(p, v).run(); }

}  // namespace sinter::jit::cuda
