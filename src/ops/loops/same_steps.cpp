#include "ops/loops/same_steps.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "graph/run/flush.hpp"
#include "graph/run/ongoing_capture.hpp"
#include "graph/values/example.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/vmap/example_level.hpp"

namespace sinter::ops {
namespace {

using graph::node;
using graph::node_kind;
using graph::trace;

bool same_scalar(const jit::scalar& a, const jit::scalar& b) {
  return a.type == b.type && std::memcmp(a.f, b.f, is_inexact(a.type) ? sizeof a.f : is_bool(a.type) ? 1 : 8) == 0;
}

/// Of nodes of one kind.
bool same_payload(node_kind kind, const node& a, const node& b) {
  switch (kind) {
    case node_kind::leaf: return true;
    case node_kind::scalar: return same_scalar(a.scalar().constant, b.scalar().constant);
    case node_kind::iota: return a.iota().axis == b.iota().axis;
    case node_kind::map: return a.map().op == b.map().op && a.map().fast_math == b.map().fast_math;
    case node_kind::random: return false;  // each draw takes other numbers
    case node_kind::view: return a.view().strides == b.view().strides && a.view().offset == b.view().offset;
    case node_kind::gather:
      return a.gather().axis == b.gather().axis && a.gather().reported_axis == b.gather().reported_axis;
    case node_kind::reduce:
      return a.reduce().op == b.reduce().op && a.reduce().axes == b.reduce().axes &&
             a.reduce().combine == b.reduce().combine && a.reduce().whole == b.reduce().whole;
    case node_kind::call:
      return a.call().function == b.call().function && a.call().output == b.call().output &&
             a.call().for_effects == b.call().for_effects && a.call().fast_math == b.call().fast_math;
    case node_kind::update:
      return a.update().strides == b.update().strides && a.update().offset == b.update().offset &&
             a.update().in_place == b.update().in_place;
  }
  return false;
}

/// Elements that are compared rather than taken to differ: on the host, and on devices, which are waited for.
constexpr std::size_t compared_bytes = 1 << 14, compared_bytes_of_device = 256;

const char* begin_of(const node& leaf) {
  return static_cast<const char*>(leaf.buffer->data_to_read()) +
         leaf.buffer_offset * static_cast<std::int64_t>(itemsize(leaf.type));
}

/// In an array of the host's: numbers that a step computes from nothing that changes, such as the slope of a mean, may have
/// been evaluated.
std::vector<char> brought(const node& leaf) {
  std::vector<char> bytes(leaf.bytes());
  runtime::backend& device = leaf.buffer->owner();
  runtime::submission use(device);
  use.reads(*leaf.buffer);
  device.copy_to_host(bytes.data(), begin_of(leaf), bytes.size());
  return bytes;
}

bool same_elements(const node& a, const node& b) {
  const std::size_t bytes = a.bytes();
  if (a.buffer == b.buffer && a.buffer_offset == b.buffer_offset) return true;
  const bool captures = graph::is_capturing(), on_host = a.buffer->owner().host_addressable();
  for (const node* const n : {&a, &b})
    if (captures && graph::current_capture()->computes(*n->buffer)) return false;  // it has no elements yet
  if (bytes > (on_host ? compared_bytes : compared_bytes_of_device) || a.buffer->has_faults()) return false;
  if (bytes == 0) return true;
  if (!on_host) return !captures && brought(a) == brought(b);
  const graph::outside_capture now(captures);
  return std::memcmp(begin_of(a), begin_of(b), bytes) == 0;
}

/// A comparison of two steps.
class comparison {
 public:
  comparison(const step_record& a, const step_record& b)
      : a_(*a.list), b_(*b.list), watch_a_(a.watched), watch_b_(b.watched) {}

  bool same_value(const value& x, const value& y) {
    if (!x || !y) return !x && !y;
    const bool depends = a_.has(x);
    if (depends != b_.has(y)) return false;
    if (!depends) return same_constant(*x, *y);
    const std::int32_t at = a_.entry_of(x);
    if (at != b_.entry_of(y)) return false;
    if (at < 0) return position(a_.inputs(), x) == position(b_.inputs(), y);
    const auto k = static_cast<std::size_t>(at);
    return position(a_.entries()[k].results, x) == position(b_.entries()[k].results, y);
  }
  /// `needed`: whether the results of the step follow from it.
  bool same_entry(const trace::entry& x, const trace::entry& y, bool needed) {
    needed_ = needed;
    if (x.kind != y.kind || x.results.size() != y.results.size() || x.operands.size() != y.operands.size() ||
        x.is_constant != y.is_constant)
      return false;
    for (std::size_t k = 0; k < x.results.size(); ++k)
      if (!alike(x.results[k], y.results[k])) return false;
    for (std::size_t k = 0; k < x.operands.size(); ++k)
      if (!same_value(x.operands[k], y.operands[k])) return false;
    if (!x.call || !y.call) return !x.call && !y.call && same_payload(x.kind, x.made(), y.made());
    const opaque_call &f = static_cast<const traced_opaque&>(*x.call).call,
                      &g = static_cast<const traced_opaque&>(*y.call).call;
    return std::strcmp(f.name, g.name) == 0 && f.numbers == g.numbers && f.text == g.text && !f.own && !g.own;
  }
  void compare_results() noexcept { needed_ = true; }

 private:
  static bool alike(const value& x, const value& y) {
    if (!x || !y) return !x && !y;
    return x->type == y->type && x->shape == y->shape && x->device == y->device;
  }
  static std::ptrdiff_t position(std::span<const value> all, const value& v) {
    return std::find(all.begin(), all.end(), v) - all.begin();
  }
  /// Of values that depend on no input.
  bool same_constant(const node& x, const node& y) {
    if (&x == &y) return true;
    if (x.type != y.type || !(x.shape == y.shape) || !(x.device == y.device) || ++visits_ > 10000) return false;
    if (x.is_leaf() && y.is_leaf() && same_elements(x, y)) return true;
    const auto *const made_x = watch_a_->constant_of(x), *const made_y = watch_b_->constant_of(y);
    if (made_x && made_y && made_x->kind == made_y->kind) {
      // Evaluated meanwhile they are leaves, which have no elements to compare in a capture.
      const auto &of_x = made_x->operands, &of_y = made_y->operands;
      if (of_x.size() != of_y.size() || !same_payload(made_x->kind, x, y)) return false;
      for (std::size_t k = 0; k < of_x.size(); ++k)
        if (!same_constant(*of_x[k], *of_y[k])) return false;
      return true;
    }
    const node_kind kind = x.kind;
    if (kind != y.kind || kind == node_kind::leaf) return false;
    // A draw of an example, or what is like one; or the example of a vmap within the step, whose function has recorded what
    // nobody needs once it has been recorded again for all examples.
    if (kind == node_kind::call && x.operand_count() == 0) return !needed_ && graph::is_example(x);
    if (!same_payload(kind, x, y) || x.operand_count() != y.operand_count()) return false;
    for (int k = 0; k < x.operand_count(); ++k)
      if (!same_constant(*x.operand(k), *y.operand(k))) return false;
    return true;
  }

  const trace &a_, &b_;
  const graph::watch *watch_a_, *watch_b_;
  bool needed_ = true;
  int visits_ = 0;
};

}  // namespace

bool are_same(const step_record& a, const step_record& b) {
  const std::lock_guard lock(graph::flush_mutex());  // evaluation releases a node's operands
  const auto first = a.list->entries(), second = b.list->entries();
  if (first.size() != second.size() || a.results.size() != b.results.size()) return false;
  comparison c(a, b);
  const std::vector<bool> needed = a.list->needed_for(a.results);
  for (std::size_t k = 0; k < first.size(); ++k)
    if (!c.same_entry(first[k], second[k], needed[k])) return false;
  c.compare_results();
  for (std::size_t k = 0; k < a.results.size(); ++k)
    if (!c.same_value(a.results[k], b.results[k])) return false;
  return true;
}

namespace {

/// How many references to nodes are accounted for.
class reference_count {
 public:
  void add(const value& v) {
    if (v) ++known_[v.get()];
  }
  void add(const node* n) { ++known_[n]; }
  bool is_exceeded(const value& v) const {
    if (!v) return false;
    const auto found = known_.find(v.get());
    std::uint32_t known = found == known_.end() ? 0u : found->second;
    if (graph::is_example(v)) known += level_scope::references_to(v.get()) + (graph::constants::has(*v) ? 1 : 0);
    return v->refs.load(std::memory_order_relaxed) > known;
  }

 private:
  std::unordered_map<const node*, std::uint32_t> known_;
};

}  // namespace

bool leaves_traces(const step_record& step, std::span<ndarray* const> handles) {
  const trace& list = *step.list;
  const std::lock_guard lock(graph::flush_mutex());
  std::unordered_map<const graph::array_view*, long> views;
  std::unordered_map<graph::storage*, long> stores;
  for (const ndarray* const a : handles) {
    const graph::view_ref& v = ndarray_access::unresolved(*a);
    if (!v) continue;
    if (v->deferred) return true;
    if (views[v.get()]++ == 0) ++stores[v->store.get()];
  }
  reference_count known;
  for (const value& v : step.results) known.add(v);
  for (const auto& [s, count] : stores) known.add(s->held());
  for (const ndarray* const a : handles) {
    const graph::view_ref& v = ndarray_access::unresolved(*a);
    if (!v || !list.has(v->store->held())) continue;
    if (v.use_count() > views[v.get()] || v->store.use_count() > stores[v->store.get()]) return true;
  }
  // Nodes that were recorded while the list was paused, for the result of a call, have no entries; nobody else has them.
  std::unordered_map<const node*, bool> seen;
  const auto add_operands = [&](const auto& self, const node* n) -> void {
    if (n->is_leaf()) return;
    for (int k = 0; k < n->operand_count(); ++k) {
      const node* const o = n->operand(k);
      known.add(o);
      if (!list.has(o) && !std::exchange(seen[o], true)) self(self, o);
    }
  };
  const auto add_entries = [&](const trace& t) {
    for (const trace::entry& e : t.entries()) {
      for (const value& v : e.results) known.add(v);
      for (const value& v : e.operands) known.add(v);
      if (!e.call) continue;
      std::unordered_map<graph::storage*, bool> held;
      for (const ndarray& x : static_cast<const traced_opaque&>(*e.call).call.operands)
        if (const graph::view_ref& v = ndarray_access::unresolved(x); v && !std::exchange(held[v->store.get()], true))
          known.add(v->store->held());
    }
  };
  for (const value& v : list.inputs()) known.add(v);
  for (const trace::entry& e : list.entries())
    for (const value& v : e.results)
      if (v) add_operands(add_operands, v.get());
  for (const node* n : level_scope::kept())  // by a vmap, of calls that it has run
    if (!list.has(n) && !std::exchange(seen[n], true)) add_operands(add_operands, n);
  if (step.watched)
    for (const auto& [n, c] : step.watched->constants()) {
      known.add(n);
      for (const value& v : c.operands) known.add(v);
      if (!std::exchange(seen[n], true)) add_operands(add_operands, n);
    }
  add_entries(list);
  for (const trace* t = trace::innermost(); t; t = t->outer()) {  // derivatives, which keep what they follow
    for (const value& v : t->inputs()) known.add(v);
    add_entries(*t);
    for (const trace::entry& e : t->entries())
      for (const value& v : e.results)
        if (v && !list.has(v) && !std::exchange(seen[v.get()], true)) add_operands(add_operands, v.get());
  }
  const auto exceeded = [&](const value& v) { return known.is_exceeded(v); };
  if (std::any_of(list.inputs().begin(), list.inputs().end(), exceeded)) return true;
  return std::any_of(list.entries().begin(), list.entries().end(),
                     [&](const trace::entry& e) { return std::any_of(e.results.begin(), e.results.end(), exceeded); });
}

}  // namespace sinter::ops
