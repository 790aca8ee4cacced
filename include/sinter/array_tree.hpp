// Structures of arrays: what functions that take and give back several arrays at once are called with (vmap.hpp, loops.hpp).
// Not part of sinter.hpp.
//
// An array; std::tuple, std::pair, std::array, std::vector and std::optional of structures; numbers and enumerations, which
// are left alone; and users' classes that name their members:
//
//   struct layer {
//     sn::ndarray weights, bias;
//     auto fields() { return std::tie(weights, bias); }
//   };
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {
namespace detail {

template <class T> struct is_sequence : std::false_type {};
template <class T> struct is_sequence<std::vector<T>> : std::true_type {};
template <class T, std::size_t N> struct is_sequence<std::array<T, N>> : std::true_type {};
template <class T> struct is_tuple : std::false_type {};
template <class... T> struct is_tuple<std::tuple<T...>> : std::true_type {};
template <class A, class B> struct is_tuple<std::pair<A, B>> : std::true_type {};
template <class T> struct is_optional : std::false_type {};
template <class T> struct is_optional<std::optional<T>> : std::true_type {};
template <class T>
concept has_fields = requires(T& x) { x.fields(); };
template <class T>
concept no_array = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::same_as<T, std::nullptr_t> ||
    std::same_as<T, std::monostate> || std::same_as<T, none_t> || std::same_as<T, sinter::dtype>;

template <class T> inline constexpr bool never = false;

/// Calls f with each part of a structure that is no array itself; false if it is an array, a number or nothing.
template <class T, class F> void each_part(T& x, F&& f) {
  if constexpr (is_sequence<T>::value) {
    for (auto& part : x) f(part);
  } else if constexpr (is_tuple<T>::value) {
    std::apply([&](auto&... part) { (f(part), ...); }, x);
  } else if constexpr (is_optional<T>::value) {
    if (x) f(*x);
  } else if constexpr (has_fields<T>) {
    auto all = x.fields();
    std::apply([&](auto&... part) { (f(part), ...); }, all);
  } else {
    static_assert(no_array<T>,
                  "not a structure of arrays: an array, a tuple, pair, std::array, std::vector or std::optional of such, a "
                  "number, or a class with a member function fields() that returns std::tie of its members");
  }
}

/// Calls f(ndarray&) with each array of a structure, in order.
template <class T, class F> void each_array(T& x, F&& f) {
  if constexpr (std::derived_from<T, ndarray>) f(static_cast<ndarray&>(x));
  else each_part(x, [&](auto& part) { each_array(part, f); });
}

}  // namespace detail
}  // namespace sinter::inline v0
