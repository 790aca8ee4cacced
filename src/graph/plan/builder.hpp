// Builds one kernel: walks the nodes below its results and writes the straight-line program, its inputs and parameters.
#pragma once
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "graph/plan/forms/equal_instructions.hpp"
#include "graph/plan/table.hpp"

namespace sinter::graph {

class kernel_builder {
 public:
  explicit kernel_builder(plan_table& table) : table_(table) {}

  /// Each of these fills `out`; false if a new materialisation point invalidates what was built: the caller starts
  /// again.
  bool elementwise(kernel_plan& out, std::span<node* const> results);
  bool reduction(kernel_plan& out, std::span<node* const> results, std::span<node* const> reductions, int apart = -1);
  /// Several results: each writes to the one before, and all have right sides of one shape.
  bool update(kernel_plan& out, std::span<node* const> results);
  bool effect(kernel_plan& out, node* call);
  /// Whether a kernel would look up what it rolls element by element: what rolls make is stored for it.
  bool wants_rolled(const kernel_plan& plan);

 private:
  static constexpr int max_gathers = 8;   // variables of index maps
  static constexpr int load_gathers = 2;  // gathered coordinates of one load; of more, the sum is computed first

  struct memo {
    node* n;
    bool plain;  // the map is the identity over the whole space
    index_map map;
    std::uint16_t reg;
  };

  void lower_in_order(std::span<node* const> results);
  void store_rolled_operands(std::span<node* const> tops);
  void store_rolled(node* n);
  void store_counted_sources(std::span<node* const> tops);
  node* find_below(bool (*is_wanted)(const node* n), bool or_view, node* top);
  bool is_over_rolls(node* top);
  bool skips_rolled(node* n, const index_map* map);
  void store_looked_up(node* x);
  bool looks_up_several(node* n);
  bool reads_coordinates(std::span<node* const> results);
  void add_reduction(node* r, std::uint16_t reg, const index_map* place);
  void lower_results(std::span<node* const> results);
  int find_reduced(node* n, const index_map* map) const;
  std::uint16_t lower(node* n, const index_map* map);
  std::uint16_t lower_pending(node* n, const index_map* map);
  std::uint16_t lower_map(node* n, const index_map* map);
  std::uint16_t lower_view(node* n, const index_map* map);
  const dims* finer_space(std::span<node* const> results);
  std::optional<std::uint16_t> lower_reshaped(node* base, const linear_form& at);
  std::uint16_t lower_gather(node* n, const index_map* map);
  void store_row_indices(node* n, node* index, const index_map& at);
  std::uint16_t too_many_gathers(node* n, node* index);
  int gather_slot(std::uint16_t reg);
  void join_gathers(linear_form& at);
  std::uint16_t lower_iota(node* n, const index_map* map);
  std::uint16_t lower_random(node* n, const index_map* map);
  bool is_position(const linear_form& at) const;
  std::uint16_t sum_of(const linear_form& at);
  std::uint16_t lower_call(node* n, const index_map* map);
  std::uint16_t lower_operands(node* n, const index_map* map);
  std::uint16_t add_call(const jit::user_function* f, std::vector<std::uint16_t> operands);
  std::uint16_t output_of(std::uint16_t call, std::size_t output) const;
  std::uint16_t address(node* source);
  bool must_store_call(node* n, const index_map* map);
  std::uint16_t lower_operand(node* n, const index_map* map, node* operand);
  std::uint16_t lower_short(node* n, const index_map* map);
  std::optional<std::uint16_t> lower_written(node* n, const index_map& map);
  bool is_in_place(node* n);
  void note_space(node* n);
  std::int64_t read_over();
  /// How often the kernel reads a value of which it reads one element for each of its own, or each of those of a short reduction.
  std::int64_t elements_read() const noexcept { return space_ * std::max<std::int64_t>(1, short_times_); }
  bool must_store(node* n, const index_map* map);
  bool comes_with_stored(node* n);
  bool is_small_and_costly(node* n, const index_map* map);
  bool is_cheap_again(node* n);
  bool is_better_kept(node* n);
  bool is_expensive(node* n);
  bool is_computed_again(node* n, const index_map* map);
  bool wants_packing(const node* view, const index_map& map, const linear_form& at) const;
  bool is_against_memory(const node* view, const index_map& map, const linear_form& at);
  bool may_order_results();
  bool gathers_rows(const node* n) const;

  std::uint16_t load(node* source, linear_form at);
  std::uint16_t load(node* source, const index_map* map);
  void depend_on(node* source);
  bool is_own_result(node* n);
  std::uint16_t param(const jit::scalar& value, dtype type, const node* source);
  std::uint16_t scalar_param(const node* n) { return param(n->scalar().constant, n->type, n); }
  std::uint16_t add_param(const jit::scalar& value, dtype type, param_source source);
  std::uint16_t integer_param(std::int64_t v);
  std::uint16_t number_of_text(std::int64_t v);
  std::uint16_t emit(jit::instr i, std::size_t after = 0);
  std::uint16_t binary(jit::opcode op, std::uint16_t a, std::uint16_t b);
  kernel_plan& begin(kernel_plan& out, const dims& variables);
  bool finish();
  void roll(std::vector<std::uint16_t>& registers);

  index_map full_map(const node* n, const index_map* map) const;
  bool is_plain(const node* n, const index_map& map) const;
  bool reads_points(const index_map* map) const;
  void begin_phase();
  void remember(node* n, const index_map* map, std::uint16_t reg);
  int find(node* n, const index_map* map);

  plan_table& table_;
  kernel_plan* out_ = nullptr;
  dims whole_;              // shape of a value whose coordinates are the variables themselves
  std::int64_t space_ = 1;  // elements of the iteration space
  int rank_ = 0;            // iteration variables
  int gathers_ = 0;
  std::uint16_t gather_regs_[max_gathers] = {};
  std::vector<std::uint16_t> joined_;              // sums of gathers: variables of loads only, numbered after gathers
  node* outer_gather_ = nullptr;                   // the outermost gather that is being lowered
  std::size_t phase_code_ = 0, phase_inputs_ = 0;  // start of the epilogue: no sharing with per-element code
  std::uint64_t phase_ = 0;  // unique number of what is being built: a kernel's per-element code or its epilogue
  std::vector<std::pair<const node*, dims>> refined_;  // results of this plan whose kernels go over a finer space
  std::uint64_t refined_in_ = 0;                       // the plan's epoch
  std::vector<memo> memo_;  // values read through index maps; the registers of plain ones are in the plan's table
  struct reduced_value {
    node* n;
    const index_map* map;  // of the results that are read; null: all
    std::uint16_t index;   // of the kernel's reduction
  };
  std::vector<reduced_value> reduced_;
  std::span<node* const> reductions_;  // of the kernel being built
  std::vector<index_map> places_;      // reduction with an axis apart: where its outputs read the results
  std::vector<memo> calls_;            // the first node of each call; `reg` is the index in program::calls
  bool unfusible_ = false;             // the kernel has a call that is not fusible
  equal_instructions equal_;
  std::vector<std::pair<std::uint16_t, std::uint16_t>> param_registers_;  // lowering in order: parameters, registers
  node* split_ = nullptr;  // what to materialise if the kernel turns out too large
  bool restart_ = false;
  std::size_t stored_before_ = 0;  // materialised nodes when the kernel was begun
  bool in_order_ = false;          // operations were lowered before what needs them
  bool in_epilogue_ = false;
  std::int64_t short_times_ =
      0;  // how many elements of short reductions are made of what is being lowered; 0: it is part of none
  bool in_index_ = false;  // what is being lowered are indices, each of which serves several elements
};

/// The axis of a result whose places may be taken apart, since its reductions' operands compute something that does not
/// vary along it; -1 if there is none.
int axis_to_take_apart(plan_table& table, const node& result, std::span<node* const> reductions);
/// Whether a kernel whose results are apart does so: what several of its reductions need is costly.
bool saves_operations(const kernel_plan& k);

}  // namespace sinter::graph
