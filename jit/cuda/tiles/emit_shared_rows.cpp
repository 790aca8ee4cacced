// CUDA reductions along rows whose operands vary along the row or between rows, but not both, as forces between all
// pairs do: a thread has its lane of several rows, so that what varies along the rows is loaded once for all of them.
//
// The order of the additions is that of emit_reduce.cpp: a lane's groups in ascending order, then the tree of the lanes.
#include <algorithm>

#include "jit/cuda/emit_body.hpp"
#include "jit/prelude_text.hpp"

namespace sinter::jit::cuda {
namespace {

class shared_rows_emitter {
 public:
  shared_rows_emitter(const program& p, const cuda_variant& v) : p_(p), v_(v), rows_(1 << v.tile.down) {
    element_ = make_phase(p, v, "element", instructions(0, p.epilogue), registers_of(p.reductions));
  }

  std::string run() {
    t_(open_kernel(p_, v_));
    t_(define_accumulators(p_));
    t_(define(p_, element_));
    t_(define_finish(p_, v_));
    t_.add(kernel_head(p_, v_));
    t_.add(shared_memory(cuda_block * cuda_partial_bytes));
    t_("  const int lane = threadIdx.x, threads = blockDim.x;");
    t_("  const long long first = ((long long)blockIdx.x * blockDim.y + threadIdx.y) * ", rows_, ";");
    values();
    t_("  accs acc[", rows_, "];");
    each_row("  ", "acc[v].init();");
    t_("  const I full = (I)(a.elements / ", cuda_group, ");");
    t_("  I g = lane;");
    t_("  for (; g < full; g += threads) {");
    t_("    const I r0 = g * ", cuda_group, ";");
    group();
    t_("  }");
    t_("  if (g == full) {");
    t_("#pragma unroll 1");
    t_("    for (I r0 = full * ", cuda_group, "; r0 < (I)a.elements; ++r0) {");
    elements("      ", 1, [&](int k) { return "b" + num(k) + "[" + place(k, "r0") + "]"; });
    t_("    }");
    t_("  }");
    for (const std::string& statement : merge_rows(p_, "acc[v]")) each_row("  ", statement);
    t_("  if (lane != 0) return;");
    each_row("  ", "if (first + v < a.results) finish(a, (I)(first + v), acc[v]);");
    t_("}");
    return t_.str() + close_kernel();
  }

 private:
  dtype type(int k) const { return p_.inputs[static_cast<std::size_t>(k)].type; }
  const char* storage(int k) const { return storage_type(type(k)); }
  access input_class(int k) const { return v_.inputs[static_cast<std::size_t>(k)]; }
  bool fixed(int k) const { return input_class(k) == access::uniform; }
  std::string place(int k, const std::string& r) const {
    return input_class(k) == access::linear ? r : "(" + r + ") * a.s" + num(k) + "_1";
  }
  void each_row(const std::string& in, const std::string& statement) {
    t_("#pragma unroll");
    t_(in, "for (int v = 0; v < ", rows_, "; ++v) ", statement);
  }

  /// u<k>: the values of the rows; b<k>: inputs that vary along them.
  void values() {
    for (int k : element_.inputs) {
      if (!fixed(k)) {
        t_("  const ", storage(k), "* const b", k, " = a.p", k, ";");
        continue;
      }
      const std::string row = "(I)(first + v < a.results ? first + v : a.results - 1)";
      t_("  ", register_type(type(k)), " u", k, "[", rows_, "];");
      each_row("  ", "u" + num(k) +
                         "[v] = " + widened(type(k), "a.p" + num(k) + "[" + row + " * a.s" + num(k) + "_0]") + ";");
    }
  }

  void group() {
    for (int k : element_.inputs) {
      if (fixed(k)) continue;
      t_("    sn::pack<", storage(k), ", ", cuda_group, "> i", k, ";");
      if (input_class(k) == access::linear) {
        t_("    i", k, " = sn::fetch<", cuda_group, ">(b", k, " + r0);");
        continue;
      }
      t_("#pragma unroll");
      t_("    for (int l = 0; l < ", cuda_group, "; ++l) i", k, ".v[l] = b", k, "[", place(k, "r0 + l"), "];");
    }
    elements("    ", cuda_group, [&](int k) { return "i" + num(k) + ".v[l]"; });
  }

  /// The phase over consecutive elements of each row, and the steps of its accumulators.
  void elements(const std::string& in, int lanes, const std::function<std::string(int)>& stored) {
    for (int k : element_.inputs)
      if (!fixed(k)) t_.add(lane_values(p_, k, lanes, stored(k), in));
    t_("#pragma unroll");
    t_(in, "for (int v = 0; v < ", rows_, "; ++v) {");
    t_(call_group(
        p_, element_, lanes,
        [&](char, int k) -> argument {
          if (fixed(k)) return {"u" + num(k) + "[v]", ""};
          return {"z" + num(k), register_type(type(k))};
        },
        in + "  "));
    t_.add(accumulate(p_, "acc[v]", lanes, in + "  "));
    t_(in, "}");
  }

  const program& p_;
  const cuda_variant& v_;
  int rows_;
  phase element_;
  text t_;
};

}  // namespace

std::string emit_shared_rows(const program& p, const cuda_variant& v) { return shared_rows_emitter(p, v).run(); }

}  // namespace sinter::jit::cuda
