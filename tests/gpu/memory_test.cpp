// Kinds of memory on a real GPU. Managed memory stays far below the memory of the card.
#ifdef SINTER_HAS_CUDA

#include <memory>
#include <string>

#include "gpu/gpu.hpp"
#include "gpu/ordered_allocator.hpp"

namespace sn = sinter;
using namespace sn::idx;
using sn::memory_kind;
using sn::ndarray;

namespace {

using list = std::vector<std::int64_t>;
list values(const ndarray& x) { return x.to_vector<std::int64_t>(); }
constexpr std::size_t mebi = std::size_t{1} << 20;

}  // namespace

TEST_CASE("gpu: managed and pinned arrays compute as others do, and the host works on the same bytes") {
  if (gpu_test::no_gpu()) return;
  const bool managed = sn::properties().managed_memory;
  constexpr std::int64_t n = 1 << 20;
  for (const memory_kind kind : {memory_kind::managed, memory_kind::pinned}) {
    if (kind == memory_kind::managed && !managed) {
      MESSAGE("left out: the GPU has no managed memory");
      continue;
    }
    const sn::memory_pool pool(sn::default_device(), kind);
    const std::size_t used = pool.figures().used;
    {
      ndarray x;
      {
        const sn::memory_scope scope(kind);
        x = sn::arange(n) * 2;
      }
      sn::eval(x);
      CHECK(x.memory_kind() == kind);
      CHECK(pool.figures().used == used + 8 * mebi);
      std::int64_t* p = x.host_data<std::int64_t>();
      CHECK(p[n - 1] == 2 * (n - 1));
      for (int k = 0; k < 100; ++k) p[k] = -k;
      CHECK(values(x(slice(0, 101)) + 1)[100] == 201);
      CHECK(values(x(slice(0, 3))) == list{0, -1, -2});
      x += 5;
      sn::synchronize();
      CHECK(p[99] == -94);
      CHECK(values(sn::sort(x)(slice(0, 2))) == list{-94, -93});
      CHECK(values(sn::to_memory(x, memory_kind::device)) == values(x));
    }
    CHECK(pool.figures().used == used);
    pool.trim();
    CHECK(pool.figures().reserved == pool.figures().used);
  }
}

TEST_CASE("gpu: prefetches and advice are taken, and change no element") {
  if (gpu_test::no_gpu()) return;
  if (!sn::properties().managed_memory) {
    MESSAGE("left out: the GPU has no managed memory");
    return;
  }
  MESSAGE("concurrent managed access: " << sn::properties().concurrent_managed_access);
  const sn::device d = sn::default_device();
  const sn::stream s({.non_blocking = true});
  const sn::memory_scope scope(memory_kind::managed);
  ndarray x = sn::arange(1 << 18) * 3;
  sn::prefetch(x, d);
  sn::prefetch(x, sn::cpu, s);
  sn::prefetch(x, d, s);
  for (const auto advice :
       {sn::memory_advice::read_mostly, sn::memory_advice::preferred_location, sn::memory_advice::accessed_by})
    for (const sn::device& where : {d, sn::device(sn::cpu)}) {
      sn::advise(x, advice, where);
      x += 1;
      sn::unadvise(x, advice, where);
    }
  CHECK(values(x)[1000] == 3006);
}

TEST_CASE("gpu: the pool's limit ends in memory_error, with everything from before intact") {
  if (gpu_test::no_gpu()) return;
  const sn::memory_pool pool;
  ndarray x = sn::arange(1000) * 2;
  sn::eval(x);
  sn::synchronize();
  pool.trim();
  pool.set_limit(pool.figures().used + 64 * mebi);
  std::string message;
  try {
    const ndarray y = sn::arange(static_cast<std::int64_t>(256 * mebi / 8));
    sn::eval(y);
  } catch (const sn::memory_error& e) {
    message = e.what();
  }
  pool.set_limit(0);
  CHECK(message.find("268435456 bytes asked for") != std::string::npos);
  CHECK(message.find("limit ") != std::string::npos);
  CHECK(values(x)[999] == 1998);
  const ndarray y = sn::arange(static_cast<std::int64_t>(256 * mebi / 8));
  CHECK(y(-1).item<std::int64_t>() == static_cast<std::int64_t>(256 * mebi / 8) - 1);
}

TEST_CASE("gpu: an array larger than the device's memory ends in memory_error with the figures, all else is intact") {
  if (gpu_test::no_gpu()) return;
  const ndarray x = sn::arange(1000) * 3, pending = x + 1;
  sn::eval(x);
  const std::size_t bytes = sn::properties().total_memory + 1024 * mebi;
  for (int attempt = 0; attempt < 2; ++attempt) {
    const ndarray y = sn::zeros(static_cast<std::int64_t>(bytes), {.dtype = sn::uint8}) + 1;
    std::string message;
    try {
      sn::eval(y);
    } catch (const sn::memory_error& e) {
      message = e.what();
    }
    CHECK_MESSAGE(
        message.find("GPU memory is exhausted: " + std::to_string(bytes) + " bytes asked for") != std::string::npos,
        message);
    for (const char* figure : {"in use", "held", "peak", "available"})
      CHECK_MESSAGE(message.find(figure) != std::string::npos, message);
    CHECK(values(x)[999] == 2997);
  }
  CHECK(values(pending)[999] == 2998);
}

TEST_CASE("gpu: pending sums over arrays without other handles are computed when memory runs out") {
  if (gpu_test::no_gpu()) return;
  const sn::memory_pool pool;
  sn::synchronize();
  pool.trim();
  pool.set_limit(pool.figures().used + 200 * mebi);
  constexpr std::int64_t n = 96 * mebi / 8;
  ndarray total;
  {
    const ndarray x = sn::zeros(n, {.dtype = sn::int64}) + 3;
    sn::eval(x);
    total = sn::sum(x);
  }
  const ndarray y = sn::zeros(2 * n - n / 4, {.dtype = sn::int64}) + 4;
  CHECK_NOTHROW(sn::eval(y));
  pool.set_limit(0);
  CHECK(total.item<std::int64_t>() == 3 * n);
  CHECK(sn::min(y).item<std::int64_t>() == 4);
}

TEST_CASE("gpu: parts of a large block serve where the limit leaves no more, on two streams") {
  if (gpu_test::no_gpu()) return;
  const sn::memory_pool pool;
  sn::synchronize();
  pool.trim();
  const std::size_t held = pool.figures().reserved;
  pool.set_limit(held + 208 * mebi);
  const auto filled = [](std::int64_t bytes, std::int64_t value) {
    const ndarray x = sn::zeros(bytes / 8, {.dtype = sn::int64}) + value;
    sn::eval(x);
    return x;
  };
  filled(200 * mebi, 1);
  const sn::stream s({.non_blocking = true});
  ndarray a = filled(64 * mebi, 2), b;
  {
    const sn::stream_guard on(s);
    b = filled(96 * mebi, 3);
  }
  CHECK(pool.figures().used >= 160 * mebi);
  CHECK(pool.figures().reserved <= held + 208 * mebi);
  pool.set_limit(0);
  for (const auto& [x, value] : {std::pair(a, 2), std::pair(b, 3)}) {
    CHECK(sn::min(x).item<std::int64_t>() == value);
    CHECK(sn::max(x).item<std::int64_t>() == value);
  }
  a = b = ndarray();
  pool.trim();
  CHECK(pool.figures().reserved <= held + 8 * mebi);
}

TEST_CASE("gpu: race checker: memory of CUDA's stream-ordered allocator serves arrays") {
  if (gpu_test::no_gpu() || gpu_test::no_ordered_allocator()) return;
  const auto theirs = std::make_shared<gpu_test::ordered_allocator>();
  const sn::stream a({.non_blocking = true}), b({.non_blocking = true});
  {
    const sn::allocator_scope scope(sn::default_device(), theirs);
    for (int round = 0; round < 30; ++round) {
      ndarray x, y;
      {
        const sn::stream_guard on(a);
        x = sn::arange(1 << 16) + round;
        sn::eval(x);
      }
      {
        const sn::stream_guard on(b);
        y = x * 2;
        sn::eval(y);
      }
      x = ndarray();
      const sn::stream_guard on(a);
      const ndarray z = sn::arange(1 << 16) * 0;
      sn::eval(z);
      CHECK(y(-1).item<std::int64_t>() == 2 * (65535 + round));
    }
    CHECK(theirs->live == 0);
  }
}

TEST_CASE("gpu: astype converts and moves in one call, both ways") {
  if (gpu_test::no_gpu()) return;
  const sn::device gpu = sn::default_device();
  const ndarray host = sn::array({1.5, -2.5, 300.0}, {.device = sn::cpu});
  for (const sn::dtype to : {sn::int8, sn::float16, sn::float64, sn::complex128}) {
    const ndarray there = host.astype(to, {.device = gpu});
    CHECK(there.dtype() == to);
    CHECK(there.device() == gpu);
    const ndarray back = sn::astype(there, sn::complex64, {.device = sn::cpu});
    CHECK(back.device() == sn::cpu);
    CHECK(sn::array_equal(back, host.astype(to).astype(sn::complex64)));
  }
  const ndarray there = host.to_device(gpu);
  ndarray same = there.astype(sn::float64, {.copy = false, .device = gpu});
  same(0) = 7;
  CHECK(there(0).item<double>() == 7);
}

TEST_CASE("gpu: elements are repeated by counts there, and out takes results there only") {
  if (gpu_test::no_gpu()) return;
  const ndarray x = sn::arange(1000), counts = x % 7;
  const ndarray host = sn::repeat(x.to_device(sn::cpu), counts.to_device(sn::cpu));
  CHECK(sn::array_equal(sn::repeat(x, counts).to_device(sn::cpu), host));
  CHECK_THROWS_AS(sn::repeat(x, counts.to_device(sn::cpu)), sn::device_error);
  ndarray out = sn::zeros({1000}, {.dtype = sn::int64, .device = sn::cpu});
  CHECK_THROWS_AS(sn::add(x, 1, {.out = out}), sn::device_error);
}

#endif
