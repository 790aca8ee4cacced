// Finds an instruction that a kernel has already.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "jit/program/program.hpp"

namespace sinter::graph {

/// A table of a program's instructions by their contents, which the last ones enter when something is looked for.
class equal_instructions {
 public:
  static constexpr std::size_t few = 48;  // among so many it is quicker to look at all

  void clear() noexcept { entered_ = 0; }
  /// The last instruction from `first` on that equals `i`; -1 if there is none.
  int find(const std::vector<jit::instr>& code, const jit::instr& i, std::size_t first) {
    if (entered_ == 0) newest_.fill(none);
    before_.resize(code.size());
    for (; entered_ < code.size(); ++entered_) {
      std::int32_t& newest = newest_[number_of(code[entered_])];
      before_[entered_] = newest;
      newest = static_cast<std::int32_t>(entered_);
    }
    for (std::int32_t k = newest_[number_of(i)]; k >= static_cast<std::int32_t>(first);
         k = before_[static_cast<std::size_t>(k)])
      if (std::memcmp(&code[static_cast<std::size_t>(k)], &i, sizeof i) == 0) return k;
    return none;
  }

 private:
  static constexpr std::int32_t none = -1;
  static std::size_t number_of(const jit::instr& i) noexcept {
    std::uint64_t words[2] = {};
    std::memcpy(words, &i, sizeof i);
    return ((words[0] ^ words[1] * 0x9e3779b97f4a7c15ull) * 0xd6e8feb86659fd93ull) >> 56;
  }

  std::array<std::int32_t, 256> newest_{};
  std::vector<std::int32_t> before_;  // the one entered before, of the same number
  std::size_t entered_ = 0;
};

}  // namespace sinter::graph
