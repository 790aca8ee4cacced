// Factorisations in a capture.
#pragma once
#include <functional>
#include <memory>

#include "backends/cpu/linalg/solvers.hpp"
#include "sinter/error.hpp"

namespace sinter::cpu {

/// LU and Cholesky factorisations and what solves with them, handed on as calls that compute them later; others throw
/// device_error.
class recorded_solvers final : public runtime::solvers {
 public:
  using taker = std::function<void(std::function<void()>)>;
  recorded_solvers(runtime::solvers& of, taker take) : of_(of), take_(std::move(take)) {}

  std::unique_ptr<runtime::outcome> look_for_failures(const std::int32_t* info, std::int64_t count) override {
    return std::make_unique<later_outcome>(*this, info, count);
  }
  void factor_lu(const runtime::matrix_batch& m, void* a, std::int32_t* pivots, std::int32_t* info) override {
    take_([=, &of = of_] { of.factor_lu(m, a, pivots, info); });
  }
  void solve_lu(const runtime::matrix_batch& b, runtime::matrix_form form, const void* lu, const std::int32_t* pivots,
                void* x) override {
    take_([=, &of = of_] { of.solve_lu(b, form, lu, pivots, x); });
  }
  void solve_triangular(const runtime::triangular_system& s, const void* a, void* x) override {
    take_([=, &of = of_] { of.solve_triangular(s, a, x); });
  }
  void factor_cholesky(const runtime::matrix_batch& m, bool upper, void* a, std::int32_t* info) override {
    take_([=, &of = of_] { of.factor_cholesky(m, upper, a, info); });
  }

  void factor_qr(const runtime::matrix_batch&, void*, void*) override { refuse(); }
  void form_q(const runtime::matrix_batch&, std::int64_t, void*, const void*) override { refuse(); }
  bool svd_takes_wide() const noexcept override { return of_.svd_takes_wide(); }
  runtime::right_vectors svd(const runtime::matrix_batch&, runtime::svd_part, void*, void*, void*, void*,
                             std::int32_t*) override {
    refuse();
  }
  void eigh(const runtime::matrix_batch&, bool, bool, bool, void*, void*, std::int32_t*) override { refuse(); }
  void eig(const runtime::matrix_batch&, void*, void*, void*, std::int32_t*) override { refuse(); }

 private:
  /// Known in each launch.
  class later_outcome final : public runtime::outcome {
   public:
    later_outcome(recorded_solvers& by, const std::int32_t* info, std::int64_t count)
        : by_(by), info_(info), count_(count) {}
    std::int64_t first_failure() override { refuse(); }
    void require_none(const std::function<void(std::int64_t)>& refuse) override {
      by_.take_([refuse, &of = by_.of_, info = info_, count = count_] {
        of.look_for_failures(info, count)->require_none(refuse);
      });
    }

   private:
    recorded_solvers& by_;
    const std::int32_t* info_;
    std::int64_t count_;
  };

  [[noreturn]] static void refuse() {
    throw device_error("[capture] QR, singular value and eigenvalue factorisations on the CPU cannot be captured");
  }

  runtime::solvers& of_;
  taker take_;
};

}  // namespace sinter::cpu
