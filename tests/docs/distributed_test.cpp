// The code of docs/distributed.md: every line of it is between the marks below, and does what the text says.
#include "sinter/dist.hpp"

#include "sinter/sinter.hpp"
#include "support/docs_page.hpp"
#include "support/kernel_test.hpp"

namespace sn = sinter;

TEST_CASE("distributed docs: every piece of code on the page is part of this file") {
  sinter_test::check_page("distributed.md", "docs/distributed_test.cpp", 2);
}

namespace {

bool has_no_mesh() {
  const int gpus = sn::device_count(sn::device_kind::cuda);
  if (gpus > 0 && gpus < 4) MESSAGE("left out: the mesh has four devices, and there are ", gpus, " GPUs");
  return gpus > 0 && gpus < 4;
}

}  // namespace

TEST_CASE("distributed docs: the code works") {
  if (has_no_mesh()) return;
  const sn::ndarray table = sn::random::generator(1).random({10, 3});
  // clang-format off
  namespace dist = sn::dist;
  const dist::mesh m({4});                                          // four GPUs; in a job four processes
  const sn::ndarray x = dist::shard(table, m, {dist::shard(0)});    // a quarter of the rows each
  const sn::ndarray y = (x - sn::mean(x, 0)) / sn::std(x, 0);       // recorded
  const std::string plan = sn::explain(y);                          // what runs on each device, and what moves
  const std::string who = dist::visualize(y);                       // who has what
  const sn::ndarray all = dist::gather(y);                          // an ordinary array
  // clang-format on
  CHECK(plan.find("collectives") != std::string::npos);
  CHECK(who.find("position 3") != std::string::npos);
  const sn::ndarray want = (table - sn::mean(table, 0)) / sn::std(table, 0);
  CHECK(sn::max(sn::abs(all - want.to_device(all.device()))).item<double>() < 1e-12);
}

TEST_CASE("distributed docs: rows along sharded columns by sums that stay partial") {
  if (has_no_mesh()) return;
  namespace dist = sn::dist;
  const dist::mesh m({4});
  const std::int64_t rows = 10;
  const sn::ndarray table = sn::random::generator(1).random({rows, 12}) * 3;
  const sn::ndarray x = dist::shard(table, m, {dist::shard(1)});
  // clang-format off
  const sn::ndarray top = sn::max(x, {.axis = 1, .keepdims = true});           // a number for each row and part is exchanged
  const auto parts = dist::local(x), tops = dist::local(dist::redistribute(top, {}));
  std::vector<sn::ndarray> terms;
  for (std::size_t k = 0; k < parts.size(); ++k) terms.push_back(sn::sum(sn::exp(parts[k] - tops[k]), {.axis = 1, .keepdims = true}));
  const sn::ndarray total = dist::from_local(terms, {rows, 1}, m, {dist::partial()});
  const sn::ndarray y = sn::exp(x - top) / total;
  // clang-format on
  const sn::ndarray grown = sn::exp(table - sn::max(table, {.axis = 1, .keepdims = true}));
  const sn::ndarray want = grown / sn::sum(grown, {.axis = 1, .keepdims = true});
  CHECK(sn::max(sn::abs(dist::gather(y) - want.to_device(dist::gather(y).device()))).item<double>() < 1e-12);
}
