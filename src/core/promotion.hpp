// Promotion of several dtypes.
#pragma once
#include <cstdint>

#include "sinter/dtype.hpp"

namespace sinter::core {

/// The dtypes of a call's arrays. Promoting pairs from left to right does not give NumPy's result: int16 and uint16
/// give int32, and that with float32 float64, but np.result_type(int16, uint16, float32) is float32. NumPy starts with
/// the most general dtype, so the order of the arguments does not matter: floating-point and complex dtypes promote
/// among themselves, and each integer (and bool) with their result.
class dtype_set {
 public:
  void add(dtype t) noexcept { members_ |= 1u << static_cast<int>(t); }
  bool empty() const noexcept { return members_ == 0; }
  /// The promoted dtype of all; bool for none.
  dtype promoted() const noexcept {
    dtype result = dtype::b1;
    for (int t = dtype_count - 1; t >= 0; --t)  // dtypes are numbered bool, integers, floats, complex
      if ((members_ >> t) & 1u) result = promote_types(result, static_cast<dtype>(t));
    return result;
  }

 private:
  std::uint32_t members_ = 0;
};

}  // namespace sinter::core
