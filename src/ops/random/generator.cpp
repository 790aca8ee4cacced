// Generators: seeds, states, spawned streams.
#include <random>

#include "ops/base/axes.hpp"
#include "ops/random/draw.hpp"

namespace sinter::inline v0::random {
namespace {

/// Random words derived from a key and a child's number: NumPy's SeedSequence(key, spawn_key=(number,)), which is
/// O'Neill's seed_seq ("Developing a seed_seq alternative", 2015).
class seed_sequence {
 public:
  seed_sequence(std::uint64_t key, std::uint64_t number) {
    // NumPy pads the entropy to the pool size before it appends the child's number, in as few words as needed.
    std::vector<std::uint32_t> words{low(key), high(key), 0, 0, low(number)};
    if (high(number) != 0) words.push_back(high(number));
    std::uint32_t constant = 0x43b0d7e5u;
    auto hashed = [&](std::uint32_t x) {
      x ^= constant;
      constant *= 0x931e8875u;
      x *= constant;
      return x ^ x >> 16;
    };
    auto mix = [](std::uint32_t x, std::uint32_t y) {
      const std::uint32_t mixed = 0xca01f9ddu * x - 0x4973f715u * y;
      return mixed ^ mixed >> 16;
    };
    for (int i = 0; i < 4; ++i) pool_[i] = hashed(words[static_cast<std::size_t>(i)]);
    for (int from = 0; from < 4; ++from)
      for (int to = 0; to < 4; ++to)
        if (from != to) pool_[to] = mix(pool_[to], hashed(pool_[from]));
    for (std::size_t from = 4; from < words.size(); ++from)
      for (std::uint32_t& to : pool_) to = mix(to, hashed(words[from]));
  }
  /// The first 64 generated bits.
  std::uint64_t first() const {
    std::uint32_t constant = 0x8b51f9ddu, out[2];
    for (int i = 0; i < 2; ++i) {
      std::uint32_t x = pool_[i] ^ constant;
      constant *= 0x58f38dedu;
      x *= constant;
      out[i] = x ^ x >> 16;
    }
    return std::uint64_t{out[1]} << 32 | out[0];
  }

 private:
  static std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
  static std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }
  std::uint32_t pool_[4];
};

generator_state entropy() {
  std::random_device source;
  const std::uint64_t high = source();
  return {high << 32 | source(), 0, 0, 0};
}

}  // namespace

graph::random_stream generator::access::take(generator& g, std::uint64_t blocks) noexcept {
  return {g.key_.load(), g.block_.fetch_add(blocks), g.subsequence_.load()};
}

generator::generator() : generator(entropy()) {}

void generator::refuse_seed() { throw value_error("[random] a seed must not be negative"); }

generator_state generator::state() const noexcept {
  return {key_.load(), block_.load(), subsequence_.load(), spawned_.load()};
}

void generator::set_state(const generator_state& s) noexcept {
  key_ = s.key;
  block_ = s.block;
  subsequence_ = s.subsequence;
  spawned_ = s.spawned;
}

void generator::advance(std::int64_t blocks) noexcept { block_ += static_cast<std::uint64_t>(blocks); }
void generator::jump(std::uint32_t n) noexcept { subsequence_ += n; }
generator generator::jumped(std::uint32_t n) const {
  generator copy(*this);
  copy.jump(n);
  return copy;
}

std::vector<generator> generator::spawn(std::size_t n) {
  const std::size_t count = ops::list_length(n <= INT64_MAX ? static_cast<std::int64_t>(n) : INT64_MAX, "spawn");
  const std::uint64_t first = spawned_.fetch_add(count);
  std::vector<generator> children;
  children.reserve(count);
  for (std::size_t k = 0; k < count; ++k)
    children.emplace_back(generator_state{seed_sequence(key_, first + k).first(), 0, 0, 0});
  return children;
}

generator& default_generator() {
  static auto& shared = *new generator;  // outlives static arrays
  return shared;
}

}  // namespace sinter::inline v0::random
