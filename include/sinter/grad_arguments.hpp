// The arrays of arguments of any type, for the templates of grad.hpp. Not part of sinter.hpp; included by grad.hpp.
#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/array_tree.hpp"
#include "sinter/creation.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {
namespace detail {

using list_function = std::function<std::vector<ndarray>(const std::vector<ndarray>&)>;

template <class T>
inline constexpr bool is_array_v = std::is_base_of_v<ndarray, std::remove_cvref_t<T>>;

template <class T>
std::vector<ndarray> arrays_in(T& x) {
  std::vector<ndarray> all;
  each_array(x, [&all](const ndarray& a) { all.push_back(a); });
  return all;
}
/// x with its arrays replaced by those from `at` on.
template <class T>
T with_arrays(T x, const std::vector<ndarray>& from, std::size_t& at) {
  each_array(x, [&](ndarray& a) { a = from[at++]; });
  return x;
}

template <class T, class F>
auto in_place_of_arrays(T& x, F& f);

template <class... T, class F>
auto in_place_of_members(std::tuple<T...>& x, F& f) {
  using all = std::tuple<decltype(in_place_of_arrays(std::declval<T&>(), f))...>;
  return std::apply([&](T&... part) { return all{in_place_of_arrays(part, f)...}; }, x);  // from left to right
}
template <class A, class B, class F>
auto in_place_of_members(std::pair<A, B>& x, F& f) {
  auto first = in_place_of_arrays(x.first, f);
  return std::make_pair(std::move(first), in_place_of_arrays(x.second, f));
}
template <class T, std::size_t N, class F>
auto in_place_of_members(std::array<T, N>& x, F& f) {
  using all = std::array<decltype(in_place_of_arrays(x[0], f)), N>;
  return std::apply([&](auto&... part) { return all{in_place_of_arrays(part, f)...}; }, x);
}

/// A structure with f(array) in the place of each array; of a class of the user's a list for all of its arrays.
template <class T, class F>
auto in_place_of_arrays(T& x, F& f) {
  if constexpr (is_array_v<T>) {
    return f(static_cast<const ndarray&>(x));
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    return x;
  } else if constexpr (is_map_tree<T>::value) {
    std::map<typename T::key_type, decltype(in_place_of_arrays(x.begin()->second, f)), typename T::key_compare> all;
    for (auto& entry : x) all.emplace(entry.first, in_place_of_arrays(entry.second, f));
    return all;
  } else if constexpr (is_optional_tree<T>::value) {
    std::optional<decltype(in_place_of_arrays(*x, f))> one;
    if (x) one.emplace(in_place_of_arrays(*x, f));
    return one;
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    return in_place_of_members(x, f);
  } else if constexpr (is_sequence_tree<T>::value) {
    std::vector<decltype(in_place_of_arrays(x[0], f))> all;
    for (auto& part : x) all.push_back(in_place_of_arrays(part, f));
    return all;
  } else {
    std::vector<decltype(f(std::declval<const ndarray&>()))> all;
    each_array(x, [&](ndarray& a) { all.push_back(f(a)); });
    return all;
  }
}

/// Arguments as they are kept: numbers of floating-point type become arrays of shape (), temporaries of indexing arrays.
template <class T>
auto argument(const T& x) {
  if constexpr (is_array_v<T>) return ndarray(x);
  else if constexpr (std::is_floating_point_v<T>) return array(x);
  else return x;
}

template <class T>
auto argument_as_it_is(const T& x) {
  if constexpr (is_array_v<T>) return ndarray(x);
  else return x;
}
template <class F, class... A>
concept takes_arrays = std::is_invocable_v<const F&, decltype(argument(std::declval<const A&>()))...>;
/// Whether f can be called with numbers as arrays, or as they are.
template <class F, class... A>
concept takes_arguments =
    takes_arrays<F, A...> || std::is_invocable_v<const F&, decltype(argument_as_it_is(std::declval<const A&>()))...>;

/// The arguments of a call of f. A function that takes numbers, and no arrays, in the places of numbers gets them as they are.
template <class F, class... A>
auto arguments_of(const A&... a) {
  if constexpr (takes_arrays<F, A...>) return std::make_tuple(argument(a)...);
  else return std::make_tuple(argument_as_it_is(a)...);
}
template <class T>
inline constexpr bool is_number_v = std::is_arithmetic_v<std::remove_cvref_t<T>>;

template <class T>
struct has_floating_numbers;
template <class... T>
struct has_floating_numbers<std::tuple<T...>> : std::bool_constant<(std::is_floating_point_v<T> || ...)> {};

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
  static_assert((!is_number_v<std::tuple_element_t<static_cast<std::size_t>(I), Args>> && ...),
                "sinter: the function takes this argument as a number; a derivative with respect to it needs an array");
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

}  // namespace detail
}  // namespace sinter::inline v0
