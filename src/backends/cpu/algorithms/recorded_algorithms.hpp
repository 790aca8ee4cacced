// Sorts, selections, scans and counts in a capture.
#pragma once
#include <functional>
#include <utility>

#include "backends/cpu/algorithms/algorithms.hpp"
#include "sinter/error.hpp"

namespace sinter::cpu {

/// Additions by position, handed on as calls that compute them later; whatever else computes or answers throws device_error.
class recorded_algorithms final : public runtime::algorithms {
 public:
  using taker = std::function<void(std::function<void()>)>;
  recorded_algorithms(runtime::algorithms& of, taker take) : of_(of), take_(std::move(take)) {}

  bool adds_in_order(dtype type) const override { return of_.adds_in_order(type); }
  void add_in_order_unless(const bool* skip, dtype type, std::int64_t n, const std::int64_t* at, const void* values,
                           void* sums) override {
    take_([=, &of = of_] { of.add_in_order_unless(skip, type, n, at, values, sums); });
  }

  std::size_t sort_scratch(const runtime::row_layout&) override { refuse(); }
  void sort(const runtime::row_layout&, bool, const void*, void*, void*) override { refuse(); }
  bool merges_runs(dtype) const override { refuse(); }
  std::size_t argsort_scratch(const runtime::row_layout&) override { refuse(); }
  void argsort(const runtime::row_layout&, bool, const void*, std::int64_t*, void*) override { refuse(); }
  std::size_t random_order_scratch(std::int64_t) override { refuse(); }
  void random_order(std::int64_t, const std::uint64_t*, std::int64_t*, void*) override { refuse(); }
  bool can_partition(const runtime::row_layout&) const override { refuse(); }
  std::size_t partition_scratch(const runtime::row_layout&, std::int64_t, bool) override { refuse(); }
  void partition(const runtime::row_layout&, std::span<const std::int64_t>, const void*, void*, void*) override {
    refuse();
  }
  void argpartition(const runtime::row_layout&, std::span<const std::int64_t>, const void*, std::int64_t*,
                    void*) override {
    refuse();
  }
  std::int64_t most_ranks(const runtime::row_layout&) const override { refuse(); }
  bool finds_own_ranks(const runtime::row_layout&) const override { refuse(); }
  std::size_t find_ranks_scratch(const runtime::row_layout&, std::int64_t) override { refuse(); }
  void find_ranks(const runtime::row_layout&, std::span<const std::int64_t>, const void*, void*, void*) override {
    refuse();
  }
  bool orders_first(const runtime::row_layout&, std::int64_t) const override { refuse(); }
  std::size_t select_first_scratch(const runtime::row_layout&, std::int64_t) override { refuse(); }
  void select_first(const runtime::row_layout&, bool, std::int64_t, const void*, std::int64_t*, void*) override {
    refuse();
  }
  std::size_t select_scratch(const runtime::selection&) override { refuse(); }
  const std::int64_t* count_selected(const runtime::selection&, void*) override { refuse(); }
  void select(const runtime::selection&, int, const void*, void*, const void*) override { refuse(); }
  void select_positions(const runtime::selection&, std::int64_t*, const void*) override { refuse(); }
  bool takes_packed_flags() const override { refuse(); }
  bool repeats_pieces() const override { refuse(); }
  runtime::piece_total count_pieces(const std::int64_t*, std::int64_t, std::int64_t*) override { refuse(); }
  void repeat_pieces(const runtime::piece_layout&, const std::int64_t*, const void*, void*) override { refuse(); }
  std::size_t scan_scratch(const runtime::scan_layout&) override { refuse(); }
  void scan(const runtime::scan_layout&, const void*, void*, void*) override { refuse(); }
  std::size_t count_bins_scratch(std::int64_t, std::int64_t) override { refuse(); }
  void count_bins(const runtime::bin_entries&, std::int64_t, std::int64_t*, void*) override { refuse(); }
  std::size_t sum_bins_scratch(std::int64_t, std::int64_t) override { refuse(); }
  void sum_bins(const runtime::bin_entries&, std::int64_t, double*, void*) override { refuse(); }
  void add_in_order(dtype, std::int64_t, const std::int64_t*, const void*, void*) override { refuse(); }
  bool writes_in_order() const override { refuse(); }
  void write_in_order(dtype, std::int64_t, const std::int64_t*, const void*, void*) override { refuse(); }
  std::size_t histogram_scratch(dtype, std::int64_t, const runtime::bin_range&) override { refuse(); }
  void histogram(dtype, const void*, std::int64_t, const runtime::bin_range&, std::int64_t*, void*) override {
    refuse();
  }

 private:
  [[noreturn]] static void refuse() {
    throw device_error("[capture] sorting, scans, selections and counts on the CPU cannot be captured");
  }

  runtime::algorithms& of_;
  taker take_;
};

}  // namespace sinter::cpu
