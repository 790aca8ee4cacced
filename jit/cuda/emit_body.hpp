// Pieces shared by all CUDA kernel shapes: device functions of straight-line code, groups of lanes.
#pragma once
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "jit/cuda/emit.hpp"
#include "jit/user_text.hpp"

namespace sinter::jit::cuda {

/// The register value of a stored element `x`, and the stored element of a register value.
std::string widened(dtype t, const std::string& x);
std::string narrowed(dtype t, const std::string& x);

/// The qualifiers of users' functions.
inline constexpr const char* function_words = "__device__ __forceinline__";

/// Lines of source, indented by the caller.
class text {
 public:
  template <class... Parts>
  text& operator()(const Parts&... parts) {
    (append(parts), ...);
    out_ += '\n';
    return *this;
  }
  /// Whole lines.
  void add(std::string_view lines) { out_ += lines; }
  const std::string& str() const noexcept { return out_; }

 private:
  void append(std::string_view s) { out_ += s; }
  void append(int n) { out_ += std::to_string(n); }
  std::string out_;
};

/// Instructions that are emitted as one device function. Parameters of the program are read where they are used.
struct phase {
  std::string name;
  std::vector<int> code, inputs, coords, live_in, reduced, results;
  bool quick = false;   // sine or cosine of float32: has a fast version (cuda_loop.h)
  bool lambda = false;  // calls a user's function that is a lambda of the kernel: passed as `sn_body`
  bool place = false;   // coordinates are given as sn::random_place
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
std::string define(const program& p, const phase& f);
/// A phase with one operand and one result that is rarely executed: emitted as a called function, so that it is
/// compiled once even in unrolled code. Then a call of it.
std::string define_out_of_line(const program& p, const phase& f);
std::string call_out_of_line(const program& p, const phase& f, const std::string& operand);

/// The arguments of a phase: 'v' value of an input (its pointer if gathered), 'c' coordinate, 'r' register of another
/// phase, 'd' result of a reduction.
struct argument {
  std::string expression;
  std::string array_type;  // if not empty, `expression` is an array with one element per lane
};
using argument_source = std::function<argument(char kind, int index)>;

/// Calls the phase for one set of values; the result is in `out`, a NAME_out declared by this text.
std::string call_once(const phase& f, const argument_source& source, const std::string& indent);
/// Calls the phase for `lanes` lanes: declares arrays x<register>[lanes] and fills them; `quick`: by the fast version,
/// which may set `slow` (a variable in scope).
std::string call_lanes(const program& p, const phase& f, int lanes, bool quick, const argument_source& source,
                       const std::string& indent);
/// The same as a complete block: if the phase is quick, declares `slow` and recomputes the group if it was set.
std::string call_group(const program& p, const phase& f, int lanes, const argument_source& source,
                       const std::string& indent);

/// Declares coordinates `prefix<axis>` of the linear index `of` over the axes [first, last).
std::string decompose(const std::string& of, int first, int last, const std::string& prefix, const std::string& indent);
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

/// Opens a kernel: "namespace NAME_ { typedef int I; struct args ...;" (parameters.hpp).
std::string open_kernel(const program& p, const cuda_variant& v);
std::string close_kernel();
/// The kernel's head up to its opening brace.
std::string kernel_head(const program& p, const cuda_variant& v, int threads = cuda_block, const char* suffix = "");
std::string shared_memory(int bytes);
/// Declares z<k>, the values of an input's lanes; `stored`: the stored element of lane l.
std::string lane_values(const program& p, int k, int lanes, const std::string& stored, const std::string& indent);
/// The steps of the accumulators `acc`.a<j> with the lanes x<register> of the elements from r0 on.
std::string accumulate(const program& p, const std::string& acc, int lanes, const std::string& indent);

std::string emit_map(const program& p, const cuda_variant& v);
std::string emit_tiles(const program& p, const cuda_variant& v);
std::string emit_reduce(const program& p, const cuda_variant& v);
std::string emit_shared_rows(const program& p, const cuda_variant& v);
std::string emit_reduce_tiles(const program& p, const cuda_variant& v);
std::string emit_broadcast(const program& p, const cuda_variant& v);
std::string emit_stride_loop(const program& p, const cuda_variant& v);
std::string emit_stages(const program& p, const cuda_variant& v);

/// The accumulator type of reduction j, and its result as a register, given an accumulator.
std::string accumulator(const program& p, int j);
std::string result_of(const program& p, int j, const std::string& accumulator);

/// Reductions: declares `struct accs`, and `finish(a, row, accs)`, which runs the epilogue and stores.
std::string define_accumulators(const program& p);
/// Statements that merge the `accs` of the threads of a row by a function of the prelude, through `shared`, of which each
/// thread has cuda_partial_bytes.
std::vector<std::string> merge_rows(const program& p, const std::string& accs,
                                    const std::string& function = "merge_row");
std::string define_finish(const program& p, const cuda_variant& v);
/// Second stage: merges the partial results of the splits.
std::string define_second_stage(const program& p, const cuda_variant& v);

}  // namespace sinter::jit::cuda
