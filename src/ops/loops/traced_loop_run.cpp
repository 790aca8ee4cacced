// Running the steps of a loop that need not be called: by kernels, as a call with derivatives, or from a captured step.
#include <algorithm>
#include <cstring>
#include <utility>

#include "ops/loops/loop_derivatives.hpp"
#include "ops/loops/traced_loop_state.hpp"
#include "sinter/creation.hpp"
#include "sinter/error.hpp"

namespace sinter::inline v0::detail {

namespace {

/// Steps of a while_loop that a kernel runs at most, first and at all, before the host looks at the condition: compiled code
/// can take over, and the work of a launch is known to this factor.
constexpr std::int64_t first_steps = 256, more_steps = 8, most_steps = std::int64_t{1} << 20;
}  // namespace

void traced_loop::state::run(const std::shared_ptr<state>& s, const std::function<void()>& all_steps) {
  runtime::backend& device = runtime::get_backend({});
  bool is_later = false;
  {
    runtime::submission use(device);
    s->use_memory(use);
    is_later = graph::is_capturing();
    if (is_later) graph::step_session::add_call([s, all_steps] { all_steps(); });
    else all_steps();
  }
  for (const value& v : s->carry) s->pass_faults(v);
  if (!is_later) graph::report_captured_faults(device);
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
  std::vector<block_copy> earlier;  // of the steps that have been called
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
      earlier.push_back({to[j].at(place(static_cast<std::int64_t>(q))), address_of(done), done->bytes()});
      graph::inherit_faults(to[j].leaf, {&done});
      s.read.push_back(done);
    }
  }
  std::vector<block_copy> first_taken, first_given;
  for (std::size_t j = 0; j < from.size(); ++j)
    first_taken.push_back({address_of(s.arguments[j]), from[j].at(place(k)), from[j].bytes});
  for (std::size_t j = 0; j < to.size(); ++j)
    first_given.push_back({to[j].at(place(k)), address_of(s.outputs()[j]), to[j].bytes});
  for (const blocks& b : from) s.read.push_back(b.leaf);
  for (const blocks& b : to) s.written.push_back(b.leaf);
  if (!s.on_host) s.scan_on_gpu(n - k, first_taken, first_given, reverse, earlier);
  else
    state::run(state_, [&s, earlier, first_taken, first_given, k, n, reverse] {
      std::vector<block_copy> taken = first_taken, given = first_given;
      copy_all(earlier);
      for (std::int64_t step = k; step < n; ++step) {
        copy_all(taken);
        step == k ? s.work->run() : s.work->run_again();
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
  if (!s.on_host) s.count_on_gpu(s.steps - k);
  else
    state::run(state_, [&s, k, lower] {
      char* const argument = address_of(s.arguments[0]);
      for (std::int64_t step = k; step < s.steps; ++step) {
        const std::int64_t number = lower + step;
        std::memcpy(argument, &number, sizeof number);
        step == k ? s.work->run() : s.work->run_again();
        s.move_carry();
      }
    });
  s.return_carry(carry);
}

void traced_loop::run_while(arrays carry, const ndarray& condition) {
  state& s = *state_;
  if (s.of_examples) return s.run_while_of_examples(carry, condition);
  if (s.loop) return s.run_loop_while(carry);
  if (!s.on_host) {
    s.repeat_on_gpu();
    return s.return_carry(carry);
  }
  s.read.push_back(in_memory(condition));
  state::run(state_, [&s] {
    const value &first = s.read.back(), &again = s.outputs()[0];
    bool more = false;
    std::memcpy(&more, address_of(first), sizeof more);
    for (bool first = true; more; first = false) {
      first ? s.work->run() : s.work->run_again();
      s.move_carry();
      std::memcpy(&more, address_of(again), sizeof more);
    }
  });
  s.return_carry(carry);
}

}  // namespace sinter::inline v0::detail
