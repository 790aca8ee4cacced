// Kernels that the user writes as text: elementwise_kernel for each element, `function` for use inside expressions.
// reduction_kernel.hpp and generalized_kernel.hpp hold their relatives. The text is C++ in which the parameters are
// variables; the library resolves types, broadcasts, compiles, launches. One text serves CPU and GPU.
//
// Parameter lists: "T x, raw float32 y, int n". A type is NumPy's name (float32, int64, bool, complex64, float16,
// bfloat16, ...), a C++ spelling (float, double, int, unsigned long long, int64_t, size_t, ...; C++ decides what it
// means: `int` is 32 bits wide) or a type letter. A letter is a capital and means the dtype of the arguments of that
// type; the text can use it as a type. Arrays must have exactly the dtype that is written, or one and the same
// dtype where they share a letter (dtype_error otherwise). Numbers take the parameter's dtype; a letter that no array
// determines is what the numbers alone promote to (int64, float64, ...). A number of a higher kind than the dtype (2.5
// for an integer) and one that does not fit are dtype_errors. In the text float16 and bfloat16 are float; complex64 and
// complex128 are types with the usual operators; the mathematical functions have their C names (sqrt, exp, fmax, ...)
// and take float and double.
//
// A `raw` input is passed whole, as it is at the call: y[k] reads by C-order position, y(j, k) by coordinates,
// y.size(), y.shape(axis), y.ndim. Raw outputs are written the same way, and atomic_add(y, k, v), atomic_min,
// atomic_max work on them.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

namespace detail {

template <std::size_t, class T>
using repeat = T;

// A parameter pack cannot be followed by keywords in braces, so there is one overload for each number of arguments.
template <class Kernel, class Argument, class Keywords, class Sequence>
struct calls_with;
template <class Kernel, class Argument, class Keywords, std::size_t... I>
struct calls_with<Kernel, Argument, Keywords, std::index_sequence<I...>> {
  ndarray operator()(repeat<I, const Argument&>... arguments, const Keywords& kw = {}) const {
    return std::move(run({&arguments..., nullptr}, 1, kw)[0]);
  }
  template <int N>
  std::array<ndarray, static_cast<std::size_t>(N)> outputs(repeat<I, const Argument&>... arguments,
                                                           const Keywords& kw = {}) const {
    static_assert(N > 0, "a kernel has at least one output");
    std::vector<ndarray> list = run({&arguments..., nullptr}, N, kw);
    std::array<ndarray, static_cast<std::size_t>(N)> out;
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = std::move(list[k]);
    return out;
  }
  std::vector<ndarray> call(repeat<I, const Argument&>... arguments, const Keywords& kw = {}) const {
    return run({&arguments..., nullptr}, 0, kw);
  }

 private:
  std::vector<ndarray> run(const std::array<const Argument*, sizeof...(I) + 1>& list, std::size_t outputs,
                           const Keywords& kw) const {
    return static_cast<const Kernel&>(*this).run(std::span(list.data(), sizeof...(I)), outputs, kw);
  }
};

template <class Kernel, class Argument, class Keywords, class Sequence>
struct calls_up_to;
template <class Kernel, class Argument, class Keywords, std::size_t... N>
struct calls_up_to<Kernel, Argument, Keywords, std::index_sequence<N...>>
    : calls_with<Kernel, Argument, Keywords, std::make_index_sequence<N>>... {
  using calls_with<Kernel, Argument, Keywords, std::make_index_sequence<N>>::operator()...;
  using calls_with<Kernel, Argument, Keywords, std::make_index_sequence<N>>::outputs...;
  using calls_with<Kernel, Argument, Keywords, std::make_index_sequence<N>>::call...;
};

}  // namespace detail

/// Most arguments that one call takes.
inline constexpr int max_kernel_arguments = 24;

namespace detail {
/// The ways to call a kernel, for 0 to max_kernel_arguments arguments:
///   ndarray z = k(arguments..., {keywords});               one output
///   auto [s, d] = k.outputs<2>(arguments..., {keywords});  several, as many as the kernel has
///   std::vector<ndarray> all = k.call(arguments..., {keywords});
/// value_error if the numbers of arguments or outputs are not the kernel's.
template <class Kernel, class Argument, class Keywords>
using kernel_calls = calls_up_to<Kernel, Argument, Keywords, std::make_index_sequence<max_kernel_arguments + 1>>;
}  // namespace detail

/// Keywords of elementwise_kernel's constructor.
struct elementwise_kernel_kw {
  kwonly _kw{};
  /// Text of namespace scope before the kernel: functions (`__device__`), structs, #include and #define lines.
  std::string_view preamble{};
  /// Statements before and after a thread's loop over elements. They can use raw parameters, parameters given as
  /// numbers, and `n`; the body can use what loop_prep declares.
  std::string_view loop_prep{};
  std::string_view after_loop{};
};

/// Keywords of a kernel's call.
struct kernel_kw {
  kwonly _kw{};
  /// The loop's length, hence its shape (size,): needed where raw inputs are the only arrays, else a shape_error.
  std::optional<std::int64_t> size{};
  /// Arrays to write, one for each output, instead of new ones; an undefined array requests a new one. They have
  /// exactly the outputs' dtypes and the loop's shape, which they help to determine (raw ones do not).
  std::vector<ndarray> out{};
};

/// A loop over elements: `elementwise_kernel k("T x, raw T y, float s", "T z", "z = s * x + y[i % 3];", "name");`.
///
/// Inputs broadcast as everywhere; the loop's shape is the outputs'. The body is a sequence of statements that assigns
/// every output; outputs start undefined. It may use `i`, the C-order position of the element in the loop (long long),
/// and `n`, the number of elements. Parameters cannot be named `i` or `n`.
///
/// A kernel with one output, no raw output and no loop text records and returns at once, like any function of elements:
/// it fuses with the expressions that go in and with those that use its result. Others run at the call, as one kernel
/// with the pending expressions that go in. Raw outputs must be given with `.out`; their other elements stay.
///
/// Constructors throw value_error that names the position and the text for a list that cannot be read, a name that is
/// not an identifier, a letter that only outputs have (a raw output determines it), unbalanced brackets. Calls throw
/// value_error (number of arguments; the message shows the signature), dtype_error, shape_error, device_error. What the
/// compiler says about the body comes as compile_error when the kernel first runs.
class elementwise_kernel : public detail::kernel_calls<elementwise_kernel, operand, kernel_kw> {
 public:
  elementwise_kernel(std::string_view inputs, std::string_view outputs, std::string_view body,
                     std::string_view name = "kernel", const elementwise_kernel_kw& kw = {});

  const std::string& name() const noexcept;
  /// "sqdiff(T x, T y) -> (T z)".
  const std::string& signature() const noexcept;

  struct implementation;

 private:
  template <class, class, class, class>
  friend struct detail::calls_with;
  std::vector<ndarray> run(std::span<const operand* const> arguments, std::size_t outputs, const kernel_kw& kw) const;
  std::shared_ptr<const implementation> body_;
};

/// Keywords of function's constructor.
struct function_kw {
  kwonly _kw{};
  std::string_view preamble{};  // text of namespace scope before the function
};

/// A function of elements, registered once and called in expressions: `function f("T f(T x, T y)", "return x *
/// exp(-y);");` then `sum(f(a, b) + 1)`. It has one result and no `i` or `n`; parameters may be raw. Calls record and
/// return at once and fuse like any other operation. Arguments broadcast; numbers alone give an array of rank 0. Errors
/// are those of elementwise_kernel. Functions of equal text are one function.
class function {
 public:
  function(std::string_view declaration, std::string_view body, const function_kw& kw = {});

  template <class... A>
    requires(std::convertible_to<const A&, operand>&&...)
  ndarray operator()(const A&... arguments) const { return run_all(operand(arguments)...); }
  const std::string& name() const noexcept;
  /// "f(T x, T y) -> T".
  const std::string& signature() const noexcept;

  struct implementation;

 private:
  template <class... O>
  ndarray run_all(const O&... arguments) const {
    const std::array<const operand*, sizeof...(O) + 1> list{&arguments..., nullptr};
    return run(std::span(list.data(), sizeof...(O)));
  }
  ndarray run(std::span<const operand* const> arguments) const;
  std::shared_ptr<const implementation> body_;
};

}  // namespace sinter::inline v0
