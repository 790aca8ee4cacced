// cuBLAS, opened on first use. Only if the toolkit has its header.
#pragma once
#ifdef SINTER_HAS_CUBLAS
#include <cublas_v2.h>

#include "platform/optional_library.hpp"

namespace sinter::cuda {

// clang-format off
#define SINTER_CUBLAS_FUNCTIONS(F)                                                                            \
  F(cublasCreate) F(cublasGetStatusString) F(cublasSetStream) F(cublasSetWorkspace) F(cublasSetMathMode) \
  F(cublasGemmEx_64) F(cublasGemmStridedBatchedEx_64)
// clang-format on
SINTER_FUNCTION_TABLE(cublas_api, SINTER_CUBLAS_FUNCTIONS);

/// Opens it if necessary; device_error, with the prefix `function`, if it cannot be used.
const cublas_api& cublas(const char* function);
/// Throws device_error with the call's name.
void check(const cublas_api& api, cublasStatus_t status, const char* call);

}  // namespace sinter::cuda
#endif
