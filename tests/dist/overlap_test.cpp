// What comes from other devices is enqueued beside the kernels: which of them wait for it.
#include <algorithm>
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include "dist/meshes.hpp"
#include "dist/transfers.hpp"
#include "ops/base/access.hpp"
#include "runtime/backend.hpp"
#include "support/simulated_gpu.hpp"

using namespace sinter;
namespace dist = sinter::dist;
using dist::shard;

namespace {

const std::vector<device>& two() {
  static const std::vector<device> devices{sim::first(), sim::second()};
  return devices;
}

/// While it lives nothing comes to the devices.
class nothing_comes {
 public:
  nothing_comes() {
    for (const device& d : two()) {
      runtime::backend& b = runtime::get_backend(ops::to_id(d));
      release_.push_back(sim::hold(d, sharding::arrivals_of(b).native()));
    }
  }
  ~nothing_comes() {
    for (const auto& release : release_) release();
  }
  nothing_comes(const nothing_comes&) = delete;
  nothing_comes& operator=(const nothing_comes&) = delete;

 private:
  std::vector<std::function<void()>> release_;
};

/// The elements of position p's part as they are in memory now, without waiting for anything.
std::vector<double> now_at(const std::vector<ndarray>& parts, std::size_t p) {
  const graph::value v = ops::value_of(parts[p]);
  const auto* const from = static_cast<const double*>(v->buffer->address()) + v->buffer_offset;
  return std::vector<double>(from, from + v->size());
}

/// How many rows of the part have the elements of `want`, C order, from row `first` of it on.
std::vector<bool> rows_done(const std::vector<double>& part, const std::vector<double>& want, std::size_t first,
                            std::size_t columns) {
  std::vector<bool> done;
  for (std::size_t r = 0; r * columns < part.size(); ++r)
    done.push_back(std::equal(part.begin() + static_cast<std::ptrdiff_t>(r * columns),
                              part.begin() + static_cast<std::ptrdiff_t>((r + 1) * columns),
                              want.begin() + static_cast<std::ptrdiff_t>((first + r) * columns)));
  return done;
}

std::vector<bool> all_but(std::size_t rows, std::size_t missing) {
  std::vector<bool> out(rows, true);
  out[missing] = false;
  return out;
}

ndarray stencil(const ndarray& u) { return u["1:-1"] + u[":-2"] * u["2:"]; }

void step(ndarray& u) {
  u["1:-1, 1:-1"] =
      u["1:-1, 1:-1"] + 0.2 * (u[":-2, 1:-1"] + u["2:, 1:-1"] + u["1:-1, :-2"] + u["1:-1, 2:"] - 4 * u["1:-1, 1:-1"]);
}

}  // namespace

TEST_CASE("the interior of a stencil is computed while its halo travels") {
  const ndarray x = random::generator(3).random({64, 10}, {.device = cpu});
  for (const bool pending : {false, true}) {
    CAPTURE(pending);
    const ndarray want = pending ? stencil(x * 3) : stencil(x);  // nothing that memory has from the first time
    sim::set_order(2);
    const dist::mesh m({2}, {.devices = two()});
    ndarray s = dist::shard(x, m, {shard(0)});
    eval(s);
    sim::run_what_can();
    ndarray y;
    {
      const nothing_comes now;
      if (pending) s = s * 3;
      y = stencil(s);
      eval(y);
      sim::run_what_can();
      const std::vector<ndarray> parts = dist::local(y);
      // All but rows at the edge between the parts, of which there are two.
      const auto n = static_cast<std::size_t>(parts[0].shape(0));
      std::vector<bool> done = rows_done(now_at(parts, 0), want.to_vector<double>(), 0, 10);
      const std::vector<bool> second = rows_done(now_at(parts, 1), want.to_vector<double>(), n, 10);
      done.insert(done.end(), second.begin(), second.end());
      CHECK(std::count(done.begin(), done.end(), false) == 2);
      for (std::size_t r = 0; r < done.size(); ++r) CHECK((done[r] || (r + 2 >= n && r < n + 2)));
    }
    CHECK(test::identical(y, want));
  }
}

TEST_CASE("the interior of a time step is computed while its halo travels") {
  ndarray want = random::generator(4).random({64, 10}, {.device = cpu});
  sim::set_order(2);
  const dist::mesh m({2}, {.devices = two()});
  ndarray u = dist::shard(want, m, {shard(0)});
  for (int k = 0; k < 6; ++k) {
    CAPTURE(k);
    sim::run_what_can();
    step(want);
    const nothing_comes now;
    step(u);
    eval(u);
    sim::run_what_can();
    const std::vector<ndarray> parts = dist::local(u);
    CHECK(rows_done(now_at(parts, 0), want.to_vector<double>(), 0, 10) == all_but(32, 31));
    CHECK(rows_done(now_at(parts, 1), want.to_vector<double>(), 32, 10) == all_but(32, 0));
  }
  CHECK(test::identical(u, want));
}

TEST_CASE("time steps on several devices, in many orders of their queued work") {
  const ndarray start = random::generator(5).random({37, 23}, {.device = cpu});
  ndarray want = start.copy();
  for (int k = 0; k < 12; ++k) step(want);
  for (std::uint64_t seed = 1; seed < 60; ++seed) {
    CAPTURE(seed);
    sim::set_order(seed, seed % 2 == 0);
    const dist::mesh m(
        {3, 2}, {.devices = {sim::first(), sim::second(), sim::third(), sim::first(), sim::third(), sim::second()}});
    ndarray u = dist::shard(start, m, {shard(0), shard(1)}), noise;
    for (int k = 0; k < 12; ++k) {
      step(u);
      if (seed % 3 != 0) eval(u);
      // Memory that the steps give back is taken by others at once.
      if (k % 3 == 1) noise = dist::full({37, 23}, -1.0, m, {shard(k % 2), shard(1 - k % 2)}) * k;
      if (k % 4 == 2) u = dist::redistribute(u, {shard(1), shard(0)});
    }
    CHECK(test::identical(u, want));
  }
}
