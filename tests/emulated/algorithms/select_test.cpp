// The CUDA kernels of selections, run thread by thread on the CPU, against plain loops.
#include <doctest/doctest.h>

#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/select.hpp"

namespace {

using emulated::selection;
using std::int64_t;

constexpr int64_t tile = 1024;

/// About `in_64` of 64 are true; any value but 0 is true. Aligned as new arrays are.
struct flag_list {
  std::vector<std::uint64_t> memory;
  int64_t count;
  unsigned char* data() { return reinterpret_cast<unsigned char*>(memory.data()); }
  flag_list(int64_t n, int in_64) : memory(static_cast<std::size_t>(n / 8 + 2)), count(n) {
    std::mt19937_64 random(static_cast<unsigned>(n + in_64));
    for (int64_t k = 0; k < n; ++k) {
      const auto draw = random();
      if (static_cast<int>(draw % 64) < in_64)
        data()[k] = draw % 3 ? 1 : static_cast<unsigned char>(1 + draw / 64 % 255);
    }
    for (int64_t k = n; k < n + 8; ++k) data()[k] = 1;  // beyond the last flag: must not be read
  }
};

std::vector<unsigned> words_of(const unsigned char* flags, int64_t count) {
  std::vector<unsigned> words(static_cast<std::size_t>((count + tile - 1) / tile * 32));
  for (int64_t k = 0; k < count; ++k)
    if (flags[k]) words[static_cast<std::size_t>(k / tile * 32 + k % 32)] |= 1u << (k % tile / 32);
  return words;
}

void run(int64_t tiles, const std::function<void()>& kernel) {
  const auto blocks = static_cast<unsigned>((tiles + selection.warps - 1) / selection.warps);
  CHECK(cuda_emulator::launch({blocks}, {static_cast<unsigned>(32 * selection.warps)}, kernel) == std::string());
}

template <class T>
void check_elements(void (*kernel)(const T*, const unsigned*, int64_t, const unsigned*, const int64_t*, int64_t, T*),
                    const unsigned char* flags, int64_t n, const std::vector<unsigned>& words, int64_t packed,
                    const std::vector<int64_t>& ends) {
  std::vector<T> data(static_cast<std::size_t>(n)), expected;
  std::mt19937_64 random(5);
  for (int64_t k = 0; k < n; ++k) {
    data[static_cast<std::size_t>(k)] = static_cast<T>(random());
    if (flags[k]) expected.push_back(data[static_cast<std::size_t>(k)]);
  }
  std::vector<T> got(expected.size() + 4, T(0xa5));
  const auto tiles = static_cast<int64_t>(ends.size());
  run(tiles,
      [&] { kernel(data.data(), words.data(), packed, words.data() + 32 * packed, ends.data(), tiles, got.data()); });
  expected.resize(got.size(), T(0xa5));
  CHECK(got == expected);
}

void check(int64_t n, int in_64, int offset) {
  CAPTURE(n);
  CAPTURE(in_64);
  CAPTURE(offset);
  flag_list list(n + offset, in_64);
  const unsigned char* const flags = list.data() + offset;
  const int64_t tiles = (n + tile - 1) / tile;
  const auto expected = words_of(flags, n);
  std::vector<unsigned> words(expected.size(), 0x5a5a5a5a);
  std::vector<int64_t> ends(static_cast<std::size_t>(tiles), -1), again(ends);
  run(tiles, [&] { selection.pack_flags(flags, n, tiles, words.data(), ends.data()); });
  CHECK(words == expected);
  run(tiles, [&] { selection.count_words(words.data(), tiles, again.data()); });
  CHECK(ends == again);
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<int64_t> wanted;
  for (int64_t k = 0; k < n; ++k)
    if (flags[k]) wanted.push_back(k);
  REQUIRE(ends.back() == static_cast<int64_t>(wanted.size()));
  for (const int64_t packed : {int64_t{0}, tiles / 2, tiles}) {
    CAPTURE(packed);
    std::vector<int64_t> got(wanted.size() + 1, -7);
    run(tiles,
        [&] { selection.positions(words.data(), packed, words.data() + 32 * packed, ends.data(), tiles, got.data()); });
    CHECK(got.back() == -7);
    got.pop_back();
    CHECK(got == wanted);
    check_elements(selection.bytes, flags, n, words, packed, ends);
    check_elements(selection.words, flags, n, words, packed, ends);
  }
}

}  // namespace

TEST_CASE("emulated kernels: flags are packed and counted by tiles, and elements selected in order") {
  if (!cuda_emulator::available()) {
    MESSAGE("left out: the sanitizer does not follow changes of stack");
    return;
  }
  REQUIRE(selection.tile == tile);
  for (const int64_t n : {1, 31, 32, 33, 1000, 1023, 1024, 1025, 2048, 9000, 20000})
    for (const int in_64 : {0, 1, 32, 64})
      for (const int offset : {0, 1, 4}) check(n, in_64, offset);
}
