// For tests of users' functions: makes functions, and programs that call them.
#pragma once
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "jit/program/user_function.hpp"
#include "support/cpu_harness.hpp"
#include "support/fresh_cache.hpp"

namespace cpu_test {

using sinter_test::no_compiler;

inline jit::user_parameter value_of(const std::string& name, dtype type) { return {name, type, false, 0, ""}; }
inline jit::user_parameter whole(const std::string& name, dtype type, int rank) {
  return {name, type, true, static_cast<std::uint8_t>(rank), ""};
}
inline jit::user_parameter opaque_value(const std::string& name, const std::string& type) {
  return {name, dtype::u8, false, 0, type};
}

inline jit::user_function function_text(const std::string& name, std::vector<jit::user_parameter> inputs,
                                        std::vector<jit::user_parameter> outputs, const std::string& body) {
  jit::user_function f;
  f.name = name;
  f.body = body;
  f.inputs = std::move(inputs);
  f.outputs = std::move(outputs);
  return f;
}

/// Builds programs that call users' functions.
struct user_builder : builder {
  /// A whole array of `rank` axes; its extents are the next parameters.
  std::uint16_t address(dtype t, int rank) {
    p.inputs.push_back({t, 0, {0, 0}});
    const int first = p.params;
    for (int a = 0; a < rank; ++a) {
      p.param_types.push_back(dtype::i64);
      ++p.params;
    }
    return emit(opcode::address, t, t, static_cast<int>(p.inputs.size()) - 1, first, rank);
  }
  /// The first register of the call; those of its other outputs follow.
  std::uint16_t call(const jit::user_function& f, std::vector<std::uint16_t> operands) {
    const jit::user_function* known = jit::intern(f);
    const auto index = static_cast<int>(p.calls.size());
    p.calls.push_back({known, std::move(operands)});
    const auto first = static_cast<std::uint16_t>(p.code.size());
    for (std::size_t k = 0; k < known->outputs.size(); ++k)
      if (const auto& o = known->outputs[k]; !o.raw) emit(opcode::user, o.type, o.type, index, static_cast<int>(k));
    if (p.code.size() == first) emit(opcode::user, dtype::u8, dtype::u8, index);
    return first;
  }
  void combine(const jit::user_reduction& r, int reg) {
    const jit::user_reduction* known = jit::intern(r);
    p.combines.push_back(known);
    reduce(reduce_op::user, known->value.type, reg);
    p.reductions.back().inner = static_cast<std::uint16_t>(p.combines.size() - 1);
  }
  /// Ends the part that runs for each element.
  void end_elements() { p.epilogue = static_cast<std::uint16_t>(p.code.size()); }
  std::uint16_t reduced(int k) {
    const dtype t = p.reductions[static_cast<std::size_t>(k)].type;
    return emit(opcode::reduced, t, t, k);
  }
  program results(std::initializer_list<std::uint16_t> registers) {
    for (auto reg : registers) p.outputs.push_back({p.code[reg].type, 0, reg});
    return p;
  }
};

}  // namespace cpu_test
