// Which launches copy to another order of axes, and the copies.
#include "backends/cpu/copies/transposed_copy.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "backends/cpu/kernels/block_plan.hpp"
#include "backends/cpu/kernels/transpose.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

using jit::instr;
using jit::launch;
using jit::opcode;
using jit::operand;

// Elements of a tile: lines of the caches on both sides.
constexpr std::int64_t tile_near = 64, tile_across = 64;
// Where the source has fewer neighbours than a vector takes, each of them is the start of a long row of the result.
constexpr std::int64_t thin_across = 1024;
bool is_thin(const transposed_copy& c) { return c.near * static_cast<std::int64_t>(c.size) < 16; }

constexpr std::int64_t small_square = 64;  // elements that are copied sooner than a tile has begun

struct sixteen_bytes {
  std::uint64_t lo, hi;
};

/// The axis of the smallest step among those longer than 1, the inner one of equal ones; -1: there is none.
int nearest(const core::dims& extents, const core::dims& strides) {
  int found = -1;
  for (int a = 0; a < extents.size(); ++a)
    if (extents[a] > 1 && (found < 0 || std::abs(strides[a]) <= std::abs(strides[found]))) found = a;
  return found;
}

template <class T>
void copy_line(T* to, std::int64_t out, const T* from, std::int64_t in, std::int64_t count) {
  if (out == 1)
    for (std::int64_t k = 0; k < count; ++k) to[k] = from[k * in];
  else
    for (std::int64_t k = 0; k < count; ++k) to[k * out] = from[k * in];
}
template <class T>
void copy_elements(const transposed_copy& c, char* to, const char* from, std::int64_t near, std::int64_t across) {
  for (std::int64_t n = 0; n < near; ++n)
    copy_line(reinterpret_cast<T*>(to) + n * c.near_out, c.across_out, reinterpret_cast<const T*>(from) + n * c.near_in,
              c.across_in, across);
}

/// Rows of the result that lie a power of two apart share the places of a cache, which then has no room for a tile: it is
/// transposed elsewhere, and each row is written at once.
void transpose_tile(const transposed_copy& c, char* to, const char* from, int near, int across) {
  constexpr std::int64_t conflicting = 2048;
  const std::int64_t row = across * static_cast<std::int64_t>(c.size),
                     step = c.near_out * static_cast<std::int64_t>(c.size);
  if (step % conflicting != 0 || row < 64 || near > tile_near || across > tile_across)
    return transpose(to, c.near_out, from, c.across_in, near, across, c.size);
  alignas(64) char tile[tile_near * (tile_across + 8) * sizeof(sixteen_bytes)];
  constexpr std::int64_t pitch = tile_across + 8;
  transpose(tile, pitch, from, c.across_in, near, across, c.size);
  for (int n = 0; n < near; ++n)
    std::memcpy(to + n * step, tile + n * pitch * static_cast<std::int64_t>(c.size), static_cast<std::size_t>(row));
}

void copy_tile(const transposed_copy& c, char* to, const char* from, std::int64_t near, std::int64_t across) {
  if (c.near_in == 1 && c.across_out == 1 && !is_thin(c))
    return transpose_tile(c, to, from, static_cast<int>(near), static_cast<int>(across));
  switch (c.size) {
    case 1: return copy_elements<std::uint8_t>(c, to, from, near, across);
    case 2: return copy_elements<std::uint16_t>(c, to, from, near, across);
    case 4: return copy_elements<std::uint32_t>(c, to, from, near, across);
    case 8: return copy_elements<std::uint64_t>(c, to, from, near, across);
    default: return copy_elements<sixteen_bytes>(c, to, from, near, across);
  }
}

/// Squares of a few elements each, of equal distances.
template <class T>
void copy_small(const transposed_copy& c, std::int64_t first, std::int64_t last) {
  const std::int64_t in = c.outer_in[0], out = c.outer_out[0];
  for (std::int64_t t = first; t < last; ++t) {
    const T* const from = reinterpret_cast<const T*>(c.source) + t * in;
    T* const to = reinterpret_cast<T*>(c.result) + t * out;
    for (std::int64_t n = 0; n < c.near; ++n)
      for (std::int64_t a = 0; a < c.across; ++a)
        to[n * c.near_out + a * c.across_out] = from[n * c.near_in + a * c.across_in];
  }
}
void copy_small(const transposed_copy& c, std::int64_t first, std::int64_t last) {
  switch (c.size) {
    case 1: return copy_small<std::uint8_t>(c, first, last);
    case 2: return copy_small<std::uint16_t>(c, first, last);
    case 4: return copy_small<std::uint32_t>(c, first, last);
    case 8: return copy_small<std::uint64_t>(c, first, last);
    default: return copy_small<sixteen_bytes>(c, first, last);
  }
}

/// Walks an axis of n elements from its other end.
void turn(transposed_copy& c, std::int64_t n, std::int64_t& in, std::int64_t& out) {
  const auto size = static_cast<std::int64_t>(c.size);
  c.source += (n - 1) * in * size;
  c.result += (n - 1) * out * size;
  in = -in;
  out = -out;
}

}  // namespace

std::optional<transposed_copy> transposed_copy_of(const launch& l) {
  const jit::program& p = *l.code;
  if (p.kind != jit::kernel_kind::elementwise || p.outputs.size() != 1 || p.loop.end != 0 || !p.calls.empty())
    return std::nullopt;
  const instr& read = p.code[p.outputs[0].reg];
  if (read.op != opcode::load || p.inputs[read.a].gathers != 0 || p.outputs[0].type != p.inputs[read.a].type)
    return std::nullopt;
  const operand &source = l.inputs[read.a], &result = l.outputs[0];
  const int near = nearest(l.extents, source.strides), across = nearest(l.extents, result.strides);
  if (source.base == result.base || near < 0 || near == across) return std::nullopt;
  for (int a = 0; a < l.extents.size(); ++a)
    if (l.extents[a] != 1 && source.strides[a] == 0) return std::nullopt;
  const std::size_t size = itemsize(p.outputs[0].type);
  const auto bytes = static_cast<std::int64_t>(size);
  transposed_copy c{static_cast<const char*>(source.base) + source.offset * bytes,
                    static_cast<char*>(result.base) + result.offset * bytes,
                    size,
                    l.extents[near],
                    source.strides[near],
                    result.strides[near],
                    l.extents[across],
                    source.strides[across],
                    result.strides[across],
                    {},
                    {},
                    {}};
  if (c.near_in < 0) turn(c, c.near, c.near_in, c.near_out);
  if (c.across_out < 0) turn(c, c.across, c.across_in, c.across_out);
  for (int a = 0; a < l.extents.size(); ++a) {
    if (a == near || a == across) continue;
    c.outer.push_back(l.extents[a]);
    c.outer_in.push_back(source.strides[a]);
    c.outer_out.push_back(result.strides[a]);
  }
  return c;
}

void run_transposed_copy(const transposed_copy& c) {
  const auto size = static_cast<std::int64_t>(c.size);
  const std::int64_t width = is_thin(c) ? thin_across : tile_across;
  const std::int64_t down = (c.near + tile_near - 1) / tile_near, right = (c.across + width - 1) / width;
  const std::int64_t tiles = core::element_count(c.outer) * down * right;
  const std::int64_t mean = std::min(c.near, tile_near) * std::min(c.across, width);
  const std::int64_t each = std::max<std::int64_t>(1, 4 * tile_near * tile_across / mean);
  const double time = static_cast<double>(tiles * mean) * (0.3 + 0.1 * static_cast<double>(size));
  const bool small = down * right == 1 && c.outer.size() == 1 && mean <= small_square;
  runtime::parallel_for((tiles + each - 1) / each, time, [&](std::int64_t task) {
    if (small) return copy_small(c, task * each, std::min(tiles, (task + 1) * each));
    for (std::int64_t t = task * each; t < std::min(tiles, (task + 1) * each); ++t) {
      std::int64_t place[core::max_rank + 1];
      unravel(t / (down * right), c.outer, place);
      const std::int64_t near = t % (down * right) / right * tile_near, across = t % right * width;
      std::int64_t in = near * c.near_in + across * c.across_in, out = near * c.near_out + across * c.across_out;
      for (int a = 0; a < c.outer.size(); ++a) in += place[a] * c.outer_in[a], out += place[a] * c.outer_out[a];
      copy_tile(c, c.result + out * size, c.source + in * size, std::min(tile_near, c.near - near),
                std::min(width, c.across - across));
    }
  });
}

}  // namespace sinter::cpu
