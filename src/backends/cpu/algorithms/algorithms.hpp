// src/backends/cpu/algorithms: sorts, scans, selections and counts on the host.
//
// The device-wide algorithms on the CPU: parallel, synchronous, the same bits for any number of threads.
#pragma once
#include "runtime/algorithms/algorithms.hpp"

namespace sinter::cpu {

/// Each family has a source file of its own.
class cpu_algorithms final : public runtime::algorithms {
 public:
  std::size_t sort_scratch(const runtime::row_layout& l) override;
  void sort(const runtime::row_layout& l, bool descending, const void* from, void* to, void* scratch) override;
  bool merges_runs(dtype type) const override;
  std::size_t merge_scratch(dtype type, std::span<const std::int64_t> ends) override;
  void merge(dtype type, bool descending, std::span<const std::int64_t> ends, const void* from, void* to,
             void* scratch) override;
  std::size_t argsort_scratch(const runtime::row_layout& l) override;
  void argsort(const runtime::row_layout& l, bool descending, const void* keys, std::int64_t* result,
               void* scratch) override;
  std::size_t random_order_scratch(std::int64_t n) override;
  void random_order(std::int64_t n, const std::uint64_t* keys, std::int64_t* result, void* scratch) override;
  void random_order_first(std::int64_t n, std::int64_t count, const std::uint64_t* keys, std::int64_t* result,
                          void* scratch) override;

  bool can_partition(const runtime::row_layout& l) const override;
  std::size_t partition_scratch(const runtime::row_layout& l, std::int64_t kth_count, bool positions) override;
  void partition(const runtime::row_layout& l, std::span<const std::int64_t> kth, const void* from, void* to,
                 void* scratch) override;
  void argpartition(const runtime::row_layout& l, std::span<const std::int64_t> kth, const void* keys,
                    std::int64_t* result, void* scratch) override;
  std::int64_t most_ranks(const runtime::row_layout& l) const override;
  std::size_t find_ranks_scratch(const runtime::row_layout& l, std::int64_t kth_count) override;
  void find_ranks(const runtime::row_layout& l, std::span<const std::int64_t> kth, const void* from, void* to,
                  void* scratch) override;
  bool finds_own_ranks(const runtime::row_layout& l) const override;
  std::size_t own_ranks_scratch(const runtime::row_layout& l) override;
  void find_own_ranks(const runtime::row_layout& l, std::int64_t count, const std::int64_t* ranks, const void* from,
                      void* to, void* scratch) override;
  bool orders_first(const runtime::row_layout& l, std::int64_t k) const override;
  std::size_t select_first_scratch(const runtime::row_layout& l, std::int64_t k) override;
  void select_first(const runtime::row_layout& l, bool descending, std::int64_t k, const void* keys,
                    std::int64_t* result, void* scratch) override;

  std::size_t select_scratch(const runtime::selection& s) override;
  const std::int64_t* count_selected(const runtime::selection& s, void* scratch) override;
  void select(const runtime::selection& s, int bytes, const void* data, void* result, const void* scratch) override;
  void select_positions(const runtime::selection& s, std::int64_t* result, const void* scratch) override;
  bool takes_packed_flags() const override { return false; }

  bool repeats_pieces() const override;
  runtime::piece_total count_pieces(const std::int64_t* counts, std::int64_t n, std::int64_t* ends) override;
  void repeat_pieces(const runtime::piece_layout& l, const std::int64_t* ends, const void* from, void* to) override;

  std::size_t scan_scratch(const runtime::scan_layout& l) override;
  void scan(const runtime::scan_layout& l, const void* from, void* to, void* scratch) override;

  std::size_t count_bins_scratch(std::int64_t n, std::int64_t bin_count) override;
  void count_bins(const runtime::bin_entries& e, std::int64_t bin_count, std::int64_t* counts, void* scratch) override;
  std::size_t sum_bins_scratch(std::int64_t n, std::int64_t bin_count) override;
  void sum_bins(const runtime::bin_entries& e, std::int64_t bin_count, double* sums, void* scratch) override;
  bool adds_in_order(dtype type) const override;
  void add_in_order(dtype type, std::int64_t n, const std::int64_t* at, const void* values, void* sums) override;
  void add_in_order_unless(const bool* skip, dtype type, std::int64_t n, const std::int64_t* at, const void* values,
                           void* sums) override;
  bool writes_in_order() const override;
  void write_in_order(dtype type, std::int64_t n, const std::int64_t* at, const void* values, void* to) override;
  std::size_t histogram_scratch(dtype type, std::int64_t n, const runtime::bin_range& bins) override;
  void histogram(dtype type, const void* samples, std::int64_t n, const runtime::bin_range& bins, std::int64_t* counts,
                 void* scratch) override;
};

}  // namespace sinter::cpu
