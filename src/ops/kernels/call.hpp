// src/ops/kernels: users' functions that fuse: elementwise, reduction and generalized kernels.
//
// What the users' kernels share at construction and at a call: checks of parameters and arguments, dtypes for letters,
// values for operands, arrays for results.
#pragma once
#include <array>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ops/base/promotion_args.hpp"
#include "ops/kernels/text.hpp"

namespace sinter::ops {

/// Name and parameters of a kernel.
struct kernel_head {
  std::string name;
  std::string signature;  // "sqdiff(T x, T y) -> (T z)"
  std::vector<parameter> inputs, outputs;

  const char* function() const noexcept { return name.c_str(); }
};

/// Reads name and parameter lists; checks that there is an output, that no name is used twice or reserved (`reserved`),
/// and that every letter of outputs is resolved by inputs or raw outputs.
kernel_head make_head(std::string_view name, std::string_view inputs, std::string_view outputs,
                      std::initializer_list<std::string_view> reserved);
/// The checks of make_head for lists that have been read; sets the signature.
void finish_head(kernel_head& k, std::initializer_list<std::string_view> reserved);
/// A text of kernel `name` under the words by which messages call it.
inline kernel_text text_of(std::string_view name, std::string_view text, const char* what) {
  return {text, message(name, what)};
}
/// Statements or an expression: brackets nest, and there is something, unless it may be empty.
void check_code(std::string_view name, std::string_view text, const char* what, bool may_be_empty = false);

/// value_error with the signature unless the counts are the kernel's; `outputs` 0 stands for any.
void check_counts(const kernel_head& k, std::size_t arguments, std::size_t outputs);
/// `.out`: empty, or an entry for each output, which is writable if it is defined; raw outputs are defined and share
/// memory with no other. Returns an entry for each output.
std::vector<ndarray> check_outputs(const kernel_head& k, const std::vector<ndarray>& out);

/// The dtypes of the letters in one call.
class letter_types {
 public:
  std::optional<dtype>& operator[](char letter) { return types_[static_cast<std::size_t>(letter - 'A')]; }
  dtype of(const written_type& t) const {
    return t.letter ? *types_[static_cast<std::size_t>(t.letter - 'A')] : t.type;
  }
  /// "typedef float T;\n" for each.
  std::string typedefs() const;
  /// One character for each letter, in their order: what distinguishes calls.
  void append_key(std::string& key) const;

 private:
  std::array<std::optional<dtype>, 26> types_{};
};
/// Settles the letters and checks all dtypes. `out` has an entry for each output; undefined ones do not count.
letter_types resolve_types(const kernel_head& k, operands arguments, std::span<const ndarray> out);

/// Shapes of arguments that are arrays and not raw, and of outputs that are given and not raw.
std::vector<const dims*> loop_shapes(const kernel_head& k, operands arguments, std::span<const ndarray> out);
/// The device of all arrays.
runtime::device_id kernel_device(const kernel_head& k, operands arguments, std::span<const ndarray> out);

/// C++'s name of a dtype in kernels.
const char* cpp_type(dtype t) noexcept;
/// Argument `index` as a value of its parameter's dtype; a number has shape ().
graph::value argument_value(const kernel_head& k, std::size_t index, const operand& x, const letter_types& letters,
                            runtime::device_id device);
/// All arguments, in order.
std::vector<graph::value> argument_values(const kernel_head& k, operands arguments, const letter_types& letters,
                                          runtime::device_id device);
/// Argument `index` as the function's parameter.
jit::user_parameter input_parameter(const kernel_head& k, std::size_t index, const operand& x,
                                    const letter_types& letters);

/// C-order position of each element of `shape`, as int64.
graph::value positions(const dims& shape, runtime::device_id device);
/// An int64 number of shape ().
graph::value integer_value(std::int64_t v, runtime::device_id device);
/// Array of elements that are not set.
graph::view_ref uninitialised(const dims& shape, dtype type, runtime::device_id device, const char* function);
/// The array that holds `v`: `out` written through if it is defined, else a new one.
ndarray deliver(const ndarray& out, graph::value v);
/// Throws shape_error unless a given output has the result's shape.
void check_output_shape(const kernel_head& k, std::size_t output, const ndarray& out, const dims& shape);

/// The functions that a kernel has been called with, by what distinguishes calls. Thread safe.
template <class T>
class function_cache {
 public:
  template <class Make>
  const T& get(const std::string& key, Make make) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, value] : list_)
      if (known == key) return *value;
    list_.emplace_back(key, std::make_unique<T>(make()));
    return *list_.back().second;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::pair<std::string, std::unique_ptr<T>>> list_;
};

}  // namespace sinter::ops
