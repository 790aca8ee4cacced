// Grids and parameter blocks of launches.
#include "backends/cuda/cuda_launch.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/scalar.hpp"

namespace sinter::cuda {
namespace {

using jit::cuda_shape;
using runtime::launch;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t power_of_two_above(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}
constexpr std::int64_t power_of_two_below(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}

/// Blocks that keep any GPU busy for several waves; fixed, since results must not depend on the device's size.
constexpr std::int64_t many_blocks = 4096;

/// Merging the splits: threads along results, the others along splits.
void second_stage(reduce_geometry& g) {
  const std::int64_t wide = std::min<std::int64_t>(power_of_two_above(g.results), 32);
  const std::int64_t lanes = std::min(jit::cuda_block / wide, power_of_two_below(g.splits));
  g.second.block_y = static_cast<unsigned>(lanes);
  g.second.block_x = static_cast<unsigned>(jit::cuda_block / lanes);
  g.second.x = static_cast<unsigned>(ceil_div(g.results, g.second.block_x));
}

void split(reduce_geometry& g, std::int64_t groups, std::int64_t most, std::int64_t step) {
  g.chunk = ceil_div(ceil_div(std::max<std::int64_t>(groups, 1), std::max<std::int64_t>(most, 1)), step) * step;
  g.splits = std::max<std::int64_t>(1, ceil_div(groups, g.chunk));
  g.first.y = static_cast<unsigned>(g.splits);
  if (g.splits > 1) second_stage(g);
}

/// Writes 8-byte slots in the order of the generated struct.
class slots {
 public:
  explicit slots(std::uint64_t* to) : to_(to) {}
  void integer(std::int64_t n) { *to_++ = static_cast<std::uint64_t>(n); }
  void pointer(const void* p) { *to_++ = reinterpret_cast<std::uintptr_t>(p); }
  /// A register of dtype `t`; complex numbers take a slot for each part.
  void scalar(dtype t, const runtime::scalar& s) {
    unsigned char bytes[16] = {};
    runtime::write_register(bytes, t, s);
    const std::size_t part = is_complex(t) ? itemsize(t) / 2 : sizeof(std::uint64_t);
    for (int k = 0; k < (is_complex(t) ? 2 : 1); ++k, ++to_) {
      *to_ = 0;
      std::memcpy(to_, bytes + part * static_cast<std::size_t>(k), part);
    }
  }
  void extent(std::int64_t n, bool wide) {
    if (wide) {
      integer(n);
      integer(0);
      return;
    }
    std::uint64_t multiplier = 0, shift = 0;
    if (n > 0) {
      shift = static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
      multiplier =
          (((std::uint64_t{1} << shift) - static_cast<std::uint64_t>(n)) << 32) / static_cast<std::uint64_t>(n) + 1;
    }
    *to_++ = static_cast<std::uint64_t>(n) | multiplier << 32;
    *to_++ = shift;
  }

 private:
  std::uint64_t* to_;
};

void write_common(const launch& l, const jit::cuda_variant& v, int* fault, slots& to) {
  const jit::program& p = *l.code;
  auto address = [](const runtime::operand& o, dtype t) {
    return static_cast<const char*>(o.base) + o.offset * static_cast<std::int64_t>(itemsize(t));
  };
  for (std::size_t k = 0; k < l.inputs.size(); ++k) to.pointer(address(l.inputs[k], p.inputs[k].type));
  for (std::size_t k = 0; k < l.outputs.size(); ++k) to.pointer(address(l.outputs[k], p.outputs[k].type));
  for (std::size_t k = 0; k < p.param_types.size(); ++k) to.scalar(p.param_types[k], l.params[k]);
  to.pointer(fault);
  for (std::size_t k = 0; k < l.inputs.size(); ++k)
    for (int g = 0; g < p.inputs[k].gathers; ++g) to.integer(l.inputs[k].gather_stride[g]);
  if (v.shape == cuda_shape::linear) return;
  for (int j = 0; j < v.rank; ++j) to.extent(l.extents[j], v.wide_index);
  for (auto& o : l.inputs)
    for (int j = 0; j < v.rank; ++j) to.integer(o.strides[j]);
  for (auto& o : l.outputs)
    for (int j = 0; j < v.kept; ++j) to.integer(o.strides[j]);
}

grid linear_grid(const launch& l, const jit::cuda_variant& v) {
  const std::int64_t count = core::element_count(l.extents), block = std::int64_t{jit::cuda_block} * v.vector;
  const int unroll = count <= block ? 1 : jit::cuda_unroll(*l.code, v);  // one block will do whatever it is
  grid g;
  g.x = static_cast<unsigned>(ceil_div(count, block * unroll));
  g.block_x = jit::cuda_block;
  return g;
}

/// Inner axis on x. Where operands run along the other axis, 32 x 32 tiles let the first-level cache transpose.
grid strided_grid(const launch& l, const jit::cuda_variant& v, std::int64_t& outer) {
  const int rank = v.rank, unroll = jit::cuda_unroll(*l.code, v);
  const std::int64_t across = ceil_div(l.extents[rank - 1], v.vector);
  grid g;
  outer = 1;
  if (rank == 1) {
    g.block_x = jit::cuda_block;
    g.x = static_cast<unsigned>(ceil_div(across, std::int64_t{jit::cuda_block} * unroll));
    return g;
  }
  bool crossed = false;
  for (auto& o : l.inputs) crossed = crossed || (o.strides[rank - 1] > 1 && o.strides[rank - 2] == 1);
  const std::int64_t down = l.extents[rank - 2];
  std::int64_t width = std::min<std::int64_t>(power_of_two_above(across), crossed              ? 32
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

grid loop_grid(std::int64_t elements, int multiprocessors) {
  grid g;
  g.block_x = jit::cuda_block;
  g.x = static_cast<unsigned>(
      std::min(ceil_div(elements, jit::cuda_block), std::int64_t{multiprocessors} * jit::cuda_loop_blocks));
  return g;
}

reduce_geometry geometry_of(const launch& l, const jit::cuda_variant& v) {
  const std::int64_t results = kept_count(l), elements = reduced_count(l);
  return v.shape == cuda_shape::reduce_rows ? row_geometry(results, elements)
                                            : column_geometry(results, elements, v.vector);
}

}  // namespace

reduce_geometry row_geometry(std::int64_t results, std::int64_t elements) {
  reduce_geometry g;
  g.results = results;
  g.elements = elements;
  const std::int64_t groups = ceil_div(elements, jit::cuda_group);
  std::int64_t threads = jit::cuda_block;
  if (groups < 1024 && (results >= 1024 || groups < 64))
    threads = std::min<std::int64_t>(32, power_of_two_below(groups / 2));
  const std::int64_t rows = jit::cuda_block / threads;
  g.first.block_x = static_cast<unsigned>(threads);
  g.first.block_y = static_cast<unsigned>(rows);
  g.first.x = static_cast<unsigned>(ceil_div(results, rows));
  std::int64_t most = 1;
  if (threads == jit::cuda_block && results < many_blocks / 4)
    most = std::min(ceil_div(many_blocks, results), groups / (jit::cuda_block * 8));
  split(g, groups, most, most > 1 ? jit::cuda_block * 4 : 1);
  return g;
}

reduce_geometry column_geometry(std::int64_t results, std::int64_t elements, int vector) {
  reduce_geometry g;
  g.results = results;
  g.elements = elements;
  const std::int64_t groups = ceil_div(elements, jit::cuda_group);
  std::int64_t lanes = results >= 32 ? 8 : jit::cuda_block / power_of_two_above(results);
  lanes = std::min(lanes, power_of_two_above(groups));
  g.first.block_y = static_cast<unsigned>(lanes);
  g.first.block_x = static_cast<unsigned>(jit::cuda_block / lanes);
  g.first.x = static_cast<unsigned>(ceil_div(results, std::int64_t{g.first.block_x} * vector));
  const std::int64_t most = std::min(many_blocks / ceil_div(results, 128), groups / (lanes * 8));
  split(g, groups, most, most > 1 ? lanes * 8 : 1);
  return g;
}

int team_size(std::int64_t rows, std::int64_t columns, int multiprocessors) {
  const std::int64_t wanted = std::int64_t{multiprocessors} * 2048;
  std::int64_t team = 1;
  while (team < 32 && rows * team * 3 <= wanted * 2 && team * 2 * jit::cuda_columns <= columns) team *= 2;
  return static_cast<int>(team);
}

std::size_t parameter_bytes(const launch& l, const jit::cuda_variant& v) noexcept {
  const jit::program& p = *l.code;
  std::size_t n = l.inputs.size() + l.outputs.size() + 1 + 8;
  for (dtype t : p.param_types) n += is_complex(t) ? 2 : 1;
  for (auto& i : p.inputs) n += i.gathers;
  if (v.shape != cuda_shape::linear) n += 2u * v.rank + l.inputs.size() * v.rank + l.outputs.size() * v.kept;
  return n * sizeof(std::uint64_t);
}

call build_call(const launch& l, const jit::cuda_variant& v, int multiprocessors, int* fault, void* scratch,
                std::uint64_t* to) {
  slots out(to);
  write_common(l, v, fault, out);
  call c;
  if (v.shape == cuda_shape::linear) {
    out.integer(core::element_count(l.extents));
    c.first = linear_grid(l, v);
  } else if (v.shape == cuda_shape::strided) {
    std::int64_t outer;
    c.first = strided_grid(l, v, outer);
    out.integer(outer);
  } else if (v.shape == cuda_shape::stride_loop) {
    const std::int64_t elements = core::element_count(l.extents);
    out.integer(elements);
    c.first = loop_grid(elements, multiprocessors);
  } else if (v.shape == cuda_shape::broadcast_rows) {
    const int team = team_size(l.extents[0], l.extents[1], multiprocessors);
    out.integer(l.extents[0]);
    out.integer(l.extents[1]);
    out.integer(team);
    c.first.x = static_cast<unsigned>(ceil_div(l.extents[0] * team, jit::cuda_block));
    c.first.block_x = jit::cuda_block;
  } else {
    const reduce_geometry g = geometry_of(l, v);
    for (std::int64_t n : {g.results, g.elements, g.chunk, g.splits}) out.integer(n);
    out.pointer(scratch);
    c.first = g.first;
    c.second = g.second;
    c.second_stage = g.splits > 1;
  }
  return c;
}

std::size_t scratch_bytes(const launch& l, const jit::cuda_variant& v) noexcept {
  if (!jit::cuda_has_second_stage(v)) return 0;
  const reduce_geometry g = geometry_of(l, v);
  if (g.splits <= 1) return 0;
  return static_cast<std::size_t>(g.results * g.splits) * l.code->reductions.size() * jit::cuda_partial_bytes;
}

}  // namespace sinter::cuda
