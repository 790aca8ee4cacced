// What a loop knows of its steps: traced_loop.cpp watches and captures them, traced_loop_run.cpp runs what has come of it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/capture/step_work.hpp"
#include "graph/run/flush.hpp"
#include "graph/run/step_loop_run.hpp"
#include "graph/values/faults.hpp"
#include "graph/values/example.hpp"
#include "graph/values/watch.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/loops/same_steps.hpp"
#include "ops/loops/step_copies.hpp"
#include "ops/loops/step_function.hpp"
#include "sinter/traced_loop.hpp"

namespace sinter::ops {

/// On a GPU the calls of a step are not followed: loops with calls are no kernels there, and the bits of a product may depend on
/// the memory that its operands have when it is announced. In a capture calls of constants are followed as well: what they give
/// has no elements to compare.
class step_listener : public trace_interceptor {
 public:
  using trace_interceptor::trace_interceptor;
  bool takes(const ndarray& x) const override {
    return x.device().kind == device_kind::cpu && (graph::is_capturing() || trace_interceptor::takes(x));
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

inline bool is_on_host(const value& v) { return v->device.kind == runtime::device_kind::cpu; }
inline bool is_on_mesh(const value& v) { return v->device.kind == runtime::device_kind::mesh; }

inline value in_memory(const ndarray& x) {
  value v = value_of(x);
  graph::flush(std::span(&v, 1));
  return v;
}

}  // namespace sinter::ops

namespace sinter::inline v0::detail {

using namespace ops;

struct traced_loop::state {
  const char* function;
  std::int64_t steps, first_watched;
  std::unique_ptr<watching> watched[2];  // the second one may be in progress
  step_kind kind;
  bool same = false, at_once = false, small = true, on_host = true;
  bool of_examples = false;  // a while_loop whose condition depends on the example of a vmap
  bool gives_examples = false;
  std::vector<value> first;  // the carry before the first step, from which known steps are run
  std::unique_ptr<graph::step_loop> loop;
  bool is_followed = false;                              // by derivatives
  std::shared_ptr<const step_function> for_derivatives;  // or for a vmap

  std::vector<value> carry, arguments;  // what the captured step takes
  graph::step_session* session = nullptr;
  std::unique_ptr<graph::step_work> work;
  std::vector<value> read, written;  // by the loop, besides what its step uses
  std::vector<block_copy> set_aside, moves;
  std::vector<char> aside;

  /// Bytes of what a captured step takes and gives, at most. Larger steps cost the device more than the host.
  static constexpr std::size_t small_step = std::size_t{256} << 10;

  bool suits(arrays all) {
    std::size_t bytes = 0;
    for (const ndarray* const a : all) {
      const value v = value_of(*a, function);
      if ((graph::is_example(v) && steps < 0 && !of_examples) || is_on_mesh(v) || v->opaque) return false;
      bytes += v->bytes();
      on_host = on_host && is_on_host(v);
    }
    small = small && on_host && bytes <= small_step;
    return true;
  }
  void find_loop(const watching& step, std::size_t carried);
  void begin_again_with_examples(std::int64_t first) {
    of_examples = true;
    same = false;
    first_watched = first;
    carry.clear(), arguments.clear();
  }
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
  /// Nothing else runs until the loop is done. What the step reads besides is the same in all loops where it `stays`.
  void expect_changes(bool stays) {
    std::vector<value> inputs = carry;
    inputs.insert(inputs.end(), arguments.begin(), arguments.end());
    work->expect_changes(inputs);
    if (stays) work->expect_unchanged(inputs);
  }
  /// What is wrong with data that the steps have read is wrong with what they have computed.
  void pass_faults(const value& to) const {
    for (const value& v : work->reads()) graph::inherit_faults(to, {&v});
  }
  void move_carry() {
    copy_all(set_aside);
    copy_all(moves);
  }
  /// Runs the captured step; all_steps() may be called more than once, or, where the loop is part of a capture, later.
  static void run(const std::shared_ptr<state>& s, const std::function<void()>& all_steps);
  void use_memory(runtime::submission& use) const {
    work->declare(use);
    for (const value& v : carry) use.writes(*v->buffer);
    for (const value& v : arguments) use.writes(*v->buffer);
    for (const value& v : read) use.reads(*v->buffer);
    for (const value& v : written) use.writes(*v->buffer);
  }
  std::vector<ndarray> run_loop(arrays to, arrays xs, const graph::loop_range& over) const;
  void run_loop_while(arrays carry) const;
  void run_while_of_examples(arrays carry, const ndarray& condition) const;
  std::vector<ndarray> run_followed(arrays carry, std::vector<ndarray> scanned, bool reverse) const;
  bool is_known_after(const watching& step, arrays carry, arrays arguments, arrays next, arrays outputs);
  void return_carry(arrays to) const {
    for (std::size_t j = 0; j < to.size(); ++j) *to[j] = wrap(carry[j]);
  }
};

}  // namespace sinter::inline v0::detail
