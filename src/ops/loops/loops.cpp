// src/ops/loops: loops over steps that pass arrays on.
#include "sinter/loops.hpp"

#include "core/shape.hpp"
#include "graph/capture/capture.hpp"
#include "graph/run/flush.hpp"
#include "graph/values/trace.hpp"
#include "ops/base/as_now.hpp"
#include "ops/base/axes.hpp"
#include "ops/vmap/example_level.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/search.hpp"

namespace sinter::inline v0::detail {

using namespace ops;

void check_carry(const char* function, std::span<ndarray* const> before, std::span<ndarray* const> after) {
  if (before.size() != after.size())
    fail<value_error>(function, "the carry has ", before.size(), " arrays before the step and ", after.size(),
                      " after it");
  for (std::size_t j = 0; j < before.size(); ++j) {
    const graph::array_view &a = view_of(*before[j], function), &b = view_of(*after[j], function);
    if (a.shape != b.shape)
      fail<shape_error>(function, "array ", j, " of the carry has shape ", a.shape, " before the step and ", b.shape,
                        " after it");
    if (a.type != b.type)
      fail<dtype_error>(function, "array ", j, " of the carry is ", a.type, " before the step and ", b.type,
                        " after it");
  }
}

namespace {

/// Derivatives follow a value through what it was recorded from.
bool is_traced(const value& v) {
  for (const graph::trace* t = graph::trace::innermost(); t; t = t->outer())
    if (t->has(v)) return true;
  return false;
}

}  // namespace

void own_arrays(const char* function, std::span<ndarray* const> arrays) {
  for (ndarray* const a : arrays) *a = as_now(*a, function);
}

void settle_examples(std::span<ndarray* const> arrays) {
  for (ndarray* const a : arrays) {
    const value one = value_of(*a);
    if (!graph::is_example(one)) [[likely]]
      continue;
    if (is_traced(one)) continue;
    example_level* const level = level_scope::level_of(one);
    if (level) *a = wrap(level->settled(one));
  }
}

void check_condition(const ndarray& condition) {
  const graph::array_view& v = view_of(condition, "while_loop");
  if (core::element_count(v.shape) != 1)
    fail<shape_error>("while_loop", "the condition has shape ", v.shape, ", not one element");
  if (v.type != dtype::b1) fail<dtype_error>("while_loop", "the condition is ", v.type, ", not bool");
}

bool goes_on(const ndarray& condition, bool& chosen) {
  check_condition(condition);
  ndarray any_of = condition;
  while (graph::is_example(value_of(any_of))) {
    const value one = value_of(any_of);
    example_level* const level = level_scope::level_of(one);
    if (!level) graph::refuse_example();
    chosen = true;
    any_of = any(wrap(level->all_of(one)));
  }
  return any_of.item<bool>();
}

bool depends_on_example(const ndarray& condition) {
  check_condition(condition);
  return graph::is_example(value_of(condition));
}

void keep_unless(const ndarray& condition, std::span<ndarray* const> before, std::span<ndarray* const> after) {
  const ndarray one = condition.ndim() == 0 ? condition : condition.reshape({});
  for (std::size_t j = 0; j < before.size(); ++j) *after[j] = where(one, *after[j], *before[j]);
}

ndarray step_of_examples(const ndarray& goes_on_now, const ndarray& again, std::span<ndarray* const> before,
                         std::span<ndarray* const> after) {
  check_condition(again);
  keep_unless(goes_on_now, before, after);
  settle_examples(after);
  return logical_and(goes_on_now.reshape({}), again.reshape({}));
}

std::int64_t scan_length(std::span<ndarray* const> xs, const std::optional<std::int64_t>& length) {
  if (length && *length < 0) fail<value_error>("scan", "length (", *length, ") is negative");
  std::optional<std::int64_t> n = length;
  for (const ndarray* const x : xs) {
    const dims& shape = view_of(*x, "scan").shape;
    if (shape.empty()) fail<shape_error>("scan", "an array of shape ", shape, " has no elements to scan over");
    if (n && *n != shape[0])
      fail<shape_error>("scan", "an array of shape ", shape, " has ", shape[0], " elements, and not ", *n,
                        length ? " (length)" : " as the first one");
    n = shape[0];
  }
  if (!n) fail<value_error>("scan", "there is nothing to scan over, and .length is not given");
  return *n;
}

ndarray step_number(std::int64_t k, std::span<ndarray* const> like) {
  const runtime::device_id where = like.empty() ? runtime::default_device() : view_of(*like[0], "fori_loop").device();
  return wrap(graph::record_scalar(scalar_of(k, dtype::i64, "fori_loop"), dtype::i64, dims(), where));
}
ndarray next_number(const ndarray& k) { return k + 1; }

ndarray element_of(const ndarray& x, std::int64_t k) { return x(k); }

ndarray stacked_steps(std::vector<ndarray>& steps) { return stack(steps); }

captured_loop::captured_loop(std::span<ndarray* const> carry, std::int64_t first)
    : number_(step_number(first, carry).copy()) {
  for (ndarray* const a : carry) *a = a->copy();
}

void captured_loop::write(std::span<ndarray* const> carry, std::span<ndarray* const> next) {
  for (std::size_t j = 0; j < carry.size(); ++j) (*carry[j])() = *next[j];
  number_() = number_ + 1;
}

void captured_loop::run(const launch_graph& step, std::int64_t steps, std::span<ndarray* const> carry) {
  for (std::int64_t k = 0; k < steps; ++k) step.launch();
  for (ndarray* const a : carry) *a = a->copy();  // captured arrays are pinned
}

captured_while::captured_while(std::span<ndarray* const> carry, const ndarray& condition) {
  check_condition(condition);
  going_ = condition.reshape({}).copy();
  for (ndarray* const a : carry) *a = a->copy();
}

void captured_while::capture_calls(void (*call)(void*), void* f) {
  graph::capture_session session(runtime::get_backend(view_of(going_, "while_loop").device()).current_stream());
  call(f);
  for (const auto& view : session.deferred()) resolve(*view);
  step_ = session.finish();
}

void captured_while::write(std::span<ndarray* const> carry, std::span<ndarray* const> next, const ndarray& condition) {
  check_condition(condition);
  keep_unless(going_, carry, next);
  const ndarray again = logical_and(going_, condition.reshape({}));
  for (std::size_t j = 0; j < carry.size(); ++j) (*carry[j])() = *next[j];
  going_() = again;
}

void captured_while::run(std::span<ndarray* const> carry) {
  constexpr int steps_between_looks = 8;
  runtime::stream& on = step_->device().current_stream();
  if (step_->device().host_addressable()) {
    while (going_.item<bool>()) step_->launch(on);
  } else if (!step_->launch_while(on, view_of(going_, "while_loop").store)) {
    const auto look = [&] { return going_.to_host(current_stream(going_.device())); };  // on its way
    for (ndarray before = look();;) {
      for (int k = 0; k < steps_between_looks; ++k) step_->launch(on);
      const ndarray now = look();
      if (!before.item<bool>()) break;
      before = now;
    }
  }
  for (ndarray* const a : carry) *a = a->copy();  // captured arrays are pinned
}

void refuse_condition() {
  fail<value_error>("while_loop", "a captured step is called once: the condition has to be an array");
}

void refuse_numbers(const char* function) {
  fail<value_error>(function, "a captured step is called once: the carry cannot have numbers of the host");
}

}  // namespace sinter::inline v0::detail
