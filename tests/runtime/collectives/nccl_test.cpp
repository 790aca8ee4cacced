// Ranks that NCCL joins, with a library in its place: the order of its calls, what they move on queues in random order,
// and its failures.
#include "runtime/collectives/cases.hpp"

#include <atomic>
#include <cstdlib>
#include <thread>

#include "runtime/collectives/fake_nccl.hpp"
#include "runtime/collectives/nccl_group.hpp"
#include "runtime/collectives/nccl_watch.hpp"
#include "support/simulated_gpu.hpp"

using namespace collectives_test;

namespace {

std::vector<runtime::backend*> gpus(int n) {
  std::vector<runtime::backend*> all;
  for (const sinter::device& d : {sim::first(), sim::second(), sim::third()})
    all.push_back(&runtime::get_backend({runtime::device_kind::cuda, d.index}));
  all.resize(static_cast<std::size_t>(n));
  return all;
}

/// A limit for what follows.
struct time_limit {
  explicit time_limit(const char* seconds) { ::setenv("SINTER_COLLECTIVE_TIMEOUT", seconds, 1); }
  ~time_limit() { ::unsetenv("SINTER_COLLECTIVE_TIMEOUT"); }
};

/// An event that is done, and notes who destroys it.
struct counted final : runtime::event {
  explicit counted(std::atomic<int>& left, std::atomic<std::thread::id>& by) : left(left), by(by) {}
  ~counted() override {
    by = std::this_thread::get_id();
    --left;
  }
  void record(runtime::stream&) override {}
  bool is_done() override {
    asked = true;
    return true;
  }
  void synchronize() override {}
  void hold(runtime::stream&) override {}
  double seconds_since(runtime::event&) override { return 0; }
  std::atomic<int>& left;
  std::atomic<std::thread::id>& by;
  static inline std::atomic<bool> asked{false};
};

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("collectives by NCCL: 1 to 3 GPUs, in many orders of their queued work") {
  for (unsigned seed = 1; seed <= 8; ++seed)
    for (int n = 1; n <= 3; ++n) {
      CAPTURE(seed);
      CAPTURE(n);
      const fake_nccl::in_place fake;
      sim::set_order(seed, seed % 2 == 0);
      {
        const auto c = runtime::open_nccl(gpus(n));
        CHECK(c->transport() == "NCCL 2.21.5");
        check_everything(*c);
        if (seed <= 2) check_reductions(*c);
        for (runtime::backend* d : c->local_devices()) d->synchronize();
      }
      CHECK(fake_nccl::now().misuse == "");
      CHECK(fake_nccl::aborted() == 0);
    }
}

TEST_CASE("collectives by NCCL: which of its functions a call is made of") {
  const fake_nccl::in_place fake;
  sim::set_order(1);
  const auto c = runtime::open_nccl(gpus(2));
  auto& calls = fake_nccl::now().calls;
  CHECK(calls == std::vector<std::string>{"CommInitAll 2"});
  const pieces from(*c, [](int r) { return sent(r, 0, 64); });
  const pieces to(*c, [](int) { return empty_of(128); });
  const auto made_by = [&](auto call) {
    calls.clear();
    call();
    return calls;
  };
  const std::vector<std::string> gathered{"GroupStart", "AllGather rank 0 of 2, 64 of type 1",
                                          "AllGather rank 1 of 2, 64 of type 1", "GroupEnd"};
  CHECK(made_by([&] { c->all_gather(from.blocks, to.blocks); }) == gathered);
  const std::vector<std::string> uneven{"GroupStart", "Broadcast rank 0 of 2, 64 of type 1",
                                        "Broadcast rank 1 of 2, 64 of type 1", "GroupEnd"};
  CHECK(made_by([&] {
          c->all_gather(std::vector<block>{from.blocks[0], {}},
                        std::vector<block>{to.memory[0]->part(0, 64), to.memory[1]->part(0, 64)},
                        std::vector<std::int64_t>{64, 0});
        }) == uneven);
  const std::vector<std::string> reduced{"GroupStart", "AllReduce rank 0 of 2, 16 of type 7",
                                         "AllReduce rank 1 of 2, 16 of type 7", "GroupEnd"};
  const auto reduce = [&](sinter::dtype t, runtime::reduce_op op) {
    return made_by([&] { c->all_reduce(from.blocks, from.blocks, t, op); });
  };
  CHECK(reduce(sinter::float32, runtime::reduce_op::sum) == reduced);
  // NCCL has no int16, no products of complex numbers, and its least number may not be NaN.
  for (const auto& composed :
       {reduce(sinter::int16, runtime::reduce_op::sum), reduce(sinter::complex64, runtime::reduce_op::prod),
        reduce(sinter::float64, runtime::reduce_op::min)})
    CHECK(contains(composed.at(1), "AllGather"));
  CHECK(contains(reduce(sinter::bool_, runtime::reduce_op::sum).at(1), "AllReduce rank 0 of 2, 64 of type 1"));
  CHECK(contains(reduce(sinter::complex64, runtime::reduce_op::sum).at(1), "AllReduce rank 0 of 2, 16 of type 7"));
  // A rank's message to itself is a copy, and one without bytes nothing.
  CHECK(made_by([&] {
          c->exchange(std::vector<runtime::message>{{0, 0, from.blocks[0], to.memory[0]->part(0, 64)}, {0, 1, {}, {}}});
        }).empty());
  for (runtime::backend* d : c->local_devices()) d->synchronize();
  CHECK(fake_nccl::now().misuse == "");
}

TEST_CASE("collectives by NCCL: GPUs must be distinct, and others take copies") {
  const fake_nccl::in_place fake;
  std::vector<runtime::backend*> twice = gpus(1);
  twice.push_back(twice[0]);
  CHECK(contains(message_of<sinter::value_error>([&] { runtime::open_nccl(twice); }), "cuda:63, cuda:63"));
  CHECK_THROWS_AS(runtime::open_nccl({}), sinter::value_error);
  CHECK(runtime::open_communicator(twice)->transport() == "peer copies");
  CHECK(runtime::open_communicator(gpus(3))->transport() == "NCCL 2.21.5");
}

TEST_CASE("collectives by NCCL: a call that fails aborts the group, in the name of function and call") {
  for (const std::string name : {"GroupStart", "AllGather", "GroupEnd"}) {
    CAPTURE(name);
    const fake_nccl::in_place fake;
    const auto c = runtime::open_nccl(gpus(3));
    const pieces from(*c, [](int r) { return sent(r, 0, 64); });
    const pieces to(*c, [](int) { return empty_of(3 * 64); });
    fake_nccl::now().fails = name;
    const std::string said = message_of<sinter::device_error>([&] { c->all_gather(from.blocks, to.blocks); });
    CHECK(contains(said, ("[all_gather] nccl" + name + ": internal error").c_str()));
    CHECK(fake_nccl::aborted() == 3);
    fake_nccl::now().fails.clear();
    CHECK(contains(message_of<sinter::device_error>([&] { c->barrier(); }), "internal error"));
    CHECK_THROWS_AS(c->check(), sinter::device_error);
  }
  const fake_nccl::in_place fake;
  fake_nccl::now().fails = "CommInitAll";
  CHECK(contains(message_of<sinter::device_error>([&] { runtime::open_nccl(gpus(2)); }), "ncclCommInitAll"));
}

TEST_CASE("collectives by NCCL: communicators are destroyed once, with their groups") {
  const fake_nccl::in_place fake;
  {
    const auto c = runtime::open_nccl(gpus(3));
    const auto parts = c->split(std::vector<int>{0, 1, 0});
    CHECK(fake_nccl::now().opened == 6);
  }
  CHECK(fake_nccl::now().destroyed == 6);
  CHECK(fake_nccl::aborted() == 0);
}

TEST_CASE("collectives by NCCL: an error that it reports later is found without a call") {
  const fake_nccl::in_place fake;
  sim::set_order(1);
  const auto c = runtime::open_nccl(gpus(2));
  const pieces from(*c, [](int r) { return sent(r, 0, 64); });
  const pieces to(*c, [](int) { return empty_of(128); });
  fake_nccl::now().hangs = true;
  c->all_gather(from.blocks, to.blocks);
  fake_nccl::set(&fake_nccl::settings::async_error, 6);
  for (int k = 0; k < 300 && fake_nccl::aborted() < 2; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(fake_nccl::aborted() == 2);
  const std::string said = message_of<sinter::device_error>([&] { c->check(); });
  CHECK(contains(said, "[all_gather] NCCL: remote error"));
  for (runtime::backend* d : c->local_devices()) d->synchronize();  // the abort has ended the wait
}

TEST_CASE("collectives by NCCL: a call that does not end is aborted at the time limit") {
  const time_limit one("1");
  const fake_nccl::in_place fake;
  sim::set_order(3, true);
  const auto c = runtime::open_nccl(gpus(2));
  const pieces from(*c, [](int r) { return sent(r, 0, 64); });
  const pieces to(*c, [](int) { return empty_of(128); });
  fake_nccl::now().hangs = true;
  c->all_gather(from.blocks, to.blocks);
  // The queues go on as far as they can, as those of a GPU do by themselves.
  for (int k = 0; k < 200; ++k) sim::enqueue(sim::third(), nullptr, [] {});
  for (int k = 0; k < 500 && fake_nccl::aborted() < 2; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(fake_nccl::aborted() == 2);
  const std::string said = message_of<sinter::device_error>([&] { c->check(); });
  CHECK(contains(said, "[all_gather] NCCL: has waited for other ranks for 1 s, the limit (SINTER_COLLECTIVE_TIMEOUT)"));
  for (runtime::backend* d : c->local_devices()) d->synchronize();
}

TEST_CASE("collectives by NCCL: what completed calls held is not destroyed by the thread that watches them") {
  // Who destroys an event waits for a lock of the driver's, which a thread has that waits for a hanging call.
  const fake_nccl::in_place fake;
  std::atomic<int> left{2};
  std::atomic<std::thread::id> by{};
  const auto group = [] {
    return runtime::nccl_group::of_process(gpus(1), "test", std::make_shared<runtime::failure_record>());
  };
  const auto add = [&](std::unique_ptr<runtime::event> begin, std::unique_ptr<runtime::event> end) {
    runtime::nccl_watch::instance().add({group(), "test", std::move(begin), std::move(end), {}, false});
  };
  add(std::make_unique<counted>(left, by), std::make_unique<counted>(left, by));
  const auto before = fake_nccl::now().destroyed;  // groups of other cases, which this call has dropped
  for (int k = 0; k < 300 && !counted::asked; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  REQUIRE(counted::asked);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the look has ended
  CHECK(left == 2);
  CHECK(fake_nccl::now().destroyed == before);
  runtime::backend& gpu = *gpus(1)[0];
  add(gpu.make_event(false), gpu.make_event(false));
  CHECK(left == 0);
  CHECK(by.load() == std::this_thread::get_id());
  CHECK(fake_nccl::now().destroyed == before + 1);
}
