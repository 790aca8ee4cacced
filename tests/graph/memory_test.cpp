// Pools with limits, kinds of memory, external allocators, and what happens when memory runs out.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "graph/values/limits.hpp"
#include "runtime/pool.hpp"
#include "sinter/sinter.hpp"
#include "support/message_of.hpp"
#include "support/simulated_gpu.hpp"

namespace sn = sinter;
using namespace sn::idx;
using sn::memory_kind;
using sn::ndarray;

namespace {

using sinter_test::message_of;
using list = std::vector<std::int64_t>;
list values(const ndarray& x) { return x.to_vector<std::int64_t>(); }
constexpr std::size_t mega = std::size_t{1} << 20;

/// The first simulated GPU has that much memory while it lives, and begins with none in use beyond what arrays hold.
struct small_gpu {
  explicit small_gpu(std::size_t bytes) {
    sn::synchronize(sim::first());
    sn::memory_pool(sim::first()).trim();
    sim::set_memory(sn::memory_pool(sim::first()).figures().used + bytes);
  }
  ~small_gpu() { sim::set_memory(0); }
};

ndarray block(std::size_t bytes, std::int64_t value) {
  const ndarray x = sn::zeros(bytes / 8, {.dtype = sn::int64, .device = sim::first()}) + value;
  sn::eval(x);
  return x;
}

/// Pending values over operands of that many bytes may be evaluated under pressure.
struct large_from {
  std::size_t before = sn::graph::limits().large_operand;
  explicit large_from(std::size_t bytes) { sn::graph::limits().large_operand = bytes; }
  ~large_from() { sn::graph::limits().large_operand = before; }
};

/// Ordinary memory, counted.
class counting_allocator final : public sn::allocator {
 public:
  std::size_t limit = SIZE_MAX;
  void* allocate(std::size_t bytes, void* stream) override {
    const std::lock_guard lock(mutex_);
    streams.insert(stream);
    if (in_use + bytes > limit) throw std::bad_alloc();
    in_use += bytes;
    ++calls;
    void* p = nullptr;
    return posix_memalign(&p, 256, bytes) == 0 ? p : nullptr;
  }
  void deallocate(void* p, std::size_t bytes, void*) noexcept override {
    const std::lock_guard lock(mutex_);
    in_use -= bytes;
    kept_.push_back(p);  // work may still be enqueued
  }
  std::string name() const override { return "the test's allocator"; }
  ~counting_allocator() override {
    sn::synchronize(sim::first());
    for (void* p : kept_) std::free(p);
    ++destroyed;
  }
  std::size_t in_use = 0, calls = 0;
  std::set<void*> streams;
  static inline std::atomic<int> destroyed{0};

 private:
  std::mutex mutex_;
  std::vector<void*> kept_;
};

}  // namespace

TEST_CASE("memory limits are read from text") {
  using sinter::runtime::parse_memory_limit;
  const auto parse = [](const char* text) { return parse_memory_limit(text, 1000 * mega, "LIMIT"); };
  CHECK(parse("8GiB") == std::size_t{8} << 30);
  CHECK(parse("500 MB") == 500000000);
  CHECK(parse(" 1.5 KiB ") == 1536);
  CHECK(parse("0.5") == 500 * mega);
  CHECK(parse("1") == 1000 * mega);
  CHECK(parse("1073741824") == 1073741824);
  CHECK(parse("12 B") == 12);
  CHECK(parse("") == SIZE_MAX);
  CHECK(parse("  ") == SIZE_MAX);
  for (const char* bad : {"-1", "0", "GiB", "8 gb", "8 GiB x", "nan", "inf", "1e30", "0.5.5", "1e-12"})
    CHECK_THROWS_AS(parse(bad), sn::value_error);
  CHECK(message_of<sn::value_error>([&] { parse("many"); }).find("[LIMIT] 'many'") != std::string::npos);
}

TEST_CASE("SINTER_GPU_MEMORY_LIMIT limits a GPU's pool from the beginning") {
  const char* const variable = "SINTER_GPU_MEMORY_LIMIT";
  const char* const before = std::getenv(variable);
  const std::string kept = before ? before : "";
  const auto limit = [&](const char* text) {
    ::setenv(variable, text, 1);
    return sinter::runtime::gpu_memory_limit(1000 * mega);
  };
  CHECK(limit("0.25") == 250 * mega);
  CHECK(limit("3GiB") == std::size_t{3} << 30);
  CHECK(limit("") == SIZE_MAX);
  CHECK(message_of<sn::value_error>([&] { limit("plenty"); }).find("[SINTER_GPU_MEMORY_LIMIT] 'plenty'") == 0);
  ::unsetenv(variable);
  CHECK(sinter::runtime::gpu_memory_limit(1000 * mega) == SIZE_MAX);

  ::setenv(variable, "8 MiB", 1);
  const sn::device d = sim::limited();
  before ? ::setenv(variable, kept.c_str(), 1) : ::unsetenv(variable);
  const sn::memory_pool pool(d);
  CHECK(pool.figures().limit == 8 * mega);
  const ndarray x = sn::arange(static_cast<std::int64_t>(4 * mega / 8), {.device = d}) * 1;
  sn::eval(x);
  const ndarray y = sn::zeros(6 * mega, {.dtype = sn::uint8, .device = d}) + 1;
  CHECK(message_of<sn::memory_error>([&] { sn::eval(y); }).find("limit 8388608") != std::string::npos);
  CHECK(x(-1).item<std::int64_t>() == static_cast<std::int64_t>(4 * mega / 8) - 1);
  CHECK(pool.figures().reserved <= 8 * mega);
  pool.set_limit(0);
  CHECK(y(0).item<int>() == 1);
}

TEST_CASE("pools: figures by device, kind and stream, limits, peak and trim") {
  const sn::device d = sim::first();
  const sn::memory_pool pool(d), managed = sn::managed_pool(d), pinned = sn::pinned_pool(d);
  CHECK(pool.device() == d);
  CHECK(managed.kind() == memory_kind::managed);
  CHECK(pinned.kind() == memory_kind::pinned);
  sn::synchronize(d);
  pool.trim();
  pool.reset_peak();
  const auto before = pool.figures(), managed_before = managed.figures();
  CHECK(before.reserved == before.used);
  CHECK(before.peak == before.used);
  CHECK(before.limit == SIZE_MAX);
  const sn::stream s({.device = d});
  const auto stream_before = pool.figures(s);
  {
    ndarray x = block(mega, 1);
    const sn::stream_guard on(s);
    ndarray y = block(2 * mega, 2);
    CHECK(pool.figures().used == before.used + 4 * mega);  // large blocks come in steps of 2 MiB
    CHECK(pool.figures(s).used == stream_before.used + 2 * mega);
    CHECK(pool.figures(sn::default_stream(d)).used >= 2 * mega);
  }
  CHECK(pool.figures().used == before.used);
  CHECK(pool.figures().reserved == before.used + 4 * mega);
  CHECK(pool.figures().peak == before.used + 4 * mega);
  CHECK(pool.figures(s).reserved == stream_before.used + 2 * mega);
  CHECK(managed.figures().used == managed_before.used);
  pool.trim();
  CHECK(pool.figures().reserved == before.used);
  pool.reset_peak();
  CHECK(pool.figures().peak == before.used);

  pool.set_limit(before.used + 4 * mega);
  CHECK(pool.figures().limit == before.used + 4 * mega);
  CHECK(pool.figures().available <= 4 * mega);
  const std::string message = message_of<sn::memory_error>([&] { block(16 * mega, 3); });
  CHECK(message.find("GPU memory is exhausted: 16777216 bytes asked for") != std::string::npos);
  CHECK(message.find("limit " + std::to_string(before.used + 4 * mega)) != std::string::npos);
  CHECK(values(block(mega, 7))[5] == 7);
  pool.set_limit(0);
  CHECK(values(block(16 * mega, 3))[0] == 3);
  pool.set_limit_fraction(0.5);
  CHECK(pool.figures().limit == sn::properties(d).total_memory / 2);
  pool.set_limit(0);
  CHECK_THROWS_AS(pool.set_limit_fraction(0), sn::value_error);
  CHECK_THROWS_AS(pool.set_limit_fraction(1.5), sn::value_error);
  CHECK_THROWS_AS(pool.figures(sn::default_stream(sn::cpu)), sn::device_error);
  CHECK_THROWS_AS(sn::managed_pool(sn::cpu), sn::device_error);
  CHECK(sn::memory_pool(sn::cpu).figures().limit == SIZE_MAX);
  CHECK(sn::memory(d).used == pool.figures().used);
}

TEST_CASE("exhaustion: free blocks of other streams serve before anything is given back") {
  const sn::device d = sim::first();
  const small_gpu small(10 * mega);
  const sn::stream a({.device = d}), b({.device = d});
  sim::set_order(11);
  ndarray result;
  {
    const sn::stream_guard on(a);
    const ndarray x = block(6 * mega, 4);
    result = sn::sum(x);
    sn::eval(result);
  }
  const sn::stream_guard on(b);
  const ndarray y = block(6 * mega, 5);  // in x's memory, after the sum
  CHECK(result.item<std::int64_t>() == 4 * static_cast<std::int64_t>(6 * mega / 8));
  CHECK(values(y(slice(0, 2))) == list{5, 5});
}

TEST_CASE("exhaustion: large free blocks are cut, for other streams too, after the work that is enqueued there") {
  const sn::device d = sim::first();
  const sn::memory_pool pool(d);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const small_gpu small(12 * mega);
    const std::size_t held = pool.figures().reserved;
    sim::set_order(seed, seed % 2 == 1);
    const sn::stream s({.device = d});
    ndarray total = sn::zeros(1, {.dtype = sn::int64, .device = d}) + 1, a, b;
    sn::eval(total);
    {
      const ndarray x = block(10 * mega, 4);
      total = sn::sum(x);
      sn::eval(total);
    }  // the sum is still queued
    {
      const sn::stream_guard on(s);
      a = block(4 * mega, 5);
    }
    b = block(4 * mega, 6);
    CHECK(pool.figures().reserved <= held + 12 * mega);
    CHECK(total.item<std::int64_t>() == 4 * static_cast<std::int64_t>(10 * mega / 8));
    CHECK(sn::min(a).item<std::int64_t>() == 5);
    CHECK(sn::max(a).item<std::int64_t>() == 5);
    CHECK(sn::min(b).item<std::int64_t>() == 6);
    CHECK(sn::max(b).item<std::int64_t>() == 6);
    a = b = ndarray();
    CHECK(values(block(10 * mega, 7)(slice(0, 2))) == list{7, 7});
  }
}

TEST_CASE("exhaustion: pending values that release more than they take are evaluated") {
  const sn::device d = sim::first();
  const large_from large(mega);
  for (int round = 0; round < 3; ++round) {
    const small_gpu small(16 * mega);
    ndarray total, part, same;
    {
      const ndarray x = block(6 * mega, 2), y = block(6 * mega, 3);
      total = sn::sum(x);
      part = y(slice(0, 4)) * 10;
      same = sn::zeros(2, {.dtype = sn::int64, .device = d}) + 1;
    }  // only the pending values hold the blocks now
    const ndarray z = round == 0   ? block(10 * mega, 7)
                      : round == 1 ? sn::arange(static_cast<std::int64_t>(10 * mega / 8), {.device = d})
                                   : sn::array(std::vector<std::int64_t>(10 * mega / 8, 7), {.device = d});
    sn::eval(z);
    CHECK(total.item<std::int64_t>() == 2 * static_cast<std::int64_t>(6 * mega / 8));
    CHECK(values(part) == list(4, 30));
    CHECK(values(same) == list(2, 1));
    CHECK(z.size() == static_cast<std::int64_t>(10 * mega / 8));
    CHECK(sn::memory(d).used >= 10 * mega);
  }
}

TEST_CASE("exhaustion: what would release nothing stays pending, and the error leaves everything as it was") {
  const sn::device d = sim::first();
  const large_from large(mega);
  const small_gpu small(16 * mega);
  const ndarray x = block(6 * mega, 2);
  const ndarray grown = x + x(0);  // as large as its input, which is still referenced
  const ndarray total = sn::sum(x);
  const ndarray asked = sn::zeros(20 * mega / 8, {.dtype = sn::int64, .device = d}) + 9;
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::string message = message_of<sn::memory_error>([&] { sn::eval(asked); });
    for (const char* figure : {"GPU memory", "bytes asked for", "in use", "held", "peak", "available"})
      CHECK_MESSAGE(message.find(figure) != std::string::npos, message);
    CHECK(values(x(slice(0, 3))) == list(3, 2));
  }
  CHECK(total.item<std::int64_t>() == 2 * static_cast<std::int64_t>(6 * mega / 8));
  CHECK(values(grown(slice(0, 2))) == list(2, 4));
  sim::set_memory(0);
  CHECK(values(asked(slice(0, 2))) == list(2, 9));
}

TEST_CASE("memory_scope: arrays written in it lie in that kind of memory, and stay there") {
  const sn::device d = sim::first();
  ndarray x, outside = sn::arange(8, {.device = d}) + 0;
  for (const memory_kind kind : {memory_kind::managed, memory_kind::pinned}) {
    CAPTURE(sn::name(kind));
    {
      const sn::memory_scope scope(kind, d);
      x = sn::arange(8, {.device = d}) * 2;
      {
        const sn::memory_scope back(memory_kind::device, d);
        CHECK(sn::zeros(2, {.device = d}).memory_kind() == memory_kind::device);
      }
      CHECK(sn::zeros(2, {.device = sn::cpu}).memory_kind() == memory_kind::device);
      outside(_) = x + 1;  // does not move
    }
    CHECK(x.memory_kind() == kind);  // pending still
    sn::eval(x);
    CHECK(x.memory_kind() == kind);
    CHECK(outside.memory_kind() == memory_kind::device);
    CHECK(values(outside)[3] == 7);
    CHECK((x + 1).memory_kind() == memory_kind::device);
    const ndarray copy = x.copy();
    x(slice(0, 2)) = 50;  // out of place, since the copy holds the elements
    sn::eval(x);
    CHECK(x.memory_kind() == kind);
    x(_) = outside;  // a whole write of a value in other memory
    sn::eval(x);
    CHECK(x.memory_kind() == kind);
    CHECK(values(x) == values(outside));
    CHECK(values(copy)[1] == 2);
    x += 1;
    CHECK(x.memory_kind() == kind);
    outside = sn::arange(8, {.device = d}) + 0;
    const ndarray there = sn::to_memory(x, memory_kind::device);
    CHECK(there.memory_kind() == memory_kind::device);
    CHECK(values(there) == values(x));
    CHECK(sn::to_memory(outside, kind).memory_kind() == kind);
    CHECK(values(sn::to_memory(outside, kind)) == values(outside));
  }
  CHECK_THROWS_AS((void)sn::memory_scope(memory_kind::managed, sn::cpu), sn::device_error);
  CHECK(sn::zeros(2, {.device = d}).memory_kind() == memory_kind::device);
}

TEST_CASE("host_data: the host works on the same bytes of managed, pinned and CPU arrays") {
  const sn::device d = sim::first();
  sim::set_order(8);
  for (const memory_kind kind : {memory_kind::managed, memory_kind::pinned}) {
    ndarray x;
    {
      const sn::memory_scope scope(kind, d);
      x = sn::arange(6, {.device = d}) * 3;
    }
    std::int64_t* p = x.host_data<std::int64_t>();
    CHECK(p[5] == 15);
    p[5] = 100;
    CHECK(values(x + 1)[5] == 101);
    x += 1;
    sn::synchronize(d);
    CHECK(p[5] == 101);
    CHECK(p == x.host_data<std::int64_t>());
    CHECK_THROWS_AS((void)x.host_data<float>(), sn::dtype_error);
  }
  const ndarray x = sn::arange(6, {.device = d}) + 0;
  CHECK(message_of<sn::value_error>([&] { (void)x.host_data<std::int64_t>(); }).find("cuda:63") != std::string::npos);
  const ndarray y = sn::arange(6, {.device = sn::cpu}) + 0;
  CHECK(y.host_data<std::int64_t>()[2] == 2);
}

TEST_CASE("prefetch and advise take managed arrays only, and change no element") {
  const sn::device d = sim::first();
  ndarray x;
  {
    const sn::memory_scope scope(memory_kind::managed, d);
    x = sn::arange(9, {.device = d}) * 2;
  }
  const sn::stream s({.device = d});
  sn::prefetch(x, d);
  sn::prefetch(x, sn::cpu, s);
  sn::advise(x, sn::memory_advice::read_mostly);
  sn::advise(x, sn::memory_advice::preferred_location, d);
  sn::advise(x, sn::memory_advice::accessed_by, sn::cpu);
  sn::unadvise(x, sn::memory_advice::read_mostly);
  CHECK(values(x)[8] == 16);
  const ndarray y = sn::arange(9, {.device = d}) + 0;
  CHECK(message_of<sn::value_error>([&] { sn::prefetch(y, d); }).find("device memory") != std::string::npos);
  CHECK_THROWS_AS(sn::advise(y, sn::memory_advice::read_mostly), sn::value_error);
  CHECK_THROWS_AS(sn::prefetch(x, d, sn::default_stream(sim::second())), sn::device_error);
  const sn::memory_scope scope(memory_kind::managed, d);
  const ndarray none = sn::zeros(0, {.device = d});
  sn::prefetch(none, d);  // drivers refuse a range of no bytes
  sn::advise(none, sn::memory_advice::read_mostly);
  CHECK(none.memory_kind() == memory_kind::managed);
}

TEST_CASE("allocators of others: arrays give memory back to where it came from") {
  const sn::device d = sim::first();
  sim::set_order(6);
  const int destroyed = counting_allocator::destroyed;
  auto mine = std::make_shared<counting_allocator>(), other = std::make_shared<counting_allocator>();
  const counting_allocator &first = *mine, &second = *other;
  const std::size_t used = sn::memory(d).used;
  ndarray x, y, z;
  sn::set_allocator(d, mine);
  {
    const sn::stream s({.device = d});
    const sn::stream_guard on(s);
    x = sn::arange(1000, {.device = d}) * 2;
    sn::eval(x);
    CHECK(first.in_use == 8000);
    CHECK(first.streams.count(s.native_handle()) == 1);
    {
      const sn::allocator_scope scope(d, other);
      y = x + 1;
      sn::eval(y);
      CHECK(second.in_use == 8000);
    }
    z = x + 2;
    sn::eval(z);
    CHECK(first.in_use == 16000);
  }
  sn::set_allocator(d, nullptr);
  mine.reset();
  CHECK(counting_allocator::destroyed == destroyed);
  CHECK(sn::memory(d).used == used);
  const ndarray w = y + z;  // pool memory again
  sn::eval(w);
  CHECK(sn::memory(d).used > used);
  CHECK(values(w)[10] == 43);
  other->limit = 100;
  {
    const sn::allocator_scope scope(d, other);
    const std::string message = message_of<sn::memory_error>([&] { sn::eval(x + 7); });
    CHECK(message.find("the test's allocator is exhausted: 8000 bytes") != std::string::npos);
  }
  x = ndarray();
  CHECK(first.in_use == 8000);
  z = ndarray();
  CHECK(counting_allocator::destroyed == destroyed + 1);  // with its last array
  y = ndarray();
  CHECK(second.in_use == 0);
  CHECK_THROWS_AS((void)sn::allocator_scope(d, nullptr), sn::value_error);
  CHECK(values(w)[10] == 43);
}

TEST_CASE("allocators of others: memory that another stream still uses is not given back before") {
  const sn::device d = sim::first();
  struct reusing final : sn::allocator {  // hands the same block out again, in the order of its stream
    void* block = std::aligned_alloc(256, 8192);
    bool free = true;
    void* allocate(std::size_t, void*) override {
      if (!free) throw std::bad_alloc();
      free = false;
      return block;
    }
    void deallocate(void*, std::size_t, void*) noexcept override { free = true; }
    std::string name() const override { return "one block"; }
  };
  const auto one = std::make_shared<reusing>();
  const sn::stream a({.device = d}), b({.device = d});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    sim::set_order(seed, seed % 2 == 0);
    const sn::stream_guard on(a);
    ndarray result;
    {
      ndarray x;
      {
        const sn::allocator_scope scope(d, one);
        x = sn::arange(1000, {.device = d}) + 5;
        sn::eval(x);
      }
      const sn::stream_guard there(b);
      result = x * 2;
      sn::eval(result);
    }
    const sn::allocator_scope scope(d, one);
    const ndarray next = sn::arange(1000, {.device = d}) * 0;
    sn::eval(next);
    CHECK(values(result)[999] == 2008);
  }
  sn::synchronize(d);
  std::free(one->block);
}
