// A program over one block whose lanes always lie at the same places: what interpret() decides for each instruction is
// decided once.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "jit/cpu/block.hpp"

namespace sinter::jit {

/// Does what interpret() does, with the same block operations. One thread at a time.
class bound_program {
 public:
  /// Elementwise programs of operations on elements alone: no loops, gathers, draws, calls, or faults.
  static bool suits(const program& p) noexcept;
  /// The lanes, numbers and count that `args` has; where they lie must not change.
  bound_program(const program& p, const block_variant& v, const block_args& args);
  void run(int* fault) const noexcept;

 private:
  struct repeated_value {  // one value for all lanes, read in each run
    void* to;
    const void* from;
    int bytes;
  };
  struct operation {
    block_op does;
    void* to;
    const void *a, *b, *c;
  };
  struct copy {
    void* to;
    const void* from;
    std::size_t bytes;
  };
  int n_;
  std::unique_ptr<std::byte[]> memory_;
  std::vector<repeated_value> values_;
  std::vector<operation> operations_;
  std::vector<copy> copies_;  // to outputs that no operation computes in place
};

}  // namespace sinter::jit
