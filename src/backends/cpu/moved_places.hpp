// Memory of captured work that lies elsewhere in each launch (runtime/moving_work.hpp).
#pragma once
#include <cstdint>
#include <vector>

#include "backends/cpu/stream.hpp"
#include "runtime/moving_work.hpp"

namespace sinter::cpu {

/// The operands and copies in it are given their new places; the steps that they belong to are run in the general way, since
/// others have worked out addresses.
class moved_places {
 public:
  using access = runtime::moving_work::access;

  /// Whether all that the steps do there can be moved; then the steps are marked. False changes nothing.
  bool add(const recorded_steps& steps, const runtime::unchanged_memory& captured, access how);
  void move(const void* captured, void* base, std::ptrdiff_t offset);

 private:
  struct operand_place {
    jit::operand* operand;
    std::int64_t offset, size;  // as captured, in elements; bytes of an element
  };
  struct copy_place {
    const void** from;
    void** to;              // one of the two
    std::ptrdiff_t offset;  // in the captured memory
  };
  struct moved {
    const char* captured;
    std::vector<operand_place> operands;
    std::vector<copy_place> copies;
    std::vector<recorded_step*> steps;
    bool is_written;
  };
  static bool add_launch(recorded_step& s, const runtime::unchanged_memory& captured, access how, moved& to);
  static bool add_copy(recorded_step& s, const runtime::unchanged_memory& captured, access how, moved& to);

  std::vector<moved> all_;
};

}  // namespace sinter::cpu
