// The runtime below the backends: device names, the block cache and its figures, parallel_for.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/hooks.hpp"
#include "runtime/parallel.hpp"
#include "runtime/pool.hpp"
#include "runtime/sanitizer.hpp"
#include "sinter/error.hpp"

using namespace sinter;
using namespace sinter::runtime;

namespace {

/// Counts what it gives, up to a limit. The pool must not touch the memory, so that there need be none.
class counted_source final : public memory_source {
 public:
  counted_source(std::size_t limit, std::size_t& held, int& calls) : limit_(limit), held_(held), calls_(calls) {}
  void* allocate(std::size_t bytes) noexcept override {
    if (held_ + bytes > limit_) return nullptr;
    held_ += bytes;
    ++calls_;
    next_ += std::size_t{1} << 40;
    return reinterpret_cast<void*>(next_);
  }
  void release(void*, std::size_t bytes) noexcept override { held_ -= bytes; }
  std::size_t available() const noexcept override { return limit_ - held_; }

 private:
  std::size_t limit_, &held_;
  int& calls_;
  std::size_t next_ = 0;
};

class heap_source final : public memory_source {
 public:
  void* allocate(std::size_t bytes) noexcept override { return std::aligned_alloc(256, bytes); }
  void release(void* p, std::size_t bytes) noexcept override {
    CHECK(bytes_allowed(p, bytes));  // its next owner does not depend on the pool
    std::free(p);
  }
  std::size_t available() const noexcept override { return SIZE_MAX; }
};

constexpr std::size_t mega = std::size_t{1} << 20;

}  // namespace

TEST_CASE("devices: names are parsed and printed, others and missing ones are device errors") {
  CHECK(parse_device("cpu") == device_id{device_kind::cpu, 0});
  CHECK(parse_device("cuda") == device_id{device_kind::cuda, 0});
  CHECK(parse_device("cuda:12") == device_id{device_kind::cuda, 12});
  CHECK(to_string({device_kind::cuda, 3}) == "cuda:3");
  CHECK(to_string({}) == "cpu");
  for (const char* bad : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cpu "})
    CHECK_THROWS_AS(parse_device(bad), device_error);
  CHECK(get_backend({}).id() == device_id{});
  CHECK(&get_backend({}) == &get_backend({}));
  const int gpus = device_count(device_kind::cuda);
  try {
    get_backend({device_kind::cuda, gpus});
    FAIL("a device that does not exist was found");
  } catch (const device_error& e) {
    CHECK(std::string(e.what()).find(to_string({device_kind::cuda, gpus})) != std::string::npos);
  }
}

TEST_CASE("pool: freed blocks are used again, large ones too, and figures follow") {
  std::size_t held = 0;
  int calls = 0;
  pool p(std::make_unique<counted_source>(std::size_t{1} << 40, held, calls), {"test memory", 32 * mega, 128 * mega});
  for (std::size_t bytes = 0; bytes < 70000; bytes = bytes * 5 / 4 + 1) {
    void* a = p.allocate(bytes);
    CHECK(a != nullptr);
    CHECK(p.figures().used >= bytes);
    CHECK(p.figures().used <= bytes + bytes / 4 + 256);
    p.deallocate(a, bytes);
    const int before = calls;
    CHECK(p.allocate(bytes) == a);
    CHECK(calls == before);
    p.deallocate(a, bytes);
  }
  CHECK(p.figures().used == 0);
  void* large = p.allocate(100 * mega);
  p.deallocate(large, 100 * mega);
  CHECK(p.allocate(90 * mega) == large);  // wastes less than a quarter
  p.deallocate(large, 90 * mega);
  CHECK(p.allocate(40 * mega) != large);
  void* second = p.allocate(120 * mega);
  p.deallocate(second, 120 * mega);  // beyond what may be kept: straight back
  CHECK(p.figures().peak >= 160 * mega);
  p.trim();
  CHECK(p.figures().reserved == p.figures().used);
  CHECK(p.figures().peak >= 160 * mega);  // trimming does not forget it
  p.reset_peak();
  CHECK(p.figures().peak == p.figures().used);
  CHECK(held == p.figures().reserved);
}

TEST_CASE("pool: of a host block the bytes that were asked for may be touched, and none once it is free") {
  if (!address_sanitizer) {
    MESSAGE("left out: only the address sanitizer keeps count of that");
    return;
  }
  pool p(std::make_unique<heap_source>(), {.name = "test memory", .large = 32 * mega, .host = true});
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1001}, 40 * mega + 8}) {
    auto* const a = static_cast<char*>(p.allocate(bytes));
    CHECK(bytes_allowed(a, bytes));
    CHECK(!bytes_allowed(a + bytes, 1));
    p.deallocate(a, bytes);
    CHECK(!bytes_allowed(a, 1));
    CHECK(!bytes_allowed(a + bytes - 1, 1));
    CHECK(p.allocate(bytes) == a);
    CHECK(bytes_allowed(a, bytes));
    p.deallocate(a, bytes);
  }
  p.trim();
  CHECK(p.figures().reserved == 0);
}

TEST_CASE("pool: exhaustion trims first, then throws with the figures") {
  std::size_t held = 0;
  int calls = 0;
  pool p(std::make_unique<counted_source>(100 * mega, held, calls), {"test memory", 32 * mega, 1024 * mega});
  void* a = p.allocate(60 * mega);
  p.deallocate(a, 60 * mega);
  CHECK(held >= 60 * mega);
  CHECK(p.allocate(20 * mega) != nullptr);
  CHECK(p.allocate(70 * mega) != nullptr);  // possible only without the cached block
  try {
    p.allocate(50 * mega);
    FAIL("memory that does not exist was given");
  } catch (const memory_error& e) {
    const std::string text = e.what();
    CHECK(text.find("test memory") != std::string::npos);
    CHECK(text.find(std::to_string(50 * mega)) != std::string::npos);
    CHECK(text.find("in use") != std::string::npos);
  }
  CHECK_THROWS_AS(p.allocate(static_cast<std::size_t>(-1)), memory_error);
}

TEST_CASE("parallel_for: every task runs once, exceptions come back, nested calls are serial") {
  for (int threads : {1, 2, 7}) {
    set_thread_count(threads);
    CHECK(thread_count() == threads);
    for (std::int64_t tasks : {0, 1, 2, 5, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
      parallel_for(tasks, any_time, [&](std::int64_t t) {
        parallel_for(3, any_time, [&](std::int64_t) { runs[static_cast<std::size_t>(t)].fetch_add(1); });
      });
      bool once = true;
      for (auto& r : runs) once = once && r == 3;
      CHECK(once);
    }
    CHECK_THROWS_AS(parallel_for(100, any_time,
                                 [](std::int64_t t) {
                                   if (t == 42) throw std::runtime_error("task");
                                 }),
                    std::runtime_error);
  }
  set_thread_count(0);
}
