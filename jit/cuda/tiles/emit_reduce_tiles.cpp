// CUDA reductions whose operands depend on one of two kept axes each, as distances of all pairs do: a block computes a
// tile of results. It reads the operands of its rows and columns into shared memory, a slab of the reduced axis at a
// time, and each thread keeps several results, so that an operand is loaded once for all of its row or column.
//
// The order of the additions is that of emit_reduce.cpp. There the groups of a result are distributed among lanes, which
// are joined by a tree; here one thread takes the lanes one after the other, and joins them as a binary counter does.
// Lanes come in the order in which a tree of neighbours (rows) or of halves (columns) joins them. A slab holds all groups
// of some of the lanes, for each lane in rounds.
#include <algorithm>

#include "jit/cuda/shapes/emit_reduction.hpp"

namespace sinter::jit::cuda {
namespace {

constexpr int side = cuda_tile_side;
static_assert(side * side == cuda_block);

class tile_reducer : reduction_writer {
 public:
  tile_reducer(const program& p, const cuda_variant& v)
      : reduction_writer(p, v, 1 << (v.tile.down + v.tile.across)),
        rows_(1 << v.tile.down),
        columns_(1 << v.tile.across),
        slots_(v.tile.slots),
        element_(make_phase(p, v, "element", instructions(0, p.epilogue), registers_of(p.reductions))) {}

  std::string run() {
    open_reduction({&element_});
    head(cuda_slab_bytes(p_, v_), cuda_block, "", 2);
    t_("const int down = threadIdx.x / ", side, ", across = threadIdx.x % ", side, ";");
    t_("const I k", i_, "0 = (I)blockIdx.y * ", side * rows_, ", k", j_, "0 = (I)blockIdx.x * ", side * columns_, ";");
    t_("const I outer = (I)blockIdx.z;");
    decompose(t_, "outer", 0, i_, "k");
    operands();
    t_("accs acc[", results_, "];");
    for (int level = 0; level < v_.tile.levels; ++level) t_("accs s", level, "[", results_, "];");
    t_("const int full = (int)(a.elements / ", cuda_group, "), lanes = (int)a.team, rounds = (int)a.chunk;");
    t_("int shift = ", v_.tile.levels, ";  // lanes of a slab, as a power of two");
    t_("while (rounds << shift > ", slots_, ") --shift;");
    t_.scope("for (int first = 0; first < lanes; first += 1 << shift)", [&] { slab(); });
    finish();
    t_("}");
    return close();
  }

 private:
  operand_axes axes(int k) const { return static_cast<operand_axes>(v_.row_only[static_cast<std::size_t>(k)]); }
  bool of_row(int k) const { return axes(k) == operand_axes::row; }
  bool staged(int k) const { return !fixed(k) && axes(k) != operand_axes::none; }
  /// Results of a thread along the axis that an input depends on.
  int own(int k) const { return of_row(k) ? rows_ : columns_; }
  int kept_axis(int k) const { return of_row(k) ? i_ : j_; }
  std::string place(int k) const { return of_row(k) ? "down" : "across"; }
  /// The index of a thread's result along that axis.
  std::string index(int k) const { return of_row(k) ? "v" : "w"; }
  std::string reduced_stride(int k) const { return "a.s" + num(k) + "_" + num(v_.kept); }
  std::string kept_stride(int k) const { return "a.s" + num(k) + "_" + num(kept_axis(k)); }
  int pitch(int k) const { return cuda_slab_pitch(v_, type(k)); }
  std::string clamped(int axis, const std::string& at) const {
    const std::string last = "a.e" + num(axis) + ".n - 1";
    return "(" + at + " < " + last + " ? " + at + " : " + last + ")";
  }
  /// The lane that is the t-th to be joined.
  std::string lane_of(const std::string& t) const {
    if (!v_.tile.halves) return t;
    std::string all;
    for (int b = 0; b < v_.tile.levels; ++b)
      all += (b ? " | " : "") + ("((" + t + ") >> " + num(b) + " & 1) << " + num(v_.tile.levels - 1 - b));
    return all.empty() ? "0" : "(" + all + ")";
  }

  /// b<k>: the input at the outer kept axes; m<k>: its slab; u<k>: its values where they do not vary along the reduced
  /// axis.
  void operands() {
    int at = 0;
    for (int k : element_.inputs) {
      base_pointer(k, "a.p" + num(k) + " + (" + offset("s", k, 0, i_, "k") + ")");
      if (staged(k)) {
        t_(storage(k), "* const m", k, " = reinterpret_cast<", storage(k), "*>(shared + ", at, ");");
        at += pitch(k) * static_cast<int>(itemsize(type(k))) * side * own(k);
      }
      if (!fixed(k)) continue;
      if (axes(k) == operand_axes::none) fixed_value(k, "*b" + num(k));
      else fixed_values(k);
    }
  }

  void fixed_values(int k) {
    const std::string at = "(k" + num(kept_axis(k)) + "0 + " + place(k) + " + q * " + num(side) + ")";
    const std::string value = "b" + num(k) + "[" + clamped(kept_axis(k), at) + " * " + kept_stride(k) + "]";
    t_(value_type(k), " u", k, "[", own(k), "];");
    t_.each("q", own(k), "u", k, "[q] = ", widened(type(k), value), ";");
  }

  // --- a slab

  void slab() {
    t_("__syncthreads();");
    for (int k : element_.inputs)
      if (staged(k)) t_.unrolled("n", std::max(1, side * own(k) * slots_ / cuda_block), [&] { load_slab(k); });
    t_("__syncthreads();");
    if (v_.tile.pairs) return pairs_of_lanes();
    t_.loop("for (int t = first; t < first + (1 << shift); ++t)", [&] {
      t_.each("q", results_, "acc[q].init();");
      t_.loop("for (int round = 0; round < rounds; ++round)", [&] { round(); });
      join(0, "acc");
    });
  }

  /// Two lanes beside each other, so that no accumulator is moved to where the second lane finds it. Every lane has a
  /// group in the first round, which needs no addition.
  void pairs_of_lanes() {
    t_.loop("for (int t = first; t < first + (1 << shift); t += 2)", [&] {
      t_.unrolled("part", 2, [&] {
        t_.each("q", results_, "acc[q].init();");
        t_.scope("", [&] {
          t_("const int g = t + part, slot = g - first;");
          whole_group();
        });
        t_.loop("for (int round = 1; round * lanes + t + part < full; ++round)", [&] {
          t_("const int g = round * lanes + t + part, slot = round << shift | t + part - first;");
          whole_group();
        });
        t_("if (part) {");
        merge_each("s0[q]", "acc[q]");
        t_("} else {");
        t_.each("q", results_, "s0[q] = acc[q];");
        t_("}");
      });
      join(1, "s0");
    });
  }

  void whole_group() {
    t_("const I r0 = (I)g * ", cuda_group, ";");
    group();
  }

  /// Neighbouring threads take neighbouring slots, or neighbouring rows where those are contiguous.
  void load_slab(int k) {
    const int extent = side * own(k);
    const bool by_rows = input_class(k) == access::staged, linear = input_class(k) == access::linear;
    const std::string stride = reduced_stride(k), axis = num(kept_axis(k));
    t_("const int at = n * ", cuda_block, " + (int)threadIdx.x;");
    t_("const int row = at ", by_rows ? "% " + num(extent) : "/ " + num(slots_), ", slot = at ",
       by_rows ? "/ " + num(extent) : "% " + num(slots_), ";");
    t_("const int t = first + (slot & (1 << shift) - 1), round = slot >> shift;");
    t_("const int g = round * lanes + ", lane_of("t"), ";");
    t_("if (row >= ", extent, " || slot >= ", slots_, " || round >= rounds || g > full) continue;");
    t_("const ", storage(k), "* const from = b", k, " + ", clamped(kept_axis(k), "(k" + axis + "0 + row)"), " * ",
       kept_stride(k), " + (I)g * ", cuda_group, " * ", linear ? "1" : stride, ";");
    t_(pack(k, cuda_group), " x;");
    const std::string inside = "g * " + num(cuda_group) + " + l < (int)a.elements";
    if (linear) t_("if (g < full) x = sn::fetch<", cuda_group, ">(from);");
    if (linear && v_.vector == 1) t_("else for (int l = 0; ", inside, "; ++l) x.v[l] = from[l];");
    if (!linear) t_.each("l", cuda_group, "if (", inside, ") x.v[l] = from[l * ", stride, "];");
    t_("sn::put(m", k, " + row * ", pitch(k), " + slot * ", cuda_group, ", x);");
  }

  // --- one lane of all results of a thread, and its place in the tree

  void round() {
    t_("const int g = round * lanes + ", lane_of("t"), ", slot = round << shift | t - first;");
    t_.scope("if (g < full)", [&] { whole_group(); });
    if (v_.vector != 1) return;
    t_.scope("if (g == full)", [&] {
      begin_last();
      t_.loop("for (I r0 = (I)full * " + num(cuda_group) + "; r0 < (I)a.elements; ++r0)", [&] { tail(); });
      join_last();
    });
  }

  /// Joins a lane, or the `from` that it is a part of, to those before it; the last one leaves all of them in the last
  /// level.
  void join(int level, const std::string& from) {
    if (level == v_.tile.levels) return;
    const std::string s = "s" + num(level);
    t_("if (t >> ", level, " & 1) {");
    merge_each(s + "[q]", from + "[q]");
    join(level + 1, s);
    t_("} else {");
    t_.each("q", results_, s, "[q] = ", from, "[q];");
    t_("}");
  }
  void merge_each(const std::string& to, const std::string& from) {
    t_.unrolled("q", results_, [&] {
      for (int r = 0; r < reductions(); ++r) t_(to, ".a", r, ".merge(", from, ".a", r, ");");
    });
  }

  void group() {
    for (int k : element_.inputs) {
      if (fixed(k)) continue;
      t_(pack(k, cuda_group), " i", k, "[", staged(k) ? own(k) : 1, "];");
      if (!staged(k)) {
        fetch_lanes("i" + num(k) + "[0]", cuda_group, "b" + num(k) + "[(r0 + l) * " + reduced_stride(k) + "]");
        continue;
      }
      t_.each("q", own(k), "i", k, "[q] = sn::fetch<", cuda_group, ">(m", k, " + (", place(k), " + q * ", side, ") * ",
              pitch(k), " + slot * ", cuda_group, ");");
    }
    each_element(cuda_group, [&](int k) { return "i" + num(k) + "[" + (staged(k) ? index(k) : "0") + "].v[l]"; });
  }

  void tail() {
    each_element(1, [&](int k) {
      if (!staged(k)) return "b" + num(k) + "[r0 * " + reduced_stride(k) + "]";
      return "m" + num(k) + "[(" + place(k) + " + " + index(k) + " * " + num(side) + ") * " + num(pitch(k)) +
             " + slot * " + num(cuda_group) + " + (int)(r0 - full * " + num(cuda_group) + ")]";
    });
  }

  void each_element(int lanes, const text_of& stored) {
    use_group({.element = element_,
               .lanes = lanes,
               .results = {{"v", rows_}, {"w", columns_}},
               .value =
                   [this](int k) {
                     if (!fixed(k)) return std::string();
                     return "u" + num(k) + (axes(k) == operand_axes::none ? "" : "[" + index(k) + "]");
                   },
               .stored = stored,
               .use = [&] { accumulate((lanes == 1 ? last() : "acc") + "[v * " + num(columns_) + " + w]", lanes); }});
  }

  void finish() {
    const std::string rows = "a.e" + num(i_) + ".n", columns = "a.e" + num(j_) + ".n";
    const std::string all = v_.tile.levels ? "s" + num(v_.tile.levels - 1) : "acc";
    const std::string row = "k" + num(i_), column = "k" + num(j_);
    const auto place = [this](int k) { return "a.w" + num(k) + "[" + offset("t", k, 0, v_.kept, "k") + "]"; };
    t_.unrolled("v", rows_, [&] {
      t_.unrolled("w", columns_, [&] {
        t_("const I ", row, " = ", row, "0 + down + v * ", side, ", ", column, " = ", column, "0 + across + w * ", side,
           ";");
        t_("if (", row, " >= ", rows, " || ", column, " >= ", columns, ") continue;");
        t_("const long long row = ((long long)outer * ", rows, " + ", row, ") * ", columns, " + ", column, ";");
        run_epilogue(all + "[v * " + num(columns_) + " + w]", place);
      });
    });
  }

  int rows_, columns_, slots_;
  int i_ = v_.kept - 2, j_ = v_.kept - 1;  // the kept axes of a tile
  phase element_;
};

}  // namespace

std::string emit_reduce_tiles(const program& p, const cuda_variant& v) { return tile_reducer(p, v).run(); }

}  // namespace sinter::jit::cuda
