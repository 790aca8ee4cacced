// Accumulators, their joins and results.
#include "jit/cuda/shapes/emit_reduction.hpp"

#include <algorithm>

#include "jit/user_text.hpp"

namespace sinter::jit {

int cuda_stored_bytes(const program& p) noexcept {
  int most = 4;
  for (const reduce_desc& r : p.reductions) {
    const bool one_number = r.op == reduce_op::sum || r.op == reduce_op::prod || r.op == reduce_op::min ||
                            r.op == reduce_op::max || r.op == reduce_op::any || r.op == reduce_op::all;
    const bool whole = r.op == reduce_op::count || (one_number && !is_complex(r.arg));
    if (!whole) return cuda_partial_bytes;
    most = std::max(most, r.op == reduce_op::count ? 8 : static_cast<int>(itemsize(r.arg)));
  }
  return most;
}

}  // namespace sinter::jit

namespace sinter::jit::cuda {

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

bool reduction_writer::is_ordered(const program& p) {
  return std::any_of(p.reductions.begin(), p.reductions.end(), [](const reduce_desc& r) { return !is_order_free(r); });
}

void reduction_writer::open_reduction(std::initializer_list<const phase*> phases) {
  open({});
  define_accumulators();
  for (const phase* f : phases) define(t_, p_, *f);
  define_finish();
  if (cuda_has_second_stage(v_)) define_partials();
}

void reduction_writer::define_accumulators() {
  t_("struct accs {");
  for (int j = 0; j < reductions(); ++j) t_(accumulator(p_, j), " a", j, ";");
  t_.scope("__device__ __forceinline__ void init()", [&] {
    for (int j = 0; j < reductions(); ++j) t_("a", j, ".init();");
  });
  t_.scope("__device__ __forceinline__ void merge(const accs& o)", [&] {
    for (int j = 0; j < reductions(); ++j) t_("a", j, ".merge(o.a", j, ");");
  });
  t_("};");
}

/// The lanes of a sum begin with -0, which adds nothing; the sum of nothing is +0.
std::string reduction_writer::result_in_row(int j, const std::string& acc) const {
  const reduce_desc& r = p_.reductions[static_cast<std::size_t>(j)];
  const std::string some = result_of(p_, j, acc + ".a" + num(j));
  const bool never_empty = v_.shape == cuda_shape::reduce_tiles || v_.shape == cuda_shape::windows;
  if (r.op != reduce_op::sum || is_order_free(r) || never_empty) return some;
  return "(a.elements == 0 ? " + type_of_reduction(p_, r) + "() : " + some + ")";
}

void reduction_writer::define_finish() {
  epilogue_ = make_phase(p_, v_, "epilogue", instructions(p_.epilogue, p_.code.size()), registers_of(p_.outputs));
  epilogue_.runs_once();  // runs once for a result
  define(t_, p_, epilogue_);
  t_.scope("__device__ __forceinline__ void finish(const args& a, I row, const accs& acc)", [&] {
    decompose(t_, "row", 0, v_.kept, "k");
    run_epilogue("acc", [this](int k) { return "a.w" + num(k) + "[" + offset("t", k, 0, v_.kept, "k") + "]"; });
  });
}

void reduction_writer::run_epilogue(const std::string& acc, const text_of& place) {
  one_element({.element = epilogue_,
               .address = [this](int k) { return address(k); },
               .coordinate = [this](int j) { return j < v_.rank ? "k" + num(j) : std::string("row"); },
               .place = place,
               .other =
                   [&](char, int j) {
                     return argument{result_in_row(j, acc), ""};
                   }});
}

void reduction_writer::define_partials() {
  for (int j = 0; j < reductions(); ++j) {
    const std::string type = accumulator(p_, j);
    t_.scope("__device__ __forceinline__ " + type + "* partials" + num(j) + "(const args& a)",
             [&] { t_("return (", type, "*)(a.partial + a.results * a.splits * ", cuda_stored_bytes(p_) * j, ");"); });
  }
}

void reduction_writer::declare_accumulators() {
  t_("accs acc", results_ > 1 ? "[" + num(results_) + "]" : std::string(), ";");
  each_result("acc" + several_ + ".init();");
}

void reduction_writer::each_result(const std::string& statement) {
  if (results_ > 1) t_.each("v", results_, statement);
  else t_(statement);
}

void reduction_writer::accumulate(const std::string& acc, int lanes) {
  for (int j = 0; j < reductions(); ++j)
    t_(acc, ".a", j, lanes == 1 ? ".step(x" : ".step4(x", p_.reductions[static_cast<std::size_t>(j)].reg,
       lanes == 1 ? "[0]" : "", ", r0);");
}

void reduction_writer::begin_last() {
  if (!ordered_) return;
  t_("accs last", results_ > 1 ? "[" + num(results_) + "]" : std::string(), ";");
  each_result("last" + several_ + ".init();");
}

void reduction_writer::join_last() {
  if (ordered_) each_result("acc" + several_ + ".merge(last" + several_ + ");");
}

void reduction_writer::join_each(std::string_view function, const std::string& acc, std::string_view with) {
  for (int j = 0; j < reductions(); ++j)
    each_result("sn::" + std::string(function) + "(" + acc + ".a" + num(j) + ", " + std::string(with) + ");");
}

void reduction_writer::join_rows() {
  // One of 32 threads leaves its accumulators in shared memory.
  constexpr int together = 32;
  if (reductions() <= together) each_result("sn::merge_row(acc" + several_ + ", shared);");
  else join_each("merge_row", "acc" + several_);
}

void reduction_writer::leave(const std::string& result, const std::string& acc) {
  if (!cuda_has_second_stage(v_)) return void(t_("finish(a, ", result, ", ", acc, ");"));
  t_("if (a.splits > 1) {");
  for (int j = 0; j < reductions(); ++j)
    t_("partials", j, "(a)[blockIdx.y * a.results + ", result, "] = ", acc, ".a", j, ";");
  t_("} else {");
  t_("finish(a, ", result, ", ", acc, ");");
  t_("}");
}

/// Joins the splits of a lane, as many at a time as there is shared memory for all of a block's threads.
void reduction_writer::merge_splits(int first_byte, int bytes) {
  std::string all;
  for (int j = 0; j < reductions(); ++j) all += (j ? " + sizeof(" : "sizeof(") + accumulator(p_, j) + ")";
  t_("enum { most = ", bytes, " / (", all, ") & ~15 };");
  for (int j = 0; j < reductions(); ++j) {
    const std::string type = accumulator(p_, j);
    t_(type, "* const ahead", j, " = reinterpret_cast<", type, "*>(",
       j ? "ahead" + num(j - 1) + " + most" : "shared + " + num(first_byte), ");");
  }
  t_("const int threads = blockDim.x * blockDim.y, me = threadIdx.y * blockDim.x + threadIdx.x;");
  t_.scope("while (s < a.splits)", [&] {
    t_("const long long left = (a.splits - s + lanes - 1) / lanes;");
    t_("const int n = left < most / threads ? (int)left : most / threads;");
    t_("#pragma unroll 1");
    t_.scope("for (int u = 0; u < n; ++u)", [&] {
      for (int j = 0; j < reductions(); ++j)
        t_("sn::copy_ahead(ahead", j, " + u * threads + me, partials", j,
           "(a) + ((s + u * lanes) * a.results + wanted));");
    });
    t_("sn::copied();");
    t_("#pragma unroll 1");
    t_.scope("for (int u = 0; u < n; ++u)", [&] {
      for (int j = 0; j < reductions(); ++j) t_("acc.a", j, ".merge(ahead", j, "[u * threads + me]);");
    });
    t_("s += n * lanes;");
  });
}

void reduction_writer::second_stage() {
  // Of shared memory: what the tree takes, and splits that are read ahead, some for each thread.
  constexpr int tree = cuda_block * cuda_partial_bytes, ahead = (48 << 10) - tree;
  const bool ahead_fits = reductions() * cuda_partial_bytes * cuda_block <= ahead;
  head(ahead_fits ? tree + ahead : tree, cuda_block, "_2");
  t_("const long long wanted = (long long)blockIdx.x * blockDim.x + threadIdx.x;");
  t_("const bool live = wanted < a.results;");
  t_("accs acc;");
  t_("acc.init();");
  t_("long long s = live ? threadIdx.y : a.splits;");
  t_("const long long lanes = blockDim.y;");
  if (ahead_fits) merge_splits(tree, ahead);
  else
    t_.loop("for (; s < a.splits; s += lanes)", [&] {
      for (int j = 0; j < reductions(); ++j) t_("acc.a", j, ".merge(partials", j, "(a)[s * a.results + wanted]);");
    });
  for (int j = 0; j < reductions(); ++j) t_("sn::merge_column(acc.a", j, ", shared);");
  t_("if (live && threadIdx.y == 0) finish(a, (I)wanted, acc);");
  t_("}");
}

}  // namespace sinter::jit::cuda
