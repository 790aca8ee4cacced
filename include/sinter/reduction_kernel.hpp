// reduction_kernel: a reduction that the user writes as a map, a combination and a final step.
#pragma once
#include "sinter/kernel.hpp"

namespace sinter::inline v0 {

/// Parameter-only type: an argument of a reduction kernel's call: an array, a number, or, in last place, axes.
class reduction_argument {
 public:
  reduction_argument(const ndarray& a) noexcept : value_(a) {}
  template <scalar_like T>
  reduction_argument(T v) noexcept : value_(v) {}
  reduction_argument(const sinter::scalar& v) noexcept : value_(v) {}
  reduction_argument(const sinter::axes& a) noexcept : value_(false), axes_(&a) {}
  /// Null unless axes were given as such.
  const sinter::axes* given_axes() const noexcept { return axes_; }
  const operand& value() const noexcept { return value_; }

 private:
  operand value_;
  const sinter::axes* axes_ = nullptr;
};

/// Keywords of reduction_kernel's constructor.
struct reduction_kernel_kw {
  kwonly _kw{};
  /// What is accumulated: a dtype's or C++ type's name, a letter, or a struct of the preamble (at most 32 bytes,
  /// trivially copyable). By default the first output's type; float where that is a 16-bit float.
  std::string_view reduce_type{};
  std::string_view preamble{};  // text of namespace scope before the kernel; it can use the letters
};

/// Keywords of a reduction kernel's call.
struct reduction_kernel_call_kw {
  kwonly _kw{};
  sinter::axes axis{};         // none: all
  bool keepdims = false;       // reduced axes stay, with extent 1
  std::vector<ndarray> out{};  // arrays to write, one for each output; shapes and dtypes are exactly the results'
};

/// `reduction_kernel l2("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2");` called `l2(x)`, `l2(x, 1)`,
/// `l2(x, axes{0, 2}, {.keepdims = true})`.
///
/// Inputs broadcast together. `map` is an expression of them for each element; `i` is the C-order position in the
/// broadcast shape. `reduce` is an expression of `a` and `b`, associative and commutative up to rounding, that combines
/// two mapped values. `post` is a statement that assigns the outputs from `a`; it can also use raw inputs and inputs
/// given as numbers. `n`, in map and post, is how many elements go into one result. `identity` is an expression: the
/// value that changes nothing, hence the result (after post) where there is nothing to reduce.
///
/// A call records and returns at once, and runs as one kernel with the expressions that go in, on the plans of the
/// library's own reductions; with several outputs it runs at the call. The order of combination depends on the shape
/// only, so results do not vary from run to run. Errors are those of elementwise_kernel; index_error for an axis out of
/// range or given twice.
class reduction_kernel : public detail::kernel_calls<reduction_kernel, reduction_argument, reduction_kernel_call_kw> {
 public:
  reduction_kernel(std::string_view inputs, std::string_view outputs, std::string_view map, std::string_view reduce,
                   std::string_view post, std::string_view identity, std::string_view name = "reduce_kernel",
                   const reduction_kernel_kw& kw = {});

  const std::string& name() const noexcept;
  /// "l2(T x) -> (T y)".
  const std::string& signature() const noexcept;

  struct implementation;

 private:
  template <class, class, class, class>
  friend struct detail::calls_with;
  std::vector<ndarray> run(std::span<const reduction_argument* const> arguments, std::size_t outputs,
                           const reduction_kernel_call_kw& kw) const;
  std::shared_ptr<const implementation> body_;
};

}  // namespace sinter::inline v0
