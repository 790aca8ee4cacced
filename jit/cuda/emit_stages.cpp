// CUDA kernels of staged programs: a group of threads for each row, which reads the row once. What later stages need of
// it stays in registers: each thread has a number of groups of four elements that is known when the kernel is compiled.
//
// Groups, their distribution among the threads and the tree over these are those of reductions along rows
// (emit_reduce.cpp), so that sums have the bits that separate kernels would give them.
#include <algorithm>
#include <bit>

#include "jit/cuda/emit_body.hpp"
#include "jit/prelude_text.hpp"
#include "jit/program/stages.hpp"

namespace sinter::jit {
namespace {

int words_of(dtype t) noexcept {
  return t == dtype::f16 || t == dtype::bf16 ? 1 : static_cast<int>((itemsize(t) + 3) / 4);
}

}  // namespace

int cuda_kept(const program& p, int groups) {
  int most = 0;
  for (int s = 0; s + 1 < static_cast<int>(p.stages.size()); ++s) {
    int words = 0;
    for (const int r : kept_after(p, s)) words += words_of(p.code[static_cast<std::size_t>(r)].type);
    most = std::max(most, words);
  }
  return most * groups * cuda_group;
}

namespace cuda {
namespace {

/// Registers for elements that a thread reads before it computes with them.
constexpr int registers_in_flight = 64;
/// Bytes of shared memory of a reduction: an accumulator for each warp.
constexpr int shared_bytes = cuda_block / 32 * cuda_partial_bytes;

class stage_emitter {
 public:
  stage_emitter(const program& p, const cuda_variant& v)
      : p_(p), v_(v), stages_(static_cast<int>(p.stages.size())), multi_(v.rank - v.kept > 1) {
    for (int s = 0; s < stages_; ++s) make_stage(s);
  }

  std::string run() {
    t_(open_kernel(p_, v_));
    for (const parts& s : parts_) {
      if (!s.row.code.empty()) t_(define(p_, s.row));
      if (!s.element.code.empty()) t_(define(p_, s.element));
    }
    kernel_head();
    for (int s = 0; s < stages_; ++s) {
      row_part(s);
      element_part(s);
    }
    t_("}");
    return t_.str() + close_kernel();
  }

 private:
  struct parts {
    phase row, element;
    std::vector<int> kept;  // registers of this stage that later ones read
  };

  dtype type(int input) const { return p_.inputs[static_cast<std::size_t>(input)].type; }
  std::string register_name(int reg) const { return type_of_register(p_, static_cast<std::size_t>(reg)); }
  access input_class(int k) const { return v_.inputs[static_cast<std::size_t>(k)]; }
  bool whole_groups() const { return v_.vector == cuda_group; }

  void make_stage(int s) {
    const stage& bounds = p_.stages[static_cast<std::size_t>(s)];
    const int begin = begin_of_stage(p_, s);
    std::vector<int> rows, elements;
    for (int r = begin; r < bounds.element; ++r)
      if (p_.code[static_cast<std::size_t>(r)].op != opcode::param) rows.push_back(r);
    each_result(p_, s, [&](int r) {
      if (!contains(elements, r)) elements.push_back(r);
    });
    parts made;
    for (const int r : kept_after(p_, s))
      if (r >= begin) made.kept.push_back(r);
    for (const int r : made.kept)
      if (!contains(elements, r)) elements.push_back(r);
    const auto at = [](int k) { return static_cast<std::size_t>(k); };
    made.row = make_phase(p_, v_, "row" + num(s), instructions(at(begin), at(bounds.element)), rows);
    made.row.quick = false;  // runs once for a row
    made.element = make_phase(p_, v_, "element" + num(s), instructions(at(bounds.element), at(bounds.end)), elements);
    // Results that an earlier stage has computed are read where they are kept.
    std::erase_if(made.element.results, [&](int r) { return r < begin; });
    parts_.push_back(std::move(made));
  }

  void kernel_head() {
    t_.add(cuda::kernel_head(p_, v_));
    t_.add(shared_memory(shared_bytes * static_cast<int>(p_.reductions.size())));
    t_("  const int lane = threadIdx.x, threads = blockDim.x;");
    t_("  const long long wanted = (long long)blockIdx.x * blockDim.y + threadIdx.y;");
    t_("  const bool live = wanted < a.results;");
    t_("  const I row = live ? (I)wanted : 0, elements = (I)a.elements;");
    t_(decompose("row", 0, v_.kept, "k", "  "));
    for (std::size_t k = 0; k < p_.inputs.size(); ++k) {
      const int n = static_cast<int>(k);
      t_("  const ", storage_type(type(n)), "* const b", n, " = a.p", n, " + (", offset("s", n, 0, v_.kept, "k"), ");");
    }
    for (std::size_t k = 0; k < p_.outputs.size(); ++k) {
      const int n = static_cast<int>(k);
      t_("  ", storage_type(p_.outputs[k].type), "* const o", n, " = a.w", n, " + (", offset("t", n, 0, v_.kept, "k"),
         ");");
    }
    for (std::size_t j = 0; j < p_.reductions.size(); ++j) {
      const int n = static_cast<int>(j);
      t_("  ", accumulator(p_, n), " a", n, ";");
      t_("  a", n, ".init();");
    }
    for (const parts& s : parts_)
      for (const int r : s.kept) t_("  ", register_name(r), " k_", r, "[", v_.groups, "][", cuda_group, "];");
  }

  // --- once for a row

  void row_part(int s) {
    const phase& f = parts_[static_cast<std::size_t>(s)].row;
    if (!f.code.empty()) {
      t_("  ", f.name, "_out q", s, ";");
      t_("  {");
      t_(call_once(
          f, [this](char kind, int k) { return row_value(kind, k); }, "    "));
      t_("    q", s, " = out;");
      t_("  }");
    }
    for (std::size_t k = 0; k < p_.outputs.size(); ++k) {
      const int r = p_.outputs[k].reg;
      if (!is_per_row(p_, r) || stage_of(p_, r) != s) continue;
      t_("  if (live && lane == 0) *o", static_cast<int>(k), " = ", narrowed(p_.outputs[k].type, row_register(r)), ";");
    }
  }

  std::string row_register(int r) const {
    if (p_.code[static_cast<std::size_t>(r)].op == opcode::param)
      return launch_value(p_, static_cast<std::uint16_t>(r), "a");
    return "q" + num(stage_of(p_, r)) + ".r" + num(r);
  }

  argument row_value(char kind, int k) const {
    if (kind == 'd') return {result_of(p_, k, "a" + num(k)), ""};
    if (kind == 'r') return {row_register(k), ""};
    return {widened(type(k), "*b" + num(k)), ""};
  }

  // --- for each element

  /// Groups whose elements are read before the first of them is used.
  int chunk(const phase& f) const {
    int words = 0;
    for (const int k : f.inputs) words += words_of(type(k)) * cuda_group;
    const int most = words ? std::max(registers_in_flight / words, 1) : 4;
    return static_cast<int>(std::min<unsigned>(v_.groups, std::bit_floor(static_cast<unsigned>(most))));
  }

  void element_part(int s) {
    const parts& me = parts_[static_cast<std::size_t>(s)];
    const int n = chunk(me.element);
    bool any = false;
    each_result(p_, s, [&](int) { any = true; });
    if (any || !me.kept.empty()) {
      for (int first = 0; first < v_.groups; first += n) {
        t_("  {");
        read_groups(me.element, n, first);
        t_("#pragma unroll");
        t_("    for (int u = ", first, "; u < ", first + n, "; ++u) {");
        group(s);
        t_("    }");
        t_("  }");
      }
    }
    for (int j = first_reduction(p_, s); j < p_.stages[static_cast<std::size_t>(s)].reductions; ++j)
      t_("  sn::share_row(a", j, ", shared + ", shared_bytes * j, ");");
  }

  std::string guard() const { return v_.all_groups ? "" : "if (r0 < elements) "; }

  /// Fills f<k>[0..n) with the groups that begin with group `first` of the thread.
  void read_groups(const phase& f, int n, int first) {
    if (f.inputs.empty()) return;
    for (const int k : f.inputs) t_("    sn::pack<", storage_type(type(k)), ", ", cuda_group, "> f", k, "[", n, "];");
    t_("#pragma unroll");
    t_("    for (int u = 0; u < ", n, "; ++u) {");
    t_("      const I r0 = (lane + (u + ", first, ") * threads) * ", cuda_group, ";");
    t_("      ", guard(), "{");
    bool loose = false;
    for (const int k : f.inputs) {
      if (input_class(k) == access::linear) t_("        f", k, "[u] = sn::fetch<", cuda_group, ">(b", k, " + r0);");
      else loose = true;
    }
    if (loose) {
      t_("#pragma unroll");
      t_("        for (int l = 0; l < ", cuda_group, "; ++l) {");
      position("          ");
      for (const int k : f.inputs)
        if (input_class(k) != access::linear)
          t_("          f", k, "[u].v[l] = b", k, "[", reduced_offset("s", k), "];");
      t_("        }");
    }
    t_("      }");
    t_("    }");
  }

  /// Declares the position r of lane l in the row; lanes beyond its end repeat the last element.
  void position(const std::string& in) {
    if (whole_groups()) t_(in, "const I r = r0 + l;");
    else t_(in, "const I r = r0 + l < elements ? r0 + l : elements - 1;");
    if (multi_) t_(decompose("r", v_.kept, v_.rank, "c", in));
  }

  std::string reduced_offset(const char* strides, int k) const {
    if (multi_) return offset(strides, k, v_.kept, v_.rank, "c");
    return "r * a." + std::string(strides) + num(k) + "_" + num(v_.kept);
  }

  void group(int s) {
    const parts& me = parts_[static_cast<std::size_t>(s)];
    const phase& f = me.element;
    const int n = chunk(f);
    t_("      const I r0 = (lane + u * threads) * ", cuda_group, ";");
    t_("      ", guard(), "{");
    for (const int k : f.inputs)
      t_.add(lane_values(p_, k, cuda_group, "f" + num(k) + "[u % " + num(n) + "].v[l]", "        "));
    if (!f.results.empty())
      t_(call_group(
          p_, f, cuda_group, [this](char kind, int k) { return element_value(kind, k); }, "        "));
    for (const int r : me.kept) {
      t_("#pragma unroll");
      t_("        for (int l = 0; l < ", cuda_group, "; ++l) k_", r, "[u][l] = x", r, "[l];");
    }
    for (int j = first_reduction(p_, s); j < p_.stages[static_cast<std::size_t>(s)].reductions; ++j) step(s, j);
    for (std::size_t k = 0; k < p_.outputs.size(); ++k) {
      const int r = p_.outputs[k].reg;
      if (!is_per_row(p_, r) && stage_of(p_, r) == s) store(static_cast<int>(k));
    }
    t_("      }");
  }

  argument element_value(char kind, int k) const {
    if (kind == 'v') return {"z" + num(k), register_type(type(k))};
    if (is_per_row(p_, k)) return {row_register(k), ""};
    return {"k_" + num(k) + "[u]", register_name(k)};
  }

  /// The lanes of an element's register that stage s reads or computes.
  std::string lanes(int s, int r) const { return stage_of(p_, r) == s ? "x" + num(r) : "k_" + num(r) + "[u]"; }

  void step(int s, int j) {
    const std::string x = lanes(s, p_.reductions[static_cast<std::size_t>(j)].reg);
    if (whole_groups()) {
      t_("        a", j, ".step4(", x, ", r0);");
      return;
    }
    t_("        if (r0 + ", cuda_group, " <= elements) {");
    t_("          a", j, ".step4(", x, ", r0);");
    t_("        } else {");
    t_("#pragma unroll");
    t_("          for (int l = 0; l < ", cuda_group - 1, "; ++l)");
    t_("            if (r0 + l < elements) a", j, ".step(", x, "[l], r0 + l);");
    t_("        }");
  }

  void store(int k) {
    const output_desc& o = p_.outputs[static_cast<std::size_t>(k)];
    const std::string x = "x" + num(o.reg) + "[l]";
    t_("        if (live) {");
    if (v_.outputs[static_cast<std::size_t>(k)] == access::linear) {
      t_("          sn::pack<", storage_type(o.type), ", ", cuda_group, "> w;");
      t_("#pragma unroll");
      t_("          for (int l = 0; l < ", cuda_group, "; ++l) w.v[l] = ", narrowed(o.type, x), ";");
      t_("          sn::put(o", k, " + r0, w);");
    } else {
      t_("#pragma unroll");
      t_("          for (int l = 0; l < ", cuda_group, "; ++l) {");
      if (!whole_groups()) t_("            if (r0 + l >= elements) break;");
      position("            ");
      t_("            o", k, "[", reduced_offset("t", k), "] = ", narrowed(o.type, x), ";");
      t_("          }");
    }
    t_("        }");
  }

  const program& p_;
  const cuda_variant& v_;
  int stages_;
  bool multi_;
  std::vector<parts> parts_;
  text t_;
};

}  // namespace

std::string emit_stages(const program& p, const cuda_variant& v) { return stage_emitter(p, v).run(); }

}  // namespace cuda
}  // namespace sinter::jit
