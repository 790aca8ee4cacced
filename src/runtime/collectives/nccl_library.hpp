// NCCL, opened on first use. Its prototypes are declared here, since the build does not need it: those of version 2.14
// and later, which later versions keep.
#pragma once
#include <climits>
#include <cstddef>

#include "platform/optional_library.hpp"

namespace sinter::runtime {

extern "C" {
struct ncclComm;  // opaque
struct ncclUniqueId {
  char internal[128];
};
/// The fields of version 2.14; a later library takes the rest as not given, by `size` and `version`.
struct nccl_config {
  std::size_t size = sizeof(nccl_config);
  unsigned magic = 0xcafebeef, version = 21400;
  int blocking = 0;
  int rest = INT_MIN;
};
using ncclGetVersion_type = int(int*);
using ncclGetErrorString_type = const char*(int);
using ncclGetUniqueId_type = int(ncclUniqueId*);
using ncclCommInitAll_type = int(ncclComm**, int, const int*);
using ncclCommInitRankConfig_type = int(ncclComm**, int, ncclUniqueId, int, nccl_config*);
using ncclCommGetAsyncError_type = int(ncclComm*, int*);
using ncclCommAbort_type = int(ncclComm*);
using ncclCommDestroy_type = int(ncclComm*);
using ncclGroupStart_type = int();
using ncclGroupEnd_type = int();
using ncclSend_type = int(const void*, std::size_t, int, int, ncclComm*, void*);
using ncclRecv_type = int(void*, std::size_t, int, int, ncclComm*, void*);
using ncclAllGather_type = int(const void*, void*, std::size_t, int, ncclComm*, void*);
using ncclBroadcast_type = int(const void*, void*, std::size_t, int, int, ncclComm*, void*);
using ncclAllReduce_type = int(const void*, void*, std::size_t, int, int, ncclComm*, void*);
using ncclReduceScatter_type = int(const void*, void*, std::size_t, int, int, ncclComm*, void*);
}

// clang-format off
#define SINTER_NCCL_FUNCTIONS(F)                                                                                \
  F(ncclGetVersion) F(ncclGetErrorString) F(ncclGetUniqueId) F(ncclCommInitAll) F(ncclCommInitRankConfig)       \
  F(ncclCommGetAsyncError) F(ncclCommAbort) F(ncclCommDestroy) F(ncclGroupStart) F(ncclGroupEnd)                \
  F(ncclSend) F(ncclRecv) F(ncclAllGather) F(ncclBroadcast) F(ncclAllReduce) F(ncclReduceScatter)
// clang-format on
SINTER_DECLARED_TABLE(nccl_api, SINTER_NCCL_FUNCTIONS);

/// Results of its functions.
inline constexpr int nccl_success = 0, nccl_in_progress = 7;
/// Its data types and reductions.
enum nccl_type : int {
  nccl_i8,
  nccl_u8,
  nccl_i32,
  nccl_u32,
  nccl_i64,
  nccl_u64,
  nccl_f16,
  nccl_f32,
  nccl_f64,
  nccl_bf16
};
enum nccl_op : int { nccl_sum, nccl_prod, nccl_max, nccl_min };

/// Opens it if need be; throws device_error in the name of a function where it cannot be used.
const nccl_api& nccl(const char* function);
bool has_nccl();
/// "NCCL 2.21.5".
std::string nccl_version(const nccl_api& api);

/// Whether a test has put something in its place (hooks.hpp).
bool is_nccl_replaced() noexcept;

}  // namespace sinter::runtime
