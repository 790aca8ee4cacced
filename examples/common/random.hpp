// Random numbers that are the same on every machine.
#pragma once
#include <cstdint>

namespace examples {

/// splitmix64: short, fast, and good enough for examples.
class generator {
 public:
  explicit generator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// From [low, low + 1), evenly.
  float uniform(float low) { return low + static_cast<float>(bits() >> 41) * 0x1p-23f; }

 private:
  std::uint64_t state_;
};

}  // namespace examples
