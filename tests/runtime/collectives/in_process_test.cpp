// Ranks of one process: several of the CPU, and GPUs with queued work.
#include "runtime/collectives/cases.hpp"

#include "support/simulated_gpu.hpp"

using namespace collectives_test;

namespace {

runtime::communicator_ref cpu_ranks(int n) {
  const std::vector<runtime::backend*> devices(static_cast<std::size_t>(n), &runtime::get_backend({}));
  return runtime::open_peer_copies(devices);
}

std::vector<runtime::backend*> simulated(int n) {
  std::vector<runtime::backend*> devices;
  const sinter::device all[] = {sim::first(), sim::second(), sim::third()};
  for (int k = 0; k < n; ++k) devices.push_back(&runtime::get_backend({runtime::device_kind::cuda, all[k % 3].index}));
  return devices;
}

}  // namespace

TEST_CASE("collectives: ranks of the CPU, 1 to 8") {
  for (int n = 1; n <= 8; ++n) {
    CAPTURE(n);
    const auto c = cpu_ranks(n);
    CHECK(c->size() == n);
    CHECK(c->is_in_process());
    CHECK(c->transport() == "peer copies");
    check_everything(*c);
  }
}

TEST_CASE(
    "collectives: reductions of every dtype in the order of ranks, 1 to 8 ranks, and more than one kernel takes") {
  for (const int n : {1, 2, 3, 5, 8, 20}) {
    CAPTURE(n);
    check_reductions(*cpu_ranks(n));
  }
}

TEST_CASE("collectives: simulated GPUs, in many orders of their queued work") {
  for (unsigned seed = 1; seed <= 6; ++seed)
    for (const int n : {1, 2, 3, 7}) {
      CAPTURE(seed);
      CAPTURE(n);
      sim::set_order(seed, seed % 2 == 0);
      const auto c = runtime::open_peer_copies(simulated(n));
      check_everything(*c);
      check_reductions_of<float>(*c, {7, 20011});
      check_reductions_of<sinter::half>(*c, {300});
    }
}

TEST_CASE("collectives: calls follow each other and work of other streams without waits of the caller") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    sim::set_order(seed, seed % 2 == 0);
    const auto c = runtime::open_peer_copies(simulated(3));
    const std::int64_t bytes = 64;
    pieces mine(*c, [&](int r) { return sent(r, 1, bytes); });
    pieces all(*c, [&](int) { return empty_of(3 * bytes); });
    pieces back(*c, [&](int) { return empty_of(bytes); });
    // Gathered on one stream, passed around on another; then the first data are overwritten at once.
    std::vector<std::unique_ptr<runtime::current_guard>> guards;
    std::vector<runtime::stream*> streams;
    for (runtime::backend* d : c->local_devices()) streams.push_back(&d->open_stream({}));
    for (runtime::stream* s : streams) guards.push_back(std::make_unique<runtime::current_guard>(*s));
    c->all_gather(mine.blocks, all.blocks);
    guards.clear();
    std::vector<runtime::message> ring;
    for (int r = 0; r < 3; ++r) {
      const auto from = static_cast<std::size_t>(r), to = static_cast<std::size_t>((r + 1) % 3);
      ring.push_back({r, (r + 1) % 3, all.memory[from]->part(bytes * r, bytes), back.memory[to]->all()});
    }
    c->exchange(ring);
    c->broadcast(mine.blocks, 1);
    for (int r = 0; r < 3; ++r) {
      CHECK(back.memory[static_cast<std::size_t>(r)]->read() == sent((r + 2) % 3, 1, bytes));
      CHECK(mine.memory[static_cast<std::size_t>(r)]->read() == sent(1, 1, bytes));
    }
    for (runtime::stream* s : streams) {
      s->synchronize();
      s->owner().close_stream(*s);
    }
  }
}

TEST_CASE("collectives: what is sent is counted") {
  const auto c = cpu_ranks(4);
  const pieces mine(*c, [&](int r) { return sent(r, 1, 100); });
  const pieces all(*c, [&](int) { return empty_of(400); });
  c->all_gather(mine.blocks, all.blocks);
  CHECK(c->sent().calls == 1);
  CHECK(c->sent().bytes == 4 * 3 * 100);
  c->exchange(std::vector<runtime::message>{{0, 1, mine.blocks[0], all.memory[1]->part(0, 100)},
                                            {2, 2, mine.blocks[2], all.memory[2]->part(0, 100)}});
  CHECK(c->sent().bytes == 1300);
}

TEST_CASE("collectives: a failure ends all later calls of a group, and of those split from it") {
  const auto c = cpu_ranks(4);
  const auto rows = c->split(std::vector<int>{0, 0, 1, 1});
  const auto other = cpu_ranks(2);
  CHECK_THROWS_AS(runtime::fail_together(*rows[1].group, [] { throw sinter::memory_error("[zeros] no memory"); }),
                  sinter::memory_error);
  const pieces mine(*c, [&](int r) { return sent(r, 1, 100); });
  for (const auto& group : {c, rows[0].group, rows[1].group}) {
    CHECK(message_of<sinter::device_error>([&] { group->check(); }).find("[zeros] no memory") != std::string::npos);
    CHECK_THROWS_AS(group->barrier(), sinter::device_error);
  }
  CHECK_THROWS_AS(c->broadcast(mine.blocks, 0), sinter::device_error);
  other->check();
  c->fail("later");  // the first one stays
  CHECK(message_of<sinter::device_error>([&] { c->check(); }).find("[zeros] no memory") != std::string::npos);
}

TEST_CASE("collectives: groups need devices of one kind") {
  CHECK_THROWS_AS(runtime::open_peer_copies({}), sinter::value_error);
  std::vector<runtime::backend*> mixed = simulated(1);
  mixed.push_back(&runtime::get_backend({}));
  CHECK_THROWS_AS(runtime::open_peer_copies(mixed), sinter::value_error);
}
