// What the host of one process pays for arrays on meshes of many: the other processes do not exist, and what they would send is
// left out. Nothing but the host is measured: each position has 512 elements.
#include "bench.hpp"

#include <memory>
#include <utility>

#include "dist/evaluation.hpp"
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

sn::ndarray in_rows(const sharding::mesh_state& m, const sn::ndarray& x) {
  sharding::layout how;
  how.add({0, {0}, sharding::even_bounds(x.shape(0), m.size())});
  return sinter::ops::wrap(sharding::divided(m, sinter::ops::value_of(x), how));
}

/// Least microseconds of many calls.
template <class F>
double least_us(F&& work) {
  double least = 1e9;
  for (int k = 0; k < 40; ++k) least = std::min(least, seconds_of(work) * 1e6);
  return least;
}

struct costs {
  double chain = 0, step = 0, sum = 0;
};

costs costs_on(const sharding::mesh_state& m) {
  const sn::device on{sn::device_kind::mesh, m.index};
  const auto table = [&] { return in_rows(m, sn::zeros({64 * m.size(), 8}, {.device = on}) + 1.5); };
  const sn::ndarray x = table(), y = table();
  sn::eval(x, y);
  costs c;
  c.chain = least_us([&] {
              sn::ndarray z = x;
              for (int k = 0; k < 30; ++k) z = z * 1.01 + y;
              sn::eval(z);
            }) /
            60;
  sn::ndarray u = table();
  sn::eval(u);
  c.step = least_us([&] {
             for (int k = 0; k < 5; ++k) u["1:-1"] = 0.5 * (u[":-2"] + u["2:"]);
             sn::eval(u);
           }) /
           5;
  c.sum = least_us([&] { sn::eval(sn::sum(x * y, sn::axes{0})); });
  return c;
}

}  // namespace

void mesh_host_rows() {
  runtime::backend& cpu = runtime::get_backend({});
  std::printf(
      "| us of the host | an operation of a chain of 60 | a step with halos, of five | sum along the rows |\n"
      "| --- | ---: | ---: | ---: |\n");
  for (const bool many : {false, true})
    for (const int n : {1, 4, 8, 64, 256, 1024}) {
      if (many ? n < 4 : n > 8) continue;
      const std::shared_ptr<runtime::communicator> group = many ? std::make_shared<alone>(n, cpu) : nullptr;
      const std::vector<runtime::device_id> devices(static_cast<std::size_t>(n), cpu.id());
      const costs c = costs_on(sharding::intern_mesh(sharding::dims{n}, {}, devices, group));
      std::printf("| %s %d | %.1f | %.0f | %.0f |\n", many ? "a process of" : "positions of the process:", n, c.chain,
                  c.step, c.sum);
      std::fflush(stdout);
    }
}

}  // namespace bench
