// Counts and sums by bin and histograms on the CPU, against plain loops and NumPy's counts.
#include "backends/cpu/kernels/hooks.hpp"  // clang takes namespace sinter::cpu only before the device of that name

#include <limits>

#include "runtime/hooks.hpp"
#include "sinter/error.hpp"
#include "support/algorithm_cases.hpp"
#include "support/cpu_harness.hpp"

using namespace algorithm_cases;

namespace {

backend& the_cpu() { return runtime::get_backend({}); }
runtime::algorithms& algorithms() { return the_cpu().algorithms(); }

const int thread_counts[] = {1, 2, 7};
const std::int64_t bin_counts[] = {1, 10, 1000, 70000, 1 << 20};

/// Bins of which some are outside; `run` elements in a row are in one bin.
std::vector<std::int64_t> make_bins(std::int64_t n, std::int64_t bin_count, unsigned run, unsigned seed) {
  using limits = std::numeric_limits<std::int64_t>;
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> bins(static_cast<std::size_t>(n));
  const std::int64_t outside[] = {-1, bin_count, limits::min(), limits::max()};
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (i % run) bins[i] = bins[i - 1];
    else
      bins[i] = random() % 10 == 0 ? outside[random() % 4]
                                   : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bin_count));
  }
  return bins;
}

std::vector<std::int64_t> counted(const std::vector<std::int64_t>& bins, std::int64_t bin_count) {
  const auto n = static_cast<std::int64_t>(bins.size());
  guarded_memory on_device(the_cpu(), bytes_of(bins)), counts(the_cpu(), static_cast<std::size_t>(bin_count) * 8);
  guarded_memory scratch(the_cpu(), algorithms().count_bins_scratch(n, bin_count));
  algorithms().count_bins({n, dtype::i64, on_device.data()}, bin_count, counts.as<std::int64_t>(), scratch.data());
  return counts.download_as<std::int64_t>();
}

std::vector<double> summed(const std::vector<std::int64_t>& bins, const std::vector<double>& weights,
                           std::int64_t bin_count) {
  const auto n = static_cast<std::int64_t>(bins.size());
  guarded_memory on_device(the_cpu(), bytes_of(bins)), values(the_cpu(), bytes_of(weights)),
      sums(the_cpu(), static_cast<std::size_t>(bin_count) * 8);
  guarded_memory scratch(the_cpu(), algorithms().sum_bins_scratch(n, bin_count));
  algorithms().sum_bins({n, dtype::i64, on_device.data(), dtype::f64, values.data()}, bin_count, sums.as<double>(),
                        scratch.data());
  return sums.download_as<double>();
}

template <class T>
std::vector<std::int64_t> histogram(const std::vector<T>& samples, const runtime::bin_range& bins) {
  const auto n = static_cast<std::int64_t>(samples.size());
  guarded_memory on_device(the_cpu(), bytes_of(samples)), counts(the_cpu(), static_cast<std::size_t>(bins.count) * 8);
  guarded_memory scratch(the_cpu(), algorithms().histogram_scratch(dtype_of<T>, n, bins));
  algorithms().histogram(dtype_of<T>, on_device.data(), n, bins, counts.as<std::int64_t>(), scratch.data());
  return counts.download_as<std::int64_t>();
}

}  // namespace

TEST_CASE("count_bins: counts are those of a plain loop, bins outside are left out") {
  cpu_test::settings restore;
  for (std::int64_t n : lengths)
    for (std::int64_t bin_count : bin_counts)
      for (unsigned run : {1u, 100u}) {
        const auto bins = make_bins(n, bin_count, run, 7);
        std::vector<std::int64_t> expected(static_cast<std::size_t>(bin_count));
        for (auto b : bins)
          if (b >= 0 && b < bin_count) ++expected[static_cast<std::size_t>(b)];
        for (int threads : thread_counts) {
          runtime::set_thread_count(threads);
          CAPTURE(n);
          CAPTURE(bin_count);
          CAPTURE(threads);
          CHECK(counted(bins, bin_count) == expected);
        }
      }
  CHECK(counted({0, 1, -1}, 0).empty());
}

TEST_CASE("sum_bins: sums are those of a plain loop, with the same bits for any number of threads") {
  cpu_test::settings restore;
  for (std::int64_t n : lengths)
    for (std::int64_t bin_count : bin_counts) {
      const auto bins = make_bins(n, bin_count, 1, 8);
      const auto weights = make_values<double>(pattern::numbers, n, 9);
      std::vector<double> expected(static_cast<std::size_t>(bin_count));
      for (std::size_t i = 0; i < bins.size(); ++i)
        if (bins[i] >= 0 && bins[i] < bin_count) expected[static_cast<std::size_t>(bins[i])] += weights[i];
      CAPTURE(n);
      CAPTURE(bin_count);
      std::vector<double> first;
      for (int threads : thread_counts) {
        runtime::set_thread_count(threads);
        const auto got = summed(bins, weights, bin_count);
        if (threads == 1) first = got;
        CHECK(bytes_of(got) == bytes_of(first));
      }
      // Short inputs are added in order, as NumPy's bincount adds them; long ones in parts.
      if (n < 60000) CHECK(bytes_of(first) == bytes_of(expected));
      double worst = 0;
      for (std::size_t b = 0; b < first.size(); ++b)
        worst = std::max(worst, std::fabs(first[b] - expected[b]) / std::max(1.0, expected[b]));
      CHECK(worst <= static_cast<double>(n) * 0x1p-52);
    }
  CHECK(summed({0, 1, -1}, {1, 2, 3}, 0).empty());
}

TEST_CASE("histogram: counts of samples on and beside the edges are NumPy's") {
  for (const auto& c : histogram_cases)
    with_sample_type(c.type, [&]<class T>(T) {
      CAPTURE(name(c.type));
      CAPTURE(c.low);
      CAPTURE(c.high);
      const runtime::bin_range bins{c.low, c.high, static_cast<std::int64_t>(c.counts.size())};
      CHECK(histogram(histogram_samples<T>(c), bins) == c.counts);
    });
}

TEST_CASE("histogram: every sample lies between the edges of its bin, however many there are") {
  cpu_test::settings restore;
  for (std::int64_t n : lengths)
    for (std::int64_t bin_count : {1, 7, 1000, 300000})
      for (bool narrow : {false, true}) {
        const auto check = [&]<class T>(T) {
          const runtime::bin_range bins{static_cast<T>(0.1), static_cast<T>(0.9), bin_count, narrow};
          const auto samples = samples_around(edges_of<T>(bins), make_values<T>(pattern::numbers, n, 3));
          const auto expected = counts_between(samples, edges_of<T>(bins));
          for (int threads : thread_counts) {
            runtime::set_thread_count(threads);
            CAPTURE(n);
            CAPTURE(bin_count);
            CAPTURE(narrow);
            CAPTURE(threads);
            CHECK(histogram(samples, bins) == expected);
          }
        };
        check(float{});
        if (!narrow) check(double{});
      }
}

TEST_CASE("histogram: bins as narrow as edges of float32 can be") {
  // Edges round to neighbouring numbers: guesses are off, edges decide.
  for (bool narrow : {false, true})
    for (std::int64_t count : {100, 128, 199}) {
      const float low = 1000, high = low + 200 * 0x1p-14f;
      const runtime::bin_range bins{low, high, count, narrow};
      std::vector<float> samples;
      for (float x = low - 0x1p-13f; x < high + 0x1p-13f; x = std::nextafter(x, 2000.0f)) samples.push_back(x);
      CHECK(histogram(samples, bins) == counts_between(samples, edges_of<float>(bins)));
    }
  const runtime::bin_range denormal{0, 64 * std::numeric_limits<double>::denorm_min(), 16};
  CHECK(histogram(std::vector<double>{denormal.low, denormal.high, denormal.high / 2}, denormal) ==
        std::vector<std::int64_t>{1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1});
}

TEST_CASE("histogram: other dtypes are refused by name") {
  std::int64_t count = 0;
  CHECK_THROWS_WITH_AS(algorithms().histogram(dtype::c64, &count, 1, {0, 1, 1}, &count, nullptr),
                       "[histogram] no bins for samples of dtype complex64", dtype_error);
}
