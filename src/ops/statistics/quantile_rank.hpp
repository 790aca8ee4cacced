// src/ops/statistics: order statistics, weighted means, covariances, reductions that leave NaN out.
//
// Where a quantile lies among sorted elements: between two of them, by NumPy's methods. One text for numbers, where all
// rows have as many elements, and for arrays, where rows have lost NaN.
#pragma once
#include <cmath>
#include <string_view>

#include "sinter/elementwise.hpp"

namespace sinter::ops {

enum class quantile_method : std::uint8_t {
  linear,
  lower,
  higher,
  midpoint,
  nearest,
  inverted_cdf,
  averaged_inverted_cdf,
  closest_observation,
  interpolated_inverted_cdf,
  hazen,
  weibull,
  median_unbiased,
  normal_unbiased
};
/// value_error for a word that is none.
quantile_method method_of(std::string_view word, const char* function);
/// Whether the quantile is one of the elements.
constexpr bool takes_an_element(quantile_method m) noexcept {
  using enum quantile_method;
  return m == lower || m == higher || m == nearest || m == inverted_cdf || m == closest_observation;
}

namespace rank_arithmetic {

template <std::floating_point T>
T floor_of(T x) noexcept {
  return std::floor(x);
}
template <std::floating_point T>
T ceil_of(T x) noexcept {
  return std::ceil(x);
}
template <std::floating_point T>
T rint_of(T x) noexcept {
  return std::nearbyint(x);
}
template <std::floating_point T>
T choose(bool condition, T yes, T no) noexcept {
  return condition ? yes : no;
}
inline ndarray floor_of(const ndarray& x) { return floor(x); }
inline ndarray ceil_of(const ndarray& x) { return ceil(x); }
inline ndarray rint_of(const ndarray& x) { return rint(x); }
inline ndarray choose(const ndarray& condition, const operand& yes, const operand& no) {
  return where(condition, yes, no);
}

}  // namespace rank_arithmetic

/// Positions of two neighbours in the sorted row, which may be the same, and the second one's share.
template <class N>
struct quantile_rank {
  N lower, upper, share;
};

/// The rank of a quantile q among n elements.
template <class N>
quantile_rank<N> rank_of(quantile_method method, const N& n, const N& q) {
  using namespace rank_arithmetic;
  using enum quantile_method;
  const auto number = [](double x) {
    if constexpr (std::floating_point<N>) return static_cast<N>(x);
    else return x;
  };
  const N last = n - number(1);
  const auto within = [&](const N& at) {
    const N above = choose(at > last, last, at);
    return choose(above < number(0), N(above * number(0)), above);
  };
  const auto element = [&](const N& at) { return quantile_rank<N>{within(at), within(at), at * number(0)}; };
  /// The element before a position if `exact`, else the one behind it.
  const auto neighbour = [&](const N& at, const auto& exact) {
    return element(choose(exact, floor_of(at), N(floor_of(at) + number(1))));
  };
  const auto by_plotting_position = [&](double alpha, double beta) {
    return N(n * q + (number(alpha) + q * number(1 - alpha - beta)) - number(1));
  };
  N at = last * q;
  switch (method) {
    case linear: break;
    case lower: return element(floor_of(at));
    case higher: return element(ceil_of(at));
    case nearest: return element(rint_of(at));
    case midpoint: at = number(0.5) * (floor_of(at) + ceil_of(at)); break;
    case inverted_cdf: {
      at = n * q - number(1);
      return neighbour(at, at == floor_of(at));
    }
    case closest_observation: {
      at = n * q - number(1) - number(0.5);
      const N odd = floor_of(at) - number(2) * floor_of(floor_of(at) * number(0.5));
      return neighbour(at, (at - floor_of(at)) + (odd - number(1)) * (odd - number(1)) == number(0));
    }
    case averaged_inverted_cdf: at = n * q - number(1); break;
    case interpolated_inverted_cdf: at = by_plotting_position(0, 1); break;
    case hazen: at = by_plotting_position(0.5, 0.5); break;
    case weibull: at = by_plotting_position(0, 0); break;
    case median_unbiased: at = by_plotting_position(1 / 3.0, 1 / 3.0); break;
    case normal_unbiased: at = by_plotting_position(3 / 8.0, 3 / 8.0); break;
  }
  const N below = floor_of(at);
  N share = at - below;
  if (method == averaged_inverted_cdf)
    share = choose(share == number(0), N(share * number(0) + number(0.5)), N(share * number(0) + number(1)));
  if (method == midpoint) share = choose(share == number(0), share, N(share * number(0) + number(0.5)));
  // Beyond the ends both are the end.
  return {within(below), choose(at < number(0), within(below), within(N(below + number(1)))), share};
}

}  // namespace sinter::ops
