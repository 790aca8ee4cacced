// Tier 1: C++ for one block of a program. Runs of plain arithmetic, and of users' functions, become loops that the host
// compiler vectorises; everything else calls the block operation that tier 0 uses.
//
// Users' functions call libm lane by lane, never libmvec: which lanes GCC would pass to libmvec depends on the
// surrounding code, and a result must depend on its operands only. Their loops assert no absence of aliases to the
// compiler (a body may keep an array), and store to local arrays of the block function, which cannot be aliased. A
// function with effects (raw outputs, text around its loop) has a separate loop, over elements without padding. Where the
// preamble of function f defines sn_lanes_of_f, that is called for the lanes of a block in place of f for each: with f's
// operands, those that differ from lane to lane as pointers, the lanes of the result and their number, a multiple of
// lane_multiple.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "jit/cpu/block.hpp"
#include "jit/program/loop_runs.hpp"
#include "jit/user_text.hpp"

namespace sinter::jit {

/// The qualifiers of users' functions.
inline constexpr const char* cpu_function_words = "inline __attribute__((always_inline))";

/// What loops over vectors of 16-bit floats need in a translation unit.
extern const char* const half_vector_text;

/// What quotients by a number that all lanes share need in a translation unit.
extern const char* const quotient_text;
/// The same of whole numbers.
extern const char* const whole_divisor_text;
/// What shifts of 16 bits by a number need.
extern const char* const shift_text;

/// What lanes in patterns need in a translation unit (jit/prelude/lane_patterns.h).
inline constexpr const char* pattern_part = "lane_patterns";

/// The C++ type of an element in memory, as loops over lanes store it.
std::string storage_lane(dtype t);

/// Writes the block function of one variant.
class cpu_emitter {
 public:
  cpu_emitter(const program& p, const block_variant& v);
  /// The prelude parts that the function needs, except those of users' text.
  unsigned parts() const;
  /// The function, preceded by those that contain users' loops.
  std::string text(const std::string& function);
  std::vector<block_op> operations() const;
  /// Whether the function takes more than block_lanes lanes: no users' functions or loops. Where it has arrays of its own it
  /// goes through the lanes block by block.
  bool takes_any_length() const;
  /// Whether the function takes lanes of 16-bit floats as they lie in memory (block_args::halves).
  bool takes_halves() const { return halves_; }
  /// Whether the function is one loop over lanes that stores one output and calls nothing: each of its lanes is stored when the
  /// lane's inputs have been read.
  bool is_one_loop() const;
  /// Whether the function takes several rows (block_args::rows): it is one loop over lanes, of which it reads and writes all.
  bool takes_rows() const;
  /// Whether lanes may lie in patterns.
  bool takes_patterns() const;

 private:
  bool repeats() const;
  /// Where the value of a register is.
  enum class place : std::uint8_t {
    unused,
    scalar,   // one value for the block: a parameter, a uniform input, anything computed (or carried) only from these
    direct,   // an array that the caller passes: plain loads, coordinates, results of reductions
    inlined,  // a local of the loop of its stage; stored in an array if needed outside of it
    called,   // an array that a block operation or a function with effects fills after the loop of its stage
    carried,  // an array that the program's loop fills at the end of each run
    within,   // nowhere: the block operation that alone reads it computes it
  };
  struct info {
    place where = place::unused;
    int stage = 0;
    bool in_array = false;  // inlined: a later stage, a call or an output reads it
    int output = -1;        // the output whose memory serves as its array
    bool vector = false;    // of the loop over vectors of its stage
  };

  bool writes_reductions() const { return p_.kind == kernel_kind::reduce && !v_.epilogue; }
  std::size_t output_count() const { return writes_reductions() ? p_.reductions.size() : p_.outputs.size(); }
  std::uint16_t output_register(std::size_t k) const {
    return writes_reductions() ? p_.reductions[k].reg : p_.outputs[k].reg;
  }
  bool is_uniform(std::uint16_t input) const { return input < 64 && (v_.uniform >> input & 1) != 0; }
  bool is_gathered(const instr& i) const { return i.op == opcode::load && p_.inputs[i.a].gathers != 0; }
  /// Whether a gathered load reads all lanes at one index: at a place that changes from run to run.
  bool is_moving(std::size_t k) const;
  static bool is_source(const instr& i) { return operand_count(i.op) == 0 && i.op != opcode::user; }
  /// Whether the instruction is a call of a block operation.
  static bool is_call(const instr& i) {
    return !is_source(i) && i.op != opcode::checked_index && i.op != opcode::user && !moves_parts(i) &&
           !is_inline_on_cpu(i.op, i.type, i.arg);
  }
  /// Whether the instruction takes complex numbers apart or makes them of their parts.
  static bool moves_parts(const instr& i) {
    return i.op == opcode::make_complex || ((i.op == opcode::real || i.op == opcode::imag) && is_complex(i.arg));
  }
  const user_function& function_of(const instr& i) const { return *p_.calls[i.a].function; }
  bool has_effects(const instr& i) const;
  /// Whether the instruction belongs to a call of a function with a text of its own for lanes.
  bool takes_lanes(const instr& i) const;
  /// Whether instruction k divides lanes of whole numbers by a number (emit_quotients.cpp): no call.
  bool divides_by_number(std::size_t k) const { return by_number_[k]; }
  bool may_divide_by_number(std::size_t k) const;
  bool is_called(std::size_t k) const { return is_call(p_.code[k]) && !info_[k].vector && !by_number_[k]; }
  bool write_divisors(int stage);
  bool follows_loop(std::size_t k) const {
    return is_called(k) || has_effects(p_.code[k]) || takes_lanes(p_.code[k]) || loads_alone(k);
  }
  bool calculates_complex() const;
  bool loads_alone(std::size_t k) const;
  bool shifts_by_number(std::size_t k) const;
  std::string shift_by_number(std::size_t k, int stage) const;
  /// The first instruction of the call of which instruction k is an output, and the end of its instructions.
  std::size_t first_of_call(std::size_t k) const;
  std::size_t end_of_call(std::size_t k) const;
  bool is_first_of_call(std::size_t k) const { return p_.code[k].op == opcode::user && first_of_call(k) == k; }
  template <class F>
  void each_operand(std::size_t k, F f) const {
    const instr* const extreme = ordered_extreme(k);
    if (!extreme) return p_.each_operand(p_.code[k], f);
    f(extreme->a), f(extreme->b);
  }
  // Extrema of which zeros have an order, and loops over rows (emit_forms.cpp).
  const instr* ordered_extreme(std::size_t k) const;
  void find_selections();
  std::string input_address(std::size_t k) const;
  std::string output_address(std::size_t k) const;

  bool has_loop() const { return p_.loop.end != 0; }
  bool is_stored_in_runs(std::size_t output) const {
    return !writes_reductions() && is_in_each_run(p_.outputs[output]);
  }
  void mark_used();
  void find_uniform_carried();
  void put_in_place(std::size_t k);
  bool updates_in_place() const;
  void find_arrays();
  // Exponentials (emit_forms.cpp).
  void find_differences();
  bool is_difference_here(std::size_t k) const;
  const instr* difference_of(std::size_t call) const;
  bool calls_for_any_length() const;
  // Vectors of 16-bit floats (emit_halves.cpp).
  void find_vectors();
  bool goes_in_vectors(std::size_t k) const;
  bool is_half_load(std::size_t k) const;
  bool is_half_output(std::size_t k) const;
  std::string half_input(std::size_t k);
  std::string half_output(std::size_t k);
  std::string uniform_half(const instr& i) const;
  std::string vector_value(std::size_t k, int stage) const;
  std::string vector_expression(std::size_t k, int stage) const;
  void write_vector_loop(int stage);
  void write_half_copy(std::size_t output);
  void read_wide_inputs();
  void write_wide_outputs();
  bool has_lanes_and_vectors() const;
  // Lanes in patterns (emit_patterns.cpp).
  bool has_patterns() const { return !v_.patterns.empty(); }
  lane_pattern pattern_of(std::size_t k) const;
  lane_pattern pattern_of_result(std::size_t k) const;
  std::string counted_lane(std::size_t k) const;
  int chunk_lanes() const;
  void find_recurring();
  bool recurs(std::size_t k) const { return k < recurring_.size() && recurring_[k]; }
  void write_recurring(int lanes);
  bool shifts_as_product(std::size_t k) const;
  bool shifts_bytes() const;
  bool is_shift_of_bytes(std::size_t k) const;
  void write_bytes(int lanes);
  static const char* bits_for(opcode op);
  void write_chunks();
  void write_chunk(int lanes);
  void write_records(const std::string& lanes);
  // Quotients by a number (emit_quotients.cpp).
  bool is_quick_quotient(std::size_t k, int stage) const;
  std::string apart_from_result() const;
  int least_of_quotients(const std::vector<std::size_t>& quotients) const;
  bool may_be_subnormal(const std::vector<std::size_t>& quotients) const;
  std::pair<std::string, std::string> tries_of_rows() const;
  void write_quotients(const std::string& body, const std::vector<std::size_t>& quotients, int stage);

  std::string array(std::size_t k) const;
  std::string lane(const std::string& array, std::size_t k) const;
  std::string lane_type(std::size_t k) const;
  std::string value(std::size_t k, int stage) const;
  std::string expression(std::size_t k, int stage) const;
  void write_pointers();
  void write_arrays();
  void write_scalars(std::size_t first, std::size_t last);
  void write_stages(int first, int last);
  std::string scalar_name(std::size_t k) const;
  bool reads_vectors(int stage) const;
  std::string checked_text(std::size_t k, const std::string& index);
  void write_refusal(std::size_t k);
  std::string parts_stored(std::size_t k) const;
  static std::string selected_parts(const std::string& which, const std::string& x, const std::string& y);
  void write_loop(int stage);
  void write_calls(int stage);
  void write_scalar_call(std::size_t k);
  void write_call(std::size_t k, const std::string& to, const std::string (&from)[3], const char* lanes);
  void write_copies();

  // The program's loop (emit_runs.cpp).
  void write_program_loop();
  void write_run_declarations();
  void write_dense(const std::string& name, const std::string& offsets);
  void write_moving_pointers();
  void write_run_targets();
  bool is_stored_by(std::size_t output, int stage) const;
  std::string stored_lane(std::size_t output, const std::string& value) const;
  void write_run_outputs();
  void write_next_carried();

  // Users' functions (emit_user.cpp).
  std::string whole_array(std::size_t call, std::size_t operand) const;
  void write_whole_arrays();
  std::string user_call_text(std::size_t first, int stage, const char* indent) const;
  std::string rounded(const instr& i, const std::string& value) const;
  void write_effects(std::size_t first);
  void write_user_loop(std::size_t first);
  void write_user_lanes(std::size_t first);

  const program& p_;
  const block_variant& v_;
  std::vector<info> info_;
  std::vector<bool> user_stage_;  // whether the loop of a stage calls users' functions
  int stages_ = 1;
  int loop_stage_ = 0, after_loop_ = 0;  // the first stages of the program's loop and after it
  bool loops_ = false;                   // whether something of the loop is used
  std::vector<bool> one_value_;          // carried registers that have one value for all lanes
  std::vector<bool> selects_again_;      // selections whose conditions follow from another one
  std::vector<bool> by_number_;          // whole numbers that are divided by one number
  std::vector<bool> differences_;        // registers that one exponential reads and nothing else
  bool vectors_ = false;                 // whether operations on 16-bit floats are loops over vectors
  bool halves_ = false;                  // and the lanes of inputs and outputs may have 16 bits
  bool in_place_ = false;                // carried registers are updated by the loop over lanes that reads them
  std::vector<std::string> advance_;     // what points to the lanes of a block
  std::vector<std::size_t> half_inputs_, half_outputs_;  // whose lanes have 16 bits, or are made so
  std::string lanes_ = "n";                              // of a loop
  std::vector<bool> recurring_;  // registers whose lanes are those of every chunk, which are computed before these
  bool by_bytes_ = false;        // each instruction has an array of its own
  std::string function_, before_, out_;
};

/// cpu_emitter::is_one_loop of a variant's function.
bool is_one_loop(const program& p, const block_variant& v);

}  // namespace sinter::jit
