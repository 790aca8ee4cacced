// From a recorded step to the program of a loop over one space: single elements, each with the index map of the place that
// it is read at.
#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/plan/forms/equal_instructions.hpp"
#include "graph/plan/steps/step_loop.hpp"

namespace sinter::graph {

class step_lowering {
 public:
  step_lowering(const recorded_step& step, core::dims extents);

  /// The element of a result that `map` gives for each place of the space becomes an output.
  void add(std::size_t result, const index_map& map);
  /// Once all are added. False: the step has something else than single elements.
  bool finish(loop_kernel& out);
  /// Whether places of an array of the carry are read that are the same in the whole space, or an element's place in a
  /// partial write is not known: with results of which short axes are taken apart, it may be.
  bool wants_parts() const noexcept { return wants_parts_; }

 private:
  using reg = std::uint16_t;
  static constexpr std::size_t most_instructions = 1024, most_carried = 96, most_inputs = 60;
  static constexpr std::size_t no_result = SIZE_MAX;

  struct known {
    index_map map;
    reg at;
  };
  /// A register that is carried; `result`: of which the element at `map` is its next value, unless `next` is known.
  struct carried {
    reg at, initial, next;
    std::size_t result;
    index_map map;
  };
  struct requested {
    std::size_t result;
    index_map map;
    reg at;
  };

  reg element(const value& v, const index_map& map);
  reg lower(const value& v, const index_map& map);
  reg lower_constant(const value& v, const index_map& map);
  reg lower_input(std::size_t k, const value& v, const index_map& map);
  reg lower_map(const trace::entry& e, const index_map& map);
  reg lower_view(const trace::entry& e, const index_map& map);
  reg lower_update(const trace::entry& e, const index_map& map);
  reg lower_short(const trace::entry& e, const index_map& map);
  reg lower_product(const trace::entry& e, const value& result, const index_map& map);
  /// Up to most_short elements, converted to dtype joined_in(), as a reduction of dtype `type` joins them.
  reg join(jit::reduce_op op, dtype type, std::span<const reg> elements);

  reg emit(const jit::instr& i);
  reg param(const jit::scalar& s, dtype type);
  reg constant(const jit::scalar& s, const value& leaf, std::int64_t at);
  bool is_own(std::size_t param) const noexcept;
  reg integer(std::int64_t n);
  reg load(loop_kernel::input from, dtype type, bool moves);
  reg carry(reg initial, std::size_t result, const index_map& map, dtype type);
  reg counter(reg first);
  reg refuse() {
    failed_ = true;
    return 0;
  }

  void find_condition();
  void find_next();
  void find_unchanged();
  void mark_varying();
  void mark_needed();
  void write(loop_kernel& out);
  void write_carried(loop_kernel& out);

  const recorded_step& step_;
  core::dims extents_;
  bool failed_ = false, wants_parts_ = false;
  std::vector<jit::instr> code_;  // operands: registers of this list; carried: a is the index in carried_
  std::vector<jit::scalar> params_;
  std::vector<dtype> param_types_;
  std::vector<loop_kernel::input> inputs_;
  std::vector<jit::input_desc> descriptions_;
  std::vector<carried> carried_;
  std::vector<requested> requested_;
  struct own_number {
    value leaf;
    std::int64_t at;
    int param;
    std::uint16_t reg;
  };
  std::vector<own_number> own_numbers_;
  int first_number_ = -1;
  reg runs_ = 0, number_ = 0, condition_ = 0;
  std::unordered_map<const node*, std::vector<known>> known_;
  equal_instructions equal_;
  bool fast_math_ = false;
  // finish()
  std::vector<reg> same_;  // the register that has the same value: another one for carried ones that never change
  std::vector<char> varies_, needed_;
  std::vector<reg> place_;  // in the program
};

}  // namespace sinter::graph
