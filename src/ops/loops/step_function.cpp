#include "ops/loops/step_function.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "graph/values/example.hpp"
#include "graph/values/record_part.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/loops/step_signature.hpp"

namespace sinter::ops {

using graph::node_kind;

namespace {

bool is_followed(const value& v) {
  for (const graph::trace* t = graph::trace::innermost(); t; t = t->outer())
    if (!t->is_paused() && t->has(v)) return true;
  return false;
}

/// As the node was recorded.
class fast_math_of {
 public:
  explicit fast_math_of(bool on) noexcept : before_(graph::fast_math()) { graph::set_fast_math(on); }
  ~fast_math_of() { graph::set_fast_math(before_); }
  fast_math_of(const fast_math_of&) = delete;
  fast_math_of& operator=(const fast_math_of&) = delete;

 private:
  bool before_;
};

value record_again(const graph::payload::reduce& r, dtype type, const value& x) {
  bool reduced[core::max_rank] = {};
  for (int a = 0; a < x->shape.size(); ++a) reduced[a] = r.is_over(a);
  const std::span<const bool> axes(reduced, static_cast<std::size_t>(x->shape.size()));
  if (r.whole.results != 0) return graph::record_part_of_reduce(r.op, r.combine, type, x, axes, r.whole);
  return r.combine ? graph::record_reduce(r.combine, x, axes) : graph::record_reduce(r.op, type, x, axes);
}

/// The node of an entry on other operands. What a node computes is in its payload, also once it has been evaluated.
value record_again(const graph::trace::entry& e, std::vector<value> x) {
  const graph::node& n = e.made();
  switch (e.kind) {
    case node_kind::map: {
      const fast_math_of as(n.map().fast_math);
      return graph::record_map(n.map().op, n.type, n.shape, x);
    }
    case node_kind::view: return graph::record_view(x[0], n.shape, n.view().strides, n.view().offset);
    case node_kind::gather: return graph::record_gather(x[0], x[1], n.gather().axis, n.shape, n.gather().reported_axis);
    case node_kind::reduce: return record_again(n.reduce(), n.type, x[0]);
    case node_kind::call: {
      const fast_math_of as(n.call().fast_math);
      return graph::record_call(n.call().function, n.call().output, n.shape, std::move(x));
    }
    case node_kind::random: return graph::record_random(n.random().op, n.type, n.shape, n.random().stream, x, n.device);
    case node_kind::update: return graph::record_update(x[0], n.update().strides, n.update().offset, x[1]);
    case node_kind::leaf:
    case node_kind::scalar:
    case node_kind::iota: break;  // have no operands, so they are no entries
  }
  throw std::logic_error("a step has an entry without operands");
}

std::vector<value> run_again(const graph::trace::entry& e, std::vector<value> x) {
  if (!e.call) return {record_again(e, std::move(x))};
  std::vector<ndarray> operands;
  for (value& v : x) operands.push_back(v ? wrap(std::move(v)) : ndarray());
  std::vector<value> made;
  for (const ndarray& y : static_cast<const traced_opaque&>(*e.call).call.again(operands))
    made.push_back(y.defined() ? value_of(y) : value());
  return made;
}

/// What derivatives took for constant. An identity is a node of its own, or it would be its operand.
std::vector<value> run_as_constant(const graph::trace::entry& e, std::vector<value> x) {
  const graph::constants stopped;
  std::vector<value> made = run_again(e, x);
  for (value& y : made)
    if (std::find(x.begin(), x.end(), y) != x.end()) y = graph::record_identity(y);
  return made;
}

}  // namespace

step_function::step_function(const step_record& step)
    : inputs_(step.list->inputs().begin(), step.list->inputs().end()),
      results_(step.results.begin(), step.results.end()) {
  const std::vector<bool> needed = step.list->needed_for(step.results);
  for (std::size_t k = 0; k < needed.size(); ++k)
    if (needed[k]) entries_.push_back(step.list->entries()[k]);
  for (const graph::trace::entry& e : entries_)
    for (const value& v : e.operands) note_constant(v, *step.list);
  for (const value& v : results_) note_constant(v, *step.list);
  step_signature s(step, needed, constants_);
  signature_ = s.text();
  reads_ = s.take_reads();
}

void step_function::note_constant(const value& v, const graph::trace& list) {
  if (!v || list.has(v) || !(graph::is_example(v) || is_followed(v))) return;
  if (std::find(constants_.begin(), constants_.end(), v) == constants_.end()) constants_.push_back(v);
}

std::vector<ndarray> step_function::operator()(std::span<const ndarray> inputs,
                                               std::span<const ndarray> constants) const {
  std::unordered_map<const graph::node*, value> now;
  for (std::size_t k = 0; k < inputs_.size(); ++k) now[inputs_[k].get()] = value_of(inputs[k]);
  for (std::size_t k = 0; k < constants_.size(); ++k) now[constants_[k].get()] = value_of(constants[k]);
  const auto other = [&](const value& v) {
    const auto found = v ? now.find(v.get()) : now.end();
    return found == now.end() ? v : found->second;
  };
  for (const graph::trace::entry& e : entries_) {
    std::vector<value> x;
    for (const value& v : e.operands) x.push_back(other(v));
    const std::vector<value> made = e.is_constant ? run_as_constant(e, std::move(x)) : run_again(e, std::move(x));
    for (std::size_t k = 0; k < e.results.size(); ++k)
      if (e.results[k]) now[e.results[k].get()] = made[k];
  }
  std::vector<ndarray> results;
  for (const value& v : results_) results.push_back(wrap(other(v)));
  return results;
}

std::vector<bool> step_function::depend_on(const std::vector<bool>& inputs, const std::vector<bool>& constants) const {
  std::unordered_set<const graph::node*> moving;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (inputs[k]) moving.insert(inputs_[k].get());
  for (std::size_t k = 0; k < constants.size(); ++k)
    if (constants[k]) moving.insert(constants_[k].get());
  const auto moves = [&](const value& v) { return v && moving.contains(v.get()); };
  for (const graph::trace::entry& e : entries_)
    if (std::any_of(e.operands.begin(), e.operands.end(), moves))
      for (const value& v : e.results) moving.insert(v.get());
  std::vector<bool> depend;
  for (const value& v : results_) depend.push_back(moves(v));
  return depend;
}

}  // namespace sinter::ops
