// Times the device-wide algorithms by themselves: sorting, scans, selection, counting, on memory of the default device.
#include <cstdint>
#include <string>

#include "bench.hpp"
#include "runtime/algorithms/algorithms.hpp"
#include "runtime/backend.hpp"

namespace bench {
namespace {

namespace runtime = sinter::runtime;
using std::int64_t;
using std::size_t;

runtime::backend& default_backend() {
  const auto d = sn::default_device();
  const bool gpu = d.kind == sn::device_kind::cuda;
  return runtime::get_backend({gpu ? runtime::device_kind::cuda : runtime::device_kind::cpu, d.index});
}

struct memory {
  runtime::buffer block;
  explicit memory(size_t bytes) : block(default_backend(), bytes + 1) {}
  void* data() const { return block.data(); }
  template <class T>
  T* as() const {
    return static_cast<T*>(block.data());
  }
};

/// Random bits, made on the device.
ndarray random_bits(int64_t n) {
  auto h = sn::arange(n, {.dtype = sn::int64}) * int64_t{0x2545f4914f6cdd1d} + int64_t{0x14057b7ef767814f};
  h = (h ^ (h >> 32)) * int64_t{0x61c8864680b583eb};
  return h ^ (h >> 29);
}

template <class T>
void sort_row(const std::string& name, const ndarray& x, const runtime::row_layout& l) {
  runtime::backend& b = default_backend();
  const memory sorted(static_cast<size_t>(l.rows * l.columns) * sizeof(T)), scratch(b.algorithms().sort_scratch(l));
  const T* const from = x.data<T>();
  print_row(name, steady_seconds([&] { b.algorithms().sort(l, false, from, sorted.data(), scratch.data()); }),
            static_cast<double>(l.rows * l.columns), "Gkeys/s");
}

void argsort_row(const std::string& name, const ndarray& x, const runtime::row_layout& l) {
  runtime::backend& b = default_backend();
  const int64_t n = l.rows * l.columns;
  const memory result(static_cast<size_t>(n) * 8), scratch(b.algorithms().argsort_scratch(l));
  const void* const keys = x.data<float>();
  print_row(name, steady_seconds([&] { b.algorithms().argsort(l, false, keys, result.as<int64_t>(), scratch.data()); }),
            static_cast<double>(n), "Gkeys/s");
}

void scan_row(const std::string& name, const ndarray& x, const runtime::scan_layout& l) {
  runtime::backend& b = default_backend();
  const auto bytes = static_cast<size_t>(l.outer * l.count * l.inner) * 4;
  const memory to(bytes), scratch(b.algorithms().scan_scratch(l));
  const void* const from = x.data<float>();
  print_row(name, steady_seconds([&] { b.algorithms().scan(l, from, to.data(), scratch.data()); }),
            2.0 * static_cast<double>(bytes), "GB/s");
}

void select_rows(const ndarray& x, int64_t n) {
  runtime::backend& b = default_backend();
  runtime::algorithms& a = b.algorithms();
  const float* const from = x.data<float>();
  auto flags = x > 0.5;
  sn::eval(flags);
  const runtime::selection all{n, 0, nullptr, flags.data<bool>()};
  const memory result(static_cast<size_t>(n) * 8), scratch(a.select_scratch(all));
  print_row("flags counted, " + power_name(n), steady_seconds([&] { a.count_selected(all, scratch.data()); }),
            static_cast<double>(n), "GB/s");
  print_row("counted elements selected, " + power_name(n),
            steady_seconds([&] { a.select(all, 4, from, result.data(), scratch.data()); }),
            6.0 * static_cast<double>(n), "GB/s");
  print_row("counted positions selected, " + power_name(n),
            steady_seconds([&] { a.select_positions(all, result.as<int64_t>(), scratch.data()); }));
}

/// Indexing as users write it; n is a power of two.
void index_rows(const ndarray& x, int64_t n) {
  const ndarray y = x.copy();  // x has given its address away, so that each read of it is a copy
  sn::eval(y);
  print_row("x[x > 0.5], " + power_name(n), steady_seconds([&] { sn::eval(y[y > 0.5]); }));
  print_row("x[mask], " + power_name(n), [&] {
    const ndarray mask = y > 0.5;
    sn::eval(mask);
    return steady_seconds([&] { sn::eval(y[mask]); });
  }());
  print_row("nonzero(x > 0.5), " + power_name(n), steady_seconds([&] { sn::eval(sn::flatnonzero(y > 0.5)); }));
  ndarray clipped = y.copy();
  print_row("x[x > 0.5] = 0, " + power_name(n), steady_seconds([&] {
              clipped[clipped > 0.5] = 0;
              sn::eval(clipped);
            }));
  for (sn::dtype t : {sn::int32, sn::int64}) {
    const ndarray at = (random_bits(n / 4) & (n - 1)).astype(t);
    sn::eval(at);
    print_row("take of " + power_name(n / 4) + " " + std::string(sn::name(t)) + " from " + power_name(n),
              steady_seconds([&] { sn::eval(sn::take(y, at)); }));
    ndarray sums = sn::zeros({1 << 20}, sn::float32);
    const ndarray v = y(sn::slice(n / 4)), bin = at % (1 << 20);
    sn::eval(v, bin, sums);
    for (bool deterministic : {false, true})
      print_row("add_at of " + power_name(n / 4) + " " + std::string(sn::name(t)) + " to 2^20" +
                    (deterministic ? ", deterministic" : ""),
                steady_seconds([&] {
                  sn::add_at(sums, bin, v, {.deterministic = deterministic});
                  sn::eval(sums);
                }));
  }
}

void count_rows(const ndarray& x, int64_t n) {
  runtime::backend& b = default_backend();
  runtime::algorithms& a = b.algorithms();
  const float* const samples = x.data<float>();
  for (int64_t bins : {10, 256, 4096, 100000}) {
    const memory counts(static_cast<size_t>(bins) * 8), scratch(a.histogram_scratch(sn::float32, n, {0, 1, bins}));
    print_row("histogram of " + std::to_string(bins) + " bins, " + power_name(n), steady_seconds([&] {
                a.histogram(sn::float32, samples, n, {0, 1, bins}, counts.as<int64_t>(), scratch.data());
              }),
              4.0 * static_cast<double>(n), "GB/s");
  }
  const int64_t fewer = n / 4;
  for (int64_t bins : {100, 1000000}) {
    auto given = (x * static_cast<double>(bins - 1)).astype(sn::int64);
    auto weights = x.astype(sn::float64);
    sn::eval(given, weights);
    const int64_t* const in = given.data<int64_t>();
    const double* const w = weights.data<double>();
    const memory counts(static_cast<size_t>(bins) * 8), scratch(a.sum_bins_scratch(fewer, bins));
    const memory count_scratch(a.count_bins_scratch(fewer, bins));
    const std::string size = std::to_string(bins) + " bins, " + power_name(fewer);
    print_row("bincount of " + size, steady_seconds([&] {
                a.count_bins({fewer, sn::int64, in}, bins, counts.as<int64_t>(), count_scratch.data());
              }));
    print_row("bincount with weights of " + size, steady_seconds([&] {
                a.sum_bins({fewer, sn::int64, in, sn::float64, w}, bins, counts.as<double>(), scratch.data());
              }));
  }
}

}  // namespace

ndarray random_numbers(int64_t n) {
  auto x = (random_bits(n) & int64_t{0xffffff}).astype(sn::float32) * (1.0 / 16777216.0);
  sn::eval(x);
  return x;
}

std::string power_name(int64_t n) {
  int k = 0;
  while ((int64_t{1} << k) < n) ++k;
  return "2^" + std::to_string(k);
}

int64_t algorithm_size() {
  runtime::backend& b = default_backend();
  // The widest case holds keys, result, and scratch memory: about 30 bytes an element.
  const bool large = !b.host_addressable() && b.memory().available > (size_t{20} << 30);
  return int64_t{1} << (large ? 28 : 22);
}

void algorithm_rows() {
  const int64_t n = algorithm_size();
  print_head();
  const auto x = random_numbers(n);
  const std::string size = power_name(n), rows = power_name(n / 1024);
  const sn::dtype f32 = sn::float32;
  sort_row<float>("sort float32, " + size, x, {f32, 1, n});
  argsort_row("argsort float32, " + size, x, {f32, 1, n});
  for (int64_t columns : {64, 1024, 4096, 16384, 65536}) {
    const std::string shape = power_name(n / columns) + " x " + std::to_string(columns);
    sort_row<float>("sort rows, " + shape, x, {f32, n / columns, columns});
    argsort_row("argsort rows, " + shape, x, {f32, n / columns, columns});
  }
  {
    auto keys = (x * 16777216.0).astype(sn::int32);
    sn::eval(keys);
    sort_row<std::int32_t>("sort int32, " + power_name(n / 4), keys, {sn::int32, 1, n / 4});
    auto wide = x.astype(sn::float64);
    sn::eval(wide);
    sort_row<double>("sort float64, " + power_name(n / 4), wide, {sn::float64, 1, n / 4});
  }
  const auto sum = runtime::scan_op::sum;
  scan_row("cumsum, " + size, x, {sum, f32, 1, n, 1});
  scan_row("cumsum of rows, " + rows + " x 1024", x, {sum, f32, n / 1024, 1024, 1});
  scan_row("cumsum of columns, " + rows + " x 1024", x, {sum, f32, 1, n / 1024, 1024});
  scan_row("cumsum of columns, " + power_name(n / 2) + " x 2", x, {sum, f32, 1, n / 2, 2});
  scan_row("cummax, " + size, x, {runtime::scan_op::max, f32, 1, n, 1});
  select_rows(x, n);
  index_rows(x, n);
  count_rows(x, n);
}

}  // namespace bench
