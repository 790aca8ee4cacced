// A part of a fixed function that computes one element for each place of a space, by loops over it and calls of block
// operations for all elements in between.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "jit/cpu/fixed.hpp"
#include "jit/cpu/fixed_ranges.hpp"

namespace sinter::jit {

/// The C++ type of a lane in memory and in arrays of lanes.
std::string fixed_lane(dtype t);

class fixed_emitter::phase {
 public:
  /// `axes`: in the order of the loops, the outermost first. Appends the block operations that it calls.
  phase(const fixed_launch& l, std::vector<int> axes, std::vector<block_op>& operations);

  /// What is wanted: output `output` of the launch, or register `reg` in the array t<reg>, in the order of the loops.
  void store(std::size_t output);
  void keep(std::uint16_t reg);
  /// Once all are known.
  void write(std::string& out);
  /// A function `name` of the coordinates of two axes, at most one of either kind, that gives the register's value; where
  /// nothing is called.
  void write_function(std::string& out, const std::string& name, std::uint16_t reg);
  /// Whether block operations are called for these registers.
  bool calls_for(const std::vector<std::uint16_t>& regs) const;

  unsigned parts() const noexcept { return parts_; }
  std::int64_t bytes() const noexcept { return bytes_; }

 private:
  enum class place : std::uint8_t { unused, scalar, source, inlined, called };
  struct info {
    place where = place::unused;
    int stage = 0;
    bool in_array = false;
    bool wide = false;  // truth values in an array of integers, so that loops have lanes of one width
  };
  struct target {
    std::uint16_t reg;
    int output;  // -1: kept
    int stage = 0;
  };

  bool is_source(std::size_t k) const;
  bool is_call(std::size_t k) const;
  bool is_uniform(std::size_t k) const;
  void mark(std::uint16_t reg);
  void find_places();
  void find_arrays();
  void place_targets();
  void count_parts();

  std::string index(const core::dims& strides) const;
  std::string number(std::size_t param) const;
  std::string value(std::size_t k, int stage) const;
  std::string expression(std::size_t k, int stage) const;
  std::string declaration(std::size_t k, int stage) const;
  std::string stored(const target& t, int stage) const;
  bool is_read_in(std::size_t k, int stage) const;
  void write_scalars(std::string& out);
  std::string lane_type(std::size_t k) const;
  bool lies_in_order(const core::dims& strides) const;
  bool is_flat(int stage) const;
  bool has_short_rows() const;
  void widen_inputs(std::string& out);
  void write_body(std::string& out, int stage, bool flat);
  void write_loop(std::string& out, int stage);
  void write_calls(std::string& out, int stage);
  void write_call(std::string& out, std::size_t k, const std::string& to, const std::vector<std::string>& from,
                  std::int64_t lanes);

  const fixed_launch& l_;
  const program& p_;
  std::vector<int> axes_;
  std::int64_t count_ = 1;
  std::vector<block_op>& operations_;
  std::vector<info> info_;
  std::vector<target> targets_;
  std::vector<char> widened_;       // inputs: truth values that have been copied to integers
  std::vector<value_range> known_;  // of what the places in a part of the loops determine
  int last_ = 0;                    // stage
  unsigned parts_ = 0;
  std::int64_t bytes_ = 0, widest_ = 1;  // bytes of a register
};

}  // namespace sinter::jit
