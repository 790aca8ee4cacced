// The parameters of a kernel, as far as text reveals them: from the demangled name of a C++ kernel, or from its
// declaration in the source.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/dtype.hpp"

namespace sinter::ops {

/// The element type of a pointer or array parameter: the dtypes that it accepts, starting with its own. float2 is
/// complex64 or two float32; void accepts any dtype.
struct element_class {
  dtype types[2] = {};
  int count = 0;          // of `types`; 0: unknown
  bool anything = false;  // void
  std::size_t bytes = 0;  // of the type itself (16 for float4); 0 where unknown
  std::size_t alignment = 1;
  bool accepts(dtype t) const noexcept;
};

enum class parameter_kind { number, pointer, strided, unknown };
struct raw_parameter {
  parameter_kind kind = parameter_kind::unknown;
  element_class element;  // number: itself; pointer, strided: what it points to
  bool readonly = false;  // pointer, strided: to const
  int rank = 0;           // of a strided parameter
  std::string text;       // "const float* x"
};
struct raw_signature {
  std::vector<raw_parameter> parameters;
  std::string text;  // "(float a, const float* x, float* y, int n)"
};

/// From "void axpy<float>(float, float const*, float*, int)"; null if the name has no parameter list.
std::optional<raw_signature> signature_of_demangled(std::string_view demangled);
/// From `__global__ void kernel(...)` in CUDA C++. Null if there is none, if several declarations differ, or if the
/// preprocessor contributes to it. Types from macros, typedefs and templates are unknown parameters.
std::optional<raw_signature> signature_in_source(std::string_view source, std::string_view kernel);

/// "my::axpy<float>" from "void my::axpy<float>(float, ...)", without blanks.
std::string qualified_name(std::string_view demangled);
/// The name without template arguments: "my::axpy".
std::string_view without_arguments(std::string_view qualified);
/// The text with blanks only between two words.
std::string squeezed(std::string_view text);
/// The demangled C++ name; the name itself if it is not mangled.
std::string demangle(const std::string& mangled);

}  // namespace sinter::ops
