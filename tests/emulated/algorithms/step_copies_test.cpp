// The CUDA kernel between two steps of a loop, run thread by thread on the CPU, against the copies that it stands for.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/step_copies.hpp"

using sinter::gpu::step_state;
using sinter::gpu::step_tile;

namespace {

void run(step_state& s, const std::vector<step_tile>& tiles, bool ends_step = true) {
  const auto count = static_cast<unsigned>(tiles.size());
  CHECK(cuda_emulator::launch({count ? count : 1}, {emulated::step_threads},
                              [&] { emulated::copy_tiles(&s, tiles.data(), count, ends_step); }) == std::string());
}

bool emulates() {
  if (cuda_emulator::available()) return true;
  MESSAGE("left out: the sanitizer does not follow changes of stack");
  return false;
}

}  // namespace

TEST_CASE("copies between steps: places that move on, units of every size, and none after the last step") {
  if (!emulates()) return;
  for (const int unit : {1, 2, 4, 8, 16})
    for (const bool reverse : {false, true}) {
      CAPTURE(unit);
      CAPTURE(reverse);
      const std::int64_t bytes = 1200 * unit, steps = 3;
      std::vector<char> memory(static_cast<std::size_t>(bytes * 10) + 16);
      std::iota(memory.begin(), memory.end(), char{0});
      char* const base = memory.data() + (16 - reinterpret_cast<std::uintptr_t>(memory.data()) % 16) % 16;
      // Given: from place 0 to places 1 to 3. Taken: from places 4 to 6, the first of which is not read, to place 7.
      char *const given = base + bytes, *const scanned = base + 4 * bytes, *const taken = base + 7 * bytes;
      const std::int64_t stride = reverse ? -bytes : bytes;
      const auto u = static_cast<std::uint16_t>(unit);
      const auto size = static_cast<std::uint32_t>(bytes);
      const std::vector<step_tile> tiles{{reverse ? given + 2 * bytes : given, base, stride, 0, size, u, 0},
                                         {taken, scanned + bytes, 0, reverse ? -bytes : bytes, size, u, 1}};
      std::int64_t number = 40;
      step_state s{0, steps, &number, nullptr, 0, true};
      for (std::int64_t k = 0; k < 5; ++k) {
        CAPTURE(k);
        std::memset(base, static_cast<int>(50 + k), static_cast<std::size_t>(bytes));
        const std::vector<char> before(taken, taken + bytes);
        run(s, tiles);
        CHECK(s.finished == 0);
        CHECK(s.goes_on == (k + 1 < steps));
        CHECK(number == 40 + std::min<std::int64_t>(k + 1, steps - 1));
        if (k < steps) {
          const char* const at = given + (reverse ? steps - 1 - k : k) * bytes;
          CHECK(*at == 50 + k);
          CHECK(std::memcmp(at, base, static_cast<std::size_t>(bytes)) == 0);
        }
        const char* const next = scanned + (reverse ? 1 - k : 1 + k) * bytes;
        if (k + 1 < steps) CHECK(std::memcmp(taken, next, static_cast<std::size_t>(bytes)) == 0);
        else CHECK(std::memcmp(taken, before.data(), before.size()) == 0);
      }
      CHECK(*given == (reverse ? 52 : 50));
    }
}

TEST_CASE("copies between steps: as long as a condition holds, also without anything to copy") {
  if (!emulates()) return;
  bool again = true;
  std::int64_t carry = 0;
  const std::int64_t next = 7;
  const std::vector<step_tile> one{
      {reinterpret_cast<char*>(&carry), reinterpret_cast<const char*>(&next), 0, 0, 8, 8, 0}};
  for (const bool copies : {true, false}) {
    step_state s{0, -1, nullptr, &again, 0, true};
    const std::vector<step_tile> tiles = copies ? one : std::vector<step_tile>();
    again = true;
    run(s, tiles);
    CHECK(s.goes_on);
    CHECK(s.step == 1);
    again = false;
    run(s, tiles);  // the step that has made it false is one
    CHECK(!s.goes_on);
    CHECK(s.step == 2);
    CHECK(carry == 7);
    carry = 0;
    again = true;
    run(s, tiles);
    CHECK(!s.goes_on);
    CHECK(s.step == 2);
    CHECK(carry == 0);
    carry = 7;
  }
}

TEST_CASE("copies between steps: what is set aside does not end a step") {
  if (!emulates()) return;
  std::int64_t a = 1, b = 2;
  const std::vector<step_tile> tiles{{reinterpret_cast<char*>(&a), reinterpret_cast<const char*>(&b), 0, 0, 8, 4, 0}};
  step_state s{0, 2, nullptr, nullptr, 0, true};
  run(s, tiles, false);
  CHECK(a == 2);
  CHECK(s.step == 0);
  CHECK(s.finished == 0);
  s.goes_on = false;
  b = 3;
  run(s, tiles, false);
  CHECK(a == 2);
}
