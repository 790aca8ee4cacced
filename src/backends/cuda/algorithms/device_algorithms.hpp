// src/backends/cuda/algorithms: hand-written kernels for sorts, scans, selections and counts. Device code is in .cu and
// .cuh files, which include no headers of the library but these.
//
// The interface of device code compiled by nvcc to the rest of the CUDA backend: plain functions on device addresses.
// This header is C++17, includes nothing of the library, and nothing throws across it.
//
// Work is enqueued on a stream; no function synchronises. Each *_scratch function returns how many bytes of device
// memory its algorithm needs; scratch memory is aligned to 256 bytes.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace sinter::cuda::device {

/// Element types, in the order of sinter::dtype.
enum class element : unsigned char { b1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128 };
enum class scan_kind : unsigned char { sum, prod, max, min, logaddexp };

struct context {
  cudaStream_t stream = nullptr;
  int multiprocessors = 1;
};

/// `rows` contiguous sequences of `columns` elements.
struct row_job {
  element type{};
  bool descending = false;
  std::int64_t rows = 1, columns = 0;
};

/// A scan along the middle axis of (outer, count, inner).
struct scan_job {
  scan_kind kind{};
  element type{};
  std::int64_t outer = 1, count = 0, inner = 1;
};

/// Flags of `count` elements: bits for the first `packed` ones (in the order of select_kernels.cuh), a multiple of
/// 1024, and bytes for the rest.
struct select_job {
  std::int64_t count = 0, packed = 0;
  const unsigned* words = nullptr;
  const unsigned char* flags = nullptr;
};

/// `count` bins of equal width over [low, high]; `narrow`: with edges computed in float32.
struct bin_job {
  double low = 0, high = 1;
  std::int64_t count = 1;
  bool narrow = false;
};

/// As runtime::means_layout and runtime::means_arrays.
struct means_layout {
  element type{};
  std::int64_t points = 0, dimensions = 0, clusters = 0;
};
struct means_arrays {
  const void* x = nullptr;
  const void* centers = nullptr;
  const void* weights = nullptr;
  const std::int64_t* before = nullptr;
  std::int64_t* labels = nullptr;
  void* sums = nullptr;
  void* totals = nullptr;
  bool* same = nullptr;
};

/// Bins of i32 or i64, and weights of f32 or f64 for sums.
struct bin_entries {
  std::int64_t count = 0;
  element bin_type = element::i64;
  const void* bins = nullptr;
  element weight_type = element::f64;
  const void* weights = nullptr;
};

cudaError_t sort_scratch(const context& c, const row_job& j, std::size_t& bytes);
/// `to` may be `from`.
cudaError_t sort(const context& c, const row_job& j, const void* from, void* to, void* scratch);
/// The first `ones` real elements and the `twos` behind them, each sorted as sort() does, to other memory.
std::size_t merge_scratch(std::int64_t elements);
cudaError_t merge(const context& c, element type, bool descending, const void* from, std::int64_t ones,
                  std::int64_t twos, void* to, void* scratch);
cudaError_t argsort_scratch(const context& c, const row_job& j, std::size_t& bytes);
cudaError_t argsort(const context& c, const row_job& j, const void* keys, std::int64_t* result, void* scratch);
cudaError_t random_order_scratch(const context& c, std::int64_t n, std::size_t& bytes);
cudaError_t random_order(const context& c, std::int64_t n, const std::uint64_t* keys, std::int64_t* result,
                         void* scratch);

/// Whether partitions pay for rows of this type and length.
bool can_partition(const row_job& j);
/// Ascending; `kth` are `count` > 0 ascending ranks. `to` is other memory than `from`.
cudaError_t partition_scratch(const row_job& j, std::int64_t kth_count, bool positions, std::size_t& bytes);
cudaError_t partition(const context& c, const row_job& j, const std::int64_t* kth, int count, const void* from,
                      void* to, void* scratch);
cudaError_t argpartition(
    const context& c, const row_job& j, const std::int64_t* kth, int count, const void* keys, std::int64_t* result,
    void*
        scratch);  /// How many ranks find_ranks() takes, for rows of this type and length, for less than a sort does; 0: none.
std::int64_t most_ranks(const row_job& j);
/// to[row][k] = the element of rank kth[k], ascending; `kth` are `count` > 0 ascending ranks.
cudaError_t find_ranks_scratch(const row_job& j, int count, std::size_t& bytes);
cudaError_t find_ranks(const context& c, const row_job& j, const std::int64_t* kth, int count, const void* from,
                       void* to, void* scratch);

/// The positions of the first k of each row, 0 < k < columns: in their order where orders_first(), else ascending.
bool orders_first(const row_job& j, std::int64_t k);
cudaError_t select_first_scratch(const row_job& j, std::int64_t k, std::size_t& bytes);
cudaError_t select_first(const context& c, const row_job& j, std::int64_t k, const void* keys, std::int64_t* result,
                         void* scratch);

std::size_t select_scratch(const select_job& j);
/// Sets *count to the address, in scratch memory, of the number of true flags.
cudaError_t count_selected(const context& c, const select_job& j, void* scratch, const std::int64_t** count);
/// After count_selected, which filled the scratch memory. Elements of 1, 2, 4, 8 or 16 bytes; with null `data` the
/// 8-byte positions instead.
cudaError_t select(const context& c, const select_job& j, int bytes, const void* data, void* result, void* scratch);

std::size_t scan_scratch(const scan_job& j);
cudaError_t scan(const context& c, const scan_job& j, const void* from, void* to, void* scratch);

cudaError_t count_bins(const context& c, const bin_entries& e, std::int64_t bin_count, std::int64_t* counts);
cudaError_t histogram(const context& c, element type, const void* samples, std::int64_t n, const bin_job& bins,
                      std::int64_t* counts);
cudaError_t sum_bins_scratch(const context& c, std::int64_t n, std::int64_t bin_count, std::size_t& bytes);
cudaError_t sum_bins(const context& c, const bin_entries& e, std::int64_t bin_count, double* sums, void* scratch);

/// Whether the current device has a kernel for such a step of k-means.
bool assigns_points(const means_layout& l, bool sums);
std::size_t assign_points_scratch(const means_layout& l);
cudaError_t assign_points(const context& c, const means_layout& l, const means_arrays& a, void* scratch);

}  // namespace sinter::cuda::device
