// A while_loop in a vmap whose condition depends on the example: a loop of all examples that goes on for as long as any of
// them does, and changes those only whose own condition holds.
#include <utility>

#include "ops/loops/traced_loop_state.hpp"
#include "ops/vmap/example_level.hpp"
#include "ops/vmap/own_calls.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/loops.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0::detail {

namespace {

using list = std::vector<ndarray>;

/// A step of all examples.
class step_of_all {
 public:
  step_of_all(const step_function& one, example_level& level, std::size_t carried)
      : one_(one), count_(level.count()), carried_(carried), mapped_(carried, true) {
    for (const value& v : one.constants()) {
      const value all = level.all_of(v);
      mapped_.push_back(static_cast<bool>(all));
      constants_.push_back(wrap(all ? all : v));
    }
  }

  /// The carry and whether each example goes on -> the same after a step.
  list operator()(const list& now) const {
    const ndarray& going = now[carried_];
    list operands(now.begin(), now.end() - 1);
    operands.insert(operands.end(), constants_.begin(), constants_.end());
    list next = on_examples(
        count_,
        [&](const list& ones) {
          const std::span<const ndarray> all(ones);
          return one_(all.first(carried_), all.subspan(carried_));
        },
        operands, mapped_);
    for (std::size_t j = 0; j < carried_; ++j) next[j] = where(beside(going, now[j]), next[j], now[j]);
    next[carried_] = logical_and(going, next[carried_].reshape({count_}));
    return next;
  }

 private:
  static ndarray beside(const ndarray& going, const ndarray& x) {
    std::vector<std::int64_t> shape(static_cast<std::size_t>(x.ndim()), 1);
    shape[0] = going.size();
    return going.reshape(shape_t(shape));
  }

  const step_function& one_;
  const std::int64_t count_;
  const std::size_t carried_;
  std::vector<bool> mapped_;
  list constants_;
};

/// while_loop of a step that records the same each time and does nothing besides. Of the examples of another map it is one
/// whose condition depends on these.
list run_while_any(const step_of_all& step, list now) {
  const auto goes_on_after = [](const list& all) { return any(all.back()); };
  ndarray again = goes_on_after(now);
  if (graph::is_example(value_of(again))) {
    const auto body = [&](const list& all) { return step(all); };
    return while_array(goes_on_after, body, std::move(now), {});
  }
  traced_loop loop("while_loop", -1, step_kind::pure);
  for (std::int64_t k = 0;; ++k) {
    bool chosen = false;
    if (!loop.is_captured_at_once() && !goes_on(again, chosen)) return now;
    const bool captured = loop.capture(k, array_list(now), {}, [&] {
      list next = step(now);
      ndarray more = goes_on_after(next);
      ndarray* const output[] = {&more};
      loop.give(array_list(next), output);
    });
    if (captured) {
      loop.run_while(array_list(now), again);
      return now;
    }
    loop.before_call(k, array_list(now), {});
    list next = step(now);
    again = goes_on_after(next);
    ndarray* const output[] = {&again};
    loop.after_call(array_list(now), {}, array_list(next), output);
    own_arrays("while_loop", array_list(next));
    now = std::move(next);
  }
}

}  // namespace

void traced_loop::state::run_while_of_examples(arrays carry, const ndarray& condition) const {
  std::vector<value> read(for_derivatives->constants().begin(), for_derivatives->constants().end());
  for (const ndarray* const a : carry) read.push_back(value_of(*a));
  read.push_back(value_of(condition));
  example_level& level = level_scope::level_of_any(read);
  const step_of_all step(*for_derivatives, level, carry.size());
  list now;
  for (const ndarray* const a : carry) now.push_back(wrap(level.all_or_repeated(value_of(*a))));
  now.push_back(wrap(level.all_or_repeated(value_of(condition))).reshape({level.count()}));
  const list last = run_while_any(step, std::move(now));
  for (std::size_t j = 0; j < carry.size(); ++j) *carry[j] = wrap(level.enter(value_of(last[j])));
}

}  // namespace sinter::inline v0::detail
