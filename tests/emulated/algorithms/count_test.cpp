// The CUDA kernel that counts in shared memory, run thread by thread on the CPU, against comparisons with the edges.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/count.hpp"
#include "support/algorithm_cases.hpp"

namespace {

using std::int64_t;

template <class T>
void check(emulated::count_kernel<T> kernel, const std::vector<T>& samples, int64_t head,
           const sinter::runtime::bin_range& bins, int copies) {
  CAPTURE(samples.size());
  CAPTURE(head);
  CAPTURE(bins.low);
  CAPTURE(bins.high);
  CAPTURE(bins.count);
  CAPTURE(bins.narrow);
  constexpr unsigned blocks = 2;
  const auto n = static_cast<int64_t>(samples.size());
  // The samples before the first pack end at an address that begins one.
  std::vector<T> memory(samples.size() + 16);
  constexpr int64_t pack = 16 / sizeof(T);
  T* const from = memory.data() + (pack - head) % pack;
  std::copy(samples.begin(), samples.end(), from);
  std::vector<unsigned> counts(static_cast<std::size_t>(blocks * bins.count));
  CHECK(cuda_emulator::launch({blocks}, {emulated::count_block}, [&] {
          kernel(from, n, std::min(head, n), bins.low, bins.high, static_cast<int>(bins.count), copies, bins.narrow,
                 counts.data());
        }) == std::string());
  std::vector<int64_t> got(static_cast<std::size_t>(bins.count));
  for (std::size_t k = 0; k < counts.size(); ++k) got[k % got.size()] += counts[k];
  CHECK(got == algorithm_cases::counts_between(samples, algorithm_cases::edges_of<T>(bins)));
}

template <class T>
std::vector<T> random_samples(std::size_t n, double low, double high) {
  std::mt19937_64 random(n);
  std::vector<T> samples(n);
  for (T& x : samples) {
    const auto draw = random();
    const double place = static_cast<double>(draw >> 11) * 0x1p-53 * 1.2 - 0.1;
    if constexpr (std::is_integral_v<T>) {
      x = static_cast<T>(draw);
    } else {
      x = static_cast<T>(low + place * (high - low));
      if (draw % 101 == 0) x = std::numeric_limits<T>::quiet_NaN();
      if (draw % 103 == 0) x = std::numeric_limits<T>::infinity();
      if (draw % 107 == 0) x = -std::numeric_limits<T>::max();
      if (draw % 109 == 0) x = static_cast<T>(high);
      if (draw % 113 == 0) x = static_cast<T>(low);
    }
  }
  return samples;
}

template <class T>
void check_all(emulated::count_kernel<T> kernel) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{70000}})
    for (const auto& [low, high] : {std::pair(0.0, 1.0), std::pair(0.1, 77.7), std::pair(-1e6, 1e6 + 3)}) {
      check(kernel, random_samples<T>(n, low, high), 0, {low, high, 256}, 32);
      check(kernel, random_samples<T>(n, low, high), 1, {low, high, 8192}, 1);
    }
  if constexpr (!std::is_integral_v<T>)
    for (const bool narrow : {false, std::is_same_v<T, float>}) {
      const sinter::runtime::bin_range range{static_cast<T>(0.1), static_cast<T>(77.7), 1000, narrow};
      const auto edges = algorithm_cases::edges_of<T>(range);
      auto samples = algorithm_cases::samples_around(edges, std::vector<T>(edges));
      while (samples.size() < 20000) samples.insert(samples.end(), samples.begin(), samples.begin() + 1000);
      check(kernel, samples, 3 % (16 / static_cast<int64_t>(sizeof(T))), range, 8);
      // A range so small that only the edges decide.
      const double tiny = std::numeric_limits<T>::denorm_min() * 1000;
      check(kernel, random_samples<T>(20000, 0, tiny), 0, {0, tiny, 10}, 32);
    }
}

}  // namespace

TEST_CASE("emulated kernels: samples are counted in packs, and where an edge is near by the edges") {
  if (!cuda_emulator::available()) {
    MESSAGE("left out: the sanitizer does not follow changes of stack");
    return;
  }
  check_all(emulated::count_floats);
  check_all(emulated::count_doubles);
  check_all(emulated::count_bytes);
}
