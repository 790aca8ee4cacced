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

#include "sinter/creation.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {
namespace detail {

using list_function = std::function<std::vector<ndarray>(const std::vector<ndarray>&)>;

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

}  // namespace detail
}  // namespace sinter::inline v0
