// The code of docs/memory.md and docs/streams.md: every line of it is in this file, and does what the pages say. Where
// the default device is the CPU a simulated GPU takes its place.
#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "sinter/sinter.hpp"
#include "support/docs_page.hpp"
#include "support/simulated_gpu.hpp"

namespace sn = sinter;
using sinter_test::code_blocks;
using sinter_test::packed;
using sinter_test::printed;
using sinter_test::whole_file;
using sn::ndarray;

namespace {

/// A GPU is the thread's default device while it lives.
struct some_gpu {
  std::optional<sn::device_guard> guard;
  some_gpu() {
    if (sn::default_device().kind == sn::device_kind::cpu) guard.emplace(sim::first());
  }
};

}  // namespace

TEST_CASE("memory docs: every piece of code on the pages is part of this file") {
  const std::string here = packed(whole_file(SINTER_SOURCE_DIR "/tests/docs/memory_test.cpp"));
  std::size_t count = 0;
  for (const char* page : {"memory", "streams"})
    for (const std::string& block : code_blocks(whole_file(SINTER_SOURCE_DIR "/docs/" + std::string(page) + ".md"))) {
      CAPTURE(block);
      CHECK(here.find(packed(block)) != std::string::npos);
      ++count;
    }
  CHECK(count == 9);
}

TEST_CASE("memory docs: figures and limits") {
  const some_gpu device;
  const printed no_output;
  // clang-format off
  const sn::memory_pool pool;  // of the default device; sn::managed_pool(), sn::pinned_pool() of the other kinds
  const auto before = pool.figures();
  std::cout << before.used << " bytes in arrays, " << before.reserved << " held, " << before.peak << " at most\n";
  pool.set_limit(std::size_t{2} << 30);  // or set_limit_fraction(0.5); 0 takes it back
  pool.trim();                           // waits for the device and gives free blocks back
  // clang-format on
  CHECK(pool.figures().limit == std::size_t{2} << 30);
  pool.set_limit(0);
  CHECK(pool.figures().reserved == pool.figures().used);
  CHECK(no_output.text.str().find(" at most") != std::string::npos);
}

TEST_CASE("memory docs: managed memory") {
  const some_gpu device;
  const printed no_output;
  // clang-format off
  ndarray table;
  {
    const sn::memory_scope managed(sn::memory_kind::managed);
    table = sn::zeros({1000, 1000}, sn::float32);
  }
  table += 1;
  float* on_host = table.host_data<float>();  // the same bytes, after waiting for the device
  on_host[0] = 5;
  std::cout << sn::sum(table).item<float>() << '\n';
  // clang-format on
  CHECK(no_output.text.str() == "1e+06\n");
  CHECK(sn::sum(table).item<double>() == 1000004);
  CHECK(table.memory_kind() == sn::memory_kind::managed);
  // clang-format off
  sn::prefetch(table, sn::default_device());
  sn::advise(table, sn::memory_advice::read_mostly);
  const auto total = sn::sum(table);
  sn::eval(total);
  sn::prefetch(table, sn::cpu);  // behind the sum, in the order of the stream
  // clang-format on
  CHECK(total.item<float>() == 1000004);
}

TEST_CASE("memory docs: pinned memory and copies that overlap") {
  const some_gpu device;
  // clang-format off
  ndarray block;
  {
    const sn::memory_scope pinned(sn::memory_kind::pinned, sn::cpu);
    block = sn::ones({1 << 16}, {.dtype = sn::float32, .device = sn::cpu}) * 2;
  }
  const sn::stream copies({.non_blocking = true});
  ndarray there = block.to_device(sn::default_device(), copies);
  ndarray back = sn::sqrt(there).to_host(copies);  // pinned; sqrt runs on the current stream, behind the copy
  float first = back(0).item<float>();             // waits for what it needs
  // clang-format on
  CHECK(first == 1.41421356f);
  CHECK(block.memory_kind() == sn::memory_kind::pinned);
  CHECK(back.memory_kind() == sn::memory_kind::pinned);
  CHECK(back.device() == sn::cpu);
}

TEST_CASE("memory docs: allocators of others") {
  // clang-format off
  class counting : public sn::allocator {
   public:
    void* allocate(std::size_t bytes, void* /* stream: a cudaStream_t, null on the CPU */) override {
      ++blocks;
      return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    }
    void deallocate(void* p, std::size_t, void*) noexcept override { std::free(p); }
    std::string name() const override { return "counting"; }
    int blocks = 0;
  };
  const auto mine = std::make_shared<counting>();
  {
    const sn::allocator_scope scope(sn::cpu, mine);  // or sn::set_allocator(sn::cpu, mine) for the whole process
    auto y = sn::arange(10, {.device = sn::cpu}) * 2;
    sn::eval(y);
  }
  // clang-format on
  CHECK(mine->blocks == 1);
}

TEST_CASE("memory docs: streams and events") {
  const some_gpu device;
  const ndarray u = sn::linspace(0, 1, 1000, {.dtype = sn::float32});
  // clang-format off
  const sn::stream left({.non_blocking = true}), right({.priority = -1, .non_blocking = true});
  ndarray x, y;
  {
    const sn::stream_guard on(left);
    x = sn::sin(u);
    sn::eval(x);
  }
  {
    const sn::stream_guard on(right);
    y = sn::cos(u);
    sn::eval(y);
  }
  const auto z = x * x + y * y;  // waits for both where it runs, by itself
  // clang-format on
  CHECK(sn::allclose(z, sn::ones_like(z)));
  // clang-format off
  sn::event begin, end;
  left.record(begin);
  {
    const sn::stream_guard on(left);
    sn::eval(sn::sqrt(u));
  }
  left.record(end);
  right.wait(end);                           // what comes on `right` from here on
  double seconds = sn::elapsed(begin, end);  // waits for both
  // clang-format on
  CHECK(seconds >= 0);
  CHECK(end.query());
}

TEST_CASE("memory docs: devices") {
  const some_gpu device;
  const printed no_output;
  const ndarray u = sn::arange(10);
  // clang-format off
  const sn::device here = sn::default_device();
  const sn::device_guard on(here);
  ndarray there = u.to_device(sn::cpu);
  ndarray again = there.to_device(here) + 1;
  std::cout << sn::properties(here).name << ", " << sn::properties(here).multiprocessors << " multiprocessors\n";
  // clang-format on
  CHECK(again.device() == here);
  CHECK(again(9).item<int>() == 10);
  CHECK(no_output.text.str().find(" multiprocessors") != std::string::npos);
}

TEST_CASE("memory docs: graphs") {
  const some_gpu device;
  // clang-format off
  ndarray field = sn::ones({200, 200}, sn::float32), next = sn::array(field);
  const auto inner = [](const ndarray& f) {
    return f["1:-1, 1:-1"] + 0.2f * (f[":-2, 1:-1"] + f["2:, 1:-1"] + f["1:-1, :-2"] + f["1:-1, 2:"] - 4 * f["1:-1, 1:-1"]);
  };
  const sn::launch_graph two_steps = sn::capture([&] {
    next["1:-1, 1:-1"] = inner(field);
    sn::eval(next);  // nothing pending reads `field` any more, so the next line writes in place
    field["1:-1, 1:-1"] = inner(next);
  });
  for (int k = 0; k < 50; ++k) two_steps.launch();
  // clang-format on
  CHECK(two_steps.size() == 2);  // no copies
  CHECK(sn::array_equal(field, sn::ones({200, 200}, sn::float32)));
  field(100, 100) = 2;
  next(100, 100) = 2;
  ndarray expected = field + 0, other = next + 0;
  for (int k = 0; k < 3; ++k) {
    two_steps.launch();
    other["1:-1, 1:-1"] = inner(expected);
    expected["1:-1, 1:-1"] = inner(other);
  }
  CHECK(sn::array_equal(field, expected));
  CHECK_FALSE(sn::array_equal(field, sn::ones({200, 200}, sn::float32)));
}
