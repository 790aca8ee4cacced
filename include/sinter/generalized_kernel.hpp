// generalized_kernel: a function of sub-arrays, repeated over the other axes (NumPy's generalised ufuncs).
#pragma once
#include "sinter/kernel.hpp"

namespace sinter::inline v0 {

/// Keywords of generalized_kernel's constructor.
struct generalized_kernel_kw {
  kwonly _kw{};
  std::string_view preamble{};  // text of namespace scope before the kernel
};

/// Keywords of a generalised kernel's call.
struct generalized_kernel_call_kw {
  kwonly _kw{};
  std::vector<ndarray> out{};  // arrays to write, one for each output; shapes and dtypes are exactly the results'
};

/// `generalized_kernel dist("(n,k),(m,k)->(n,m)", "T x, T y", "T z", body, "dist");`.
///
/// The signature gives each argument's core dimensions, its last axes: names, which have one extent throughout a call,
/// or numbers, which fix it. The axes before these are loop dimensions; those of all inputs broadcast, and the body
/// runs once for each element of the loop, by one thread. Outputs have the loop's shape followed by their core
/// dimensions, which must be numbers or appear in inputs.
///
/// In the body an argument with core dimensions is a sub-array: x(i, j) by coordinates, x[k] by C-order position,
/// x.shape(axis), x.size(), x.ndim. Outputs are written the same way, and elements that are not written are undefined.
/// One without core dimensions, `()`, is a plain value. Core dimensions are long long constants by their names.
/// Sub-arrays are not copied for each iteration: loop axes that repeat are read in place.
///
/// If no output has core dimensions, a call records and returns at once (arguments `()` and what uses the result fuse);
/// otherwise it runs at the call.
/// Constructors throw value_error as elementwise_kernel's; calls throw shape_error that names the dimension and both
/// extents where core dimensions do not match, and the errors of elementwise_kernel.
class generalized_kernel : public detail::kernel_calls<generalized_kernel, operand, generalized_kernel_call_kw> {
 public:
  generalized_kernel(std::string_view signature, std::string_view inputs, std::string_view outputs,
                     std::string_view body, std::string_view name = "kernel", const generalized_kernel_kw& kw = {});

  const std::string& name() const noexcept;
  /// "dist(T x(n,k), T y(m,k)) -> (T z(n,m))".
  const std::string& signature() const noexcept;

  struct implementation;

 private:
  template <class, class, class, class>
  friend struct detail::calls_with;
  std::vector<ndarray> run(std::span<const operand* const> arguments, std::size_t outputs,
                           const generalized_kernel_call_kw& kw) const;
  std::shared_ptr<const implementation> body_;
};

}  // namespace sinter::inline v0
