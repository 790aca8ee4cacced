// Captured work of the host: a list of launches, copies and calls of libraries.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "backends/cpu/copies/transposed_copy.hpp"
#include "backends/cpu/fixed_steps.hpp"
#include "backends/cpu/kernels/repeated.hpp"
#include "backends/cpu/kernels/row_gather.hpp"
#include "backends/cpu/kernels/row_reads.hpp"
#include "backends/cpu/kernels/segments.hpp"
#include "backends/cpu/moved_places.hpp"
#include "backends/cpu/stream.hpp"
#include "jit/program/fault_words.hpp"
#include "jit/program/monotone_tail.hpp"
#include "runtime/looping_work.hpp"
#include "runtime/moving_work.hpp"
#include "runtime/trace.hpp"

namespace sinter::cpu {
namespace {

std::atomic<std::uint64_t> repeated_count{0};

/// How a captured launch is run again: with what has been worked out for it, where it is a small one without anything
/// that depends on data.
std::unique_ptr<repeated_launch> repeated(const recorded_step& s, bool keeps_memory) {
  const jit::launch& l = s.how;
  if (s.moves || s.prepared->steps || jit::has_tail(*l.code) || may_fail(*l.code)) return nullptr;
  if (l.code->kind == jit::kernel_kind::reduce)
    return without_wrapped_gathers(l) ? nullptr : repeated_reduction(*s.prepared, l, s.to, keeps_memory);
  if (l.code->kind != jit::kernel_kind::elementwise || !l.code->calls.empty()) return nullptr;
  const bool is_transposed = transposed_copy_of(l) && core::element_count(l.extents) > few_lanes;
  if (row_gather_of(l) || is_transposed || !plain_parts_of(l).all.empty() || row_reads_of(l)) return nullptr;
  return repeated_elements(*s.prepared, l, keeps_memory);
}

/// Captured work of more steps leaves most of its launches the memory of the thread, which stays in the caches.
constexpr std::size_t steps_with_memory = 64;
/// Launches of few elements that keep their memory nevertheless: it is a few kilobytes, of reductions some tens, of which they
/// touch a part.
constexpr std::size_t small_launches_with_memory = 512;
constexpr std::int64_t small_elements = few_lanes / 2, small_reduced = 1024;

/// Launches after which copying what is read again and again pays.
constexpr std::uint64_t launches_to_settle = 32;

/// Copies of so few bytes are made here.
constexpr std::size_t small_copy = 1 << 16;

class recorded_list final : public runtime::looping_work, public runtime::moving_work {
 public:
  recorded_list(runtime::backend& device, recorded_steps steps) : device_(device), steps_(std::move(steps)) {}
  void launch() override {
    prepare();
    const bool plainly = runtime::tracing();
    std::uint64_t repeated_now = 0;
    for (std::size_t k = 0; k < steps_.size(); ++k) run_step(k, plainly, repeated_now);
    repeated_count.fetch_add(repeated_now, std::memory_order_relaxed);
  }
  void launch_again() override {
    if (runtime::tracing()) return launch();
    if (!to_repeat_) to_repeat_ = find_steps_to_repeat();
    prepare();
    std::uint64_t repeated_now = 0;
    for (const std::size_t k : *to_repeat_) run_step(k, false, repeated_now);
    repeated_count.fetch_add(repeated_now, std::memory_order_relaxed);
  }
  std::size_t size() const override { return steps_.size(); }
  void expect_unchanged(std::vector<runtime::unchanged_memory> memory) override { unchanged_ = std::move(memory); }
  void expect_changes(std::vector<runtime::unchanged_memory> memory) override { changing_ = std::move(memory); }
  bool let_move(const runtime::unchanged_memory& captured, access how) override {
    return moved_.add(steps_, captured, how);
  }
  void move(const void* captured, void* base, std::ptrdiff_t offset) override { moved_.move(captured, base, offset); }

 private:
  void prepare() {
    if (!ready_.load(std::memory_order_acquire) && !ready_.exchange(true)) make_ready();
    count_work();
    if (launches_ == launches_to_settle && !unchanged_.empty()) settle();
  }

  void run_step(std::size_t k, bool plainly, std::uint64_t& repeated_now) {
    const recorded_step& s = *steps_[k];
    if (s.prepared) {
      if (const fixed_steps::step* const f = fixed_of(k); f && !plainly) f->run(f->at, f->operations), ++repeated_now;
      else if (repeated_launch* const r = plainly ? nullptr : repeated_[k].get()) run(*r), ++repeated_now;
      else device_.run(*s.prepared, s.how, s.to);
    } else if (s.call) {
      s.call();
    } else if (s.bytes <= small_copy) {
      if (s.bytes) std::memmove(s.to, s.from, s.bytes);
    } else {
      device_.copy(s.to, s.from, s.bytes);
    }
  }

  const fixed_steps::step* fixed_of(std::size_t k) const {
    const std::vector<fixed_steps::step>& all = fixed_.steps();
    return k < all.size() && all[k].run ? &all[k] : nullptr;
  }

  std::vector<std::size_t> find_steps_to_repeat() const {
    std::vector<step_memory> all;
    all.reserve(steps_.size());
    for (const auto& s : steps_) {
      all.push_back(memory_of(*s));
      if (s->prepared && may_fail(s->code)) all.back().knows_reads = false;
    }
    return steps_to_repeat(all, changing_);
  }

  void make_ready() {
    repeated_.resize(steps_.size());
    const bool all_keep = steps_.size() <= steps_with_memory;
    std::size_t small = 0;
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      if (!steps_[k]->prepared) continue;
      const bool keeps = all_keep || (is_small(*steps_[k]) && small++ < small_launches_with_memory);
      repeated_[k] = repeated(*steps_[k], keeps);
    }
  }

  static bool is_small(const recorded_step& s) {
    const bool reduces = s.code.kind == jit::kernel_kind::reduce;
    return core::element_count(s.how.extents) <= (reduces ? small_reduced : small_elements);
  }

  static void run(repeated_launch& r) {
    int no_fault[jit::fault_words] = {};
    r.run(no_fault);
  }

  void settle() {
    for (const auto& r : repeated_)
      if (r) r->settle(unchanged_);
  }

  /// Counts what the code of the launches has done since it was counted last, and compiles what has become hot. Ever more
  /// rarely, since preparing counts as well.
  void count_work() {
    if (++launches_ != counted_ + due_) return;
    std::vector<compiled_code*> wanted;
    fixed_.count(steps_, due_);
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      const auto& s = steps_[k];
      if (!s->prepared || !s->prepared->main || fixed_of(k)) continue;
      const std::int64_t elements = core::element_count(s->how.extents);
      const auto lanes = static_cast<std::uint64_t>(lanes_of_work(elements) * loop_count(s->how));
      if (s->prepared->main->wants_compilation(due_ * lanes)) wanted.push_back(s->prepared->main);
    }
    counted_ = launches_;
    due_ = std::min<std::uint64_t>(2 * due_, 256);
    if (!wanted.empty()) compile_blocks(wanted);
  }

  runtime::backend& device_;
  recorded_steps steps_;
  std::vector<std::unique_ptr<repeated_launch>> repeated_;
  fixed_steps fixed_;
  moved_places moved_;
  std::vector<runtime::unchanged_memory> unchanged_, changing_;
  std::optional<std::vector<std::size_t>> to_repeat_;
  std::atomic<bool> ready_{false};
  std::uint64_t launches_ = 0, counted_ = 0, due_ = 8;
};

}  // namespace

bool may_fail(const jit::program& p) {
  return std::any_of(p.code.begin(), p.code.end(), [](const jit::instr& i) {
    const bool of_integers = i.op == jit::opcode::power && !is_inexact(i.type);
    return (i.op == jit::opcode::checked_index && !i.in_range) || of_integers || jit::is_random(i.op);
  });
}

std::uint64_t repeated_launches() noexcept { return repeated_count.load(std::memory_order_relaxed); }

std::unique_ptr<runtime::recorded_work> make_recorded_list(runtime::backend& device, recorded_steps steps) {
  return std::make_unique<recorded_list>(device, std::move(steps));
}

}  // namespace sinter::cpu
