// Users' functions and reductions on the CPU, recorded in the graph.
#include "support/fresh_cache.hpp"
#include "support/users/effects.hpp"
#include "support/users/reductions.hpp"

using namespace user_test;
using sinter_test::no_compiler;

namespace {

constexpr runtime::device_id cpu{};

}  // namespace

#define USER_CASE(name, check) \
  TEST_CASE(name) {            \
    if (no_compiler()) return; \
    check(cpu);                \
  }

USER_CASE("user functions on the CPU: fused before and after", check_fusion)
USER_CASE("user functions on the CPU: several outputs of different types", check_outputs)
USER_CASE("user functions on the CPU: every type of element", check_types)
USER_CASE("user functions on the CPU: views, broadcasting, ranks", check_layouts)
USER_CASE("user functions on the CPU: arrays read by index", check_raw_inputs)
USER_CASE("user functions on the CPU: atomic operations", check_atomics)
USER_CASE("user functions on the CPU: arrays written by index", check_raw_outputs)
USER_CASE("user functions on the CPU: who sees what is written", check_versions)
USER_CASE("user functions on the CPU: arrays whose address is out", check_pinned)
USER_CASE("user functions on the CPU: text around the loop", check_loop_text)
USER_CASE("user reductions on the CPU: the order of sums", check_reduction_order)
USER_CASE("user reductions on the CPU: mappings, loops, types, nothing to reduce", check_reduction_kinds)
USER_CASE("user reductions on the CPU: structs", check_opaque_reductions)

TEST_CASE("user functions on the CPU: the same values without fusion, in tiny kernels, in short chains") {
  if (no_compiler()) return;
  restore_limits restore;
  SUBCASE("fusion off") { graph::limits().fuse = false; }
  SUBCASE("four instructions, three inputs") {
    graph::limits().instructions = 4;
    graph::limits().inputs = 3;
  }
  SUBCASE("one step deep") { graph::limits().depth = 1; }
  for (auto check : {check_fusion, check_outputs, check_layouts, check_raw_inputs, check_raw_outputs, check_versions,
                     check_loop_text, check_reduction_kinds})
    check(cpu);
}
