// Steps that a list of operations repeats: how long a step is, where the first one begins, and how many there are.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sinter::jit {

/// An operation of a list in which operands precede what reads them.
struct listed_operation {
  std::uint64_t what = 0;                         // equal for equal operations
  std::int32_t operands[3] = {none, none, none};  // positions in the list; below `none`: something else, by number
  static constexpr std::int32_t none = -1;
};

/// Operations [first, first + period * count). Operation k and operation k + period are equal, and each operand of the
/// second is that of the first, or what follows that by a period.
struct repetition {
  std::size_t first = 0, period = 0, count = 0;
  std::size_t end() const noexcept { return first + period * count; }
  bool contains(std::size_t k) const noexcept { return k >= first && k < end(); }
};

/// The repetition that covers most of the list, if one has at least four steps and saves 24 operations or more. It begins
/// where the fewest values are carried from one step to the next.
std::optional<repetition> find_repetition(std::span<const listed_operation> list);

}  // namespace sinter::jit
