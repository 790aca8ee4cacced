// CUDA reductions along rows (a group of threads for each result) and columns (a thread accumulates whole results), in
// one or two stages. Crossed ones have the same order, and the threads of a block the other way round, so that neighbouring
// threads read neighbouring elements where memory lies across the reduced axis; a thread of crossed rows may have a vector of
// neighbouring results, as one of columns. In shared rows, whose operands vary along
// the row or between rows, but not both, as forces between all pairs do, a thread has its lane of several rows, so that
// what varies along the rows is loaded once for all of them.
//
// Over several axes, the last of which is a whole number of groups, a group has one place along the others: it is found once,
// operands that do not vary along the last axis are loaded once, and others whole.
//
// The order in which floating-point elements are combined depends on the extents alone (jit/program/addition_order.hpp): a
// thread is a lane of a result, splits are on the second axis of the grid. Vector width, alignment and index class change only how elements are read.
#include <algorithm>

#include "jit/cuda/shapes/emit_reduction.hpp"

namespace sinter::jit::cuda {
namespace {

/// Bytes that a thread keeps in flight to hide latency.
constexpr int bytes_in_flight = 64, bytes_alone = 256;
/// Groups at once of a rest.
constexpr int most_of_rest = 4;

int results_of_thread(const cuda_variant& v) {
  if (v.shape == cuda_shape::shared_rows || v.shape == cuda_shape::crossed_rows) return 1 << v.tile.down;
  return v.shape == cuda_shape::reduce_columns ? v.vector : 1;
}

class lane_reducer : reduction_writer {
 public:
  lane_reducer(const program& p, const cuda_variant& v)
      : reduction_writer(p, v, results_of_thread(v)),
        columns_(v.shape == cuda_shape::reduce_columns),
        shared_(v.shape == cuda_shape::shared_rows),
        inside_(v.shape == cuda_shape::reduce_rows && !v.row_only.empty()),
        lanes_on_y_(columns_ || v.shape == cuda_shape::crossed_rows),
        across_(columns_ || (v.shape == cuda_shape::crossed_rows && v.tile.down > 0)),
        element_(make_phase(p, v, "element", instructions(0, p.epilogue), registers_of(p.reductions))) {}

  std::string run() {
    open_reduction({&element_});
    head(in_warps() ? 0 : cuda_threads(v_) * cuda_partial_bytes, cuda_threads(v_));
    place();
    for (int k : element_.inputs) operand(k);
    if (in_warps()) declare_runs();
    else declare_accumulators();
    if (shared_) all_groups();
    else groups_of_split();
    join();
    finish();
    t_("}");
    if (cuda_has_second_stage(v_)) second_stage();
    return close();
  }

 private:
  // --- where a thread is

  void place() {
    const char *of_lanes = lanes_on_y_ ? "y" : "x", *of_results = lanes_on_y_ ? "x" : "y";
    t_("const int ", columns_ ? "" : "lane = threadIdx." + std::string(of_lanes) + ", ", "lanes = blockDim.", of_lanes,
       ";");
    t_("const long long wanted = ((long long)blockIdx.x * blockDim.", of_results, " + threadIdx.", of_results, ") * ",
       results_, ";");
    if (shared_) return;
    t_("const bool live = wanted < a.results;");
    t_("const I row = live ? (I)wanted : 0;");
    decompose(t_, "row", 0, v_.kept, "k");
  }

  /// b<k>: an input at the first element of a result, u<k>: its value where it does not vary along a result. Arrays if a
  /// thread has several results.
  void operand(int k) {
    if (!several()) {
      base_pointer(k, address(k));
      if (fixed(k)) fixed_value(k, "*b" + num(k));
      return;
    }
    if (shared_ && !fixed(k)) return base_pointer(k, "a.p" + num(k));
    const std::string row = "(I)(wanted + v < a.results ? wanted + v : a.results - 1)", stride = "a.s" + num(k) + "_";
    if (!shared_) {
      t_("const ", storage(k), "* b", k, "[", results_, "];");
      each_result("b" + num(k) + "[v] = " + address(k) + " + v * " + stride + num(v_.kept - 1) + ";");
    }
    if (!fixed(k)) return;
    t_(value_type(k), " u", k, "[", results_, "];");
    const std::string at = shared_ ? "a.p" + num(k) + "[" + row + " * " + stride + "0]" : "*b" + num(k) + "[v]";
    each_result("u" + num(k) + "[v] = " + widened(type(k), at) + ";");
  }

  bool several() const { return results_ > 1; }

  // --- groups

  void all_groups() {
    t_("const I full = (I)(a.elements / ", cuda_group, ");");
    t_("I g = lane;");
    t_.scope("for (; g < full; g += lanes)", [&] { groups(1, ""); });
    t_.scope("if (g == full)", [&] { tail(); });
  }

  void groups_of_split() {
    t_("const I full = (I)(a.elements / ", cuda_group, "), begin = (I)(blockIdx.y * a.chunk);");
    t_("const I stop = begin + (I)a.chunk, end = stop < full ? stop : full;");
    t_("if (live) {");
    t_("I g = begin + ", lane_, ";");
    const int n = unroll();
    if (in_warps() || (v_.rest && n > 1)) {
      rounds_with_rest(n);
    } else {
      if (n > 1)
        t_.scope("for (; g + " + num(n - 1) + " * lanes < end; g += " + num(n) + " * lanes)", [&] { groups(n, ""); });
      t_.loop("for (; g < end; g += lanes)", [&] { groups(1, ""); });
    }
    t_.scope("if (g == full && g < stop)", [&] { tail(); });
    t_("}");
  }

  /// The threads of a row in step, `next` is the first one's group: also where some have a group more than others, all of a
  /// thread's loads are in flight together. In the end g is as if they had gone group by group.
  void rounds_with_rest(int n) {
    const int rest = in_warps() ? n : std::min(n, most_of_rest);
    const std::string all = num(n) + " * lanes", some = num(rest) + " * lanes";
    t_("I next = begin;");
    t_.scope("for (; next + " + all + " <= end; next += " + all + ", g += " + all + ")", [&] { groups(n, ""); });
    t_.loop("for (; next < end; next += " + some + ", g += " + some + ")",
            [&] { groups(rest, "g + u * lanes < end"); });
    t_("g = begin + (end - begin) / lanes * lanes + ", lane_, ";");
    t_("if (g < end) g += lanes;");
  }

  int unroll() const {
    int bytes = 0;
    for (int k : element_.inputs)
      if (!fixed(k) && !gathered(k))
        bytes += cuda_group * (input_class(k) == access::lanes ? 1 : results_) * static_cast<int>(itemsize(type(k)));
    const int work = total_weight(p_, 0, p_.epilogue);
    int n = bytes ? std::clamp((v_.alone ? bytes_alone : bytes_in_flight) / bytes, 1, 8) : 1;
    if (in_warps()) return std::max<int>(n, v_.lane_runs);
    if (work > 16) n = std::min(n, 2);
    return work > 48 ? 1 : n;
  }

  // --- several lanes of a result in a thread: an accumulator each, of which the u-th group has the one numbered u mod lane_runs

  bool in_warps() const { return v_.lane_runs > 1; }
  void declare_runs() {
    t_("accs acc[", int{v_.lane_runs}, "];");
    t_.each("v", v_.lane_runs, "acc[v].init();");
  }
  std::string accumulator_of(int lanes) const {
    if (!in_warps()) return (lanes == 1 ? last() : "acc") + several_;
    if (lanes > 1) return "acc[u % " + num(v_.lane_runs) + "]";
    return last() == "acc" ? "acc[0]" : last();
  }
  void join_runs() {
    t_.each("v", v_.lane_runs, "sn::merge_lanes(acc[v], 32);");
    t_.each("v", v_.lane_runs - 1, "acc[0].merge(acc[v + 1]);");
  }

  group_loop loop(int lanes) {
    group_loop g{.element = element_,
                 .lanes = lanes,
                 .order = shared_ ? load_order::by_input : load_order::by_lane,
                 .across = across_ ? results_ : 0,
                 .same_lanes = shared_,
                 .value = [this](int k) { return fixed(k) ? "u" + num(k) + of_result(k) : std::string(); },
                 .run = [this](int k) { return run(k); },
                 .whole = whole(),
                 .within = [this](int k) { return within(k); },
                 .vector = [this](int k) { return vector(k); },
                 .lane =
                     [this](int k) {
                       const std::string b = "b" + num(k) + of_result(k), at = lane_offset(k);
                       return gathered(k) ? b + " + (" + at + ")" : b + "[" + at + "]";
                     },
                 .coordinate = [this](int j) { return coordinate(j); },
                 .use = [this, lanes] { accumulate(accumulator_of(lanes), lanes); }};
    if (several()) g.results.emplace_back("v", results_);
    if (shared_) return g;
    g.lane_of_load = [this] { position("+"); };
    g.lane_of_use = [this] { position("|"); };
    return g;
  }

  /// `inside`: the condition of the u-th of these groups, if not all are there.
  void groups(int n, const std::string& inside) {
    group_loop g = loop(cuda_group);
    g.groups = n;
    g.inside = inside;
    g.place = [this] {
      t_("const I r0 = (g + u * lanes) * ", cuda_group, ";");
      place_inside();
    };
    walk(g);
  }

  void tail() {
    begin_last();
    t_.loop("for (I r0 = full * " + num(cuda_group) + "; r0 < (I)a.elements; ++r0)", [&] {
      place_inside();
      group_loop g = loop(1);
      g.stored = g.lane;
      use_group(g);
    });
    if (!in_warps()) return join_last();
    if (last() != "acc")
      t_.each("v", v_.lane_runs, "if (full / 32 % ", int{v_.lane_runs}, " == v) acc[v].merge(last);");
  }

  // Runs begin at the group r0. The first and the last ones of a row have elements outside of it.
  std::string run(int k) const {
    return "b" + num(k) + " + r0 * " + num(run_of(k).stride) + " - " + num(run_of(k).shift);
  }
  std::string whole() const {
    std::string all = v_.before ? "r0 >= " + num(v_.before) : "";
    if (v_.after) all += (all.empty() ? "" : " && ") + ("r0 + " + num(cuda_group + v_.after) + " <= (I)a.elements");
    return all;
  }
  std::string within(int k) const {
    const cuda_run& r = run_of(k);
    int first = r.shift, last = r.shift;
    for (const cuda_run& other : v_.runs) {
      if (other.packs == 0 || other.first != r.first) continue;
      first = std::min<int>(first, other.shift);
      last = std::max<int>(last, other.shift);
    }
    const std::string e = "r0 * " + num(r.stride) + " + e";
    return e + " >= " + num(first) + " && " + e + " <= ((I)a.elements - 1) * " + num(r.stride) + " + " + num(last);
  }

  /// The address of a vector access along the reduced axis (rows), or of neighbouring results (columns).
  std::string vector(int k) const {
    if (gathered(k) || (input_class(k) != access::linear && (!across_ || several()))) return "";
    if (inside_) return "b" + num(k) + " + (" + offset("s", k, v_.kept, v_.rank, "d") + ")";
    return "b" + num(k) + (several() && across_ ? "[0]" : "") + " + " + (across_ ? "(" + lane_offset(k) + ")" : "r0");
  }

  std::string of_result(int k) const { return across_ || (shared_ && fixed(k)) ? several_ : std::string(); }

  /// d<j>: the coordinates of a group that lies along the last axis.
  void place_inside() {
    if (inside_) decompose(t_, "r0", v_.kept, v_.rank, "d");
  }

  void position(const char* plus) {
    t_("const I r = r0 ", plus, " l;");
    if (inside_) {
      for (int j = v_.kept; j < v_.rank; ++j)
        t_("const I c", j, " = d", j, j == v_.rank - 1 ? " " + std::string(plus) + " l;" : ";");
      return;
    }
    if (multi_) decompose(t_, "r", v_.kept, v_.rank, "c");
  }

  std::string lane_offset(int k) const {
    if (!multi_ && (input_class(k) == access::uniform || v_.rank == v_.kept)) return "0";
    if (inside_ && v_.row_only[static_cast<std::size_t>(k)] != 0) return offset("s", k, v_.kept, v_.rank - 1, "d");
    const std::string r = shared_ ? "r0 + l" : "r";
    return !multi_ && !across_ && input_class(k) == access::linear ? r : reduced_offset("s", k, r);
  }

  /// If rows are whole groups, the low bits of a position are known, so lanes can share what they compute from blocks of
  /// random numbers.
  std::string coordinate(int j) const {
    const std::string result = several() ? "(row + v)" : "row";
    if (j < v_.kept) return "k" + num(j) + (several() && j == v_.kept - 1 ? " + v" : "");
    if (j < v_.rank) return multi_ ? "c" + num(j) : "r";
    if (v_.vector != cuda_group || across_) return result + " * a.elements + r";
    return "(row * (a.elements / " + num(cuda_group) + ") * " + num(cuda_group) + " + r0) | l";
  }

  // --- results

  void join() {
    switch (v_.shape) {
      case cuda_shape::crossed_rows: return join_each("merge_crossed_row", "acc" + several_);
      case cuda_shape::crossed_columns: return join_each("merge_crossed_column", "acc");
      case cuda_shape::reduce_columns: return join_each("merge_column", "acc" + several_);
      default: return in_warps() ? join_runs() : join_rows();
    }
  }

  void finish() {
    t_("if (", shared_ ? "" : "!live || ", lane_, " != 0) return;");
    if (shared_) return each_result("if (wanted + v < a.results) finish(a, (I)(wanted + v), acc[v]);");
    if (!several()) return leave("row", in_warps() ? "acc[0]" : "acc");
    for (int v = 0; v < results_; ++v) leave("(row + " + num(v) + ")", "acc[" + num(v) + "]");
  }

  bool columns_, shared_;
  bool inside_;  // over several axes, each group along the last one
  bool lanes_on_y_;
  bool across_;  // vectors are of neighbouring results
  const char* lane_ = columns_ ? "(int)threadIdx.y" : "lane";
  phase element_;
};

}  // namespace

std::string emit_reduce(const program& p, const cuda_variant& v) { return lane_reducer(p, v).run(); }

}  // namespace sinter::jit::cuda
