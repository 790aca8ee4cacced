// Properties that can be derived from a plan.
#include "graph/plan/plan.hpp"

#include <algorithm>

namespace sinter::graph {

const char* text(store_reason r) noexcept {
  switch (r) {
    case store_reason::requested: return "requested";
    case store_reason::sibling: return "a pending reduction over the same value";
    case store_reason::reduction: return "a reduction's result, read over another space";
    case store_reason::write: return "base of a partial write";
    case store_reason::expensive: return "not cheap, and much smaller than what reads it: computed once";
    case store_reason::several_views: return "read through several index maps: computed once";
    case store_reason::not_affine: return "reshaped in a way that no affine map expresses";
    case store_reason::packed: return "strided, and streamed many times: packed";
    case store_reason::reused: return "computed before and still held: stored this time";
    case store_reason::shared: return "several kernels need it, and computing it again costs more than storing it";
    case store_reason::held: return "a variable, and expensive to compute again";
    case store_reason::crossing: return "alive where the graph is cut into kernels";
    case store_reason::size: return "the kernel would be too large";
    case store_reason::unfused: return "fusion is off";
    case store_reason::raw: return "read by index in a user's function";
    case store_reason::unfusible: return "a user's function with text around its loop has a kernel of its own";
  }
  return "";
}

jit::scalar value_of(const param_source& s) noexcept {
  if (s.n->kind == node_kind::scalar) return s.n->scalar().constant;
  const random_stream& stream = s.n->random().stream;
  jit::scalar word;
  word.type = dtype::u64;
  word.u = s.word == 0 ? stream.key : s.word == 1 ? stream.block : stream.subsequence;
  return word;
}

int fault_count(const jit::program& code) noexcept {
  const auto n = std::count_if(code.code.begin(), code.code.end(), [](const jit::instr& i) {
    return i.op == jit::opcode::checked_index || (i.op == jit::opcode::power && is_integer(i.type)) ||
           i.op >= jit::opcode::random_gamma;
  });
  return static_cast<int>(n) + (code.flags.check_index ? static_cast<int>(code.calls.size()) : 0);
}

}  // namespace sinter::graph
