// Elementwise CUDA kernels over tiles: inputs that are contiguous along another axis than the inner one are read along
// that axis into shared memory, whole tiles at a time, and from there along the inner axis, as all other operands are.
//
// Elements move as packs of `vector` lanes: V packs along the tile's axis are transposed in registers to V packs along
// the inner axis, so that accesses of shared memory are words also where elements are bytes. Row y of a tile lies at
// row (y mod V) * rows / V + y / V, so that neighbouring threads, which have neighbouring packs, use different banks.
#include <algorithm>

#include "jit/cuda/emit_map.hpp"
#include "jit/prelude_text.hpp"

namespace sinter::jit::cuda {
namespace {

class tile_emitter : map_writer {
 public:
  tile_emitter(const program& p, const cuda_variant& v)
      : map_writer(p, v), axis_(v.tile.axis), across_(1 << v.tile.across), down_(1 << v.tile.down) {}

  std::string run() {
    open();
    t_.add(shared_memory(cuda_tile_bytes(p_, v_)));
    tile_pointers();
    uniform_values("  ");
    t_("  const I x0 = (I)blockIdx.x * ", across_, ";");
    if (v_.rank > 2) {
      t_("  for (long long z = blockIdx.z; z < a.outer; z += gridDim.z) {");
      other_coordinates();
    }
    t_("  for (I y0 = (I)blockIdx.y * ", down_, "; y0 < a.e", axis_, ".n; y0 += (I)gridDim.y * ", down_, ") {");
    for (int k : element_.inputs)
      if (is_staged(k)) stage(k);
    t_("    __syncthreads();");
    elements();
    t_("    __syncthreads();");
    t_("  }");
    if (v_.rank > 2) t_("  }");
    t_("}");
    return t_.str() + close_kernel();
  }

 private:
  std::string pack(int k) const { return std::string("sn::pack<") + storage_type(type(k)) + ", " + num(vec_) + ">"; }
  std::string extent(int axis) const { return "a.e" + num(axis) + ".n"; }
  int pitch(int k) const { return cuda_tile_pitch(v_, type(k)); }

  /// m<k>: the tile of a staged input.
  void tile_pointers() {
    int at = 0;
    for (int k : element_.inputs) {
      if (!is_staged(k)) continue;
      t_("  ", storage_type(type(k)), "* const m", k, " = reinterpret_cast<", storage_type(type(k)), "*>(shared + ", at,
         ");");
      at += (pitch(k) * static_cast<int>(itemsize(type(k))) * down_ + 15) & ~15;
    }
  }

  /// Coordinates of the axes outside of the tile.
  void other_coordinates() {
    std::string rest = "(I)z";
    int left = v_.rank - 2;
    for (int j = inner_ - 1; j >= 0; --j) {
      if (j == axis_) continue;
      if (--left == 0) {
        t_("    const I c", j, " = ", rest, ";");
        return;
      }
      t_("    const I q", j, " = a.e", j, ".quotient(", rest, "), c", j, " = ", rest, " - q", j, " * ", extent(j), ";");
      rest = "q" + num(j);
    }
  }

  /// "const int t = ...; const I c<inner> = ..., c<axis> = ...;" of the part `t` of a tile, with neighbours along the
  /// tile's axis or the inner one, and the condition that it lies in the space.
  group_place part(const std::string& number, bool along_axis) const {
    const std::string rows = num(down_ / vec_), packs = num(across_ / vec_), v = num(vec_);
    const std::string x = along_axis ? "t / " + rows : "t % " + packs;
    const std::string y = along_axis ? "t % " + rows + " * " + v : "t / " + packs;
    return {"const int t = (" + number + ") * " + num(cuda_block) + " + (int)threadIdx.x; const I c" + num(inner_) +
                " = x0 + " + x + " * " + v + ", c" + num(axis_) + " = y0 + " + y + ";",
            "c" + num(inner_) + " < " + extent(inner_) + " && c" + num(axis_) + " < " + extent(axis_)};
  }

  /// Reads the tile of input k: a thread has V packs along the axis, of V neighbours on the inner axis, at a time.
  void stage(int k) {
    const int units = across_ * down_ / (vec_ * vec_ * cuda_block);
    const group_place at = part("u", true);
    const std::string each = "for (int u = 0; u < " + num(units) + "; ++u) {", lanes = num(vec_);
    t_("    {");
    t_("      ", pack(k), " f[", units, "][", vec_, "];");
    t_("#pragma unroll");
    t_("      ", each);
    t_("        ", at.coordinates);
    t_("        if (", at.inside, ") {");
    t_("          const ", storage_type(type(k)), "* const from = a.p", k, " + (", offset("s", k, 0, v_.rank, "c"),
       ");");
    t_("#pragma unroll");
    t_("          for (int j = 0; j < ", vec_, "; ++j) f[u][j] = sn::fetch<", vec_, ">(from + j * a.s", k, "_", inner_,
       ");");
    t_("        }");
    t_("      }");
    t_("#pragma unroll");
    t_("      ", each);
    t_("        const int t = u * ", cuda_block, " + (int)threadIdx.x;");
    t_("#pragma unroll");
    t_("        for (int j = 0; j < ", vec_, "; ++j) {");
    t_("          ", pack(k), " row;");
    t_("#pragma unroll");
    t_("          for (int l = 0; l < ", vec_, "; ++l) row.v[l] = f[u][l].v[j];");
    t_("          sn::put(m", k, " + (j * ", down_ / vec_, " + t % ", down_ / vec_, ") * ", pitch(k), " + t / ",
       down_ / vec_, " * ", vec_, ", row);");
    t_("        }");
    t_("      }");
    t_("    }");
  }

  void elements() {
    const int all = across_ * down_ / (vec_ * cuda_block), some = std::min(all, groups_at_once());
    t_("#pragma unroll 1");
    t_("    for (int g = 0; g < ", all, "; g += ", some, ") {");
    groups("      ", some, part("g + u", false), [&](int k) {
      const std::string y = "t / " + num(across_ / vec_), v = num(vec_);
      const std::string row =
          vec_ == 1 ? y : "(" + y + " % " + v + " * " + num(down_ / vec_) + " + " + y + " / " + v + ")";
      return "m" + num(k) + " + " + row + " * " + num(pitch(k)) + " + t % " + num(across_ / vec_) + " * " + v;
    });
    t_("    }");
  }

  /// A power of two: whole steps make up a tile.
  int groups_at_once() const {
    const int n = v_.baseline ? 1 : cuda_unroll(p_, v_);
    return n >= 4 ? 4 : n >= 2 ? 2 : 1;
  }

  int axis_, across_, down_;
};

}  // namespace

std::string emit_tiles(const program& p, const cuda_variant& v) { return tile_emitter(p, v).run(); }

}  // namespace sinter::jit::cuda
