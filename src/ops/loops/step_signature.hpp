// What a step does as a text of numbers: steps with equal ones are the same function of their inputs, their constants, and
// the other arrays that they read.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "ops/base/elementwise_values.hpp"
#include "ops/loops/same_steps.hpp"

namespace sinter::ops {

class step_signature {
 public:
  /// `constants`: values that are told apart from other arrays.
  step_signature(const step_record& step, const std::vector<bool>& needed, std::span<const value> constants);

  /// Empty: there are operations whose texts would not say all.
  const std::string& text() const noexcept { return text_; }
  /// Arrays that the step reads besides its inputs and constants. Numbers are part of the text.
  std::vector<value> take_reads() noexcept { return std::move(reads_); }

  static void add(std::string& to, std::int64_t number) {
    to.append(reinterpret_cast<const char*>(&number), sizeof number);
  }

 private:
  void add(std::int64_t number) { add(text_, number); }
  void add(const core::dims& all);
  void add_entry(const graph::trace::entry& e);
  void add_payload(const graph::node& n, graph::node_kind kind);
  void add_value(const value& v);

  std::unordered_map<const graph::node*, std::int64_t> known_;
  std::string text_;
  std::vector<value> reads_;
  bool says_all_ = true;
};

/// A number that an array outside of a step is, as far as the step's text has it: the kind, and the bits of a number.
void add_number(std::string& to, const value& v);

}  // namespace sinter::ops
