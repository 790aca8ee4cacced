// What a schedule is estimated to cost: bytes of the sectors and lines that its accesses touch, weighted instructions,
// and steps that wait for each other; the most expensive of these is the time of a kernel.
#include <algorithm>
#include <cmath>

#include "jit/cuda/schedule/choose.hpp"
#include "jit/cuda/schedule/legal.hpp"

namespace sinter::cuda {
namespace {

using jit::access;
using jit::cuda_shape;
using jit::launch;
using jit::operand;
using jit::work;

constexpr double sector = 32, line = 128, warp = 32;
/// Instructions of an access and its address.
constexpr double access_cost = 2;

/// Bytes that an operand's distinct elements take in memory: whole sectors where they lie apart.
double footprint(const launch& l, const operand& o, std::size_t size) {
  double count = 1;
  std::int64_t nearest = INT64_MAX;
  for (int j = 0; j < l.extents.size(); ++j) {
    if (o.strides[j] == 0 || l.extents[j] == 1) continue;
    count *= static_cast<double>(l.extents[j]);
    nearest = std::min(nearest, std::abs(o.strides[j]));
  }
  const double apart = nearest == INT64_MAX ? sector : static_cast<double>(nearest) * static_cast<double>(size);
  return count * std::clamp(apart, static_cast<double>(size), std::max(sector, static_cast<double>(size)));
}

/// The accesses of neighbouring threads to an operand.
struct pattern {
  double elements;      // that are loaded or stored, by all threads together
  std::size_t size;     // of an element
  double vector = 1;    // elements of an access
  double stride = 1;    // elements between the accesses of neighbouring threads
  bool reused = false;  // the rest of each sector is used while the first-level cache has it
  double apart = 1;     // places at which a warp's accesses begin
};

void add_accesses(work& w, const pattern& a) {
  const double bytes = a.vector * static_cast<double>(a.size), accesses = a.elements / a.vector;
  const double apart = std::abs(a.stride) * static_cast<double>(a.size);
  w.instructions += accesses * access_cost;
  w.lines += accesses / warp * std::clamp(warp * apart / line, a.apart, std::max(warp, warp * bytes / line));
  w.sectors += accesses * (apart == 0 ? bytes / warp : a.reused ? bytes : std::max(bytes, std::min(apart, sector)));
}

/// Of a run, whose vectors the lanes of a group and other operands share; `group` lanes have it.
void add_run(work& w, const jit::cuda_run& r, double elements, std::size_t size, double group) {
  add_accesses(w, {elements / group * r.packs * r.pack, size, double(r.pack), r.stride * group, true});
}
/// Whether it is found by operand `k`, for which it is counted.
bool finds_run(const jit::cuda_variant& v, std::size_t k) { return v.runs[k].first == k; }

double weight_of(const launch& l, std::size_t first, std::size_t end) {
  double weight = 0;
  const jit::program& p = *l.code;
  for (std::size_t k = first; k < end; ++k) {
    const jit::instr& i = p.code[k];
    const double one = i.op == jit::opcode::cast ? 1 : jit::weight(i.op);
    weight += one * (p.is_in_loop(k) ? static_cast<double>(loop_count(l)) : 1);
  }
  return weight;
}

bool is_loaded(const jit::program& p, std::size_t input, std::size_t end) {
  return std::any_of(p.code.begin(), p.code.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](const jit::instr& i) { return i.op == jit::opcode::load && i.a == input; });
}

/// All kernels: what comes from and goes to memory, and the size of the grid.
work common(const launch& l, const jit::cuda_variant& v, const call& c) {
  work w;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) w.memory += footprint(l, l.inputs[k], size_of_input(l, k));
  for (std::size_t k = 0; k < l.outputs.size(); ++k) w.memory += footprint(l, l.outputs[k], size_of_output(l, k));
  w.threads = 1;
  for (const unsigned n : {c.first.block_x, c.first.block_y, c.first.x, c.first.y, c.first.z}) w.threads *= n;
  w.kernels = c.second_stage ? 2 : 1;
  w.depth = c.second_stage ? 3 : 1;
  if (c.second_stage) w.memory += 2 * static_cast<double>(scratch_bytes(l, v));
  return w;
}

// --- elementwise

void add_map_operand(work& w, const launch& l, const jit::cuda_variant& v, const operand& o, std::size_t size,
                     access how) {
  const auto n = static_cast<double>(core::element_count(l.extents));
  const int inner = l.extents.size() - 1;
  if (how == access::uniform) return;
  if (how == access::linear) return add_accesses(w, {n, size, double(v.vector), double(v.vector)});
  if (how == access::staged) {
    add_accesses(w, {n, size, double(v.vector), double(v.vector)});
    w.lines += 2 * n * static_cast<double>(size) / line;  // into shared memory and out of it
    w.instructions += 2 * n * access_cost / v.vector;
    return;
  }
  const double stride = inner < 0 ? 0 : static_cast<double>(o.strides[inner]);
  const bool below = inner > 0 && std::abs(o.strides[inner - 1]) * static_cast<std::int64_t>(size) < 32;
  add_accesses(w, {stride == 0 ? n / v.vector : n, size, 1, stride * v.vector, below});
}

/// Steps of a block that wait for each other, for all blocks that a multiprocessor runs one after the other.
double depth_of_tiles(const launch& l, const jit::cuda_variant& v, double threads, const device_figures& d) {
  const double shared = std::max(1, jit::cuda_tile_bytes(*l.code, v));
  const double resident = std::min(d.resident / jit::cuda_block, std::floor(d.shared_bytes / shared));
  const double waves = std::ceil(threads / jit::cuda_block / (resident * d.multiprocessors));
  const double groups = std::ldexp(1.0, v.tile.across + v.tile.down) / (jit::cuda_block * v.vector);
  return waves * (1 + groups / 16);
}

void add_map(work& w, const launch& l, const jit::cuda_variant& v, const device_figures& d) {
  const auto n = static_cast<double>(core::element_count(l.extents));
  const jit::program& p = *l.code;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    if (gathered(l, k)) add_accesses(w, {n, size_of_input(l, k), 1, sector / static_cast<double>(size_of_input(l, k))});
    else if (v.inputs[k] != access::run) add_map_operand(w, l, v, l.inputs[k], size_of_input(l, k), v.inputs[k]);
    else if (finds_run(v, k)) add_run(w, v.runs[k], n, size_of_input(l, k), v.vector);
  }
  for (std::size_t k = 0; k < l.outputs.size(); ++k)
    if (const std::size_t at = l.inputs.size() + k; v.shape == cuda_shape::strided && v.outputs[k] == access::run) {
      if (finds_run(v, at)) add_run(w, v.runs[at], n, size_of_output(l, k), v.vector);
    } else
      add_map_operand(
          w, l, v, l.outputs[k], size_of_output(l, k),
          v.shape == cuda_shape::stride_loop || v.shape == cuda_shape::step_loop ? access::strided : v.outputs[k]);
  w.instructions += n * (weight_of(l, 0, p.code.size()) + 1);
  if (v.shape == cuda_shape::tiled) w.depth = depth_of_tiles(l, v, w.threads, d);
}

// --- reductions

/// How threads share results and elements.
struct sharing {
  double together = 1;  // results of a thread, which load once what they have in common
  bool along = true;    // neighbouring threads have neighbouring elements of a result, else neighbouring results
  double lanes = 1;     // threads of a result
  double apart = 1;     // results, or groups of a result, among the threads of a warp
};

sharing threads_of(const launch& l, const jit::cuda_variant& v, const call& c) {
  const double x = c.first.block_x, y = c.first.block_y, others = std::max(1.0, warp / x);
  switch (v.shape) {
    case cuda_shape::reduce_columns: return {double(v.vector), false, y, others};
    case cuda_shape::crossed_rows: return {std::ldexp(1.0, v.tile.down), false, y, others};
    case cuda_shape::shared_rows: return {std::ldexp(1.0, v.tile.down), true, x, others};
    case cuda_shape::reduce_tiles: return {std::ldexp(1.0, v.tile.down + v.tile.across), true, 1};
    case cuda_shape::broadcast_rows:
      return {1, true, std::max(1.0, std::floor(x * c.first.x / static_cast<double>(l.extents[0])))};
    default: return {1, true, x, others};
  }
}

void add_reduced_operand(work& w, const launch& l, const jit::cuda_variant& v, std::size_t k, const sharing& g) {
  const operand& o = l.inputs[k];
  const std::size_t size = size_of_input(l, k);
  const auto results = static_cast<double>(kept_count(l));
  const double n = results * static_cast<double>(reduced_count(l));
  const int rank = l.extents.size();
  if (gathered(l, k)) return add_accesses(w, {n, size, 1, sector / static_cast<double>(size)});
  if (constant_over(l, o, l.kept, rank)) return add_accesses(w, {results * g.lanes, size, 1, 0});
  const auto along = static_cast<double>(rank > l.kept ? o.strides[rank - 1] : 0);
  const auto across = static_cast<double>(l.kept > 0 ? o.strides[l.kept - 1] : 0);
  const double group = jit::cuda_group;
  if (v.shape == cuda_shape::reduce_tiles) {
    // A slab is read once for a block's rows or columns, and from shared memory once for those of a thread.
    const auto side = static_cast<jit::operand_axes>(v.row_only[k]);
    const double rows = std::ldexp(1.0, v.tile.down), columns = std::ldexp(1.0, v.tile.across);
    const double own = side == jit::operand_axes::row ? columns : rows;
    add_accesses(w, {n / (own * jit::cuda_tile_side), size, v.inputs[k] == access::linear ? group : 1,
                     v.inputs[k] == access::linear   ? group
                     : v.inputs[k] == access::staged ? across
                                                     : along});
    w.lines += n / own * static_cast<double>(size) / line;
    w.instructions += n / own / group * access_cost;
    return;
  }
  if (v.inputs[k] == access::run) {
    if (finds_run(v, k)) add_run(w, v.runs[k], n, size, group);
    return;
  }
  const double together = across == 0 ? g.together : 1;
  const bool linear = v.inputs[k] == access::linear;
  const bool below = std::abs(along) * static_cast<double>(size) < sector;
  const bool across_vectors =
      v.shape == cuda_shape::reduce_columns || (v.shape == cuda_shape::crossed_rows && v.tile.down > 0);
  const double vector = !linear ? 1 : across_vectors ? g.together : group;
  const double stride = g.along && g.lanes > 1 ? along * group : across * (across_vectors ? g.together : 1);
  add_accesses(w, {n / together, size, vector, stride, below, g.apart});
}

/// Instructions of the elements: those that depend on the row alone run once for it in broadcast_rows.
double element_weight(const launch& l, const jit::cuda_variant& v) {
  const jit::program& p = *l.code;
  if (v.shape != cuda_shape::broadcast_rows) return weight_of(l, 0, p.epilogue);
  double weight = 0;
  std::vector<bool> row_only(p.epilogue);
  for (std::size_t k = 0; k < p.epilogue; ++k) {
    const jit::instr& i = p.code[k];
    bool all = true;
    p.each_operand(i, [&](std::uint16_t r) { all = all && row_only[r]; });
    row_only[k] = i.op == jit::opcode::load ? v.row_only[i.a] != 0 : i.op == jit::opcode::coord ? i.a < v.kept : all;
    if (!row_only[k]) weight += jit::weight(i.op);
  }
  return weight;
}

/// Whether an input that varies along the results is too large for the first-level cache.
bool streams(const launch& l, const device_figures& d) {
  for (std::size_t k = 0; k < l.inputs.size(); ++k)
    if (is_loaded(*l.code, k, l.code->epilogue) && !constant_over(l, l.inputs[k], l.kept, l.extents.size()) &&
        footprint(l, l.inputs[k], size_of_input(l, k)) > d.near_cache)
      return true;
  return false;
}

/// Steps of a thread that wait for each other: its groups, some of which it reads at a time, or a block's slabs.
double depth_of_reduction(const launch& l, const jit::cuda_variant& v, double groups, const device_figures& d) {
  if (v.shape != cuda_shape::reduce_tiles) return std::min(groups / 4, 64.0) * (streams(l, d) ? 1 : 0.1);
  const double results = std::ldexp(1.0, v.tile.down + v.tile.across);
  return std::ceil(groups / results / v.tile.slots) + groups / 64;
}

/// Windows: what a thread reads and computes once for all of its results; partial sums double from step to step.
void add_windows(work& w, const launch& l, const jit::cuda_variant& v) {
  const auto results = static_cast<double>(kept_count(l)), elements = static_cast<double>(reduced_count(l));
  const double threads = results / jit::cuda_window_results, rows = elements / v.window.back();
  double most = 0;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    if (!in_prologue(*l.code, k)) continue;
    const int step = v.row_only[k];
    const double width = step > 0 ? jit::cuda_window_reach(v, step) : v.window.back();
    const double vector = v.inputs[k] == access::linear ? jit::cuda_window_vector(l.code->inputs[k].type) : 1;
    most = std::max(most, width);
    add_accesses(w,
                 {threads * rows * width, size_of_input(l, k), vector, double(step * jit::cuda_window_results), true});
  }
  w.instructions +=
      threads * rows * most * (weight_of(l, 0, l.code->epilogue) + 3.0 * double(l.code->reductions.size()));
  w.instructions += results * (weight_of(l, l.code->epilogue, l.code->code.size()) + 8);
}

void add_reduction(work& w, const launch& l, const jit::cuda_variant& v, const call& c, const device_figures& d) {
  if (v.shape == cuda_shape::windows) return add_windows(w, l, v);
  const jit::program& p = *l.code;
  const auto results = static_cast<double>(kept_count(l)), elements = static_cast<double>(reduced_count(l));
  const double n = results * elements;
  const sharing g = threads_of(l, v, c);
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    if (!is_loaded(p, k, p.epilogue)) continue;
    const double before = w.sectors, bytes = footprint(l, l.inputs[k], size_of_input(l, k));
    add_reduced_operand(w, l, v, k, g);
    if (bytes <= d.near_cache) w.sectors = std::min(w.sectors, before + bytes * d.multiprocessors);
  }
  const auto reductions = static_cast<double>(p.reductions.size());
  w.instructions += n * (element_weight(l, v) + reductions + 1.5 / jit::cuda_group);
  // Joining the lanes of a result: by all threads of a tree, or in registers.
  const double joins = v.shape == cuda_shape::reduce_tiles ? std::ldexp(1.0, v.tile.levels)
                                                           : g.lanes * (1 + std::log2(std::max(1.0, g.lanes)));
  w.instructions += results * reductions * 4 * joins + results * (weight_of(l, p.epilogue, p.code.size()) + 8);
  w.chains = std::min(4.0, g.together);
  w.depth += depth_of_reduction(l, v, n / std::max(1.0, w.threads) / jit::cuda_group, d);
  w.depth += std::log2(std::max(1.0, g.lanes)) / 8;
}

void add_stages(work& w, const launch& l) {
  const auto n = static_cast<double>(core::element_count(l.extents));
  for (std::size_t k = 0; k < l.inputs.size(); ++k) w.instructions += n * access_cost / jit::cuda_group;
  w.instructions += n * weight_of(l, 0, l.code->code.size());
  w.lines += w.memory / line;
  w.sectors += w.memory;
  w.depth += 2.0 * static_cast<double>(l.code->stages.size());
}

}  // namespace

work work_of(const launch& l, const jit::cuda_variant& v, const device_figures& d) {
  const call c = grids_of(l, v, static_cast<int>(d.multiprocessors));
  work w = common(l, v, c);
  switch (l.code->kind) {
    case jit::kernel_kind::elementwise: add_map(w, l, v, d); break;
    case jit::kernel_kind::reduce: add_reduction(w, l, v, c, d); break;
    case jit::kernel_kind::staged: add_stages(w, l); break;
  }
  return w;
}

jit::time_estimate time_of(const work& w, const device_figures& d) {
  const double busy = std::min(1.0, w.threads * w.chains / (d.multiprocessors * d.threads));
  const double cycles = d.multiprocessors * d.clock * std::max(busy, 1e-6);
  const jit::time_estimate parts[] = {{w.depth * d.step, "steps that wait for each other"},
                                      {w.memory / d.memory / std::min(1.0, 4 * busy), "memory"},
                                      {w.sectors / d.far_cache / std::min(1.0, 4 * busy), "sectors"},
                                      {w.lines / cycles, "lines"},
                                      {w.instructions / (cycles * d.lanes), "instructions"}};
  jit::time_estimate most;
  for (const jit::time_estimate& t : parts)
    if (t.microseconds > most.microseconds) most = t;
  most.microseconds += d.launch * w.kernels;
  return most;
}

}  // namespace sinter::cuda
