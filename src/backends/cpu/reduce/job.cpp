// Geometry of a reduction: classes, chunks, segments, groups of results.
#include "backends/cpu/reduce/job.hpp"

#include <algorithm>
#include <optional>

#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

// Elements of a chunk where any order gives the same.
constexpr std::int64_t free_row_chunk = 1 << 16;
constexpr std::int64_t free_column_chunk = 128;
/// Most accumulators of a reduction of columns, which the second-level cache holds.
constexpr std::int64_t most_column_accumulators = 8192;
constexpr std::int64_t few_groups = 32;  // fewer groups of results than this are divided into segments

/// Rows of so many elements are multiplied as they are added, others in long blocks.
bool adds_products(std::int64_t reduced) noexcept {
  return reduced >= 16 || reduced == jit::addition_group || reduced == 2 * jit::addition_group;
}

/// Whether there are loops for the sum that read what is multiplied: float32 and float64.
bool is_sum_of_products(const jit::program& p, const jit::reduce_desc& r) {
  const jit::instr& i = p.code[r.reg];
  return (i.op == jit::opcode::multiply || i.op == jit::opcode::square) && i.arg == i.type && r.arg == i.type &&
         (i.type == dtype::f32 || i.type == dtype::f64) && find_reducer(r.op, r.arg).product_row;
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept { return (a + b - 1) / b; }

jit::addition_order order_of(const jit::launch& l, const reduce_shape& shape) {
  const bool rows = shape.rows && !shape.lengthwise;
  if (l.split_lanes != 0) return jit::order_of_split(rows, l.split_lanes, shape.reduced);
  return jit::order_of_additions(rows, l.all_results > 0 ? l.all_results : shape.results, shape.reduced);
}

/// Whether the loops for whole rows exist: not for users' reductions.
bool has_row_loops(const jit::program& p) {
  return std::all_of(p.reductions.begin(), p.reductions.end(),
                     [](const jit::reduce_desc& r) { return r.op != jit::reduce_op::user; });
}

/// How many bytes the rows of an operand are apart; nothing where a row does not lie in one piece, or the rows are not
/// equally far apart.
std::optional<std::int64_t> row_stride_of(const jit::launch& l, const input_plan& in) {
  const core::dims &extents = l.extents, &strides = in.source->strides;
  const int rank = extents.size() - l.kept;
  lane_map row, kept;
  row.assign(core::dims(extents.data() + l.kept, rank), core::dims(strides.data() + l.kept, rank));
  kept.assign(core::dims(extents.data(), l.kept), core::dims(strides.data(), l.kept));
  if (!row.contiguous || kept.extents.size() > 1 || is_half(in.type) || in.wrapped) return std::nullopt;
  return (kept.extents.empty() ? 0 : kept.strides[0]) * static_cast<std::int64_t>(itemsize(in.type));
}

}  // namespace

template <class F>
bool all_loads(const jit::launch& l, F suits) {
  const jit::program& p = *l.code;
  return std::all_of(p.code.begin(), p.code.begin() + p.epilogue, [&](const jit::instr& i) {
    return i.op != jit::opcode::load || (p.inputs[i.a].gathers == 0 && suits(l.inputs[i.a].strides));
  });
}
bool skips_tail(const jit::program& p) {
  return std::any_of(p.reductions.begin(), p.reductions.end(), [](const jit::reduce_desc& r) { return r.tail > 0; });
}

/// Whether rows that could have blocks of their own share them: operands lie in memory as in the space, or are one row.
bool is_flat(const jit::launch& l, std::int64_t reduced) {
  if (reduced > row_part / 2 || skips_tail(*l.code)) return false;
  return all_loads(l, [&](const core::dims& strides) {
    lane_map map;
    map.assign(l.extents, strides);
    return map.contiguous || map.constant || (map.strides[0] == 0 && map.strides[1] == 1);
  });
}

/// Results of a column reduction that are reduced together: more than a block where operands are contiguous along them,
/// so that memory is read in longer pieces. A column that is not divided gets no more than a task would have anyway.
std::int64_t column_group(const jit::launch& l, std::int64_t reduced, std::int64_t task) {
  if (!has_row_loops(*l.code) || skips_tail(*l.code)) return jit::block_lanes;
  const auto inner = [&](const core::dims& strides) { return strides[l.kept - 1]; };
  if (!all_loads(l, [&](const core::dims& s) { return inner(s) == 0 || inner(s) == 1; })) return jit::block_lanes;
  const std::int64_t most = column_lanes / jit::block_lanes;
  if (reduced > free_column_chunk) return column_lanes;
  return jit::block_lanes * std::clamp<std::int64_t>(task / reduced / jit::block_lanes, 1, most);
}

constexpr std::int64_t least_weighted = 16;  // fewer columns share a block over several steps

/// Whether few columns are read in place, one step after the other, each of which is multiplied by one number.
bool is_weighted(const jit::launch& l) {
  const jit::program& p = *l.code;
  if (l.kept != 1 || l.extents[0] < least_weighted || !l.wraps.empty()) return false;
  const auto has_step = [&](std::uint16_t reg, std::int64_t step) {
    const jit::instr& i = p.code[reg];
    return i.op == jit::opcode::load && p.inputs[i.a].gathers == 0 && !is_half(p.inputs[i.a].type) &&
           l.inputs[i.a].strides[0] == step;
  };
  return std::all_of(p.reductions.begin(), p.reductions.end(), [&](const jit::reduce_desc& r) {
    const jit::instr& i = p.code[r.reg];
    return r.tail == 0 && i.op == jit::opcode::multiply && is_sum_of_products(p, r) &&
           ((has_step(i.a, 1) && has_step(i.b, 0)) || (has_step(i.a, 0) && has_step(i.b, 1)));
  });
}

constexpr std::int64_t least_lengthwise = 32;  // results, so that there are few lanes; and elements of each

/// Whether an operand's elements of a result lie in memory one after the other, and the results equally far apart.
enum class lengthwise { no, same, yes };
lengthwise runs_lengthwise(const jit::launch& l, const jit::operand& o) {
  const core::dims &extents = l.extents, &strides = o.strides;
  lane_map row, kept;
  row.assign(core::dims(extents.data() + l.kept, extents.size() - l.kept),
             core::dims(strides.data() + l.kept, extents.size() - l.kept));
  if (row.constant) return lengthwise::same;
  kept.assign(core::dims(extents.data(), l.kept), core::dims(strides.data(), l.kept));
  return row.contiguous && !kept.contiguous && kept.extents.size() == 1 ? lengthwise::yes : lengthwise::no;
}

/// Whether columns are reduced as rows: what they read lies so, and the order does not depend on it. Those of several splits
/// are read where they lie.
bool are_lengthwise(const jit::launch& l, const reduce_shape& s) {
  const jit::program& p = *l.code;
  if (l.kept == 0 || s.results < least_lengthwise || s.reduced < least_lengthwise) return false;
  if (!has_row_loops(p) || skips_tail(p) || !l.wraps.empty()) return false;
  bool in_place = true, ordered = false;
  for (const jit::reduce_desc& r : p.reductions) {
    const reducer& table = reducer_of(p, r);
    if (!table.any_order && !(table.by_groups && table.join_halves && table.whole_rows)) return false;
    const jit::instr& read = p.code[r.reg];
    if (read.op == jit::opcode::load && is_half(p.inputs[read.a].type)) return false;  // whose lanes are wider
    in_place = in_place && read.op == jit::opcode::load;
    ordered = ordered || !table.any_order;
  }
  if (!in_place && s.reduced > row_part) return false;
  const jit::addition_order order = order_of(l, s);
  if (ordered && (order.lanes > most_halved_lanes || (!in_place && order.splits > 1))) return false;
  bool found = false;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    if (!is_loaded(p, k)) continue;
    const lengthwise runs = runs_lengthwise(l, l.inputs[k]);
    if (runs == lengthwise::no || p.inputs[k].gathers != 0) return false;
    found = found || runs == lengthwise::yes;
  }
  return found;
}

/// Whether a block over the reduced axes and the kept ones from `first` on reads the operand as it lies in memory, or a few
/// elements again and again.
bool runs_along(const jit::launch& l, const jit::operand& o, int first) {
  core::dims extents, strides;
  for (int a = l.kept; a < l.extents.size(); ++a) extents.push_back(l.extents[a]), strides.push_back(o.strides[a]);
  for (int a = first; a < l.kept; ++a) extents.push_back(l.extents[a]), strides.push_back(o.strides[a]);
  lane_map map;
  map.assign(extents, strides);
  return runs_on(map);
}

constexpr std::int64_t most_shared = jit::block_lanes / 2;  // results whose columns share blocks
constexpr std::int64_t least_outside = 1024;                // lanes that follow each other

/// The first kept axis of those whose columns share a block; that of no axis where none do. Where few columns lie between a
/// step and the next one in memory, as the channels of an image do, those of other images are other groups.
int first_shared_axis(const jit::launch& l, const reduce_shape& s) {
  const bool all = s.results <= most_shared;
  const auto every = [&](auto runs) {
    for (std::size_t k = 0; k < l.inputs.size(); ++k)
      if (is_loaded(*l.code, k) && (l.code->inputs[k].gathers != 0 || !runs(l.inputs[k]))) return false;
    return true;
  };
  const int none = all ? 0 : l.kept;
  if (!l.wraps.empty() || (all && every([&](const jit::operand& o) { return runs_along(l, o, 0); }))) return none;
  std::int64_t width = s.results;
  for (int first = 1; first < l.kept; ++first) {
    width /= std::max<std::int64_t>(l.extents[first - 1], 1);
    if (width > most_shared) continue;
    if (width * s.reduced < least_outside) return none;
    if (every([&](const jit::operand& o) { return runs_along(l, o, first); })) return first;
  }
  return none;
}

/// Whether rows of several short runs, which are only read, share blocks: more than one is then added together.
bool has_short_runs(const jit::launch& l, std::int64_t reduced) {
  const jit::program& p = *l.code;
  const int rank = l.extents.size();
  if (reduced > row_part / 2 || rank < l.kept + 2 || l.extents[rank - 1] >= long_axis) return false;
  if (!l.wraps.empty() || skips_tail(p)) return false;
  return std::all_of(p.reductions.begin(), p.reductions.end(),
                     [&](const jit::reduce_desc& r) { return p.code[r.reg].op == jit::opcode::load; });
}

// The class depends on what the user wrote, not on the layout. Several short rows share a block; few columns share a
// block over several steps.
reduce_shape shape_of(const jit::launch& l) {
  reduce_shape s;
  const int rank = l.extents.size();
  for (int a = 0; a < rank; ++a) (a < l.kept ? s.results : s.reduced) *= l.extents[a];
  s.rows = l.reduces_last || s.results == 1;
  if (s.rows) s.axes = axes_across(l);
  s.across = !s.axes.block.empty();
  if (s.across) return s;
  if (s.rows) {
    s.shared = s.reduced <= row_lanes ||
               (has_row_loops(*l.code) &&
                (s.reduced < long_axis || (l.wraps.empty() && is_flat(l, s.reduced)) || has_short_runs(l, s.reduced)));
    const bool along = !s.shared && rank > l.kept && l.extents[rank - 1] >= long_axis;
    const int first = s.shared ? 0 : along ? rank - 1 : l.kept;
    for (int a = 0; a < rank; ++a) (a < first ? s.axes.outer : s.axes.block).push_back(a);
    return s;
  }
  if (are_lengthwise(l, s)) {
    s.rows = s.lengthwise = true;
    const bool along = l.extents[rank - 1] >= long_axis;
    for (int a = 0; a < rank; ++a) (a < (along ? rank - 1 : l.kept) ? s.axes.outer : s.axes.block).push_back(a);
    return s;
  }
  const int shared = is_weighted(l) ? l.kept : first_shared_axis(l, s);
  s.shared = shared < l.kept;
  const bool along = !s.shared && l.kept > 0 && l.extents[l.kept - 1] >= long_axis;
  const int first = along ? l.kept - 1 : s.shared ? shared : 0;
  for (int a = 0; a < first; ++a) s.axes.outer.push_back(a);
  for (int a = l.kept; a < rank; ++a) (s.shared ? s.axes.block : s.axes.outer).push_back(a);
  for (int a = first; a < l.kept; ++a) s.axes.block.push_back(a);
  s.width = s.results;
  for (int a = 0; a < first; ++a) s.width /= std::max<std::int64_t>(l.extents[a], 1);
  return s;
}

walk_axes epilogue_axes(const jit::launch& l) {
  walk_axes axes;
  for (int a = 0; a < l.kept; ++a) axes.block.push_back(a);
  return axes;
}

namespace {

/// The kept axes in the order in which the reduction leaves its results.
walk_axes result_axes_of(const jit::launch& l, const reduce_shape& shape) {
  if (!shape.across) return epilogue_axes(l);
  walk_axes axes;
  for (const auto& some : {shape.axes.outer, shape.axes.block})
    for (const std::int64_t a : some)
      if (a < l.kept) axes.block.push_back(a);
  return axes;
}

std::int64_t block_extent(const jit::launch& l, const walk_axes& axes) {
  std::int64_t n = 1;
  for (const std::int64_t a : axes.block) n *= l.extents[static_cast<int>(a)];
  return n;
}

}  // namespace

std::size_t segment_bytes(const jit::launch& l, const reduce_shape& shape) {
  std::size_t bytes = 0;
  for (auto& r : l.code->reductions) {
    const reducer& table = reducer_of(*l.code, r);
    for (int p = 0; p < table.partials; ++p) bytes += plane_bytes(table, p, shape.results);
  }
  return bytes;
}

namespace {

/// Results of columns that are reduced together: their accumulators are in the cache, and there are groups enough.
void narrow_columns(std::int64_t run, const reduce_shape& shape, reduce_split& s) {
  const std::int64_t lanes = s.order.lanes, fitting = most_column_accumulators / lanes / jit::block_lanes;
  s.group = std::min(s.group, std::max<std::int64_t>(fitting, 1) * jit::block_lanes);
  const std::int64_t units = ceil_div(run, s.group) * (shape.results / run) * s.chunks;
  if (units < 2 * runtime::thread_count()) s.group = jit::block_lanes;
}

void set_groups(const jit::launch& l, const reduce_shape& shape, std::int64_t lanes, reduce_split& s) {
  if (shape.across) {
    const std::int64_t run = block_extent(l, shape.axes);
    s.group = std::min<std::int64_t>(jit::block_lanes, run);
    s.groups = ceil_div(run, s.group) * (shape.results / run);
  } else if (shape.rows) {
    s.group = std::clamp<std::int64_t>(lanes / shape.reduced, 1, jit::block_lanes);
    s.groups = ceil_div(shape.results, s.group);
  } else if (shape.shared) {
    s.group = shape.width;
    s.groups = shape.results / shape.width;
  } else {
    // Groups are the blocks of results: they do not cross the end of the last kept axis where blocks run along it.
    const std::int64_t run = l.extents[l.kept - 1] >= long_axis ? l.extents[l.kept - 1] : shape.results;
    s.group = column_group(l, shape.reduced, lanes);
    if (s.ordered) narrow_columns(run, shape, s);
    s.groups = ceil_div(run, s.group) * (shape.results / run);
  }
}

/// Segments of a reduction in any order.
void set_segments(const reduce_shape& shape, std::int64_t lanes, reduce_split& s) {
  s.segment_chunks = s.chunks;
  if (s.groups >= few_groups || s.chunks == 1) return;
  const std::int64_t width = shape.across ? s.group : shape.rows ? 1 : std::min<std::int64_t>(shape.results, s.group);
  s.segment_chunks = 1;
  while (s.segment_chunks < s.chunks && s.segment_chunks * s.chunk * width < lanes) s.segment_chunks *= 2;
  s.segments = ceil_div(s.chunks, s.segment_chunks);
}

bool is_ordered(const jit::program& p) {
  return std::any_of(p.reductions.begin(), p.reductions.end(),
                     [&](const jit::reduce_desc& r) { return !reducer_of(p, r).any_order; });
}

}  // namespace

reduce_split split_of(const jit::launch& l, const reduce_shape& shape) {
  reduce_split s;
  s.group = jit::block_lanes;
  if (shape.reduced == 0) {
    s.groups = ceil_div(shape.results, s.group);
    return s;
  }
  const std::int64_t lanes = task_lanes(*l.code) * 4;
  s.ordered = is_ordered(*l.code);
  if (s.ordered) {
    s.order = order_of(l, shape);
    s.chunk = s.order.chunk * jit::addition_group;
    s.segments = s.order.splits;
  } else {
    s.chunk = shape.rows || shape.shared ? free_row_chunk : free_column_chunk;
  }
  s.chunks = ceil_div(shape.reduced, s.chunk);
  set_groups(l, shape, lanes, s);
  if (!s.ordered) set_segments(shape, lanes, s);
  const std::int64_t width = shape.rows ? s.group : std::min<std::int64_t>(shape.results, s.group);
  s.task_units = std::max<std::int64_t>(1, lanes / (width * std::min(shape.reduced, s.segment_chunks * s.chunk)));
  if (shape.across) s.task_units = std::max(s.task_units, std::min<std::int64_t>(32, s.groups / 64));
  return s;
}

reduce_job::reduce_job(const runtime::prepared& c, const jit::launch& l, const reduce_options& o)
    : launch(l),
      code(c),
      tail(o.tail),
      shape(shape_of(l)),
      split(split_of(l, shape)),
      params(l),
      elements(l, shape.axes, 0, l.code->epilogue, params),
      result_axes(result_axes_of(l, shape)),
      results(l, result_axes, l.code->epilogue, l.code->code.size(), params) {
  if (!l.wraps.empty()) elements.read_wrapped(l.wraps, shape.axes);
  const jit::program& p = *l.code;
  bool products = shape.rows && !shape.across && !tail && has_row_loops(p) && adds_products(shape.reduced);
  for (auto& r : p.reductions) {
    reducers.push_back(&reducer_of(p, r));
    products = products && shape.reduced >= reducers.back()->least_columns;
  }
  for (auto& r : p.reductions) loaded.push_back(inputs_of(r, products));
  only_loads = std::all_of(loaded.begin(), loaded.end(), [](const read_inputs& in) { return in.first >= 0; });
  if (!only_loads) take_weighted_columns();
  by_groups = code.groups && !only_loads && !tail;
  take_rows_whole();
  take_patterns();
  if (shape.across && shape.reduced <= most_panel_elements)
    elements.read_through_panels(static_cast<int>(shape.reduced));
  else if (!shape.rows && !shape.shared && elements.read_through_panels())
    by_groups = false;  // panels hold the steps that follow each other
  in_memory = only_loads && !tail && !shape.shared && has_row_loops(p) && l.extents.size() > l.kept;
  for (const read_inputs& read : loaded) {
    if (!in_memory) break;
    const auto lies_in_place = [&](int input) {
      const input_plan& in = elements.inputs[static_cast<std::size_t>(input)];
      return in.in_place && in.panel_rows == 0 && !in.wrapped;
    };
    const bool as_rows = shape.rows && !shape.across;
    in_memory = lies_in_place(read.first) && (read.factor < 0 || !as_rows || lies_in_place(read.factor));
  }
  across_in_memory = in_memory && shape.across;
  in_memory = in_memory && !shape.across;
  plain_results = true;
  for (std::size_t k = 0; k < p.outputs.size(); ++k) {
    outputs.emplace_back(l, k, result_axes);
    plain_results = plain_results && p.code[p.outputs[k].reg].op == jit::opcode::reduced;
  }
}

reduce_job::read_inputs reduce_job::inputs_of(const jit::reduce_desc& r, bool products) const {
  const auto& code = launch.code->code;
  const auto input = [&](std::uint16_t reg) {
    const jit::instr& i = code[reg];
    const bool plain = i.op == jit::opcode::load && elements.inputs[i.a].access == input_plan::how::copied;
    return plain ? static_cast<int>(i.a) : -1;
  };
  const jit::instr& i = code[r.reg];
  if (i.op == jit::opcode::load) return {input(r.reg), -1};
  if (!products || !is_sum_of_products(*launch.code, r)) return {};
  const bool square = i.op == jit::opcode::square;
  const read_inputs both{input(i.a), input(square ? i.a : i.b)};
  return both.factor < 0 ? read_inputs{} : both;
}

/// Sums of columns each step of which is multiplied by one number, as those of a product with a vector, read memory in place; so do
/// those of rows whose lanes are results.
void reduce_job::take_weighted_columns() {
  if ((shape.rows && !shape.across) || shape.shared || tail || !has_row_loops(*launch.code)) return;
  const auto input_of = [&](std::uint16_t reg, input_plan::how access) {
    const jit::instr& i = launch.code->code[reg];
    if (i.op != jit::opcode::load) return -1;
    const input_plan& in = elements.inputs[i.a];
    const bool suits = in.access == access && !in.wrapped && (in.in_place || access == input_plan::how::uniform);
    return suits ? static_cast<int>(i.a) : -1;
  };
  std::vector<read_inputs> found;
  for (const jit::reduce_desc& r : launch.code->reductions) {
    const jit::instr& i = launch.code->code[r.reg];
    read_inputs read{input_of(r.reg, input_plan::how::copied), -1};
    if (i.op == jit::opcode::multiply && is_sum_of_products(*launch.code, r))
      for (const auto& [x, y] : {std::pair(i.a, i.b), std::pair(i.b, i.a)})
        if (read.factor < 0) read = {input_of(x, input_plan::how::copied), input_of(y, input_plan::how::uniform)};
    if (read.first < 0 || (i.op != jit::opcode::load && read.factor < 0)) return;
    found.push_back(read);
  }
  loaded = std::move(found);
  only_loads = true;
}

void reduce_job::take_rows_whole() {
  elements.compiled = code.main->is_compiled() && !by_groups && !tail;
  const bool by_row = shape.rows && !shape.across;
  if (only_loads || (code.main->takes_any_length() && (!by_groups || code.groups->takes_any_length())))
    elements.lanes = by_row || shape.shared ? row_part : std::max(elements.lanes, results_at_once());
  // One split after the other: its sums do not depend on where it begins.
  const bool each_split = shape.lengthwise && split.segment_chunks == 1 &&
                          std::all_of(reducers.begin(), reducers.end(), [](const reducer* r) { return r->by_groups; });
  whole_rows = by_row && (split.chunks == 1 || each_split) && !tail && has_row_loops(*launch.code);
  for (const reducer* r : reducers) whole_rows = whole_rows && shape.reduced >= r->least_columns;
  for (std::size_t k = 0; whole_rows && only_loads && k < loaded.size(); ++k) {
    const auto [first, factor] = loaded[k];
    const auto row_of = [&](int input) -> const input_plan& {
      return elements.inputs[static_cast<std::size_t>(input)];
    };
    const auto stride = row_stride_of(launch, row_of(first));
    const auto other = factor < 0 ? std::optional<std::int64_t>(0) : row_stride_of(launch, row_of(factor));
    if (!stride || !other) break;
    rows_in_memory.push_back({row_of(first).base, *stride, factor < 0 ? nullptr : row_of(factor).base, *other});
  }
  if (rows_in_memory.size() < loaded.size()) rows_in_memory.clear();
  const bool computed = !only_loads && shape.reduced <= row_part && split.chunks == 1;
  whole_rows = whole_rows && (shape.shared || !rows_in_memory.empty() || computed);
  if (!whole_rows) return;
  pitch = shape.shared ? shape.reduced : pad_lanes(static_cast<int>(shape.reduced));
  const std::int64_t fitting = std::clamp<std::int64_t>(row_part / pitch, 1, jit::block_lanes);
  together = static_cast<int>(fitting < rows_at_once / 2 ? fitting : fitting & -(rows_at_once / 2));
}

partial_stack::partial_stack(const reducer& r, arena& memory, int lanes, std::int64_t pushes) : reducer_(r) {
  int depth = 2;
  while (pushes > 0) pushes >>= 1, ++depth;
  pointers_ = memory.take_array<void*>(static_cast<std::size_t>(depth * max_planes));
  for (int k = 0; k < depth; ++k)
    for (int p = 0; p < r.partials; ++p)
      pointers_[k * max_planes + p] = memory.take(static_cast<std::size_t>(lanes * r.bytes[p]));
}

void partial_stack::put(void* const* acc, int n) {
  for (int p = 0; p < reducer_.partials; ++p)
    __builtin_memcpy(slot(top_)[p], acc[p], static_cast<std::size_t>(n * reducer_.bytes[p]));
  ++top_;
}

void partial_stack::join(int n) {
  reducer_.join(slot(top_ - 2), slot(top_ - 1), n);
  --top_;
}

void partial_stack::push(void* const* acc, int n) {
  put(acc, n);
  settle(n);
}

void partial_stack::settle(int n) {
  ++count_;
  for (std::int64_t c = count_; (c & 1) == 0; c >>= 1) join(n);
}

void partial_stack::fold(int n) {
  while (top_ > 1) join(n);
}

}  // namespace sinter::cpu
