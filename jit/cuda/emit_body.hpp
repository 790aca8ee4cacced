// Device functions of straight-line code in CUDA kernels, and the calls of them.
#pragma once
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "jit/cuda/emit.hpp"
#include "jit/cuda/text.hpp"
#include "jit/user_text.hpp"

namespace sinter::jit::cuda {

inline bool is_half(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }
/// The type of a register's value: that of prelude_text.hpp, but halves have their 16 bits (cuda_half.h), except for those that a
/// user's function returns.
const char* value_type(dtype t) noexcept;
std::string type_of_value(const program& p, int reg);
/// What a group's lanes have of it: float of a half that a reduction reads, since accumulators add floats.
std::string type_of_lane(const program& p, int reg);
/// The register value of a stored element `x`, and the stored element of a register value.
std::string widened(dtype t, const std::string& x);
std::string narrowed(dtype t, const std::string& x);

/// The qualifiers of users' functions.
inline constexpr const char* function_words = "__device__ __forceinline__";

/// Instructions that are emitted as one device function. Parameters of the program are read where they are used.
struct phase {
  std::string name;
  std::vector<int> code, inputs, coords, live_in, reduced, results;
  bool quick = false;   // sine or cosine of float32: has a fast version (cuda_loop.h)
  bool lambda = false;  // calls a user's function that is a lambda of the kernel: passed as `sn_body`
  bool place = false;   // coordinates are given as sn::random_place
  // If not empty, the lanes of a group take these steps together (emit_steps.hpp), and after step k the instructions
  // `checked[k]`, which no step contains.
  std::vector<phase> steps;
  std::vector<std::vector<int>> checked;

  /// It is called for single elements: no fast versions.
  void runs_once() {
    quick = false;
    steps.clear();
    checked.clear();
  }
};
/// The random stream of a draw, as an expression.
std::string random_stream(const instr& i);
/// Whether the elements of a draw share blocks with their neighbours.
bool shares_blocks(const instr& i) noexcept;
phase make_phase(const program& p, const cuda_variant& v, std::string name, std::vector<int> code,
                 std::vector<int> results);
/// The instructions from `first` to before `last`.
std::vector<int> instructions(std::size_t first, std::size_t last);
inline bool contains(const std::vector<int>& v, int x) { return std::find(v.begin(), v.end(), x) != v.end(); }
/// The registers of outputs or reductions, each once.
template <class List>
std::vector<int> registers_of(const List& list) {
  std::vector<int> all;
  for (const auto& x : list)
    if (!contains(all, x.reg)) all.push_back(x.reg);
  return all;
}
/// Whether an instruction is the sine or cosine of float32, which has a fast version.
bool is_quick_trig(const program& p, const instr& i) noexcept;
/// The function NAME and, if the phase is quick, quick_NAME, which may set `slow`.
void define(text& t, const program& p, const phase& f);
/// A phase with one operand and one result that is rarely executed: emitted as a called function, so that it is
/// compiled once even in unrolled code. Then a call of it.
void define_out_of_line(text& t, const program& p, const phase& f);
std::string call_out_of_line(const program& p, const phase& f, const std::string& operand);

/// The arguments of a phase: 'v' value of an input (its pointer if gathered), 'c' coordinate, 'r' register of another
/// phase, 'd' result of a reduction.
struct argument {
  std::string expression;
  std::string array_type;  // if not empty, `expression` is an array with one element per lane
};
using argument_source = std::function<argument(char kind, int index)>;

/// Calls the phase for one set of values; the result is in `out`, a NAME_out declared by this text.
void call_once(text& t, const phase& f, const argument_source& source);
/// Calls the phase for `lanes` lanes: declares arrays x<register>[lanes] and fills them; `quick`: by the fast version,
/// which may set `slow` (a variable in scope).
void call_lanes(text& t, const program& p, const phase& f, int lanes, bool quick, const argument_source& source);
/// The same, by the fast version if there is one: then declares `slow` and computes the group again if it was set.
void call_group(text& t, const program& p, const phase& f, int lanes, const argument_source& source);

/// Declares coordinates `prefix<axis>` of the linear index `of` over the axes [first, last).
void decompose(text& t, const std::string& of, int first, int last, const std::string& prefix);
/// "+ c0 * a.s3_0 + ..." over the axes [first, last); empty sum: "0".
std::string offset(const char* strides, int operand, int first, int last, const std::string& prefix);
bool is_gathered(const program& p, int input);
/// "sn::make_raw<2>(a.p0, {a.q3, a.q4})": the value of an `address` register; `args` names the struct of launch
/// parameters.
std::string whole_array(const program& p, const user_call& c, std::size_t operand, const std::string& args);
/// The value of a `param` register.
std::string launch_value(const program& p, std::uint16_t reg, const std::string& args);
/// Sum of the weights of the instructions [first, end).
int total_weight(const program& p, int first, int end);

}  // namespace sinter::jit::cuda
