// Derivatives of functions of arrays. Not part of sinter.hpp.
//
// A function is called once on its arguments, and what it records of them is differentiated: there is no tape of the
// user's, control flow is ordinary C++, and derivatives are recorded values like any others: evaluated when they are
// needed, fused, explained, captured, differentiated again.
//
// Arguments and results are arrays, numbers, and std::pair, tuple, array, vector, map and optional of them, and structs of
// the user's for which argument-dependent lookup finds
//
//   template <class Visit> void arrays_of(params& p, Visit visit) { visit(p.weights); visit(p.bias); }
//
// A gradient has the type of the argument that it belongs to, with a derivative in place of each array. Functions must
// have no effects but what they return: arrays of the caller's that they write to hold traced values afterwards.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/creation.hpp"
#include "sinter/derivative_error.hpp"
#include "sinter/grad_arguments.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

struct grad_kw {
  kwonly _kw{};
  std::vector<int> argnums{};  // of grad and value_and_grad: with it gradients are a std::vector, one for each
  bool holomorphic = false;    // of a holomorphic function, whose value is complex; else the value is real
};

/// Which arguments, by their positions from 0: `grad(f, argnums<0, 2>)` gives a tuple of gradients.
template <int... I>
struct argnums_t {};
template <int... I>
inline constexpr argnums_t<I...> argnums{};

namespace detail {

using list_step = std::function<std::vector<ndarray>(const std::vector<ndarray>&, const std::vector<ndarray>&,
                                                     const std::vector<ndarray>&)>;
/// Where a function is called, as a default argument (std::source_location is not in every compiler).
struct call_site {
  const char* file = "";
  int line = 0;
  static constexpr call_site current(const char* of = __builtin_FILE(), int at = __builtin_LINE()) noexcept {
    return {of, at};
  }
};
/// The public function, and where it was called.
struct derivative_call {
  const char* function;
  call_site where;
};
struct pull_back_state;
std::shared_ptr<const pull_back_state> trace_of(const derivative_call& call, const list_function& f,
                                                const std::vector<ndarray>& x);
const std::vector<ndarray>& results_of_trace(const pull_back_state& s);
std::vector<ndarray> pull_back(const pull_back_state& s, const std::vector<ndarray>& cotangents);
std::vector<ndarray> gradient_of(const pull_back_state& s, bool holomorphic);
struct pushed {
  std::vector<ndarray> values, tangents;
};
pushed push_forward(const derivative_call& call, const list_function& f, const std::vector<ndarray>& x,
                    const std::vector<ndarray>& tangents);
enum class direction { either, forward, backward };
std::vector<ndarray> jacobian_of(const derivative_call& call, const list_function& f, const std::vector<ndarray>& x,
                                 direction how, bool holomorphic);
std::vector<ndarray> call_with_derivatives(const char* name, const list_function& f, const std::vector<ndarray>& x,
                                           const list_step& forward, const list_step& backward);
std::vector<ndarray> call_again_for_derivatives(const list_function& f, const std::vector<ndarray>& x);

/// f's result and the gradients of its value.
template <class R, class G>
struct value_with_gradient {
  R value;
  G gradient;
};

template <class F, class Chosen, class... A>
auto value_and_gradient(const derivative_call& call, const F& f, const Chosen& chosen, bool holomorphic,
                        const A&... a) {
  auto args = arguments_of<F>(a...);
  using args_type = decltype(args);
  using result_type = result_of<F, args_type>;
  std::optional<result_type> kept;
  const list_function value = as_list_function<true>(f, args, chosen, kept);
  static_assert(is_array_v<result_type> || has_aux<result_type>::value,
                "sinter: a gradient is that of a function that returns an array, or a std::pair of an array and aux");
  const auto state = trace_of(call, value, chosen_arrays(args, chosen));
  const std::vector<ndarray> g = gradient_of(*state, holomorphic);
  auto members = with_all_arrays(members_of(chosen, args), g);
  return value_with_gradient<result_type, decltype(members)>{std::move(*kept), std::move(members)};
}

}  // namespace detail

// ---- Gradients

/// The function whose value is the gradient of f, which returns a real number (an array of shape ()), with respect to its
/// first argument, or those of `argnums<...>` (a tuple where they are several). A function that returns std::pair(value,
/// aux) gives std::pair(gradient, aux). Complex arguments have the gradient that JAX defines, df/dx - i df/dy.
///
/// dtype_error: an argument that is not of floating-point or complex numbers, a complex value without .holomorphic;
/// shape_error: a value that has axes; derivative_error: an operation that has no derivative. They name the call of grad.
template <class F, int... I>
auto grad(F f, argnums_t<I...>, const grad_kw& kw = {}, detail::call_site where = detail::call_site::current()) {
  return [ f = std::move(f), holomorphic = kw.holomorphic,
           where ]<class... A>(const A&... a) requires detail::takes_arguments<F, A...> {
    auto found = detail::value_and_gradient({"grad", where}, f, detail::chosen_members<I...>{}, holomorphic, a...);
    auto gradient = detail::alone_or_tuple(std::move(found.gradient));
    if constexpr (detail::has_aux<decltype(found.value)>::value)
      return std::make_pair(std::move(gradient), std::move(found.value.second));
    else return gradient;
  };
}
template <class F>
auto grad(F f, detail::call_site where = detail::call_site::current()) {
  return grad(std::move(f), argnums<0>, grad_kw{}, where);
}

/// The value of f and its gradient: std::pair(value, gradient). As grad; with aux std::pair(std::pair(value, aux),
/// gradient).
template <class F, int... I>
auto value_and_grad(F f, argnums_t<I...>, const grad_kw& kw = {},
                    detail::call_site where = detail::call_site::current()) {
  return [ f = std::move(f), holomorphic = kw.holomorphic,
           where ]<class... A>(const A&... a) requires detail::takes_arguments<F, A...> {
    auto found =
        detail::value_and_gradient({"value_and_grad", where}, f, detail::chosen_members<I...>{}, holomorphic, a...);
    return std::make_pair(std::move(found.value), detail::alone_or_tuple(std::move(found.gradient)));
  };
}
template <class F>
auto value_and_grad(F f, detail::call_site where = detail::call_site::current()) {
  return value_and_grad(std::move(f), argnums<0>, grad_kw{}, where);
}

namespace detail {

std::pair<ndarray, std::vector<ndarray>> value_and_gradients_of(const derivative_call& call, const list_function& f,
                                                                const std::vector<ndarray>& x, const grad_kw& kw);
/// f is a function of arrays; those whose numbers are in kw are differentiated, the others constant.
template <class F, class... A>
auto value_and_gradients(const derivative_call& call, const F& f, const grad_kw& kw, const A&... a) {
  const list_function list = [&f]<std::size_t... I>(std::index_sequence<I...>) {
    return [&f](const std::vector<ndarray>& x) { return std::vector<ndarray>{f(x[I]...)}; };
  }
  (std::index_sequence_for<A...>());
  return value_and_gradients_of(call, list, {ndarray(argument(a))...}, kw);
}

}  // namespace detail

/// The same with argument numbers as a keyword, `grad(f, {.argnums = {0, 2}})`: all arguments are arrays, and the
/// gradients a std::vector. Without argnums the first argument. index_error: no argument has the number.
template <class F>
auto grad(F f, const grad_kw& kw, detail::call_site where = detail::call_site::current()) {
  return [f = std::move(f), kw, where](const auto&... a) {
    return detail::value_and_gradients({"grad", where}, f, kw, a...).second;
  };
}
template <class F>
auto value_and_grad(F f, const grad_kw& kw, detail::call_site where = detail::call_site::current()) {
  return [f = std::move(f), kw, where](const auto&... a) {
    return detail::value_and_gradients({"value_and_grad", where}, f, kw, a...);
  };
}

// ---- Both directions

/// The pull-back of a call: from cotangents of the result, of its type, to those of the arguments: by itself for one
/// argument, a tuple for several. It may be called many times, and keeps what the call recorded alive.
template <class Result, class Args>
class pull_back_function {
 public:
  pull_back_function(std::shared_ptr<const detail::pull_back_state> state, Args args)
      : state_(std::move(state)), args_(std::move(args)) {}
  /// shape_error: a cotangent whose shape or dtype is not that of the result.
  auto operator()(Result cotangents) const {
    const std::vector<ndarray> g = detail::pull_back(*state_, detail::arrays_in(cotangents));
    return detail::alone_or_tuple(detail::with_all_arrays(args_, g));
  }

 private:
  std::shared_ptr<const detail::pull_back_state> state_;
  Args args_;
};

namespace detail {
template <class F, class... A>
auto pull_back_of(const derivative_call& call, const F& f, const A&... a) {
  auto args = arguments_of<F>(a...);
  using args_type = decltype(args);
  static_assert(!has_floating_numbers<args_type>::value,
                "sinter: the function takes an argument as a number; a derivative with respect to it needs an array");
  using result_type = result_of<F, args_type>;
  std::optional<result_type> kept;
  auto state = trace_of(call, as_list_function(f, args, all_members{}, kept), chosen_arrays(args, all_members{}));
  return std::make_pair(std::move(*kept),
                        pull_back_function<result_type, args_type>(std::move(state), std::move(args)));
}
}  // namespace detail

/// std::pair(f(a...), pull-back): `auto [y, back] = vjp(f, x); auto gx = back(gy);`. Errors as of grad, but results may
/// have any shape.
template <class F, class... A>
auto vjp(const F& f, const A&... a) {
  return detail::pull_back_of({"vjp", detail::call_site()}, f, a...);
}

/// std::pair(f(x...), its tangent) for tangents of the arguments: `jvp(f, x, dx)`, `jvp(f, std::tuple{x, y}, std::tuple{dx,
/// dy})`. Forward mode: one pass, whatever the number of results. shape_error: a tangent that is not like its argument.
template <class F, class... A>
auto jvp(const F& f, const std::tuple<A...>& x, const std::tuple<A...>& tangents,
         detail::call_site where = detail::call_site::current()) {
  auto args = std::apply([](const A&... a) { return detail::arguments_of<F>(a...); }, x);
  auto directions = std::apply([](const A&... t) { return std::make_tuple(detail::argument(t)...); }, tangents);
  using result_type = detail::result_of<F, decltype(args)>;
  static_assert(!detail::has_floating_numbers<decltype(args)>::value,
                "sinter: the function takes an argument as a number; a derivative with respect to it needs an array");
  std::optional<result_type> kept;
  const detail::pushed both = detail::push_forward(
      {"jvp", where}, detail::as_list_function(f, args, detail::all_members{}, kept),
      detail::chosen_arrays(args, detail::all_members{}), detail::chosen_arrays(directions, detail::all_members{}));
  std::size_t at = 0;
  result_type tangent = detail::with_arrays(*kept, both.tangents, at);
  return std::make_pair(std::move(*kept), std::move(tangent));
}
template <class F, class A, class T>
  requires(!detail::is_tuple_tree<A>::value)
auto jvp(const F& f, const A& x, const T& tangent, detail::call_site where = detail::call_site::current()) {
  return jvp(f, std::make_tuple(detail::argument(x)), std::make_tuple(detail::argument(tangent)), where);
}

// ---- Jacobians and Hessians

namespace detail {

/// Of a call's result: what is differentiated, and what is handed through.
template <bool pairs_have_aux, class R>
inline constexpr bool hands_through_v = has_aux<R>::value;
template <class A, class B>
inline constexpr bool hands_through_v<true, std::pair<A, B>> = true;

template <bool pairs_have_aux, class F, class Chosen, class... A>
auto jacobian_at(const derivative_call& call, const F& f, const Chosen& chosen, direction how, bool holomorphic,
                 const A&... a) {
  auto args = arguments_of<F>(a...);
  using result_type = result_of<F, decltype(args)>;
  constexpr bool with_aux = hands_through_v<pairs_have_aux, result_type>;
  std::optional<result_type> kept;
  const auto value = [&]() -> auto& {
    if constexpr (with_aux) return kept->first;
    else return *kept;
  };
  const list_function list = [&](const std::vector<ndarray>& x) {
    auto with = args;
    std::size_t at = 0;
    chosen(with, [&](auto& member) { member = with_arrays(std::move(member), x, at); });
    kept.emplace(std::apply(f, std::move(with)));
    return arrays_in(value());
  };
  const std::vector<ndarray> parts = jacobian_of(call, list, chosen_arrays(args, chosen), how, holomorphic);
  const auto members = members_of(chosen, args);
  std::size_t at = 0;  // all derivatives of the first result, then those of the next one
  const auto next = [&](const ndarray&) {
    auto of_one = members;
    std::apply([&](auto&... m) { ((m = with_arrays(std::move(m), parts, at)), ...); }, of_one);
    return alone_or_tuple(std::move(of_one));
  };
  auto all = in_place_of_arrays(value(), next);
  if constexpr (with_aux) return std::make_pair(std::move(all), std::move(kept->second));
  else return all;
}

template <class F, int... I>
auto jacobian_function(const char* name, F f, argnums_t<I...>, direction how, const grad_kw& kw, call_site where) {
  if (!kw.argnums.empty())
    throw value_error(std::string("[") + name + "] takes the numbers of arguments as argnums<...>");
  return [ name, f = std::move(f), how, holomorphic = kw.holomorphic,
           where ]<class... A>(const A&... a) requires detail::takes_arguments<F, A...> {
    return jacobian_at<false>({name, where}, f, chosen_members<I...>{}, how, holomorphic, a...);
  };
}

}  // namespace detail

/// The Jacobian of f with respect to its first argument, or those of `argnums<...>` (a tuple where they are several): for each
/// array y of the result and each array x of the argument one of shape y.shape + x.shape. An array of the result has a structure
/// like the argument in its place: a tuple, vector or map of arrays gives a tuple, vector or map of such structures, a class of
/// the user's a std::vector with one for each of its arrays. A function that returns std::pair(array, aux) gives std::pair(Jacobian,
/// aux). jacfwd takes a forward pass for each element of the argument, jacrev a backward pass for each of the result, jacobian the
/// one that takes fewer. Errors as of vjp; dtype_error: complex without .holomorphic; value_error: .argnums.
template <class F>
auto jacfwd(F f, const grad_kw& kw = {}, detail::call_site where = detail::call_site::current()) {
  return detail::jacobian_function("jacfwd", std::move(f), argnums<0>, detail::direction::forward, kw, where);
}
template <class F, int... I>
auto jacfwd(F f, argnums_t<I...> of, const grad_kw& kw = {}, detail::call_site where = detail::call_site::current()) {
  return detail::jacobian_function("jacfwd", std::move(f), of, detail::direction::forward, kw, where);
}
template <class F>
auto jacrev(F f, const grad_kw& kw = {}, detail::call_site where = detail::call_site::current()) {
  return detail::jacobian_function("jacrev", std::move(f), argnums<0>, detail::direction::backward, kw, where);
}
template <class F, int... I>
auto jacrev(F f, argnums_t<I...> of, const grad_kw& kw = {}, detail::call_site where = detail::call_site::current()) {
  return detail::jacobian_function("jacrev", std::move(f), of, detail::direction::backward, kw, where);
}
template <class F>
auto jacobian(F f, const grad_kw& kw = {}, detail::call_site where = detail::call_site::current()) {
  return detail::jacobian_function("jacobian", std::move(f), argnums<0>, detail::direction::either, kw, where);
}
template <class F, int... I>
auto jacobian(F f, argnums_t<I...> of, const grad_kw& kw = {}, detail::call_site where = detail::call_site::current()) {
  return detail::jacobian_function("jacobian", std::move(f), of, detail::direction::either, kw, where);
}

/// The second derivatives of f, which returns a number, with respect to its first argument, or those of `argnums<...>`: the
/// Jacobian of the gradient, so x.shape + x.shape of an array, and of structures and tuples what jacobian says. Forward over
/// reverse. With aux std::pair(Hessian, aux). Errors as of grad.
template <class F, int... I>
auto hessian(F f, argnums_t<I...> of, detail::call_site where = detail::call_site::current()) {
  return [ f = std::move(f), of, where ]<class... A>(const A&... a) requires detail::takes_arguments<F, A...> {
    using value_type = detail::result_of<F, decltype(detail::arguments_of<F>(a...))>;
    return detail::jacobian_at<detail::has_aux<value_type>::value>({"hessian", where}, grad(f, of, grad_kw{}, where),
                                                                   detail::chosen_members<I...>{},
                                                                   detail::direction::forward, false, a...);
  };
}
template <class F>
auto hessian(F f, detail::call_site where = detail::call_site::current()) {
  return hessian(std::move(f), argnums<0>, where);
}

/// The product of the Hessian at x with v, which is like x: forward over reverse, without the Hessian.
template <class F, class X>
auto hvp(const F& f, const X& x, const X& v, detail::call_site where = detail::call_site::current()) {
  return jvp(grad(f, argnums<0>, grad_kw{}, where), x, v, where).second;
}

// ---- Control of what is differentiated

/// The array, as a constant to derivatives of any order.
ndarray stop_gradient(const ndarray& x);

namespace detail {
/// f(a...) by way of `call`, which gets f as a function of the list of their arrays, and that list, and gives the arrays of
/// the result.
template <class F, class Call, class... A>
auto call_by_list(const F& f, const Call& call, const A&... a) {
  auto args = arguments_of<F>(a...);
  auto kept = std::make_shared<std::optional<result_of<F, decltype(args)>>>();
  const list_function again = [f, args, kept](const std::vector<ndarray>& x) {
    kept->emplace(std::apply(f, with_all_arrays(args, x)));
    return arrays_in(**kept);
  };
  const std::vector<ndarray> y = call(again, chosen_arrays(args, all_members{}));
  std::size_t at = 0;
  return with_arrays(std::move(**kept), y, at);
}
}  // namespace detail

/// f, whose intermediate values are not kept for its derivatives: backwards it is computed again from its arguments. As f
/// in every other respect; all its arrays are arguments (what it captures is constant to derivatives).
template <class F>
auto checkpoint(F f) {
  return [f = std::move(f)]<class... A>(const A&... a) requires detail::takes_arguments<F, A...> {
    return detail::call_by_list(f, detail::call_again_for_derivatives, a...);
  };
}

/// Derivatives of one's own: lists of the arrays of the arguments, of those of the result, and of directions like the one
/// or the other (zeros where nothing depends on them); one of the two is enough, the other is its transpose.
struct custom_derivative_kw {
  kwonly _kw{};
  detail::list_step jvp{};  // (arguments, results, tangents of the arguments) -> tangents of the results
  detail::list_step vjp{};  // (arguments, results, cotangents of the results) -> cotangents of the arguments
  const char* name = "custom_derivative";
};
/// f with these derivatives, whatever it is made of: users' kernels, functions without a rule, solvers of one's own.
/// value_error: neither is given.
template <class F>
auto custom_derivative(F f, const custom_derivative_kw& kw) {
  if (!kw.jvp && !kw.vjp) throw value_error("[custom_derivative] neither .jvp nor .vjp is given");
  return [ f = std::move(f), kw ]<class... A>(const A&... a) requires detail::takes_arguments<F, A...> {
    const auto call = [&kw](const detail::list_function& again, const std::vector<ndarray>& x) {
      return detail::call_with_derivatives(kw.name, again, x, kw.jvp, kw.vjp);
    };
    return detail::call_by_list(f, call, a...);
  };
}

}  // namespace sinter::inline v0
