// Sorts, selections, scans and counts in a capture.
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "backends/cpu/algorithms/algorithms.hpp"
#include "sinter/error.hpp"

namespace sinter::cpu {

/// What has results of sizes that are known is handed on as calls that compute it later; what answers with a count of elements
/// throws device_error.
class recorded_algorithms final : public runtime::algorithms {
 public:
  using taker = std::function<void(std::function<void()>)>;
  recorded_algorithms(runtime::algorithms& of, taker take) : of_(of), take_(std::move(take)) {}

  using rows = runtime::row_layout;
  using places = std::span<const std::int64_t>;

  std::size_t sort_scratch(const rows& l) override { return of_.sort_scratch(l); }
  void sort(const rows& l, bool descending, const void* from, void* to, void* scratch) override {
    take_([=, &of = of_] { of.sort(l, descending, from, to, scratch); });
  }
  bool merges_runs(dtype type) const override { return of_.merges_runs(type); }
  std::size_t merge_scratch(dtype type, places ends) override { return of_.merge_scratch(type, ends); }
  void merge(dtype type, bool descending, places ends, const void* from, void* to, void* scratch) override {
    take_([=, &of = of_, kept = list(ends)] { of.merge(type, descending, kept, from, to, scratch); });
  }
  std::size_t argsort_scratch(const rows& l) override { return of_.argsort_scratch(l); }
  void argsort(const rows& l, bool descending, const void* keys, std::int64_t* result, void* scratch) override {
    take_([=, &of = of_] { of.argsort(l, descending, keys, result, scratch); });
  }
  std::size_t random_order_scratch(std::int64_t n) override { return of_.random_order_scratch(n); }
  void random_order(std::int64_t n, const std::uint64_t* keys, std::int64_t* result, void* scratch) override {
    take_([=, &of = of_] { of.random_order(n, keys, result, scratch); });
  }

  bool can_partition(const rows& l) const override { return of_.can_partition(l); }
  std::size_t partition_scratch(const rows& l, std::int64_t kth_count, bool positions) override {
    return of_.partition_scratch(l, kth_count, positions);
  }
  void partition(const rows& l, places kth, const void* from, void* to, void* scratch) override {
    take_([=, &of = of_, kept = list(kth)] { of.partition(l, kept, from, to, scratch); });
  }
  void argpartition(const rows& l, places kth, const void* keys, std::int64_t* result, void* scratch) override {
    take_([=, &of = of_, kept = list(kth)] { of.argpartition(l, kept, keys, result, scratch); });
  }
  std::int64_t most_ranks(const rows& l) const override { return of_.most_ranks(l); }
  std::size_t find_ranks_scratch(const rows& l, std::int64_t kth_count) override {
    return of_.find_ranks_scratch(l, kth_count);
  }
  void find_ranks(const rows& l, places kth, const void* from, void* to, void* scratch) override {
    take_([=, &of = of_, kept = list(kth)] { of.find_ranks(l, kept, from, to, scratch); });
  }
  bool finds_own_ranks(const rows& l) const override { return of_.finds_own_ranks(l); }
  std::size_t own_ranks_scratch(const rows& l) override { return of_.own_ranks_scratch(l); }
  void find_own_ranks(const rows& l, std::int64_t count, const std::int64_t* ranks, const void* from, void* to,
                      void* scratch) override {
    take_([=, &of = of_] { of.find_own_ranks(l, count, ranks, from, to, scratch); });
  }
  bool orders_first(const rows& l, std::int64_t k) const override { return of_.orders_first(l, k); }
  std::size_t select_first_scratch(const rows& l, std::int64_t k) override { return of_.select_first_scratch(l, k); }
  void select_first(const rows& l, bool descending, std::int64_t k, const void* keys, std::int64_t* result,
                    void* scratch) override {
    take_([=, &of = of_] { of.select_first(l, descending, k, keys, result, scratch); });
  }

  std::size_t select_scratch(const runtime::selection&) override { refuse(); }
  const std::int64_t* count_selected(const runtime::selection&, void*) override { refuse(); }
  void select(const runtime::selection&, int, const void*, void*, const void*) override { refuse(); }
  void select_positions(const runtime::selection&, std::int64_t*, const void*) override { refuse(); }
  bool takes_packed_flags() const override { return of_.takes_packed_flags(); }
  bool repeats_pieces() const override { return of_.repeats_pieces(); }
  runtime::piece_total count_pieces(const std::int64_t*, std::int64_t, std::int64_t*) override { refuse(); }
  void repeat_pieces(const runtime::piece_layout&, const std::int64_t*, const void*, void*) override { refuse(); }

  std::size_t scan_scratch(const runtime::scan_layout& l) override { return of_.scan_scratch(l); }
  void scan(const runtime::scan_layout& l, const void* from, void* to, void* scratch) override {
    take_([=, &of = of_] { of.scan(l, from, to, scratch); });
  }
  std::size_t count_bins_scratch(std::int64_t n, std::int64_t bin_count) override {
    return of_.count_bins_scratch(n, bin_count);
  }
  void count_bins(const runtime::bin_entries& e, std::int64_t bin_count, std::int64_t* counts, void* scratch) override {
    take_([=, &of = of_] { of.count_bins(e, bin_count, counts, scratch); });
  }
  std::size_t sum_bins_scratch(std::int64_t n, std::int64_t bin_count) override {
    return of_.sum_bins_scratch(n, bin_count);
  }
  void sum_bins(const runtime::bin_entries& e, std::int64_t bin_count, double* sums, void* scratch) override {
    take_([=, &of = of_] { of.sum_bins(e, bin_count, sums, scratch); });
  }
  bool adds_in_order(dtype type) const override { return of_.adds_in_order(type); }
  void add_in_order(dtype type, std::int64_t n, const std::int64_t* at, const void* values, void* sums) override {
    take_([=, &of = of_] { of.add_in_order(type, n, at, values, sums); });
  }
  void add_in_order_unless(const bool* skip, dtype type, std::int64_t n, const std::int64_t* at, const void* values,
                           void* sums) override {
    take_([=, &of = of_] { of.add_in_order_unless(skip, type, n, at, values, sums); });
  }
  bool writes_in_order() const override { return of_.writes_in_order(); }
  void write_in_order(dtype type, std::int64_t n, const std::int64_t* at, const void* values, void* to) override {
    take_([=, &of = of_] { of.write_in_order(type, n, at, values, to); });
  }
  std::size_t histogram_scratch(dtype type, std::int64_t n, const runtime::bin_range& bins) override {
    return of_.histogram_scratch(type, n, bins);
  }
  void histogram(dtype type, const void* samples, std::int64_t n, const runtime::bin_range& bins, std::int64_t* counts,
                 void* scratch) override {
    take_([=, &of = of_] { of.histogram(type, samples, n, bins, counts, scratch); });
  }

 private:
  static std::vector<std::int64_t> list(places p) { return {p.begin(), p.end()}; }
  [[noreturn]] static void refuse() {
    throw device_error("[capture] selections whose sizes elements decide cannot be captured");
  }

  runtime::algorithms& of_;
  taker take_;
};

}  // namespace sinter::cpu
