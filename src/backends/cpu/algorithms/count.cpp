// Counts and sums by bin, and histograms. Counts come out the same in any order. Sums are added in the order of the
// elements, within parts that the sizes alone decide.
#include <algorithm>
#include <atomic>
#include <complex>
#include <string>

#include "backends/cpu/algorithms/algorithms.hpp"
#include "backends/cpu/algorithms/shares.hpp"
#include "runtime/algorithms/equal_bins.hpp"
#include "runtime/parallel.hpp"
#include "sinter/error.hpp"

namespace sinter::cpu {
namespace {

constexpr std::int64_t short_input = 1 << 14;  // not worth a second thread
// Nanoseconds for an element.
constexpr double fill_time = 0.5, add_time = 0.5, count_time = 1;

/// Tables that take less memory than a quarter of n 64-bit numbers, up to 64.
std::int64_t counting_tables(std::int64_t n, std::int64_t bin_count) noexcept {
  return std::clamp<std::int64_t>(n / (4 * std::max<std::int64_t>(1, bin_count)), 1, 64);
}

std::size_t table_bytes(std::int64_t tables, std::int64_t bin_count) noexcept {
  return tables < 2 ? 0 : static_cast<std::size_t>(tables * bin_count) * 8;
}

template <class T>
void fill_zero(T* values, std::int64_t n) {
  const shares parts(n, runtime::thread_count());
  runtime::parallel_for(parts.count, fill_time * static_cast<double>(n),
                        [&](std::int64_t p) { std::fill(values + parts.begin(p), values + parts.end(p), T{}); });
}

/// results[b] = the sum of tables[k][b] over k, in this order.
template <class T>
void add_tables(const T* tables, std::int64_t count, std::int64_t bin_count, T* results) {
  const shares parts(bin_count, runtime::thread_count(), 1 << 10);
  runtime::parallel_for(parts.count, add_time * static_cast<double>(bin_count * count), [&](std::int64_t p) {
    for (std::int64_t b = parts.begin(p); b < parts.end(p); ++b) {
      T sum = tables[b];
      for (std::int64_t k = 1; k < count; ++k) sum += tables[k * bin_count + b];
      results[b] = sum;
    }
  });
}

/// counts[bin_at(i)] += 1 for i in [begin, end) unless the bin is outside.
template <class BinAt>
void count_range(std::int64_t begin, std::int64_t end, std::int64_t bin_count, std::int64_t* counts,
                 const BinAt& bin_at) {
  const auto limit = static_cast<std::uint64_t>(bin_count);
  for (std::int64_t i = begin; i < end; ++i) {
    const auto b = static_cast<std::uint64_t>(bin_at(i));
    if (b < limit) ++counts[b];
  }
}

/// The same on counts shared by threads; consecutive elements of one bin are added together.
template <class BinAt>
void count_range_shared(std::int64_t begin, std::int64_t end, std::int64_t bin_count, std::int64_t* counts,
                        const BinAt& bin_at) {
  const auto limit = static_cast<std::uint64_t>(bin_count);
  std::uint64_t bin = limit;
  std::int64_t together = 0;
  const auto add = [&] {
    if (bin < limit) std::atomic_ref(counts[bin]).fetch_add(together, std::memory_order_relaxed);
  };
  for (std::int64_t i = begin; i < end; ++i) {
    const auto next = static_cast<std::uint64_t>(bin_at(i));
    if (next == bin) {
      ++together;
      continue;
    }
    add();
    bin = next;
    together = 1;
  }
  add();
}

/// Each thread counts in a table of its own where such tables are small beside the input, else all in one.
template <class BinAt>
void count_all(std::int64_t n, std::int64_t bin_count, std::int64_t* counts, void* scratch, const BinAt& bin_at) {
  if (bin_count == 0) return;
  const int threads = n < 2 * short_input ? 1 : runtime::thread_count();
  const std::int64_t tables = std::min<std::int64_t>(threads, counting_tables(n, bin_count));
  if (tables > 1) {
    auto* table = static_cast<std::int64_t*>(scratch);
    runtime::parallel_for(tables, count_time * static_cast<double>(n), [&](std::int64_t k) {
      std::fill_n(table + k * bin_count, bin_count, std::int64_t{0});
      count_range(n * k / tables, n * (k + 1) / tables, bin_count, table + k * bin_count, bin_at);
    });
    return add_tables(table, tables, bin_count, counts);
  }
  fill_zero(counts, bin_count);
  if (threads == 1) return count_range(0, n, bin_count, counts, bin_at);
  const shares parts(n, threads, short_input);
  runtime::parallel_for(parts.count, count_time * static_cast<double>(n), [&](std::int64_t p) {
    count_range_shared(parts.begin(p), parts.end(p), bin_count, counts, bin_at);
  });
}

constexpr int scanning_threads = 8;

/// The number of separate tables of sums; fewer than four do not keep threads busy.
std::int64_t summing_tables(std::int64_t n, std::int64_t bin_count) noexcept {
  const std::int64_t tables = n / std::max(short_input, 8 * bin_count);
  return tables < 4 ? 1 : std::min<std::int64_t>(tables, 64);
}

/// sums[bins[i]] += weights[i] for i in [begin, end) and bins in [low, high).
template <class Bin, class Weight>
void sum_range(const Bin* bins, const Weight* weights, std::int64_t begin, std::int64_t end, std::int64_t low,
               std::int64_t high, double* sums) {
  const auto width = static_cast<std::uint64_t>(high - low);
  for (std::int64_t i = begin; i < end; ++i) {
    const auto bin = static_cast<std::int64_t>(bins[i]);
    if (static_cast<std::uint64_t>(bin) - static_cast<std::uint64_t>(low) < width)
      sums[bin] += static_cast<double>(weights[i]);
  }
}

/// Calls f(pointer to the bins) with the bins' type.
template <class F>
void with_bins(const runtime::bin_entries& e, const F& f) {
  if (e.bin_type == dtype::i32) f(static_cast<const std::int32_t*>(e.bins));
  else f(static_cast<const std::int64_t*>(e.bins));
}

template <class Bin, class Weight>
void sum_all(const Bin* bins, const Weight* weights, std::int64_t n, std::int64_t bin_count, double* sums,
             void* scratch) {
  const std::int64_t tables = summing_tables(n, bin_count);
  if (tables > 1) {
    auto* table = static_cast<double*>(scratch);
    runtime::parallel_for(tables, count_time * static_cast<double>(n), [&](std::int64_t k) {
      std::fill_n(table + k * bin_count, bin_count, 0.0);
      sum_range(bins, weights, n * k / tables, n * (k + 1) / tables, 0, bin_count, table + k * bin_count);
    });
    return add_tables(table, tables, bin_count, sums);
  }
  // Many bins: each thread owns a range of bins and scans all elements for them. Whether an element is one of them is not
  // foreseen, so that few threads would take as long as one.
  const int threads = runtime::thread_count();
  const std::int64_t most = n < 2 * short_input || threads < scanning_threads ? 1 : std::min(16, threads);
  const std::int64_t shared = std::clamp<std::int64_t>(bin_count >> 10, 1, most);
  runtime::parallel_for(shared, count_time * static_cast<double>(n), [&](std::int64_t p) {
    const std::int64_t low = bin_count * p / shared, high = bin_count * (p + 1) / shared;
    std::fill(sums + low, sums + high, 0.0);
    sum_range(bins, weights, 0, n, low, high, sums);
  });
}

template <class T>
void count_samples(const void* samples, std::int64_t n, const runtime::bin_range& r, std::int64_t* counts,
                   void* scratch) {
  const backends::equal_bins<T> bins(r.low, r.high, r.count, r.narrow);
  auto* values = static_cast<const T*>(samples);
  count_all(n, r.count, counts, scratch, [=](std::int64_t i) { return bins.bin(values[i]); });
}

}  // namespace

std::size_t cpu_algorithms::count_bins_scratch(std::int64_t n, std::int64_t bin_count) {
  return table_bytes(counting_tables(n, bin_count), bin_count);
}

void cpu_algorithms::count_bins(const runtime::bin_entries& e, std::int64_t bin_count, std::int64_t* counts,
                                void* scratch) {
  with_bins(e, [&](const auto* bins) {
    count_all(e.count, bin_count, counts, scratch, [=](std::int64_t i) { return static_cast<std::int64_t>(bins[i]); });
  });
}

std::size_t cpu_algorithms::sum_bins_scratch(std::int64_t n, std::int64_t bin_count) {
  return table_bytes(summing_tables(n, bin_count), bin_count);
}

void cpu_algorithms::sum_bins(const runtime::bin_entries& e, std::int64_t bin_count, double* sums, void* scratch) {
  with_bins(e, [&](const auto* bins) {
    if (e.weight_type == dtype::f32)
      sum_all(bins, static_cast<const float*>(e.weights), e.count, bin_count, sums, scratch);
    else sum_all(bins, static_cast<const double*>(e.weights), e.count, bin_count, sums, scratch);
  });
}

bool cpu_algorithms::adds_in_order(dtype type) const {
  return is_integer(type) || type == dtype::f32 || type == dtype::f64 || is_complex(type);
}

// One thread: the next sum may be the one that the last addition has changed.
void cpu_algorithms::add_in_order(dtype type, std::int64_t n, const std::int64_t* at, const void* values, void* sums) {
  const auto add = [&]<class T>(T) {
    const T* const v = static_cast<const T*>(values);
    T* const s = static_cast<T*>(sums);
    for (std::int64_t i = 0; i < n; ++i) s[at[i]] = static_cast<T>(s[at[i]] + v[i]);
  };
  switch (type) {
    case dtype::i8:
    case dtype::u8: return add(std::uint8_t{});
    case dtype::i16:
    case dtype::u16: return add(std::uint16_t{});
    case dtype::i32:
    case dtype::u32: return add(std::uint32_t{});
    case dtype::i64:
    case dtype::u64: return add(std::uint64_t{});
    case dtype::f32: return add(float{});
    case dtype::f64: return add(double{});
    case dtype::c64: return add(std::complex<float>{});
    default: return add(std::complex<double>{});
  }
}

void cpu_algorithms::add_in_order_unless(const bool* skip, dtype type, std::int64_t n, const std::int64_t* at,
                                         const void* values, void* sums) {
  if (!*skip) add_in_order(type, n, at, values, sums);
}

// One thread takes 3 ns for an element; to find the last one for each position takes 24, on any number of threads.
bool cpu_algorithms::writes_in_order() const { return runtime::thread_count() <= 8; }

void cpu_algorithms::write_in_order(dtype type, std::int64_t n, const std::int64_t* at, const void* values, void* to) {
  const auto write = [&]<class T>(T) {
    const T* const v = static_cast<const T*>(values);
    T* const y = static_cast<T*>(to);
    for (std::int64_t i = 0; i < n; ++i) y[at[i]] = v[i];
  };
  switch (itemsize(type)) {
    case 1: return write(std::uint8_t{});
    case 2: return write(std::uint16_t{});
    case 4: return write(std::uint32_t{});
    case 8: return write(std::uint64_t{});
    default: return write(std::complex<double>{});
  }
}

std::size_t cpu_algorithms::histogram_scratch(dtype, std::int64_t n, const runtime::bin_range& bins) {
  return table_bytes(counting_tables(n, bins.count), bins.count);
}

void cpu_algorithms::histogram(dtype type, const void* samples, std::int64_t n, const runtime::bin_range& bins,
                               std::int64_t* counts, void* scratch) {
  const auto count = [&]<class T>(T) { count_samples<T>(samples, n, bins, counts, scratch); };
  switch (type) {
    case dtype::u8: return count(std::uint8_t{});
    case dtype::u16: return count(std::uint16_t{});
    case dtype::i32: return count(std::int32_t{});
    case dtype::i64: return count(std::int64_t{});
    case dtype::f32: return count(float{});
    case dtype::f64: return count(double{});
    default: throw dtype_error("[histogram] no bins for samples of dtype " + std::string(name(type)));
  }
}

}  // namespace sinter::cpu
