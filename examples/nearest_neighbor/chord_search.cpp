// Prepares the unit vectors and launches the kernels of the optimised search.
#include "chord_search.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "cuda_sources.hpp"

namespace nearest_neighbor {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::vector<std::string> macros(const chord_config& c) {
  const auto define = [](const char* name, int value) {
    return "-D" + std::string(name) + "=" + std::to_string(value);
  };
  return {define("ROWS", c.rows),     define("BLOCK", c.block), define("GROUP", c.group),
          define("UNROLL", c.unroll), define("TILE", c.tile),   define("DPX", c.dpx)};
}

}  // namespace

unit_vectors unit_vectors_of(const ndarray& points, std::int64_t count) {
  using namespace sn::idx;
  const std::int64_t n = points.shape(0);
  const auto all =
      count == n ? points : sn::take(points, sn::minimum(sn::arange(count, {.device = points.device()}), n - 1), 0);
  // float64, so that each coordinate is off by half a unit in its last place and no more: 0.2 m on the ground.
  const auto lat = all(_, 0).astype(sn::float64), lon = all(_, 1).astype(sn::float64);
  return {(sn::cos(lat) * sn::cos(lon)).astype(sn::float32), (sn::cos(lat) * sn::sin(lon)).astype(sn::float32),
          sn::sin(lat).astype(sn::float32)};
}

std::int64_t chord_splits(const chord_config& c, std::int64_t rows, std::int64_t columns) {
  if (c.splits > 0) return std::min(c.splits, ceil_div(columns, c.group));
  const std::int64_t blocks = ceil_div(rows, std::int64_t{c.rows} * c.block);
  // Every block takes as long as any other, so the time goes with the rounds of resident blocks that it takes, and each
  // part has a small fixed cost. A part of fewer than 8 groups would be mostly that.
  const std::int64_t most = std::clamp<std::int64_t>(columns / (8 * c.group), 1, 2 * ceil_div(c.resident, blocks));
  std::int64_t best = 1;
  double best_cost = 1e300;
  for (std::int64_t s = 1; s <= std::min<std::int64_t>(most, 65535); ++s) {
    const double cost = static_cast<double>(ceil_div(blocks * s, c.resident)) / static_cast<double>(s) *
                        (1 + 0.002 * static_cast<double>(s));
    if (cost < best_cost) best = s, best_cost = cost;
  }
  return best;
}

chord_search::chord_search(const chord_config& config) : config_(config) {
  const sn::raw_module kernels(chord_cuda, {.options = macros(config)});
  search_ = kernels.get("chord_search");
  finish_ = kernels.get("chord_finish");
}

chord_points chord_search::prepare(const ndarray& p, const ndarray& q) const {
  chord_points out{p, q, unit_vectors_of(p, p.shape(0)),
                   unit_vectors_of(q, ceil_div(q.shape(0), config_.group) * config_.group)};
  sn::eval(out.from.x, out.from.y, out.from.z, out.to.x, out.to.y, out.to.z);  // together: a kernel for each set
  return out;
}

neighbours chord_search::find(const chord_points& points) const {
  const auto& [p, q, from, to] = points;
  const std::int64_t m = p.shape(0), n = q.shape(0), padded = to.x.shape(0);
  const std::int64_t slice =
      ceil_div(ceil_div(padded, chord_splits(config_, m, padded)), config_.group) * config_.group;
  const std::int64_t splits = ceil_div(padded, slice);  // none of them empty
  const auto partial = sn::empty({splits, m}, {.dtype = sn::uint64, .device = p.device()});
  search_({.grid = {ceil_div(m, std::int64_t{config_.rows} * config_.block), splits}, .block = config_.block},
          sn::in(from.x), sn::in(from.y), sn::in(from.z), static_cast<long long>(m), sn::in(to.x), sn::in(to.y),
          sn::in(to.z), static_cast<int>(padded), static_cast<int>(slice), partial);

  neighbours out{sn::empty({m}, {.dtype = sn::int64, .device = p.device()}),
                 sn::empty({m}, {.dtype = sn::float32, .device = p.device()})};
  const int lanes = config_.group / 4;
  finish_({.grid = ceil_div(m * lanes, 256), .block = 256}, sn::in(from.x), sn::in(from.y), sn::in(from.z),
          static_cast<long long>(m), sn::in(to.x), sn::in(to.y), sn::in(to.z), static_cast<int>(splits),
          sn::in(partial), sn::in(p), sn::in(q), static_cast<int>(n), static_cast<float>(2 * earth_radius_km),
          out.index, out.distance);
  return out;
}

}  // namespace nearest_neighbor
