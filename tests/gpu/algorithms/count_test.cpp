// Counting, sums by bin and histograms on the GPU against plain loops; and arrays of more than 2^31 elements.
#ifdef SINTER_HAS_CUDA

#include <limits>

#include "gpu/algorithms/algorithms.hpp"
#include "support/algorithm_cases.hpp"

using namespace algorithms_test;

namespace {

const int64_t sizes[] = {0, 1, 2, 31, 32, 33, 1000, 4097, (1 << 20) + 3};

std::vector<int64_t> random_bins(int64_t n, int64_t bins, bool outside) {
  std::vector<int64_t> out(static_cast<size_t>(n));
  std::mt19937_64 random(static_cast<unsigned>(n + bins));
  for (auto& x : out) {
    const auto draw = random();
    x = static_cast<int64_t>(draw % static_cast<std::uint64_t>(bins));
    if (outside && draw % 11 == 0) x = draw % 2 ? -1 - x : bins + x;
    if (outside && draw % 1013 == 0)
      x = draw % 2 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  }
  return out;
}

template <class T>
device_array to_device(runtime::backend& b, const std::vector<T>& x) {
  return device_array(b, x.data(), x.size() * sizeof(T));
}

}  // namespace

TEST_CASE("gpu: bins are counted, few and many, and what lies outside is left out") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  runtime::algorithms& a = b->algorithms();
  for (int64_t n : sizes)
    for (int64_t bins :
         {int64_t{1}, int64_t{10}, int64_t{300}, int64_t{5000}, int64_t{8192}, int64_t{8193}, int64_t{300000}})
      for (bool outside : {false, true}) {
        CAPTURE(n);
        CAPTURE(bins);
        const auto samples = random_bins(n, bins, outside);
        std::vector<int64_t> expected(static_cast<size_t>(bins));
        for (int64_t x : samples)
          if (x >= 0 && x < bins) ++expected[static_cast<size_t>(x)];
        const device_array from = to_device(*b, samples), counts(*b, expected.size() * 8);
        const device_array scratch(*b, a.count_bins_scratch(n, bins));
        a.count_bins({n, dtype::i64, from.data()}, bins, counts.as<int64_t>(), scratch.data());
        CHECK(counts.to_host_as<int64_t>() == expected);
      }
}

TEST_CASE("gpu: all samples in one bin are counted") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  runtime::algorithms& a = b->algorithms();
  for (int64_t bins : {int64_t{7}, int64_t{100000}}) {
    const std::vector<int64_t> samples(1000001, 5);
    const device_array from = to_device(*b, samples), counts(*b, static_cast<size_t>(bins) * 8);
    const device_array scratch(*b, a.count_bins_scratch(1000001, bins));
    a.count_bins({1000001, dtype::i64, from.data()}, bins, counts.as<int64_t>(), scratch.data());
    const auto got = counts.to_host_as<int64_t>();
    CHECK(got[5] == 1000001);
    CHECK(std::accumulate(got.begin(), got.end(), int64_t{0}) == 1000001);
  }
}

TEST_CASE("gpu: weights are added by bin, exactly where no order rounds, and with the same bits in every run") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  runtime::algorithms& a = b->algorithms();
  for (int64_t n : sizes)
    for (int64_t bins : {int64_t{1}, int64_t{2}, int64_t{100}, int64_t{30000}, int64_t{1000003}}) {
      CAPTURE(n);
      CAPTURE(bins);
      const auto samples = random_bins(n, bins, true);
      std::vector<double> weights(samples.size()), expected(static_cast<size_t>(bins));
      std::mt19937_64 random(3);
      for (auto& w : weights) w = static_cast<double>(random() % 2001) - 1000;
      for (size_t k = 0; k < samples.size(); ++k)
        if (samples[k] >= 0 && samples[k] < bins) expected[static_cast<size_t>(samples[k])] += weights[k];
      const device_array from = to_device(*b, samples), sums(*b, expected.size() * 8);
      const device_array scratch(*b, a.sum_bins_scratch(n, bins));
      {
        const device_array w = to_device(*b, weights);
        a.sum_bins({n, dtype::i64, from.data(), dtype::f64, w.data()}, bins, sums.as<double>(), scratch.data());
        CHECK(sums.to_host_as<double>() == expected);
        // Narrower bins and weights, of which these are as exact.
        std::vector<std::int32_t> narrow(samples.size());
        for (size_t k = 0; k < samples.size(); ++k)
          narrow[k] = static_cast<std::int32_t>(std::clamp<int64_t>(samples[k], -1, bins));
        const std::vector<float> single(weights.begin(), weights.end());
        const device_array i = to_device(*b, narrow), s = to_device(*b, single);
        a.sum_bins({n, dtype::i32, i.data(), dtype::f32, s.data()}, bins, sums.as<double>(), scratch.data());
        CHECK(sums.to_host_as<double>() == expected);
        a.sum_bins({n, dtype::i32, i.data(), dtype::f64, w.data()}, bins, sums.as<double>(), scratch.data());
        CHECK(sums.to_host_as<double>() == expected);
        a.sum_bins({n, dtype::i64, from.data(), dtype::f32, s.data()}, bins, sums.as<double>(), scratch.data());
        CHECK(sums.to_host_as<double>() == expected);
      }
      for (auto& w : weights) w = static_cast<double>(random() >> 11) * 0x1p-53;
      const device_array w = to_device(*b, weights);
      bytes first;
      for (int run = 0; run < 3; ++run) {
        a.sum_bins({n, dtype::i64, from.data(), dtype::f64, w.data()}, bins, sums.as<double>(), scratch.data());
        if (run == 0) first = sums.to_host();
        CHECK(sums.to_host() == first);
      }
    }
}

TEST_CASE("gpu: sums by bin of more samples than are sorted together") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  const int64_t n = (int64_t{1} << 26) + 12345, bins = 1000;
  if (b->memory().available < (size_t{8} << 30)) {
    MESSAGE("left out: less than 8 GiB of GPU memory are free");
    return;
  }
  std::vector<int64_t> samples(static_cast<size_t>(n));
  std::vector<double> weights(samples.size()), expected(static_cast<size_t>(bins));
  for (size_t k = 0; k < samples.size(); ++k) {
    samples[k] = static_cast<int64_t>(k * 7919 % 1000);
    weights[k] = static_cast<double>(k % 16);
    expected[static_cast<size_t>(samples[k])] += weights[k];
  }
  const device_array from = to_device(*b, samples), w = to_device(*b, weights), sums(*b, static_cast<size_t>(bins) * 8);
  const device_array scratch(*b, b->algorithms().sum_bins_scratch(n, bins));
  b->algorithms().sum_bins({n, dtype::i64, from.data(), dtype::f64, w.data()}, bins, sums.as<double>(), scratch.data());
  CHECK(sums.to_host_as<double>() == expected);
}

namespace {

template <class T>
void check_histogram(runtime::backend& b, const std::vector<T>& samples, const runtime::bin_range& bins) {
  const auto expected = algorithm_cases::counts_between(samples, algorithm_cases::edges_of<T>(bins));
  const auto n = static_cast<int64_t>(samples.size());
  const dtype t = sinter::dtype_of<T>;
  const std::string type(sinter::name(t));
  CAPTURE(type);
  CAPTURE(n);
  CAPTURE(bins.count);
  CAPTURE(bins.narrow);
  const device_array scratch(b, b.algorithms().histogram_scratch(t, n, bins));
  for (const size_t offset : {size_t{0}, sizeof(T)}) {  // samples that begin where a pack of them does, and that do not
    const device_array from(b, samples.data(), samples.size() * sizeof(T), offset), counts(b, expected.size() * 8);
    b.algorithms().histogram(t, from.data(), n, bins, counts.as<int64_t>(), scratch.data());
    CHECK(counts.to_host_as<int64_t>() == expected);
  }
}

template <class T>
void check_histograms(runtime::backend& b) {
  std::mt19937_64 random(17);
  for (int64_t n : sizes)
    for (int64_t bins : {int64_t{1}, int64_t{10}, int64_t{77}, int64_t{1000}, int64_t{20000}}) {
      std::vector<T> samples(static_cast<size_t>(n));
      for (T& x : samples) {
        const auto draw = random();
        if constexpr (std::is_integral_v<T>) x = static_cast<T>(draw % 251);
        else x = static_cast<T>(static_cast<double>(draw >> 11) * 0x1p-53 * 260 - 5);
        if (std::is_floating_point_v<T> && draw % 301 == 0) x = std::numeric_limits<T>::quiet_NaN();
        if (std::is_floating_point_v<T> && draw % 307 == 0) x = -std::numeric_limits<T>::infinity();
      }
      check_histogram(b, samples, {0, 250, bins});
      check_histogram(b, samples, {0.1, 77.7, bins});
      if constexpr (std::is_floating_point_v<T>)  // every edge, and its neighbours
        for (bool narrow : {false, std::is_same_v<T, float>}) {
          const runtime::bin_range range{static_cast<T>(0.1), static_cast<T>(77.7), bins, narrow};
          const auto edges = algorithm_cases::edges_of<T>(range);
          check_histogram(b, algorithm_cases::samples_around(edges, std::vector<T>(edges)), range);
        }
    }
}

}  // namespace

TEST_CASE("gpu: histograms put samples at and beside every edge where comparisons with the edges put them") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  check_histograms<std::int32_t>(*b);
  check_histograms<std::int64_t>(*b);
  check_histograms<std::uint8_t>(*b);
  check_histograms<std::uint16_t>(*b);
  check_histograms<float>(*b);
  check_histograms<double>(*b);
}

TEST_CASE("gpu: more than 2^31 elements are sorted, scanned, selected and counted" * doctest::test_suite("alone")) {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  if (b->memory().available < (size_t{40} << 30)) {
    MESSAGE("left out: less than 40 GiB of GPU memory are free");
    return;
  }
  runtime::algorithms& a = b->algorithms();
  const int64_t n = (int64_t{1} << 31) + 4099;
  const auto count = static_cast<size_t>(n);
  std::vector<std::uint16_t> bits(count);
  std::vector<int64_t> expected(65536);
  for (size_t k = 0; k < count; ++k) ++expected[bits[k] = static_cast<std::uint16_t>((k * 40503u) >> 7)];
  {  // float16: a radix sort, and negative NaNs, which are many here, brought to the end
    const runtime::row_layout layout{dtype::f16, 1, n};
    const device_array data(*b, bits.data(), count * 2), scratch(*b, a.sort_scratch(layout));
    a.sort(layout, false, data.data(), data.data(), scratch.data());
    const auto sorted = data.to_host_as<std::uint16_t>();
    std::vector<int64_t> got(65536);
    int64_t disorder = 0;
    for (size_t k = 0; k < count; ++k) {
      ++got[sorted[k]];
      if (k > 0 && sorted[k] != sorted[k - 1] && sorts_before(dtype::f16, &sorted[k], &sorted[k - 1])) ++disorder;
    }
    CHECK(disorder == 0);
    CHECK(got == expected);
  }
  std::vector<unsigned char> ones(count, 1);
  const device_array data(*b, ones.data(), count);
  {
    const runtime::scan_layout layout{runtime::scan_op::sum, dtype::u8, 1, n, 1};
    const device_array to(*b, count), scratch(*b, a.scan_scratch(layout));
    a.scan(layout, data.data(), to.data(), scratch.data());
    const bytes got = to.to_host();
    int64_t wrong = 0;
    for (size_t k = 0; k < count; ++k) wrong += got[k] != static_cast<unsigned char>(k + 1);
    CHECK(wrong == 0);
  }
  {
    std::fill(ones.begin(), ones.end(), static_cast<unsigned char>(0));
    std::vector<int64_t> set;
    for (int64_t k = 3; k < n; k += 10000019) set.push_back(k);
    set.push_back(n - 1);
    for (int64_t k : set) ones[static_cast<size_t>(k)] = 1;
    const device_array flags(*b, ones.data(), count), found(*b, set.size() * 8);
    const runtime::selection all{n, 0, nullptr, flags.as<bool>()};
    const device_array scratch(*b, a.select_scratch(all));
    int64_t total = 0;
    b->copy_to_host(&total, a.count_selected(all, scratch.data()), sizeof total);
    REQUIRE(total == static_cast<int64_t>(set.size()));
    a.select_positions(all, found.as<int64_t>(), scratch.data());
    CHECK(found.to_host_as<int64_t>() == set);
    const device_array counts(*b, size_t{16});
    const device_array none(*b, a.histogram_scratch(dtype::u8, n, {0, 2, 2}));
    a.histogram(dtype::u8, flags.data(), n, {0, 2, 2}, counts.as<int64_t>(), none.data());
    CHECK(counts.to_host_as<int64_t>() ==
          std::vector<int64_t>{n - static_cast<int64_t>(set.size()), static_cast<int64_t>(set.size())});
  }
}

#endif
