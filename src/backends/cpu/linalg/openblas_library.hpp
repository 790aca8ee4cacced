// OpenBLAS, opened on first use, and how its threads share the cores with the library's own.
#pragma once
#include "backends/cpu/linalg/openblas_functions.hpp"
#include "platform/host_libraries.hpp"
#include "platform/optional_library.hpp"

namespace sinter::cpu {

// clang-format off
#define SINTER_OPENBLAS_FUNCTIONS(F)                                                                  \
  F(cblas_sgemm) F(cblas_dgemm) F(cblas_cgemm) F(cblas_zgemm) F(cblas_ssyrk) F(cblas_dsyrk)            \
  F(cblas_sgemv) F(cblas_dgemv) F(cblas_cgemv) F(cblas_zgemv)
// clang-format on
SINTER_DECLARED_TABLE(openblas_api, SINTER_OPENBLAS_FUNCTIONS);

/// The right to call OpenBLAS with a number of threads, which is a setting of the whole process. With one thread (its
/// others then sleep), the library's own threads may call it concurrently in the section. Its end restores the setting.
class openblas_section {
 public:
  /// Throws device_error, in the name of a public function, where OpenBLAS cannot be used.
  openblas_section(const char* function, int threads);
  const openblas_api* operator->() const noexcept { return &api_; }

 private:
  const openblas_api& api_;
  platform::openblas_threads threads_;
};

}  // namespace sinter::cpu
