// Sums of products over named axes: Einstein's summation, with NumPy's subscripts.
#pragma once
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

/// An order of contraction as NumPy writes it: each step names operands by their places in the list of what is left; they
/// go, and their product is appended.
using contraction_path = std::vector<std::vector<int>>;

/// Keywords of einsum and einsum_path.
struct einsum_kw {
  kwonly _kw{};
  /// How the order of contraction is found: "optimal" (fewest multiplications of all orders; up to 12 operands), "greedy"
  /// (the step that shrinks what is left most, again and again), "auto" (all at once where one of up to four has every
  /// letter, else optimal up to 6 operands, else greedy), "none" (from left to right).
  std::string_view optimize = "auto";
  /// The order itself, from einsum_path.
  contraction_path path{};
  std::optional<sinter::dtype> dtype{};  // as of product_kw
  std::optional<ndarray> out{};
  bool tf32 = false;
};

/// NumPy's einsum: letters name the axes of each operand, `...` those that broadcast; a letter that the output does not
/// name is summed over, one that an operand names twice takes its diagonal. Without `->` the output has the letters
/// that occur once, in alphabetical order, after the axes of `...`. Extents of 1 broadcast.
///
/// Indices that occur in one operand only are summed first. Then the operands of a step, if one of them has all of their indices, are
/// one recorded sum of products, else they are contracted pair by pair: those with free indices on both sides and summed ones by the
/// device's matrix product (see products.hpp), at the call; all others by recorded kernels, products and their sums in one. A single
/// operand whose indices are all kept gives a view of it.
/// float16 and bfloat16 are summed in float32 and rounded once, at the end.
///
/// value_error: subscripts that are not well formed (NumPy's words); shape_error: extents that do not fit.
ndarray einsum(std::string_view subscripts, const std::vector<ndarray>& operands, const einsum_kw& kw = {});
inline ndarray einsum(std::string_view subscripts, const ndarray& a, const einsum_kw& kw = {}) {
  return einsum(subscripts, std::vector<ndarray>{a}, kw);
}
inline ndarray einsum(std::string_view subscripts, const ndarray& a, const ndarray& b, const einsum_kw& kw = {}) {
  return einsum(subscripts, std::vector<ndarray>{a, b}, kw);
}
inline ndarray einsum(std::string_view subscripts, const ndarray& a, const ndarray& b, const ndarray& c,
                      const einsum_kw& kw = {}) {
  return einsum(subscripts, std::vector<ndarray>{a, b, c}, kw);
}
inline ndarray einsum(std::string_view subscripts, const ndarray& a, const ndarray& b, const ndarray& c,
                      const ndarray& d, const einsum_kw& kw = {}) {
  return einsum(subscripts, std::vector<ndarray>{a, b, c, d}, kw);
}

/// What einsum would do.
struct einsum_plan {
  contraction_path path;
  /// The plan in words, printed by `<<`: the cost of one sum over all indices and of the order chosen, and a line for each
  /// step with what it becomes: a sum, a matrix product, or part of a fused kernel.
  std::string text;
  friend std::ostream& operator<<(std::ostream& out, const einsum_plan& p);
};
/// Finds the order of contraction. Evaluates nothing.
einsum_plan einsum_path(std::string_view subscripts, const std::vector<ndarray>& operands, const einsum_kw& kw = {});
inline einsum_plan einsum_path(std::string_view subscripts, std::initializer_list<ndarray> operands,
                               const einsum_kw& kw = {}) {
  return einsum_path(subscripts, std::vector<ndarray>(operands), kw);
}

}  // namespace sinter::inline v0
