// Powers of sparse matrices, and how far their entries lie from the diagonal.
#include <algorithm>
#include <utility>

#include "ops/base/errors.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/reduce.hpp"
#include "sinter/sparse.hpp"
#include "sinter/sparse_functions.hpp"

namespace sinter::inline v0 {
namespace sparse::linalg {

sparse_array matrix_power(const sparse_array& A, std::int64_t power) {
  if (A.shape(0) != A.shape(1)) ops::fail<shape_error>("matrix_power", "A of shape ", A.shape(), " is not square");
  if (power < 0) ops::fail<value_error>("matrix_power", "a power of ", power, " is below 0");
  if (power == 0) return eye(A.shape(0), -1, 0, {.format = A.format(), .dtype = A.dtype(), .device = A.device()});
  sparse_array square = A, result;
  for (; power > 0; power /= 2) {
    if (power % 2 != 0) result = result.defined() ? matmul(result, square) : square;
    if (power > 1) square = matmul(square, square);
  }
  return result.asformat(A.format());
}

std::pair<std::int64_t, std::int64_t> spbandwidth(const sparse_array& A) {
  if (A.nnz() == 0) return {0, 0};
  const ndarray distance = A.col().astype(int64) - A.row().astype(int64);
  const ndarray below = min(distance), above = max(distance);
  eval(below, above);
  return {std::max<std::int64_t>(-below.item<std::int64_t>(), 0),
          std::max<std::int64_t>(above.item<std::int64_t>(), 0)};
}

std::pair<bool, bool> is_sptriangular(const sparse_array& A) {
  const auto [below, above] = spbandwidth(A);
  return {above == 0, below == 0};
}

}  // namespace sparse::linalg
}  // namespace sinter::inline v0
