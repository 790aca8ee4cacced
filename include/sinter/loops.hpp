// Loops over steps that pass arrays on: scan, fori_loop and while_loop, with the names and the meaning of jax.lax.
// Not part of sinter.hpp.
//
//   auto [h, all] = sn::scan([&](const ndarray& h, const ndarray& x) {
//     const ndarray next = sn::tanh(sn::matmul(w, h) + x);
//     return std::pair(next, next);
//   }, h0, xs);                                    // h: the last state, all: one for each of xs
//
// What is passed on, the carry, is a structure of arrays (array_tree.hpp), whose shapes and dtypes the steps keep; the
// numbers in it are the host's. A step gets arrays of its own: what it writes to them changes neither the caller's arrays nor
// what an earlier step has given. A step is an ordinary function. Small steps are called a few times, as JAX traces them
// once: where two calls in a row record the same, the steps that follow are run without being called (docs/vmap.md has the
// conditions; .call_each turns it off), as one kernel where elements can go through all steps by themselves. On the CPU such
// a loop is done when it returns; a GPU goes from step to step by itself, also by the condition of a while_loop, and the host
// waits only where steps may find errors in data. In all other cases the function is called for each step: what it records is
// fused as in any loop, repeated steps of elementwise operations become a loop in a kernel (docs/design.md), and nothing
// waits for the device except the condition of while_loop. Derivatives and vmap go through loops as through what their steps
// record.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/array_tree.hpp"
#include "sinter/graph.hpp"
#include "sinter/keywords.hpp"
#include "sinter/traced_loop.hpp"
#include "sinter/vmap.hpp"

namespace sinter::inline v0 {

/// Keywords of fori_loop. `capture`: the step is called once and captured (graph.hpp), and the captured work is launched
/// for each step, so that the host neither records nor plans it again. For steps of several kernels, on a GPU. What a graph
/// cannot hold throws device_error; draws of random numbers in the step are the same in each launch, and other effects of the
/// function happen once. `call_each`: the step is called for each step, also where it need not be.
struct loop_kw {
  kwonly _kw{};
  bool capture = false;
  bool call_each = false;
};
/// Keywords of while_loop. `capture`: as loop_kw's; the condition, which has to be an array, is captured with the step. Where the driver
/// has graphs with a condition (CUDA 12.4), a launch is the whole loop, and the host waits for nothing; else it launches eight steps at a
/// time, looks at what the condition was before the last eight, and steps that follow the end change nothing. `call_each`:
/// the step and the condition are called for each step.
struct while_loop_kw {
  kwonly _kw{};
  bool capture = false;
  bool call_each = false;
};
/// Keywords of scan. `length`: the number of steps where there is nothing to scan over; else it must agree. `reverse`: from
/// the last element to the first; outputs stay in the places of what they were computed from. `call_each` as in loop_kw.
struct scan_loop_kw {
  kwonly _kw{};
  std::optional<std::int64_t> length{};
  bool reverse = false;
  bool call_each = false;
};

namespace detail {

/// A structure as it is passed on: arrays, not views that remember what they are views of.
template <class T>
struct carried_type {
  using type = std::conditional_t<std::derived_from<T, ndarray>, ndarray, T>;
};
template <class... T>
struct carried_type<std::tuple<T...>> {
  using type = std::tuple<typename carried_type<T>::type...>;
};
template <class A, class B>
struct carried_type<std::pair<A, B>> {
  using type = std::pair<typename carried_type<A>::type, typename carried_type<B>::type>;
};
template <class T>
using carried = typename carried_type<std::decay_t<T>>::type;

template <class T>
std::vector<ndarray*> array_list(T& x) {
  std::vector<ndarray*> all;
  each_array(x, [&](ndarray& a) { all.push_back(&a); });
  return all;
}

/// shape_error, dtype_error: a step has changed the carry. value_error: it has another number of arrays.
void check_carry(const char* function, std::span<ndarray* const> before, std::span<ndarray* const> after);
/// Each array becomes one of its own with the same elements: what a step writes to its arguments, or to a name that it has
/// returned, does not change the caller's arrays or what another step has given.
void own_arrays(const char* function, std::span<ndarray* const> arrays);
/// Within a vmap: arrays that depend on the example become arrays of one example that are computed for all of them, so that
/// loops of many steps stay bounded.
void settle_examples(std::span<ndarray* const> arrays);
/// Whether the loop goes on: the element of `condition`, or, where that depends on the example of a vmap, whether it is true
/// for any of them; then `chosen` becomes true, and the step must leave the carry of the others as it is.
/// shape_error: not one element; dtype_error: not bool.
bool goes_on(const ndarray& condition, bool& chosen);
/// shape_error, dtype_error: not one bool.
void check_condition(const ndarray& condition);
/// Of a condition that is not read. Errors as of check_condition.
bool depends_on_example(const ndarray& condition);
/// After a step of which some examples of a vmap are exempt.
void keep_unless(const ndarray& condition, std::span<ndarray* const> before, std::span<ndarray* const> after);
/// The same, and the condition after the step: whether it holds still, given what it is for `after` as the step has given it.
ndarray step_of_examples(const ndarray& goes_on_now, const ndarray& again, std::span<ndarray* const> before,
                         std::span<ndarray* const> after);
/// The number of steps of a scan over arrays along their first axes.
std::int64_t scan_length(std::span<ndarray* const> xs, const std::optional<std::int64_t>& length);
ndarray step_number(std::int64_t k, std::span<ndarray* const> like);
ndarray next_number(const ndarray& k);
/// Element k along the first axis; a view.
ndarray element_of(const ndarray& x, std::int64_t k);
/// Arrays of one shape along a new first axis.
ndarray stacked_steps(std::vector<ndarray>& steps);

/// Launches captured steps.
class captured_loop {
 public:
  /// New arrays with the elements of the carry, which the step reads and writes.
  captured_loop(std::span<ndarray* const> carry, std::int64_t first);
  const ndarray& number() const noexcept { return number_; }
  /// Within the capture: the results of a step become the carry.
  void write(std::span<ndarray* const> carry, std::span<ndarray* const> next);
  void run(const launch_graph& step, std::int64_t steps, std::span<ndarray* const> carry);

 private:
  ndarray number_;
};

/// value_error: a captured loop has a condition that is no array.
[[noreturn]] void refuse_condition();

/// Runs captured steps for as long as a condition holds.
class captured_while {
 public:
  /// New arrays with the elements of the carry, which the step reads and writes. shape_error, dtype_error: no condition.
  captured_while(std::span<ndarray* const> carry, const ndarray& condition);
  template <class F>
  void capture(F&& f) {
    capture_calls([](void* g) { (*static_cast<std::remove_reference_t<F>*>(g))(); }, &f);
  }
  /// Within the capture: the results of a step become the carry, unless the loop has ended.
  void write(std::span<ndarray* const> carry, std::span<ndarray* const> next, const ndarray& condition);
  void run(std::span<ndarray* const> carry);

 private:
  void capture_calls(void (*call)(void*), void* f);
  ndarray going_;  // bool, of shape ()
  std::shared_ptr<graph::replay> step_;
};

[[noreturn]] void refuse_numbers(const char* function);
template <class T>
void refuse_numbers_in(const char* function, T& x) {
  if constexpr (!std::derived_from<T, ndarray>) {
    if constexpr (no_array<T>) refuse_numbers(function);
    else each_part(x, [&](auto& part) { refuse_numbers_in(function, part); });
  }
}

/// Whether a structure has numbers of the host, which a step may change without an array being recorded.
template <class T>
constexpr bool has_numbers([[maybe_unused]] T& x) {
  if constexpr (std::derived_from<T, ndarray> || std::is_empty_v<T>) {
    return false;
  } else if constexpr (no_array<T>) {
    return true;
  } else {
    bool any = false;
    each_part(x, [&](auto& part) { any = any || has_numbers(part); });
    return any;
  }
}

template <class Carry>
step_kind kind_of_step(bool call_each, Carry& carry) {
  return call_each || has_numbers(carry) ? step_kind::called : step_kind::unknown;
}

template <class Body, class Carry>
Carry captured_steps(std::int64_t lower, std::int64_t upper, Body& body, Carry carry) {
  refuse_numbers_in("fori_loop", carry);
  captured_loop loop(array_list(carry), lower);
  const launch_graph step = capture([&] {
    Carry next = body(loop.number(), std::as_const(carry));
    check_carry("fori_loop", array_list(carry), array_list(next));
    loop.write(array_list(carry), array_list(next));
  });
  loop.run(step, upper - lower, array_list(carry));
  return carry;
}

template <class Condition, class Body, class Carry>
Carry captured_while_steps(Condition& condition, Body& body, Carry carry) {
  refuse_numbers_in("while_loop", carry);
  captured_while loop(array_list(carry), condition(std::as_const(carry)));
  loop.capture([&] {
    Carry next = body(std::as_const(carry));
    check_carry("while_loop", array_list(carry), array_list(next));
    loop.write(array_list(carry), array_list(next), condition(std::as_const(next)));
  });
  loop.run(array_list(carry));
  return carry;
}

/// while_loop whose condition is an array.
template <class Condition, class Body, class Carry>
Carry while_array(Condition& condition, Body& body, Carry carry, const while_loop_kw& kw) {
  traced_loop loop("while_loop", -1, kind_of_step(kw.call_each, carry));
  own_arrays("while_loop", array_list(carry));
  ndarray goes_on_now = condition(std::as_const(carry));
  for (std::int64_t k = 0, first_chosen = -1;; ++k) {
    bool chosen = false;
    if (loop.is_captured_at_once()) chosen = depends_on_example(goes_on_now);
    else if (!goes_on(goes_on_now, chosen)) return carry;
    if (chosen && first_chosen < 0) loop.watch_examples(first_chosen = k);
    const bool watched = !chosen || loop.watches_examples();
    const bool captured = watched && loop.capture(k, array_list(carry), {}, [&] {
      Carry next = body(std::as_const(carry));
      ndarray again = condition(std::as_const(next));
      ndarray* const output[] = {&again};
      loop.give(array_list(next), output);
    });
    if (captured) {
      loop.run_while(array_list(carry), goes_on_now);
      return carry;
    }
    chosen = chosen || loop.watches_examples();
    if (watched) loop.before_call(k, array_list(carry), {});
    Carry next = body(std::as_const(carry));
    check_carry("while_loop", array_list(carry), array_list(next));
    if (chosen && loop.is_watching()) {
      ndarray again = condition(std::as_const(next));
      ndarray* const output[] = {&again};
      loop.after_call(array_list(carry), {}, array_list(next), output);
      goes_on_now = step_of_examples(goes_on_now, again, array_list(carry), array_list(next));
    } else {
      if (chosen) keep_unless(goes_on_now, array_list(carry), array_list(next));
      settle_examples(array_list(next));
      goes_on_now = condition(std::as_const(next));
      ndarray* const output[] = {&goes_on_now};
      if (!chosen) loop.after_call(array_list(carry), {}, array_list(next), output);
    }
    own_arrays("while_loop", array_list(next));
    carry = std::move(next);
  }
}

/// Appends the arrays of a step's output to the lists of all steps.
inline void append(std::vector<std::vector<ndarray>>& all, std::span<ndarray* const> outputs) {
  if (all.empty()) all.resize(outputs.size());
  for (std::size_t j = 0; j < outputs.size(); ++j) all[j].push_back(*outputs[j]);
}

}  // namespace detail

/// carry = body(i, carry) for i from `lower` to below `upper`, and returns the last one; `i` is an int64 array of rank 0, so
/// that the steps are the same. shape_error, dtype_error: body changes a shape or a dtype.
template <class Body, class Carry>
detail::carried<Carry> fori_loop(std::int64_t lower, std::int64_t upper, Body&& body, Carry&& init,
                                 const loop_kw& kw = {}) {
  detail::carried<Carry> carry(std::forward<Carry>(init));
  if (upper <= lower) return carry;
  if (kw.capture) return detail::captured_steps(lower, upper, body, std::move(carry));
  detail::own_arrays("fori_loop", detail::array_list(carry));
  ndarray i = detail::step_number(lower, detail::array_list(carry));
  ndarray* const number[] = {&i};
  detail::traced_loop loop("fori_loop", upper - lower, detail::kind_of_step(kw.call_each, carry));
  for (std::int64_t k = 0; k < upper - lower; ++k) {
    const bool captured = loop.capture(k, detail::array_list(carry), number, [&] {
      detail::carried<Carry> next = body(std::as_const(i), std::as_const(carry));
      loop.give(detail::array_list(next), {});
    });
    if (captured) {
      loop.run_numbers(k, lower, detail::array_list(carry));
      break;
    }
    const ndarray now = i;
    detail::own_arrays("fori_loop", number);
    loop.before_call(k, detail::array_list(carry), number);
    detail::carried<Carry> next = body(std::as_const(i), std::as_const(carry));
    detail::check_carry("fori_loop", detail::array_list(carry), detail::array_list(next));
    loop.after_call(detail::array_list(carry), number, detail::array_list(next), {});
    detail::settle_examples(detail::array_list(next));
    detail::own_arrays("fori_loop", detail::array_list(next));
    carry = std::move(next);
    i = detail::next_number(now);
  }
  return carry;
}

/// carry = body(carry) while condition(carry), an array of one bool or a bool, and returns the last one. Each condition that
/// is an array waits for the device. In a vmap over examples that differ in their conditions, the steps run as long as any
/// goes on, and leave the others' carry as it is. shape_error, dtype_error: body changes a shape or a dtype, or the
/// condition is not one bool.
template <class Condition, class Body, class Carry>
detail::carried<Carry> while_loop(Condition&& condition, Body&& body, Carry&& init, const while_loop_kw& kw = {}) {
  detail::carried<Carry> carry(std::forward<Carry>(init));
  using condition_type = std::decay_t<decltype(condition(std::as_const(carry)))>;
  if constexpr (std::derived_from<condition_type, ndarray>) {
    if (kw.capture) return detail::captured_while_steps(condition, body, std::move(carry));
    return detail::while_array(condition, body, std::move(carry), kw);
  } else {
    if (kw.capture) detail::refuse_condition();
    detail::own_arrays("while_loop", detail::array_list(carry));
    while (condition(std::as_const(carry))) {
      detail::carried<Carry> next = body(std::as_const(carry));
      detail::check_carry("while_loop", detail::array_list(carry), detail::array_list(next));
      detail::settle_examples(detail::array_list(next));
      detail::own_arrays("while_loop", detail::array_list(next));
      carry = std::move(next);
    }
    return carry;
  }
}

/// (carry, y) = f(carry, x) for each element x of `xs` along the first axes of its arrays, and returns the last carry and all
/// y, stacked along new first axes. xs is a structure of arrays with one number of elements, or `_` with .length; f gives a
/// pair or tuple of carry and output, which may be `_`. shape_error: arrays of xs with different numbers of elements, or a
/// rank of 0, a carry or an output whose shapes change; dtype_error; value_error: no .length.
template <class F, class Carry, class Xs>
auto scan(F&& f, Carry&& init, Xs xs, const scan_loop_kw& kw = {}) {
  detail::carried<Carry> carry(std::forward<Carry>(init));
  const std::vector<ndarray*> all = detail::array_list(xs);
  const std::int64_t n = detail::scan_length(all, kw.length);
  detail::own_arrays("scan", all);
  detail::own_arrays("scan", detail::array_list(carry));
  using step_type = std::decay_t<decltype(f(std::as_const(carry), std::as_const(xs)))>;
  using output_type = detail::carried<std::tuple_element_t<1, step_type>>;
  if (n == 0) {  // the shapes of outputs are those of examples that there are none of
    vmap_kw none;
    none.axis_size = 0;
    const auto outputs = [&](const Xs& x) { return output_type(std::get<1>(f(std::as_const(carry), x))); };
    output_type ys = vmap(outputs, none)(xs);
    return std::pair<detail::carried<Carry>, output_type>(std::move(carry), std::move(ys));
  }
  using carry_type = detail::carried<Carry>;
  const auto call = [&f](const carry_type& c, const Xs& x) {
    step_type step = f(c, x);
    return std::pair<carry_type, output_type>(std::move(std::get<0>(step)), std::move(std::get<1>(step)));
  };
  std::vector<std::vector<ndarray>> lists;
  std::optional<output_type> last;
  detail::traced_loop loop("scan", n, detail::kind_of_step(kw.call_each, carry));
  for (std::int64_t k = 0; k < n; ++k) {
    Xs x = xs;
    for (ndarray* const a : detail::array_list(x)) *a = detail::element_of(*a, kw.reverse ? n - 1 - k : k);
    const bool captured =
        last && !detail::has_numbers(*last) && loop.capture(k, detail::array_list(carry), detail::array_list(x), [&] {
          std::pair<carry_type, output_type> step = call(carry, x);
          loop.give(detail::array_list(step.first), detail::array_list(step.second));
        });
    if (captured) {
      std::vector<ndarray> ys = loop.run_scan(k, detail::array_list(carry), all, kw.reverse, lists);
      std::size_t j = 0;
      for (ndarray* const y : detail::array_list(*last)) *y = std::move(ys[j++]);
      return std::pair<carry_type, output_type>(std::move(carry), std::move(*last));
    }
    loop.before_call(k, detail::array_list(carry), detail::array_list(x));
    std::pair<carry_type, output_type> step = call(carry, x);
    detail::check_carry("scan", detail::array_list(carry), detail::array_list(step.first));
    loop.after_call(detail::array_list(carry), detail::array_list(x), detail::array_list(step.first),
                    detail::array_list(step.second));
    detail::settle_examples(detail::array_list(step.first));
    detail::own_arrays("scan", detail::array_list(step.first));
    detail::own_arrays("scan", detail::array_list(step.second));
    carry = std::move(step.first);
    last.emplace(std::move(step.second));
    detail::append(lists, detail::array_list(*last));
  }
  std::size_t j = 0;
  for (ndarray* const y : detail::array_list(*last)) {
    if (kw.reverse) std::reverse(lists[j].begin(), lists[j].end());
    *y = detail::stacked_steps(lists[j++]);
  }
  return std::pair<detail::carried<Carry>, output_type>(std::move(carry), std::move(*last));
}

}  // namespace sinter::inline v0
