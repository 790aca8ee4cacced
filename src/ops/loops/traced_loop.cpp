// Steps that need not be called again.
//
// Two steps are called and watched: what they record from their arguments is listed. Where both lists are the same, with
// the same numbers and the same other arrays, where no element was read on the host and nothing of the step is left but
// what it gives, the step is known. If each element can go through all steps by itself, the loop is a kernel
// (graph/run/step_loop_run.hpp), which begins with the first step: what the two calls have recorded is never computed. A
// while_loop has computed it for its condition, and goes on from there.
//
// A third call is captured. There that only shows whether the step does something besides, and nothing of it is computed.
// Otherwise (graph/capture/step_work.hpp) its kernels, products and copies are listed with their addresses, and all further
// steps run that list. Between two runs the elements to scan over, the number of the step, the outputs and the carry are
// copied from and to the places that the list knows. The kernels are those of a step that is called, so the bits are.
//
// Where a derivative follows the steps, the two calls are recorded like any others, but what they give is not used: all steps
// are one call of a loop whose derivatives are loops (loop_derivatives.hpp). The steps of these are pure: one call is watched.
//
// So it is where a step depends on the example of a vmap, for which that call is one loop of all examples.
//
// Captures are for small steps on the host, where work is done when the call returns: the steps of large ones are better
// recorded, since they fuse. On a GPU, loops are kernels or their steps are called. Not where another loop watches its own
// steps.
#include "sinter/traced_loop.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "core/shape.hpp"
#include "graph/capture/step_work.hpp"
#include "graph/run/flush.hpp"
#include "graph/run/step_loop_run.hpp"
#include "graph/values/example.hpp"
#include "graph/values/faults.hpp"
#include "graph/values/watch.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/loops/loop_derivatives.hpp"
#include "ops/loops/same_steps.hpp"
#include "ops/loops/step_copies.hpp"
#include "sinter/creation.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/error.hpp"

namespace sinter::inline v0::detail {

using namespace ops;

namespace {

/// Fewer steps are called: a capture costs as much as some of them.
constexpr std::int64_t least_steps = 16;
/// The first step of a loop of unknown length that is watched.
constexpr std::int64_t watched_later = 2;
/// Bytes of what a captured step takes and gives, at most. Larger steps cost the device more than the host.
constexpr std::size_t small_step = std::size_t{256} << 10;
/// Steps of a while_loop that a kernel runs at most, first and at all, before the host looks at the condition: compiled code
/// can take over, and the work of a launch is known to this factor.
constexpr std::int64_t first_steps = 256, more_steps = 8, most_steps = std::int64_t{1} << 20;
/// Operations that a step records, at most.
constexpr std::size_t most_entries = 4096;

/// On a GPU the calls of a step are not followed: loops with calls are no kernels there, and the bits of a product may depend on
/// the memory that its operands have when it is announced.
class step_listener : public trace_interceptor {
 public:
  using trace_interceptor::trace_interceptor;
  bool takes(const ndarray& x) const override {
    return x.device().kind == device_kind::cpu && trace_interceptor::takes(x);
  }
};

struct watching {
  /// Where a derivative follows, what it takes for one call must be one here: what that records, the derivative does not see.
  watching(const char* function, bool is_followed)
      : watch(function), listening(std::in_place, watch.list(), is_followed) {}
  ~watching() { stop(); }
  void stop() {
    scope.reset();
    watch.end();
  }
  graph::watch watch;
  std::optional<step_listener> listening;
  std::optional<interceptor_scope> scope{std::in_place, *listening};
  std::vector<value> results;
};

enum class listeners : std::uint8_t { none, derivatives, others };

/// Who follows what this thread records.
listeners who_listens() {
  listeners found = listeners::none;
  for (const graph::trace* t = graph::trace::innermost(); t; t = t->outer()) {
    if (t->is_paused()) continue;
    if (t->filter() != graph::trace_filter::inexact) return listeners::others;
    found = listeners::derivatives;
  }
  return found;
}

/// Whether the step of one example of a vmap is not that of the others.
bool depends_on_example(const step_record& step) {
  const auto is_example = [](const value& v) { return v && graph::is_example(v); };
  if (std::any_of(step.results.begin(), step.results.end(), is_example)) return true;
  const auto inputs = step.list->inputs();
  return std::any_of(inputs.begin(), inputs.end(), is_example);
}

bool is_on_host(const value& v) { return v->device.kind == runtime::device_kind::cpu; }
bool is_on_mesh(const value& v) { return v->device.kind == runtime::device_kind::mesh; }

value in_memory(const ndarray& x) {
  value v = value_of(x);
  graph::flush(std::span(&v, 1));
  return v;
}

}  // namespace

struct traced_loop::state {
  const char* function;
  std::int64_t steps, first_watched;
  std::unique_ptr<watching> watched[2];  // the second one may be in progress
  step_kind kind;
  bool same = false, small = true, on_host = true;
  std::vector<value> first;  // the carry before the first step, from which known steps are run
  std::unique_ptr<graph::step_loop> loop;
  bool is_followed = false;                              // by derivatives
  std::shared_ptr<const step_function> for_derivatives;  // or for a vmap

  std::vector<value> carry, arguments;  // what the captured step takes
  graph::step_session* session = nullptr;
  std::unique_ptr<graph::step_work> work;
  std::vector<block_copy> set_aside, moves;
  std::vector<char> aside;

  bool suits(arrays all) {
    std::size_t bytes = 0;
    for (const ndarray* const a : all) {
      const value v = value_of(*a, function);
      if ((graph::is_example(v) && steps < 0) || is_on_mesh(v) || v->opaque) return false;
      bytes += v->bytes();
      on_host = on_host && is_on_host(v);
    }
    small = small && on_host && bytes <= small_step;
    return true;
  }
  void find_loop(const watching& step, std::size_t carried);
  void forget_step() {
    loop.reset();
    for_derivatives.reset();
  }
  /// Whether a third call is made only to see whether the step does something besides.
  bool is_known() const noexcept { return loop || for_derivatives; }
  /// What a third step is given. Where the step is known, nobody reads the elements: the step is called to see whether it
  /// does something else besides.
  value taken(const ndarray& x) const {
    if (!is_known()) return graph::snapshot(in_memory(x));
    const graph::array_view& v = view_of(x, function);
    return graph::unset_leaf(v.shape, v.type, v.device());
  }
  std::span<const value> next() const { return work->results().first(carry.size()); }
  std::span<const value> outputs() const { return work->results().subspan(carry.size()); }
  void plan_moves();
  /// Nothing else runs until the loop is done.
  void expect_unchanged() {
    std::vector<value> inputs = carry;
    inputs.insert(inputs.end(), arguments.begin(), arguments.end());
    work->expect_unchanged(inputs);
  }
  /// What is wrong with data that the steps have read is wrong with what they have computed.
  void pass_faults(const value& to) const {
    for (const value& v : work->reads()) graph::inherit_faults(to, {&v});
  }
  void move_carry() {
    copy_all(set_aside);
    copy_all(moves);
  }
  template <class F>
  void run(F&& all_steps);
  std::vector<ndarray> run_loop(arrays to, arrays xs, const graph::loop_range& over) const;
  void run_loop_while(arrays carry) const;
  std::vector<ndarray> run_followed(arrays carry, std::vector<ndarray> scanned, bool reverse) const;
  bool is_known_after(const watching& step, arrays carry, arrays arguments, arrays next, arrays outputs);
  void return_carry(arrays to) const {
    for (std::size_t j = 0; j < to.size(); ++j) *to[j] = wrap(carry[j]);
  }
};

/// How the results of a step become the carry. What lies in the memory of another array of the carry, as where a step
/// exchanges two, is copied before anything is written.
void traced_loop::state::plan_moves() {
  const auto is_carried = [&](const value& v) {
    for (const value& c : carry)
      if (c->buffer == v->buffer) return true;
    return false;
  };
  std::size_t bytes = 0;
  for (const value& v : next())
    if (is_carried(v)) bytes += v->bytes();
  aside.resize(bytes);
  std::size_t at = 0;
  for (std::size_t j = 0; j < carry.size(); ++j) {
    const value& v = next()[j];
    block_copy c{address_of(carry[j]), address_of(v), v->bytes()};
    if (c.to == c.from) continue;
    if (is_carried(v)) {
      set_aside.push_back({aside.data() + at, c.from, c.bytes});
      c.from = aside.data() + at;
      at += c.bytes;
    }
    moves.push_back(c);
  }
}

template <class F>
void traced_loop::state::run(F&& all_steps) {
  runtime::backend& device = runtime::get_backend({});
  {
    runtime::submission use(device);
    work->declare(use);
    for (const value& v : carry) use.writes(*v->buffer);
    for (const value& v : arguments) use.writes(*v->buffer);
    all_steps(use);
  }
  for (const value& v : carry) pass_faults(v);
  graph::report_captured_faults(device);
}

/// Sets the carry, and returns the outputs.
std::vector<ndarray> traced_loop::state::run_loop(arrays to, arrays xs, const graph::loop_range& over) const {
  std::vector<value> scanned;
  for (const ndarray* const x : xs) scanned.push_back(value_of(*x));
  std::vector<value> results = loop->run(first, scanned, over);
  for (std::size_t j = 0; j < to.size(); ++j) *to[j] = wrap(std::move(results[j]));
  std::vector<ndarray> all;
  for (std::size_t j = to.size(); j < results.size(); ++j) all.push_back(wrap(std::move(results[j])));
  return all;
}

void traced_loop::state::run_loop_while(arrays carry) const {
  std::vector<value> now;
  for (const ndarray* const a : carry) now.push_back(value_of(*a));
  for (std::int64_t most = first_steps;; most = std::min(most * more_steps, most_steps)) {
    now = loop->run(now, {}, {most, 0, false});
    const ndarray again = wrap(std::move(now.back()));
    now.pop_back();
    if (!again.item<bool>()) break;
  }
  for (std::size_t j = 0; j < carry.size(); ++j) *carry[j] = wrap(std::move(now[j]));
}

/// Sets the carry, and returns the outputs. What the watched steps have given is not asked for any more.
std::vector<ndarray> traced_loop::state::run_followed(arrays to, std::vector<ndarray> scanned, bool reverse) const {
  std::vector<ndarray> operands;
  for (const value& v : first) operands.push_back(wrap(v));
  operands.insert(operands.end(), scanned.begin(), scanned.end());
  for (const value& v : for_derivatives->constants()) operands.push_back(wrap(v));
  std::vector<ndarray> results = run_for_derivatives({for_derivatives, to.size(), steps, reverse}, operands);
  for (std::size_t j = 0; j < to.size(); ++j) *to[j] = std::move(results[j]);
  results.erase(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(to.size()));
  return results;
}

traced_loop::traced_loop(const char* function, std::int64_t steps, step_kind kind) {
  const listeners who = who_listens();
  if (kind == step_kind::called || who == listeners::others || graph::is_capturing()) return;
  if (steps >= 0 && steps < least_steps) return;
  if (steps < 0 && who == listeners::derivatives) return;
  state_ = std::make_unique<state>();
  state_->function = function;
  state_->steps = steps;
  state_->kind = kind;
  state_->first_watched = steps < 0 ? watched_later : 0;
  state_->is_followed = who == listeners::derivatives;
}
traced_loop::~traced_loop() = default;

void traced_loop::before_call(std::int64_t k, arrays carry, arrays arguments) {
  if (!state_ || k < state_->first_watched) return;
  if (k >= state_->first_watched + 2 || !state_->suits(carry) || !state_->suits(arguments)) return state_.reset();
  auto& w = state_->watched[k - state_->first_watched];
  std::vector<value> before;
  for (const arrays all : {carry, arguments})
    for (const ndarray* const a : all) before.push_back(value_of(*a));
  if (k == 0) state_->first.assign(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(carry.size()));
  w = std::make_unique<watching>(state_->function, state_->is_followed);
  std::size_t j = 0;
  for (const arrays all : {carry, arguments})
    for (ndarray* const a : all) *a = wrap(w->watch.list().enter(before[j++]));
}

void traced_loop::after_call(arrays carry, arrays arguments, arrays next, arrays outputs) {
  if (!state_) return;
  watching* const w = state_->watched[1] ? state_->watched[1].get() : state_->watched[0].get();
  if (!w) return;
  // While it is watched: a part of an array is read by one more view.
  for (const arrays all : {next, outputs})
    for (const ndarray* const a : all) w->results.push_back(value_of(*a));
  w->stop();
  state& s = *state_;
  if (!s.is_known_after(*w, carry, arguments, next, outputs)) return state_.reset();
  if (s.kind == step_kind::unknown) {
    if (!s.watched[1]) return;
    const watching& before = *s.watched[0];
    if (!are_same({&before.watch.list(), before.results}, {&w->watch.list(), w->results})) return state_.reset();
  }
  s.same = true;
  s.find_loop(*w, carry.size());
  for (auto& done : s.watched) done.reset();
  if (!s.is_known() && !s.small) state_.reset();
}

/// Whether all that a watched call has done is in its list.
bool traced_loop::state::is_known_after(const watching& step, arrays carry, arrays arguments, arrays next,
                                        arrays outputs) {
  if (!step.watch.is_complete() || step.watch.list().entries().size() > most_entries) return false;
  if (kind == step_kind::unknown) {
    std::vector<ndarray*> handles;
    for (const arrays all : {carry, arguments, next, outputs}) handles.insert(handles.end(), all.begin(), all.end());
    if (leaves_traces({&step.watch.list(), step.results}, handles)) return false;
  }
  return suits(next) && suits(outputs);
}

void traced_loop::state::find_loop(const watching& step, std::size_t carried) {
  const graph::recorded_step recorded{&step.watch.list(), step.results, carried,
                                      std::string_view(function) == "fori_loop", steps < 0};
  const step_record record{recorded.list, recorded.results};
  if (!is_followed && !depends_on_example(record)) loop = graph::step_loop::make(recorded);
  else if (on_host || graph::has_elements_only(recorded))
    for_derivatives = std::make_shared<const step_function>(record);
  if (!is_known()) first.clear();
}

void traced_loop::give(arrays next, arrays outputs) {
  state& s = *state_;
  std::vector<value> results;
  if (next.size() != s.carry.size()) fail<value_error>(s.function, "the carry has another number of arrays");
  for (const arrays all : {next, outputs})
    for (const ndarray* const a : all) results.push_back(value_of(*a, s.function));
  for (std::size_t j = 0; j < next.size(); ++j)
    if (!(results[j]->shape == s.carry[j]->shape) || results[j]->type != s.carry[j]->type)
      fail<shape_error>(s.function, "the carry changes");
  if (s.steps < 0 && (results.back()->type != dtype::b1 || results.back()->size() != 1))
    fail<shape_error>(s.function, "the condition is not one bool");
  s.session->give(std::move(results));
}

bool traced_loop::capture(std::int64_t, arrays carry, arrays arguments, const std::function<void()>& call) {
  if (!state_ || !state_->same) return false;
  state& s = *state_;
  if (s.is_known() && s.kind == step_kind::pure) return true;
  std::vector<ndarray> before;
  const auto put_back = [&] {
    std::size_t j = 0;
    for (const arrays all : {carry, arguments})
      for (ndarray* const a : all)
        if (j < before.size()) *a = std::move(before[j++]);
  };
  try {
    for (const ndarray* const a : carry) s.carry.push_back(s.taken(*a));
    for (const ndarray* const a : arguments) s.arguments.push_back(s.taken(*a));
    for (const arrays all : {carry, arguments})
      for (const ndarray* const a : all) before.push_back(*a);
    const graph::constants unfollowed;
    graph::step_session session(runtime::get_backend({}).current_stream());
    s.session = &session;
    for (std::size_t j = 0; j < carry.size(); ++j) *carry[j] = wrap(s.carry[j]);
    for (std::size_t j = 0; j < arguments.size(); ++j) *arguments[j] = wrap(s.arguments[j]);
    call();
    put_back();
    if (!s.is_known()) s.work = session.finish();
    else if (session.has_side_effects()) s.forget_step();
  } catch (const error&) {  // what a capture cannot hold, or what the call of the step will throw
    put_back();
    s.forget_step();
  } catch (...) {
    put_back();
    state_.reset();
    throw;
  }
  if (s.is_known()) return true;
  if (!s.work) {
    state_.reset();
    return false;
  }
  s.expect_unchanged();
  s.plan_moves();
  return true;
}

std::vector<ndarray> traced_loop::run_scan(std::int64_t k, arrays carry, arrays xs, bool reverse,
                                           std::span<std::vector<ndarray>> before) {
  state& s = *state_;
  if (s.loop) return s.run_loop(carry, xs, {s.steps, 0, reverse});
  const std::int64_t n = s.steps;
  if (s.for_derivatives) {
    std::vector<ndarray> scanned;
    for (const ndarray* const x : xs) scanned.push_back(*x);
    return s.run_followed(carry, std::move(scanned), reverse);
  }
  const auto place = [&](std::int64_t step) { return reverse ? n - 1 - step : step; };
  std::vector<blocks> from, to;
  for (const ndarray* const x : xs) from.emplace_back(in_memory(*x), n);
  for (std::size_t j = 0; j < s.outputs().size(); ++j) {
    const value& y = s.outputs()[j];
    dims shape = y->shape;
    shape.insert(0, n);
    to.emplace_back(graph::unset_leaf(shape, y->type, y->device), n);
    for (std::size_t q = 0; q < before[j].size(); ++q) {
      const value done = in_memory(before[j][q]);
      if (!(done->shape == y->shape) || done->type != y->type)
        fail<shape_error>("stack", "all input arrays must have the same shape: ", done->shape, " and ", y->shape);
      copy_block(to[j].at(place(static_cast<std::int64_t>(q))), address_of(done), done->bytes());
      graph::inherit_faults(to[j].leaf, {&done});
    }
  }
  s.run([&](runtime::submission& use) {
    for (const blocks& b : from) use.reads(*b.leaf->buffer);
    for (const blocks& b : to) use.writes(*b.leaf->buffer);
    std::vector<block_copy> taken, given;
    for (std::size_t j = 0; j < from.size(); ++j)
      taken.push_back({address_of(s.arguments[j]), from[j].at(place(k)), from[j].bytes});
    for (std::size_t j = 0; j < to.size(); ++j)
      given.push_back({to[j].at(place(k)), address_of(s.outputs()[j]), to[j].bytes});
    for (; k < n; ++k) {
      copy_all(taken);
      s.work->run();
      copy_all(given);
      s.move_carry();
      for (block_copy& c : taken) c.from = next_block(c.from, c.bytes, reverse);
      for (block_copy& c : given) c.to = next_block(c.to, c.bytes, reverse);
    }
  });
  for (const blocks& x : from) {
    for (const value& c : s.carry) graph::inherit_faults(c, {&x.leaf});
    for (const blocks& y : to) graph::inherit_faults(y.leaf, {&x.leaf});
  }
  for (const blocks& y : to) {
    s.pass_faults(y.leaf);
    for (const value& c : s.carry) graph::inherit_faults(y.leaf, {&c});
  }
  s.return_carry(carry);
  std::vector<ndarray> all;
  for (blocks& b : to) all.push_back(wrap(std::move(b.leaf)));
  return all;
}

void traced_loop::run_numbers(std::int64_t k, std::int64_t lower, arrays carry) {
  state& s = *state_;
  if (s.loop) return static_cast<void>(s.run_loop(carry, {}, {s.steps, lower, false}));
  if (s.for_derivatives) return static_cast<void>(s.run_followed(carry, {arange(lower, lower + s.steps)}, false));
  s.run([&](runtime::submission&) {
    char* const argument = address_of(s.arguments[0]);
    for (; k < s.steps; ++k) {
      const std::int64_t number = lower + k;
      std::memcpy(argument, &number, sizeof number);
      s.work->run();
      s.move_carry();
    }
  });
  s.return_carry(carry);
}

void traced_loop::run_while(arrays carry) {
  state& s = *state_;
  if (s.loop) return s.run_loop_while(carry);
  const value& again = s.outputs()[0];
  s.run([&](runtime::submission&) {
    bool more = true;
    while (more) {
      s.work->run();
      s.move_carry();
      std::memcpy(&more, address_of(again), sizeof more);
    }
  });
  s.return_carry(carry);
}

}  // namespace sinter::inline v0::detail
