// Schedules of a GPU as descriptions.
#include <algorithm>

#include "jit/cuda/schedule/choose.hpp"
#include "jit/cuda/schedule/legal.hpp"

namespace sinter::cuda {
namespace {

using jit::access;
using jit::cuda_shape;
using jit::cuda_variant;
using jit::launch;
using jit::level;
using jit::schedule;

const char* name_of(cuda_shape shape) {
  switch (shape) {
    case cuda_shape::linear: return "linear";
    case cuda_shape::strided: return "strided";
    case cuda_shape::reduce_rows: return "rows";
    case cuda_shape::reduce_columns: return "columns";
    case cuda_shape::broadcast_rows: return "broadcast rows";
    case cuda_shape::stride_loop: return "grid-stride loop";
    case cuda_shape::staged_rows: return "rows on chip";
    case cuda_shape::flat_rows: return "flat rows";
    case cuda_shape::tiled: return "tiled";
    case cuda_shape::shared_rows: return "shared rows";
    case cuda_shape::reduce_tiles: return "tiles of results";
    case cuda_shape::crossed_rows: return "rows, neighbouring threads across";
    case cuda_shape::crossed_columns: return "columns, neighbouring threads along";
    case cuda_shape::windows: return "windows";
    case cuda_shape::step_loop: return "loop of steps";
  }
  return "";
}

std::string number(std::int64_t n) { return std::to_string(n); }
std::string axis(int k) { return "axis " + number(k); }
std::string axes(int first, int last) {
  return last - first == 1 ? axis(first) : "axes " + number(first) + " to " + number(last - 1);
}

/// The extents of what a schedule fixes when it is compiled.
std::string tile_text(const cuda_variant& v) {
  const std::string down = number(std::int64_t{1} << v.tile.down), across = number(std::int64_t{1} << v.tile.across);
  switch (v.shape) {
    case cuda_shape::tiled:
      return ", tiles of " + down + " x " + across + " on " + axis(v.tile.axis) +
             (v.tile.mirrored ? ", each beside its mirror image" : "");
    case cuda_shape::reduce_rows: return v.lane_runs > 1 ? ", a warp each" : "";
    case cuda_shape::broadcast_rows: return v.tile.down == 0 ? "" : ", " + down + " rows a thread";
    case cuda_shape::crossed_rows: return v.tile.down == 0 ? "" : ", " + down + " results a thread";
    case cuda_shape::shared_rows: return ", " + down + " rows a thread";
    case cuda_shape::reduce_tiles: return ", " + down + " x " + across + " results a thread";
    case cuda_shape::staged_rows: return ", " + number(v.groups) + " groups a thread";
    case cuda_shape::windows: return ", " + number(jit::cuda_window_results) + " neighbouring results a thread";
    default: return "";
  }
}

std::string way_of(const launch& l, const cuda_variant& v, std::size_t k) {
  const bool column = v.shape == cuda_shape::reduce_columns, map = l.code->kind == jit::kernel_kind::elementwise;
  const int group = v.shape == cuda_shape::broadcast_rows ? jit::cuda_columns
                    : v.shape == cuda_shape::windows      ? jit::cuda_window_vector(l.code->inputs[k].type)
                    : map || column                       ? v.vector
                                                          : jit::cuda_group;
  if (gathered(l, k)) return "by index";
  if (v.inputs[k] == access::run) {
    const jit::cuda_run& r = v.runs[k];
    return "in a run of " + number(r.packs * r.pack) + " elements by vectors of " + number(r.pack) +
           (r.first == k ? "" : ", shared with input " + number(r.first)) +
           (wraps(l, k) ? ", from elsewhere where its index wraps" : "");
  }
  if (wraps(l, k)) return "by stride, from elsewhere where its index wraps";
  if (l.code->kind == jit::kernel_kind::reduce && !in_prologue(*l.code, k)) return "once a result";
  switch (v.inputs[k]) {
    case access::uniform: return map ? "one value" : "one value a result";
    case access::linear:
      return (v.shape == cuda_shape::reduce_tiles ? "through shared memory, by vectors of " : "vectors of ") +
             number(group);
    case access::strided: return v.shape == cuda_shape::reduce_tiles ? "through shared memory" : "by stride";
    case access::staged: return "through shared memory, transposed";
    case access::lanes: return "one value for neighbouring elements";
    case access::run: break;
  }
  return "";
}

void add_parts(const launch& l, const cuda_variant& v, const call& c, schedule& s) {
  const auto add = [&](level on, std::int64_t count, const std::string& what) {
    if (count > 1) s.parts.push_back({on, count, what});
  };
  const int rank = v.rank;
  const std::int64_t count = core::element_count(l.extents);
  switch (v.shape) {
    case cuda_shape::step_loop:
      add(level::grid, c.first.x, "elements");
      add(level::threads, c.first.block_x, "elements");
      add(level::serial, l.params[l.code->loop.count].i, "steps");
      break;
    case cuda_shape::linear:
    case cuda_shape::stride_loop:
      add(level::grid, c.first.x, "elements");
      add(level::threads, c.first.block_x, "elements");
      add(level::serial, v.shape == cuda_shape::linear ? jit::cuda_unroll(*l.code, v) : count / (c.first.x * 256),
          "elements");
      add(level::vector, v.vector, "elements");
      break;
    case cuda_shape::strided:
      add(level::grid, c.first.z, axes(0, std::max(1, rank - 2)));
      if (rank > 1) add(level::grid, c.first.y, axis(rank - 2));
      add(level::grid, c.first.x, axis(rank - 1));
      if (rank > 1) add(level::threads, c.first.block_y, axis(rank - 2));
      add(level::threads, c.first.block_x, axis(rank - 1));
      add(level::serial, jit::cuda_unroll(*l.code, v), axis(std::max(0, rank - 2)));
      add(level::vector, v.vector, axis(rank - 1));
      break;
    case cuda_shape::flat_rows:
      add(level::grid, c.first.z, axes(0, std::max(1, rank - 2)));
      add(level::grid, c.first.x, axes(rank - 2, rank));
      add(level::threads, c.first.block_x, axes(rank - 2, rank));
      add(level::serial, jit::cuda_unroll(*l.code, v), axes(rank - 2, rank));
      add(level::vector, v.vector, axes(rank - 2, rank));
      break;
    case cuda_shape::tiled:
      add(level::grid, c.first.z, "the other axes");
      add(level::grid, c.first.y, axis(v.tile.axis));
      add(level::grid, c.first.x, axis(rank - 1));
      add(level::threads, c.first.block_x, "packs of a tile");
      add(level::serial, (std::int64_t{1} << (v.tile.across + v.tile.down)) / (jit::cuda_block * v.vector),
          "packs of a tile");
      add(level::vector, v.vector, axis(rank - 1));
      break;
    case cuda_shape::reduce_tiles:
      add(level::grid, c.first.z, axes(0, std::max(1, l.kept - 2)));
      add(level::grid, c.first.y, axis(l.kept - 2));
      add(level::grid, c.first.x, axis(l.kept - 1));
      add(level::threads, jit::cuda_tile_side, axis(l.kept - 2));
      add(level::threads, jit::cuda_tile_side, axis(l.kept - 1));
      add(level::serial, std::int64_t{1} << (v.tile.down + v.tile.across), "results");
      add(level::serial, std::int64_t{1} << v.tile.levels, "lanes");
      add(level::serial, rounds_of(reduced_count(l), std::int64_t{1} << v.tile.levels), "groups of a lane");
      add(level::vector, jit::cuda_group, "elements");
      break;
    case cuda_shape::windows:
      add(level::grid, c.first.x, "results");
      add(level::threads, c.first.block_x, "results");
      add(level::serial, jit::cuda_window_results, "results");
      add(level::serial, reduced_count(l), "elements");
      break;
    default: {
      const bool columns = v.shape == cuda_shape::reduce_columns;
      const bool on_y = columns || v.shape == cuda_shape::crossed_rows;
      const std::int64_t team =
          v.shape == cuda_shape::broadcast_rows
              ? std::max<std::int64_t>(1, (std::int64_t{c.first.x} * 256 << v.tile.down) / kept_count(l))
          : on_y ? c.first.block_y
                 : c.first.block_x;
      add(level::grid, c.first.x, "results");
      add(level::grid, c.first.y, "parts of a result");
      add(level::threads, std::int64_t{c.first.block_x} * c.first.block_y / team, "results");
      add(level::threads, team, "lanes of a result");
      if (v.tile.down != 0 && v.shape != cuda_shape::reduce_tiles)
        add(level::serial, std::int64_t{1} << v.tile.down, "results");
      add(level::serial, rounds_of(reduced_count(l) / std::max(1u, c.first.y), team), "groups of a lane");
      add(level::vector, columns ? v.vector : jit::cuda_group, columns ? "results" : "elements");
    }
  }
}

std::string joins_text(const launch& l, const cuda_variant& v, const call& c) {
  if (l.code->kind == jit::kernel_kind::elementwise) return "";
  const bool halves = v.shape == cuda_shape::reduce_columns || v.shape == cuda_shape::crossed_columns || v.tile.halves;
  std::string text = std::string("lanes by a tree, ") + (halves ? "halves" : "neighbours") + " first";
  if (c.second_stage) text += "; " + number(c.first.y) + " parts by a second kernel";
  if (v.shape == cuda_shape::reduce_tiles || v.shape == cuda_shape::windows) text += ", in registers";
  return text;
}

/// What the chosen one was chosen from, and why.
void add_choice(const launch& l, schedule& s) {
  variant_list among;
  add_schedules(l, extent_of_search::considered, among);
  for (const cuda_variant& other : legal_schedules(l)) {
    std::string name = schedule_name(l, other);
    if (name != s.name) s.others.push_back({std::move(name), time_of(work_of(l, other)).microseconds});
  }
  std::stable_sort(s.others.begin(), s.others.end(), [](auto& a, auto& b) { return a.microseconds < b.microseconds; });
  if (s.others.empty()) s.why = "the only one that is legal";
  else if (among.size() == 1) s.why = "the others do not pay here:";
  else if (schedule_name(l, among[0]) == s.name) s.why = "no other one is clearly cheaper:";
  else s.why = "clearly cheaper than " + schedule_name(l, among[0]) + ":";
}

}  // namespace

std::string schedule_name(const launch& l, const cuda_variant& v) {
  std::string name = name_of(v.shape) + tile_text(v);
  if ((l.code->kind == jit::kernel_kind::elementwise || v.shape == cuda_shape::reduce_columns) && v.vector > 1)
    name += ", vectors of " + number(v.vector);
  if (!v.runs.empty()) name += ", in runs";
  return name;
}

schedule describe(const launch& l) {
  schedule s;
  if (core::element_count(l.extents) == 0) {
    s.name = "nothing to compute";
    return s;
  }
  cuda_variant v;
  classify(l, v);
  const call c = grids_of(l, v, static_cast<int>(reference_device.multiprocessors));
  s.name = schedule_name(l, v);
  add_parts(l, v, c, s);
  for (std::size_t k = 0; k < l.inputs.size(); ++k) s.inputs.push_back(way_of(l, v, k));
  for (std::size_t k = 0; k < l.outputs.size(); ++k)
    s.outputs.push_back(v.outputs.empty() || v.outputs[k] == access::strided ? "by stride" : "vectors");
  s.reduction = joins_text(l, v, c);
  s.compiled_for = std::string(v.wide_index ? "64" : "32") + "-bit indices, rank " + number(v.rank) + tile_text(v) +
                   (v.skip_tail ? ", a tail that is skipped" : "") + "; extents, strides and scalars are parameters";
  s.estimate = time_of(work_of(l, v));
  add_choice(l, s);
  return s;
}

}  // namespace sinter::cuda
