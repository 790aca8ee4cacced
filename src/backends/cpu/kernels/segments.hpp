// What becomes of wrapped reads (jit/program/rewrite/wrapped_reads.hpp). Elementwise launches are divided there; reductions, whose order
// must not change, are walked as they are, by blocks that begin to read elsewhere there.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "jit/program/launch.hpp"

namespace sinter::cpu {

/// The parts of an elementwise launch, with a program without those reads, or the launch that reads and writes parts of complex numbers
/// as real ones; none where it runs as it is. The parts cover the iteration space, and no coordinate takes part in their programs. They run
/// in this order: the first and largest one may write elements of the others as well, which these write again.
struct plain_parts {
  std::vector<jit::launch> all;
  /// The first one writes over operands of the others: these compute before it runs, and their results are stored after it
  /// (parts_aside).
  bool others_aside = false;
};
plain_parts plain_parts_of(const jit::launch& l);

/// Results of parts in memory of their own until they are stored where they belong.
class parts_aside {
 public:
  /// Points the outputs of the parts there; these stay where they are.
  explicit parts_aside(std::span<jit::launch> parts);
  /// After the parts have run, and nothing reads what their results replace.
  void store() const;

 private:
  struct result {
    const jit::launch* of;
    jit::operand to;
    dtype type;
    std::size_t at;
  };
  std::vector<result> stored_;
  std::vector<char> memory_;
};

/// A reduction without the gathers of its wrapped reads (launch::wraps). Nothing where the launch is no reduction or has no
/// such reads, or where blocks do not run along one axis.
std::optional<jit::launch> without_wrapped_gathers(const jit::launch& l);

}  // namespace sinter::cpu
