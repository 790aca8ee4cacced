#include "ops/loops/kept_loops.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "core/shape.hpp"
#include "graph/run/flush.hpp"
#include "graph/run/ongoing_capture.hpp"
#include "graph/run/step_loop_run.hpp"
#include "graph/values/example.hpp"
#include "graph/values/watch.hpp"
#include "ops/base/opaque_call.hpp"

namespace sinter::ops {
namespace {

using list = loop_pass::list;
constexpr std::size_t most_kept = 128;

struct kept {
  std::unique_ptr<const graph::step_loop> loop;  // null: the steps are no kernel
  std::vector<std::size_t> note;
};

/// Kernels of all threads. They hold no arrays.
class table {
 public:
  static table& instance() {
    static table& all = *new table;  // static objects may outlive all others
    return all;
  }
  std::shared_ptr<const kept> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(key);
    if (found == all_.end()) return nullptr;
    found->second.last_use = ++uses_;
    return found->second.what;
  }
  void keep(const std::string& key, std::shared_ptr<const kept> what) {
    const std::lock_guard lock(mutex_);
    all_[key] = {std::move(what), ++uses_};
    if (all_.size() <= most_kept) return;
    all_.erase(std::min_element(all_.begin(), all_.end(),
                                [](auto& a, auto& b) { return a.second.last_use < b.second.last_use; }));
  }

 private:
  struct slot {
    std::shared_ptr<const kept> what;
    std::uint64_t last_use = 0;
  };
  std::mutex mutex_;
  std::unordered_map<std::string, slot> all_;
  std::uint64_t uses_ = 0;
};

std::vector<value> values_of(const list& all) {
  std::vector<value> out;
  for (const ndarray& a : all) out.push_back(value_of(a));
  return out;
}

bool any_listens() {
  for (const graph::trace* t = graph::trace::innermost(); t; t = t->outer())
    if (!t->is_paused()) return true;
  return false;
}

/// Of the values that a step reads from outside, those that are constants, or identities of them. Nothing: others are made of
/// arrays, which another run would have to make anew.
std::optional<std::unordered_map<const graph::node*, std::size_t>> constants_in(const graph::recorded_step& step,
                                                                                std::span<const value> constants) {
  const std::lock_guard lock(graph::flush_mutex());  // evaluation releases a node's operands
  std::unordered_map<const graph::node*, std::size_t> given, found;
  for (std::size_t k = 0; k < constants.size(); ++k) given.emplace(constants[k].get(), k);
  bool known = true;
  std::unordered_set<const graph::node*> seen;
  const std::function<void(const graph::node*)> see = [&](const graph::node* n) {
    if (!known || !seen.insert(n).second) return;
    if (n->is_leaf()) known = false;
    for (int k = 0; known && k < n->operand_count(); ++k) see(n->operand(k));
  };
  const auto note = [&](const value& v) {
    if (!v || step.list->has(v) || !known || found.contains(v.get())) return;
    const graph::node* n = v.get();
    if (!given.contains(n) && n->kind.load(std::memory_order_acquire) == graph::node_kind::view &&
        n->view().offset == 0 && n->shape == n->operand(0)->shape &&
        n->view().strides == core::contiguous_strides(n->shape))
      n = n->operand(0);
    if (const auto at = given.find(n); at != given.end()) found.emplace(v.get(), at->second);
    else see(v.get());
  };
  for (const graph::trace::entry* e : graph::entries_of(step))
    for (const value& v : e->operands) note(v);
  for (const value& v : step.results) note(v);
  if (!known) return {};
  return found;
}

/// Calls the step once, watched. Null: it is no kernel that can be kept.
std::unique_ptr<const graph::step_loop> make_loop(const loop_pass& pass, const list& from, const list& elements) {
  graph::watch watch("scan");
  trace_interceptor listening(watch.list(), false);
  std::vector<value> results;
  {
    const interceptor_scope scope(listening);
    list carry, x;
    for (const ndarray& a : from) carry.push_back(wrap(watch.list().enter(value_of(a))));
    for (const ndarray& a : elements) x.push_back(wrap(watch.list().enter(value_of(a))));
    const auto [next, outputs] = pass.step(carry, x);
    results = values_of(next);
    for (const value& v : values_of(outputs)) results.push_back(v);
  }
  watch.end();
  if (!watch.is_complete()) return nullptr;
  const graph::recorded_step step{&watch.list(), results, from.size()};
  const auto places = constants_in(step, pass.constants);
  std::unique_ptr<graph::step_loop> made = places ? graph::step_loop::make(step) : nullptr;
  return made && made->give_constants(*places) ? std::move(made) : nullptr;
}

}  // namespace

std::optional<std::pair<list, list>> loop_pass::run(const list& from, const list& xs, const scan_loop_kw& kw) {
  if (key.empty() || any_listens() || graph::is_capturing()) return {};
  const std::vector<value> carry = values_of(from), scanned = values_of(xs);
  const auto is_example = [](const value& v) { return graph::is_example(v); };
  for (const std::vector<value>* const all : {&carry, &scanned, &std::as_const(constants)})
    if (std::any_of(all->begin(), all->end(), is_example)) return {};
  const std::int64_t n = *kw.length;
  std::shared_ptr<const kept> known = table::instance().find(key);
  if (!known) {
    list elements;
    for (const ndarray& x : xs) elements.push_back(x(kw.reverse ? n - 1 : 0));
    note.clear();
    auto loop = make_loop(*this, from, elements);
    known = std::make_shared<const kept>(kept{std::move(loop), note});
    table::instance().keep(key, known);
  }
  if (!known->loop) return {};
  std::vector<value> results = known->loop->run(carry, scanned, {n, 0, kw.reverse}, constants);
  if (results.empty()) return {};
  note = known->note;
  std::pair<list, list> given;
  for (std::size_t j = 0; j < results.size(); ++j)
    (j < from.size() ? given.first : given.second).push_back(wrap(std::move(results[j])));
  return given;
}

}  // namespace sinter::ops
