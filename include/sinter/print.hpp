// Arrays as text, as NumPy 2 prints them, with its options.
#pragma once
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

/// How floating-point numbers of one array are given digits.
enum class floatmode : std::uint8_t {
  fixed,          // `precision` digits after the point
  unique,         // as many as tell the number from its neighbours, whatever `precision` says
  maxprec,        // as many as that, but at most `precision`
  maxprec_equal,  // the same number for all elements: the most that maxprec gives one of them
};

/// NumPy's print options, and their defaults.
struct print_options {
  int precision = 8;              // digits after the point
  std::int64_t threshold = 1000;  // with more elements only those at the edges are shown (and copied to the host)
  int edgeitems = 3;              // of each axis, at each end
  int linewidth = 75;             // characters
  bool suppress = false;          // small numbers are no reason for exponents
  std::string nanstr = "nan", infstr = "inf";
  char sign = '-';  // of numbers that are not negative: '-' none, ' ' a blank, '+' a plus
  sinter::floatmode floatmode = sinter::floatmode::maxprec;
};
struct print_kw {
  kwonly _kw{};
  std::optional<std::int64_t> precision{};
  std::optional<std::int64_t> threshold{};
  std::optional<std::int64_t> edgeitems{};
  std::optional<std::int64_t> linewidth{};
  std::optional<bool> suppress{};
  std::optional<std::string_view> nanstr{}, infstr{};
  std::optional<char> sign{};
  std::optional<sinter::floatmode> floatmode{};
};
/// Changes what is given, for this thread. Throws value_error for a negative precision or threshold, for edgeitems or
/// linewidth below 1, for another sign, and for a precision above 16384 with floatmode::fixed. Numbers above INT_MAX
/// count as INT_MAX.
void set_printoptions(const print_kw& kw);
/// Those of this thread.
print_options get_printoptions();

/// Options for a scope: `sn::printoptions p({.precision = 3});`
class [[nodiscard]] printoptions {
 public:
  [[nodiscard]] explicit printoptions(const print_kw& kw);
  ~printoptions();
  printoptions(const printoptions&) = delete;
  printoptions& operator=(const printoptions&) = delete;

 private:
  print_options before_;
};

/// All functions below evaluate and synchronise. NumPy's str(x): "[[1. 2.]\n [3. 4.]]"; a 0-d array prints as its
/// number, whatever the options say.
std::string to_string(const ndarray& x);
std::string array_str(const ndarray& x, const print_kw& kw = {});
/// NumPy's repr(x): "array([1., 2.], dtype=float32)".
std::string array_repr(const ndarray& x, const print_kw& kw = {});

struct array2string_kw {
  kwonly _kw{};
  std::string_view separator = " ";
  std::string_view prefix = "", suffix = "";  // text before and after: only their lengths count, for wrapping
  print_kw options{};
};
std::string array2string(const ndarray& x, const array2string_kw& kw = {});

/// A number by digits in a base from 2 to 36, with `padding` zeros before it. value_error: another base, or padding of more than
/// a thousand digits or less than none.
std::string base_repr(std::int64_t number, std::int64_t base = 2, std::int64_t padding = 0);
/// The digits in base 2: of a negative number with a minus, or as its two's complement where `width` is given, to which zeros (of a
/// negative number ones) fill up. value_error: a width that does not hold the number, below 0 or above a thousand.
std::string binary_repr(std::int64_t number, std::optional<std::int64_t> width = {});

}  // namespace sinter::inline v0
