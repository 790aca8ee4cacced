// A vmap in progress: placeholders, and what is known for all examples.
#include "ops/vmap/example_level.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "core/shape.hpp"
#include "graph/run/flush.hpp"
#include "graph/values/trace.hpp"
#include "ops/vmap/own_calls.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/vmap_error.hpp"

namespace sinter::ops {

using graph::node;
using graph::node_kind;

namespace {

constinit thread_local level_scope* innermost_scope = nullptr;

/// To a value of one example: that of known_, and of what is constant another one.
std::uint32_t references_kept(const node& one) { return graph::constants::has(one) ? 2 : 1; }

}  // namespace

level_scope::level_scope(example_level& l) noexcept : level_(&l), outer_(std::exchange(innermost_scope, this)) {}
level_scope::~level_scope() { innermost_scope = outer_; }

example_level* level_scope::level_of(const value& one) {
  for (level_scope* s = innermost_scope; s; s = s->outer_)
    if (s->level_->all_of(one)) return s->level_;
  return nullptr;
}

example_level& level_scope::level_of_any(std::span<const value> values) {
  for (level_scope* s = innermost_scope; s; s = s->outer_)
    for (const value& v : values)
      if (s->level_->all_of(v)) return *s->level_;
  graph::refuse_example();
}

std::uint32_t level_scope::references_to(const node* one) {
  std::uint32_t all = 0;
  for (const level_scope* s = innermost_scope; s; s = s->outer_) all += s->level_->keeps(one) ? 1 : 0;
  return all;
}

std::vector<const node*> level_scope::kept() {
  std::vector<const node*> all;
  for (const level_scope* s = innermost_scope; s; s = s->outer_) s->level_->add_kept(all);
  return all;
}

std::int64_t level_scope::examples() noexcept {
  std::int64_t all = 1;
  for (const level_scope* s = innermost_scope; s; s = s->outer_) all *= s->level_->count();
  return all;
}

dims with_examples(std::int64_t count, const dims& shape) {
  if (shape.size() == core::max_rank)
    fail<shape_error>("vmap", "an example of shape ", shape, " has as many axes as an array may have");
  dims all{count};
  for (const std::int64_t n : shape) all.push_back(n);
  return all;
}

value repeated_in_front(const value& v, std::int64_t count) {
  dims strides{0};
  for (const std::int64_t s : core::contiguous_strides(v->shape)) strides.push_back(s);
  return graph::record_view(v, with_examples(count, v->shape), strides, 0);
}

value stacked_in_front(std::span<const value> values, const dims& shape, dtype type, runtime::device_id device) {
  const dims all = with_examples(static_cast<std::int64_t>(values.size()), shape);
  value result = graph::record_unset(type, all, device);
  const std::int64_t size = core::element_count(shape);
  for (std::size_t k = 0; k < values.size(); ++k)
    result =
        graph::record_update(result, core::contiguous_strides(shape), static_cast<std::int64_t>(k) * size, values[k]);
  return result;
}

value example_level::enter(value all) {
  dims shape;
  for (int a = 1; a < all->shape.size(); ++a) shape.push_back(all->shape[a]);
  value one = graph::record_placeholder(all->type, shape, all->device);
  known_.emplace(one.get(), known{one, std::move(all)});
  return one;
}

const value& example_level::found(const node* n) const {
  static const value* const none = new value;  // never destroyed: static objects may outlive all others
  const auto at = known_.find(n);
  if (at != known_.end() && at->second.dropped) throw std::logic_error("vmap: a value in between is read again");
  return at == known_.end() ? *none : at->second.all;
}

value example_level::all_of(const value& one) {
  if (!graph::is_example(one)) return {};
  if (known_.contains(one.get())) return found(one.get());
  // What is not known below, each node once. Such nodes keep their operands.
  std::vector<node*> unknown{one.get()};
  known_.emplace(one.get(), known{one, {}});
  for (std::size_t k = 0; k < unknown.size(); ++k)  // grows
    for (int a = 0; a < unknown[k]->operand_count(); ++a) {
      node* const operand = unknown[k]->operand(a);
      if (!graph::is_example(*operand)) continue;
      const auto [at, is_new] = known_.emplace(operand, known{value(operand), {}});
      if (is_new) unknown.push_back(operand);
      ++at->second.readers;
      ++at->second.total;
    }
  std::sort(unknown.begin(), unknown.end(), [](const node* a, const node* b) { return a->order < b->order; });
  try {
    for (const node* n : unknown) {
      value all = record(*n);
      drop_read(*n);
      if (all) graph::flush_if_long(all);
      known_.at(n).all = std::move(all);
    }
  } catch (...) {
    // They would pass for independent of the example.
    for (auto n = unknown.rbegin(); n != unknown.rend(); ++n) forget(*n);
    throw;
  }
  return found(one.get());
}

// Operands whose last reader has been recorded, and that no array holds, are not kept: to the planner they are what they
// would be without a vmap, values in between that nothing refers to.
void example_level::drop_read(const node& n) {
  for (int a = 0; a < n.operand_count(); ++a) {
    const auto at = known_.find(n.operand(a));
    if (at == known_.end() || --at->second.readers > 0) continue;
    const node& operand = *at->second.one;
    // References: those of its readers, all of which have been recorded, and those that are kept here.
    if (operand.refs.load(std::memory_order_acquire) != at->second.total + references_kept(operand)) continue;
    at->second.all = {};
    at->second.dropped = true;
    arrays_.erase(&operand);
    forget_aligned(&operand);
  }
}

void example_level::forget_aligned(const node* operand) {
  const auto first = aligned_.lower_bound({operand, 0});
  auto last = first;
  while (last != aligned_.end() && last->first.first == operand) ++last;
  aligned_.erase(first, last);
}

void example_level::forget(const node* n) {
  const auto at = known_.find(n);
  if (at == known_.end()) return;
  for (int a = 0; a < n->operand_count(); ++a)
    if (const auto operand = known_.find(n->operand(a)); operand != known_.end() && operand->second.total > 0)
      --operand->second.total;
  arrays_.erase(n);
  forget_aligned(n);
  known_.erase(at);  // may destroy the node
}

value example_level::all_or_repeated(const value& one) {
  const value all = all_of(one);
  return all ? all : repeated_in_front(one, count_);
}

value example_level::settled(const value& one) {
  value all = all_of(one);
  if (!all) return one;
  all->assigned.store(true, std::memory_order_relaxed);  // a variable of a loop
  forget_unused();
  const graph::view_ref kept = graph::make_array(std::move(all));
  value result = enter(graph::read(*kept));
  arrays_.emplace(result.get(), kept);
  return result;
}

void example_level::forget_unused() {
  if (known_.size() < swept_at_) return;
  std::vector<const node*> newest_first;
  newest_first.reserve(known_.size());
  for (const auto& [n, k] : known_) newest_first.push_back(n);
  std::sort(newest_first.begin(), newest_first.end(), [](const node* a, const node* b) { return a->order > b->order; });
  for (const node* n : newest_first)
    if (n->refs.load(std::memory_order_acquire) == references_kept(*n)) forget(n);
  swept_at_ = std::max<std::size_t>(1024, 2 * known_.size());
}

value example_level::example_of(const value& one, std::int64_t k) const {
  const value& all = found(one.get());
  if (!all) return one;
  return graph::record_view(all, one->shape, core::contiguous_strides(one->shape), k * one->size());
}

bool example_level::takes(const ndarray& x) const {
  const graph::view_ref& v = ndarray_access::ref(x);
  if (!v) return false;
  const value now = v->store->now();
  return graph::is_example(now) && const_cast<example_level*>(this)->all_of(now);
}

namespace {

/// The results of the examples one after the other, along a new first axis.
std::vector<ndarray> results_in_turn(const batched_call& c, const std::vector<ndarray>& of_one_kind) {
  const bool none = c.count == 0;  // of no example the shapes are those of zeros
  std::vector<std::vector<ndarray>> each;
  for (std::int64_t k = 0; k < std::max<std::int64_t>(c.count, 1); ++k) {
    std::vector<ndarray> operands;
    for (std::size_t j = 0; j < c.operands.size(); ++j) {
      const ndarray& x = c.operands[j];
      if (!c.mapped[j]) operands.push_back(x);
      else if (none) operands.push_back(of_one_kind[j]);
      else operands.push_back(x(k));
    }
    each.push_back(c.call.again(operands));
  }
  std::vector<ndarray> results;
  for (std::size_t r = 0; r < each[0].size(); ++r) {
    std::vector<ndarray> list;
    for (const auto& of : each) {
      if (of[r].shape() != each[0][r].shape())
        fail<vmap_error>("vmap", c.call.name, " gives results of shapes ", each[0][r].shape(), " and ", of[r].shape(),
                         " for different examples: they make no array");
      list.push_back(of[r]);
    }
    const ndarray all = stack(list);
    results.push_back(none ? all(slice(0, 0)) : all);
  }
  return results;
}

}  // namespace

std::vector<ndarray> example_level::run(const opaque_call& call) {
  const scope outside(outer_);
  forget_unused();
  batched_call c{call, count_, {}, {}};
  std::vector<ndarray> zeros;
  for (const ndarray& x : call.operands) {
    const value one = x.defined() ? value_of(x) : value();
    const value all = one ? all_of(one) : value();
    c.mapped.push_back(static_cast<bool>(all));
    c.operands.push_back(all ? wrap(all) : x);
    if (count_ != 0) continue;
    zeros.push_back(!all ? x : wrap(graph::record_cast(constant_of(0, dtype::f64, one->device), one->type)));
    if (all) zeros.back() = broadcast_to(zeros.back(), to_shape(one->shape));
  }
  const opaque_rule rule = rule_of(c);
  const bool maps_steps = call.own && !call.own->at_once;  // steps of the user's are recorded
  const std::vector<ndarray> results = maps_steps ? mapped_with_derivatives(c)
                                       : rule     ? rule(c)
                                                  : results_in_turn(c, zeros);
  std::vector<ndarray> ones;
  for (const ndarray& r : results) ones.push_back(r.defined() ? wrap(enter(value_of(r))) : r);
  return ones;
}

}  // namespace sinter::ops
