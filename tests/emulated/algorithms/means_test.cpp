// The CUDA kernels for a step of k-means, run thread by thread on the CPU: nearest centers, and the order of the additions,
// written out.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/means.hpp"

namespace {

using emulated::means_arguments;
using emulated::means_kernels;
using std::int64_t;

std::size_t at(int64_t i) { return static_cast<std::size_t>(i); }

template <class T>
const means_kernels<T>& kernels() {
  if constexpr (sizeof(T) == 4) return emulated::means_of_singles;
  else return emulated::means_of_doubles;
}

template <class T>
struct inputs {
  int64_t n;
  int d, k;
  int64_t turns;  // of a warp; 0: as many as it has in a launch of this size
  std::vector<T> x, centers, weights;
  std::vector<int64_t> before;
};
/// `whole`: small whole numbers, of which many are as near to several centers. The last center is far from all points.
template <class T>
inputs<T> make(int64_t n, int d, int k, bool whole, int64_t turns) {
  std::mt19937_64 random(static_cast<unsigned>(n * 31 + d * 7 + k));
  const auto draw = [&] {
    const auto of = static_cast<double>(random() >> 11) * 0x1p-53;
    return static_cast<T>(whole ? std::floor(of * 5) - 2 : of * 2 - 1);
  };
  inputs<T> in{n, d, k, turns, std::vector<T>(at(n * d)), std::vector<T>(at(k * d)), std::vector<T>(at(n)), {}};
  for (T& v : in.x) v = draw();
  for (T& v : in.centers) v = draw();
  for (int64_t i = 0; i < n; ++i) in.weights[at(i)] = static_cast<T>(i % 3);
  if (k > 1) std::fill(in.centers.end() - d, in.centers.end(), static_cast<T>(1000));
  in.before.assign(at(n), -1);
  return in;
}

template <class T>
struct outcome {
  std::vector<int64_t> labels;
  std::vector<T> sums, totals;
  bool same = false;
};

template <class T>
std::vector<int64_t> labels_of(const inputs<T>& in) {
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < in.n; ++i) {
    int64_t best = 0;
    T least = std::numeric_limits<T>::infinity();
    for (int64_t c = 0; c < in.k; ++c) {
      T square = 0;
      for (int64_t a = 0; a < in.d; ++a) {
        const T off = in.x[at(i * in.d + a)] - in.centers[at(c * in.d + a)];
        square = std::fma(off, off, square);
      }
      if (square < least) least = square, best = c;
    }
    labels.push_back(best);
  }
  return labels;
}

/// How the points are divided.
template <class T>
emulated::means_sizes sizes_of(const inputs<T>& in) {
  emulated::means_sizes s = kernels<T>().sizes(in.n, in.d, in.k, true);
  if (in.turns == 0) return s;
  s.per_warp *= in.turns;
  s.blocks = (in.n + s.per_warp * s.warps - 1) / (s.per_warp * s.warps);
  return s;
}

/// Parts of points in order, their sums by block in float64, every sixteenth block, and these.
template <class T>
outcome<T> expected(const inputs<T>& in, bool weighted) {
  outcome<T> out{labels_of(in), {}, {}, false};
  out.same = out.labels == in.before;
  const emulated::means_sizes s = sizes_of(in);
  const int64_t width = in.d + 1, size = in.k * width;
  std::vector<std::vector<double>> of_part(16, std::vector<double>(at(size)));
  for (int64_t b = 0; b < s.blocks; ++b) {
    std::vector<double> of_block(at(size));
    for (int64_t w = 0; w < s.warps; ++w) {
      std::vector<T> own(at(size));
      const int64_t begin = (b * s.warps + w) * s.per_warp;
      for (int64_t i = begin; i < std::min(begin + s.per_warp, in.n); ++i) {
        const T weight = weighted ? in.weights[at(i)] : T(1);
        T* const row = own.data() + out.labels[at(i)] * width;
        for (int64_t a = 0; a < in.d; ++a) {
          const T of = weight * in.x[at(i * in.d + a)];
          row[a] += of;
        }
        row[in.d] += weight;
      }
      for (std::size_t e = 0; e < own.size(); ++e) of_block[e] += static_cast<double>(own[e]);
    }
    for (std::size_t e = 0; e < of_block.size(); ++e) of_part[at(b % 16)][e] += of_block[e];
  }
  for (int64_t e = 0; e < size; ++e) {
    double sum = 0;
    for (const auto& part : of_part) sum += part[at(e)];
    (e % width == in.d ? out.totals : out.sums).push_back(static_cast<T>(sum));
  }
  return out;
}

template <class T>
outcome<T> computed(const inputs<T>& in, bool weighted) {
  const auto& of = kernels<T>();
  const emulated::means_sizes s = sizes_of(in);
  const int64_t entries = in.k * (in.d + 1) + 1;
  outcome<T> out{std::vector<int64_t>(at(in.n), -5), std::vector<T>(at(in.k * in.d), -7), std::vector<T>(at(in.k), -7)};
  std::vector<double> tables(at(s.blocks * entries), -9);
  means_arguments<T> a{in.n,
                       in.d,
                       in.k,
                       in.x.data(),
                       in.centers.data(),
                       weighted ? in.weights.data() : nullptr,
                       in.before.data(),
                       out.labels.data(),
                       tables.data(),
                       s.per_warp,
                       s.blocks};
  CHECK(cuda_emulator::launch({static_cast<unsigned>(s.blocks)}, {static_cast<unsigned>(32 * s.warps)},
                              [&] { of.step(a); }) == std::string());
  const auto joins = static_cast<unsigned>((entries + emulated::means_join_bins - 1) / emulated::means_join_bins);
  CHECK(cuda_emulator::launch({joins}, {static_cast<unsigned>(emulated::means_join_threads)},
                              [&] { of.join(a, out.sums.data(), out.totals.data(), &out.same); }) == std::string());
  return out;
}

template <class T>
void check(int64_t n, int d, int k, bool whole = false, int64_t turns = 0) {
  CAPTURE(n);
  CAPTURE(d);
  CAPTURE(k);
  inputs<T> in = make<T>(n, d, k, whole, turns);
  for (const bool weighted : {false, true}) {
    const outcome<T> now = computed(in, weighted), want = expected(in, weighted);
    CHECK(now.labels == want.labels);
    CHECK(now.sums == want.sums);
    CHECK(now.totals == want.totals);
    CHECK_FALSE(now.same);
  }
  in.before = labels_of(in);
  CHECK(computed(in, false).same);
  for (const std::size_t other : {std::size_t{0}, at(n) / 2, at(n) - 1}) {
    in.before[other] += 1;
    CHECK_FALSE(computed(in, false).same);
    in.before[other] -= 1;
  }
  // Labels alone.
  const emulated::means_sizes s = kernels<T>().sizes(n, d, k, false);
  std::vector<int64_t> labels(at(n), -5);
  const means_arguments<T> a{n, d, k, in.x.data(), in.centers.data(), nullptr, nullptr, labels.data(), nullptr};
  CHECK(cuda_emulator::launch({static_cast<unsigned>(s.blocks)}, {static_cast<unsigned>(32 * s.warps)},
                              [&] { kernels<T>().step(a); }) == std::string());
  CHECK(labels == labels_of(in));
}

bool cannot_run() {
  if (cuda_emulator::available()) return false;
  MESSAGE("left out: the sanitizer does not follow changes of stack");
  return true;
}

}  // namespace

TEST_CASE("emulated kernels: a step of k-means has nearest centers and sums in one order") {
  if (cannot_run()) return;
  check<float>(1, 1, 1);
  check<double>(1, 1, 1);
  for (const int64_t n : {31, 65, 1500}) {
    check<float>(n, 3, 7);
    check<double>(n, 5, 4);
  }
  check<float>(1111, 16, 64);
  check<float>(777, 17, 5);
  check<double>(333, 32, 9);
  check<float>(600, 31, 40);
  check<float>(300, 16, 400);  // two warps
  check<double>(700, 2, 12, true);
  check<float>(700, 2, 12, true);
}

TEST_CASE("emulated kernels: k-means divides many points so that warps have several turns") {
  if (cannot_run()) return;
  check<float>(4100, 3, 7, false, 3);
  check<double>(3000, 18, 4, false, 5);
  const emulated::means_sizes s = emulated::means_of_singles.sizes(1100000, 1, 2, true);
  CHECK(s.per_warp > 64);
  CHECK(s.blocks * s.warps * s.per_warp >= 1100000);
  CHECK((s.blocks - 1) * s.warps * s.per_warp < 1100000);
  CHECK(emulated::means_of_doubles.sizes(40000, 33, 2, true).warps == 0);
  CHECK(emulated::means_of_doubles.sizes(40000, 16, 3000, true).warps == 0);
  CHECK(emulated::means_of_doubles.sizes(0, 16, 3, true).warps == 0);
  CHECK(emulated::means_of_singles.sizes(40000, 16, 600, true).warps == 0);
  CHECK(emulated::means_of_singles.sizes(40000, 16, 600, false).warps > 0);
}
