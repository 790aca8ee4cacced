// Factorisations of matrices on the CPU: OpenBLAS's LAPACK, matrix by matrix.
#pragma once
#include "runtime/algorithms/solvers.hpp"

namespace sinter::cpu {

class cpu_solvers final : public runtime::solvers {
 public:
  std::unique_ptr<runtime::outcome> look_for_failures(const std::int32_t* info, std::int64_t count) override;
  void factor_lu(const runtime::matrix_batch& m, void* a, std::int32_t* pivots, std::int32_t* info) override;
  void solve_lu(const runtime::matrix_batch& b, runtime::matrix_form form, const void* lu, const std::int32_t* pivots,
                void* x) override;
  void solve_triangular(const runtime::triangular_system& s, const void* a, void* x) override;
  void factor_cholesky(const runtime::matrix_batch& m, bool upper, void* a, std::int32_t* info) override;
  void factor_qr(const runtime::matrix_batch& m, void* a, void* tau) override;
  void form_q(const runtime::matrix_batch& q, std::int64_t reflectors, void* a, const void* tau) override;
  bool svd_takes_wide() const noexcept override { return true; }
  runtime::right_vectors svd(const runtime::matrix_batch& m, runtime::svd_part part, void* a, void* s, void* u, void* v,
                             std::int32_t* info) override;
  void eigh(const runtime::matrix_batch& m, bool upper, bool vectors, bool robust, void* a, void* w,
            std::int32_t* info) override;
  void eig(const runtime::matrix_batch& m, void* a, void* w, void* v, std::int32_t* info) override;
};

}  // namespace sinter::cpu
