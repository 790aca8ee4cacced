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
#include <array>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/creation.hpp"
#include "sinter/derivative_error.hpp"
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

using list_function = std::function<std::vector<ndarray>(const std::vector<ndarray>&)>;
using list_step = std::function<std::vector<ndarray>(const std::vector<ndarray>&, const std::vector<ndarray>&,
                                                     const std::vector<ndarray>&)>;
/// The public function, and where it was called.
struct derivative_call {
  const char* function;
  std::source_location where;
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

// ---- Visiting the arrays of an argument

template <class T>
inline constexpr bool is_array_v = std::is_base_of_v<ndarray, std::remove_cvref_t<T>>;

template <class F>
struct array_visitor;

template <class T, class F>
concept has_arrays_of = requires(T& x, array_visitor<F> v) {
  arrays_of(x, v);
};

template <class T, class F>
void for_each_array(T& x, const F& f);

/// What arrays_of() of a user's struct calls with its members.
template <class F>
struct array_visitor {
  const F& f;
  template <class... T>
  void operator()(T&... members) const {
    (for_each_array(members, f), ...);
  }
};

template <class T>
struct is_tuple : std::false_type {};
template <class... T>
struct is_tuple<std::tuple<T...>> : std::true_type {};
template <class A, class B>
struct is_tuple<std::pair<A, B>> : std::true_type {};
template <class T, std::size_t N>
struct is_tuple<std::array<T, N>> : std::true_type {};
template <class T>
struct is_list : std::false_type {};
template <class T, class A>
struct is_list<std::vector<T, A>> : std::true_type {};
template <class T>
struct is_map : std::false_type {};
template <class K, class T, class C, class A>
struct is_map<std::map<K, T, C, A>> : std::true_type {};
template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};

template <class T, class F>
void for_each_array(T& x, const F& f) {
  using U = std::remove_cv_t<T>;
  if constexpr (is_array_v<U>) {
    f(x);
  } else if constexpr (has_arrays_of<T, F>) {
    arrays_of(x, array_visitor<F>{f});
  } else if constexpr (is_tuple<U>::value) {
    std::apply([&](auto&... members) { (for_each_array(members, f), ...); }, x);
  } else if constexpr (is_list<U>::value) {
    for (auto& member : x) for_each_array(member, f);
  } else if constexpr (is_map<U>::value) {
    for (auto& member : x) for_each_array(member.second, f);
  } else if constexpr (is_optional<U>::value) {
    if (x) for_each_array(*x, f);
  } else {
    static_assert(std::is_arithmetic_v<U> || std::is_enum_v<U> || std::is_empty_v<U>,
                  "sinter: a struct of arrays needs a function arrays_of(T&, visit) beside it; see sinter/grad.hpp");
  }
}

template <class T>
std::vector<ndarray> arrays_in(T& x) {
  std::vector<ndarray> all;
  for_each_array(x, [&all](auto& a) { all.push_back(a); });
  return all;
}
/// x with its arrays replaced by those from `at` on.
template <class T>
T with_arrays(T x, const std::vector<ndarray>& from, std::size_t& at) {
  for_each_array(x, [&](auto& a) { a = from[at++]; });
  return x;
}

/// Arguments as they are kept: numbers of floating-point type become arrays of shape (), temporaries of indexing arrays.
template <class T>
auto argument(const T& x) {
  if constexpr (is_array_v<T>) return ndarray(x);
  else if constexpr (std::is_floating_point_v<T>) return array(x);
  else return x;
}

/// Whether a function returns a value and something else: (value, aux).
template <class R>
struct has_aux : std::false_type {};
template <class A, class B>
struct has_aux<std::pair<A, B>> : std::bool_constant<is_array_v<A>> {};

/// A function of a tuple of arguments, of which some are differentiated, as one of a list of arrays. What f returns is
/// kept in `kept`, whose arrays are the results; `value_only`: without aux.
template <bool value_only = false, class F, class Args, class Chosen, class Result>
list_function as_list_function(const F& f, const Args& args, const Chosen& chosen, std::optional<Result>& kept) {
  return [&f, &args, &chosen, &kept](const std::vector<ndarray>& x) {
    Args with = args;
    std::size_t at = 0;
    chosen(with, [&](auto& member) { member = with_arrays(std::move(member), x, at); });
    kept.emplace(std::apply(f, std::move(with)));
    if constexpr (value_only && has_aux<Result>::value) return arrays_in(kept->first);
    else return arrays_in(*kept);
  };
}

/// Applies a function to the members of a tuple at these positions.
template <int... I>
struct chosen_members {
  template <class Args, class G>
  void operator()(Args& args, const G& g) const {
    static_assert(((I >= 0 && static_cast<std::size_t>(I) < std::tuple_size_v<Args>)&&...),
                  "sinter: the function has no argument of this number");
    (g(std::get<static_cast<std::size_t>(I)>(args)), ...);
  }
};
struct all_members {
  template <class Args, class G>
  void operator()(Args& args, const G& g) const {
    std::apply([&](auto&... member) { (g(member), ...); }, args);
  }
};

template <class Args, class Chosen>
std::vector<ndarray> chosen_arrays(Args& args, const Chosen& chosen) {
  std::vector<ndarray> all;
  chosen(args, [&](auto& member) {
    for (const ndarray& a : arrays_in(member)) all.push_back(a);
  });
  return all;
}

/// One result by itself, several as a tuple.
template <class T>
auto alone_or_tuple(T&& members) {
  if constexpr (std::tuple_size_v<std::remove_cvref_t<T>> == 1) return std::get<0>(std::forward<T>(members));
  else return std::forward<T>(members);
}

/// The chosen members of a tuple as a tuple.
template <int... I, class Args>
auto members_of(const chosen_members<I...>&, const Args& args) {
  return std::make_tuple(std::get<static_cast<std::size_t>(I)>(args)...);
}
template <class Args>
auto members_of(const all_members&, const Args& args) {
  return args;
}

template <class Members>
Members with_all_arrays(Members members, const std::vector<ndarray>& from) {
  std::size_t at = 0;
  std::apply([&](auto&... m) { ((m = with_arrays(std::move(m), from, at)), ...); }, members);
  return members;
}

template <class F, class Args>
using result_of = std::remove_cvref_t<decltype(std::apply(std::declval<const F&>(), std::declval<Args>()))>;

/// f's result and the gradients of its value.
template <class R, class G>
struct value_with_gradient {
  R value;
  G gradient;
};

template <class F, class Chosen, class... A>
auto value_and_gradient(const derivative_call& call, const F& f, const Chosen& chosen, bool holomorphic,
                        const A&... a) {
  using args_type = decltype(std::make_tuple(argument(a)...));
  using result_type = result_of<F, args_type>;
  args_type args(argument(a)...);
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
auto grad(F f, argnums_t<I...>, const grad_kw& kw = {}, std::source_location where = std::source_location::current()) {
  return [f = std::move(f), holomorphic = kw.holomorphic, where](const auto&... a) {
    auto found = detail::value_and_gradient({"grad", where}, f, detail::chosen_members<I...>{}, holomorphic, a...);
    auto gradient = detail::alone_or_tuple(std::move(found.gradient));
    if constexpr (detail::has_aux<decltype(found.value)>::value)
      return std::make_pair(std::move(gradient), std::move(found.value.second));
    else return gradient;
  };
}
template <class F>
auto grad(F f, std::source_location where = std::source_location::current()) {
  return grad(std::move(f), argnums<0>, grad_kw{}, where);
}

/// The value of f and its gradient: std::pair(value, gradient). As grad; with aux std::pair(std::pair(value, aux),
/// gradient).
template <class F, int... I>
auto value_and_grad(F f, argnums_t<I...>, const grad_kw& kw = {},
                    std::source_location where = std::source_location::current()) {
  return [f = std::move(f), holomorphic = kw.holomorphic, where](const auto&... a) {
    auto found =
        detail::value_and_gradient({"value_and_grad", where}, f, detail::chosen_members<I...>{}, holomorphic, a...);
    return std::make_pair(std::move(found.value), detail::alone_or_tuple(std::move(found.gradient)));
  };
}
template <class F>
auto value_and_grad(F f, std::source_location where = std::source_location::current()) {
  return value_and_grad(std::move(f), argnums<0>, grad_kw{}, where);
}

namespace detail {

/// f of arrays as a function of a list of them; those of `numbers` are differentiated, the others constant.
template <class F, std::size_t... I>
ndarray call_with_list(const F& f, const std::vector<ndarray>& x, std::index_sequence<I...>) {
  return f(x[I]...);
}
std::pair<ndarray, std::vector<ndarray>> value_and_gradients_of(const derivative_call& call, const list_function& f,
                                                                const std::vector<ndarray>& x, const grad_kw& kw);

}  // namespace detail

/// The same with argument numbers as a keyword, `grad(f, {.argnums = {0, 2}})`: all arguments are arrays, and the
/// gradients a std::vector. Without argnums the first argument. index_error: no argument has the number.
template <class F>
auto grad(F f, const grad_kw& kw, std::source_location where = std::source_location::current()) {
  return [f = std::move(f), kw, where](const auto&... a) {
    const detail::list_function list = [&f](const std::vector<ndarray>& x) {
      return std::vector<ndarray>{detail::call_with_list(f, x, std::make_index_sequence<sizeof...(a)>())};
    };
    return detail::value_and_gradients_of({"grad", where}, list, {ndarray(detail::argument(a))...}, kw).second;
  };
}
template <class F>
auto value_and_grad(F f, const grad_kw& kw, std::source_location where = std::source_location::current()) {
  return [f = std::move(f), kw, where](const auto&... a) {
    const detail::list_function list = [&f](const std::vector<ndarray>& x) {
      return std::vector<ndarray>{detail::call_with_list(f, x, std::make_index_sequence<sizeof...(a)>())};
    };
    return detail::value_and_gradients_of({"value_and_grad", where}, list, {ndarray(detail::argument(a))...}, kw);
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
  using args_type = decltype(std::make_tuple(argument(a)...));
  using result_type = result_of<F, args_type>;
  args_type args(argument(a)...);
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
  return detail::pull_back_of({"vjp", std::source_location()}, f, a...);
}

/// std::pair(f(x...), its tangent) for tangents of the arguments: `jvp(f, x, dx)`, `jvp(f, std::tuple{x, y}, std::tuple{dx,
/// dy})`. Forward mode: one pass, whatever the number of results. shape_error: a tangent that is not like its argument.
template <class F, class... A>
auto jvp(const F& f, const std::tuple<A...>& x, const std::tuple<A...>& tangents,
         std::source_location where = std::source_location::current()) {
  using result_type = detail::result_of<F, std::tuple<A...>>;
  std::tuple<A...> args = x, directions = tangents;
  std::optional<result_type> kept;
  const detail::pushed both = detail::push_forward(
      {"jvp", where}, detail::as_list_function(f, args, detail::all_members{}, kept),
      detail::chosen_arrays(args, detail::all_members{}), detail::chosen_arrays(directions, detail::all_members{}));
  std::size_t at = 0;
  result_type tangent = detail::with_arrays(*kept, both.tangents, at);
  return std::make_pair(std::move(*kept), std::move(tangent));
}
template <class F, class A, class T>
  requires(!detail::is_tuple<A>::value)
auto jvp(const F& f, const A& x, const T& tangent, std::source_location where = std::source_location::current()) {
  return jvp(f, std::make_tuple(detail::argument(x)), std::make_tuple(detail::argument(tangent)), where);
}

// ---- Jacobians and Hessians

namespace detail {
template <class F>
auto jacobian_function(const char* name, F f, direction how, bool holomorphic, std::source_location where) {
  return [name, f = std::move(f), how, holomorphic, where](const auto& first, const auto&... rest) {
    auto args = std::make_tuple(argument(first), argument(rest)...);
    std::optional<result_of<F, decltype(args)>> kept;
    const chosen_members<0> chosen;
    const std::vector<ndarray> parts = jacobian_of({name, where}, as_list_function(f, args, chosen, kept),
                                                   chosen_arrays(args, chosen), how, holomorphic);
    return std::get<0>(with_all_arrays(members_of(chosen, args), parts));
  };
}
}  // namespace detail

/// The Jacobian of f, which returns one array, with respect to its first argument: of shape y.shape + x.shape, for each
/// array of the argument. jacfwd takes a forward pass for each element of the argument, jacrev a backward pass for each of
/// the result, jacobian the one that takes fewer. Errors as of vjp; dtype_error: complex without .holomorphic.
template <class F>
auto jacfwd(F f, const grad_kw& kw = {}, std::source_location where = std::source_location::current()) {
  return detail::jacobian_function("jacfwd", std::move(f), detail::direction::forward, kw.holomorphic, where);
}
template <class F>
auto jacrev(F f, const grad_kw& kw = {}, std::source_location where = std::source_location::current()) {
  return detail::jacobian_function("jacrev", std::move(f), detail::direction::backward, kw.holomorphic, where);
}
template <class F>
auto jacobian(F f, const grad_kw& kw = {}, std::source_location where = std::source_location::current()) {
  return detail::jacobian_function("jacobian", std::move(f), detail::direction::either, kw.holomorphic, where);
}

/// The second derivatives of f, which returns a number, with respect to its first argument, an array: of shape x.shape +
/// x.shape. Forward over reverse. Errors as of grad.
template <class F>
auto hessian(F f, std::source_location where = std::source_location::current()) {
  return jacfwd(grad(std::move(f), argnums<0>, grad_kw{}, where), grad_kw{}, where);
}

/// The product of the Hessian at x with v, which is like x: forward over reverse, without the Hessian.
template <class F, class X>
auto hvp(const F& f, const X& x, const X& v, std::source_location where = std::source_location::current()) {
  return jvp(grad(f, argnums<0>, grad_kw{}, where), x, v, where).second;
}

// ---- Control of what is differentiated

/// The array, as a constant to derivatives of any order.
ndarray stop_gradient(const ndarray& x);

namespace detail {
template <class R, class... A>
using list_call = std::function<R(const std::tuple<A...>&)>;
}

/// f, whose intermediate values are not kept for its derivatives: backwards it is computed again from its arguments. As f
/// in every other respect; all its arrays are arguments (what it captures is constant to derivatives).
template <class F>
auto checkpoint(F f) {
  return [f = std::move(f)](const auto&... a) {
    auto args = std::make_tuple(detail::argument(a)...);
    using args_type = decltype(args);
    using result_type = detail::result_of<F, args_type>;
    auto kept = std::make_shared<std::optional<result_type>>();
    const detail::list_function again = [f, args, kept](const std::vector<ndarray>& x) {
      kept->emplace(std::apply(f, detail::with_all_arrays(args, x)));
      return detail::arrays_in(**kept);
    };
    const std::vector<ndarray> y =
        detail::call_again_for_derivatives(again, detail::chosen_arrays(args, detail::all_members{}));
    std::size_t at = 0;
    return detail::with_arrays(std::move(**kept), y, at);
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
  return [f = std::move(f), kw](const auto&... a) {
    auto args = std::make_tuple(detail::argument(a)...);
    using args_type = decltype(args);
    using result_type = detail::result_of<F, args_type>;
    auto kept = std::make_shared<std::optional<result_type>>();
    const detail::list_function again = [f, args, kept](const std::vector<ndarray>& x) {
      kept->emplace(std::apply(f, detail::with_all_arrays(args, x)));
      return detail::arrays_in(**kept);
    };
    const std::vector<ndarray> y = detail::call_with_derivatives(
        kw.name, again, detail::chosen_arrays(args, detail::all_members{}), kw.jvp, kw.vjp);
    std::size_t at = 0;
    return detail::with_arrays(std::move(**kept), y, at);
  };
}

}  // namespace sinter::inline v0
