// Functions of sampled data: differences, integrals, interpolation, convolution, choices by conditions, packed bits.
// Everything records unless its comment says otherwise. index_error: an axis out of range; shape_error: shapes that do not
// fit; device_error: arrays of different devices.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <numbers>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

/// How far samples lie apart along an axis: a number, or the samples' coordinates. Parameter-only.
class spacing {
 public:
  template <scalar_like T>
  spacing(T distance) noexcept : value_(scalar(distance)) {}
  spacing(const ndarray& coordinates) : value_(coordinates) {}
  bool is_number() const noexcept { return value_.index() == 0; }
  const scalar& number() const { return std::get<0>(value_); }
  const ndarray& coordinates() const { return std::get<1>(value_); }

 private:
  std::variant<scalar, ndarray> value_;
};

/// Keywords of gradient.
struct gradient_kw {
  kwonly _kw{};
  axes axis{};
  int edge_order = 1;  // or 2: how exact the differences at the ends are
};
/// The derivatives along the axes; of one axis, also the array itself.
struct gradient_result : std::vector<ndarray> {
  using std::vector<ndarray>::vector;
  /// value_error unless there is one.
  operator ndarray() const;
};
namespace detail {
gradient_result gradient_at(const ndarray& f, const std::vector<spacing>& each, const gradient_kw& kw);
}
/// Second-order differences inside, differences of order `edge_order` at the ends, along all axes or those named, in f's
/// floating dtype, float64 of integers. One spacing serves all axes; else there is one for each. shape_error: coordinates
/// that are no vector of the axis' extent, or an axis of fewer than edge_order + 1 samples. Of coordinates, whether they are
/// even is not looked at.
gradient_result gradient(const ndarray& f, const gradient_kw& kw = {});
gradient_result gradient(const ndarray& f, const spacing& all, const gradient_kw& kw = {});
template <std::same_as<std::vector<spacing>> V>
gradient_result gradient(const ndarray& f, const V& each, const gradient_kw& kw = {}) {
  return detail::gradient_at(f, each, kw);
}
// A template, so that keywords in braces are not taken for spacings.
template <std::size_t N>
gradient_result gradient(const ndarray& f, const spacing (&each)[N], const gradient_kw& kw = {}) {
  return detail::gradient_at(f, std::vector<spacing>(each, each + N), kw);
}

/// Keywords of interp. Absent, `left` and `right` are the first and last of fp. With a period the coordinates wrap around.
struct interp_kw {
  kwonly _kw{};
  std::optional<scalar> left{};
  std::optional<scalar> right{};
  std::optional<double> period{};
};
/// The piecewise linear function through the points (xp, fp) at x: float64, or complex128 where fp is complex. xp ascends,
/// which nothing checks; with a period it is sorted at the call. shape_error: xp and fp are no vectors of one extent, or
/// empty.
ndarray interp(const ndarray& x, const ndarray& xp, const ndarray& fp, const interp_kw& kw = {});

/// Keywords of trapezoid.
struct trapezoid_kw {
  kwonly _kw{};
  double dx = 1.0;
  std::int64_t axis = -1;
};
/// The integral by the trapezoidal rule, of samples `dx` apart or at the coordinates x, of y's shape or one for each sample.
ndarray trapezoid(const ndarray& y, const trapezoid_kw& kw = {});
ndarray trapezoid(const ndarray& y, const ndarray& x, const trapezoid_kw& kw = {});

/// The convolution of two vectors, summed directly: "full" (all overlaps), "same" (as many as the longer one, from the
/// middle) or "valid" (complete overlaps). shape_error: no vectors, or empty ones. fft::fftconvolve suits two long ones.
ndarray convolve(const ndarray& x, const ndarray& y, std::string_view mode = "full");
/// Sums of x(n + k) * conj(y(n)), by the same modes.
ndarray correlate(const ndarray& x, const ndarray& y, std::string_view mode = "valid");

/// Keywords of ediff1d: what comes before and behind the differences.
struct ediff1d_kw {
  kwonly _kw{};
  optional_operand to_begin{};
  optional_operand to_end{};
};
/// The differences of neighbours of the flattened array.
ndarray ediff1d(const ndarray& x, const ediff1d_kw& kw = {});

/// Keywords of unwrap.
struct unwrap_kw {
  kwonly _kw{};
  std::optional<double> discont{};
  std::int64_t axis = -1;
  scalar period = 2 * std::numbers::pi;
};
/// Phases without jumps: differences larger than `discont` (half a period unless given) become their complements to the
/// period. Sums the corrections at the call.
ndarray unwrap(const ndarray& x, const unwrap_kw& kw = {});

/// Arrays and numbers in braces, or a vector of arrays. Parameter-only.
class operand_list {
 public:
  operand_list(std::initializer_list<operand> list) : list_(list) {}
  operand_list(const std::vector<ndarray>& list) : list_(list.begin(), list.end()) {}
  std::size_t size() const noexcept { return list_.size(); }
  const operand& operator[](std::size_t i) const noexcept { return list_[i]; }

 private:
  std::vector<operand> list_;
};
/// Of each element the choice of the first condition that is true, else `otherwise`; choices promote. value_error: another
/// number of choices, or none; dtype_error: conditions that are no bools.
ndarray select(const std::vector<ndarray>& conditions, const operand_list& choices, const operand& otherwise = 0);

/// A number or a function of elements. Parameter-only.
class piece {
 public:
  template <scalar_like T>
  piece(T value) noexcept : value_(scalar(value)) {}
  template <class F>
    requires std::is_invocable_r_v<ndarray, const F&, const ndarray&> piece(F function)
        : value_(std::function<ndarray(const ndarray&)>(std::move(function))) {}
    ndarray of(const ndarray& x) const;

   private:
    std::variant<scalar, std::function<ndarray(const ndarray&)>> value_;
};
/// Of each element the piece of the last condition that is true, in x's dtype; one more piece serves where none is, else
/// there it is 0. Every function is recorded for all elements (of what is not chosen nothing is seen), so it must be one of
/// each element. value_error: another number of pieces.
ndarray piecewise(const ndarray& x, const std::vector<ndarray>& conditions, const std::vector<piece>& pieces);

/// Keywords of packbits and unpackbits. bitorder is "big" (the first bit is the highest) or "little".
struct bits_kw {
  kwonly _kw{};
  optional_axis axis = std::nullopt;
  std::optional<std::int64_t> count{};  // of unpackbits: how many bits to keep; a negative number is taken off the end
  std::string_view bitorder = "big";
};
/// Eight elements (whether they are not zero) as the bits of a uint8, along an axis or of the flattened array; the last ones
/// are padded with zeros. dtype_error: neither integers nor bools.
ndarray packbits(const ndarray& x, const bits_kw& kw = {});
/// The bits of uint8 elements (dtype_error for others) as uint8, eight in place of each.
ndarray unpackbits(const ndarray& x, const bits_kw& kw = {});

/// x's real part if all imaginary parts are below `tol` times the dtype's epsilon (below `tol` itself where that is not
/// above 1), else x. Of complex numbers it synchronises.
ndarray real_if_close(const ndarray& x, double tol = 100);

}  // namespace sinter::inline v0
