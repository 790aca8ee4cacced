// The example's CUDA kernels, run thread by thread on the CPU: their logic is tested where there is no GPU.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/kernels.hpp"
#include "examples/nearest_neighbor_points.hpp"
#include "nearest_neighbor/check.hpp"
#include "nearest_neighbor/great_circle.hpp"
#include "nearest_neighbor/knn_check.hpp"

namespace {

using namespace nearest_neighbor;
using cuda_emulator::launch;

bool no_emulation() {
  if (cuda_emulator::available()) return false;
  MESSAGE("left out: the sanitizer does not follow changes of stack");
  return true;
}

unsigned blocks_for(std::int64_t n, std::int64_t block) { return static_cast<unsigned>((n + block - 1) / block); }

struct vectors {
  std::vector<float4> memory[3];  // aligned as device memory is
  const float* operator[](int axis) const { return reinterpret_cast<const float*>(memory[axis].data()); }
};

/// `count` unit vectors, those beyond the last repeat it.
vectors unit_vectors(const places& p, std::int64_t count) {
  vectors out;
  for (auto& m : out.memory) m.resize(static_cast<std::size_t>(count + 3) / 4);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = 2 * static_cast<std::size_t>(std::min(i, p.count() - 1));
    const double lat = p.radians[at], lon = p.radians[at + 1];
    const double v[3] = {std::cos(lat) * std::cos(lon), std::cos(lat) * std::sin(lon), std::sin(lat)};
    for (int axis = 0; axis < 3; ++axis)
      reinterpret_cast<float*>(out.memory[axis].data())[i] = static_cast<float>(v[axis]);
  }
  return out;
}

/// `slice` columns a block; a multiple of the group.
result search(const emulated::chord& k, const places& p, const places& q, int slice) {
  const long long m = p.count(), padded = (q.count() + k.group - 1) / k.group * k.group;
  const auto u = unit_vectors(p, m), v = unit_vectors(q, padded);
  const unsigned splits = blocks_for(padded, slice);
  std::vector<unsigned long long> partial(static_cast<std::size_t>(m) * splits, 0x123);
  CHECK(launch({blocks_for(m, std::int64_t{k.rows} * k.block), splits}, {static_cast<unsigned>(k.block)}, [&] {
          k.search(u[0], u[1], u[2], m, v[0], v[1], v[2], static_cast<int>(padded), slice, partial.data());
        }) == std::string());
  std::vector<long long> index(static_cast<std::size_t>(m));
  result out;
  out.distance.resize(index.size());
  CHECK(launch({blocks_for(m * k.group / 4, 256)}, {256}, [&] {
          k.finish(u[0], u[1], u[2], m, v[0], v[1], v[2], static_cast<int>(splits), partial.data(), p.radians.data(),
                   q.radians.data(), static_cast<int>(q.count()), static_cast<float>(2 * earth_radius_km), index.data(),
                   out.distance.data());
        }) == std::string());
  out.index.assign(index.begin(), index.end());
  return out;
}

void check(const places& p, const places& q, const result& found) {
  const auto verdicts = compare(p, q, {{&found, 1}});
  CHECK(verdicts[0].failure == std::string());
}

constexpr const emulated::chord* chords[] = {&emulated::chord_default, &emulated::chord_small, &emulated::chord_odd};

}  // namespace

TEST_CASE("emulated kernels: the emulator finds exchanges with threads that left") {
  if (no_emulation()) return;
  float sum[64] = {};
  CHECK(launch({2}, {32}, [&] {
          float v = static_cast<float>(threadIdx.x);
          for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
          sum[blockIdx.x * blockDim.x + threadIdx.x] = v;
        }) == std::string());
  for (const float s : sum) CHECK(s == 496);
  CHECK(std::string(launch({1}, {32}, [] {
          if (threadIdx.x == 7) return;
          __syncwarp();
        })) == "an exchange names a thread that has left");
  CHECK(std::string(launch({1}, {64}, [] {
          if (threadIdx.x < 32) __syncthreads();
          else if (threadIdx.x == 40) __ballot_sync(0xffffffffu, true);
          else __syncthreads();
        })) == "threads wait for each other at different places");
}

TEST_CASE("emulated kernels: the tuned search agrees with float64, whatever the sizes") {
  if (no_emulation()) return;
  for (const auto* k : chords) {
    CAPTURE(k->rows);
    const auto p = random_places(301, 1);
    for (const int n : {1, 2, 7, 31, 32, 33, 100, 517}) {
      CAPTURE(n);
      const auto q = random_places(n, 2);
      check(p, q, search(*k, p, q, 1 << 20));
      check(p, q, search(*k, p, q, k->group));
      check(p, q, search(*k, p, q, 3 * k->group));
    }
    for (const int m : {1, 31, k->rows * k->block, k->rows * k->block + 1}) {
      const auto some = random_places(m, 3), q = random_places(50, 4);
      check(some, q, search(*k, some, q, 2 * k->group));
    }
  }
}

TEST_CASE("emulated kernels: the tuned search is right for points a few metres apart") {
  if (no_emulation()) return;
  for (const auto* k : chords)
    for (const double latitude : {0.02, 0.7, -1.1, 1.5}) {
      const auto near = metres_apart(latitude, 1.3);
      check(near.from, near.to, search(*k, near.from, near.to, 1 << 20));
      check(near.from, near.to, search(*k, near.from, near.to, 2 * k->group));
    }
}

TEST_CASE("emulated kernels: of equally near references the tuned search takes the first") {
  if (no_emulation()) return;
  for (const auto* k : chords) {
    const auto p = random_places(200, 5), some = random_places(37, 6);
    places q;
    for (int copy = 0; copy < 5; ++copy) q.radians.insert(q.radians.end(), some.radians.begin(), some.radians.end());
    for (const int slice : {1 << 20, k->group, 3 * k->group}) {
      const auto found = search(*k, p, q, slice);
      check(p, q, found);
      for (const auto i : found.index) CHECK(i < 37);
    }
  }
}

TEST_CASE("emulated kernels: opposite points have half the circumference between them") {
  if (no_emulation()) return;
  const auto far = opposite_points();
  check(far.from, far.to, search(emulated::chord_default, far.from, far.to, 1 << 20));
}

TEST_CASE("emulated kernels: the two-kernel scheme agrees with float64, the first of equals wins") {
  if (no_emulation()) return;
  const auto run = [](const places& p, const places& q, unsigned columns, unsigned rows) {
    const long long m = p.count();
    std::vector<float> near(static_cast<std::size_t>(32 * m));
    std::vector<int> where(near.size());
    CHECK(columns == 32);
    CHECK(launch({columns, rows}, {32, 16}, [&] {
            emulated::two_kernels.blocks(p.radians.data(), m, q.radians.data(), static_cast<int>(q.count()),
                                         static_cast<float>(2 * earth_radius_km), near.data(), where.data());
          }) == std::string());
    std::vector<long long> index(static_cast<std::size_t>(m));
    result out;
    out.distance.resize(index.size());
    CHECK(launch({rows}, {32, 16}, [&] {
            emulated::two_kernels.rows(near.data(), where.data(), m, index.data(), out.distance.data());
          }) == std::string());
    out.index.assign(index.begin(), index.end());
    return out;
  };
  const auto p = random_places(45, 1);
  for (const int n : {1, 33, 1500}) {
    const auto q = random_places(n, 2);
    check(p, q, run(p, q, 32, 1));
    check(p, q, run(p, q, 32, 4));
  }
  places twice = random_places(30, 3);
  twice.radians.insert(twice.radians.end(), twice.radians.begin(), twice.radians.end());
  for (const auto i : run(p, twice, 32, 2).index) CHECK(i < 30);
}

TEST_CASE("emulated kernels: k nearest neighbours agree with float64 for every length of list") {
  if (no_emulation()) return;
  const auto run = [](const emulated::knn& kernels, const std::vector<float>& p, const std::vector<float>& q, int d,
                      int k) {
    const auto m = static_cast<long long>(p.size()) / d;
    knn_result out{k, {}, std::vector<float>(static_cast<std::size_t>(m * k))};
    std::vector<int> index(out.distance.size());
    CHECK(launch({blocks_for(m, 64)}, {256}, [&] {
            kernels.search(p.data(), m, q.data(), static_cast<int>(q.size()) / d, d, k, out.distance.data(),
                           index.data());
          }) == std::string());
    for (auto& x : out.distance) x = std::sqrt(x);
    out.index.assign(index.begin(), index.end());
    return out;
  };
  const auto agrees = [&](const emulated::knn& kernels, int m, int n, int d, int k) {
    CAPTURE(kernels.list);
    CAPTURE(n);
    CAPTURE(d);
    CAPTURE(k);
    const auto p = random_vectors(m, d, 1), q = random_vectors(n, d, 2);
    CHECK(check_knn(p, q, d, run(kernels, p, q, d, k), metric::euclidean, 1) == std::string());
  };
  for (const auto* kernels : {&emulated::knn_8, &emulated::knn_16, &emulated::knn_32, &emulated::knn_64}) {
    const int list = kernels->list;
    for (const int d : {1, 2, 5, 17, 32}) agrees(*kernels, 3, 65, d, list / 2 + 1);
    agrees(*kernels, 65, list, 3, list);
    agrees(*kernels, 2, 200, 2, list);
    agrees(*kernels, 1, 64, 2, 1);
    agrees(*kernels, 1, 1, 1, 1);
  }
  // Equal distances: in the order of the columns.
  std::vector<float> p(1, 0.0f), q(150, 1.0f);
  const auto found = run(emulated::knn_64, p, q, 1, 50);
  for (std::size_t i = 0; i < found.index.size(); ++i) CHECK(found.index[i] == static_cast<std::int64_t>(i % 50));
  // What has no finite distance is not chosen.
  q.assign(10, NAN), q[4] = 2, q[7] = 1;
  const auto rest = run(emulated::knn_8, p, q, 1, 4);
  CHECK(rest.index == std::vector<std::int64_t>{7, 4, -1, -1});
}

TEST_CASE("emulated kernels: great-circle distances of k neighbours come in their order") {
  if (no_emulation()) return;
  const auto p = random_places(130, 1), q = random_places(90, 2);
  const int k = 20;
  knn_result out{k, {}, std::vector<float>(130 * k)};
  std::vector<int> given;
  for (int i = 0; i < 130; ++i) {
    std::vector<int> order(90);
    for (int j = 0; j < 90; ++j) order[static_cast<std::size_t>(j)] = j;
    const float* at = &p.radians[static_cast<std::size_t>(2 * i)];
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return exact_km(at, &q.radians[static_cast<std::size_t>(2 * a)]) <
             exact_km(at, &q.radians[static_cast<std::size_t>(2 * b)]);
    });
    std::reverse(order.begin(), order.begin() + k);
    given.insert(given.end(), order.begin(), order.begin() + k);
  }
  std::vector<long long> index(given.size());
  CHECK(launch({2}, {128}, [&] {
          emulated::knn_32.great_circle(p.radians.data(), 130, q.radians.data(), given.data(), k,
                                        static_cast<float>(2 * earth_radius_km), index.data(), out.distance.data());
        }) == std::string());
  out.index.assign(index.begin(), index.end());
  CHECK(check_knn(p.radians, q.radians, 2, out, metric::haversine, 1) == std::string());
}
