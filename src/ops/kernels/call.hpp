// src/ops/kernels: users' functions that fuse: elementwise, reduction and generalized kernels.
//
// Shared by these kernels at construction and at a call: checks of parameters and arguments, dtypes of type letters,
// values of operands, arrays for results.
#pragma once
#include <array>
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

/// Parses name and parameter lists; checks that there is an output, that no name is used twice or reserved
/// (`reserved`), and that inputs or raw outputs resolve every letter of the outputs.
kernel_head make_head(std::string_view name, std::string_view inputs, std::string_view outputs,
                      std::initializer_list<std::string_view> reserved);
/// "T x, raw float y"
std::string shown_list(const std::vector<parameter>& parameters);
/// The checks of make_head for parsed lists; sets the signature.
void finish_head(kernel_head& k, std::initializer_list<std::string_view> reserved);
/// A text of the kernel `name`, with the description of it that messages use.
inline kernel_text text_of(std::string_view name, std::string_view text, const char* what) {
  return {text, message(name, what)};
}
/// Checks that brackets in statements or an expression nest, and that the text is not empty unless `may_be_empty`.
void check_code(std::string_view name, std::string_view text, const char* what, bool may_be_empty = false);

/// value_error with the signature unless the counts are the kernel's; `outputs` 0 accepts any number.
void check_counts(const kernel_head& k, std::size_t arguments, std::size_t outputs);
/// Checks `.out`: empty, or an entry for each output; defined ones are writable; raw outputs are defined and share
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
  /// Appends one character per letter, in the letters' order: the part of a cache key that depends on dtypes.
  void append_key(std::string& key) const;

 private:
  std::array<std::optional<dtype>, 26> types_{};
};
/// Resolves the letters and checks all dtypes. `out` has an entry for each output; undefined ones are ignored.
letter_types resolve_types(const kernel_head& k, operands arguments, std::span<const ndarray> out);

/// Shapes of the arguments that are arrays and not raw, and of the given outputs that are not raw.
std::vector<const dims*> loop_shapes(const kernel_head& k, operands arguments, std::span<const ndarray> out);
/// The device of all arrays.
runtime::device_id kernel_device(const kernel_head& k, operands arguments, std::span<const ndarray> out);

/// The name of a dtype in the C++ of kernels.
const char* cpp_type(dtype t) noexcept;
/// Argument `index` as a value of its parameter's dtype; a number has shape ().
graph::value argument_value(const kernel_head& k, std::size_t index, const operand& x, const letter_types& letters,
                            runtime::device_id device);
/// All arguments, in order.
std::vector<graph::value> argument_values(const kernel_head& k, operands arguments, const letter_types& letters,
                                          runtime::device_id device);
/// The parameter of the generated function for an input or output; `raw` is its array if it is raw.
jit::user_parameter generated_parameter(const kernel_head& k, const parameter& p, const ndarray& raw,
                                        const letter_types& letters);
/// The same for argument `index`.
jit::user_parameter input_parameter(const kernel_head& k, std::size_t index, const operand& x,
                                    const letter_types& letters);

/// The C-order position of each element of `shape`, as int64.
graph::value positions(const dims& shape, runtime::device_id device);
/// An int64 scalar of shape ().
graph::value integer_value(std::int64_t v, runtime::device_id device);
/// An array with uninitialised elements.
graph::view_ref uninitialised(const dims& shape, dtype type, runtime::device_id device, const char* function);
/// Writes `v` through `out` if that is defined; else a new array that holds it.
ndarray deliver(const ndarray& out, graph::value v);
/// Throws shape_error unless a given output has the result's shape.
void check_output_shape(const kernel_head& k, std::size_t output, const ndarray& out, const dims& shape);

/// The functions generated for a kernel so far, by the key of their dtypes and options. Thread safe.
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
