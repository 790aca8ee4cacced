// src/ops/vmap: functions of one example that run on many: vmap. Loops (scan, fori_loop, while_loop) are in ops/loops.
//
// A vmap in progress. The mapped function runs once, on placeholders (graph/values/example.hpp) in the place of one
// example's arrays; what it records is a list of operations on one example, which is recorded again for all of them when
// results are wanted: operation by operation, in the order of recording, with one more axis in front. What does not
// depend on a placeholder stays as it is, so it is computed once. Functions that run at once (ops/base/opaque_call.hpp)
// run on all examples when they are called, by the rules of opaque_rules.cpp; their results are new placeholders.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/values/example.hpp"
#include "ops/base/elementwise_values.hpp"
#include "ops/base/opaque_call.hpp"

namespace sinter::ops {

class example_level final : public graph::example_source, public interceptor {
 public:
  explicit example_level(std::int64_t count) noexcept : count_(count) {}
  void set_count(std::int64_t n) noexcept { count_ = n; }

  /// Number of examples.
  std::int64_t count() const noexcept { return count_; }

  /// A placeholder for one example of a value whose first axis has count() examples.
  value enter(value all);
  /// The value for all examples, with the axis of examples in front; null if it does not depend on the example.
  value all_of(const value& one);
  /// The same, repeated (a view) where it does not depend on the example.
  value all_or_repeated(const value& one);
  /// A placeholder with the elements of a value of one example, which are from now on an array's: what it was recorded from
  /// need not be kept. The value itself where it does not depend on the example.
  value settled(const value& one);
  /// Whether it keeps a reference to a value of one example; all those that it keeps.
  bool keeps(const graph::node* one) const { return known_.contains(one); }
  void add_kept(std::vector<const graph::node*>& to) const {
    for (const auto& [n, k] : known_) to.push_back(n);
  }
  /// Forgets values of one example that nothing else refers to any more.
  void forget_unused();

  // graph::example_source
  value draw(opcode op, dtype type, const dims& shape, const graph::random_stream& stream,
             std::span<const value> parameters, runtime::device_id device) override;
  // interceptor
  bool takes(const ndarray& x) const override;
  bool takes_examples() const override { return true; }
  std::vector<ndarray> run(const opaque_call& call) override;

 private:
  struct known {
    value one, all;                        // all: null where it does not depend on the example
    std::uint32_t readers = 0, total = 0;  // operands of nodes that have not been recorded yet, and of all
    bool dropped = false;                  // all: no longer kept, since nothing can ask for it
  };
  value record(const graph::node& n);
  value record_as_constant(const graph::node& n);
  value record_operation(const graph::node& n);
  void drop_read(const graph::node& n);
  void forget_aligned(const graph::node* operand);
  void forget(const graph::node* n);
  value map_all(const graph::node& n);
  value view_all(const graph::node& n);
  value gather_all(const graph::node& n);
  value reduce_all(const graph::node& n);
  value call_all(const graph::node& n);
  value call_in_turn(const graph::node& n);
  value update_all(const graph::node& n);
  value random_all(const graph::node& n);
  const value& found(const graph::node* n) const;
  /// An operand that broadcasts to `rank` axes of one example: with the axis of examples in front of so many.
  value aligned(const graph::node* operand, int rank);
  value example_of(const value& one, std::int64_t k) const;

  std::int64_t count_;
  graph::example_source* const outer_ = graph::example_source::innermost();
  std::unordered_map<const graph::node*, known> known_;
  /// Of operands of fewer axes than their operation, so that outputs of one call keep having the same operands.
  std::map<std::pair<const graph::node*, int>, value> aligned_;
  /// Arrays that hold the values of settled placeholders: they are evaluated as variables are.
  std::unordered_map<const graph::node*, graph::view_ref> arrays_;
  std::size_t swept_at_ = 1024;
};

/// The levels of this thread, the innermost first.
class level_scope {
 public:
  explicit level_scope(example_level& l) noexcept;
  ~level_scope();
  level_scope(const level_scope&) = delete;
  level_scope& operator=(const level_scope&) = delete;
  /// The innermost level on whose example a value depends; null if there is none (any more).
  static example_level* level_of(const value& one);
  /// The innermost one on whose example any of these depends; one does.
  static example_level& level_of_any(std::span<const value> values);
  /// The number of references that they keep to a value of one example.
  static std::uint32_t references_to(const graph::node* one);
  /// The values of one example that they keep.
  static std::vector<const graph::node*> kept();
  /// The number of examples that a function of one example stands for.
  static std::int64_t examples() noexcept;

 private:
  example_level* const level_;
  level_scope* const outer_;
};

/// The axis of examples in front of a shape.
dims with_examples(std::int64_t count, const dims& shape);
/// `v` (of one shape for all examples) with a first axis of extent `count`; a view.
value repeated_in_front(const value& v, std::int64_t count);
/// Values of one shape along a new first axis.
value stacked_in_front(std::span<const value> values, const dims& shape, dtype type, runtime::device_id device);

/// The stream of the draw that example 0 makes in place of `stream`; each further example's begins `blocks` blocks after the
/// one before.
graph::random_stream stream_of_examples(const graph::random_stream& stream) noexcept;

/// A call of a function that runs at once, as its rule sees it: its operands for all examples.
struct batched_call {
  const opaque_call& call;
  std::int64_t count;             // examples
  std::vector<ndarray> operands;  // of all examples where `mapped`, with their axis in front; else as they are
  std::vector<bool> mapped;
};
/// The results for all examples, with their axis in front.
using opaque_rule = std::vector<ndarray> (*)(const batched_call& c);

/// What is done with the functions of a name: a rule, or a loop over the examples, for which the reason is given.
struct opaque_entry {
  const char* name;
  opaque_rule rule;    // null: the examples run one after the other
  const char* reason;  // null where there is a rule
};
std::span<const opaque_entry> opaque_entries();
const opaque_entry* find_opaque(std::string_view name);
/// The rule for a call, which may depend on the operands that are mapped; null: a loop.
opaque_rule rule_of(const batched_call& c);

}  // namespace sinter::ops
