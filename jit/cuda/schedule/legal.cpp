// Legal schedules of elementwise programs and of reductions of one result at a time.
#include "jit/cuda/schedule/legal.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "jit/cuda/schedule/choose.hpp"
#include "jit/program/loop_runs.hpp"
#include "jit/program/scalar.hpp"

namespace sinter::cuda {

using jit::access;
using jit::cuda_shape;
using jit::launch;
using jit::operand;

namespace {

/// Headroom for indices beyond the last one: a whole grid of blocks may overshoot.
constexpr std::int64_t slack = std::int64_t{1} << 20;
constexpr std::int64_t narrow_limit = (std::int64_t{1} << 31) - slack;

/// Whether all strides except that of `axis` keep vectors of `n` elements aligned.
bool keeps_vectors(const launch& l, const operand& o, int axis, std::int64_t n) noexcept {
  for (int j = 0; j < l.extents.size(); ++j)
    if (j != axis && l.extents[j] != 1 && o.strides[j] % n != 0) return false;
  return true;
}

}  // namespace

// --- operands

bool aligned(const operand& o, std::size_t size, std::size_t bytes) noexcept {
  return (reinterpret_cast<std::uintptr_t>(o.base) + static_cast<std::uintptr_t>(o.offset) * size) % bytes == 0;
}

bool constant_over(const launch& l, const operand& o, int first, int last) noexcept {
  for (int j = first; j < last; ++j)
    if (o.strides[j] != 0 && l.extents[j] != 1) return false;
  return true;
}

bool vector_along(const launch& l, const operand& o, std::size_t size, int axis, std::int64_t n) noexcept {
  const std::size_t bytes = std::min<std::size_t>(16, size * static_cast<std::size_t>(n));
  return o.strides[axis] == 1 && aligned(o, size, bytes) && keeps_vectors(l, o, axis, n);
}

bool fits_narrow(const launch& l, std::int64_t iterations) noexcept {
  if (iterations >= narrow_limit) return false;
  auto fits = [&](const operand& o) {
    std::int64_t span = 0;
    for (int j = 0; j < l.extents.size(); ++j)
      span += std::abs(o.strides[j]) * std::max<std::int64_t>(l.extents[j] - 1, 0);
    return span < narrow_limit;
  };
  const bool wraps_fit = std::all_of(l.wraps.begin(), l.wraps.end(), [](const jit::wrapped_read& r) {
    std::int64_t span = 0;
    for (const jit::wrap* w = r.wraps; w != r.wraps + r.count; ++w) span += std::abs(w->before) + std::abs(w->after);
    return span < narrow_limit / 2;
  });
  return wraps_fit && std::all_of(l.inputs.begin(), l.inputs.end(), fits) &&
         std::all_of(l.outputs.begin(), l.outputs.end(), fits);
}

std::size_t size_of_input(const launch& l, std::size_t k) noexcept { return itemsize(l.code->inputs[k].type); }
std::size_t size_of_output(const launch& l, std::size_t k) noexcept { return itemsize(l.code->outputs[k].type); }
bool gathered(const launch& l, std::size_t k) noexcept { return l.code->inputs[k].gathers > 0; }

bool wraps(const launch& l, std::size_t input) noexcept {
  return std::any_of(l.wraps.begin(), l.wraps.end(), [&](const jit::wrapped_read& r) { return r.input == input; });
}

void share_places(const launch& l, jit::cuda_variant& v) {
  const auto strides = [&](std::size_t k) -> const core::dims& {
    return k < l.inputs.size() ? l.inputs[k].strides : l.outputs[k - l.inputs.size()].strides;
  };
  for (std::size_t k = 0; k < l.inputs.size() + l.outputs.size(); ++k) {
    std::size_t first = 0;
    while (first < k && !(strides(first) == strides(k))) ++first;
    v.places.push_back(static_cast<std::uint8_t>(first));
  }
}

bool in_prologue(const jit::program& p, std::size_t input) noexcept {
  for (std::size_t k = 0; k < p.epilogue; ++k)
    if (p.code[k].op == jit::opcode::load && p.code[k].a == input) return true;
  return false;
}

bool is_order_free(const jit::program& p) noexcept {
  return std::all_of(p.reductions.begin(), p.reductions.end(), [](auto& r) { return jit::is_order_free(r); });
}

// Order-free reductions take the kernel shape that suits the layout; for others the user's shape alone decides, so
// that the order of additions does not depend on the layout.
bool prefers_rows(const launch& l) noexcept {
  if (kept_count(l) == 1) return true;
  if (!is_order_free(*l.code)) return l.reduces_last;
  const int last = l.extents.size() - 1;
  bool row = false, column = false;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    if (gathered(l, k) || !in_prologue(*l.code, k)) continue;
    row = row || l.inputs[k].strides[last] == 1;
    column = column || (l.kept > 0 && l.inputs[k].strides[l.kept - 1] == 1);
  }
  return row != column ? row : l.reduces_last;
}

void share_wraps(const launch& l, jit::cuda_variant& v) {
  std::vector<const jit::wrap*> all;
  for (const jit::wrapped_read& r : l.wraps) {
    for (const jit::wrap* w = r.wraps; w != r.wraps + r.count; ++w) {
      const auto equal = [&](const jit::wrap* o) {
        return o->axis == w->axis && o->turn == w->turn && o->before == w->before && o->after == w->after;
      };
      const auto first = std::find_if(all.begin(), all.end(), equal) - all.begin();
      v.wraps.push_back(
          {static_cast<std::uint8_t>(r.input), static_cast<std::uint8_t>(w->axis), static_cast<std::uint8_t>(first)});
      all.push_back(w);
    }
  }
}

namespace {

// --- elementwise

bool is_linear(const launch& l, jit::cuda_variant& v) {
  if (l.extents.size() > 1) return false;
  const int n = jit::cuda_vector_length(*l.code);
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const operand& o = l.inputs[k];
    const bool uniform = constant_over(l, o, 0, l.extents.size());
    if (!uniform && !(o.strides[0] == 1 && (gathered(l, k) || vector_along(l, o, size_of_input(l, k), 0, n))))
      return false;
    v.inputs.push_back(uniform ? access::uniform : access::linear);
  }
  for (std::size_t k = 0; k < l.outputs.size(); ++k) {
    const operand& o = l.outputs[k];
    if (!l.extents.empty() && l.extents[0] != 1 && o.strides[0] != 1) return false;
    if (!aligned(o, size_of_output(l, k),
                 std::min<std::size_t>(16, size_of_output(l, k) * static_cast<std::size_t>(n))))
      return false;
    v.outputs.push_back(access::linear);
  }
  v.shape = cuda_shape::linear;
  v.vector = static_cast<std::uint8_t>(n);
  return true;
}

/// Whether vectors along the inner axis suit every operand: a vector access, or one value for all lanes.
bool inner_vectors(const launch& l, int n) noexcept {
  const int inner = l.extents.size() - 1;
  if (n == 1 || l.extents[inner] % n != 0) return false;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const operand& o = l.inputs[k];
    if (gathered(l, k) || o.strides[inner] == 0) continue;
    if (!vector_along(l, o, size_of_input(l, k), inner, n)) return false;
  }
  for (std::size_t k = 0; k < l.outputs.size(); ++k)
    if (!vector_along(l, l.outputs[k], size_of_output(l, k), inner, n)) return false;
  return true;
}

void make_strided(const launch& l, bool vectors, jit::cuda_variant& v) {
  const int rank = l.extents.size(), inner = rank - 1;
  v.shape = cuda_shape::strided;
  v.vector = static_cast<std::uint8_t>(vectors ? jit::cuda_vector_length(*l.code) : 1);
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const operand& o = l.inputs[k];
    const bool uniform = constant_over(l, o, 0, rank) && !wraps(l, k);
    const bool plain = vectors && !gathered(l, k);
    v.inputs.push_back(uniform                          ? access::uniform
                       : plain && o.strides[inner] == 1 ? access::linear
                       : plain && o.strides[inner] == 0 ? access::lanes
                                                        : access::strided);
  }
  v.outputs.assign(l.outputs.size(), vectors ? access::linear : access::strided);
  share_places(l, v);
  share_wraps(l, v);
  v.wide_index = !fits_narrow(l, core::element_count(l.extents));
}

void make_loop(const launch& l, jit::cuda_variant& v) {
  v.shape = cuda_shape::stride_loop;
  for (std::size_t k = 0; k < l.inputs.size(); ++k)
    v.inputs.push_back(constant_over(l, l.inputs[k], 0, l.extents.size()) ? access::uniform : access::strided);
  v.outputs.assign(l.outputs.size(), access::strided);
  v.wide_index = !fits_narrow(l, core::element_count(l.extents));
}

void make_step_loop(const launch& l, jit::cuda_variant& v) {
  make_loop(l, v);
  v.shape = cuda_shape::step_loop;
}

bool has_loop_text(const jit::program& p) noexcept {
  return std::any_of(p.calls.begin(), p.calls.end(), [](auto& c) { return c.function->has_loop_text(); });
}

// --- reductions

/// A normal number of both types.
constexpr double smallest_limit = std::numeric_limits<float>::min();

bool tail_may_be_skipped(const launch& l) {
  if (!jit::has_tail(*l.code)) return false;
  const jit::monotone_tail tail = jit::cuda_tail(*l.code);
  return std::all_of(tail.steps.begin(), tail.steps.end(), [&](const jit::tail_step& s) {
    if (!s.scale && !s.limit) return true;
    const std::size_t at = l.code->code[s.scale ? *s.scale : *s.limit].a;
    const double given = jit::real_of(l.params[at]);
    const double x = l.code->param_types[at] == dtype::f64 ? given : static_cast<double>(static_cast<float>(given));
    if (s.limit) return x >= smallest_limit && x <= 1;  // in the domain of an arcsine
    return x > 0 && std::isfinite(x);
  });
}

/// Rows below which a thread group for each leaves most of a GPU idle.
constexpr std::int64_t least_broadcast_rows = 512;

bool is_broadcast(const launch& l, jit::cuda_variant& v) {
  if (l.kept != 1 || l.extents.size() != 2 || l.code->loop.end != 0 || !is_order_free(*l.code)) return false;
  const std::int64_t rows = l.extents[0], columns = l.extents[1];
  if (columns < jit::cuda_columns || rows >= narrow_limit * 16) return false;
  int row_inputs = 0, column_inputs = 0;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const operand& o = l.inputs[k];
    const bool over_rows = o.strides[0] != 0, over_columns = o.strides[1] != 0;
    if (!in_prologue(*l.code, k)) {
      v.inputs.push_back(access::strided);
      v.row_only.push_back(1);
      continue;
    }
    if (gathered(l, k) || (over_rows && over_columns)) return false;
    ++(over_columns ? column_inputs : row_inputs);
    v.row_only.push_back(!over_columns);
    const bool vectors = over_columns && vector_along(l, o, size_of_input(l, k), 1, jit::cuda_columns);
    v.inputs.push_back(vectors ? access::linear : access::strided);
  }
  if (column_inputs == 0 || row_inputs == 0) return false;
  v.shape = cuda_shape::broadcast_rows;
  v.outputs.assign(l.outputs.size(), access::strided);
  v.wide_index = !fits_narrow(l, std::max(rows, columns) + 64 * jit::cuda_columns);
  v.skip_tail = tail_may_be_skipped(l);
  return true;
}

/// Whether the program reads positions in the whole space.
bool asks_for_position(const launch& l) noexcept {
  const auto end = l.code->code.begin() + l.code->epilogue;
  return std::any_of(l.code->code.begin(), end,
                     [&](auto& i) { return i.op == jit::opcode::coord && i.a == l.extents.size(); });
}

void make_rows(const launch& l, jit::cuda_variant& v) {
  const int rank = l.extents.size();
  v.shape = cuda_shape::reduce_rows;
  if (asks_for_position(l) && reduced_count(l) % jit::cuda_group == 0) v.vector = jit::cuda_group;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const operand& o = l.inputs[k];
    const bool uniform = constant_over(l, o, l.kept, rank);
    const bool vectors = !uniform && !gathered(l, k) && rank - l.kept == 1 &&
                         vector_along(l, o, size_of_input(l, k), rank - 1, jit::cuda_group);
    v.inputs.push_back(uniform ? access::uniform : vectors ? access::linear : access::strided);
  }
}

/// Whether every group of a reduction over several axes lies along the last one: the others' coordinates are the group's.
bool has_groups_inside(const launch& l) noexcept {
  const int rank = l.extents.size();
  return rank - l.kept > 1 && l.extents[rank - 1] % jit::cuda_group == 0;
}

void read_groups_inside(const launch& l, jit::cuda_variant& v) {
  const int last = l.extents.size() - 1;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const operand& o = l.inputs[k];
    v.row_only.push_back(!gathered(l, k) && o.strides[last] == 0);
    if (v.inputs[k] == access::strided && !gathered(l, k) &&
        vector_along(l, o, size_of_input(l, k), last, jit::cuda_group))
      v.inputs[k] = access::linear;
  }
}

/// Fewer elements than this take the time of a launch however they are read.
constexpr std::int64_t large_reduction = std::int64_t{1} << 16;

/// Whether a thread of a block of 1024, which has 64 registers, can run a reduction.
bool suits_wide_block(const jit::program& p) noexcept {
  int weight = 0;
  for (std::size_t k = 0; k < p.epilogue; ++k) weight += jit::weight(p.code[k].op);
  return weight <= 32 && p.calls.empty() && p.combines.empty() && accumulator_words(p) <= 6;
}

/// Whether each element's inputs are read for many elements: none varies along all long axes.
bool reads_again(const launch& l) noexcept {
  constexpr std::int64_t many = 64;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    if (!in_prologue(*l.code, k)) continue;
    if (gathered(l, k)) return false;
    bool again = false;
    for (int a = 0; a < l.extents.size(); ++a) again = again || (l.inputs[k].strides[a] == 0 && l.extents[a] >= many);
    if (!again) return false;
  }
  return true;
}

/// So many blocks leave most of a GPU's registers unused.
constexpr std::int64_t few_blocks = 132;

void finish_reduction(const launch& l, jit::cuda_variant& v) {
  v.reused = reads_again(l);
  v.outputs.assign(l.outputs.size(), access::strided);
  v.wide_index = !fits_narrow(l, kept_count(l) * std::max<std::int64_t>(reduced_count(l), 1));
  const reduce_geometry g = geometry_of(l, v);
  v.whole = g.splits == 1;
  v.alone = g.first.x * g.splits <= few_blocks;
  if (v.shape == cuda_shape::reduce_rows) deal_lanes(l, g, v);
}

/// Elements of the vectors of neighbouring results that suit every operand; 1: none.
std::int64_t column_vectors(const launch& l) noexcept {
  const int rank = l.extents.size(), inner = l.kept - 1;
  std::size_t widest = 4;
  for (std::size_t k = 0; k < l.inputs.size(); ++k)
    if (in_prologue(*l.code, k) && !constant_over(l, l.inputs[k], l.kept, rank))
      widest = std::max(widest, size_of_input(l, k));
  const auto n = static_cast<std::int64_t>(16 / widest);
  bool vectors = n > 1 && inner >= 0 && l.extents[inner] % n == 0 && kept_count(l) >= 128;
  bool any = false;
  for (std::size_t k = 0; k < l.inputs.size() && vectors; ++k) {
    const operand& o = l.inputs[k];
    if (!in_prologue(*l.code, k) || gathered(l, k) || constant_over(l, o, l.kept, rank)) continue;
    if (o.strides[inner] == 0) continue;  // one value for all of a vector
    vectors = vector_along(l, o, size_of_input(l, k), inner, n);
    any = any || vectors;
  }
  return vectors && any ? n : 1;
}

void make_columns(const launch& l, std::int64_t n, jit::cuda_variant& v) {
  const int rank = l.extents.size(), inner = l.kept - 1;
  v.shape = cuda_shape::reduce_columns;
  v.vector = static_cast<std::uint8_t>(n);
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const operand& o = l.inputs[k];
    const bool uniform = constant_over(l, o, l.kept, rank);
    const bool several = n > 1 && !gathered(l, k), linear = several && o.strides[inner] != 0;
    v.inputs.push_back(uniform ? access::uniform : linear ? access::linear : several ? access::lanes : access::strided);
  }
}

// --- all

void add_maps(const launch& l, extent_of_search which, variant_list& to) {
  const bool all = which == extent_of_search::all;
  if (has_loop_text(*l.code)) return make_loop(l, to.add(l));
  if (jit::moves_in_runs(*l.code)) return make_step_loop(l, to.add(l));
  if (!l.wraps.empty()) {
    if (!add_map_runs(l, which, to)) make_strided(l, false, to.add(l));
    return;
  }
  // Nothing moves fewer bytes than whole vectors.
  if (to.add_if(l, [&](jit::cuda_variant& v) { return is_linear(l, v); }) && !all) return;
  if (l.extents.empty()) return;
  if (l.extents.size() > 1) add_tiled(l, which, to);
  const bool vectors = inner_vectors(l, jit::cuda_vector_length(*l.code));
  if (vectors) make_strided(l, true, to.add(l));
  if ((!vectors || all) && (add_map_runs(l, which, to) || add_flat_rows(l, which, to))) return;
  if (!vectors || all) make_strided(l, false, to.add(l));
}

/// Whether an operand is read across its memory where neighbouring threads have neighbouring elements of a result (or,
/// `along` false, neighbouring results), and along it where they have the others.
bool is_crossed(const launch& l, bool along) noexcept {
  if (l.kept == 0 || l.extents.size() == l.kept || core::element_count(l.extents) < large_reduction) return false;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    if (gathered(l, k) || !in_prologue(*l.code, k)) continue;
    const auto size = static_cast<std::int64_t>(size_of_input(l, k));
    const std::int64_t element = std::abs(l.inputs[k].strides[l.extents.size() - 1]) * size;
    const std::int64_t result = std::abs(l.inputs[k].strides[l.kept - 1]) * size;
    const std::int64_t read = along ? element : result, other = along ? result : element;
    if (read >= 32 && other > 0 && 2 * other <= 32) return true;
  }
  return false;
}

void add_with_lanes(const launch& l, cuda_shape shape, variant_list& to) {
  jit::cuda_variant& v = to.add(l);
  make_rows(l, v);
  v.shape = shape;
  finish_reduction(l, v);
}

/// Crossed rows; a thread has `results` neighbouring ones, and a block 2^across times as many threads as others.
void add_crossed(const launch& l, std::int64_t results, int across, variant_list& to) {
  jit::cuda_variant& v = to.add(l);
  if (results == 1) make_rows(l, v);
  else make_columns(l, results, v), v.vector = 1;
  v.shape = cuda_shape::crossed_rows;
  v.tile.down = static_cast<std::uint8_t>(std::countr_zero(static_cast<std::uint64_t>(results)));
  v.tile.across = static_cast<std::uint8_t>(across);
  finish_reduction(l, v);
}

/// A warp reads whole lines where a block has the threads of so many neighbouring results; where it cannot, as of long rows,
/// vectors of results of up to four bytes read whole sectors.
void add_all_crossed(const launch& l, bool all, unsigned lanes, variant_list& to) {
  const bool suits = suits_wide_block(*l.code);
  if (lanes > 32 && !suits) return;
  const int results = std::countr_zero(jit::cuda_block / lanes), across = suits ? std::clamp(5 - results, 0, 2) : 0;
  const std::int64_t n = suits && (all || results < 3) ? std::min<std::int64_t>(column_vectors(l), 4) : 1;
  if (n == 4) add_crossed(l, n, across, to);
  add_crossed(l, 1, across, to);
  if (n == 2 && all) add_crossed(l, n, across, to);
}

void add_rows(const launch& l, extent_of_search which, variant_list& to) {
  const bool all = which == extent_of_search::all;
  const bool wanted = kept_count(l) > 1 && (all || is_crossed(l, true));
  if (wanted) add_all_crossed(l, all, row_geometry(l).first.block_x, to);
  add_with_lanes(l, cuda_shape::reduce_rows, to);
  if (set_row_runs(l, all, to[to.size() - 1]) && all) add_with_lanes(l, cuda_shape::reduce_rows, to);
  if (all) {
    add_with_lanes(l, cuda_shape::reduce_rows, to);
    if (!deal_lanes_otherwise(l, to[to.size() - 1])) to.drop();
  }
  if (!has_groups_inside(l)) return;
  read_groups_inside(l, to[to.size() - 1]);
  if (which == extent_of_search::all) add_with_lanes(l, cuda_shape::reduce_rows, to);
}

void add_columns(const launch& l, extent_of_search which, variant_list& to) {
  const bool all = which == extent_of_search::all;
  if (all || is_crossed(l, false)) add_with_lanes(l, cuda_shape::crossed_columns, to);
  const std::int64_t n = column_vectors(l);
  for (const std::int64_t vector : {n, std::int64_t{1}}) {
    jit::cuda_variant& v = to.add(l);
    make_columns(l, vector, v);
    finish_reduction(l, v);
    if (n == 1 || !all) return;
  }
}

void add_reductions(const launch& l, extent_of_search which, variant_list& to) {
  const bool all = which == extent_of_search::all;
  if (all || kept_count(l) >= least_broadcast_rows)
    to.add_if(l, [&](jit::cuda_variant& v) { return is_broadcast(l, v); });
  if (add_windows(l, which, to)) return;
  add_reduce_tiles(l, which, to);
  add_shared_rows(l, which, to);
  const bool pays = all || core::element_count(l.extents) >= large_reduction;
  const bool rows = prefers_rows(l), both = pays && is_order_free(*l.code) && kept_count(l) > 1;
  if (rows) add_rows(l, which, to);
  if (!rows || both) add_columns(l, which, to);
  if (!rows && both) add_rows(l, which, to);
}

}  // namespace

jit::cuda_variant& variant_list::add(const launch& l) {
  if (count_ == all_.size()) all_.emplace_back();
  jit::cuda_variant& v = all_[count_++];
  v.inputs.clear();
  v.outputs.clear();
  v.row_only.clear();
  v.places.clear();
  v.wraps.clear();
  v.window.clear();
  v.runs.clear();
  v.before = v.after = v.back = 0;
  v.rank = static_cast<std::uint8_t>(l.extents.size());
  v.kept = l.code->kind == jit::kernel_kind::elementwise ? v.rank : static_cast<std::uint8_t>(l.kept);
  v.vector = 1;
  v.groups = 0;
  v.all_groups = v.wide_index = v.reused = v.alone = v.whole = v.rest = v.skip_tail = v.kept_in_shared = v.baseline =
      false;
  v.lane_runs = 1;
  v.tile = {};
  return v;
}

void add_schedules(const launch& l, extent_of_search which, variant_list& to) {
  to.clear();
  if (core::element_count(l.extents) == 0) which = extent_of_search::considered;
  switch (l.code->kind) {
    case jit::kernel_kind::elementwise: return add_maps(l, which, to);
    case jit::kernel_kind::staged: return add_stages(l, which, to);
    case jit::kernel_kind::reduce: return add_reductions(l, which, to);
  }
}

}  // namespace sinter::cuda
