// Thick-restart Lanczos for an operator that is Hermitian in some inner product.
#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "ops/sparse_linalg/iteration.hpp"

namespace sinter::ops {

struct lanczos_problem {
  const char* function;
  /// The operator, Hermitian in the metric, of a vector v; and metric v, which is at hand. Without a metric that is v.
  std::function<ndarray(const ndarray&, const ndarray&)> apply;
  std::int64_t n, k, ncv, most;  // k < n, k < ncv <= n; most: restarts
  dtype type;
  sinter::device device;
  double tol;
  std::string_view which;                              // of the operator's eigenvalues
  std::function<ndarray(const ndarray&)> metric = {};  // the inner product is y^H metric(x); none: y^H x
  /// Of a metric that may be singular: metric v to a vector of the range where all eigenvectors are, each a multiple of itself.
  std::function<ndarray(const ndarray&)> into_range = {};
  bool all_copies = true;  // of multiple eigenvalues: the search is begun again until it finds nothing else
};
struct lanczos_result {
  std::vector<double> values;  // as `which` found them, ascending
  ndarray vectors;             // (k, n): rows, of length 1 in the metric
  std::int64_t missing = 0;    // how many have not converged
};
lanczos_result run_lanczos(const lanczos_problem& p, const ndarray& start);

/// Fixed vectors of no particular direction, another one for each number.
ndarray starting_vector(std::int64_t n, dtype type, const sinter::device& on, int draw = 0);

}  // namespace sinter::ops
