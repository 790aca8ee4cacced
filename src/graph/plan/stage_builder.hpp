// The program of kernels that go over the same rows: their instructions, each once, sorted into stages.
#pragma once
#include <optional>
#include <vector>

#include "graph/plan/plan.hpp"

namespace sinter::graph {

/// The rows that kernels go over: the extents of the whole space, whose last axes are reduced.
struct row_space {
  dims extents;
  int kept = 0;
  std::int64_t rows() const noexcept;
  std::int64_t elements() const noexcept;
};

class stage_builder {
 public:
  explicit stage_builder(row_space space) : space_(std::move(space)) {}

  /// Adds a kernel whose dependencies inside of the joined kernel have been added. False if it cannot be: what was built
  /// is then of no use.
  bool add(const kernel_plan& k);
  /// The elements of `n` are those of `base` in memory: what reads one may read the other. False if `base` is not among
  /// the results.
  bool add_alias(node* n, const node* base);
  /// Whether the last kernel reads what the others have read or computed, so that joining it saves memory traffic.
  bool shares() const noexcept { return shares_; }
  /// Leaves out results that only the joined kernels read: nothing is stored for `nodes`.
  void leave_out(const std::vector<const node*>& nodes);
  /// Writes everything but the plan's level and dependencies. False if the limits of a kernel are exceeded.
  bool finish(kernel_plan& out) const;

 private:
  struct item {
    jit::instr i;  // operands are items
    bool per_row;
    int earliest;  // stage that may compute it
  };
  struct result {
    node* n;
    std::uint16_t item;
  };
  using registers = std::vector<std::uint16_t>;

  bool matches(const kernel_plan& k, bool& whole) const;
  std::optional<std::uint16_t> add_load(const kernel_plan& k, std::size_t slot, bool whole, bool per_row);
  const result* find_result(const node* n) const;
  std::optional<std::uint16_t> result_read_by(const input_slot& s, bool whole, bool& known) const;
  std::uint16_t add_input(const input_slot& s, const jit::input_desc& d, bool& is_new);
  std::uint16_t add_param(const jit::scalar& v, dtype type, const param_source& source);
  std::uint16_t add_item(const jit::instr& i, bool per_row, int earliest);
  std::uint16_t add_operation(jit::instr i, const registers& of);
  std::optional<std::uint16_t> add_reduction(jit::reduce_desc r, const registers& of);
  linear_form in_space(const linear_form& at) const;
  bool is_row_of_space(const dims& coefficients) const;
  std::vector<int> homes() const;

  row_space space_;
  std::vector<item> items_;
  std::vector<jit::input_desc> inputs_;
  std::vector<input_slot> slots_;
  std::vector<jit::scalar> params_;
  std::vector<param_source> sources_;
  std::vector<dtype> param_types_;
  std::vector<jit::reduce_desc> reductions_;
  std::vector<int> stage_of_reduction_;
  std::vector<result> results_, aliases_;
  bool fast_math_ = false, shares_ = false;
  std::optional<payload::whole_reduction> whole_;  // of the reductions: one for all
};

}  // namespace sinter::graph
