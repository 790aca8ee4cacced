// A function of one example that runs on many: vmap, as in JAX. Not part of sinter.hpp.
//
//   const auto distance = [](const ndarray& a, const ndarray& b) { return sn::sqrt(sn::sum(sn::square(a - b))); };
//   distance(p, q);                                              // of two points (3,): ()
//   sn::vmap(distance)(ps, qs);                                  // of n pairs (n, 3): (n,)
//   sn::vmap(distance, {.in_axes = {0, std::nullopt}})(ps, q);   // of n points and one: (n,)
//
// The function runs once. Its arguments are arrays with the shape of one example, which stand for all of them; what it
// records is recorded again with one more axis, operation by operation, so the result fuses, is planned and evaluated like
// any expression. What does not depend on the examples is computed once. Products become products of stacks, solvers and
// factorisations take stacks, sorts and scans run along shifted axes; functions of which that is not known run for one
// example after the other (docs/vmap.md has the list).
//
// Such an array has a shape and a dtype, and no elements: a condition, a read on the host, a result whose size depends on
// its elements (unique, x[mask]) throw vmap_error. where and while_loop (loops.hpp) choose for each example.
//
// Elementwise operations and reductions give the bits of a loop over the examples.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/array_tree.hpp"
#include "sinter/keywords.hpp"
#include "sinter/vmap_error.hpp"

namespace sinter::inline v0 {

/// The axis of examples: an axis (negative ones count from the end), none (`std::nullopt`, `_`: the array is the same for
/// all examples), or a list of these for the parts of a structure: `{0, std::nullopt, {1, 0}}`. One axis in the place of a
/// structure is that of all its arrays.
class example_axes {
 public:
  template <int_like T>
  example_axes(T axis) : axis_(extent(axis).value) {}
  example_axes(std::nullopt_t) noexcept {}
  example_axes(none_t) noexcept {}
  example_axes(std::initializer_list<example_axes> list) : list_(list), is_list_(true) {}
  explicit example_axes(std::vector<example_axes> list) : list_(std::move(list)), is_list_(true) {}

  bool is_list() const noexcept { return is_list_; }
  const std::vector<example_axes>& list() const noexcept { return list_; }
  const std::optional<std::int64_t>& axis() const noexcept { return axis_; }

 private:
  std::optional<std::int64_t> axis_;
  std::vector<example_axes> list_;
  bool is_list_ = false;
};

/// `in_axes`: one for all arguments, or a list with one for each. `out_axes`: where the axis of examples is in the results;
/// a result without one must not depend on the example. `axis_size`: the number of examples, which need not be given where
/// an argument has it.
struct vmap_kw {
  kwonly _kw{};
  example_axes in_axes = 0;
  example_axes out_axes = 0;
  std::optional<std::int64_t> axis_size{};
};

namespace detail {

/// One call of a mapped function.
class vmap_call {
 public:
  explicit vmap_call(const std::optional<std::int64_t>& axis_size);
  ~vmap_call();
  vmap_call(const vmap_call&) = delete;
  vmap_call& operator=(const vmap_call&) = delete;
  /// An array of the arguments, which begin() replaces by what stands for one example.
  void add(ndarray& x, const std::optional<std::int64_t>& axis);
  void begin();
  /// After the function: its draws and calls are no longer those of one example.
  void end() noexcept;
  /// An array of one example becomes that of all.
  void finish(ndarray& r, const std::optional<std::int64_t>& axis);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

[[noreturn]] void refuse_example_axes(const char* which, std::size_t given, std::size_t parts);

/// Calls f(array, axis) with each array of a structure and the axis that a list of axes has for it.
template <class T, class F>
void each_array_with_axis(T& x, const example_axes& axes, const char* which, F&& f) {
  if constexpr (std::derived_from<T, ndarray>) {
    const example_axes* one = &axes;
    while (one->is_list() && one->list().size() == 1) one = &one->list()[0];
    if (one->is_list()) refuse_example_axes(which, one->list().size(), 1);
    f(static_cast<ndarray&>(x), one->axis());
  } else if (!axes.is_list()) {
    each_array(x, [&](ndarray& a) { f(a, axes.axis()); });
  } else {
    std::size_t parts = 0;
    each_part(x, [&](auto&) { ++parts; });
    if (parts != axes.list().size()) refuse_example_axes(which, axes.list().size(), parts);
    std::size_t k = 0;
    each_part(x, [&](auto& part) { each_array_with_axis(part, axes.list()[k++], which, f); });
  }
}

}  // namespace detail

/// The function that f is for one example, for all of them: its arguments are structures of arrays (array_tree.hpp) with an
/// axis of examples, and so is its result. Numbers are passed on. Nothing is evaluated unless f calls functions that run at
/// once.
///
/// Draws of random numbers in f are different for each example (example_scope has those of one). Writes in place to
/// arguments do not reach the caller's arrays.
///
/// shape_error: arguments with different numbers of examples; value_error: no argument with an axis and no .axis_size, a
/// list of axes with another number of parts, a result without an axis that depends on the example; index_error: an axis
/// out of range; vmap_error: the elements of an array of one example are needed.
template <class F>
auto vmap(F f, vmap_kw kw = {}) {
  return [f = std::move(f), kw = std::move(kw)](const auto&... arguments) {
    std::tuple<std::decay_t<decltype(arguments)>...> all(arguments...);
    detail::vmap_call call(kw.axis_size);
    detail::each_array_with_axis(all, kw.in_axes, "in_axes",
                                 [&](ndarray& x, const std::optional<std::int64_t>& axis) { call.add(x, axis); });
    call.begin();
    auto result = std::apply(f, std::move(all));
    call.end();
    detail::each_array_with_axis(result, kw.out_axes, "out_axes",
                                 [&](ndarray& r, const std::optional<std::int64_t>& axis) { call.finish(r, axis); });
    return result;
  };
}

/// While it lives, draws of random numbers of this thread are those that vmap makes for example k, so that
///
///   for (k ...) { const example_scope of(k); results.push_back(f(x(k))); }
///
/// draws what vmap(f)(x) draws, generators having the same state before each call of f. Each draw of an example begins at a
/// block of its own, of a stream whose key comes from the generator's state at the draw; examples of one vmap only, not of
/// nested ones. value_error: a negative number.
class example_scope {
 public:
  template <int_like T>
  explicit example_scope(T k) : example_scope(extent(k)) {}
  ~example_scope();
  example_scope(const example_scope&) = delete;
  example_scope& operator=(const example_scope&) = delete;

 private:
  explicit example_scope(extent k);
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace sinter::inline v0
