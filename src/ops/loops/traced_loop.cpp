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
// So it is where a step depends on the example of a vmap, for which that call is one loop of all examples. A while_loop whose
// condition depends on the example becomes one of all examples, whose step leaves those alone that have ended.
//
// Within a function that is captured with its loops (compiled_calls.cpp), a loop is part of that capture: the launch of its
// kernel, or one entry that runs the list of its captured step. The condition of a while_loop is not known then, so its step
// is captured at once.
//
// Captures are for small steps: the steps of large ones are better recorded, since they fuse. On a GPU the captured step is a
// graph, and what is copied between two steps is one more node of it (traced_loop_gpu.cpp): the host enqueues some graphs and
// does not wait. Steps that depend on the example of a vmap, or that derivatives follow, are kernels there or are called. Not
// where another loop watches its own steps.
#include <algorithm>
#include <string_view>
#include <utility>

#include "ops/loops/traced_loop_state.hpp"
#include "sinter/error.hpp"
#include "sinter/vmap_error.hpp"

namespace sinter::inline v0::detail {

namespace {

/// Fewer steps are called: a capture costs as much as some of them.
constexpr std::int64_t least_steps = 16;
/// The first step of a loop of unknown length that is watched.
constexpr std::int64_t watched_later = 2;
/// The first step of such a loop that is captured on a GPU: a graph with a condition costs as much as several steps.
constexpr std::int64_t captured_later = 10;
/// Steps of all examples that are called before: Newton's iterations have come to their end by then.
constexpr std::int64_t called_of_examples = 8;
/// Operations that a step records, at most.
constexpr std::size_t most_entries = 4096;

enum class listeners : std::uint8_t { none, derivatives, watch, others };

/// Who follows what this thread records.
listeners who_listens() {
  bool watch = false, derivatives = false;
  for (const graph::trace* t = graph::trace::innermost(); t; t = t->outer()) {
    if (t->is_paused()) continue;
    if (t->filter() != graph::trace_filter::inexact && !graph::watch::has(*t)) return listeners::others;
    (graph::watch::has(*t) ? watch : derivatives) = true;
  }
  if (watch) return derivatives ? listeners::others : listeners::watch;
  return derivatives ? listeners::derivatives : listeners::none;
}

/// Whether the step of one example of a vmap is not that of the others.
bool depends_on_example(const step_record& step) {
  const auto is_example = [](const value& v) { return v && graph::is_example(v); };
  if (std::any_of(step.results.begin(), step.results.end(), is_example)) return true;
  const auto inputs = step.list->inputs();
  return std::any_of(inputs.begin(), inputs.end(), is_example);
}

step_record record_of(const watching& step) { return {&step.watch.list(), step.results, &step.watch}; }

}  // namespace

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

traced_loop::traced_loop(const char* function, std::int64_t steps, step_kind kind) {
  const listeners who = who_listens();
  const bool in_capture = graph::is_capturing();
  if (kind == step_kind::called || who == listeners::others) return;
  if (in_capture && !graph::step_session::takes_loops()) return;
  if (steps >= 0 && steps < least_steps) return;
  if (steps < 0 && who == listeners::derivatives) return;
  if (who == listeners::watch) {
    if (steps >= 0 || !in_capture) return;
    graph::note_host_read();  // what the loop gives is in no list
  }
  state_ = std::make_shared<state>();
  state_->same = state_->at_once = in_capture && steps < 0;
  state_->function = function;
  state_->steps = steps;
  state_->kind = kind;
  state_->first_watched = steps < 0 && kind == step_kind::unknown ? watched_later : 0;
  state_->is_followed = who == listeners::derivatives;
}
traced_loop::~traced_loop() = default;

void traced_loop::before_call(std::int64_t k, arrays carry, arrays arguments) {
  if (!state_ || k < state_->first_watched || state_->same) return;
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
    if (!are_same(record_of(before), record_of(*w))) return state_.reset();
  }
  s.same = true;
  s.find_loop(*w, carry.size());
  s.is_capturable = s.small && !s.of_examples && (s.on_host || s.suits_gpu(*w));
  for (auto& done : s.watched) done.reset();
  if (!s.is_known() && !s.is_capturable) state_.reset();
}

/// Whether all that a watched call has done is in its list.
bool traced_loop::state::is_known_after(const watching& step, arrays carry, arrays arguments, arrays next,
                                        arrays outputs) {
  if (!step.watch.is_complete() || step.watch.list().entries().size() > most_entries) return false;
  if (kind == step_kind::unknown) {
    std::vector<ndarray*> handles;
    for (const arrays all : {carry, arguments, next, outputs}) handles.insert(handles.end(), all.begin(), all.end());
    if (leaves_traces(record_of(step), handles)) return false;
  }
  return suits(next) && suits(outputs);
}

void traced_loop::state::find_loop(const watching& step, std::size_t carried) {
  const graph::recorded_step recorded{&step.watch.list(), step.results, carried,
                                      std::string_view(function) == "fori_loop", steps < 0};
  const step_record record{recorded.list, recorded.results};
  if (of_examples) {
    if (on_host && !is_followed) for_derivatives = std::make_shared<const step_function>(record);
  } else if (!is_followed && !depends_on_example(record)) loop = graph::step_loop::make(recorded);
  else if (on_host || graph::has_elements_only(recorded))
    for_derivatives = std::make_shared<const step_function>(record);
  if (!is_known()) first.clear();
}

/// Of a step that is no kernel. The graph of a step of a vmap's examples is theirs, and derivatives follow calls.
bool traced_loop::state::suits_gpu(const watching& step) {
  const auto entries = step.watch.list().entries();
  calls_others =
      std::any_of(entries.begin(), entries.end(), [](const auto& e) { return e.call && !e.call->is_matrix_product(); });
  return !is_followed && !depends_on_example({&step.watch.list(), step.results});
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
  s.gives_examples = std::any_of(results.begin(), results.end(), [](const value& v) { return graph::is_example(v); });
  if (s.gives_examples && !s.is_known()) fail<vmap_error>(s.function, "a step of one example has no elements");
  s.session->give(std::move(results));
}

bool traced_loop::capture(std::int64_t k, arrays carry, arrays arguments, const std::function<void()>& call) {
  if (!state_ || !state_->same) return false;
  state& s = *state_;
  if (s.is_known() && s.kind == step_kind::pure) return true;
  if (!s.is_known() && !s.on_host && s.steps < 0 && k < captured_later) return false;
  std::vector<ndarray> before;
  const auto put_back = [&] {
    std::size_t j = 0;
    for (const arrays all : {carry, arguments})
      for (ndarray* const a : all)
        if (j < before.size()) *a = std::move(before[j++]);
    before.clear();
  };
  try {
    for (const ndarray* const a : carry) s.carry.push_back(s.taken(*a));
    for (const ndarray* const a : arguments) s.arguments.push_back(s.taken(*a));
    for (const arrays all : {carry, arguments})
      for (const ndarray* const a : all) before.push_back(*a);
    const graph::constants unfollowed;
    graph::step_session session(runtime::get_backend(s.where.value_or(runtime::device_id{})).current_stream(),
                                graph::step_of::loop, s.carry, s.arguments);
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
  if (s.work && !s.on_host && !s.runs_on_gpu()) s.work.reset();
  if (!s.work) {
    if (s.at_once && s.gives_examples && !s.of_examples) s.begin_again_with_examples(k + 1);
    else state_.reset();
    return false;
  }
  s.session = nullptr;
  if (!s.on_host) return true;
  s.expect_changes(!graph::is_capturing());
  s.plan_moves();
  return true;
}

void traced_loop::watch_examples(std::int64_t k) {
  if (!state_ || state_->is_followed || state_->watched[0] || k > state_->first_watched) return state_.reset();
  state_->begin_again_with_examples(state_->at_once ? k : k + called_of_examples);
}

bool traced_loop::watches_examples() const noexcept { return state_ && state_->of_examples; }
bool traced_loop::is_watching() const noexcept { return state_ && state_->watched[0]; }

bool traced_loop::is_captured_at_once() const noexcept { return state_ && state_->at_once; }

}  // namespace sinter::inline v0::detail
