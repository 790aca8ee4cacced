// What several devices gain: work on one of them, and on a mesh of all. Strong rows divide the work of one, weak ones give
// each device as much as one has. Under mpirun a position is a process.
#include "bench.hpp"

#include <cmath>
#include <functional>
#include <optional>

#include <sinter/dist.hpp>

#include "dist/mesh_state.hpp"
#include "nearest_neighbor/search.hpp"
#include "ops/base/access.hpp"
#include "runtime/collectives/communicator.hpp"

namespace bench {
namespace {

namespace dist = sn::dist;
using dist::shard;

/// One device, or a mesh of two axes; arrays are made there.
class place {
 public:
  place() = default;
  explicit place(const dist::mesh& m) : mesh_(m) {}
  int devices() const { return mesh_ ? static_cast<int>(mesh_->size()) : 1; }
  sn::shape_t grid() const { return mesh_ ? mesh_->shape() : sn::shape_t{1, 1}; }
  /// Both axes of the mesh shard an axis of the array, or nothing does.
  static dist::placements along(std::int64_t axis) { return {shard(axis), shard(axis)}; }

  /// Uniform in [0, 1), in memory.
  ndarray random(const sn::shape_t& shape, const dist::placements& how, sn::dtype type = sn::float32) const {
    sn::random::generator g(7);
    ndarray x =
        mesh_ ? dist::random(g, shape, *mesh_, how, {.dtype = sn::float32}) : g.random(shape, {.dtype = sn::float32});
    if (type != sn::float32) x = x.astype(type);
    sn::eval(x);
    return x;
  }

  /// Until everybody has done everything.
  void wait() const {
    sn::synchronize(mesh_ ? mesh_->device() : sn::default_device());
    if (sinter::runtime::communicator* const job = group()) job->barrier();
  }
  /// The first process's number, on all.
  double agreed(double mine) const {
    sinter::runtime::communicator* const job = group();
    return job ? std::stod(job->gather_texts(std::to_string(mine)).front()) : mine;
  }

 private:
  sinter::runtime::communicator* group() const {
    return mesh_ ? sinter::sharding::mesh_of(sinter::ops::to_id(mesh_->device())).group.get() : nullptr;
  }
  std::optional<dist::mesh> mesh_;
};

struct timing {
  double call = 0, host = 0;  // seconds of a call, and until the host has enqueued it
};

/// The least of three batches, after the kernels have been compiled.
timing time_on(const place& at, const std::function<void()>& call) {
  call();
  at.wait();
  sinter::platform::wait_for_background();
  timing out{1e9, 1e9};
  int calls = 1;
  for (int round = 0; round < 4; ++round) {
    double host = 0;
    at.wait();
    const double seconds = seconds_of([&] {
      host = seconds_of([&] {
        for (int k = 0; k < calls; ++k) call();
      });
      at.wait();
    });
    if (round == 0) calls = std::clamp(static_cast<int>(0.1 / at.agreed(seconds)), 1, 200);
    else out = {std::min(out.call, seconds / calls), std::min(out.host, host / calls)};
    if (at.agreed(seconds) > 1.5) {
      if (round == 0) out = {seconds, host};
      break;
    }
  }
  return out;
}

/// Work of a size, made ready at a place: what is then timed.
using work = std::function<std::function<void()>(const place&, std::int64_t)>;

std::function<void()> search(const place& at, std::int64_t points, std::int64_t references) {
  const ndarray p = at.random({points, 2}, place::along(0)) * 3 - 1.5f, q = at.random({references, 2}, {}) * 3 - 1.5f;
  sn::eval(p, q);
  return [p, q] {
    const auto found = nearest_neighbor::find_nearest(p, q);
    sn::eval(found.index, found.distance);
  };
}

/// A step of heat in place, on side x side points for each device.
std::function<void()> diffusion(const place& at, std::int64_t side) {
  const sn::shape_t grid = at.grid();
  const ndarray u = at.random({side * grid[0], side * grid[1]}, {shard(0), shard(1)});
  return [u] {
    u["1:-1, 1:-1"] = u["1:-1, 1:-1"] +
                      0.2f * (u[":-2, 1:-1"] + u["2:, 1:-1"] + u["1:-1, :-2"] + u["1:-1, 2:"] - 4 * u["1:-1, 1:-1"]);
    sn::eval(u);
  };
}

std::function<void()> sum(const place& at, std::int64_t n) {
  const ndarray x = at.random({n}, place::along(0));
  return [x] { sn::eval(sn::sum(x)); };
}

std::function<void()> product(const place& at, std::int64_t n, const dist::placements& second) {
  const ndarray a = at.random({n, n}, place::along(0), sn::bfloat16), b = at.random({n, n}, second, sn::bfloat16);
  return [a, b] { sn::eval(sn::matmul(a, b)); };
}

std::function<void()> sorted(const place& at, std::int64_t n) {
  const ndarray x = at.random({n}, place::along(0));
  return [x] { sn::eval(sn::sort(x)); };
}

struct row {
  std::string name;
  work make;
  std::int64_t size;
  bool weak;
  double amount;  // of a call on one device, in `unit`s times 1e9
  const char* unit;
};

std::vector<row> rows_of(bool small) {
  const auto power = [&](int large, int little) { return std::int64_t{1} << (small ? little : large); };
  const auto number = [](std::int64_t n) { return static_cast<double>(n); };
  const std::int64_t points = power(24, 12), references = power(14, 7), sums = power(31, 16), side = power(15, 7),
                     less = power(13, 5), n = power(15, 7), keys = power(30, 14);
  const auto find = [=](const place& at, std::int64_t m) { return search(at, m, references); };
  const double products = 2 * number(n) * number(n) * number(n);
  return {
      {"search by its plain lines", find, points, false, number(points) * number(references), "Gpairs/s"},
      {"diffusion by slices, a step", diffusion, side, true, 8 * number(side) * number(side), "GB/s"},
      {"diffusion by slices, a step", diffusion, less, true, 8 * number(less) * number(less), "GB/s"},
      {"sum of float32", [](const place& at, std::int64_t k) { return sum(at, k); }, sums, true, 4 * number(sums),
       "GB/s"},
      {"matmul of bfloat16, the second everywhere", [](const place& at, std::int64_t k) { return product(at, k, {}); },
       n, false, products, "Gflop/s"},
      {"matmul of bfloat16, the second by columns",
       [](const place& at, std::int64_t k) { return product(at, k, place::along(1)); }, n, false, products, "Gflop/s"},
      {"sort of float32", sorted, keys, false, number(keys), "Gkeys/s"},
      {"sort of float32", sorted, keys / 2, true, number(keys / 2), "Gkeys/s"},
  };
}

/// Whether the row is one of numbers of elements: those of all devices are N times one's.
std::int64_t size_on(const row& r, const place& at) {
  const bool of_elements = r.name.starts_with("sum") || r.name.starts_with("sort");
  return r.weak && of_elements ? r.size * at.devices() : r.size;
}

void print_line(const row& r, const timing& one, const timing& many, int devices) {
  const double amount = r.amount * (r.weak ? devices : 1);
  std::printf("| %s, %lld%s | %.3f | %.3f | %.2f | %.1f | %.1f %s | %.3f |\n", r.name.c_str(),
              static_cast<long long>(r.size), r.weak ? " for each device" : "", one.call * 1e3, many.call * 1e3,
              amount / many.call / (r.amount / one.call), r.amount / one.call / 1e9, amount / many.call / 1e9, r.unit,
              many.host * 1e3);
  std::fflush(stdout);
}

/// As square as it can be; in a job of processes with a device each, of which one is the default device from here on.
dist::mesh mesh_of(int n, bool in_job) {
  int rows = 1;
  for (int k = 1; k * k <= n; ++k)
    if (n % k == 0) rows = k;
  const bool cpu = sn::default_device().kind == sn::device_kind::cpu;
  if (!in_job && cpu)
    return {{n / rows, rows}, {.devices = std::vector<sn::device>(static_cast<std::size_t>(n), sn::cpu)}};
  const dist::mesh m = cpu ? dist::mesh({n / rows, rows}, {.devices = {sn::cpu}}) : dist::mesh({n / rows, rows});
  sn::set_default_device(dist::local(dist::zeros({n, 1}, m, place::along(0))).at(0).device());
  return m;
}

}  // namespace

void scaling_rows(bool small, int devices, const std::string& only) {
  const bool in_job = sinter::runtime::is_in_job();
  if (in_job) devices = sinter::runtime::locate_in_job().processes;
  const place one, many(mesh_of(devices, in_job));
  const bool prints = !in_job || sinter::runtime::locate_in_job().process == 0;
  if (prints)
    std::printf(
        "%s\n\n| work | one device, ms | %d, ms | times one | rate of one | of all | host's part on all, ms |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        sn::description(sn::default_device()).c_str(), devices);
  for (const row& r : rows_of(small)) {
    if (!only.empty() && r.name.find(only) == std::string::npos) continue;
    const auto on = [&](const place& at) { return time_on(at, r.make(at, size_on(r, at))); };
    const timing alone = on(one), together = on(many);
    if (prints) print_line(r, alone, together, devices);
  }
}

}  // namespace bench
