// The traversal of one launch: which axes vary within a block, and how each input is read there.
#pragma once
#include <cstdint>
#include <vector>

#include "backends/cpu/kernels/arena.hpp"
#include "backends/cpu/kernels/code.hpp"
#include "backends/cpu/kernels/lanes.hpp"
#include "backends/cpu/kernels/records.hpp"
#include "backends/cpu/kernels/row_reads.hpp"
#include "jit/program/launch.hpp"

namespace sinter::cpu {

/// Axes of a launch in the order in which they are walked. A block is a range of the C-ordered space of the block axes;
/// the outer axes are constant within it.
struct walk_axes {
  core::dims outer, block;  // axis numbers
};

/// Shortest innermost axis that blocks run along; shorter ones are flattened together with the axes around them.
inline constexpr std::int64_t long_axis = 128;

/// Whether the launch writes the memory of an input.
bool is_written(const jit::launch& l, const jit::operand& input) noexcept;
/// After how many lanes they repeat; 0: not, or too late for being copied once.
int period_of(const lane_map& map) noexcept;
/// Whether lanes are read where they lie, or repeat: not copied block by block.
inline bool runs_on(const lane_map& map) noexcept { return map.contiguous || map.constant || period_of(map) > 0; }

/// Whether lanes that hold other elements than their neighbours may be computed without an effect: no fault, no access by
/// an index that was computed, no user's code. Of the instructions [first, last).
bool is_pure(const jit::program& p, std::size_t first, std::size_t last);

/// Bit k: input k has one value in each block; coordinates as in jit::block_variant.
std::uint64_t uniform_inputs(const jit::launch& l, const walk_axes& axes) noexcept;

/// Scalars in register format, as block_args takes them.
class param_block {
 public:
  explicit param_block(const jit::launch& l);
  const void* const* pointers() const noexcept { return pointers_.data(); }

 private:
  struct alignas(16) cell {
    unsigned char bytes[16];
  };
  std::vector<cell> cells_;
  std::vector<const void*> pointers_;
};

struct input_plan {
  enum class how : std::uint8_t { unused, uniform, copied, gathered, whole } access = how::unused;
  dtype type{};
  bool in_place = false;       // whole blocks are read without a copy
  bool ahead = false;          // and what lies after a block in memory may be its padding
  int period = 0;              // not 0: lanes repeat after so many; they are copied once
  int panel_rows = 0;          // more than 0: transposed, copied through panels of so many rows (panel.hpp)
  const char* base = nullptr;  // of the first element
  const char* end = nullptr;   // of the last one in memory
  lane_map map;
  core::dims outer;  // strides of the outer axes
  const jit::operand* source = nullptr;
  const row_read* rows = nullptr;  // copied row by row
  int wraps = 0;                   // along outer axes, which `axis` of each counts
  jit::wrap outer_wraps[2];
  jit::wrap block_wrap{-1};   // along the block's axis; `axis` -1: none
  bool wrapped = false;       // in one of these ways
  bool in_record = false;     // copied with the others of a group (block_plan::records)
  bool ahead_apart = false;   // in a pattern, and what lies up to `end` may be read for padding
  bool one_offset = false;    // gathered, from one place in a block on, of which compiled code reads one lane
  jit::lane_pattern pattern;  // read where it lies, by code that knows how
  int span = 0;               // of records whose first input it is: the last element that is read of each
};
/// An axis' coordinate, or (`axis` is the number of axes) the C-order position among the elements or results.
struct coordinate_plan {
  int axis;
  core::dims outer;  // strides of the outer axes
  lane_map map;
  int period = 0;             // not 0: lanes repeat after so many
  bool uniform = false;       // one number for a block
  jit::lane_pattern pattern;  // code counts from the first lane on
};

/// What all blocks of a launch share. `first` and `last` bound the instructions that run.
struct block_plan {
  const jit::launch* launch;
  core::dims outer, block;  // extents
  std::int64_t outer_count, block_count;
  std::vector<input_plan> inputs;
  std::vector<coordinate_plan> coordinates;
  std::vector<record_group> records;
  const param_block* params;
  bool pure = true;                   // lanes beyond those of a block may hold anything: nothing depends on them
  bool compiled = false;              // all code that runs is: of a uniform coordinate it reads one lane
  bool halves = false;                // lanes of float16 and bfloat16 lie as in memory
  bool in_patterns = false;           // and it reads and writes operands as its patterns say
  int multiple = jit::lane_multiple;  // lanes of which code takes a multiple
  int lanes = jit::block_lanes;  // most of a block; more where all code that runs takes them, and no panels are read

  block_plan(const jit::launch& l, const walk_axes& axes, std::size_t first, std::size_t last, const param_block& p);
  int pad(int n) const noexcept { return (n + multiple - 1) / multiple * multiple; }
  /// Lets lanes of float16 and bfloat16 lie as in memory, for code that takes them so. Before the ones below.
  void keep_halves() noexcept {
    halves = true;
    for (input_plan& in : inputs) {
      if (!is_half(in.type)) continue;
      in.type = dtype::u16;  // as which they are copied
      in.in_place = in.access == input_plan::how::copied && in.map.contiguous;
    }
  }
  /// Lets transposed inputs be read through panels, for a walk over the last outer axis with the same lanes of a block,
  /// before it goes on to other lanes; `rows`: of a panel, 0 for what suits the caches. Returns whether there are any.
  bool read_through_panels(int rows = 0);
  /// Lets components of the same records be copied together. After the ones below, which read inputs in other ways.
  void read_records();
  /// Inputs whose rows are found by indices. The reads live as long as the plan.
  void read_rows(const std::vector<row_read>& reads);
  /// Inputs and coordinates in patterns, for code with them that is compiled. Before records are looked for.
  void read_patterns(const std::string& patterns);
  /// Inputs with wraps, in the walk that this plan was made for.
  void read_wrapped(const std::vector<jit::wrapped_read>& reads, const walk_axes& axes);
};

/// An output and how blocks reach it.
struct output_plan {
  dtype type{};
  bool may_place = false;     // whole blocks may be written without a copy, if lanes lie as in memory
  bool in_place = false;      // and they are
  bool over_input = false;    // they are written where an input lies
  jit::lane_pattern pattern;  // elements apart that code writes where they are
  bool in_runs = false;       // the program stores its lanes in each run of its loop
  char* base = nullptr;
  lane_map map;
  core::dims outer;

  output_plan(const jit::launch& l, std::size_t k, const walk_axes& axes);
  /// As block_plan::keep_halves.
  void keep_halves() noexcept {
    if (is_half(type)) type = dtype::u16, in_place = may_place;
  }
  /// Lets whole blocks be written where inputs lie whose lanes are read in place, for code that may do so.
  void write_over(const block_plan& plan, std::size_t k);
  /// Stores n elements that lie in memory of their own as far apart.
  void store_apart(char* to, const void* buffer, int n) const;
  char* at(const std::int64_t* outer_coordinates) const noexcept {
    std::int64_t offset = 0;
    for (int a = 0; a < outer.size(); ++a) offset += outer[a] * outer_coordinates[a];
    return base + offset * static_cast<std::int64_t>(itemsize(type));
  }
};

/// One thread's walk over blocks: owns the lane buffers and fills block_args.
class block_walker {
 public:
  /// `extra`: pointers that the caller appends to the inputs.
  block_walker(const block_plan& plan, arena& memory, int outputs, int extra, int* fault);
  /// Fixes the outer coordinates, given as an index into the C-ordered outer space.
  void move_to(std::int64_t outer_index);
  /// What has been copied from memory is copied again: other elements may be there now.
  void forget() noexcept;
  /// Points args() at lanes [start, start + n) of the block space; at most the plan's lanes.
  void bind(std::int64_t start, int n);
  /// Reads the lanes of one input again that have been bound, to where they are.
  void bind_again(std::size_t k, std::int64_t start, int n);

  jit::block_args& args() noexcept { return args_; }
  const void** inputs() noexcept { return inputs_; }
  void** outputs() noexcept { return outputs_; }
  /// Output k of a program that stores it in each run of its loop: `lanes` elements of the block space from `start` on.
  void bind_runs(std::size_t k, const output_plan& o, std::int64_t start, int n);
  const std::int64_t* coordinates() const noexcept { return coordinate_; }
  /// Where lane `start` of an input lies that is read in place, with the outer coordinates that are fixed.
  /// Places that are left along the last outer axis, the current one included, and the bytes between two of an input.
  std::int64_t left_of_last_axis() const noexcept {
    const int last = plan_.outer.size() - 1;
    return last < 0 ? 1 : plan_.outer[last] - coordinate_[last];
  }
  std::int64_t step_of_last_axis(std::size_t k) const noexcept {
    const int last = plan_.outer.size() - 1;
    return last < 0 ? 0 : plan_.inputs[k].outer[last] * static_cast<std::int64_t>(itemsize(plan_.inputs[k].type));
  }
  const void* in_place(std::size_t k, std::int64_t start) const noexcept {
    return base_[k] + start * static_cast<std::int64_t>(itemsize(plan_.inputs[k].type));
  }

 private:
  void bind_input(std::size_t k, std::int64_t start, int n, int padded);
  void bind_copied(std::size_t k, std::int64_t start, int n, int padded);
  int repeated_lanes(int period) const noexcept;
  void bind_coordinate(std::size_t k, std::int64_t start, int n, int padded);
  void bind_records(const record_group& g, std::int64_t start, int n, int padded);
  void bind_pattern(std::size_t k, std::int64_t start, int n, int padded);
  void bind_rows(std::size_t k, std::int64_t start, int n, int padded);
  void bind_wrapped(std::size_t k, std::int64_t start, int n, int padded);
  /// The rows [first, first + count) of the last outer axis, whose first element is at `origin`, for the lanes
  /// [start, start + n).
  struct panel {
    char* rows = nullptr;
    const char* origin = nullptr;
    std::int64_t first = 0, start = 0;
    int count = 0, n = 0;
  };
  const void* panel_row(std::size_t k, std::int64_t start, int n, int padded);

  const block_plan& plan_;
  std::int64_t at_ = -1;
  std::int64_t* coordinate_;    // of the outer axes
  const char** base_;           // per input, at the outer coordinates
  std::int64_t* outer_offset_;  // the same in elements
  void** lanes_;                // per input: buffer
  const char** repeated_;       // per input with a period: what the buffer was filled from
  panel* panels_;               // per input
  std::int64_t** offsets_;
  std::int64_t** coords_;   // per axis: what a block reads
  std::int64_t** counted_;  // per coordinate: buffer
  std::int64_t*
      counted_from_;  // per coordinate that is one number or repeats: at the outer coordinates the buffer is for
  const void** inputs_;
  void** outputs_;
  jit::block_args args_{};
};

/// Coordinates of element `index` of a C-ordered space.
inline void unravel(std::int64_t index, const core::dims& extents, std::int64_t* to) noexcept {
  for (int a = extents.size() - 1; a > 0; --a) {
    const std::int64_t q = index / extents[a];
    to[a] = index - q * extents[a];
    index = q;
  }
  if (!extents.empty()) to[0] = index;
}

}  // namespace sinter::cpu
