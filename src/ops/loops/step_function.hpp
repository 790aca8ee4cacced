// What a step has recorded, as a function: its operations on other arrays.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "ops/base/elementwise_values.hpp"
#include "ops/loops/same_steps.hpp"

namespace sinter::ops {

class step_function {
 public:
  /// Keeps what it needs of the record. Its constants are the values that the step reads besides its inputs and of which a
  /// trace of this thread follows the derivatives, or that depend on the example of a vmap.
  explicit step_function(const step_record& step);

  std::span<const value> constants() const noexcept { return constants_; }
  /// What it does (step_signature.hpp), and the other arrays that it reads.
  const std::string& signature() const noexcept { return signature_; }
  std::span<const value> reads() const noexcept { return reads_; }
  /// The results for other inputs, and for other arrays in place of the constants, all of the same shapes and dtypes.
  std::vector<ndarray> operator()(std::span<const ndarray> inputs, std::span<const ndarray> constants) const;
  /// Which results depend on some of the inputs and constants.
  std::vector<bool> depend_on(const std::vector<bool>& inputs, const std::vector<bool>& constants) const;

 private:
  void note_constant(const value& v, const graph::trace& list);

  std::vector<value> inputs_, results_, constants_, reads_;
  std::string signature_;
  std::vector<graph::trace::entry> entries_;
};

}  // namespace sinter::ops
