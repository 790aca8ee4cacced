// Operands of loops of steps, and their launches.
#include "graph/run/step_loop_run.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "core/shape.hpp"
#include "graph/run/flush.hpp"
#include "graph/values/example.hpp"
#include "graph/values/faults.hpp"
#include "graph/values/record.hpp"
#include "runtime/backend.hpp"

namespace sinter::graph {
namespace {

/// Calls f for each value that the results of a step are computed from, and for them.
template <class F>
void each_value(const recorded_step& step, std::span<const trace::entry* const> entries, F f) {
  for (const value& v : step.list->inputs()) f(v);
  for (const trace::entry* const e : entries)
    for (const value& v : e->operands) f(v);
  for (const value& v : step.results) f(v);
}

bool suits(const recorded_step& step, std::span<const trace::entry* const> entries) {
  bool all = !step.results.empty();
  each_value(step, entries, [&](const value& v) {
    all = all && v && v->device == step.results[0]->device && v->size() != 0 && !v->opaque && !is_example(v);
  });
  // The bits of a product of floating-point numbers are a library's on a GPU.
  const bool on_host = all && step.results[0]->device.kind == runtime::device_kind::cpu;
  return all && std::none_of(entries.begin(), entries.end(), [&](const trace::entry* e) {
           return e->call && !(e->call->is_matrix_product() && (on_host || !is_inexact(e->results[0]->type)));
         });
}

void evaluate_constants(const recorded_step& step, std::span<const trace::entry* const> entries) {
  std::vector<value> pending;
  each_value(step, entries, [&](const value& v) {
    const node_kind kind = v->kind.load(std::memory_order_acquire);
    if (kind != node_kind::leaf && kind != node_kind::scalar && !step.list->has(v)) pending.push_back(v);
  });
  if (!pending.empty()) flush(pending);
}

/// Neighbouring axes become one where every operand allows it.
void merge_axes(jit::launch& l) {
  const auto each = [&](auto f) {
    for (jit::operand& o : l.inputs) f(o.strides);
    for (jit::operand& o : l.outputs) f(o.strides);
  };
  for (int a = l.extents.size() - 2; a >= 0; --a) {
    bool mergeable = true;
    each([&](const dims& s) { mergeable = mergeable && s[a] == s[a + 1] * l.extents[a + 1]; });
    if (!mergeable) continue;
    l.extents[a + 1] *= l.extents[a];
    l.extents.erase(a);
    each([&](dims& s) { s.erase(a); });
  }
  if (!l.extents.empty()) return;
  l.extents.push_back(1);
  each([](dims& s) { s.push_back(0); });
}

jit::operand operand_at(const linear_form& at, const value& leaf) {
  jit::operand o;
  o.base = leaf->buffer->address();
  o.offset = leaf->buffer_offset + at.offset;
  o.strides = at.coefficients;
  return o;
}

/// The elements of a step are those of one place along the first axis of an array.
void follow_steps(jit::operand& o, const value& leaf, const loop_range& over) {
  const std::int64_t step = leaf->size() / over.steps;
  o.gather_stride[0] = over.reverse ? -step : step;
  if (over.reverse) o.offset += (over.steps - 1) * step;
}

}  // namespace

struct step_loop::arrays {
  std::span<const value> carry, scanned, constants;
  std::vector<value> results;

  const value& of(const loop_kernel::input& in) const {
    switch (in.from) {
      case loop_kernel::origin::carry: return carry[in.index];
      case loop_kernel::origin::argument: return scanned[in.index];
      default: return in.constant ? in.constant : constants[in.index];
    }
  }
};

std::unique_ptr<step_loop> step_loop::make(const recorded_step& step) {
  const std::vector<const trace::entry*> entries = entries_of(step);
  if (!suits(step, entries)) return nullptr;
  evaluate_constants(step, entries);
  std::unique_ptr<step_loop> made(new step_loop);
  {
    const std::lock_guard lock(flush_mutex());
    made->kernels_ = loop_kernels(step);
  }
  if (made->kernels_.empty()) return nullptr;
  for (const value& v : step.results) made->results_.push_back({v->shape, v->type, v->device});
  made->last_ = step.is_conditional ? step.results.size() : step.carried;
  return made;
}

bool step_loop::give_constants(const std::unordered_map<const node*, std::size_t>& places) {
  const auto give = [&](value& constant, std::size_t& index) {
    const auto found = constant ? places.find(constant.get()) : places.end();
    if (found == places.end()) return false;
    index = found->second;
    constant = {};
    return true;
  };
  for (loop_kernel& k : kernels_) {
    for (loop_kernel::input& in : k.inputs)
      if (in.from == loop_kernel::origin::constant && !give(in.constant, in.index)) return false;
    // The others are the same in each run: nobody can write them.
    std::erase_if(k.numbers, [&](loop_kernel::number& n) { return !give(n.constant, n.index); });
  }
  return true;
}

bool step_loop::read_numbers(const loop_kernel& k, std::span<const value> constants, jit::launch& l) {
  for (const loop_kernel::number& n : k.numbers) {
    if (n.constant) continue;
    const auto number = number_in(*constants[n.index], n.at);
    if (!number) return false;
    l.params[n.param] = *number;
  }
  return true;
}

jit::launch step_loop::launch_of(const loop_kernel& k, const arrays& a, const loop_range& over) const {
  jit::launch l;
  l.code = &k.code;
  l.extents = k.extents;
  for (const loop_kernel::input& in : k.inputs) {
    l.inputs.push_back(operand_at(in.at, a.of(in)));
    if (in.from == loop_kernel::origin::argument) follow_steps(l.inputs.back(), a.of(in), over);
  }
  for (const loop_kernel::output& out : k.outputs) {
    const value& to = a.results[out.result];
    l.outputs.push_back(operand_at(out.at, to));
    if (out.result >= last_) follow_steps(l.outputs.back(), to, over);
  }
  merge_axes(l);
  l.kept = l.extents.size();
  l.params = k.params;
  l.params[k.code.loop.count].i = over.steps;
  if (k.first_number >= 0) l.params[static_cast<std::size_t>(k.first_number)].i = over.first_number;
  return l;
}

std::vector<value> step_loop::run(std::span<const value> carry, std::span<const value> scanned, const loop_range& over,
                                  std::span<const value> constants) const {
  std::vector<value> given(carry.begin(), carry.end());
  given.insert(given.end(), scanned.begin(), scanned.end());
  for (const value& v : constants)  // numbers are the program's
    if (v->kind.load(std::memory_order_acquire) != node_kind::scalar) given.push_back(v);
  flush(given);
  arrays a{carry, scanned, constants, {}};
  for (std::size_t k = 0; k < results_.size(); ++k) {
    dims shape = results_[k].shape;
    if (k >= last_) shape.insert(0, over.steps);
    a.results.push_back(unset_leaf(shape, results_[k].type, results_[k].device));
  }
  std::vector<jit::launch> launches;
  for (const loop_kernel& k : kernels_) {
    launches.push_back(launch_of(k, a, over));
    if (!read_numbers(k, constants, launches.back())) return {};
  }
  std::vector<const runtime::prepared*> prepared(launches.size());
  runtime::backend& device = runtime::get_backend(results_[0].device);
  {
    const std::lock_guard lock(flush_mutex());
    device.prepare(launches, prepared);
  }
  runtime::submission work(device);
  for (const loop_kernel& k : kernels_)
    for (const loop_kernel::input& in : k.inputs) work.reads(*a.of(in)->buffer);
  for (const value& v : a.results) work.writes(*v->buffer);
  for (std::size_t k = 0; k < launches.size(); ++k) device.run(*prepared[k], launches[k], nullptr);
  for (const loop_kernel& k : kernels_)
    for (const loop_kernel::input& in : k.inputs)
      for (const value& to : a.results) inherit_faults(to, {&a.of(in)});
  return std::move(a.results);
}

}  // namespace sinter::graph
