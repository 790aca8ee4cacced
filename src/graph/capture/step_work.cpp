#include "graph/capture/step_work.hpp"

#include <algorithm>
#include <utility>

#include "graph/capture/capture.hpp"
#include "graph/capture/memory.hpp"
#include "graph/run/flush.hpp"
#include "graph/values/example.hpp"
#include "runtime/recording_stream.hpp"
#include "runtime/stream.hpp"
#include "sinter/error.hpp"

namespace sinter::graph {
step_work::~step_work() {
  work_.reset();
  results_.clear();
  if (memory_) memory_->close();
}

void step_work::declare(runtime::submission& work) const {
  for (const value& leaf : held_) work.reads(*leaf->buffer);
  for (const value& leaf : results_) work.writes(*leaf->buffer);
}

void step_work::expect_unchanged(std::span<const value> inputs) {
  auto* const work = dynamic_cast<runtime::settling_work*>(work_.get());
  if (!work) return;
  std::vector<runtime::unchanged_memory> unchanged;
  for (const value& v : held_) {
    const auto shares = [&](const value& input) { return input->buffer == v->buffer; };
    if (!v->buffer || std::any_of(inputs.begin(), inputs.end(), shares)) continue;
    const auto size = static_cast<std::int64_t>(itemsize(v->type));
    unchanged.push_back({static_cast<const char*>(v->buffer->address()) + v->buffer_offset * size, v->bytes()});
  }
  work->expect_unchanged(std::move(unchanged));
}

void step_work::expect_changes(std::span<const value> inputs) {
  looping_ = dynamic_cast<runtime::looping_work*>(work_.get());
  if (!looping_) return;
  std::vector<runtime::unchanged_memory> changing;
  for (const value& v : inputs)
    if (v->buffer)
      changing.push_back({static_cast<const char*>(v->buffer->address()) +
                              v->buffer_offset * static_cast<std::int64_t>(itemsize(v->type)),
                          v->bytes()});
  looping_->expect_changes(std::move(changing));
}

/// A result may move whose memory is the step's own and no other one's; what is read, if no result lies there.
bool step_work::let_move(const value& captured, runtime::moving_work::access how) {
  const runtime::buffer& memory = *captured->buffer;
  const auto results_there =
      std::count_if(results_.begin(), results_.end(), [&](const value& r) { return r->buffer.get() == &memory; });
  const bool reads = how == runtime::moving_work::access::reads;
  if (results_there != (reads ? 0 : 1) || captured->buffer_offset != 0 || (!reads && !memory_->owns(memory)))
    return false;
  moving_ = dynamic_cast<runtime::moving_work*>(work_.get());
  return moving_ && moving_->let_move({memory.address(), captured->bytes()}, how);
}

void step_work::move(const value& captured, const value& to) {
  moving_->move(captured->buffer->address(), to->buffer->address(),
                to->buffer_offset * static_cast<std::int64_t>(itemsize(to->type)));
}

bool step_work::is_current() const {
  return std::all_of(arrays_.begin(), arrays_.end(), [](const array_read& r) {
    return r.array->now() == r.elements && (!r.is_shared || r.array.use_count() > 1);
  });
}

step_session* step_session::current() noexcept { return dynamic_cast<step_session*>(current_capture()); }

bool step_session::takes_loops() noexcept {
  if (!is_capturing()) return false;
  const step_session* const s = current();
  return s && s->takes_loops_;
}

void step_session::add_call(std::function<void()> call) {
  runtime::stream& recording = current()->device_.current_stream();
  dynamic_cast<runtime::recording_stream&>(recording).add(std::move(call));
}

recording_capture* step_session::around_steps() noexcept { return takes_loops() ? current() : nullptr; }

step_session::step_session(runtime::stream& s, step_of what, std::span<const value> carry,
                           std::span<const value> arguments)
    : recording_capture(s, around_steps()),
      what_(what),
      takes_loops_(what == step_of::function || (within() != nullptr)) {
  for (const auto inputs : {carry, arguments})
    for (const value& v : inputs) changing_.insert(v->buffer.get());
}

/// What a function around the loop computes is the same in all steps.
bool step_session::stays(const node& leaf) const noexcept {
  return what_ == step_of::loop && !memory_->owns(*leaf.buffer) && !changing_.contains(leaf.buffer.get());
}

step_session::~step_session() {
  results_.clear();
  if (current() == this) {
    leave();
    abandon_recording();
  }
  restore();
}

/// An array from before is evaluated outside of the capture, once; the step reads it where it is. One that stands for an
/// example of a vmap has no elements, nor a step that reads it work.
void step_session::touch(const std::shared_ptr<storage>& s) {
  if (s->made_in == number_ || touched_.count(s.get()) != 0) return;
  value now = s->now();
  if (s->device == device_.id() && !is_example(now)) {
    {
      const around outer(*this);
      if (is_capturing()) graph::touch(s);
      flush(std::span(&now, 1));
    }
    hold(now);
  }
  touched_.emplace(s.get(), array_before{s, std::move(now)});
}

bool step_session::has_side_effects() const {
  for (const auto& [s, before] : touched_) {
    if (!(s->now() == before.original)) return true;
    const value& v = before.original;
    if (v->is_leaf() && v->buffer && notes_.writes(v->buffer->address())) return true;
  }
  const auto lives = [](const auto& weak) { return !weak.expired(); };
  return std::any_of(made_.begin(), made_.end(), lives) || std::any_of(deferred_.begin(), deferred_.end(), lives);
}

std::vector<step_work::array_read> step_session::arrays_read() {
  std::vector<step_work::array_read> all;
  if (!takes_loops_ || within()) return all;  // a step of a loop is run at once, or by the function around it
  for (auto& [s, before] : touched_)
    if (before.array->device == device_.id() && !is_example(before.original))
      all.push_back({std::move(before.array), std::move(before.original), false});
  touched_.clear();
  for (step_work::array_read& r : all) r.is_shared = r.array.use_count() > 1;
  return all;
}

std::unique_ptr<step_work> step_session::finish() {
  flush(results_);
  if (has_side_effects()) return nullptr;
  std::unique_ptr<step_work> r(new step_work);
  leave();
  r->work_ = end_recording();
  r->memory_ = memory_;
  r->results_ = std::move(results_);
  r->held_ = std::move(held_);
  r->arrays_ = arrays_read();
  r->kept_ = std::move(notes_.keep);
  r->finds_errors_ = notes_.finds_errors;
  memory_ = nullptr;
  return r;
}

/// Nothing of the step has run: arrays from before have their elements, if not their versions. What the step has left in
/// arrays of its own has never been computed; the step is done again by a call that replaces them.
void step_session::restore() noexcept {
  for (const auto& weak : made_)
    if (const auto s = weak.lock()) {
      const write_lock mine(*s);
      s->replace(record_unset(s->held()->type, s->held()->shape, s->device));
      s->made_in = 0;
    }
  for (auto& [s, before] : touched_) {
    const write_lock mine(*before.array);
    if (!(before.array->held() == before.original)) before.array->replace(before.original);
  }
  if (memory_) memory_->close();
}

}  // namespace sinter::graph
