// Structures of arrays: what functions that take and give back several arrays at once are called with (vmap.hpp, loops.hpp).
// Not part of sinter.hpp.
//
// An array; std::tuple, pair, array, vector, map and optional of structures; numbers and enumerations, which are left alone;
// and users' classes for which argument-dependent lookup finds, as for derivatives (grad.hpp),
//
//   template <class Visit> void arrays_of(layer& l, Visit visit) { visit(l.weights); visit(l.bias); }
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/eval.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {
namespace detail {

template <class T>
struct is_sequence_tree : std::false_type {};
template <class T, class A>
struct is_sequence_tree<std::vector<T, A>> : std::true_type {};
template <class T, std::size_t N>
struct is_sequence_tree<std::array<T, N>> : std::true_type {};
template <class T>
struct is_tuple_tree : std::false_type {};
template <class... T>
struct is_tuple_tree<std::tuple<T...>> : std::true_type {};
template <class A, class B>
struct is_tuple_tree<std::pair<A, B>> : std::true_type {};
template <class T>
struct is_map_tree : std::false_type {};
template <class K, class T, class C, class A>
struct is_map_tree<std::map<K, T, C, A>> : std::true_type {};
template <class T>
struct is_optional_tree : std::false_type {};
template <class T>
struct is_optional_tree<std::optional<T>> : std::true_type {};
template <class T>
concept no_array = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_empty_v<T>;

/// What arrays_of() of a user's class calls with its members.
template <class F>
struct part_visitor {
  F& f;
  template <class... T>
  void operator()(T&... parts) const {
    (f(parts), ...);
  }
};
template <class T, class F>
concept names_arrays = requires(T& x, part_visitor<F> v) {
  arrays_of(x, v);
};

/// Calls f with each part of a structure that is no array itself.
template <class T, class F>
void each_part(T& x, F&& f) {
  if constexpr (names_arrays<T, std::remove_reference_t<F>>) {
    arrays_of(x, part_visitor<std::remove_reference_t<F>>{f});
  } else if constexpr (is_sequence_tree<T>::value) {
    for (auto& part : x) f(part);
  } else if constexpr (is_tuple_tree<T>::value) {
    std::apply([&](auto&... part) { (f(part), ...); }, x);
  } else if constexpr (is_map_tree<T>::value) {
    for (auto& entry : x) f(entry.second);
  } else if constexpr (is_optional_tree<T>::value) {
    if (x) f(*x);
  } else {
    static_assert(no_array<T>,
                  "sinter: not a structure of arrays; a class needs a function arrays_of(T&, visit) beside it: see "
                  "sinter/array_tree.hpp");
  }
}

/// Calls f(ndarray&) with each array of a structure, in order.
template <class T, class F>
void each_array(T& x, F&& f) {
  if constexpr (std::derived_from<T, ndarray>) f(static_cast<ndarray&>(x));
  else each_part(x, [&](auto& part) { each_array(part, f); });
}

}  // namespace detail

/// Evaluates all arrays of structures together: `eval(loss, gradients)`. As eval of arrays.
template <class... T>
  requires(!std::derived_from<T, ndarray> || ...)
void eval(const T&... structures) {
  std::vector<ndarray> all;
  const auto collect = [&](auto structure) { detail::each_array(structure, [&](ndarray& a) { all.push_back(a); }); };
  (collect(structures), ...);
  eval(std::span<const ndarray>(all));
}

}  // namespace sinter::inline v0
