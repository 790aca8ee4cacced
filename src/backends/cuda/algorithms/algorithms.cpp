// runtime::algorithms over the plain functions that nvcc compiled.
#include "backends/cuda/algorithms/algorithms.hpp"

#include <string>

#include "backends/cuda/algorithms/device_algorithms.hpp"
#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/driver/stream.hpp"
#include "runtime/algorithms/merge_rounds.hpp"
#include "sinter/error.hpp"

namespace sinter::cuda {
namespace {

using runtime::row_layout;
using runtime::scan_layout;
using runtime::scan_op;
using runtime::selection;
using std::int64_t;
using std::size_t;

static_assert(static_cast<int>(device::element::c128) == static_cast<int>(dtype::c128) &&
              static_cast<int>(device::element::f16) == static_cast<int>(dtype::f16) &&
              static_cast<int>(device::element::u8) == static_cast<int>(dtype::u8));
static_assert(static_cast<int>(device::scan_kind::logaddexp) == static_cast<int>(scan_op::logaddexp) &&
              static_cast<int>(device::scan_kind::min) == static_cast<int>(scan_op::min));

device::element element_of(dtype t) { return static_cast<device::element>(t); }
device::row_job job_of(const row_layout& l, bool descending) {
  return {element_of(l.type), descending, l.rows, l.columns};
}
device::scan_job job_of(const scan_layout& l) {
  return {static_cast<device::scan_kind>(l.op), element_of(l.type), l.outer, l.count, l.inner};
}

device::bin_entries entries_of(const runtime::bin_entries& e) {
  return {e.count, element_of(e.bin_type), e.bins, element_of(e.weight_type), e.weights};
}
device::means_layout job_of(const runtime::means_layout& l) {
  return {element_of(l.type), l.points, l.dimensions, l.clusters};
}
device::select_job job_of(const selection& s) {
  return {s.count, s.packed, s.words, reinterpret_cast<const unsigned char*>(s.flags)};
}

/// Scratch memory of one merge, in front of that between rounds.
size_t splits_of(std::span<const int64_t> ends) {
  constexpr size_t line = 256;
  return (device::merge_scratch(ends.empty() ? 0 : ends.back()) + line - 1) / line * line;
}

/// The context of device code: the calling thread's current stream.
struct current_context {
  int device, multiprocessors;
  operator device::context() const { return {current_stream(device), multiprocessors}; }
};

class cuda_algorithms final : public runtime::algorithms {
 public:
  explicit cuda_algorithms(const algorithm_target& t) : target_(t), context_{t.device, t.multiprocessors} {}

  size_t sort_scratch(const row_layout& l) override {
    return bytes("sort", [&](size_t& n) { return device::sort_scratch(context_, job_of(l, false), n); });
  }
  void sort(const row_layout& l, bool descending, const void* from, void* to, void* scratch) override {
    call("sort", [&] { return device::sort(context_, job_of(l, descending), from, to, scratch); });
  }
  bool merges_runs(dtype type) const override { return !is_complex(type); }
  size_t merge_scratch(dtype type, std::span<const int64_t> ends) override {
    return splits_of(ends) + (runtime::merges_in_between(ends) ? static_cast<size_t>(ends.back()) * itemsize(type) : 0);
  }
  void merge(dtype type, bool descending, std::span<const int64_t> ends, const void* from, void* to,
             void* scratch) override {
    const auto at = [&](auto* memory, int64_t element) {
      return memory + static_cast<size_t>(element) * itemsize(type);
    };
    runtime::merge_by_twos(ends, from, to, static_cast<char*>(scratch) + splits_of(ends),
                           [&](int64_t first, int64_t middle, int64_t end, const void* source, void* target) {
                             call("merge", [&] {
                               return device::merge(context_, element_of(type), descending,
                                                    at(static_cast<const char*>(source), first), middle - first,
                                                    end - middle, at(static_cast<char*>(target), first), scratch);
                             });
                           });
  }
  size_t argsort_scratch(const row_layout& l) override {
    return bytes("argsort", [&](size_t& n) { return device::argsort_scratch(context_, job_of(l, false), n); });
  }
  void argsort(const row_layout& l, bool descending, const void* keys, int64_t* result, void* scratch) override {
    call("argsort", [&] { return device::argsort(context_, job_of(l, descending), keys, result, scratch); });
  }
  size_t random_order_scratch(int64_t n) override {
    return bytes("random_order", [&](size_t& b) { return device::random_order_scratch(context_, n, b); });
  }
  void random_order(int64_t n, const std::uint64_t* keys, int64_t* result, void* scratch) override {
    call("random_order", [&] { return device::random_order(context_, n, keys, result, scratch); });
  }

  bool can_partition(const row_layout& l) const override { return device::can_partition(job_of(l, false)); }
  size_t partition_scratch(const row_layout& l, int64_t kth_count, bool positions) override {
    return bytes("partition",
                 [&](size_t& n) { return device::partition_scratch(job_of(l, false), kth_count, positions, n); });
  }
  void partition(const row_layout& l, std::span<const int64_t> kth, const void* from, void* to,
                 void* scratch) override {
    call("partition", [&] {
      return device::partition(context_, job_of(l, false), kth.data(), static_cast<int>(kth.size()), from, to, scratch);
    });
  }
  void argpartition(const row_layout& l, std::span<const int64_t> kth, const void* keys, int64_t* result,
                    void* scratch) override {
    call("argpartition", [&] {
      return device::argpartition(context_, job_of(l, false), kth.data(), static_cast<int>(kth.size()), keys, result,
                                  scratch);
    });
  }
  int64_t most_ranks(const row_layout& l) const override { return device::most_ranks(job_of(l, false)); }
  size_t find_ranks_scratch(const row_layout& l, int64_t count) override {
    return bytes("find_ranks",
                 [&](size_t& n) { return device::find_ranks_scratch(job_of(l, false), static_cast<int>(count), n); });
  }
  void find_ranks(const row_layout& l, std::span<const int64_t> kth, const void* from, void* to,
                  void* scratch) override {
    call("find_ranks", [&] {
      return device::find_ranks(context_, job_of(l, false), kth.data(), static_cast<int>(kth.size()), from, to,
                                scratch);
    });
  }
  bool orders_first(const row_layout& l, int64_t k) const override { return device::orders_first(job_of(l, false), k); }
  size_t select_first_scratch(const row_layout& l, int64_t k) override {
    return bytes("select_first", [&](size_t& n) { return device::select_first_scratch(job_of(l, false), k, n); });
  }
  void select_first(const row_layout& l, bool descending, int64_t k, const void* keys, int64_t* result,
                    void* scratch) override {
    call("select_first",
         [&] { return device::select_first(context_, job_of(l, descending), k, keys, result, scratch); });
  }

  size_t select_scratch(const selection& s) override { return device::select_scratch(job_of(s)); }
  const int64_t* count_selected(const selection& s, void* scratch) override {
    const int64_t* count = nullptr;
    call("count_selected", [&] { return device::count_selected(context_, job_of(s), scratch, &count); });
    return count;
  }
  void select(const selection& s, int element_bytes, const void* data, void* result, const void* scratch) override {
    call("select",
         [&] { return device::select(context_, job_of(s), element_bytes, data, result, const_cast<void*>(scratch)); });
  }
  void select_positions(const selection& s, int64_t* result, const void* scratch) override {
    call("select_positions",
         [&] { return device::select(context_, job_of(s), 8, nullptr, result, const_cast<void*>(scratch)); });
  }
  bool takes_packed_flags() const override { return true; }

  bool keeps_zeros(dtype t) const override { return is_inexact(t) && !is_complex(t); }
  size_t scan_scratch(const scan_layout& l) override { return device::scan_scratch(job_of(l)); }
  void scan(const scan_layout& l, const void* from, void* to, void* scratch) override {
    if (l.op == scan_op::logaddexp && !is_real_floating(l.type))
      throw dtype_error("[scan] logaddexp takes real floating types, not " + std::string(name(l.type)));
    call("scan", [&] { return device::scan(context_, job_of(l), from, to, scratch); });
  }

  size_t count_bins_scratch(int64_t, int64_t) override { return 0; }
  void count_bins(const runtime::bin_entries& e, int64_t bin_count, int64_t* counts, void*) override {
    call("count_bins", [&] { return device::count_bins(context_, entries_of(e), bin_count, counts); });
  }
  size_t sum_bins_scratch(int64_t n, int64_t bin_count) override {
    return bytes("sum_bins", [&](size_t& s) { return device::sum_bins_scratch(context_, n, bin_count, s); });
  }
  void sum_bins(const runtime::bin_entries& e, int64_t bin_count, double* sums, void* scratch) override {
    call("sum_bins", [&] { return device::sum_bins(context_, entries_of(e), bin_count, sums, scratch); });
  }
  size_t histogram_scratch(dtype, int64_t, const runtime::bin_range&) override { return 0; }
  void histogram(dtype type, const void* samples, int64_t n, const runtime::bin_range& r, int64_t* counts,
                 void*) override {
    const bool counted = type == dtype::u8 || type == dtype::u16 || type == dtype::i32 || type == dtype::i64 ||
                         type == dtype::f32 || type == dtype::f64;
    if (!counted) throw dtype_error("[histogram] no bins for samples of dtype " + std::string(name(type)));
    call("histogram", [&] {
      return device::histogram(context_, element_of(type), samples, n, {r.low, r.high, r.count, r.narrow}, counts);
    });
  }

  bool assigns_points(const runtime::means_layout& l, bool sums) const override {
    begin();
    return device::assigns_points(job_of(l), sums);
  }
  size_t assign_points_scratch(const runtime::means_layout& l) override {
    return device::assign_points_scratch(job_of(l));
  }
  void assign_points(const runtime::means_layout& l, const runtime::means_arrays& a, void* scratch) override {
    call("kmeans", [&] {
      return device::assign_points(context_, job_of(l),
                                   {a.x, a.centers, a.weights, a.before, a.labels, a.sums, a.totals, a.same}, scratch);
    });
  }

 private:
  void begin() const {
    check_usable();
    check(cudaSetDevice(target_.device), "cudaSetDevice");
  }
  /// Missing device code for the GPU gets a dedicated message, since rebuilding the library helps.
  void raise(cudaError_t status, const char* function) const {
    if (status != cudaErrorNoKernelImageForDevice) return check(status, function);
    (void)cudaGetLastError();
    throw device_error("[" + std::string(function) + "] this build has device code for the CUDA architectures " +
                       SINTER_DEVICE_ARCHITECTURES
                       " only, which the GPU cannot run; build with SINTER_CUDA_ARCHITECTURES");
  }
  template <class F>
  size_t bytes(const char* function, F&& query) const {
    begin();
    size_t n = 0;
    raise(query(n), function);
    return n;
  }
  template <class F>
  void call(const char* function, F&& enqueue) {
    begin();
    raise(enqueue(), function);
    target_.launches->fetch_add(1, std::memory_order_relaxed);
    after_enqueue(target_.device, function);
  }

  algorithm_target target_;
  current_context context_;
};

}  // namespace

std::unique_ptr<runtime::algorithms> make_algorithms(const algorithm_target& target) {
  return std::make_unique<cuda_algorithms>(target);
}

}  // namespace sinter::cuda
