// Grids and parameter blocks of launches.
#include "jit/cuda/launch.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "jit/program/addition_order.hpp"
#include "jit/program/scalar.hpp"

namespace sinter::cuda {
namespace {

static_assert(jit::cuda_group == jit::addition_group);

using jit::cuda_shape;
using jit::launch;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t power_of_two_above(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}
/// The chunks and splits of an order, and the grid that joins the splits: some threads of a block along results, the
/// others along splits.
void set_splits(reduce_geometry& g, const jit::addition_order& o) {
  g.chunk = o.chunk;
  g.splits = o.splits;
  g.first.y = static_cast<unsigned>(o.splits);
  if (o.splits == 1) return;
  g.second.block_y = static_cast<unsigned>(o.split_lanes);
  // Where a lane has many splits, fewer threads have more of a block's memory, into which they read ahead.
  constexpr std::int64_t many = 64;
  const std::int64_t threads = o.splits / o.split_lanes >= many ? std::max(o.split_lanes, many) : jit::cuda_block;
  g.second.block_x = static_cast<unsigned>(threads / o.split_lanes);
  g.second.x = static_cast<unsigned>(ceil_div(g.results, g.second.block_x));
}

/// Writes consecutive 8-byte slots.
class slots {
 public:
  explicit slots(std::uint64_t* to) : to_(to) {}
  std::ptrdiff_t count(const std::uint64_t* begin) const noexcept { return to_ - begin; }
  void integer(std::int64_t n) { *to_++ = static_cast<std::uint64_t>(n); }
  void integers(const std::int64_t* from, int count) {
    for (int j = 0; j < count; ++j) integer(from[j]);
  }
  void pointer(const void* p) { *to_++ = reinterpret_cast<std::uintptr_t>(p); }
  /// A register of dtype `t`; a complex number takes two slots, one per part.
  void scalar(dtype t, const jit::scalar& s) {
    unsigned char bytes[16] = {};
    jit::write_register(bytes, t, s);
    const std::size_t part = is_complex(t) ? itemsize(t) / 2 : sizeof(std::uint64_t);
    for (int k = 0; k < (is_complex(t) ? 2 : 1); ++k, ++to_) {
      *to_ = 0;
      std::memcpy(to_, bytes + part * static_cast<std::size_t>(k), part);
    }
  }
  /// A number n that integers are divided by. If it is positive, and no power of two, the high half of x times the multiplier,
  /// shifted, is x / n; for unsigned x that of 2^bits more than the multiplier (T. Granlund and P. Montgomery, "Division by Invariant
  /// Integers using Multiplication", 1994).
  void divisor(dtype t, const jit::scalar& s) {
    const int bits = itemsize(t) == 8 ? 64 : 32, unused = 64 - 8 * static_cast<int>(itemsize(t));
    std::uint64_t n = 0, multiplier = 0, shift = 0;
    jit::write_register(&n, t, s);
    const bool positive = n != 0 && !(is_signed_integer(t) && static_cast<std::int64_t>(n << unused) < 0);
    if (positive) shift = static_cast<std::uint64_t>(std::bit_width(n) - 1);
    if (positive && !std::has_single_bit(n)) {
      const unsigned __int128 power = static_cast<unsigned __int128>(1) << bits << shift;
      unsigned __int128 quotient = power / n;
      if (!is_signed_integer(t)) quotient = quotient * 2 + (power % n * 2 >= n);
      multiplier = static_cast<std::uint64_t>(quotient + 1);
    }
    const std::uint64_t kind = !positive ? 2 : multiplier == 0 ? 0 : 1;
    if (bits == 64) *to_++ = n, *to_++ = multiplier;
    else *to_++ = n | multiplier << 32;
    *to_++ = shift | kind << 32;
  }
  void extents(const core::dims& all, bool wide) {
    for (const std::int64_t n : all) wide ? wide_extent(n) : narrow_extent(n);
  }

 private:
  void wide_extent(std::int64_t n) {
    integer(n);
    integer(0);
  }
  void narrow_extent(std::int64_t n) {
    std::uint64_t multiplier = 0, shift = 0;
    if (n > 0) {
      shift = static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
      multiplier =
          (((std::uint64_t{1} << shift) - static_cast<std::uint64_t>(n)) << 32) / static_cast<std::uint64_t>(n) + 1;
    }
    *to_++ = static_cast<std::uint64_t>(n) | multiplier << 32;
    *to_++ = shift;
  }

  std::uint64_t* to_;
};

/// Sizes that kernels take as parameters; the kernel's shape decides which.
struct sizes {
  std::int64_t n = 0, outer = 1, team = 1;
  reduce_geometry reduction;
};

/// The values of the fields for one launch.
struct field_values {
  const launch& l;
  bool wide_index;
  const sizes& size;
  int* fault;
  void* scratch;

  static const void* address(const jit::operand& o, dtype t) noexcept {
    return static_cast<const char*>(o.base) + o.offset * static_cast<std::int64_t>(itemsize(t));
  }
  void write_wrap(int number, slots& to) const {
    for (const jit::wrapped_read& r : l.wraps) {
      if (number < r.count) {
        const jit::wrap& w = r.wraps[number];
        for (const std::int64_t n : {w.turn, w.before, w.after}) to.integer(n);
        return;
      }
      number -= r.count;
    }
  }
  void write(const jit::cuda_field& f, slots& to) const {
    using role = jit::cuda_field::role;
    const jit::program& p = *l.code;
    switch (f.what) {
      case role::input: return to.pointer(address(l.inputs[f.k], p.inputs[f.k].type));
      case role::output: return to.pointer(address(l.outputs[f.k], p.outputs[f.k].type));
      case role::scalar: return to.scalar(p.param_types[f.k], l.params[f.k]);
      case role::divisor: return to.divisor(p.param_types[f.k], l.params[f.k]);
      case role::fault: return to.pointer(fault);
      case role::gather_strides: return to.integers(l.inputs[f.k].gather_stride, f.members);
      case role::extents: return to.extents(l.extents, wide_index);
      case role::input_strides: return to.integers(l.inputs[f.k].strides.begin(), f.members);
      case role::output_strides: return to.integers(l.outputs[f.k].strides.begin(), f.members);
      case role::wrap: return write_wrap(f.k, to);
      case role::n: return to.integer(size.n);
      case role::outer: return to.integer(size.outer);
      case role::results: return to.integer(size.reduction.results);
      case role::elements: return to.integer(size.reduction.elements);
      case role::team: return to.integer(size.team);
      case role::chunk: return to.integer(size.reduction.chunk);
      case role::splits: return to.integer(size.reduction.splits);
      case role::partial: return to.pointer(scratch);
      case role::run_stride: return to.integer(l.outputs[f.k].gather_stride[0]);
    }
  }
};

bool is_address(jit::cuda_field::role what) noexcept {
  using enum jit::cuda_field::role;
  return what == input || what == output || what == fault || what == partial;
}

/// `known`: jit::cuda_unroll() of the kernel; 0: not known.
int unroll_of(const launch& l, const jit::cuda_variant& v, int known) {
  return known != 0 ? known : jit::cuda_unroll(*l.code, v);
}

grid linear_grid(const launch& l, const jit::cuda_variant& v, int known_unroll) {
  const std::int64_t count = core::element_count(l.extents), block = std::int64_t{jit::cuda_block} * v.vector;
  const int unroll = count <= block ? 1 : unroll_of(l, v, known_unroll);  // one block suffices in any case
  grid g;
  g.x = static_cast<unsigned>(ceil_div(count, block * unroll));
  g.block_x = jit::cuda_block;
  return g;
}

/// Inner axis on x. If operands are contiguous along the other axis, 32 x 32 tiles let the first-level cache do the
/// transposition.
grid strided_grid(const launch& l, const jit::cuda_variant& v, int known_unroll, std::int64_t& outer) {
  const int rank = v.rank, unroll = unroll_of(l, v, known_unroll);
  const std::int64_t across = ceil_div(l.extents[rank - 1] + v.back, v.vector);
  grid g;
  if (rank == 1) {
    g.block_x = jit::cuda_block;
    g.x = static_cast<unsigned>(ceil_div(across, std::int64_t{jit::cuda_block} * unroll));
    return g;
  }
  bool crossed = false;
  for (auto& o : l.inputs) crossed = crossed || (o.strides[rank - 1] > 1 && o.strides[rank - 2] == 1);
  const std::int64_t down = l.extents[rank - 2];
  // Of few rows, as many as a thread does not take one after the other.
  const std::int64_t crossed_width =
      jit::cuda_block / std::min<std::int64_t>(power_of_two_above(ceil_div(down, unroll)), 8);
  std::int64_t width = std::min<std::int64_t>(power_of_two_above(across), crossed              ? crossed_width
                                                                          : down >= 4 * unroll ? 64
                                                                                               : jit::cuda_block);
  g.block_x = static_cast<unsigned>(width);
  g.block_y = static_cast<unsigned>(jit::cuda_block / width);
  g.x = static_cast<unsigned>(ceil_div(across, width));
  g.y = static_cast<unsigned>(std::min<std::int64_t>(ceil_div(down, std::int64_t{g.block_y} * unroll), 65535));
  for (int j = 0; j < rank - 2; ++j) outer *= l.extents[j];
  g.z = static_cast<unsigned>(std::min<std::int64_t>(outer, 65535));
  return g;
}

/// Vectors of the line of the last two axes on x, the other axes on z.
grid flat_grid(const launch& l, const jit::cuda_variant& v, int known_unroll, std::int64_t& outer) {
  const int rank = v.rank;
  const std::int64_t block = std::int64_t{jit::cuda_block} * v.vector * unroll_of(l, v, known_unroll);
  grid g;
  g.block_x = jit::cuda_block;
  g.x = static_cast<unsigned>(ceil_div(l.extents[rank - 1] * l.extents[rank - 2], block));
  for (int j = 0; j < rank - 2; ++j) outer *= l.extents[j];
  g.z = static_cast<unsigned>(std::min<std::int64_t>(outer, 65535));
  return g;
}

/// A block for each tile, as far as the grid's second and third extent go.
grid tile_grid(const launch& l, const jit::cuda_variant& v, std::int64_t& outer) {
  const int inner = v.rank - 1, axis = v.tile.axis;
  for (int j = 0; j < inner; ++j)
    if (j != axis) outer *= l.extents[j];
  grid g;
  g.block_x = jit::cuda_block;
  g.x = static_cast<unsigned>(ceil_div(l.extents[inner], std::int64_t{1} << v.tile.across));
  g.y = static_cast<unsigned>(std::min<std::int64_t>(ceil_div(l.extents[axis], std::int64_t{1} << v.tile.down), 65535));
  g.z = static_cast<unsigned>(std::min<std::int64_t>(outer, 65535));
  return g;
}

grid loop_grid(std::int64_t elements, int multiprocessors) {
  grid g;
  g.block_x = jit::cuda_block;
  g.x = static_cast<unsigned>(
      std::min(ceil_div(elements, jit::cuda_block), std::int64_t{multiprocessors} * jit::cuda_loop_blocks));
  return g;
}

/// Threads run for long: few elements are spread over all multiprocessors.
grid step_grid(std::int64_t elements, int multiprocessors) {
  constexpr std::int64_t warp = 32;
  grid g;
  const std::int64_t block = power_of_two_above(ceil_div(elements, multiprocessors));
  g.block_x = static_cast<unsigned>(std::clamp<std::int64_t>(block, warp, jit::cuda_block));
  g.x = static_cast<unsigned>(std::min(ceil_div(elements, g.block_x), std::int64_t{1} << 20));
  return g;
}

/// Blocks of tiles of the last two kept axes; the others along z.
grid reduce_tile_grid(const launch& l, const jit::cuda_variant& v) {
  grid g;
  g.block_x = jit::cuda_block;
  g.x = static_cast<unsigned>(ceil_div(l.extents[l.kept - 1], std::int64_t{jit::cuda_tile_side} << v.tile.across));
  g.y = static_cast<unsigned>(ceil_div(l.extents[l.kept - 2], std::int64_t{jit::cuda_tile_side} << v.tile.down));
  for (int j = 0; j < l.kept - 2; ++j) g.z *= static_cast<unsigned>(l.extents[j]);
  return g;
}

}  // namespace

reduce_geometry geometry_of(const launch& l, const jit::cuda_variant& v) {
  if (v.shape == cuda_shape::reduce_columns) return column_geometry(l, v.vector);
  reduce_geometry g = v.shape == cuda_shape::crossed_columns ? column_geometry(l, 1) : row_geometry(l);
  if (v.lane_runs > 1) {
    g.first.block_x /= v.lane_runs;
    g.first.block_y *= v.lane_runs;
    g.first.x = static_cast<unsigned>(ceil_div(g.results, g.first.block_y));
  }
  if (v.shape == cuda_shape::reduce_rows || v.shape == cuda_shape::staged_rows) return g;
  // The lanes of a result on the other extent of the block.
  std::swap(g.first.block_x, g.first.block_y);
  if (v.shape == cuda_shape::crossed_rows) g.first.block_x <<= v.tile.across;
  const unsigned together = v.shape == cuda_shape::crossed_rows ? g.first.block_x << v.tile.down : g.first.block_y;
  g.first.x = static_cast<unsigned>(ceil_div(g.results, together));
  return g;
}

std::int64_t kept_count(const launch& l) noexcept {
  std::int64_t n = 1;
  for (int j = 0; j < l.kept; ++j) n *= l.extents[j];
  return n;
}
std::int64_t reduced_count(const launch& l) noexcept {
  std::int64_t n = 1;
  for (int j = l.kept; j < l.extents.size(); ++j) n *= l.extents[j];
  return n;
}

std::int64_t rounds_of(std::int64_t elements, std::int64_t lanes) noexcept {
  return ceil_div(ceil_div(elements, jit::cuda_group), lanes);
}

namespace {

reduce_geometry rows_in_order(std::int64_t results, std::int64_t elements, const jit::addition_order& order) {
  reduce_geometry g;
  g.results = results;
  g.elements = elements;
  const std::int64_t rows = jit::cuda_block / order.lanes;
  g.first.block_x = static_cast<unsigned>(order.lanes);
  g.first.block_y = static_cast<unsigned>(rows);
  g.first.x = static_cast<unsigned>(ceil_div(results, rows));
  set_splits(g, order);
  return g;
}

reduce_geometry columns_in_order(std::int64_t results, std::int64_t elements, const jit::addition_order& order,
                                 int vector) {
  reduce_geometry g;
  g.results = results;
  g.elements = elements;
  g.first.block_y = static_cast<unsigned>(order.lanes);
  g.first.block_x = static_cast<unsigned>(jit::cuda_block / order.lanes);
  g.first.x = static_cast<unsigned>(ceil_div(results, std::int64_t{g.first.block_x} * vector));
  set_splits(g, order);
  return g;
}

}  // namespace

reduce_geometry row_geometry(std::int64_t results, std::int64_t elements) {
  return rows_in_order(results, elements, jit::row_order(results, elements));
}

namespace {

/// More splits of results that have some, where that keeps more multiprocessors busy: of reductions that have no order.
void split_further(jit::addition_order& o, std::int64_t results, std::int64_t elements) {
  constexpr std::int64_t blocks = 256;  // of any GPU, about
  const std::int64_t groups = ceil_div(elements, jit::cuda_group), own = ceil_div(results, jit::cuda_block / o.lanes);
  const std::int64_t wanted = std::min(ceil_div(blocks, std::max<std::int64_t>(own, 1)), groups / o.lanes);
  if (o.splits > 1 && wanted > o.splits) jit::detail::divide(o, results, groups, wanted, o.lanes);
}

jit::addition_order order_of(const launch& l, bool rows) {
  const std::int64_t results = kept_count(l), elements = reduced_count(l);
  if (l.split_lanes != 0) return jit::order_of_split(rows, l.split_lanes, elements);
  const std::int64_t all = l.all_results > 0 ? l.all_results : results;
  jit::addition_order o = rows ? jit::row_order(all, elements) : jit::column_order(all, elements);
  const std::vector<jit::reduce_desc>& reductions = l.code->reductions;
  if (l.all_results == 0 &&
      std::all_of(reductions.begin(), reductions.end(), [](auto& r) { return jit::is_order_free(r); }))
    split_further(o, results, elements);
  return o;
}

}  // namespace

reduce_geometry row_geometry(const launch& l) {
  return rows_in_order(kept_count(l), reduced_count(l), order_of(l, true));
}

reduce_geometry column_geometry(const launch& l, int vector) {
  return columns_in_order(kept_count(l), reduced_count(l), order_of(l, false), vector);
}

std::int64_t groups_of_thread(const reduce_geometry& g) {
  const std::int64_t groups = rounds_of(g.elements, g.first.block_x);
  const std::int64_t step = jit::cuda_rounding(groups);
  return ceil_div(groups, step) * step;
}

int team_size(std::int64_t rows, std::int64_t columns, int multiprocessors) {
  const std::int64_t most = std::int64_t{multiprocessors} * 2048;
  std::int64_t team = 1;
  // From four ninths of the threads on more of them gain less than the smaller parts of rows cost: each has a best of its own.
  while (team < 32 && rows * team * 9 <= most * 4 && team * 2 * jit::cuda_columns <= columns) team *= 2;
  return static_cast<int>(team);
}

namespace {

call plan_call(const launch& l, const jit::cuda_variant& v, int multiprocessors, int unroll, sizes& size) {
  call c;
  switch (v.shape) {
    case cuda_shape::linear:
      size.n = core::element_count(l.extents);
      c.first = linear_grid(l, v, unroll);
      break;
    case cuda_shape::strided: c.first = strided_grid(l, v, unroll, size.outer); break;
    case cuda_shape::flat_rows: c.first = flat_grid(l, v, unroll, size.outer); break;
    case cuda_shape::tiled: c.first = tile_grid(l, v, size.outer); break;
    case cuda_shape::stride_loop:
      size.n = core::element_count(l.extents);
      c.first = loop_grid(size.n, multiprocessors);
      break;
    case cuda_shape::step_loop:
      size.n = core::element_count(l.extents);
      c.first = step_grid(size.n, multiprocessors);
      break;
    case cuda_shape::broadcast_rows:
      size.reduction.results = l.extents[0];
      size.reduction.elements = l.extents[1];
      size.team = team_size(l.extents[0], l.extents[1], multiprocessors);
      c.first.x = static_cast<unsigned>(ceil_div(l.extents[0] * size.team, jit::cuda_block));
      c.first.block_x = jit::cuda_block;
      break;
    case cuda_shape::shared_rows:
      size.reduction = row_geometry(l);
      c.first = size.reduction.first;
      c.first.x = static_cast<unsigned>(ceil_div(c.first.x, std::int64_t{1} << v.tile.down));
      break;
    case cuda_shape::reduce_tiles:
      size.reduction.results = kept_count(l);
      size.reduction.elements = reduced_count(l);
      size.team = std::int64_t{1} << v.tile.levels;
      size.reduction.chunk = rounds_of(size.reduction.elements, size.team);
      c.first = reduce_tile_grid(l, v);
      break;
    case cuda_shape::windows:
      size.reduction.results = kept_count(l);
      size.reduction.elements = reduced_count(l);
      size.team = ceil_div(l.extents[l.kept - 1], jit::cuda_window_results);
      size.reduction.chunk = size.team * (size.reduction.results / std::max<std::int64_t>(l.extents[l.kept - 1], 1));
      c.first.x = static_cast<unsigned>(ceil_div(size.reduction.chunk, jit::cuda_block));
      c.first.block_x = jit::cuda_block;
      break;
    case cuda_shape::staged_rows:
    case cuda_shape::reduce_rows:
    case cuda_shape::reduce_columns:
    case cuda_shape::crossed_rows:
    case cuda_shape::crossed_columns:
      size.reduction = geometry_of(l, v);
      c.first = size.reduction.first;
      c.second = size.reduction.second;
      c.second_stage = size.reduction.splits > 1;
      break;
  }
  return c;
}

}  // namespace

call grids_of(const launch& l, const jit::cuda_variant& v, int multiprocessors) {
  sizes size;
  return plan_call(l, v, multiprocessors, 0, size);
}

call build_call(const launch& l, const jit::cuda_variant& v, std::span<const jit::cuda_field> layout,
                int multiprocessors, int* fault, void* scratch, std::uint64_t* to, int unroll,
                std::vector<pointer_word>* pointers) {
  sizes size;
  const call c = plan_call(l, v, multiprocessors, unroll, size);
  const field_values values{l, v.wide_index, size, fault, scratch};
  slots out(to);
  for (const jit::cuda_field& f : layout) {
    if (pointers && is_address(f.what))
      pointers->push_back({static_cast<std::uint32_t>(out.count(to)), f.what, static_cast<std::uint32_t>(f.k)});
    values.write(f, out);
  }
  return c;
}

std::size_t scratch_bytes(const launch& l, const jit::cuda_variant& v) noexcept {
  if (!jit::cuda_has_second_stage(v)) return 0;
  const reduce_geometry g = geometry_of(l, v);
  if (g.splits <= 1) return 0;
  return static_cast<std::size_t>(g.results * g.splits) * l.code->reductions.size() *
         static_cast<std::size_t>(jit::cuda_stored_bytes(*l.code));
}

}  // namespace sinter::cuda
