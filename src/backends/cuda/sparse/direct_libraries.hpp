// Direct solvers of sparse systems, opened on first use: cuDSS 1, and cuSOLVER's QR factorisation, which its header calls deprecated
// in favour of cuDSS. Declared as their headers have them.
#pragma once
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstddef>
#include <cstdint>

#include "platform/optional_library.hpp"

namespace sinter::cuda {

/// cudss.h. Objects are opaque, statuses and enumerations ints.
namespace dss {
enum : int { success = 0, no_memory = 2 };                                 // cudssStatus_t
enum : int { analysis = 3, factorization = 4, solution = 0x3f0 };          // cudssPhase_t
enum : int { deterministic_mode = 24 };                                    // cudssConfigParam_t
enum : int { info = 0, replaced_pivots = 2 };                              // cudssDataParam_t
enum : int { general = 0, full_view = 0, from_zero = 0, by_columns = 0 };  // of matrices
}  // namespace dss

using cudssCreate_type = int(void**);
using cudssSetStream_type = int(void*, cudaStream_t);
using cudssConfigCreate_type = int(void**);
using cudssConfigDestroy_type = int(void*);
using cudssConfigSet_type = int(void*, int, const void*, std::size_t);
using cudssDataCreate_type = int(void*, void**);
using cudssDataDestroy_type = int(void*, void*);
using cudssDataGet_type = int(void*, void*, int, void*, std::size_t, std::size_t*);
using cudssMatrixCreateCsr_type = int(void**, std::int64_t, std::int64_t, std::int64_t, const void*, const void*,
                                      const void*, const void*, cudaDataType_t, cudaDataType_t, cudaDataType_t, int,
                                      int, int);
using cudssMatrixCreateDn_type = int(void**, std::int64_t, std::int64_t, std::int64_t, const void*, cudaDataType_t,
                                     int);
using cudssMatrixDestroy_type = int(void*);
using cudssExecute_type = int(void*, int, void*, void*, void*, void*, void*);

/// cusolverSp.h and cusparse.h.
namespace qr {
enum : int { success = 0, no_memory = 2 };  // cusolverStatus_t, cusparseStatus_t (whose no_memory is the same)
enum : int { reverse_cuthill_mckee = 1, nested_dissection = 3 };  // which order the columns get
}  // namespace qr

using cusolverSpCreate_type = int(void**);
using cusolverSpSetStream_type = int(void*, cudaStream_t);
template <class Real>
using csrlsvqr_type = int(void*, int, int, const void*, const void*, const int*, const int*, const void*, Real, int,
                          void*, int*);
using cusolverSpScsrlsvqr_type = csrlsvqr_type<float>;
using cusolverSpDcsrlsvqr_type = csrlsvqr_type<double>;
using cusolverSpCcsrlsvqr_type = csrlsvqr_type<float>;
using cusolverSpZcsrlsvqr_type = csrlsvqr_type<double>;
using cusparseCreateMatDescr_type = int(void**);

// clang-format off
#define SINTER_CUDSS_FUNCTIONS(F)                                                                     \
  F(cudssCreate) F(cudssSetStream) F(cudssConfigCreate) F(cudssConfigDestroy) F(cudssConfigSet)       \
  F(cudssDataCreate) F(cudssDataDestroy) F(cudssDataGet) F(cudssMatrixCreateCsr)                      \
  F(cudssMatrixCreateDn) F(cudssMatrixDestroy) F(cudssExecute)
#define SINTER_CUSOLVER_SPARSE_FUNCTIONS(F)                                                           \
  F(cusolverSpCreate) F(cusolverSpSetStream) F(cusolverSpScsrlsvqr) F(cusolverSpDcsrlsvqr)            \
  F(cusolverSpCcsrlsvqr) F(cusolverSpZcsrlsvqr)
#define SINTER_CUSPARSE_FUNCTIONS(F) F(cusparseCreateMatDescr)
// clang-format on
SINTER_DECLARED_TABLE(cudss_api, SINTER_CUDSS_FUNCTIONS);
SINTER_DECLARED_TABLE(cusolver_sparse_api, SINTER_CUSOLVER_SPARSE_FUNCTIONS);
SINTER_DECLARED_TABLE(cusparse_api, SINTER_CUSPARSE_FUNCTIONS);

}  // namespace sinter::cuda
