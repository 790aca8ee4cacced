// Shared by the tests that results lie in C order: operands that do not, and calls as a list.
#pragma once
#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sinter/sinter.hpp"

namespace sinter::test::result_order {

struct call {
  const char* text;
  std::function<std::vector<ndarray>()> run;
};

/// A result, or the arrays of a structure of results.
template <class... T>
std::vector<ndarray> list_of(const T&... results) {
  return {results...};
}

// The arrays of a structure of so many.
template <class R>
std::vector<ndarray> two_of(const R& result) {
  const auto& [first, second] = result;
  return {first, second};
}
template <class R>
std::vector<ndarray> three_of(const R& result) {
  const auto& [first, second, third] = result;
  return {first, second, third};
}
template <class R>
std::vector<ndarray> four_of(const R& result) {
  const auto& [first, second, third, fourth] = result;
  return {first, second, third, fourth};
}

inline bool is_in_c_order(const ndarray& x) {
  std::int64_t step = static_cast<std::int64_t>(itemsize(x.dtype()));
  for (int a = x.ndim(); a-- > 0;) {
    if (x.shape(a) > 1 && x.strides()[static_cast<std::size_t>(a)] != step) return false;
    step *= x.shape(a);
  }
  return true;
}

inline void check_all(const std::vector<call>& calls) {
  for (const call& c : calls)
    for (const ndarray& r : c.run()) {
      CHECK_MESSAGE(is_in_c_order(r), std::string(c.text), " gives shape ", to_string(r.shape()));
      eval(r);
      CHECK_MESSAGE(is_in_c_order(r), std::string(c.text), " after evaluation");
    }
}

// Arguments with other strides than C order: transposed, reversed, every second element.
inline ndarray numbers() { return (reshape(arange(24), {2, 3, 4}) % 7 + 1).T(); }            // (4, 3, 2), int64
inline ndarray floats() { return (reshape(arange(24), {2, 3, 4}) % 7 * 0.125 + 0.25).T(); }  // within (0, 1]
inline const std::complex<double> imaginary(0, 1);
inline ndarray above_one() { return floats() + 1.0; }
inline ndarray square_matrix() {
  const ndarray m = reshape(arange(32), {2, 4, 4}) % 5 * 0.1 + 3.0 * eye(4);
  return matrix_transpose(m(slice(idx::_, idx::_, -1)));
}
inline ndarray symmetric() { return square_matrix() + matrix_transpose(square_matrix()); }
/// Six ascending numbers, every second of a vector.
inline ndarray line() { return (arange(12) * 0.125)(slice(idx::_, idx::_, 2)); }
inline ndarray places() { return array({{0, 1}, {2, 0}}).T(); }

}  // namespace sinter::test::result_order

/// A call of a function that gives an array, and of one that gives several.
#define CALL(...)                                     \
  call {                                              \
#__VA_ARGS__, [] { return list_of(__VA_ARGS__); } \
  }
#define CALLS(...)                                                 \
  call {                                                           \
#__VA_ARGS__, [] { return std::vector<ndarray>(__VA_ARGS__); } \
  }
