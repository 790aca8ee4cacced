// Damaged files: valid ones with a few random changes, reproducible by number; and memory that ends where they end.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sinter::fuzz {

/// Random numbers that depend on the seed alone (SplitMix64).
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Below n, which is not 0.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>((*this)() % n); }

 private:
  std::uint64_t state_;
};

/// Mutation `number` of the seeds: one of them with one to four changes of bits, bytes, lengths, or words with a
/// meaning in the format.
std::string mutated(const std::vector<std::string>& seeds, const std::vector<std::string>& words, std::uint64_t number);

/// Memory before an inaccessible page: reading past the end ends the program.
class guarded_memory {
 public:
  explicit guarded_memory(std::size_t most);
  ~guarded_memory();
  guarded_memory(const guarded_memory&) = delete;
  guarded_memory& operator=(const guarded_memory&) = delete;
  /// A copy of the bytes that ends at the page.
  std::span<const std::byte> hold(const std::string& bytes);

 private:
  std::size_t room_ = 0, page_ = 0;
  std::byte* at_ = nullptr;
};

}  // namespace sinter::fuzz
