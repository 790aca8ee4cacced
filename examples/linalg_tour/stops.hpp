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
  std::function<ndarray()> work;  // records or enqueues; the result is evaluated by the code that times it
  std::function<void()> bare;     // the vendor's call; empty where there is none
  std::function<examples::verdict(const ndarray& result)> check;
};

/// The product of an M x K and a K x N matrix, summed over axis 0.
stop product_and_sum(std::int64_t m, std::int64_t k, std::int64_t n, sn::dtype type);
/// The same numbers by einsum("ij,jk->k"), which reads each matrix once. No vendor has a call for it.
stop summed_einsum(std::int64_t m, std::int64_t k, std::int64_t n);
/// dot of two square matrices.
stop square_product(std::int64_t side, sn::dtype type);

/// Of square float64 matrices.
stop qr_factors(std::int64_t order);
stop solution(std::int64_t order);  // of a system with one right side
stop singular_vectors(std::int64_t order);
stop eigenvectors(std::int64_t order);
/// Of a complex64 line or plane.
stop fourier(const sn::shape_t& shape);
/// float32 numbers of the normal distribution.
stop normal_numbers(std::int64_t count);

}  // namespace linalg_tour
