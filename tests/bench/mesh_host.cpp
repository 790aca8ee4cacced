// What the host of one process pays for arrays on meshes of many: the other processes do not exist, and what they would send is
// left out. Nothing but the host is measured: each position has 512 elements.
#include "bench.hpp"

#include <functional>
#include <memory>
#include <utility>

#include "dist/partitioner.hpp"
#include "ops/base/access.hpp"
#include "runtime/backend.hpp"
#include "runtime/collectives/communicator.hpp"

namespace bench {
namespace {

namespace runtime = sinter::runtime;
namespace sharding = sinter::sharding;
using runtime::block;

/// Rank 1 of n, alone.
class alone final : public runtime::communicator {
 public:
  alone(int n, runtime::backend& device) : communicator(n, {1}, {&device}) {}
  int process_count() const noexcept override { return size(); }
  int process() const noexcept override { return 1; }
  std::string transport() const override { return "nothing"; }

 private:
  using blocks = std::span<const block>;
  using sizes = std::span<const std::int64_t>;
  void do_all_gather(blocks, blocks, sizes) override {}
  void do_all_to_all(blocks, sizes, blocks, sizes) override {}
  void do_broadcast(blocks, int) override {}
  void do_exchange(std::span<const runtime::message>) override {}
  void do_barrier() override {}
  std::vector<std::string> do_gather_texts(std::string_view mine) override {
    return std::vector<std::string>(static_cast<std::size_t>(size()), std::string(mine));
  }
  std::vector<part> do_split(std::span<const int>) override { return {}; }
  void do_fail(std::string_view) noexcept override {}
  void do_check(const char*) override {}
};

/// (64 n, 8) float64 by rows, in memory.
sn::ndarray table(const sharding::mesh_state& m) {
  const std::int64_t rows = 64 * m.size();
  sharding::shards s;
  s.how.add({0, {0}, sharding::even_bounds(rows, m.size())});
  for (int p = 0; p < m.size(); ++p) {
    s.at.emplace_back();
    if (!m.is_local(p)) continue;
    const sn::device there = sinter::ops::to_public(m.devices[static_cast<std::size_t>(p)]);
    const sn::ndarray part = sn::random::generator(p).random({64, 8}, {.device = there});
    sn::eval(part);
    s.at.back() = sinter::ops::value_of(part);
  }
  return sinter::ops::wrap(sharding::leaf_of(m, sharding::dims{rows, 8}, sinter::float64, std::move(s)));
}

/// Least microseconds of many calls: on a GPU until it has been enqueued.
template <class F>
double least_us(F&& work) {
  double least = 1e9;
  for (int k = 0; k < 40; ++k) {
    sn::synchronize();
    least = std::min(least, seconds_of(work) * 1e6);
  }
  return least;
}

struct costs {
  double chain = 0, step = 0, sum = 0;
};

costs costs_of(const std::function<sn::ndarray()>& table) {
  const sn::ndarray x = table(), y = table();
  costs c;
  c.chain = least_us([&] {
              sn::ndarray z = x;
              for (int k = 0; k < 30; ++k) z = z * 1.01 + y;
              sn::eval(z);
            }) /
            60;
  sn::ndarray u = table();
  c.step = least_us([&] {
             for (int k = 0; k < 5; ++k) u["1:-1"] = 0.5 * (u[":-2"] + u["2:"]);
             sn::eval(u);
           }) /
           5;
  c.sum = least_us([&] { sn::eval(sn::sum(x * y, sn::axes{0})); });
  return c;
}

void print_costs(const std::string& what, const std::function<sn::ndarray()>& table) {
  const costs c = costs_of(table);
  std::printf("| %s | %.1f | %.0f | %.0f |\n", what.c_str(), c.chain, c.step, c.sum);
  std::fflush(stdout);
}

void print_costs(const std::string& what, std::vector<runtime::device_id> devices, runtime::communicator_ref group) {
  const sharding::mesh_state& m =
      sharding::intern_mesh({static_cast<std::int64_t>(devices.size())}, {}, devices, std::move(group));
  print_costs(what + std::to_string(devices.size()), [&] { return table(m); });
}

}  // namespace

void mesh_host_rows() {
  runtime::backend& cpu = runtime::get_backend({});
  std::printf(
      "| us of the host | an operation of a chain of 60 | a step with halos, of five | sum along the rows |\n"
      "| --- | ---: | ---: | ---: |\n");
  print_costs("one device", [] {
    const sn::ndarray x = sn::random::generator(1).random({64, 8});
    sn::eval(x);
    return x;
  });
  const int gpus = sn::default_device().kind == sn::device_kind::cuda ? sn::device_count(sn::device_kind::cuda) : 0;
  std::vector<runtime::device_id> some;
  for (int k = 0; k < gpus; ++k) {
    some.push_back({runtime::device_kind::cuda, k});
    print_costs("GPUs of the process: ", some, nullptr);
  }
  const auto times = [&](int n) { return std::vector<runtime::device_id>(static_cast<std::size_t>(n), cpu.id()); };
  for (const int n : {1, 4, 8}) print_costs("positions of the process on the CPU: ", times(n), nullptr);
  for (const int n : {4, 8, 64, 256, 1024})
    print_costs("a process on the CPU, of ", times(n), std::make_shared<alone>(n, cpu));
}

}  // namespace bench
