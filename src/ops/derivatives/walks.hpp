// Walks over a trace: backwards with cotangents, forwards with tangents; functions of arrays traced for one.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/values/trace.hpp"
#include "ops/base/opaque_call.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::ops::derivatives {

using array_function = std::function<std::vector<ndarray>(const std::vector<ndarray>&)>;

/// A function that has been called on arrays while a trace of it was kept.
class traced_function {
 public:
  /// Calls f on new inputs with the elements of `x`.
  traced_function(const char* function, const array_function& f, std::span<const ndarray> x);

  const std::vector<ndarray>& results() const noexcept { return results_; }
  /// For errors: " (recorded at main.cpp:41)" of a result in debug mode (graph/values/recorded_lines.hpp), else nothing.
  std::string recorded_at(std::size_t k) const;

  /// Cotangents of the inputs, of their shapes and dtypes, for those of the results (undefined: 0); undefined where
  /// nothing depends on an input. May be called again.
  std::vector<ndarray> backward(std::span<const ndarray> cotangents) const;
  /// Tangents of the results for those of the inputs (undefined: 0); undefined where they are 0.
  std::vector<ndarray> forward(std::span<const ndarray> tangents) const;

 private:
  std::unique_ptr<graph::trace> trace_;
  std::vector<ndarray> results_;
  std::vector<graph::value> values_;  // of the results, as they were when f returned
};

/// For rules: the derivatives of what another function computes.
std::vector<ndarray> pulled_back(const array_function& f, std::span<const ndarray> x,
                                 std::span<const ndarray> cotangents);
std::vector<ndarray> pushed_forward(const array_function& f, std::span<const ndarray> x,
                                    std::span<const ndarray> tangents);
/// The transpose of a function that is linear in arrays like `x`: its pull-back at 0.
std::vector<ndarray> transposed(const array_function& linear, std::span<const ndarray> like,
                                std::span<const ndarray> cotangents);

/// Zeros of an array's shape, dtype and device.
ndarray zeros_of(const ndarray& x);

}  // namespace sinter::ops::derivatives
