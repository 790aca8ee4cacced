// Traces of recorded values: a list of what depends on the inputs, kept while it is recorded.
#include "graph/values/trace.hpp"

#include <cassert>
#include <unordered_map>
#include <utility>

#include "graph/values/example.hpp"
#include "graph/values/recorded_lines.hpp"
#include "graph/values/watch.hpp"
#include "platform/per_thread.hpp"
#include "runtime/thread_state.hpp"
#include "sinter/derivative_error.hpp"

namespace sinter::graph {
namespace {

constinit thread_local trace* innermost_trace = nullptr;
constinit thread_local watch* current_watch = nullptr;

/// Values of examples that derivatives take for constant.
std::unordered_map<const node*, value>& constant_examples() {
  return platform::per_thread<std::unordered_map<const node*, value>, trace>::get();
}

}  // namespace

trace* trace::innermost() noexcept { return innermost_trace; }

trace::trace(const char* function, trace_filter filter)
    : function_(function), filter_(filter), outer_(std::exchange(innermost_trace, this)) {
  traces_anywhere.fetch_add(1, std::memory_order_relaxed);
}

trace::~trace() {
  end();
  forget_lines(*this);
}

void trace::end() noexcept {
  if (!std::exchange(active_, false)) return;
  assert(innermost_trace == this);
  innermost_trace = outer_;
  outer_ = nullptr;
  if (!innermost_trace && !constant_examples().empty()) constant_examples().clear();
  traces_anywhere.fetch_sub(1, std::memory_order_relaxed);
}

value trace::enter(const value& v) {
  value input = record_identity(v);  // outer traces are told; this one does not hold `v`
  index_.emplace(input.get(), -1);
  inputs_.push_back(input);
  return input;
}

value trace::follow(const value& v) {
  value same = record_identity(v);
  index_.emplace(same.get(), static_cast<std::int32_t>(entries_.size()));
  entries_.push_back({node_kind::view, value_list(same), value_list(v), nullptr, constants::any()});
  return same;
}

void trace::add_recorded(const value& v) {
  const bool followed = follows(*v), noted = keeps_lines();
  if (!followed && !noted) return;
  const node& n = *v;
  const int count = n.operand_count();
  bool depends = false;
  for (int k = 0; k < count && !depends; ++k) depends = index_.contains(n.operand(k));
  if (!depends) {
    if (watch::has(*this) && runtime::this_thread().capture != 0) current_watch->add_constant(v);
    return;
  }
  if (noted) note_line(*this, v);
  if (!followed) return;
  entry e{n.kind.load(std::memory_order_relaxed), value_list(v), {}, nullptr, constants::any()};
  for (int k = 0; k < count; ++k) e.operands.push_back(value(n.operand(k)));
  index_.emplace(v.get(), static_cast<std::int32_t>(entries_.size()));
  entries_.push_back(std::move(e));
}

void trace::add_call(std::shared_ptr<traced_call> call, std::vector<value> operands, std::vector<value> results) {
  bool any = false;
  for (const value& r : results) {
    if (r && keeps_lines()) note_line(*this, r);
    if (!r || !follows(*r)) continue;
    assert(!has(r));
    index_.emplace(r.get(), static_cast<std::int32_t>(entries_.size()));
    any = true;
  }
  if (!any) return;
  entries_.push_back({node_kind::leaf, value_list(std::move(results)), value_list(std::move(operands)), std::move(call),
                      constants::any()});
}

std::vector<bool> trace::needed_for(std::span<const value> results) const {
  std::vector<bool> needed(entries_.size());
  const auto need = [&](const value& v) {
    if (!v) return;
    if (const std::int32_t k = entry_of(v); k >= 0) needed[static_cast<std::size_t>(k)] = true;
  };
  for (const value& v : results) need(v);
  for (std::size_t k = entries_.size(); k-- > 0;)
    if (needed[k])
      for (const value& v : entries_[k].operands) need(v);
  return needed;
}

void tell_traces(const value& v) {
  bool stopped = false, followed = false;  // by derivatives: those that began under `constants` go on
  for (trace* t = innermost_trace; t; t = t->outer()) {
    if (!t->is_paused()) t->add_recorded(v);
    if (t->filter() == trace_filter::inexact) (t->is_paused() ? stopped : followed) = true;
  }
  if (constants::any() && stopped && !followed && is_example(v)) constant_examples().emplace(v.get(), v);
}

void refuse_if_traced(const value& v, const char* what, const char* function) {
  for (const trace* t = innermost_trace; t; t = t->outer()) {
    if (t->is_paused() || !t->has(v)) continue;
    if (current_watch && t == &current_watch->list_) {
      current_watch->complete_ = false;
      continue;
    }
    const std::string here = line_here();
    throw derivative_error(std::string("[") + t->function() + "] an array that depends on the arguments is " + what +
                           (function ? std::string(" by ") + function : std::string()) +
                           (here.empty() ? here : " at " + here) + ", and there is no rule for that" +
                           recorded_at(*t, v));
  }
}

watch::watch(const char* function) : list_(function, trace_filter::everything) {
  assert(!current_watch);
  current_watch = this;
}
watch::~watch() { end(); }

void watch::end() noexcept {
  if (!std::exchange(active_, false)) return;
  current_watch = nullptr;
  list_.end();
}

void watch::add_constant(const value& v) {
  constant c{v->kind.load(std::memory_order_relaxed), v, {}};
  for (int k = 0; k < v->operand_count(); ++k) c.operands.push_back(value(v->operand(k)));
  constants_.emplace(v.get(), std::move(c));
}

watch* watch::current() noexcept { return current_watch; }

bool watch::has(const trace& t) noexcept { return current_watch && &t == &current_watch->list_; }

void note_host_read() noexcept {
  if (current_watch) [[unlikely]]
    current_watch->complete_ = false;
}

namespace {
thread_local int constants_alive = 0;
}  // namespace

bool constants::any() noexcept { return constants_alive != 0; }

bool constants::has(const node& example) noexcept {
  return traces_anywhere.load(std::memory_order_relaxed) != 0 && constant_examples().contains(&example);
}

constants::constants() {
  ++constants_alive;
  if (traces_anywhere.load(std::memory_order_relaxed) == 0) return;
  for (trace* t = innermost_trace; t; t = t->outer())
    if (t->filter() == trace_filter::inexact) paused_.push_back(t);
  for (trace* t : paused_) t->set_paused(true);
}
constants::~constants() {
  --constants_alive;
  for (trace* t : paused_) t->set_paused(false);
}

}  // namespace sinter::graph
