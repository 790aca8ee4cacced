// Elementwise CUDA kernels over tiles: inputs that are contiguous along another axis than the inner one are read along
// that axis into shared memory, whole tiles at a time, and from there along the inner axis, as all other operands are.
//
// Elements move as packs of `vector` lanes: V packs along the tile's axis are transposed in registers to V packs along
// the inner axis, so that accesses of shared memory are words also where elements are bytes. Row y of a tile lies at
// row (y mod V) * rows / V + y / V, so that neighbouring threads, which have neighbouring packs, use different banks.
#include <algorithm>

#include "jit/cuda/shapes/emit_map.hpp"

namespace sinter::jit::cuda {
namespace {

class tile_writer : map_writer {
 public:
  tile_writer(const program& p, const cuda_variant& v)
      : map_writer(p, v), axis_(v.tile.axis), across_(1 << v.tile.across), down_(1 << v.tile.down) {}

  std::string run() {
    begin(cuda_tile_bytes(p_, v_), resident_blocks());
    tile_pointers();
    t_("const int tid = (int)threadIdx.x;");
    t_("int tile_x = (int)blockIdx.x, tile_y = (int)blockIdx.y;");
    if (v_.tile.mirrored) t_("if (gridDim.x == gridDim.y) sn::place_beside_mirror(tile_x, tile_y);");
    t_("const I x0 = (I)tile_x * ", across_, ";");
    over_outer_axes([this] { other_coordinates(); }, [this] { all_tiles(); });
    t_("}");
    return close();
  }

 private:
  /// While a block waits for its tile, others compute: short programs do with the registers that four blocks leave. With six
  /// blocks more of what is read lies in the cache when it is read across the diagonal.
  int resident_blocks() const {
    const int work = total_weight(p_, 0, static_cast<int>(p_.code.size()));
    if (v_.tile.mirrored && work <= 12 && element_.inputs.size() <= 2) return 6;
    return work <= 40 && element_.inputs.size() <= 4 ? 4 : 0;
  }
  bool is_staged(int k) const { return input_class(k) == access::staged; }
  std::string extent(int axis) const { return "a.e" + num(axis) + ".n"; }
  int pitch(int k) const { return cuda_tile_pitch(v_, type(k)); }

  void all_tiles() {
    const std::string down = num(down_);
    t_.scope("for (I y0 = (I)tile_y * " + down + "; y0 < " + extent(axis_) + "; y0 += (I)gridDim.y * " + down + ")",
             [&] {
               for (int k : element_.inputs)
                 if (is_staged(k)) t_.scope("", [&] { stage(k); });
               t_("__syncthreads();");
               elements();
               t_("__syncthreads();");
             });
  }

  /// m<k>: the tile of a staged input.
  void tile_pointers() {
    int at = 0;
    for (int k : element_.inputs) {
      if (!is_staged(k)) continue;
      t_(storage(k), "* const m", k, " = reinterpret_cast<", storage(k), "*>(shared + ", at, ");");
      at += (pitch(k) * static_cast<int>(itemsize(type(k))) * down_ + 15) & ~15;
    }
  }

  /// Coordinates of the axes outside of the tile.
  void other_coordinates() {
    std::string rest = "(I)z";
    int left = v_.rank - 2;
    for (int j = inner_ - 1; j >= 0; --j) {
      if (j == axis_) continue;
      if (--left == 0) return void(t_("const I c", j, " = ", rest, ";"));
      t_("const I q", j, " = a.e", j, ".quotient(", rest, "), c", j, " = ", rest, " - q", j, " * ", extent(j), ";");
      rest = "q" + num(j);
    }
  }

  /// Where a part of a tile lies: of all of a block's threads' parts with a number, `side` are neighbours.
  struct part_place {
    std::string line, at;
  };
  /// Written so that all but `line` of a number is the same for each of a thread's parts.
  static part_place place_in(int side, const std::string& number) {
    if (side <= cuda_block)
      return {"((" + number + ") * " + num(cuda_block / side) + " + tid / " + num(side) + ")", "tid % " + num(side)};
    const std::string t = "((" + number + ") * " + num(cuda_block) + " + tid)";
    return {t + " / " + num(side), t + " % " + num(side)};
  }
  /// Declares the coordinates of a part of a tile, with neighbours along the tile's axis or the inner one.
  std::string part(const std::string& number, bool along_axis) const {
    const part_place p = place_in((along_axis ? down_ : across_) / vec_, number);
    const std::string v = num(vec_), x = along_axis ? p.line : p.at, y = along_axis ? p.at + " * " + v : p.line;
    return "const I c" + num(inner_) + " = x0 + (I)(" + x + ") * " + v + ", c" + num(axis_) + " = y0 + (I)(" + y + ");";
  }
  /// Whether it lies in the space.
  std::string inside() const {
    return "c" + num(inner_) + " < " + extent(inner_) + " && c" + num(axis_) + " < " + extent(axis_);
  }

  /// Reads the tile of input k: a thread has V packs along the axis, of V neighbours on the inner axis, at a time.
  void stage(int k) {
    const int units = across_ * down_ / (vec_ * vec_ * cuda_block), rows = down_ / vec_;
    t_(pack(k, vec_), " f[", units, "][", vec_, "];");
    t_.unrolled("u", units, [&] {
      t_(part("u", true));
      t_.scope("if (" + inside() + ")", [&] {
        shared_offsets();
        t_("const ", storage(k), "* const from = ", place_of(k), ";");
        t_("#pragma unroll");
        t_("for (int j = 0; j < ", vec_, "; ++j) f[u][j] = sn::fetch<", vec_, ">(from + j * ",
           stride_of(static_cast<std::size_t>(k), inner_), ");");
      });
    });
    t_.unrolled("u", units, [&] {
      const part_place p = place_in(rows, "u");
      if (vec_ > 1) t_("sn::turn(f[u]);");
      t_.unrolled("j", vec_, [&] {
        t_("sn::put(m", k, " + (j * ", rows, " + ", p.at, ") * ", pitch(k), " + ", p.line, " * ", vec_, ", f[u][j]);");
      });
    });
  }

  void elements() {
    const int all = across_ * down_ / (vec_ * cuda_block), some = std::min(all, groups_at_once());
    const part_place p = place_in(across_ / vec_, "g + u");
    const std::string y = "(" + p.line + ")", v = num(vec_);
    const std::string row =
        vec_ == 1 ? y : "(" + y + " % " + v + " * " + num(down_ / vec_) + " + " + y + " / " + v + ")";
    t_.loop("for (int g = 0; g < " + num(all) + "; g += " + num(some) + ")", [&] {
      groups(some, part("g + u", false), inside(),
             [&](int k) { return "m" + num(k) + " + " + row + " * " + num(pitch(k)) + " + " + p.at + " * " + v; });
    });
  }

  /// A power of two: whole steps make up a tile.
  int groups_at_once() const { return v_.baseline || unroll_ < 2 ? 1 : unroll_ < 4 ? 2 : 4; }

  int axis_, across_, down_;
};

}  // namespace

std::string emit_tiles(const program& p, const cuda_variant& v) { return tile_writer(p, v).run(); }

}  // namespace sinter::jit::cuda
