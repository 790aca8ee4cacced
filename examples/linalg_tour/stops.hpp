// The stops of the tour: what is computed, in NumPy's lines.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "common/verdict.hpp"
#include "linalg_tour/bare.hpp"

namespace linalg_tour {

struct stop {
  std::string name;
  std::function<ndarray()> work;  // records or enqueues; the result is evaluated by whoever times it
  std::function<void()> bare;     // the vendor's call; empty where there is none
  std::function<examples::verdict(const ndarray& result)> check;
};

/// The product of an M x K and a K x N matrix, summed over axis 0.
stop product_and_sum(std::int64_t m, std::int64_t k, std::int64_t n, sn::dtype type);
/// The same numbers by einsum("ij,jk->k"), which reads each matrix once. No vendor has a call for it.
stop summed_einsum(std::int64_t m, std::int64_t k, std::int64_t n);
/// dot of two square matrices.
stop square_product(std::int64_t side, sn::dtype type);

}  // namespace linalg_tour
