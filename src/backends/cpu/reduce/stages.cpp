// Blocks of rows, and the launches of the steps over one.
#include "backends/cpu/reduce/stages.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "backends/cpu/kernels/hooks.hpp"
#include "jit/program/stages.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

/// Bytes of a block: in a second-level cache with room for what else the steps need.
constexpr std::int64_t block_bytes = 768 << 10;
/// Bytes of the longest rows.
constexpr std::int64_t row_bytes = 1 << 20;
/// Fewer rows than this are too few for the threads: the steps over all of them are divided instead, one after the other.
constexpr std::int64_t few_rows = 32;
constexpr std::int64_t few_elements = 1 << 16;
/// Bytes of all elements of such rows: in a last-level cache.
constexpr std::int64_t whole_bytes = 32 << 20;
/// Fewer bytes stay in the last-level cache from kernel to kernel, and a step of a block costs a microsecond more.
constexpr std::int64_t default_least_bytes = 16 << 20;
std::atomic<std::int64_t> least_bytes{default_least_bytes};
/// Where separate kernels would compute something costly again, a part of that pays.
constexpr std::int64_t costly_share = 16;

std::int64_t product(const core::dims& extents, int first, int last) {
  return std::accumulate(extents.begin() + first, extents.begin() + last, std::int64_t{1}, std::multiplies<>());
}

/// Bytes of an element of a row in memory of the launch.
std::int64_t bytes_of_operands(const jit::program& p) {
  std::size_t bytes = 0;
  for (auto& in : p.inputs) bytes += itemsize(in.type);
  for (auto& o : p.outputs)
    if (p.kind == jit::kernel_kind::staged && !jit::is_per_row(p, o.reg)) bytes += itemsize(o.type);
  return static_cast<std::int64_t>(bytes);
}
/// Bytes that an element of a row takes while its block is processed.
std::int64_t bytes_of_element(const jit::program& p) {
  std::size_t kept = 0;
  for (int s = 0; s + 1 < static_cast<int>(p.stages.size()); ++s) {
    std::size_t here = 0;
    for (const int r : jit::kept_after(p, s))
      if (p.code[static_cast<std::size_t>(r)].op != jit::opcode::load)
        here += itemsize(p.code[static_cast<std::size_t>(r)].type);
    kept = std::max(kept, here);
  }
  return bytes_of_operands(p) + static_cast<std::int64_t>(kept);
}

/// Whether something costly is computed for each element, as an exponential, which separate kernels may compute again. What they
/// compute is not known yet where a reduction is asked about.
bool may_save_operations(const jit::program& p) {
  if (p.kind != jit::kernel_kind::staged) return true;
  for (int r = 0; r < static_cast<int>(p.code.size()); ++r)
    if (!jit::is_per_row(p, r) && jit::weight(p.code[static_cast<std::size_t>(r)].op) >= stored_weight) return true;
  return false;
}

bool are_few(std::int64_t rows, std::int64_t elements) { return rows < few_rows && rows * elements > few_elements; }
bool are_few_rows(const jit::launch& l) {
  return are_few(product(l.extents, 0, l.kept), product(l.extents, l.kept, l.extents.size()));
}

bool reads_coordinates(const jit::program& p) {
  return std::any_of(p.code.begin(), p.code.end(), [](const jit::instr& i) { return i.op == jit::opcode::coord; });
}

/// Blocks are ranges of one kept axis, with all of the axes behind it; few rows are one block. Where positions are read, it is
/// the first axis.
struct row_blocks {
  int axis = 0;
  std::int64_t length = 1;  // of a block along the axis
  std::int64_t run = 1;     // blocks along the axis
  std::int64_t count = 1;   // in all
  core::dims outer;         // extents of the axes before it

  row_blocks(const stage_steps& s, const jit::launch& l) {
    if (are_few_rows(l)) {
      length = l.extents[0];
      count = 1;
      return;
    }
    // One result may lend its memory to the values of several stages, one after the other.
    const std::int64_t bytes =
        std::max({bytes_of_element(*l.code) - s.lent_bytes, bytes_of_operands(*l.code), std::int64_t{1}});
    const std::int64_t row = product(l.extents, l.kept, l.extents.size()) * bytes;
    const std::int64_t rows = std::max<std::int64_t>(1, block_bytes / row);
    std::int64_t behind = product(l.extents, 1, l.kept);
    while (behind > rows && !reads_coordinates(*l.code)) behind /= l.extents[++axis];
    length = std::clamp<std::int64_t>(rows / behind, 1, l.extents[axis]);
    run = (l.extents[axis] + length - 1) / length;
    outer = core::dims(l.extents.data(), axis);
    count = run * product(l.extents, 0, axis);
  }
};

/// Memory of one block.
struct block_memory {
  std::vector<void*> elements, rows;

  block_memory(const stage_steps& s, const jit::launch& l, const row_blocks& blocks, arena& from) {
    const std::int64_t n = blocks.length * product(l.extents, blocks.axis + 1, l.kept);
    const std::int64_t all = n * product(l.extents, l.kept, l.extents.size());
    for (const dtype t : s.elements) elements.push_back(from.take(static_cast<std::size_t>(all) * itemsize(t)));
    for (const dtype t : s.rows) rows.push_back(from.take(static_cast<std::size_t>(n) * itemsize(t)));
  }
  /// Of all rows, with elements in memory of the launch.
  block_memory(const stage_steps& s, const jit::launch& l, char* scratch, arena& from) {
    for (const dtype t : s.elements) elements.push_back(std::exchange(scratch, scratch + bytes_of_all(l, t)));
    for (const dtype t : s.rows)
      rows.push_back(from.take(static_cast<std::size_t>(product(l.extents, 0, l.kept)) * itemsize(t)));
  }
  static std::size_t bytes_of_all(const jit::launch& l, dtype type) {
    return (static_cast<std::size_t>(core::element_count(l.extents)) * itemsize(type) + 63) & ~std::size_t{63};
  }
  block_memory(const stage_steps& s) : elements(s.elements.size()), rows(s.rows.size()) {}
};

/// Launches of the steps over one block after the other.
class step_launcher {
 public:
  step_launcher(const jit::launch& l, const row_blocks& blocks, const block_memory& memory)
      : whole_(l), blocks_(blocks), memory_(memory), outer_(static_cast<std::size_t>(blocks.axis)) {
    launch_.extents = core::dims(l.extents.data() + blocks.axis, l.extents.size() - blocks.axis);
    launch_.reduces_last = true;
    launch_.all_results = l.all_results > 0 ? l.all_results : product(l.extents, 0, l.kept);
  }

  void move_to(std::int64_t block) {
    start_ = block % blocks_.run * blocks_.length;
    launch_.extents[0] = std::min(blocks_.length, whole_.extents[blocks_.axis] - start_);
    if (blocks_.axis != 0) unravel(block / blocks_.run, blocks_.outer, outer_.data());
  }

  /// Whether this is the last block along the axis, and shorter than the others.
  bool is_partial() const { return launch_.extents[0] != blocks_.length; }

  const jit::launch& of(const stage_step& step) {
    launch_.code = &step.code;
    const int kept = whole_.kept - blocks_.axis;
    launch_.kept = step.code.kind == jit::kernel_kind::reduce ? kept : launch_.extents.size();
    bind(step.inputs, launch_.inputs, kept);
    bind(step.outputs, launch_.outputs, kept);
    launch_.params.clear();
    for (const std::uint16_t k : step.params)
      launch_.params.push_back(k == stage_step::first_row ? first_row() : whole_.params[k]);
    return launch_;
  }

 private:
  jit::scalar first_row() const {
    jit::scalar s;
    s.type = dtype::i64;
    s.i = start_;
    return s;
  }
  void bind(const std::vector<step_operand>& from, std::vector<jit::operand>& to, int kept) {
    to.resize(from.size());
    for (std::size_t k = 0; k < from.size(); ++k) {
      const std::size_t index = from[k].index;
      switch (from[k].where) {
        case step_operand::place::input: part_of(whole_.inputs[index], to[k]); break;
        case step_operand::place::output: part_of(whole_.outputs[index], to[k]); break;
        case step_operand::place::elements: in_block(memory_.elements[index], launch_.extents, to[k]); break;
        case step_operand::place::rows:
          in_block(memory_.rows[index], core::dims(launch_.extents.data(), kept), to[k]);
          break;
      }
    }
  }
  void part_of(const jit::operand& o, jit::operand& to) const {
    to.base = o.base;
    to.offset = o.offset + start_ * o.strides[blocks_.axis];
    for (int a = 0; a < blocks_.axis; ++a) to.offset += outer_[static_cast<std::size_t>(a)] * o.strides[a];
    to.strides = core::dims(o.strides.data() + blocks_.axis, o.strides.size() - blocks_.axis);
  }
  void in_block(void* base, const core::dims& over, jit::operand& to) const {
    to.base = base;
    to.offset = 0;
    to.strides = core::contiguous_strides(over);
    to.strides.resize(launch_.extents.size(), 0);
  }

  const jit::launch& whole_;
  const row_blocks& blocks_;
  const block_memory& memory_;
  std::vector<std::int64_t> outer_;
  std::int64_t start_ = 0;
  jit::launch launch_;
};

}  // namespace

bool keeps_rows(const jit::program& p, std::int64_t rows, std::int64_t elements) {
  const std::int64_t bytes = elements * bytes_of_element(p);
  if (are_few(rows, elements)) return may_save_operations(p) && rows * bytes <= whole_bytes;
  const std::int64_t least = least_bytes.load(std::memory_order_relaxed);
  return bytes <= row_bytes && rows * bytes >= (may_save_operations(p) ? least / costly_share : least);
}

void set_least_staged(std::int64_t bytes) noexcept {
  least_bytes = bytes >= 0 ? bytes : default_least_bytes;
  ++runtime::planning_settings;
}

std::vector<jit::launch> step_launches(const stage_steps& steps, const jit::launch& l) {
  const row_blocks blocks(steps, l);
  const block_memory memory(steps);
  step_launcher launcher(l, blocks, memory);
  std::vector<jit::launch> all;
  const bool partial = l.extents[blocks.axis] % blocks.length != 0;
  for (const bool last : {false, true}) {
    if (last && (!partial || blocks.run == 1)) continue;
    launcher.move_to(last ? blocks.run - 1 : 0);
    for (const stage_step& s : steps.steps) all.push_back(launcher.of(s));
  }
  return all;
}

std::size_t stages_scratch(const stage_steps& steps, const jit::launch& l) {
  if (core::element_count(l.extents) == 0 || !are_few_rows(l)) return 0;
  std::size_t bytes = 0;
  for (const dtype t : steps.elements) bytes += block_memory::bytes_of_all(l, t);
  return bytes;
}

void run_stages(const stage_steps& steps, const jit::launch& l,
                const std::function<const runtime::prepared&(const jit::launch&)>& find, void* scratch, int* fault) {
  if (core::element_count(l.extents) == 0) return;
  const row_blocks blocks(steps, l);
  std::vector<const runtime::prepared*> codes;  // of the steps over a whole block, then over the last one
  for (const jit::launch& step : step_launches(steps, l)) codes.push_back(&find(step));
  const auto run_step = [](const runtime::prepared& code, const jit::launch& part, int* faults) {
    const element_work work{&code, &part};
    if (part.code->kind == jit::kernel_kind::elementwise) return run_elements({&work, 1}, faults);
    arena here;
    run_reduce(code, part, {}, here.take(reduce_scratch(part)), faults);
  };
  const std::size_t count = steps.steps.size();
  if (are_few_rows(l)) {
    arena here;
    const block_memory memory(steps, l, static_cast<char*>(scratch), here);
    step_launcher launcher(l, blocks, memory);
    launcher.move_to(0);
    for (std::size_t k = 0; k < count; ++k) run_step(*codes[k], launcher.of(steps.steps[k]), fault);
    return;
  }
  double time = 0;
  for (const stage_step& s : steps.steps) time += lane_time(s.code);
  time *= static_cast<double>(core::element_count(l.extents));
  runtime::parallel_for(blocks.count, time, [&](std::int64_t block) {
    arena here;
    const block_memory memory(steps, l, blocks, here);
    step_launcher launcher(l, blocks, memory);
    launcher.move_to(block);
    fault_record mine;
    const std::size_t first = launcher.is_partial() && codes.size() > count ? count : 0;
    for (std::size_t k = 0; k < count; ++k) run_step(*codes[first + k], launcher.of(steps.steps[k]), mine.words);
    merge_fault(fault, mine);
  });
}

}  // namespace sinter::cpu
