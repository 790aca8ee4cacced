// Sorting, searching, sets, scans and histograms on the GPU: the same as on the CPU, and right for more than 2^31
// elements, and rows of more than 2^32, which are made and checked on the GPU.
#include <functional>
#include <limits>

#include "gpu/gpu.hpp"

using namespace gpu_test;
using namespace sinter;
using sinter::idx::_;
using sinter::idx::slice;

namespace {

using call = std::function<ndarray(const ndarray&)>;
struct named_call {
  const char* name;
  call of;
};

/// Results that no order of additions rounds, of an array of shape (a, b).
const std::vector<named_call>& exact_calls() {
  static const std::vector<named_call> calls{
      {"sort", [](const ndarray& x) { return sort(x); }},
      {"sort along the first axis", [](const ndarray& x) { return sort(x * 1, 0, {.descending = true}); }},
      {"argsort", [](const ndarray& x) { return argsort(x, std::nullopt); }},
      {"argsort along the first axis", [](const ndarray& x) { return argsort(x, 0, {.descending = true}); }},
      {"lexsort", [](const ndarray& x) { return lexsort(x); }},
      {"topk", [](const ndarray& x) { return topk(x, 3).indices; }},
      {"searchsorted", [](const ndarray& x) { return searchsorted(sort(x(0)), x, "right"); }},
      {"digitize",
       [](const ndarray& x) {
         return digitize(x, array({-2.0, 0.0, 1.5}, {.device = x.device()}));
       }},
      {"unique", [](const ndarray& x) { return unique(x); }},
      {"unique rows", [](const ndarray& x) { return unique(x % 2, {.axis = 0}); }},
      {"unique inverse", [](const ndarray& x) { return unique_all(x).inverse_indices; }},
      {"unique counts", [](const ndarray& x) { return unique_all(x).counts; }},
      {"intersect1d", [](const ndarray& x) { return intersect1d(x(0), x(1)); }},
      {"setxor1d", [](const ndarray& x) { return setxor1d(x(0), x(1)); }},
      {"isin", [](const ndarray& x) { return isin(x, x(0)); }},
      {"cumsum", [](const ndarray& x) { return cumsum(x); }},
      {"cumsum along the first axis", [](const ndarray& x) { return cumulative_sum(x, 0, {.include_initial = true}); }},
      {"cummax", [](const ndarray& x) { return cummax(x, 1); }},
      {"cummin", [](const ndarray& x) { return cummin(x, 0); }},
      {"histogram", [](const ndarray& x) { return histogram(x, 7).hist; }},
      {"histogram over a range",
       [](const ndarray& x) {
         return histogram(x, 100, {.range = {-3.3, 4.7}}).hist;
       }},
      {"histogram with edges",
       [](const ndarray& x) {
         return histogram(x, array({-5.0, 0.0, 1.0, 9.0}, {.device = x.device()})).hist;
       }},
      {"histogram with weights", [](const ndarray& x) { return histogram(x, 5, {.weights = x}).hist; }},
      {"edges by a rule", [](const ndarray& x) { return histogram_bin_edges(x, "auto"); }},
      {"histogramdd",
       [](const ndarray& x) {
         return histogramdd(x.T()(_, slice(2)), {3, 4}).hist;
       }},
  };
  return calls;
}

/// Small whole numbers, so that sums are exact in every dtype.
ndarray whole_numbers(dtype t, std::int64_t rows, std::int64_t columns) {
  const ndarray k = arange(rows * columns);
  const ndarray x = (k * 7919 + floor_divide(k, 13)) % (is_bool(t) ? 2 : 11);
  return reshape(is_unsigned_integer(t) || is_bool(t) ? x.astype(t) : (x - 5).astype(t), {rows, columns});
}

bool has_memory(std::int64_t gibibytes) {
  const device here = default_device();
  auto& backend = runtime::get_backend({runtime::device_kind::cuda, here.index});
  if (backend.memory().available >= static_cast<std::size_t>(gibibytes) << 30) return true;
  MESSAGE("left out: less than " << gibibytes << " GiB of GPU memory are free");
  return false;
}

/// Numbers from -125 to 125 in no simple order.
ndarray scattered(std::int64_t n, dtype t) {
  const ndarray k = arange(n);
  const ndarray x = ((k * 40503 + k / 977) % 251 - 125).astype(t);
  eval(x);
  return x;
}

ndarray but_first(const ndarray& x) { return x(slice(1, _)); }
ndarray but_last(const ndarray& x) { return x(slice(_, -1)); }

/// `order` sorts x and keeps the order of equal elements. Positions ascend with (element, position) strictly, so no
/// position is there twice, and all are there.
bool is_stable_order(const ndarray& x, const ndarray& order, bool descending) {
  const ndarray a = take(x, but_last(order)), b = take(x, but_first(order));
  const ndarray ahead = descending ? a > b : a < b;
  const ndarray in_range = (min(order) == 0) & (max(order) == x.size() - 1);
  return bool(all(ahead | ((a == b) & (but_last(order) < but_first(order))))) && bool(in_range);
}

}  // namespace

TEST_CASE("gpu: sorts, searches, sets, scans and histograms are those of the CPU, of every kind of dtype") {
  if (no_gpu()) return;
  for (dtype type : {bool_, int8, int64, uint16, float16, float32, complex64}) {
    const ndarray x = whole_numbers(type, 23, 301), there = x.to_device(cpu);
    for (const named_call& c : exact_calls()) {
      CAPTURE(std::string(name(type)));
      CAPTURE(std::string(c.name));
      ndarray expected;
      try {
        expected = c.of(there);
      } catch (const dtype_error&) {  // complex numbers have no bins, bools no remainder
        CHECK_THROWS_AS(c.of(x), dtype_error);
        continue;
      }
      const ndarray got = c.of(x);
      CHECK(got.device() == x.device());
      CHECK(got.dtype() == expected.dtype());
      REQUIRE(got.shape() == expected.shape());
      CHECK(got.astype(complex128).to_vector<std::complex<double>>() ==
            expected.astype(complex128).to_vector<std::complex<double>>());
    }
  }
}

TEST_CASE("gpu: partitions and largest elements of short rows, long ones and one row are the CPU's") {
  if (no_gpu()) return;
  for (dtype type : {int32, float32, float64}) {
    for (const shape_t& shape : {shape_t{70, 33}, shape_t{5, 9001}, shape_t{1, 70001}}) {
      CAPTURE(std::string(name(type)));
      CAPTURE(shape[1]);
      const ndarray x = whole_numbers(type, shape[0], shape[1]);
      const std::int64_t k = shape[1] / 3;
      const auto sorted = sort(x.to_device(cpu)).astype(float64);
      const ndarray parts = partition(x, k), largest = topk(x, 10).values;
      CHECK(parts(_, k).astype(float64).to_vector<double>() == sorted(_, k).to_vector<double>());
      CHECK(sort(parts.to_device(cpu)).astype(float64).to_vector<double>() == sorted.to_vector<double>());
      CHECK(bool(all(parts(_, slice(0, k)) <= parts(_, slice(k, k + 1)))));
      CHECK(largest.astype(float64).to_vector<double>() == flip(sorted, 1)(_, slice(0, 10)).to_vector<double>());
    }
  }
}

TEST_CASE("gpu: random numbers are counted into the same bins as on the CPU, by every rule") {
  if (no_gpu()) return;
  for (dtype t : {float16, bfloat16, float32, float64}) {
    const ndarray x = array(uniform<double>(100000, -3, 5, 7)).astype(t), there = x.to_device(cpu);
    for (std::int64_t bins : {1, 10, 100, 1000}) {
      if (bins > 100 && itemsize(t) == 2) continue;
      CAPTURE(std::string(name(t)));
      CAPTURE(bins);
      const histogram_result got = histogram(x, bins), expected = histogram(there, bins);
      CHECK(got.hist.to_vector<std::int64_t>() == expected.hist.to_vector<std::int64_t>());
      CHECK(first_difference(got.bin_edges.astype(float64).to_vector<double>(),
                             expected.bin_edges.astype(float64).to_vector<double>()) == -1);
      const auto in_range = [&](const ndarray& of) { return histogram(of, bins, {.range = {-0.7, 0.9}}).hist; };
      CHECK(in_range(x).to_vector<std::int64_t>() == in_range(there).to_vector<std::int64_t>());
    }
    if (t == bfloat16) continue;  // too coarse for as many bins as the rules want
    for (const char* rule : {"auto", "fd", "rice", "sturges", "sqrt", "stone"})
      CHECK(histogram_bin_edges(x, rule).size() == histogram_bin_edges(there, rule).size());
  }
}

TEST_CASE("gpu: more than 2^31 elements are sorted, ranked, searched, made unique, scanned and counted" *
          doctest::test_suite("alone")) {
  if (no_gpu() || !has_memory(80)) return;
  const std::int64_t n = (std::int64_t{1} << 31) + 12345;
  const ndarray x = scattered(n, int8);
  const ndarray count_of = histogram(x, 251, {.range = {-125, 126}}).hist;
  CHECK(sum(count_of).item<std::int64_t>() == n);
  {
    const ndarray sorted = sort(x);
    CHECK(bool(all(but_last(sorted) <= but_first(sorted))));
    CHECK(bool(all(histogram(sorted, 251, {.range = {-125, 126}}).hist == count_of)));
    const ndarray ends = searchsorted(sorted, arange(-125, 126).astype(int8), "right");
    CHECK(bool(all(ends == cumsum(count_of))));
    CHECK(ends(-1).item<std::int64_t>() == n);
  }
  {
    const unique_counts_result r = unique_counts(x);
    CHECK(bool(all(r.values == arange(-125, 126))));
    CHECK(bool(all(r.counts == count_of)));
  }
  CHECK(is_stable_order(x, argsort(x), false));
  CHECK(is_stable_order(x, argsort(x, {.descending = true}), true));
  {
    const ndarray running = cumsum(x);
    CHECK(bool(all(but_first(running) - but_last(running) == but_first(x))));
    CHECK(running(-1).item<std::int64_t>() == sum(x).item<std::int64_t>());
  }
}

TEST_CASE("gpu: more than 2^31 float32 numbers with NaNs are sorted and scanned, in the same bits every time" *
          doctest::test_suite("alone")) {
  if (no_gpu() || !has_memory(60)) return;
  const std::int64_t n = (std::int64_t{1} << 31) + 777;
  const ndarray k = arange(n), numbers = ((k * 40503) % 1000003).astype(float32) - 500000;
  const ndarray x = where(k % 1000000007 == 5, std::numeric_limits<double>::quiet_NaN(), numbers);
  eval(x);
  CHECK(x.dtype() == float32);
  const std::int64_t nans = sum(isnan(x)).item<std::int64_t>();
  CHECK(nans == 3);
  {
    const ndarray sorted = sort(x), valid = sorted(slice(_, n - nans));
    CHECK(bool(all(isnan(sorted(slice(n - nans, _))))));
    CHECK(bool(all(but_last(valid) <= but_first(valid))));
    CHECK(sum(valid, {.dtype = float64}).item<double>() ==
          sum(where(isnan(x), 0, x), {.dtype = float64}).item<double>());
  }
  const ndarray first = nancumsum(x), second = nancumsum(x);
  CHECK(bool(all(first == second)));
}

TEST_CASE("gpu: a row of more than 2^32 elements is ranked with indices of 64 bits" * doctest::test_suite("alone")) {
  if (no_gpu() || !has_memory(100)) return;
  const std::int64_t n = (std::int64_t{1} << 32) + 4321;
  const ndarray x = scattered(n, int16);
  CHECK(is_stable_order(x, argsort(x), false));
}

TEST_CASE("gpu: many rows, of more than 2^31 elements together" * doctest::test_suite("alone")) {
  if (no_gpu() || !has_memory(40)) return;
  const std::pair<std::int64_t, std::int64_t> shapes[] = {{(1 << 21) + 1, 1024}, {1 << 16, 40000}};
  for (const auto& [rows, columns] : shapes) {
    const ndarray x = reshape(scattered(rows * columns, int8), {rows, columns});
    const ndarray sorted = sort(x), total = sum(x, 1), after = sum(sorted, 1);
    CHECK(bool(all(sorted(_, slice(_, -1)) <= sorted(_, slice(1, _)))));
    CHECK(bool(all(total == after)));
  }
}
