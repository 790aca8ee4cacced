// Legal schedules on tiles: transposed operands, results of pairs, rows that share what they read.
#include <algorithm>
#include <bit>
#include <cmath>

#include "jit/cuda/schedule/legal.hpp"

namespace sinter::cuda {
namespace {

using jit::access;
using jit::cuda_shape;
using jit::launch;
using jit::operand;

// --- tiles

/// Fewer elements than this have the simple kernel, as do fewer along the two axes of a tile, which the first-level cache
/// holds; from the third number on, tiles are larger.
constexpr std::int64_t tiled_elements = std::int64_t{1} << 16, tile_elements = 2048,
                       large_tiles = std::int64_t{1} << 22;
/// Bytes of a tile of the widest staged input, and of all tiles of a block.
constexpr int large_tile_bytes = 1 << 14, most_tile_bytes = 46 << 10;

/// Bytes of the sectors that an element's access moves where neighbouring threads are `stride` elements apart.
std::int64_t sector_bytes(std::int64_t stride, std::size_t size) noexcept {
  return std::clamp<std::int64_t>(std::abs(stride) * static_cast<std::int64_t>(size), 1, 32);
}

bool is_loaded(const jit::program& p, std::size_t input) noexcept {
  return std::any_of(p.code.begin(), p.code.end(),
                     [&](const jit::instr& i) { return i.op == jit::opcode::load && i.a == input; });
}

/// Bytes of sectors that an input's element does not move if it is read along `axis` into shared memory. 0: it is not
/// worth it; where neighbours on the inner axis share sectors, the first-level cache does as well.
std::int64_t saved_by_staging(const launch& l, std::size_t k, int axis) noexcept {
  const operand& o = l.inputs[k];
  const int inner = l.extents.size() - 1;
  if (gathered(l, k) || !is_loaded(*l.code, k) || o.strides[axis] == 0 || o.strides[inner] == 0) return 0;
  const std::int64_t along = sector_bytes(o.strides[axis], size_of_input(l, k));
  return sector_bytes(o.strides[inner], size_of_input(l, k)) == 32 && 2 * along <= 32 ? 32 - along : 0;
}

/// Bytes that tiles of an axis save for each element.
std::int64_t saved_by_tiles(const launch& l, int axis) noexcept {
  std::int64_t saved = 0;
  for (std::size_t k = 0; k < l.inputs.size() && std::min(l.extents[axis], l.extents[l.extents.size() - 1]) >= 4; ++k)
    saved += saved_by_staging(l, k, axis);
  return saved;
}

/// The axis whose tiles save most, or -1.
int tile_axis(const launch& l) noexcept {
  std::int64_t best = 0;
  int found = -1;
  for (int j = 0; j + 1 < l.extents.size(); ++j)
    if (const std::int64_t saved = saved_by_tiles(l, j); saved > best) best = saved, found = j;
  return found;
}

/// Whether other axes lie between those of a tile, so that no cache holds what tiles of few elements share.
bool is_far(const launch& l, int axis) noexcept {
  const int inner = l.extents.size() - 1;
  return axis + 1 < inner && std::min(l.extents[axis], l.extents[inner]) >= 8;
}

/// Whether packs of n elements suit every operand: along the axis for staged inputs, along the inner axis for others.
bool tile_vectors(const launch& l, const jit::cuda_variant& v, int n) noexcept {
  const int inner = v.rank - 1, axis = v.tile.axis;
  if (l.extents[inner] % n != 0 || l.extents[axis] % n != 0) return false;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    if (gathered(l, k) || l.inputs[k].strides[inner] == 0) continue;
    const int along = v.inputs[k] == access::staged ? axis : inner;
    if (!vector_along(l, l.inputs[k], size_of_input(l, k), along, n)) return false;
  }
  for (std::size_t k = 0; k < l.outputs.size(); ++k)
    if (!vector_along(l, l.outputs[k], size_of_output(l, k), inner, n)) return false;
  return true;
}

/// The tile's extents: 32 packs each way, doubled some times; where one axis is short, more of the other. Whether the
/// tiles of all staged inputs fit into a block's shared memory.
bool set_tile(const launch& l, jit::cuda_variant& v, int doublings) noexcept {
  const auto bits = [](std::int64_t n) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1))); };
  int down = 5 + bits(v.vector), across = down;
  const int wide = bits(l.extents[v.rank - 1]), tall = bits(l.extents[v.tile.axis]);
  for (; doublings > 0 && (across < wide || down < tall); --doublings) ++(across > down ? down : across);
  if (tall < down) across += down - tall, down = tall;
  else if (wide < across) down += across - wide, across = wide;
  v.tile.across = static_cast<std::uint8_t>(across);
  v.tile.down = static_cast<std::uint8_t>(down);
  return jit::cuda_tile_bytes(*l.code, v) <= most_tile_bytes;
}

/// Vectors and tile for the inputs that are staged, the widest of which has elements of `size` bytes.
void size_tile(const launch& l, jit::cuda_variant& v, std::size_t size, bool large) noexcept {
  int n = std::min(jit::cuda_vector_length(*l.code), static_cast<int>(std::max<std::size_t>(1, 4 / size)));
  for (v.vector = static_cast<std::uint8_t>(n); n > 1; v.vector = static_cast<std::uint8_t>(n /= 2))
    if (tile_vectors(l, v, n) && set_tile(l, v, 0)) break;
  int doublings = 0;
  if (large)
    for (auto bytes = static_cast<int>(size) * 1024 * n * n; bytes < large_tile_bytes; bytes *= 2) ++doublings;
  while (!set_tile(l, v, doublings)) --doublings;
}

/// Whether two inputs read the same memory, one of them transposed.
bool are_mirrored(const launch& l, int axis, const operand& a, std::size_t size_of_a, const operand& b,
                  std::size_t size_of_b) noexcept {
  const int inner = l.extents.size() - 1;
  if (size_of_a != size_of_b || a.base != b.base || a.offset != b.offset) return false;
  for (int j = 0; j < inner; ++j)
    if (j != axis && a.strides[j] != b.strides[j]) return false;
  return a.strides[axis] == b.strides[inner] && a.strides[inner] == b.strides[axis];
}

/// Whether square tiles of a square read an input both as it is and transposed.
bool is_mirrored(const launch& l, const jit::cuda_variant& v) noexcept {
  if (v.tile.across != v.tile.down || l.extents[v.tile.axis] != l.extents[v.rank - 1]) return false;
  for (std::size_t k = 0; k < l.inputs.size(); ++k)
    for (std::size_t j = 0; j < l.inputs.size() && v.inputs[k] == access::staged; ++j)
      if (v.inputs[j] != access::staged && v.inputs[j] != access::uniform && !gathered(l, j) &&
          are_mirrored(l, v.tile.axis, l.inputs[k], size_of_input(l, k), l.inputs[j], size_of_input(l, j)))
        return true;
  return false;
}

void make_tiled(const launch& l, int axis, bool large, jit::cuda_variant& v) {
  const int inner = v.rank - 1;
  v.shape = cuda_shape::tiled;
  v.tile.axis = static_cast<std::uint8_t>(axis);
  for (const operand& o : l.inputs)
    v.inputs.push_back(constant_over(l, o, 0, v.rank) ? access::uniform : access::strided);
  std::size_t widest = 0;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    if (saved_by_staging(l, k, axis) == 0) continue;
    v.inputs[k] = access::staged;
    if (set_tile(l, v, 0)) widest = std::max(widest, size_of_input(l, k));
    else v.inputs[k] = access::strided;
  }
  size_tile(l, v, widest, large);
  const bool vectors = v.vector > 1;
  for (std::size_t k = 0; k < l.inputs.size(); ++k)
    if (vectors && v.inputs[k] == access::strided && !gathered(l, k) && l.inputs[k].strides[inner] == 1)
      v.inputs[k] = access::linear;
  v.outputs.assign(l.outputs.size(), vectors ? access::linear : access::strided);
  v.tile.mirrored = is_mirrored(l, v);
  share_places(l, v);
  v.wide_index = !fits_narrow(l, core::element_count(l.extents));
}

// --- tiles of results

}  // namespace

int accumulator_words(const jit::program& p) noexcept {
  int words = 0;
  for (const jit::reduce_desc& r : p.reductions) {
    const int one = std::max(1, static_cast<int>(itemsize(r.arg)) / 4);
    const bool place = r.op == jit::reduce_op::argmin || r.op == jit::reduce_op::argmax;
    words += r.op == jit::reduce_op::moment2 ? 3 * one : place ? one + 2 : one;
  }
  return words;
}

namespace {

int weight_of_elements(const jit::program& p) noexcept {
  int weight = 0;
  for (std::size_t k = 0; k < p.epilogue; ++k) weight += jit::weight(p.code[k].op);
  return weight;
}

}  // namespace

bool is_short_element(const jit::program& p) noexcept {
  for (std::size_t k = 0; k < p.epilogue; ++k) {
    const jit::instr& i = p.code[k];
    if (i.op == jit::opcode::coord || i.op == jit::opcode::checked_index || jit::is_random(i.op)) return false;
    if ((i.op == jit::opcode::sin || i.op == jit::opcode::cos) && !p.flags.fast_math) return false;
  }
  return weight_of_elements(p) <= 64 && p.calls.empty() && p.combines.empty();
}

std::int64_t tree_lanes(const launch& l, bool rows) noexcept {
  const reduce_geometry g = rows ? row_geometry(l) : column_geometry(l, 1);
  const std::int64_t lanes = rows ? g.first.block_x : g.first.block_y;
  return g.splits > 1 || lanes > 32 ? 0 : lanes;
}

namespace {

/// The kept axis of each input, and how its slab is read. False if an input depends on both axes, or none on one.
bool set_slabs(const launch& l, jit::cuda_variant& v) {
  using jit::operand_axes;
  const int i = l.kept - 2, j = l.kept - 1, r = l.kept;
  bool found[3] = {};
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const operand& o = l.inputs[k];
    const bool read = in_prologue(*l.code, k), row = o.strides[i] != 0, column = o.strides[j] != 0;
    if (read && (gathered(l, k) || (row && column))) return false;
    const operand_axes axes = !read    ? operand_axes::none
                              : row    ? operand_axes::row
                              : column ? operand_axes::column
                                       : operand_axes::none;
    const bool fixed = o.strides[r] == 0;
    const bool by_rows = axes != operand_axes::none && std::abs(o.strides[row ? i : j]) < std::abs(o.strides[r]);
    v.row_only.push_back(static_cast<std::uint8_t>(axes));
    v.inputs.push_back(fixed                                                         ? access::uniform
                       : vector_along(l, o, size_of_input(l, k), r, jit::cuda_group) ? access::linear
                       : by_rows                                                     ? access::staged
                                                                                     : access::strided);
    found[static_cast<int>(axes)] = found[static_cast<int>(axes)] || !fixed;
  }
  return found[static_cast<int>(operand_axes::row)] && found[static_cast<int>(operand_axes::column)];
}

/// The most results of a thread along both axes: registers hold lanes that have not been joined yet, and there must be
/// tiles enough for all multiprocessors.
bool set_results(const launch& l, jit::cuda_variant& v) noexcept {
  const int words = accumulator_words(*l.code);
  const int most = kept_count(l) < (1 << 20) ? 4 : 112 / (words * (v.tile.levels + 2));
  v.tile.down = most >= 16 ? 2 : 1;
  v.tile.across = most >= 8 ? 2 : 1;
  return most >= 4;
}

/// As many groups of each row in shared memory as there is room for; false if a result's lane does not fit.
bool set_slots(const launch& l, std::int64_t lanes, jit::cuda_variant& v) noexcept {
  v.tile.slots = 16;
  while (v.tile.slots > 0 && jit::cuda_slab_bytes(*l.code, v) > most_tile_bytes) v.tile.slots /= 2;
  return rounds_of(reduced_count(l), lanes) <= v.tile.slots;
}

/// Code of elements and steps is copied for a second lane and for the first groups. Where elements weigh more, or
/// accumulators have more words than a number, what joins take is little beside it.
constexpr int most_paired_weight = 4, most_paired_words = 2;

bool is_reduce_tiles(const launch& l, bool small, jit::cuda_variant& v) {
  if (l.kept < 2 || l.extents.size() - l.kept != 1 || reduced_count(l) < 2 || !is_short_element(*l.code)) return false;
  const std::int64_t down = l.extents[l.kept - 2], across = l.extents[l.kept - 1];
  if (down > (1 << 20) || kept_count(l) / (down * across) > 65535) return false;
  const bool rows = prefers_rows(l);
  const std::int64_t lanes = tree_lanes(l, rows);
  if (lanes == 0 || !set_slabs(l, v)) return false;
  v.shape = cuda_shape::reduce_tiles;
  v.tile.levels = static_cast<std::uint8_t>(std::bit_width(static_cast<std::uint64_t>(lanes)) - 1);
  v.tile.halves = !rows;
  v.vector = reduced_count(l) % jit::cuda_group == 0 ? jit::cuda_group : 1;
  if (!set_results(l, v)) return false;
  if (small) v.tile.down = v.tile.across = 1;
  v.outputs.assign(l.outputs.size(), access::strided);
  v.wide_index = !fits_narrow(l, kept_count(l));
  if (!set_slots(l, lanes, v)) return false;
  const bool cheap =
      weight_of_elements(*l.code) <= most_paired_weight && accumulator_words(*l.code) <= most_paired_words;
  const bool all_lanes = v.vector != 1 && jit::cuda_group * lanes <= reduced_count(l);
  v.tile.pairs = rows && lanes > 1 && cheap && all_lanes && 2 * rounds_of(reduced_count(l), lanes) <= v.tile.slots;
  return true;
}

bool is_shared_rows(const launch& l, int bits, jit::cuda_variant& v) {
  if (l.kept != 1 || l.extents.size() != 2 || !prefers_rows(l) || !is_short_element(*l.code)) return false;
  if (row_geometry(l).splits > 1) return false;
  bool streams = false;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const operand& o = l.inputs[k];
    const bool read = in_prologue(*l.code, k), along = o.strides[1] != 0;
    if (read && (gathered(l, k) || (along && o.strides[0] != 0))) return false;
    streams = streams || (read && along);
    v.inputs.push_back(!along                                                        ? access::uniform
                       : vector_along(l, o, size_of_input(l, k), 1, jit::cuda_group) ? access::linear
                                                                                     : access::strided);
  }
  v.shape = cuda_shape::shared_rows;
  v.tile.down = static_cast<std::uint8_t>(bits);
  v.outputs.assign(l.outputs.size(), access::strided);
  v.wide_index = !fits_narrow(l, std::max(l.extents[0], l.extents[1]) * 2);
  return streams;
}

}  // namespace

void add_tiled(const launch& l, extent_of_search which, variant_list& to) {
  const std::int64_t count = core::element_count(l.extents);
  if (which == extent_of_search::considered) {
    const int axis = count < tiled_elements ? -1 : tile_axis(l), inner = l.extents.size() - 1;
    if (axis >= 0 && (l.extents[inner] * l.extents[axis] >= tile_elements || is_far(l, axis)))
      make_tiled(l, axis, count >= large_tiles, to.add(l));
    return;
  }
  for (int axis = 0; axis + 1 < l.extents.size(); ++axis)
    if (saved_by_tiles(l, axis) > 0)
      for (const bool large : {false, true}) make_tiled(l, axis, large, to.add(l));  // perhaps the same
}

void add_reduce_tiles(const launch& l, extent_of_search which, variant_list& to) {
  const bool all = which == extent_of_search::all;
  const auto add = [&](bool small) {
    return to.add_if(l, [&](jit::cuda_variant& v) { return is_reduce_tiles(l, small, v); });
  };
  const bool pays =
      kept_count(l) >= (1 << 15) && l.kept >= 2 && std::min(l.extents[l.kept - 2], l.extents[l.kept - 1]) >= 32;
  if ((all || pays) && add(false) && all) add(true);
}

// Where there are enough rows for all multiprocessors.
void add_shared_rows(const launch& l, extent_of_search which, variant_list& to) {
  const bool all = which == extent_of_search::all;
  const reduce_geometry g = row_geometry(l);
  const bool pays = g.first.x >= 1024 && reduced_count(l) >= std::max<std::int64_t>(64, 4 * g.first.block_x);
  if (!all && !pays) return;
  const int chosen = accumulator_words(*l.code) <= 8 ? 2 : 1;
  for (const int bits : {chosen, 3 - chosen})
    if (!to.add_if(l, [&](jit::cuda_variant& v) { return is_shared_rows(l, bits, v); }) || !all) return;
}

}  // namespace sinter::cuda
