// Launches that are run again and again as they are, as functions of addresses alone: extents, strides and the order of
// additions are numbers of the text, so that small ones are a few loops that the compiler unrolls, without blocks, copies of
// operands, and buffers for what is reduced. Operations that no standard determines are the block operations of tier 0, as in
// block functions, so the bits are the same.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/dims.hpp"
#include "jit/cpu/block.hpp"
#include "jit/program/addition_order.hpp"
#include "jit/program/launch.hpp"

namespace sinter::jit {

struct fixed_launch {
  struct place {
    core::dims strides;
    std::int64_t gather_stride[2] = {0, 0};
  };
  program code;
  core::dims extents;
  int kept = 0;
  addition_order order;  // of reductions whose order matters
  std::vector<place> inputs, outputs;
  /// By parameter: integers that are numbers of the text, since elements are computed from where they are.
  std::vector<std::optional<std::int64_t>> numbers;
  /// Whether results lie where something is read: nowhere, where the same element is read, or where others are as well.
  enum class overlap : std::uint8_t { none, same_places, others } over = overlap::none;

  fixed_launch(const launch& l, const addition_order& order, overlap over);
  std::int64_t elements() const noexcept;
  void append_key(std::string& out) const;
};

/// The addresses of the first elements of inputs and outputs, then those of parameters in register format; the block operations
/// that the function calls.
using fixed_function = void (*)(void* const* at, const block_op* operations);

/// Writes the function of one launch.
class fixed_emitter {
 public:
  explicit fixed_emitter(const fixed_launch& l);
  /// Whether there is such a function: operations on elements that find no faults in data, and sums, products, extrema, their
  /// places and counts, of few elements.
  bool suits() const noexcept { return suits_; }
  unsigned parts() const noexcept { return parts_; }
  const std::vector<block_op>& operations() const noexcept { return operations_; }
  std::string text(const std::string& function) const;

 private:
  class phase;
  bool takes(const instr& i) const noexcept;
  bool takes(const reduce_desc& r) const noexcept;
  void write_elementwise();
  void write_reductions();
  bool runs_along_results() const;
  std::string element(std::size_t j, const std::string& result, const std::string& place) const;
  std::string group(std::size_t j, const std::string& result, const std::string& first, std::int64_t count) const;
  void write_totals(std::size_t j, bool across);
  void write_lane_tree(const std::string& lane, const std::string& of, std::int64_t present);
  void write_extrema(std::size_t j, bool across);
  void write_places(std::size_t j, bool across);
  void write_counts(std::size_t j, bool across);
  void write_operands();

  const fixed_launch& l_;
  bool suits_ = true;
  bool direct_ = false;  // elements of reductions are computed where they are joined, not before
  bool turned_ = false;  // they are computed with the reduced axes outermost
  unsigned parts_ = 0;
  std::int64_t results_ = 1, reduced_ = 1, bytes_ = 0;
  std::vector<block_op> operations_;
  std::string out_;
};

/// Helpers of generated functions.
extern const char* const fixed_types;

}  // namespace sinter::jit
