// Elementwise launches that are run again and again: what a block needs is worked out once.
#include <algorithm>

#include "backends/cpu/kernels/element_run.hpp"
#include "backends/cpu/kernels/repeated.hpp"
#include "jit/program/loop_runs.hpp"

namespace sinter::cpu {

namespace {

/// A block of a launch that is run again and again: where its lanes lie in memory of its own is worked out once, as are
/// coordinates and offsets of gathers, which depend on no elements.
class kept_block {
 public:
  kept_block(const block_code& code, const block_plan& plan, const std::vector<output_plan>& outputs,
             std::int64_t outer, std::int64_t start, int n)
      : code_(code),
        plan_(plan),
        outputs_(outputs),
        outer_(outer),
        start_(start),
        n_(n),
        mine_(code, plan, outputs, true) {}

  void run(int* fault) {
    if (is_bound_) {
      for (const copy& c : inputs_) copy_row(c.to, c.from, c.bytes);
      for (const std::size_t k : others_) mine_.walker.bind_again(k, start_, n_);
    } else {
      mine_.walker.forget();
      mine_.walker.move_to(outer_);
      mine_.walker.bind(start_, n_);
      const bool whole = n_ == mine_.walker.args().n;
      for (std::size_t k = 0; k < outputs_.size(); ++k)
        mine_.walker.outputs()[k] = outputs_[k].in_place && whole ? place_of(k) : mine_.buffers[k];
    }
    compute();
    if (!is_bound_ && can_bind_) bind();
    for (const std::size_t k : stored_) {
      const output_plan& o = outputs_[k];
      if (o.map.contiguous && !is_half(o.type))
        copy_row(place_of(k), static_cast<const char*>(mine_.buffers[k]),
                 static_cast<std::size_t>(n_) * itemsize(o.type));
      else store_lanes(base_of(k), o.type, o.map, start_, n_, mine_.buffers[k]);
    }
    if (!is_bound_)
      for (std::size_t k = 0; k < outputs_.size(); ++k)
        if (mine_.walker.outputs()[k] == mine_.buffers[k])
          store_lanes(base_of(k), outputs_[k].type, outputs_[k].map, start_, n_, mine_.buffers[k]);
    merge_fault(fault, mine_.fault);
    mine_.fault.words[0] = 0;
  }

 private:
  struct copy {
    char* to;
    const char* from;
    std::size_t bytes;
  };

  char* base_of(std::size_t k) const { return outputs_[k].at(mine_.walker.coordinates()); }
  char* place_of(std::size_t k) const {
    return base_of(k) + start_ * static_cast<std::int64_t>(itemsize(outputs_[k].type));
  }

  void compute() {
    if (code_.is_compiled()) return code_.run(mine_.walker.args(), nullptr, nullptr);
    if (program_) return program_->run(mine_.fault.words);
    arena now;
    code_.run(mine_.walker.args(), nullptr, now.take(code_.scratch_bytes()));
  }

  /// After a run: padding lanes keep what they had in it, which is as good.
  void bind() {
    for (std::size_t k = 0; k < plan_.inputs.size(); ++k) {
      const input_plan& in = plan_.inputs[k];
      using how = input_plan::how;
      if (in.access == how::unused || in.access == how::gathered || in.access == how::whole) continue;
      if (in.access == how::uniform) {
        if (is_half(in.type)) {
          can_bind_ = false;
          inputs_.clear(), others_.clear();
          return;
        }
        continue;
      }
      if (!in.in_place || in.period || in.panel_rows || in.rows || in.wrapped) {
        others_.push_back(k);
        continue;
      }
      const auto* const lanes = static_cast<const char*>(mine_.walker.inputs()[k]);
      const auto* const from = static_cast<const char*>(mine_.walker.in_place(k, start_));
      if (lanes != from)
        inputs_.push_back({const_cast<char*>(lanes), from, static_cast<std::size_t>(n_) * itemsize(in.type)});
    }
    for (std::size_t k = 0; k < outputs_.size(); ++k)
      if (mine_.walker.outputs()[k] == mine_.buffers[k]) stored_.push_back(k);
    program_ = code_.bind(mine_.walker.args());
    is_bound_ = true;
  }

  const block_code& code_;
  const block_plan& plan_;
  const std::vector<output_plan>& outputs_;
  const std::int64_t outer_, start_;
  const int n_;
  element_memory mine_;
  bool is_bound_ = false, can_bind_ = true;
  std::vector<copy> inputs_;
  std::vector<std::size_t> others_;  // inputs that are put together in another way than by one copy
  std::vector<std::size_t> stored_;  // outputs
  std::unique_ptr<jit::bound_program> program_;
};

/// Lanes of a launch whose blocks are kept, and its blocks, at most.
constexpr std::int64_t most_kept_lanes = 4096, most_kept_blocks = 16;

/// A launch of a few blocks, whose memory is kept, or, of one block, that of the thread.
class repeated_element_run final : public repeated_launch {
 public:
  repeated_element_run(const runtime::prepared& code, const jit::launch& l, bool keeps_memory)
      : axes_(element_axes(l)),
        params_(l),
        plan_(l, axes_, 0, l.code->code.size(), params_),
        code_(*code.main),
        was_compiled_(code_.is_compiled()) {
    outputs_.reserve(l.outputs.size());
    for (std::size_t k = 0; k < l.outputs.size(); ++k) outputs_.emplace_back(l, k, axes_);
    if (was_compiled_) keep_halves(code_, plan_, outputs_);
    plan_.read_through_panels();
    share_ = share_out(l, plan_, jit::block_lanes);
    is_one_block_ = share_.blocks == 1 && plan_.block_count <= jit::block_lanes;
    const std::int64_t lanes = plan_.block_count * plan_.outer_count;
    keeps_ = keeps_memory && lanes <= (is_one_block_ ? few_lanes : most_kept_lanes);
    if (is_one_block_) plan_.lanes = pad_lanes(static_cast<int>(plan_.block_count));
    else if (keeps_) take_few_blocks(l);
  }
  bool is_one_block() const noexcept { return is_one_block_; }
  /// Whether there are a few blocks, of which all memory is kept.
  bool is_kept() const noexcept { return keeps_; }

  void run(int* fault) override {
    if (!keeps_) {
      element_memory now(code_, plan_, outputs_);
      return run(now, fault);
    }
    if (blocks_.empty()) make_blocks();
    for (const auto& b : blocks_) b->run(fault);
  }

 private:
  void take_few_blocks(const jit::launch& l) {
    plan_.compiled = was_compiled_;
    const bool across = runs_across(plan_, outputs_);
    const std::int64_t lanes = lanes_of_blocks(code_, plan_, outputs_, across);
    if (lanes <= repeating_block) plan_.lanes = static_cast<int>(lanes);
    share_ = share_out(l, plan_, lanes);
    const bool one_task = share_.blocks <= share_.per_task;
    keeps_ = one_task && share_.blocks <= most_kept_blocks && input_records(plan_.inputs).empty() &&
             output_records(l, outputs_).empty();
  }

  void make_blocks() {
    const auto add = [&](std::int64_t outer, std::int64_t start, std::int64_t n) {
      blocks_.push_back(std::make_unique<kept_block>(code_, plan_, outputs_, outer, start, static_cast<int>(n)));
    };
    for (std::int64_t block = 0; block < share_.blocks; ++block) {
      const std::int64_t outer = block / share_.run, start = (block - outer * share_.run) * share_.lanes;
      const std::int64_t n = std::min(share_.lanes, plan_.block_count - start);
      // What is more than a block has no padding, for which there is no room.
      const std::int64_t whole = n > jit::block_lanes ? n & -std::int64_t{jit::lane_multiple} : n;
      add(outer, start, whole);
      if (whole < n) add(outer, start + whole, n - whole);
    }
  }

  void run(element_memory& mine, int* fault) {
    const int n = static_cast<int>(plan_.block_count);
    mine.walker.move_to(0);
    mine.walker.bind(0, n);
    const bool whole = n == mine.walker.args().n;
    for (std::size_t k = 0; k < outputs_.size(); ++k)
      mine.walker.outputs()[k] = outputs_[k].in_place && whole ? outputs_[k].base : mine.buffers[k];
    code_.run(mine.walker.args(), nullptr, mine.scratch);
    for (std::size_t k = 0; k < outputs_.size(); ++k)
      if (mine.walker.outputs()[k] == mine.buffers[k])
        store_lanes(outputs_[k].base, outputs_[k].type, outputs_[k].map, 0, n, mine.buffers[k]);
    merge_fault(fault, mine.fault);
  }

  walk_axes axes_;
  param_block params_;
  block_plan plan_;
  std::vector<output_plan> outputs_;
  partition share_;
  const block_code& code_;
  bool was_compiled_, is_one_block_ = false, keeps_ = false;
  std::vector<std::unique_ptr<kept_block>> blocks_;
};

/// A launch of several blocks that make one task.
class repeated_blocks_run final : public repeated_launch {
 public:
  repeated_blocks_run(const runtime::prepared& code, const jit::launch& l, bool keeps_memory)
      : code_(code), launch_(l), keeps_memory_(keeps_memory) {
    make();
  }
  bool is_one_task() const noexcept { return kept_ || all_->is_one_task(); }
  void run(int* fault) override {
    if (code_.main->is_compiled() != was_compiled_) make();  // code of another kind takes other blocks
    if (kept_) kept_->run(fault);
    else all_->run_again(fault);
  }

 private:
  void make() {
    was_compiled_ = code_.main->is_compiled();
    kept_.reset();
    all_.reset();
    if (keeps_memory_) {
      kept_ = std::make_unique<repeated_element_run>(code_, launch_, true);
      if (kept_->is_kept()) return;
      kept_.reset();
    }
    all_.emplace(code_, launch_, nullptr);
  }
  const runtime::prepared& code_;
  const jit::launch& launch_;
  const bool keeps_memory_;
  bool was_compiled_ = false;
  std::unique_ptr<repeated_element_run> kept_;
  std::optional<element_run> all_;
};

}  // namespace

std::unique_ptr<repeated_launch> repeated_elements(const runtime::prepared& code, const jit::launch& l,
                                                   bool keeps_memory) {
  if (core::element_count(l.extents) == 0 || jit::stores_in_runs(*l.code)) return nullptr;
  auto made = std::make_unique<repeated_element_run>(code, l, keeps_memory);
  if (made->is_one_block()) return made;
  auto several = std::make_unique<repeated_blocks_run>(code, l, keeps_memory);
  return several->is_one_task() ? std::move(several) : nullptr;
}

}  // namespace sinter::cpu
