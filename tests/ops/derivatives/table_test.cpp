// Every operation has a rule or says why it has none: operations on elements, nodes, reductions, calls outside of the graph.
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "ops/derivatives/element_rules.hpp"
#include "ops/derivatives/node_rules.hpp"
#include "ops/derivatives/opaque_rules.hpp"
#include "ops/base/announced_names.hpp"

using namespace sinter::ops::derivatives;
using sinter::jit::reduce_op;

namespace {

bool is_reason(const char* why) { return why && std::string(why) != "it has no rule"; }

}  // namespace

TEST_CASE("every operation on elements has a derivative or says why it has none") {
  for (int k = 0; k < sinter::jit::opcode_count; ++k) {
    const auto op = static_cast<sinter::jit::opcode>(k);
    INFO(std::string(sinter::jit::name(op)));
    const element_rule& rule = rule_of(op);
    const bool has_rule = rule.forward != nullptr && rule.backward != nullptr;
    CHECK((has_rule || is_reason(rule.why)));
    if (rule.missing != 0) CHECK(is_reason(rule.why));
  }
}

TEST_CASE("every reduction has a derivative or says why it has none") {
  const std::set<reduce_op> rules{reduce_op::sum, reduce_op::prod, reduce_op::min, reduce_op::max, reduce_op::moment2};
  for (int k = 0; k < sinter::jit::reduce_op_count; ++k) {
    const auto op = static_cast<reduce_op>(k);
    INFO(std::string(sinter::jit::about(op).name));
    const char* const why = reason_without_rule(op);
    // Those with a rule are differentiated in arrays_test.cpp.
    CHECK((rules.count(op) == 1 ? why == nullptr : is_reason(why)));
  }
}

TEST_CASE("every function that announces itself has a derivative or says why it has none") {
  // These bring their derivatives along with each call (own_derivatives).
  const std::set<std::string> own{"scan", "sparse_matmul"};
  std::set<std::string> known;
  for (const auto& list : {opaque_rules_of_order(), opaque_rules_of_selections(), opaque_rules_of_systems(),
                           opaque_rules_of_factors(), opaque_rules_of_transforms()})
    for (const opaque_rule& rule : list) {
      CAPTURE(rule.name);
      CHECK(known.insert(rule.name).second);
      CHECK((rule.forward != nullptr || rule.backward != nullptr) == (rule.why == nullptr));
      CHECK((rule.why == nullptr || is_reason(rule.why)));
    }
  std::size_t found = 0;
  for (const auto& one : sinter::test::announced_names("derivatives")) {
    CAPTURE(one.second);
    CAPTURE(one.first);
    CHECK((known.count(one.first) == 1 || own.count(one.first) == 1));
    ++found;
  }
  CHECK(found > 30);
}
