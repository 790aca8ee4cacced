// Which kernels are joined: those within a window that read the results of a reduction for the same rows.
#include "graph/plan/stages.hpp"

#include <algorithm>
#include <unordered_map>

#include "graph/plan/stage_builder.hpp"
#include "jit/program/addition_order.hpp"

namespace sinter::graph {
namespace {

/// How many kernels after the first one may join it; bounds the time.
constexpr std::size_t window = 48;

class stage_planner {
 public:
  using kernel_list = std::vector<std::unique_ptr<kernel_plan>>;
  using predicate = std::function<bool(const node*)>;
  stage_planner(kernel_list& kernels, const runtime::backend& device, const predicate& wanted)
      : kernels_(kernels), device_(device), wanted_(wanted) {}

  void run() {
    for (const auto& k : kernels_) count_reads(*k, 1);
    for (std::size_t k = 0; k < kernels_.size();)
      if (!join_from(k)) ++k;
  }

 private:
  /// Joins what goes with kernel `first`; whether anything did. Kernels that wait for a joined one without joining move
  /// behind it, so the order stays one in which they may run.
  bool join_from(std::size_t first) {
    const kernel_plan& start = *kernels_[first];
    if (start.kind != plan_kind::reduce || start.apart >= 0 || !start.reduces_last || start.whole.split_lanes != 0)
      return false;
    const row_space space{start.extents, start.kept};
    if (space.rows() == 0 || space.elements() < 2) return false;
    if (!device_.keeps_rows(start.code, space.rows(), space.elements())) return false;
    // Rows that the order of another number of results divides into splits.
    if (start.whole.results != 0 && jit::row_order(start.whole.results, space.elements()).splits > 1) return false;
    stage_builder built(space);
    if (!built.add(start)) return false;
    joined_ = {first};
    behind_.clear();
    aliases_.clear();
    unread_.clear();
    plan_ = std::make_unique<kernel_plan>();
    const std::size_t end = std::min(kernels_.size(), first + window);
    for (std::size_t k = first + 1; k < end; ++k) {
      if (depends_on_any(*kernels_[k], behind_)) behind_.push_back(k);
      else if ((depends_on_any(*kernels_[k], joined_) || depends_on_any(*kernels_[k], aliases_)) &&
               !try_add(built, space, k))
        behind_.push_back(k);
    }
    if (joined_.size() == 1) return false;
    leave_out_unread(built);
    replace(first);
    return true;
  }

  /// What a kernel reads that others of the plan store.
  template <class F>
  static void each_read(const kernel_plan& k, F f) {
    for (const node* d : k.dependencies) f(d);
    if (k.kind == plan_kind::alias || k.kind == plan_kind::update) f(k.results[0]->args[0].get());
  }
  void count_reads(const kernel_plan& k, int n) {
    each_read(k, [&](const node* d) { reads_[d] += n; });
  }

  /// Nothing is stored for what is not wanted and no other kernel reads.
  void leave_out_unread(stage_builder& built) {
    for (const std::size_t k : joined_) count_reads(*kernels_[k], -1);
    const auto is_read = [&](const node* n) { return wanted_(n) || reads_[n] > 0; };
    // A view of a view comes after it.
    for (auto k = aliases_.rbegin(); k != aliases_.rend(); ++k)
      if (!is_read(kernels_[*k]->results[0])) {
        count_reads(*kernels_[*k], -1);
        unread_.push_back(*k);
      }
    std::vector<const node*> unread;
    for (const node* n : plan_->results)
      if (!is_read(n)) unread.push_back(n);
    if (unread.empty()) return;
    built.leave_out(unread);
    plan_ = std::make_unique<kernel_plan>();
    built.finish(*plan_);
  }

  bool try_add(stage_builder& built, const row_space& space, std::size_t k) {
    if (is_alias(*kernels_[k])) {
      node* const n = kernels_[k]->results[0];
      if (!built.add_alias(n, n->args[0].get())) return false;
      aliases_.push_back(k);
      return true;
    }
    if (kernels_[k]->apart >= 0) return false;
    stage_builder wider = built;
    if (!wider.add(*kernels_[k])) return false;
    const bool small = core::element_count(kernels_[k]->extents) == space.rows();
    if (!wider.shares() && !small) return false;
    auto trial = std::make_unique<kernel_plan>();
    if (!wider.finish(*trial) || !device_.keeps_rows(trial->code, space.rows(), space.elements())) return false;
    built = std::move(wider);
    plan_ = std::move(trial);
    joined_.push_back(k);
    return true;
  }

  static bool is_alias(const kernel_plan& k) {
    return k.kind == plan_kind::alias && k.results[0]->kind == node_kind::view;
  }

  bool depends_on_any(const kernel_plan& k, const std::vector<std::size_t>& others) const {
    return std::any_of(others.begin(), others.end(), [&](std::size_t o) {
      const auto& results = kernels_[o]->results;
      return std::any_of(k.dependencies.begin(), k.dependencies.end(),
                         [&](const node* d) { return std::find(results.begin(), results.end(), d) != results.end(); });
    });
  }

  void replace(std::size_t first) {
    const auto is_in = [](const std::vector<std::size_t>& list, std::size_t k) {
      return std::find(list.begin(), list.end(), k) != list.end();
    };
    plan_->root = plan_->results[0];
    std::size_t last = joined_.back();
    for (const std::size_t k : unread_) last = std::max(last, k);
    kernel_list before, after;
    for (std::size_t k = first; k <= last; ++k) {
      if (is_in(joined_, k)) {
        plan_->level = std::max(plan_->level, kernels_[k]->level);
        for (node* d : kernels_[k]->dependencies) depend_on(d);
        plan_->computed.insert(plan_->computed.end(), kernels_[k]->computed.begin(), kernels_[k]->computed.end());
      } else if (!is_in(unread_, k)) {
        (is_in(behind_, k) || is_in(aliases_, k) ? after : before).push_back(std::move(kernels_[k]));
      }
    }
    auto& computed = plan_->computed;
    std::sort(computed.begin(), computed.end());
    computed.erase(std::unique(computed.begin(), computed.end()), computed.end());
    for (const std::size_t k : joined_)
      for (const node* n : kernels_[k]->results) std::erase(plan_->dependencies, n);
    for (const std::size_t k : unread_) std::erase(plan_->dependencies, kernels_[k]->results[0]);
    count_reads(*plan_, 1);
    for (const auto& k : after)
      if (is_alias(*k)) std::erase(plan_->dependencies, k->results[0]);
    before.push_back(std::move(plan_));
    for (auto& k : after) before.push_back(std::move(k));
    const auto at = kernels_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto stop = std::move(before.begin(), before.end(), at);
    kernels_.erase(stop, kernels_.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  }

  void depend_on(node* d) {
    auto& known = plan_->dependencies;
    const auto& own = plan_->results;
    if (std::find(own.begin(), own.end(), d) == own.end() && std::find(known.begin(), known.end(), d) == known.end())
      known.push_back(d);
  }

  kernel_list& kernels_;
  const runtime::backend& device_;
  const predicate& wanted_;
  std::unordered_map<const node*, int> reads_;  // kernels that read what one stores
  // Indices of kernels; aliases_: of what joined ones store, unread_: those that nothing reads; behind_: others that wait for
  // joined ones.
  std::vector<std::size_t> joined_, aliases_, behind_, unread_;
  std::unique_ptr<kernel_plan> plan_;
};

}  // namespace

void join_stages(std::vector<std::unique_ptr<kernel_plan>>& kernels, const runtime::backend& device,
                 const std::function<bool(const node*)>& wanted) {
  stage_planner(kernels, device, wanted).run();
}

}  // namespace sinter::graph
