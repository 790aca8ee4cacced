// Errors on a GPU: indices out of range and exhausted memory are reported, and arrays from before stay intact.
#ifdef SINTER_HAS_CUDA

#include <algorithm>
#include <string>
#include <vector>

#include "gpu/gpu.hpp"
#include "sinter/error.hpp"

using namespace sinter;

namespace {

constexpr std::size_t mebi = std::size_t{1} << 20;

/// An evaluated array, and whether it still holds what it was made of.
struct witness {
  std::vector<std::int32_t> expected;
  ndarray x;
  witness() {
    for (std::int32_t k = 0; k < 100000; ++k) expected.push_back(k * 7 - 1000);
    x = array(expected) + 0;
    eval(x);
  }
  bool intact() const { return x.to_vector<std::int32_t>() == expected; }
};

std::string message_of_exhaustion(std::size_t bytes) {
  try {
    const ndarray x = ones({static_cast<std::int64_t>(bytes)}, {.dtype = int8}) + 1;
    eval(x);
  } catch (const memory_error& e) {
    return e.what();
  }
  return "";
}

/// A byte array that has been written.
ndarray block(std::size_t bytes) {
  const ndarray x = arange(static_cast<std::int64_t>(bytes)).astype(int8);
  eval(x);
  return x;
}

}  // namespace

TEST_CASE("gpu: an index out of range is reported once, and arrays from before stay intact") {
  if (gpu_test::no_gpu()) return;
  const device gpu = default_device();
  const witness before;
  const ndarray x = arange(1000).astype(float32);
  eval(x);
  for (std::int64_t bad : {std::int64_t{1000}, std::int64_t{-1001}, std::int64_t{1} << 40}) {
    std::vector<std::int64_t> where(5000, 3);
    where[4321] = bad;
    const ndarray picked = take(x, array(where), 0) * 2;
    eval(picked);
    CHECK_THROWS_AS(synchronize(gpu), index_error);
    CHECK_NOTHROW(synchronize(gpu));
    CHECK_THROWS_AS((take(x, array(where), 0) * 3).to_vector<float>(), index_error);
    CHECK_NOTHROW(synchronize(gpu));
    CHECK(before.intact());
    where[4321] = -1000;
    CHECK(take(x, array(where), 0).to_vector<float>()[4321] == 0);
  }
}

TEST_CASE("gpu: an integer to a negative power is reported once") {
  if (gpu_test::no_gpu()) return;
  const witness before;
  const ndarray result = power(array({2, 3, 4}), array({1, -1, 2}));
  eval(result);
  CHECK_THROWS_AS(synchronize(default_device()), value_error);
  CHECK_NOTHROW(synchronize(default_device()));
  CHECK(before.intact());
}

TEST_CASE("gpu: an allocation beyond the card throws memory_error with the pool's figures") {
  if (gpu_test::no_gpu()) return;
  const device gpu = default_device();
  const witness before;
  const std::size_t wanted = 10 * (memory(gpu).available + memory(gpu).used);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::string message = message_of_exhaustion(wanted);
    CAPTURE(message);
    CHECK(message.find(std::to_string(wanted) + " bytes asked for") != std::string::npos);
    for (const char* figure : {"GPU memory", "in use", "held", "peak", "available"})
      CHECK(message.find(figure) != std::string::npos);
    CHECK(before.intact());
    CHECK((before.x + 1).to_vector<std::int32_t>()[1] == before.expected[1] + 1);
  }
}

TEST_CASE("gpu: a pending expression survives the failure of a larger one that it is part of") {
  if (gpu_test::no_gpu()) return;
  const device gpu = default_device();
  const auto wanted = static_cast<std::int64_t>(10 * (memory(gpu).available + memory(gpu).used));
  const ndarray small = arange(100).astype(int8) * 2;
  CHECK_THROWS_AS(eval(small(slice(0, 1)) + ones({wanted}, {.dtype = int8})), memory_error);
  CHECK(small.to_vector<int>()[50] == 100);
}

TEST_CASE("gpu: sizes that the pool does not hold are served after it gives other blocks back") {
  if (gpu_test::no_gpu()) return;
  const device gpu = default_device();
  const witness before;
  block(mebi);                                                                   // compiles the kernel
  (void)message_of_exhaustion(10 * (memory(gpu).available + memory(gpu).used));  // starts from an empty pool
  const memory_info start = memory(gpu);
  const std::size_t share = std::min(std::size_t{8} << 30, start.available / 4);
  const std::size_t rounds = start.available / share + 3;
  std::size_t reserved = start.reserved, used = 0;
  bool gave_back = false;
  for (std::size_t round = 0; round < rounds; ++round) {
    // Larger than every block from before, so that none of those serves.
    const std::size_t bytes = 128 * mebi + round * 4 * mebi;
    std::vector<ndarray> held;
    for (std::size_t total = 0; total + bytes <= share; total += bytes) held.push_back(block(bytes));
    const memory_info now = memory(gpu);
    gave_back = gave_back || now.reserved < reserved;
    reserved = now.reserved;
    used = std::max(used, now.used);
    REQUIRE(held.size() > 0);
    CHECK(held.front()(5).item<int>() == 5);
    CHECK(held.back()(-1).item<int>() == -1);
  }
  CHECK(gave_back);
  CHECK(used <= start.used + share + 64 * mebi);
  CHECK(before.intact());
  (void)message_of_exhaustion(10 * (memory(gpu).available + memory(gpu).used));
  CHECK(memory(gpu).reserved <= start.reserved + 64 * mebi);
}

#endif
