// Thick-restart Lanczos for a Hermitian operator.
#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "ops/sparse_linalg/iteration.hpp"

namespace sinter::ops {

struct lanczos_problem {
  const char* function;
  std::function<ndarray(const ndarray&)> apply;  // Hermitian
  std::int64_t n, k, ncv, most;                  // k < n, k < ncv <= n; most: restarts
  dtype type;
  sinter::device device;
  double tol;
  std::string_view which;  // of the operator's eigenvalues
};
struct lanczos_result {
  std::vector<double> values;  // as `which` found them, ascending
  ndarray vectors;             // (k, n): rows
  std::int64_t missing = 0;    // how many have not converged
};
lanczos_result run_lanczos(const lanczos_problem& p, const ndarray& start);

/// A fixed vector of no particular direction.
ndarray starting_vector(std::int64_t n, dtype type, const sinter::device& on);

}  // namespace sinter::ops
