#include "ops/derivatives/regions.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/indexing.hpp"

namespace sinter::ops::derivatives {
namespace {

using std::int64_t;

/// An axis of a reshape of the base in which the view is a range along each axis.
struct range_axis {
  int64_t stride, extent;                  // of the reshaped base
  int64_t first = 0, step = 1, count = 1;  // of the view; step may be negative
  int from = -1;                           // the view's axis; -1: one coordinate
};

/// The view's axes of more than one element that are not broadcast.
std::vector<int> moving_axes(const affine_view& v) {
  std::vector<int> list;
  for (int a = 0; a < v.shape.size(); ++a)
    if (v.shape[a] != 1 && v.strides[a] != 0) list.push_back(a);
  return list;
}

/// Strides, descending, each a multiple of the next, down to 1: those of the base's axes, and those of the view that fit
/// between them.
std::vector<int64_t> chain_of(const affine_view& v, const std::vector<int>& moving) {
  const dims dense = core::contiguous_strides(v.base);
  std::vector<int64_t> chain;
  for (int a = 0; a < v.base.size(); ++a)
    if (v.base[a] != 1 && (chain.empty() || chain.back() != dense[a])) chain.push_back(dense[a]);
  if (chain.empty() || chain.back() != 1) chain.push_back(1);
  const int64_t total = core::element_count(v.base);
  for (const int j : moving) {
    const int64_t s = std::abs(v.strides[j]);
    const auto below = std::find_if(chain.begin(), chain.end(), [s](int64_t c) { return c <= s; });
    if (below == chain.end() || *below == s) continue;
    const int64_t above = below == chain.begin() ? total : *(below - 1);
    if (above % s == 0 && s % *below == 0) chain.insert(below, s);
  }
  return chain;
}

/// The axes of the chain with the view's ranges on them, joining axes that a range runs through. False: no such reshape.
bool place_ranges(const affine_view& v, const std::vector<int>& moving, std::vector<int64_t> chain,
                  std::vector<range_axis>& out) {
  const int64_t total = core::element_count(v.base);
  for (;;) {
    out.clear();
    for (std::size_t k = 0; k < chain.size(); ++k) {
      const int64_t above = k == 0 ? total : chain[k - 1];
      out.push_back({chain[k], above / chain[k]});
      out.back().first = v.offset / chain[k] % out.back().extent;
    }
    std::size_t join = chain.size();
    for (const int j : moving) {
      const int64_t s = std::abs(v.strides[j]);
      std::size_t k = 0;
      while (k < chain.size() && (chain[k] > s || s % chain[k] != 0)) ++k;
      range_axis& r = out[k];
      if (r.from != -1) return false;
      r.from = j;
      r.step = v.strides[j] / chain[k];
      r.count = v.shape[j];
      const int64_t last = r.first + r.step * (r.count - 1);
      if (last >= 0 && last < r.extent) continue;
      if (k == 0) return false;
      join = k;
      break;
    }
    if (join == chain.size()) return true;
    chain.erase(chain.begin() + static_cast<std::ptrdiff_t>(join) - 1);
  }
}

value number(int64_t n, runtime::device_id device) {
  return graph::record_scalar(scalar_of(n, dtype::i64, "grad"), dtype::i64, dims(), device);
}

/// A coordinate along one axis of a shape of this rank.
value coordinate(int64_t extent, int axis, int rank, runtime::device_id device) {
  dims along(rank, 1);
  along[axis] = extent;
  return graph::record_iota(along, axis, device);
}

bool is_whole(const range_axis& r) { return r.first == 0 && r.step == 1 && r.count == r.extent; }

/// Whether a coordinate of the axis is in the range.
value inside(const range_axis& r, int axis, int rank, runtime::device_id device) {
  const value at = coordinate(r.extent, axis, rank, device);
  if (r.count == 1) return map_of(opcode::equal, dtype::b1, at, number(r.first, device));
  const int64_t step = std::abs(r.step), low = std::min(r.first, r.first + r.step * (r.count - 1));
  const int64_t high = low + step * (r.count - 1);
  value in;
  const auto also = [&](const value& test) { in = in ? map_of(opcode::logical_and, dtype::b1, in, test) : test; };
  if (low > 0) also(map_of(opcode::greater_equal, dtype::b1, at, number(low, device)));
  if (high < r.extent - 1) also(map_of(opcode::less_equal, dtype::b1, at, number(high, device)));
  if (step != 1) {
    const value rest = map_of(opcode::remainder, dtype::i64,
                              map_of(opcode::subtract, dtype::i64, at, number(low, device)), number(step, device));
    also(map_of(opcode::equal, dtype::b1, rest, number(0, device)));
  }
  return in;
}

/// g, whose axis is a range of the base's, with that axis as long as the base's and zeros around the range.
value surrounded(const value& g, const range_axis& r, int axis) {
  if (is_whole(r)) return g;
  const runtime::device_id device = g->device;
  dims shape = g->shape;
  shape[axis] = r.extent;
  value chosen = g;
  if (r.count != 1) {
    const value at = coordinate(r.extent, axis, shape.size(), device);
    value from = map_of(opcode::subtract, dtype::i64, at, number(r.first, device));
    if (r.step != 1) from = map_of(opcode::floor_divide, dtype::i64, from, number(r.step, device));
    from = map_of(opcode::minimum, dtype::i64, map_of(opcode::maximum, dtype::i64, from, number(0, device)),
                  number(r.count - 1, device));
    chosen = graph::record_gather(g, from, axis, shape, graph::payload::gather::in_range);
  }
  const value in = inside(r, axis, shape.size(), device);
  if (!in) return broadcast_value(chosen, shape);
  return broadcast_value(select_of(in, chosen, constant_of(0, g->type, device)), shape);
}

/// The sum over the view's broadcast axes: these are left with extent 1.
value summed_over_broadcast(const affine_view& v, const value& g) {
  bool reduced[core::max_rank] = {};
  bool any = false;
  dims kept = g->shape;
  for (int a = 0; a < v.shape.size(); ++a)
    if (v.strides[a] == 0 && v.shape[a] != 1) {
      reduced[a] = any = true;
      kept[a] = 1;
    }
  if (!any) return g;
  const value sum = graph::record_reduce(jit::reduce_op::sum, g->type, g,
                                         std::span(reduced, static_cast<std::size_t>(v.shape.size())));
  return reshape_value(sum, kept);
}

/// Zeros with g added at the view's positions.
value added_by_position(const affine_view& v, const value& g) {
  value at = number(v.offset, g->device);
  for (int a = 0; a < v.shape.size(); ++a) {
    const value along = coordinate(v.shape[a], a, v.shape.size(), g->device);
    at = map_of(opcode::add, dtype::i64, at,
                map_of(opcode::multiply, dtype::i64, along, number(v.strides[a], g->device)));
  }
  const ndarray positions = wrap(flattened(broadcast_value(at, v.shape)));
  const ndarray sums = full({core::element_count(v.base)}, 0, {.dtype = g->type, .device = to_public(g->device)});
  add_at(sums(positions), wrap(flattened(g)));
  return reshape_value(value_of(sums), v.base);
}

}  // namespace

value spread(const affine_view& v, const value& g) {
  if (core::element_count(v.base) == 0 || g->size() == 0)
    return broadcast_value(constant_of(0, g->type, g->device), v.base);
  affine_view rest = v;
  const value sums = summed_over_broadcast(v, g);
  rest.shape = sums->shape;
  const std::vector<int> moving = moving_axes(rest);
  std::vector<range_axis> ranges;
  if (!place_ranges(rest, moving, chain_of(rest, moving), ranges)) return added_by_position(rest, sums);
  // In the order of the base's axes, axes of one element where the view has none.
  const dims dense = core::contiguous_strides(sums->shape);
  dims shape, strides, whole;
  for (const range_axis& r : ranges) {
    shape.push_back(r.count);
    strides.push_back(r.from == -1 ? 0 : dense[r.from]);
    whole.push_back(r.extent);
  }
  value out = graph::record_view(sums, shape, strides, 0);
  for (std::size_t k = 0; k < ranges.size(); ++k) out = surrounded(out, ranges[k], static_cast<int>(k));
  return reshape_value(out, v.base);
}

std::optional<value> covered(const affine_view& v, runtime::device_id device) {
  if (core::element_count(v.base) == 0 || core::element_count(v.shape) == 0) return bool_of(false, v.base, device);
  const std::vector<int> moving = moving_axes(v);
  std::vector<range_axis> ranges;
  if (!place_ranges(v, moving, chain_of(v, moving), ranges)) return {};
  value in = bool_of(true, dims(), device);
  dims whole;
  const int rank = static_cast<int>(ranges.size());
  for (int k = 0; k < rank; ++k) {
    const range_axis& r = ranges[static_cast<std::size_t>(k)];
    whole.push_back(r.extent);
    if (is_whole(r)) continue;
    if (const value one = inside(r, k, rank, device)) in = map_of(opcode::logical_and, dtype::b1, in, one);
  }
  return reshape_value(broadcast_value(in, whole), v.base);
}

}  // namespace sinter::ops::derivatives
