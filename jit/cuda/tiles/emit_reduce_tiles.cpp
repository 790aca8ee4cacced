// CUDA reductions whose operands depend on one of two kept axes each, as distances of all pairs do: a block computes a
// tile of results. It reads the operands of its rows and columns into shared memory, a slab of the reduced axis at a
// time, and each thread keeps several results, so that an operand is loaded once for all of its row or column.
//
// The order of the additions is that of emit_reduce.cpp. There the groups of a result are distributed among lanes, which
// are joined by a tree; here one thread takes the lanes one after the other, and joins them as a binary counter does.
// Lanes come in the order in which a tree of neighbours (rows) or of halves (columns) joins them. A slab holds all groups
// of some of the lanes, for each lane in rounds.
#include <algorithm>

#include "jit/cuda/emit_body.hpp"
#include "jit/prelude_text.hpp"

namespace sinter::jit::cuda {
namespace {

constexpr int side = cuda_tile_side;
static_assert(side * side == cuda_block);

class tile_reducer {
 public:
  tile_reducer(const program& p, const cuda_variant& v)
      : p_(p), v_(v), rows_(1 << v.tile.down), columns_(1 << v.tile.across), slots_(v.tile.slots) {
    element_ = make_phase(p, v, "element", instructions(0, p.epilogue), registers_of(p.reductions));
  }

  std::string run() {
    t_(open_kernel(p_, v_));
    t_(define_accumulators(p_));
    t_(define(p_, element_));
    t_(define_finish(p_, v_));
    t_.add(kernel_head(p_, v_));
    t_.add(shared_memory(cuda_slab_bytes(p_, v_)));
    t_("  const int down = threadIdx.x / ", side, ", across = threadIdx.x % ", side, ";");
    t_("  const I k", i_, "0 = (I)blockIdx.y * ", side * rows_, ", k", j_, "0 = (I)blockIdx.x * ", side * columns_,
       ";");
    t_("  const I outer = (I)blockIdx.z;");
    t_(decompose("outer", 0, i_, "k", "  "));
    operands();
    t_("  accs acc[", results(), "];");
    for (int level = 0; level < v_.tile.levels; ++level) t_("  accs s", level, "[", results(), "];");
    t_("  const int full = (int)(a.elements / ", cuda_group, "), lanes = (int)a.team, rounds = (int)a.chunk;");
    t_("  int shift = ", v_.tile.levels, ";  // lanes of a slab, as a power of two");
    t_("  while (rounds << shift > ", slots_, ") --shift;");
    t_("  for (int first = 0; first < lanes; first += 1 << shift) {");
    t_("    __syncthreads();");
    for (int k : element_.inputs)
      if (staged(k)) load_slab(k);
    t_("    __syncthreads();");
    t_("#pragma unroll 1");
    t_("    for (int t = first; t < first + (1 << shift); ++t) {");
    lane();
    t_("    }");
    t_("  }");
    finish();
    t_("}");
    return t_.str() + close_kernel();
  }

 private:
  dtype type(int k) const { return p_.inputs[static_cast<std::size_t>(k)].type; }
  const char* storage(int k) const { return storage_type(type(k)); }
  access input_class(int k) const { return v_.inputs[static_cast<std::size_t>(k)]; }
  operand_axes axes(int k) const { return static_cast<operand_axes>(v_.row_only[static_cast<std::size_t>(k)]); }
  /// Constant along the reduced axis.
  bool fixed(int k) const { return input_class(k) == access::uniform; }
  bool staged(int k) const { return !fixed(k) && axes(k) != operand_axes::none; }
  int results() const { return rows_ * columns_; }
  /// Results of a thread, and of a block, along the axis that an input depends on.
  int own(int k) const { return axes(k) == operand_axes::row ? rows_ : columns_; }
  int kept_axis(int k) const { return axes(k) == operand_axes::row ? i_ : j_; }
  std::string place(int k) const { return axes(k) == operand_axes::row ? "down" : "across"; }
  /// The index of a thread's result along that axis.
  std::string index(int k) const { return axes(k) == operand_axes::row ? "v" : "w"; }
  std::string reduced_stride(int k) const { return "a.s" + num(k) + "_" + num(v_.kept); }
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
      t_("  const ", storage(k), "* const b", k, " = a.p", k, " + (", offset("s", k, 0, i_, "k"), ");");
      if (staged(k)) {
        t_("  ", storage(k), "* const m", k, " = reinterpret_cast<", storage(k), "*>(shared + ", at, ");");
        at += cuda_slab_pitch(v_, type(k)) * static_cast<int>(itemsize(type(k))) * side * own(k);
      }
      if (!fixed(k)) continue;
      if (axes(k) == operand_axes::none) {
        t_("  const ", register_type(type(k)), " u", k, " = ", widened(type(k), "*b" + num(k)), ";");
        continue;
      }
      const std::string from = "k" + num(kept_axis(k)) + "0 + " + place(k) + " + q * " + num(side);
      const std::string value = "b" + num(k) + "[" + clamped(kept_axis(k), "(" + from + ")") + " * a.s" + num(k) + "_" +
                                num(kept_axis(k)) + "]";
      t_("  ", register_type(type(k)), " u", k, "[", own(k), "];");
      t_("#pragma unroll");
      t_("  for (int q = 0; q < ", own(k), "; ++q) u", k, "[q] = ", widened(type(k), value), ";");
    }
  }

  /// Neighbouring threads take neighbouring slots, or neighbouring rows where those are contiguous.
  void load_slab(int k) {
    const int extent = side * own(k), pitch = cuda_slab_pitch(v_, type(k));
    const bool by_rows = input_class(k) == access::staged;
    const std::string stride = reduced_stride(k), axis = num(kept_axis(k));
    t_("#pragma unroll");
    t_("    for (int n = 0; n < ", std::max(1, extent * slots_ / cuda_block), "; ++n) {");
    t_("      const int at = n * ", cuda_block, " + (int)threadIdx.x;");
    t_("      const int row = at ", by_rows ? "% " + num(extent) : "/ " + num(slots_), ", slot = at ",
       by_rows ? "/ " + num(extent) : "% " + num(slots_), ";");
    t_("      const int t = first + (slot & (1 << shift) - 1), round = slot >> shift;");
    t_("      const int g = round * lanes + ", lane_of("t"), ";");
    t_("      if (row >= ", extent, " || slot >= ", slots_, " || round >= rounds || g > full) continue;");
    t_("      const ", storage(k), "* const from = b", k, " + ", clamped(kept_axis(k), "(k" + axis + "0 + row)"),
       " * a.s", k, "_", kept_axis(k), " + (I)g * ", cuda_group, " * ", input_class(k) == access::linear ? "1" : stride,
       ";");
    t_("      sn::pack<", storage(k), ", ", cuda_group, "> x;");
    if (input_class(k) == access::linear) {
      t_("      if (g < full) x = sn::fetch<", cuda_group, ">(from);");
      if (v_.vector == 1)
        t_("      else for (int l = 0; g * ", cuda_group, " + l < (int)a.elements; ++l) x.v[l] = from[l];");
    } else {
      t_("#pragma unroll");
      t_("      for (int l = 0; l < ", cuda_group, "; ++l)");
      t_("        if (g * ", cuda_group, " + l < (int)a.elements) x.v[l] = from[l * ", stride, "];");
    }
    t_("      sn::put(m", k, " + row * ", pitch, " + slot * ", cuda_group, ", x);");
    t_("    }");
  }

  /// One lane of all results of a thread, and its place in the tree.
  void lane() {
    t_("#pragma unroll");
    t_("      for (int q = 0; q < ", results(), "; ++q) acc[q].init();");
    t_("#pragma unroll 1");
    t_("      for (int round = 0; round < rounds; ++round) {");
    t_("        const int g = round * lanes + ", lane_of("t"), ", slot = round << shift | t - first;");
    t_("        if (g < full) {");
    t_("          const I r0 = (I)g * ", cuda_group, ";");
    group("          ");
    t_("        }");
    if (v_.vector == 1) {
      t_("        if (g == full) {");
      t_("#pragma unroll 1");
      t_("          for (I r0 = (I)full * ", cuda_group, "; r0 < (I)a.elements; ++r0) {");
      tail("            ");
      t_("          }");
      t_("        }");
    }
    t_("      }");
    join(0, "      ");
  }

  void join(int level, const std::string& in) {
    if (level == v_.tile.levels) return;
    const std::string each = "for (int q = 0; q < " + num(results()) + "; ++q) ", s = "s" + num(level) + "[q]";
    t_(in, "if (t >> ", level, " & 1) {");
    t_("#pragma unroll");
    t_(in, "  ", each, "{");
    for (std::size_t r = 0; r < p_.reductions.size(); ++r) {
      const std::string a = ".a" + num(static_cast<int>(r));
      t_(in, "    ", s, a, ".merge(acc[q]", a, ");");
    }
    t_(in, "    acc[q] = ", s, ";");
    t_(in, "  }");
    join(level + 1, in + "  ");
    t_(in, "} else {");
    t_("#pragma unroll");
    t_(in, "  ", each, s, " = acc[q];");
    t_(in, "}");
  }

  void group(const std::string& in) {
    for (int k : element_.inputs) {
      if (fixed(k)) continue;
      const std::string pack = std::string("sn::pack<") + storage(k) + ", " + num(cuda_group) + ">";
      t_(in, pack, " i", k, "[", staged(k) ? own(k) : 1, "];");
      t_("#pragma unroll");
      if (staged(k))
        t_(in, "for (int q = 0; q < ", own(k), "; ++q) i", k, "[q] = sn::fetch<", cuda_group, ">(m", k, " + (",
           place(k), " + q * ", side, ") * ", cuda_slab_pitch(v_, type(k)), " + slot * ", cuda_group, ");");
      else
        t_(in, "for (int l = 0; l < ", cuda_group, "; ++l) i", k, "[0].v[l] = b", k, "[(r0 + l) * ", reduced_stride(k),
           "];");
    }
    each_result(in, cuda_group, [&](int k) { return "i" + num(k) + "[" + (staged(k) ? index(k) : "0") + "].v[l]"; });
  }

  void tail(const std::string& in) {
    each_result(in, 1, [&](int k) {
      if (!staged(k)) return "b" + num(k) + "[r0 * " + reduced_stride(k) + "]";
      return "m" + num(k) + "[(" + place(k) + " + " + index(k) + " * " + num(side) + ") * " +
             num(cuda_slab_pitch(v_, type(k))) + " + slot * " + num(cuda_group) + " + (int)(r0 - full * " +
             num(cuda_group) + ")]";
    });
  }

  /// The phase over consecutive elements of each result of a thread, and the steps of its accumulators.
  void each_result(const std::string& in, int lanes, const std::function<std::string(int)>& stored) {
    t_("#pragma unroll");
    t_(in, "for (int v = 0; v < ", rows_, "; ++v) {");
    t_("#pragma unroll");
    t_(in, "  for (int w = 0; w < ", columns_, "; ++w) {");
    for (int k : element_.inputs)
      if (!fixed(k)) t_.add(lane_values(p_, k, lanes, stored(k), in + "    "));
    t_(call_group(
        p_, element_, lanes,
        [&](char, int k) -> argument {
          if (!fixed(k)) return {"z" + num(k), register_type(type(k))};
          return {"u" + num(k) + (axes(k) == operand_axes::none ? "" : "[" + index(k) + "]"), ""};
        },
        in + "    "));
    t_.add(accumulate(p_, "acc[v * " + num(columns_) + " + w]", lanes, in + "    "));
    t_(in, "  }");
    t_(in, "}");
  }

  void finish() {
    t_("#pragma unroll");
    t_("  for (int v = 0; v < ", rows_, "; ++v) {");
    t_("#pragma unroll");
    t_("    for (int w = 0; w < ", columns_, "; ++w) {");
    t_("      const I row = k", i_, "0 + down + v * ", side, ", column = k", j_, "0 + across + w * ", side, ";");
    t_("      if (row < a.e", i_, ".n && column < a.e", j_, ".n)");
    t_("        finish(a, (outer * a.e", i_, ".n + row) * a.e", j_, ".n + column, acc[v * ", columns_, " + w]);");
    t_("    }");
    t_("  }");
  }

  const program& p_;
  const cuda_variant& v_;
  int rows_, columns_, slots_;
  int i_ = v_.kept - 2, j_ = v_.kept - 1;  // the kept axes of a tile
  phase element_;
  text t_;
};

}  // namespace

std::string emit_reduce_tiles(const program& p, const cuda_variant& v) { return tile_reducer(p, v).run(); }

}  // namespace sinter::jit::cuda
