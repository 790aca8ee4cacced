// Values that stand for one example of many: what a function that vmap maps over a batch computes with. They have shapes
// and dtypes, and no elements; what is recorded from them is no more than a list of operations, which vmap records again
// for all examples at once (ops/vmap/example_level.hpp).
//
// A placeholder is a call without operands whose depth is above that of any other chain, so that everything that is
// recorded from it can be told by its depth. Such values are never evaluated and keep their operands.
#pragma once
#include <cstdint>
#include <span>

#include "graph/values/node.hpp"

namespace sinter::graph {

/// Depths from here on are those of placeholders and what depends on them; they do not grow beyond the type's largest.
inline constexpr std::uint16_t example_depth = 0x8000;

inline bool is_example(const node& n) noexcept { return n.depth >= example_depth; }
inline bool is_example(const value& v) noexcept { return is_example(*v); }

/// A placeholder: equal to no other value.
value record_placeholder(dtype type, const dims& shape, runtime::device_id device);

/// vmap_error: the elements of such a value are needed.
[[noreturn]] void refuse_example();

/// A vmap in progress, as seen by draws of random numbers, each of whose examples gets numbers of its own.
class example_source {
 public:
  /// The draw of one example, of the given shape, from the stream.
  virtual value draw(jit::opcode op, dtype type, const dims& shape, const random_stream& stream,
                     std::span<const value> parameters, runtime::device_id device) = 0;

  /// The innermost one of this thread while it lives; null: none.
  class scope {
   public:
    explicit scope(example_source* s) noexcept;
    ~scope();
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

   private:
    example_source* before_;
  };
  static example_source* innermost() noexcept;

 protected:
  ~example_source() = default;
};

/// While one lives, draws of this thread throw value_error: the function is called once, for calls that would all get the same
/// numbers.
class refused_draws {
 public:
  refused_draws() noexcept;
  ~refused_draws();
  refused_draws(const refused_draws&) = delete;
  refused_draws& operator=(const refused_draws&) = delete;
};

/// The number of blocks of four words that a draw of n elements takes.
std::uint64_t blocks_of_draw(jit::opcode op, dtype type, std::int64_t n) noexcept;
/// As record_random; within a vmap each example has numbers of its own. value_error where draws are refused.
value record_draw(jit::opcode op, dtype type, const dims& shape, const random_stream& stream,
                  std::span<const value> parameters, runtime::device_id device);

}  // namespace sinter::graph
