// The example's GPU methods from their arrays to their results without a GPU: raw kernels are launched with the
// arguments and grids of the real ones, and run in the emulator.
#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/kernels.hpp"
#include "examples/nearest_neighbor_points.hpp"
#include "nearest_neighbor/check.hpp"
#include "nearest_neighbor/chord_search.hpp"
#include "nearest_neighbor/knn_check.hpp"
#include "nearest_neighbor/two_kernel_search.hpp"
#include "support/raw_fake.hpp"

namespace {

using namespace nearest_neighbor;

bool no_emulation() {
  if (cuda_emulator::available()) return false;
  MESSAGE("left out: the sanitizer does not follow changes of stack");
  return true;
}

cuda_emulator::index3 extents(const sinter::runtime::extents3& e) {
  return {static_cast<unsigned>(e.x), static_cast<unsigned>(e.y), static_cast<unsigned>(e.z)};
}

/// A fake device whose kernels run in the emulator. `widest` bounds the extents of grids whose kernels work with any, so
/// that thousands of idle blocks need not be emulated.
struct emulated_device : raw_test::fake {
  template <class... A>
  void add_kernel(const std::string& name, void (*kernel)(A...), unsigned widest = 1u << 30) {
    add(name, [kernel, widest](const sinter::runtime::raw_launch& how, void** arguments) {
      auto grid = extents(how.grid);
      CHECK(grid.x > 0);
      grid.x = std::min(grid.x, widest), grid.y = std::min(grid.y, widest);
      const auto values = unpack<A...>(arguments, std::index_sequence_for<A...>());
      CHECK(cuda_emulator::launch(grid, extents(how.block), [&] { std::apply(kernel, values); }) == std::string());
    });
  }

 private:
  template <class... A, std::size_t... I>
  static std::tuple<A...> unpack(void** arguments, std::index_sequence<I...>) {
    return {*static_cast<A*>(arguments[I])...};
  }
};

ndarray upload(const places& p) { return sn::array(p.radians.data(), {p.count(), 2}, {.device = sn::cpu}); }

void check(const places& p, const places& q, const neighbours& found) {
  const result r{found.index.to_vector<std::int64_t>(), found.distance.to_vector<float>()};
  CHECK(compare(p, q, {{&r, 1}})[0].failure == std::string());
}

struct chord_device : emulated_device {
  explicit chord_device(const emulated::chord& k) {
    add_kernel("chord_search", k.search);
    add_kernel("chord_finish", k.finish);
  }
};

}  // namespace

TEST_CASE("emulated methods: the tuned search, for sizes that do and do not fill its blocks and groups") {
  if (no_emulation()) return;
  const chord_config odd{.rows = 3, .block = 64, .group = 16, .tile = 48, .dpx = false};
  for (const auto& [config, kernels] :
       {std::pair(chord_config(), &emulated::chord_default), {odd, &emulated::chord_odd}}) {
    const chord_device device(*kernels);
    const chord_search search(config);
    for (const auto& shape : {std::pair(1, 1), {5, 300}, {700, 33}, {191, 1024}}) {
      const int m = shape.first, n = shape.second;
      CAPTURE(m);
      CAPTURE(n);
      const auto p = random_places(m, 1), q = random_places(n, 2);
      check(p, q, search(upload(p), upload(q)));
    }
    const auto near = metres_apart(0.9, 1.5);
    check(near.from, near.to, search(upload(near.from), upload(near.to)));
  }
}

TEST_CASE("emulated methods: the tuned search cuts the columns as asked, and not where the rows are enough") {
  if (no_emulation()) return;
  const auto p = random_places(50, 1), q = random_places(777, 2);
  for (const std::int64_t splits : {1, 2, 5, 1000}) {
    const chord_device device(emulated::chord_default);
    check(p, q, chord_search({.splits = splits})(upload(p), upload(q)));
  }
  const chord_config c;
  CHECK(chord_splits(c, 1 << 24, 1 << 14) == 1);
  CHECK(chord_splits(c, 1 << 16, 1 << 13) == 12);
  CHECK(chord_splits(c, 1, 31) == 1);
  CHECK(chord_splits({.splits = 100}, 1 << 24, 64) == 2);
  for (const std::int64_t m : {1, 1000, 171075, 1 << 20})
    for (const std::int64_t n : {1, 7184, 1 << 24}) {
      CHECK(chord_splits(c, m, n) >= 1);
      CHECK(chord_splits(c, m, n) <= 65535);
    }
}

TEST_CASE("emulated methods: the tuned search reads slices and pending arrays, and leaves its inputs alone") {
  if (no_emulation()) return;
  using namespace sn::idx;
  const chord_device device(emulated::chord_default);
  const auto p = random_places(80, 1), q = random_places(60, 2);
  const auto wide = sn::concatenate({upload(p), upload(p) * 2}, 1), twice = upload(q) * 2;
  const auto before = wide.to_vector<float>();
  check(p, q, chord_search()(wide(_, slice(0, 2)), twice / 2));
  CHECK(wide.to_vector<float>() == before);
}

TEST_CASE("emulated methods: the two-kernel scheme") {
  if (no_emulation()) return;
  emulated_device device;
  // Blocks beyond the first few rows of them have nothing to do here.
  device.add_kernel("nearest_of_blocks", emulated::two_kernels.blocks, 32);
  device.add_kernel("nearest_of_rows", emulated::two_kernels.rows, 32);
  const two_kernel_search search(false);
  for (const auto& [m, n] : {std::pair(1, 1), {40, 1200}}) {
    const auto p = random_places(m, 1), q = random_places(n, 2);
    check(p, q, search(upload(p), upload(q)));
  }
}

TEST_CASE("emulated methods: k nearest neighbours in every metric") {
  if (no_emulation()) return;
  const auto run = [](const emulated::knn& kernels, const std::vector<float>& p, const std::vector<float>& q, int d,
                      int k, metric how) {
    emulated_device device;
    device.add_kernel("knn_search", kernels.search);
    device.add_kernel("knn_great_circle", kernels.great_circle);
    const auto x = sn::array(p.data(), {static_cast<std::int64_t>(p.size()) / d, d}, {.device = sn::cpu});
    const auto y = sn::array(q.data(), {static_cast<std::int64_t>(q.size()) / d, d}, {.device = sn::cpu});
    const auto found = detail::knn_on_gpu(detail::make_knn_kernels(k, d),
                                          {x, y, detail::knn_vectors(x, how), detail::knn_vectors(y, how)}, k, how);
    const knn_result r{k, found.index.to_vector<std::int64_t>(), found.distance.to_vector<float>()};
    CHECK(check_knn(p, q, d, r, how, 1) == std::string());
  };
  const auto from = random_places(70, 1).radians, to = random_places(100, 2).radians;
  run(emulated::knn_8, from, to, 2, 8, metric::haversine);
  run(emulated::knn_16, from, to, 2, 11, metric::haversine);
  const auto near = metres_apart(0.9, 3);
  run(emulated::knn_8, {near.from.radians.begin(), near.from.radians.begin() + 60}, near.to.radians, 2, 5,
      metric::haversine);
  for (const int d : {2, 30}) {
    const auto p = random_vectors(66, d, 3), q = random_vectors(80, d, 4);
    for (const auto how : {metric::euclidean, metric::cosine}) {
      run(emulated::knn_8, p, q, d, 1, how);
      run(emulated::knn_32, p, q, d, 20, how);
    }
  }
}
