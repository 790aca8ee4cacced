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

/// On a GPU derivatives do not follow the calls of a step as those of one loop: the bits of a product may depend on the memory
/// that its operands have when it is announced. In a capture calls of constants are followed as well: what they give has no
/// elements to compare.
class step_listener : public trace_interceptor {
 public:
  step_listener(graph::trace& t, bool is_followed) noexcept
      : trace_interceptor(t, is_followed), host_only_(is_followed) {}
  bool takes(const ndarray& x) const override {
    const bool on_host = x.device().kind == device_kind::cpu;
    if (!on_host && host_only_) return false;
    return (on_host && graph::is_capturing()) || trace_interceptor::takes(x);
  }

 private:
  const bool host_only_;
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
  bool same = false, at_once = false, small = true, on_host = true, on_one_device = true;
  std::optional<runtime::device_id> where;  // of the carry
  bool of_examples = false;                 // a while_loop whose condition depends on the example of a vmap
  bool gives_examples = false;
  bool is_capturable = false;
  bool calls_others = false;  // a step calls more than products
  std::vector<value> first;   // the carry before the first step, from which known steps are run
  std::unique_ptr<graph::step_loop> loop;
  bool is_followed = false;                              // by derivatives
  std::shared_ptr<const step_function> for_derivatives;  // or for a vmap

  std::vector<value> carry, arguments;  // what the captured step takes
  graph::step_session* session = nullptr;
  std::unique_ptr<graph::step_work> work;
  std::vector<value> read, written;  // by the loop, besides what its step uses
  std::vector<block_copy> set_aside, moves;
  std::vector<char> aside;
  std::shared_ptr<runtime::buffer> room, aside_of_gpu;  // of one that runs the steps by itself

  /// Bytes of what a captured step takes and gives, at most. Larger steps cost the device more than the host.
  static constexpr std::size_t small_step = std::size_t{256} << 10, small_step_of_gpu = std::size_t{4} << 20;

  bool suits(arrays all) {
    std::size_t bytes = 0;
    for (const ndarray* const a : all) {
      const value v = value_of(*a, function);
      if ((graph::is_example(v) && steps < 0 && !of_examples) || is_on_mesh(v) || v->opaque) return false;
      bytes += v->bytes();
      if (!where) where = v->device;
      on_one_device = on_one_device && *where == v->device;
      on_host = on_host && is_on_host(v);
    }
    small = small && on_one_device && bytes <= (on_host ? small_step : small_step_of_gpu);
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
  bool suits_gpu(const watching& step);
  /// Whether the GPU of the carry can run the captured step by itself.
  bool runs_on_gpu() const;
  /// What it copies after each step: the carry, and what `given` says of the outputs, one after the other.
  runtime::step_sequence copies_of_gpu(const std::vector<runtime::step_copy>& given);
  /// The steps of a scan, a fori_loop and a while_loop from the captured one on. `taken`, `given`: by the first one;
  /// `before`: copies to be made first.
  void scan_on_gpu(std::int64_t steps, const std::vector<block_copy>& taken, const std::vector<block_copy>& given,
                   bool reverse, const std::vector<block_copy>& before);
  void count_on_gpu(std::int64_t steps);
  void repeat_on_gpu();
  /// Enqueues all steps there, after these copies.
  void run_on_gpu(const runtime::step_sequence& all, const std::vector<block_copy>& before);
  /// Runs the captured step; all_steps() may be called more than once, or, where the loop is part of a capture, later.
  static void run(const std::shared_ptr<state>& s, const std::function<void()>& all_steps);
  void use_memory(runtime::submission& use) const {
    work->declare(use);
    for (const value& v : carry) use.writes(*v->buffer);
    for (const value& v : arguments) use.writes(*v->buffer);
    for (const value& v : read) use.reads(*v->buffer);
    for (const value& v : written) use.writes(*v->buffer);
    for (const auto& memory : {room, aside_of_gpu})
      if (memory) use.writes(*memory);
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
