// CUDA reductions along rows (a group of threads for each result) and columns (a thread accumulates whole results), in
// one or two stages. Crossed ones have the same order, and the threads of a block the other way round, so that neighbouring
// threads read neighbouring elements where memory lies across the reduced axis.
//
// The order in which floating-point elements are combined depends on the extents alone: groups of four consecutive
// reduced elements, distributed cyclically among the threads of a row (or of a column), then a tree over the threads,
// then over the splits. Vector width, alignment and index class change only how elements are read.
#include <algorithm>

#include "jit/cuda/emit_body.hpp"
#include "jit/prelude_text.hpp"

namespace sinter::jit::cuda {
namespace {

/// Bytes that a thread keeps in flight to hide latency.
constexpr int bytes_in_flight = 64;

class reduce_emitter {
 public:
  reduce_emitter(const program& p, const cuda_variant& v)
      : p_(p),
        v_(v),
        columns_(v.shape == cuda_shape::reduce_columns),
        lanes_on_y_(columns_ || v.shape == cuda_shape::crossed_rows),
        threads_(cuda_threads(v)),
        vec_(columns_ ? v.vector : 1) {
    element_ = make_phase(p, v, "element", instructions(0, p.epilogue), registers_of(p.reductions));
    multi_ = v.rank - v.kept > 1;
    needs_position_ = multi_ || !element_.coords.empty();
    for (int k : element_.inputs) needs_position_ = needs_position_ || is_gathered(p, k);
  }

  std::string run() {
    t_(open_kernel(p_, v_));
    t_(define_accumulators(p_));
    t_(define(p_, element_));
    t_(define_finish(p_, v_));
    if (columns_) column_kernel();
    else row_kernel();
    t_(define_second_stage(p_, v_));
    return t_.str() + close_kernel();
  }

 private:
  dtype type(int k) const { return p_.inputs[static_cast<std::size_t>(k)].type; }
  const char* storage(int k) const { return storage_type(type(k)); }
  access input_class(int k) const { return v_.inputs[static_cast<std::size_t>(k)]; }
  bool fixed(int k) const { return input_class(k) == access::uniform && !is_gathered(p_, k); }
  bool streamed(int k) const { return !fixed(k) && !is_gathered(p_, k); }
  /// Whether an input is read as vectors along the reduced axis (rows).
  bool vectors(int k) const { return !columns_ && input_class(k) == access::linear && !is_gathered(p_, k); }

  int unroll() const {
    int bytes = 0;
    for (int k : element_.inputs)
      if (streamed(k)) bytes += cuda_group * vec_ * static_cast<int>(itemsize(type(k)));
    const int work = total_weight(p_, 0, p_.epilogue);
    int n = bytes ? std::clamp(bytes_in_flight / bytes, 1, 8) : 1;
    if (work > 16) n = std::min(n, 2);
    return work > 48 ? 1 : n;
  }

  void kernel_head() {
    t_.add(cuda::kernel_head(p_, v_, threads_));
    t_.add(shared_memory(threads_ * cuda_partial_bytes));
  }

  /// Pointers b<k> at the first element of a result, and values that do not vary along it.
  void result_pointers(const std::string& in, const std::string& suffix = "") {
    for (int k : element_.inputs) {
      t_(in, "const ", storage(k), "* b", k, suffix, " = a.p", k, " + (", offset("s", k, 0, v_.kept, "k"), ");");
      if (fixed(k))
        t_(in, "const ", register_type(type(k)), " u", k, suffix, " = ", widened(type(k), "*b" + num(k) + suffix), ";");
    }
  }

  /// Offset of input k at the reduced coordinates c<j>, or at the linear index `r` if there is one reduced axis.
  std::string reduced_offset(int k, const std::string& r) const {
    if (multi_) return offset("s", k, v_.kept, v_.rank, "c");
    if (input_class(k) == access::uniform || v_.rank == v_.kept) return "0";
    if (vectors(k)) return r;
    return "(" + r + ") * a.s" + num(k) + "_" + num(v_.kept);
  }

  /// Fills n<k>[0..4) (and gather pointers, coordinates) for the elements r0, r0+1, ...
  void element_arrays(const std::string& in, const std::string& load, int lane_count) {
    for (int k : element_.inputs) {
      if (is_gathered(p_, k)) t_(in, "const ", storage(k), "* z", k, "[", lane_count, "];");
      if (streamed(k)) t_(in, register_type(type(k)), " z", k, "[", lane_count, "];");
    }
    for (int j : element_.coords) t_(in, "long long k_", j, "[", lane_count, "];");
    t_("#pragma unroll");
    t_(in, "for (int l = 0; l < ", lane_count, "; ++l) {");
    if (needs_position_) {
      t_(in, "  const I r = r0 | l;");  // several lanes: r0 is a multiple of their number
      t_(decompose("r", v_.kept, v_.rank, "c", in + "  "));
    }
    for (int k : element_.inputs) {
      if (is_gathered(p_, k)) t_(in, "  z", k, "[l] = b", k, bsuffix_, " + (", reduced_offset(k, "r"), ");");
      if (streamed(k)) t_(in, "  z", k, "[l] = ", widened(type(k), "i" + num(k) + load), ";");
    }
    for (int j : element_.coords) t_(in, "  k_", j, "[l] = ", coordinate(j), ";");
    t_(in, "}");
  }

  /// Coordinate of lane l. If rows are whole groups, the low bits of a position are known, so lanes can share what they
  /// compute from blocks of random numbers.
  std::string coordinate(int j) const {
    if (j < v_.kept) return "k" + num(j) + bsuffix_;
    if (j < v_.rank) return "c" + num(j);
    if (columns_) return "(column" + (bsuffix_.empty() ? "" : " + " + bsuffix_.substr(1)) + ") * a.elements + r";
    if (v_.vector != cuda_group) return "row * a.elements + r";
    return "(row * (a.elements / " + num(cuda_group) + ") * " + num(cuda_group) + " + r0) | l";
  }

  argument_source element_source() const {
    return [this](char kind, int k) -> argument {
      if (kind == 'c') return {"k_" + num(k), "long long"};
      if (fixed(k)) return {"u" + num(k) + bsuffix_, ""};
      return {"z" + num(k), is_gathered(p_, k) ? std::string("const ") + storage(k) + "*" : register_type(type(k))};
    };
  }

  /// Reads one element: i<k> = element at r0 (a pack of one).
  void single_elements(const std::string& in) {
    if (multi_) t_(decompose("r0", v_.kept, v_.rank, "c", in));
    for (int k : element_.inputs)
      if (streamed(k)) t_(in, "const ", storage(k), " i", k, " = b", k, bsuffix_, "[", reduced_offset(k, "r0"), "];");
  }

  /// Loops over the groups of a split, beginning with `first` at a stride of `step`, and over the elements after the
  /// last whole group.
  template <class Groups, class Tail>
  void loop_over_groups(const char* first, const char* step, Groups groups, Tail tail) {
    t_("  const I full = (I)(a.elements / ", cuda_group, "), begin = (I)(blockIdx.y * a.chunk);");
    t_("  const I stop = begin + (I)a.chunk, end = stop < full ? stop : full;");
    t_("  if (live) {");
    t_("    I g = begin + ", first, ";");
    const int n = unroll();
    if (n > 1) {
      t_("    for (; g + ", n - 1, " * ", step, " < end; g += ", n, " * ", step, ") {");
      groups(n);
      t_("    }");
    }
    t_("#pragma unroll 1");
    t_("    for (; g < end; g += ", step, ") {");
    groups(1);
    t_("    }");
    t_("    if (g == full && g < stop) {");
    t_("#pragma unroll 1");
    t_("      for (I r0 = full * ", cuda_group, "; r0 < (I)a.elements; ++r0) {");
    tail();
    t_("      }");
    t_("    }");
    t_("  }");
  }

  // --- rows
  void row_kernel() {
    kernel_head();
    const char *of_lanes = lanes_on_y_ ? "y" : "x", *of_results = lanes_on_y_ ? "x" : "y";
    t_("  const int lane = threadIdx.", of_lanes, ", threads = blockDim.", of_lanes, ";");
    t_("  const long long wanted = (long long)blockIdx.x * blockDim.", of_results, " + threadIdx.", of_results, ";");
    t_("  const bool live = wanted < a.results;");
    t_("  const I row = live ? (I)wanted : 0;");
    t_(decompose("row", 0, v_.kept, "k", "  "));
    result_pointers("  ");
    t_("  accs acc;");
    t_("  acc.init();");
    const auto groups = [this](int n) { row_groups("      ", n); };
    loop_over_groups("lane", "threads", groups, [this] { tail_element("        ", "acc"); });
    const bool rows = v_.shape == cuda_shape::crossed_rows, columns = v_.shape == cuda_shape::crossed_columns;
    if (!rows && !columns)
      for (const std::string& statement : merge_rows(p_, "acc")) t_("  ", statement);
    for (std::size_t j = 0; (rows || columns) && j < p_.reductions.size(); ++j)
      t_("  sn::", rows ? "merge_crossed_row" : "merge_crossed_column", "(acc.a", j, ", shared);");
    t_("  if (!live || lane != 0) return;");
    leave("  ", "row", "acc");
    t_("}");
  }

  void row_groups(const std::string& in, int n) {
    for (int k : element_.inputs)
      if (streamed(k)) t_(in, "sn::pack<", storage(k), ", ", cuda_group, "> f", k, "[", n, "];");
    t_("#pragma unroll");
    t_(in, "for (int u = 0; u < ", n, "; ++u) {");
    t_(in, "  const I r0 = (g + u * threads) * ", cuda_group, ";");
    bool loose = false;
    for (int k : element_.inputs) {
      if (!streamed(k)) continue;
      if (vectors(k)) t_(in, "  f", k, "[u] = sn::fetch<", cuda_group, ">(b", k, " + r0);");
      else loose = true;
    }
    if (loose) {
      t_("#pragma unroll");
      t_(in, "  for (int l = 0; l < ", cuda_group, "; ++l) {");
      t_(in, "    const I r = r0 + l;");
      if (multi_) t_(decompose("r", v_.kept, v_.rank, "c", in + "    "));
      for (int k : element_.inputs)
        if (streamed(k) && !vectors(k)) t_(in, "    f", k, "[u].v[l] = b", k, "[", reduced_offset(k, "r"), "];");
      t_(in, "  }");
    }
    t_(in, "}");
    t_("#pragma unroll");
    t_(in, "for (int u = 0; u < ", n, "; ++u) {");
    t_(in, "  const I r0 = (g + u * threads) * ", cuda_group, ";");
    for (int k : element_.inputs)
      if (streamed(k)) t_(in, "  const sn::pack<", storage(k), ", ", cuda_group, ">& i", k, " = f", k, "[u];");
    element_arrays(in + "  ", ".v[l]", cuda_group);
    t_(call_group(p_, element_, cuda_group, element_source(), in + "  "));
    t_.add(accumulate(p_, "acc", cuda_group, in + "  "));
    t_(in, "}");
  }

  void tail_element(const std::string& in, const std::string& acc) {
    single_elements(in);
    element_arrays(in, "", 1);
    t_(call_group(p_, element_, 1, element_source(), in));
    t_.add(accumulate(p_, acc, 1, in));
  }

  void leave(const std::string& in, const std::string& result, const std::string& acc) {
    t_(in, "if (a.splits > 1) {");
    for (std::size_t j = 0; j < p_.reductions.size(); ++j)
      t_(in, "  partials", static_cast<int>(j), "(a)[blockIdx.y * a.results + ", result, "] = ", acc, ".a",
         static_cast<int>(j), ";");
    t_(in, "} else {");
    t_(in, "  finish(a, ", result, ", ", acc, ");");
    t_(in, "}");
  }

  // --- columns
  void column_kernel() {
    kernel_head();
    t_("  const int lanes = blockDim.y;");
    t_("  const long long wanted = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * ", vec_, ";");
    t_("  const bool live = wanted < a.results;");
    t_("  const I column = live ? (I)wanted : 0;");
    t_(decompose("column", 0, v_.kept, "k", "  "));
    result_pointers("  ");
    for (int v = 1; v < vec_; ++v) later_results(v);
    t_("  accs acc[", vec_, "];");
    t_("#pragma unroll");
    t_("  for (int v = 0; v < ", vec_, "; ++v) acc[v].init();");
    const auto groups = [this](int n) { column_groups("      ", n); };
    loop_over_groups("(int)threadIdx.y", "lanes", groups, [this] {
      for (int v = 0; v < vec_; ++v) {
        t_("        {");
        bsuffix_ = v ? "_" + num(v) : "";
        tail_element("          ", "acc[" + num(v) + "]");
        t_("        }");
      }
      bsuffix_.clear();
    });
    for (int v = 0; v < vec_; ++v) {
      for (std::size_t j = 0; j < p_.reductions.size(); ++j)
        t_("  sn::merge_column(acc[", v, "].a", static_cast<int>(j), ", shared);");
    }
    t_("  if (!live || threadIdx.y != 0) return;");
    for (int v = 0; v < vec_; ++v) leave("  ", "(column + " + num(v) + ")", "acc[" + num(v) + "]");
    t_("}");
  }

  /// Pointers, values and coordinates of the further results of a thread's vector: neighbours on the last axis.
  void later_results(int v) {
    const std::string suffix = "_" + num(v);
    for (int k : element_.inputs) {
      const std::string step = v_.kept ? " + " + num(v) + " * a.s" + num(k) + "_" + num(v_.kept - 1) : "";
      t_("  const ", storage(k), "* b", k, suffix, " = b", k, step, ";");
      if (fixed(k))
        t_("  const ", register_type(type(k)), " u", k, suffix, " = ", widened(type(k), "*b" + num(k) + suffix), ";");
    }
    for (int j : element_.coords)
      if (j < v_.kept) t_("  const I k", j, suffix, " = k", j, j == v_.kept - 1 ? " + " + num(v) : "", ";");
  }

  void column_groups(const std::string& in, int n) {
    for (int k : element_.inputs)
      if (streamed(k)) t_(in, "sn::pack<", storage(k), ", ", vec_, "> f", k, "[", n, "][", cuda_group, "];");
    t_("#pragma unroll");
    t_(in, "for (int u = 0; u < ", n, "; ++u) {");
    t_("#pragma unroll");
    t_(in, "  for (int l = 0; l < ", cuda_group, "; ++l) {");
    t_(in, "    const I r = (g + u * lanes) * ", cuda_group, " + l;");
    if (multi_) t_(decompose("r", v_.kept, v_.rank, "c", in + "    "));
    for (int k : element_.inputs) {
      if (!streamed(k)) continue;
      if (vec_ == 1 || input_class(k) == access::linear) {
        t_(in, "    f", k, "[u][l] = sn::fetch<", vec_, ">(b", k, " + (", reduced_offset(k, "r"), "));");
      } else {
        for (int v = 0; v < vec_; ++v)
          t_(in, "    f", k, "[u][l].v[", v, "] = b", k, v ? "_" + num(v) : "", "[", reduced_offset(k, "r"), "];");
      }
    }
    t_(in, "  }");
    t_(in, "}");
    t_("#pragma unroll");
    t_(in, "for (int u = 0; u < ", n, "; ++u) {");
    t_(in, "  const I r0 = (g + u * lanes) * ", cuda_group, ";");
    for (int v = 0; v < vec_; ++v) {
      t_(in, "  {");
      for (int k : element_.inputs)
        if (streamed(k))
          t_(in, "    const sn::pack<", storage(k), ", ", vec_, "> (&i", k, ")[", cuda_group, "] = f", k, "[u];");
      bsuffix_ = v ? "_" + num(v) : "";
      element_arrays(in + "    ", "[l].v[" + num(v) + "]", cuda_group);
      t_(call_group(p_, element_, cuda_group, element_source(), in + "    "));
      t_.add(accumulate(p_, "acc[" + num(v) + "]", cuda_group, in + "    "));
      t_(in, "  }");
    }
    bsuffix_.clear();
    t_(in, "}");
  }

  const program& p_;
  const cuda_variant& v_;
  bool columns_, lanes_on_y_;
  int threads_;  // of a block
  int vec_;
  phase element_;
  bool multi_ = false, needs_position_ = false;
  std::string bsuffix_;  // suffix for the result of a thread's vector that the text computes
  text t_;
};

}  // namespace

std::string accumulator(const program& p, int j) {
  const reduce_desc& r = p.reductions[static_cast<std::size_t>(j)];
  const std::string t = register_type(r.arg);
  if (r.op == reduce_op::user)
    return "sn::acc_user<" + type_of_reduction(p, r) + ", " + monoid(*p.combines[r.inner]) + ">";
  if (r.op == reduce_op::moment2 && is_complex(r.arg))
    return "sn::acc_complex_moment<" + t + (r.arg == dtype::c64 ? ", float>" : ", double>");
  std::string type = about(r.op).accumulator;
  if (const std::size_t at = type.find('T'); at != std::string::npos) type.replace(at, 1, t);
  return type;
}

std::string result_of(const program& p, int j, const std::string& accumulator) {
  const reduce_desc& r = p.reductions[static_cast<std::size_t>(j)];
  const std::string value = accumulator + ".result()";
  if (r.type == dtype::f16) return "sn::round_f16(" + value + ")";
  if (r.type == dtype::bf16) return "sn::round_bf16(" + value + ")";
  return "(" + type_of_reduction(p, r) + ")" + value;
}

std::string define_accumulators(const program& p) {
  text t;
  t("struct accs {");
  const int count = static_cast<int>(p.reductions.size());
  for (int j = 0; j < count; ++j) t("  ", accumulator(p, j), " a", j, ";");
  t("  __device__ __forceinline__ void init() {");
  for (int j = 0; j < count; ++j) t("    a", j, ".init();");
  t("  }");
  t("  __device__ __forceinline__ void merge(const accs& o) {");
  for (int j = 0; j < count; ++j) t("    a", j, ".merge(o.a", j, ");");
  t("  }");
  t("};");
  return t.str();
}

std::vector<std::string> merge_rows(const program& p, const std::string& accs, const std::string& function) {
  // One of 32 threads leaves its accumulators in shared memory.
  constexpr std::size_t together = 32;
  if (p.reductions.size() <= together) return {"sn::" + function + "(" + accs + ", shared);"};
  std::vector<std::string> each;
  for (std::size_t j = 0; j < p.reductions.size(); ++j)
    each.push_back("sn::" + function + "(" + accs + ".a" + num(static_cast<int>(j)) + ", shared);");
  return each;
}

std::string define_finish(const program& p, const cuda_variant& v) {
  phase f = make_phase(p, v, "epilogue", instructions(p.epilogue, p.code.size()), registers_of(p.outputs));
  f.quick = false;  // runs once per result
  text t;
  t(define(p, f));
  t("__device__ __forceinline__ void finish(const args& a, I row, const accs& acc) {");
  t(decompose("row", 0, v.kept, "k", "  "));
  t(call_once(
      f,
      [&](char kind, int k) -> argument {
        if (kind == 'c') return {k < v.rank ? "k" + num(k) : std::string("row"), ""};
        if (kind == 'd') return {result_of(p, k, "acc.a" + num(k)), ""};
        const std::string at = "a.p" + num(k) + " + (" + offset("s", k, 0, v.kept, "k") + ")";
        return {is_gathered(p, k) ? at : widened(p.inputs[static_cast<std::size_t>(k)].type, "*(" + at + ")"), ""};
      },
      "  "));
  for (std::size_t k = 0; k < p.outputs.size(); ++k)
    t("  a.w", static_cast<int>(k), "[", offset("t", static_cast<int>(k), 0, v.kept, "k"),
      "] = ", narrowed(p.outputs[k].type, "out.r" + num(p.outputs[k].reg)), ";");
  t("}");
  const int count = static_cast<int>(p.reductions.size());
  if (!cuda_has_second_stage(v)) return t.str();
  for (int j = 0; j < count; ++j) {
    const std::string type = accumulator(p, j);
    t("__device__ __forceinline__ ", type, "* partials", j, "(const args& a) {");
    t("  return (", type, "*)(a.partial + a.results * a.splits * ", cuda_partial_bytes * j, ");");
    t("}");
  }
  return t.str();
}

std::string define_second_stage(const program& p, const cuda_variant& v) {
  text t;
  t.add(kernel_head(p, v, cuda_block, "_2"));
  t.add(shared_memory(cuda_block * cuda_partial_bytes));
  t("  const long long wanted = (long long)blockIdx.x * blockDim.x + threadIdx.x;");
  t("  const bool live = wanted < a.results;");
  t("  accs acc;");
  t("  acc.init();");
  // Eight loads in flight, since latency dominates such a small stage.
  const int count = static_cast<int>(p.reductions.size());
  t("  long long s = live ? threadIdx.y : a.splits;");
  t("  const long long lanes = blockDim.y;");
  t("  for (; s + 7 * lanes < a.splits; s += 8 * lanes) {");
  for (int j = 0; j < count; ++j) {
    t("    {");
    t("      ", accumulator(p, j), " some[8];");
    t("#pragma unroll");
    t("      for (int u = 0; u < 8; ++u) some[u] = partials", j, "(a)[(s + u * lanes) * a.results + wanted];");
    t("#pragma unroll");
    t("      for (int u = 0; u < 8; ++u) acc.a", j, ".merge(some[u]);");
    t("    }");
  }
  t("  }");
  t("#pragma unroll 1");
  t("  for (; s < a.splits; s += lanes) {");
  for (int j = 0; j < count; ++j) t("    acc.a", j, ".merge(partials", j, "(a)[s * a.results + wanted]);");
  t("  }");
  for (std::size_t j = 0; j < p.reductions.size(); ++j)
    t("  sn::merge_column(acc.a", static_cast<int>(j), ", shared);");
  t("  if (live && threadIdx.y == 0) finish(a, (I)wanted, acc);");
  t("}");
  return t.str();
}

std::string emit_reduce(const program& p, const cuda_variant& v) { return reduce_emitter(p, v).run(); }

}  // namespace sinter::jit::cuda
