// Descriptions of walks over blocks, and their estimated time.
#include "backends/cpu/schedule.hpp"

#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/kernels.hpp"
#include "backends/cpu/kernels/segments.hpp"
#include "backends/cpu/reduce/job.hpp"
#include "backends/cpu/reduce/stages.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

using jit::launch;
using jit::level;
using jit::schedule;

/// Bytes that a thread moves in a microsecond, and all threads together: of a server's core and socket.
constexpr double thread_bandwidth = 12e3, socket_bandwidth = 120e3;
/// Microseconds of a launch that does nothing.
constexpr double launch_time = 0.5;

std::string axes_text(const core::dims& axes) {
  std::string text = axes.size() == 1 ? "axis " : "axes ";
  for (int k = 0; k < axes.size(); ++k) text += (k ? ", " : "") + std::to_string(axes[k]);
  return text;
}

std::string way_of(const input_plan& in) {
  using how = input_plan::how;
  switch (in.access) {
    case how::unused: return "once a result";
    case how::uniform: return "one value a block";
    case how::gathered: return "by index";
    case how::whole: return "whole, by address";
    case how::copied: break;
  }
  if (in.wrapped && (in.in_place || in.map.contiguous)) return "in place, from elsewhere where its index wraps";
  if (in.in_place) return "in place";
  if (in.panel_rows > 0) return "through panels, transposed";
  return in.period > 0 ? "copied once a block of repeated lanes" : "copied by stride";
}

void add_walk(const launch& l, const walk_axes& axes, std::size_t end, bool panels, schedule& s) {
  const param_block params(l);
  block_plan plan(l, axes, 0, end, params);
  plan.read_wrapped(l.wraps, axes);
  if (panels) plan.read_through_panels();
  for (const input_plan& in : plan.inputs) s.inputs.push_back(way_of(in));
  const std::int64_t lanes = std::min<std::int64_t>(jit::block_lanes, plan.block_count);
  if (plan.outer_count > 1) s.parts.push_back({level::serial, plan.outer_count, axes_text(axes.outer)});
  if (plan.block_count > lanes)
    s.parts.push_back({level::serial, (plan.block_count + lanes - 1) / lanes, "blocks of " + axes_text(axes.block)});
  s.parts.push_back({level::vector, lanes, axes.block.empty() ? "one element" : "lanes of " + axes_text(axes.block)});
}

void describe_map(const launch& l, schedule& s) {
  s.name = "blocks of lanes";
  const walk_axes axes = element_axes(l);
  add_walk(l, axes, l.code->code.size(), true, s);
  for (std::size_t k = 0; k < l.outputs.size(); ++k)
    s.outputs.push_back(output_plan(l, k, axes).in_place ? "in place" : "by stride");
}

void describe_reduction(const launch& whole, schedule& s) {
  const auto wrapped = without_wrapped_gathers(whole);
  const launch& l = wrapped ? *wrapped : whole;
  const reduce_shape shape = shape_of(l);
  const reduce_split split = split_of(l, shape);
  s.name = shape.across       ? "rows, lanes across results"
           : shape.lengthwise ? "columns, lanes along them"
           : shape.rows       ? "rows"
                              : "columns";
  if (shape.shared) s.name += shape.rows ? ", several to a block" : ", several steps to a block";
  if (split.segments > 1) s.parts.push_back({level::grid, split.segments, "segments of a result"});
  if (split.groups > 1) s.parts.push_back({level::grid, split.groups, "groups of results"});
  add_walk(l, shape.axes, l.code->epilogue, shape.across, s);
  s.reduction =
      split.ordered ? std::to_string(split.order.lanes) + " lanes of groups of 4" : std::string("in any order");
  if (split.order.splits > 1) s.reduction += ", " + std::to_string(split.order.splits) + " splits";
  s.outputs.assign(l.outputs.size(), "once a result");
}

void describe_stages(const launch& l, schedule& s) {
  const stage_steps steps(*l.code);
  const std::vector<launch> parts = step_launches(steps, l);
  s.name = "rows on chip";
  const std::int64_t all = core::element_count(l.extents), block = core::element_count(parts.front().extents);
  s.parts.push_back({level::grid, (all + block - 1) / std::max<std::int64_t>(block, 1), "blocks of rows"});
  s.parts.push_back({level::serial, static_cast<std::int64_t>(steps.steps.size()), "steps over a block in the cache"});
  s.inputs.assign(l.inputs.size(), "by the steps");
  s.outputs.assign(l.outputs.size(), "by the steps");
}

double bytes_of(const launch& l, const jit::operand& o, dtype type) {
  double count = 1;
  for (int j = 0; j < l.extents.size(); ++j)
    if (o.strides[j] != 0) count *= static_cast<double>(l.extents[j]);
  return count * static_cast<double>(itemsize(type));
}

jit::time_estimate time_of(const launch& l) {
  const auto threads = static_cast<double>(runtime::thread_count());
  double bytes = 0;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) bytes += bytes_of(l, l.inputs[k], l.code->inputs[k].type);
  for (std::size_t k = 0; k < l.outputs.size(); ++k) bytes += bytes_of(l, l.outputs[k], l.code->outputs[k].type);
  const double memory = bytes / std::min(threads * thread_bandwidth, socket_bandwidth);
  const double work = lane_time(*l.code, loop_count(l)) * static_cast<double>(core::element_count(l.extents)) / 1e3;
  if (!std::isfinite(work)) return {work, "text with a loop whose length is unknown"};
  const double instructions = work / threads;
  return memory > instructions ? jit::time_estimate{launch_time + memory, "memory"}
                               : jit::time_estimate{launch_time + instructions, "instructions"};
}

schedule describe_whole(const launch& l) {
  schedule s;
  if (core::element_count(l.extents) == 0) {
    s.name = "nothing to compute";
    return s;
  }
  if (l.code->kind == jit::kernel_kind::elementwise) describe_map(l, s);
  else if (l.code->kind == jit::kernel_kind::staged) describe_stages(l, s);
  else describe_reduction(l, s);
  const auto wrapped = without_wrapped_gathers(l);
  s.estimate = time_of(wrapped ? *wrapped : l);
  s.why = "the only one that is legal";
  return s;
}

/// The largest part stands for all of them; their times are added.
schedule describe_parts(const std::vector<launch>& parts) {
  const auto elements = [](const launch& a) { return core::element_count(a.extents); };
  schedule s = describe_whole(*std::max_element(
      parts.begin(), parts.end(), [&](const launch& a, const launch& b) { return elements(a) < elements(b); }));
  s.parts.insert(s.parts.begin(), {level::serial, static_cast<std::int64_t>(parts.size()),
                                   "parts where indices are affine, the largest of which is"});
  s.estimate = {launch_time, s.estimate.bound};
  for (const launch& part : parts) s.estimate.microseconds += time_of(part).microseconds - launch_time;
  return s;
}

}  // namespace

schedule describe(const launch& l) {
  const std::vector<launch> parts = plain_parts_of(l).all;
  return parts.empty() ? describe_whole(l) : describe_parts(parts);
}

}  // namespace sinter::cpu
