// Properties that can be derived from a plan.
#include "graph/plan/plan.hpp"

#include <algorithm>

namespace sinter::graph {

const char* text(cut_reason r) noexcept {
  switch (r) {
    case cut_reason::requested: return "requested";
    case cut_reason::sibling: return "a pending reduction over the same value";
    case cut_reason::reduction: return "a reduction's result, read over another space";
    case cut_reason::write: return "base of a partial write";
    case cut_reason::expensive: return "not cheap, and much smaller than what reads it: computed once";
    case cut_reason::several_views: return "read through several index maps: computed once";
    case cut_reason::not_affine: return "reshaped in a way that no affine map expresses";
    case cut_reason::packed: return "strided, and streamed many times: packed";
    case cut_reason::reused: return "computed before and still held: stored this time";
    case cut_reason::size: return "the kernel would be too large";
    case cut_reason::unfused: return "fusion is off";
    case cut_reason::raw: return "read by index in a user's function";
    case cut_reason::alone: return "a user's function with text around its loop has a kernel of its own";
  }
  return "";
}

int fault_count(const jit::program& code) noexcept {
  const auto n = std::count_if(code.code.begin(), code.code.end(), [](const jit::instr& i) {
    return i.op == jit::opcode::checked_index || (i.op == jit::opcode::power && is_integer(i.type)) ||
           i.op >= jit::opcode::random_gamma;
  });
  return static_cast<int>(n) + (code.flags.check_index ? static_cast<int>(code.calls.size()) : 0);
}

}  // namespace sinter::graph
