// References that a plan releases, and which updates may overwrite their base.
#include "graph/run/placement.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "graph/run/ongoing_capture.hpp"
#include "graph/values/storage.hpp"

namespace sinter::graph {
namespace {

/// Whether an update reads, for every element, exactly the place that it writes.
bool reads_where_it_writes(const linear_form& read, const payload::update& update, const dims& extents) {
  if (read.offset != update.offset || read.coefficients.size() < update.strides.size()) return false;
  for (int v = 0; v < read.coefficients.size(); ++v) {
    std::int64_t stride = v < update.strides.size() ? update.strides[v] : 0;
    if (v < extents.size() && extents[v] == 1) continue;
    if (read.coefficients[v] != stride) return false;
  }
  return true;
}

/// Whether what an update reads and what it writes are certainly disjoint: their ranges do not overlap, or no
/// combination of their strides leads from one to the other (two columns).
bool are_disjoint(const linear_form& read, const payload::update& update, const dims& extents) {
  if (read.coefficients.size() > extents.size()) return false;  // gathered: may be anywhere
  std::int64_t first_read = read.offset, last_read = read.offset, step = 0;
  std::int64_t first_write = update.offset, last_write = update.offset;
  const auto widen = [](std::int64_t& first, std::int64_t& last, std::int64_t by) { (by < 0 ? first : last) += by; };
  for (int v = 0; v < extents.size(); ++v) {
    if (extents[v] == 1) continue;
    const std::int64_t r = v < read.coefficients.size() ? read.coefficients[v] : 0;
    const std::int64_t w = v < update.strides.size() ? update.strides[v] : 0;
    widen(first_read, last_read, r * (extents[v] - 1));
    widen(first_write, last_write, w * (extents[v] - 1));
    step = std::gcd(step, std::gcd(r, w));
  }
  if (last_read < first_write || last_write < first_read) return true;
  return step > 1 && (read.offset - update.offset) % step != 0;
}

/// Whether no reference from outside of the plan remains once the plan is done.
bool is_released(const planner::entry& e) { return e.n->refs.load(std::memory_order_acquire) == e.dropped; }

}  // namespace

void placement::begin() {
  places_.resize(plan_.stored().size());
  const auto& kernels = plan_.kernels();
  const bool updates =
      std::any_of(kernels.begin(), kernels.end(), [](auto& k) { return k->kind == plan_kind::update; });
  const bool long_plan = kernels.size() > 2 && !is_capturing();
  if (!updates && !long_plan) return;
  analyse_references();
  if (updates) count_readers();
  if (long_plan) find_last_readers();
}

/// Memory that an alias or an update may share is left out.
void placement::find_last_readers() {
  const auto& kernels = plan_.kernels();
  constexpr std::int32_t never = -1;
  std::vector<std::int32_t> last(places_.size(), never);
  const auto note = [&](const node* n, std::int32_t kernel) {
    if (!n->is_leaf()) last[static_cast<std::size_t>(plan_.at(const_cast<node*>(n)).kernel)] = kernel;
  };
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    if (kernels[k]->kind == plan_kind::effect) return;
    for (const input_slot& s : kernels[k]->inputs) note(s.source, static_cast<std::int32_t>(k));
  }
  for (const auto& k : kernels) {
    if (k->kind != plan_kind::alias && k->kind != plan_kind::update) continue;
    note(k->results[0], never);
    note(k->results[0]->args[0].get(), never);
  }
  unneeded_after_.resize(kernels.size());
  for (node* n : plan_.stored())
    if (const auto& e = plan_.at(n); last[static_cast<std::size_t>(e.kernel)] != never && is_released(e))
      unneeded_after_[static_cast<std::size_t>(last[static_cast<std::size_t>(e.kernel)])].push_back(n);
}

runtime::buffer_ref placement::take_unneeded(const node* n, std::size_t kernel) {
  if (unneeded_after_.empty()) return nullptr;
  for (; searched_ < kernel; ++searched_)
    unneeded_.insert(unneeded_.end(), unneeded_after_[searched_].begin(), unneeded_after_[searched_].end());
  const bool kept = !is_released(plan_.at(const_cast<node*>(n)));
  const std::size_t least = n->bytes(), most = kept ? least : least + least / 4;
  const auto fits = [&](node* old) {
    const runtime::buffer& b = *at(old).buffer;
    return b.bytes() >= least && b.bytes() <= most && b.kind() == n->memory;
  };
  const auto found = std::find_if(unneeded_.rbegin(), unneeded_.rend(), fits);
  if (found == unneeded_.rend()) return nullptr;
  runtime::buffer_ref taken = std::move(at(*found).buffer);
  unneeded_.erase(std::next(found).base());
  return taken;
}

void placement::clear() {
  places_.clear();
  // Clearing costs as much as the largest table so far.
  if (!readers_.empty()) readers_.clear();
  if (!owned_.empty()) owned_.clear();
  if (!unneeded_after_.empty()) unneeded_after_.clear();
  unneeded_.clear();
  searched_ = 0;
}

bool placement::reuse_base(const kernel_plan& update) {
  if (!may_overwrite(update)) return false;
  node* n = update.results[0];
  at(n) = where(n->args[0].get());
  return true;
}

bool placement::may_overwrite(const kernel_plan& plan) {
  node* n = plan.results[0];
  node* base = n->args[0].get();
  const payload::update& update = n->update();
  if (update.in_place) return true;
  if (!is_released(plan_.at(base))) return false;
  const placed p = where(base);
  // References to the buffer: those of the plan (the released leaf, earlier updates in place), and `p`.
  int& owned = owned_[p.buffer.get()];
  if (owned == 0) owned = 1;
  if (!is_owned(p.buffer, owned + 1)) return false;
  int own = 0;
  for (const input_slot& s : plan.inputs) {
    if (s.source != base) continue;
    ++own;
    if (!reads_where_it_writes(s.at, update, plan.extents) && !are_disjoint(s.at, update, plan.extents)) return false;
  }
  if (readers_[base] != own) return false;
  ++owned;
  return true;
}

/// Counts the kernels that read each node: a version that another kernel reads is not overwritten.
void placement::count_readers() {
  for (const auto& k : plan_.kernels()) {
    for (const input_slot& s : k->inputs) ++readers_[s.source];
    if (k->kind == plan_kind::alias) readers_[k->results[0]->args[0].get()] += 2;
  }
}

void placement::visit(node* n, std::vector<node*>& order) {
  if (plan_.at(n).visited) return;
  plan_.at(n).visited = true;
  if (!n->is_leaf())
    for (int k = 0; k < n->operand_count(); ++k) visit(n->operand(k), order);
  order.push_back(n);
}

/// A node releases its operands when it becomes a leaf, or when all nodes that refer to it release it.
void placement::analyse_references() {
  std::vector<node*> order;
  for (node* n : plan_.stored()) visit(n, order);
  for (std::size_t k = order.size(); k-- > 0;) {
    node* n = order[k];
    if (n->is_leaf()) continue;
    if (const planner::entry& e = plan_.at(n); !e.stored && !is_released(e)) continue;
    for (int a = 0; a < n->operand_count(); ++a) ++plan_.at(n->operand(a)).dropped;
  }
}

std::int64_t placement::released_bytes() {
  analyse_references();
  std::size_t released = 0, stored = 0;
  for (const planner::entry& e : plan_.entries())
    if (e.n->is_leaf() && is_released(e) && e.n->buffer.use_count() == 1) released += e.n->buffer->bytes();
  for (const node* n : plan_.stored()) stored += n->bytes();
  return static_cast<std::int64_t>(released) - static_cast<std::int64_t>(stored);
}

}  // namespace sinter::graph
