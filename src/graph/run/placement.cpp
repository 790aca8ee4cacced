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
  for (int v = extents.size(); v < read.coefficients.size(); ++v)
    if (read.coefficients[v] != 0) return false;  // gathered: may be anywhere
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
  const bool effects =
      std::any_of(kernels.begin(), kernels.end(), [](auto& k) { return k->kind == plan_kind::effect; });
  reuses_ = plan_.stored().size() > 2 && !effects && !is_capturing();
  if (!updates && !reuses_) return;
  analyse_references();
  find_last_readers();
  if (reuses_) list_finished();
}

void placement::clear() {
  places_.clear();
  memory_.clear();
  finished_.clear();
  unneeded_.clear();
  passed_ = 0;
  reuses_ = false;
}

void placement::note_reader(node* n, std::size_t kernel) {
  std::int32_t& last = plan_.at(n).last_reader;
  last = std::max(last, static_cast<std::int32_t>(kernel));
}

void placement::find_last_readers() {
  const auto& kernels = plan_.kernels();
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    for (node* n : kernels[k]->results) note_reader(n, k);  // what nothing reads is not needed any more either
    for (const input_slot& s : kernels[k]->inputs) note_reader(s.source, k);
    if (kernels[k]->kind == plan_kind::alias || kernels[k]->kind == plan_kind::update)
      note_reader(kernels[k]->results[0]->args[0].get(), k);
  }
}

void placement::list_finished() {
  runtime::backend& device = runtime::get_backend(plan_.device());
  takes_leaves_ = !runtime::this_thread().source[device.slot()] && !device.has_block_source();
  finished_.assign(plan_.kernels().size(), nullptr);
  for (const planner::entry& known : plan_.entries()) {
    if (known.last_reader < 0 || !is_released(known) || (known.n->is_leaf() && !takes_leaves_)) continue;
    node*& first = finished_[static_cast<std::size_t>(known.last_reader)];
    plan_.at(known.n).next_finished = std::exchange(first, known.n);
  }
}

placement::occupied& placement::memory_of(node* n) {
  planner::entry& e = plan_.at(n);
  if (e.memory < 0) {
    e.memory = static_cast<std::int32_t>(memory_.size());
    memory_.push_back({.residents = n});
  }
  return memory_[static_cast<std::size_t>(e.memory)];
}

/// Adds a node to those in another one's memory.
void placement::join(node* n, node* resident) {
  occupied& m = memory_of(resident);
  planner::entry& e = plan_.at(n);
  e.memory = plan_.at(resident).memory;
  e.next_resident = std::exchange(m.residents, n);
  ++m.needed;
}

void placement::put(node* n, runtime::buffer_ref own) { at(n) = {std::move(own), 0}; }

void placement::put_view(node* n, node* base, std::int64_t offset) {
  const placed p = where(base);
  at(n) = {p.buffer, p.offset + offset};
  if (!reuses_) return;
  join(n, base);
  ++memory_of(n).views;
}

/// What the kernels before this one were the last to read is no longer needed.
void placement::pass(std::size_t kernel) {
  for (; passed_ < kernel; ++passed_)
    for (node* n = finished_[passed_]; n; n = plan_.at(n).next_finished)
      if (--memory_of(n).needed == 0) unneeded_.push_back(n);
}

/// Whether nothing but the plan refers to the memory of a node, and a result fits. A leaf's is given only where the
/// result's own would come from the same pool, and where no fault is known that concerns the leaf alone.
bool placement::may_take(node* old, std::size_t least, std::size_t most, memory_kind kind) {
  const runtime::buffer_ref& b = buffer_of(old);
  const occupied& m = memory_of(old);
  if (b->bytes() < least || b->bytes() > most || b->kind() != kind || b->has_faults()) return false;
  if (old->is_leaf() && b->source() != &b->owner().plain_memory()) return false;
  return &b->owner_stream() == &b->owner().current_stream() && is_owned(b, m.references + m.views);
}

/// The memory stays with its former nodes as well: nothing is written there before the launch.
void placement::give(node* old, node* n, std::size_t kernel) {
  occupied& m = memory_of(old);
  for (node* r = m.residents; r; r = plan_.at(r).next_resident)
    plan_.at(r).taken_by = static_cast<std::int32_t>(kernel);
  m.residents = nullptr;
  ++m.references;
  join(n, old);
  at(n) = {buffer_of(old), 0};
}

/// An operand of an elementwise kernel that is read nowhere else from now on, each element where the result has its own.
node* placement::find_operand(const node* n, std::size_t kernel) {
  const kernel_plan& plan = *plan_.kernels()[kernel];
  if (plan.kind != plan_kind::elementwise) return nullptr;
  const dims dense = core::contiguous_strides(plan.extents);
  const auto in_place = [&](const linear_form& at) {
    for (int v = 0; v < at.coefficients.size(); ++v) {
      if (v < dense.size() && plan.extents[v] == 1) continue;
      if (at.coefficients[v] != (v < dense.size() ? dense[v] : 0)) return false;
    }
    return at.offset == 0 && at.coefficients.size() >= dense.size();
  };
  for (const input_slot& s : plan.inputs) {
    node* const old = s.source;
    const planner::entry& e = plan_.at(old);
    if (e.last_reader != static_cast<std::int32_t>(kernel) || old->type != n->type || !is_released(e)) continue;
    if (old->is_leaf() && (!takes_leaves_ || old->buffer_offset != 0)) continue;
    if (memory_of(old).needed != 1 || !may_take(old, n->bytes(), n->bytes(), n->memory)) continue;
    if (std::all_of(plan.inputs.begin(), plan.inputs.end(),
                    [&](const input_slot& t) { return t.source != old || (!t.raw && in_place(t.at)); }))
      return old;
  }
  return nullptr;
}

bool placement::take_memory(node* n, std::size_t kernel) {
  if (!reuses_ || n->size() == 0) return false;
  pass(kernel);
  const std::size_t least = n->bytes(), most = least + least / (is_released(plan_.at(n)) ? 4 : 8);
  const auto found = std::find_if(unneeded_.rbegin(), unneeded_.rend(),
                                  [&](node* old) { return may_take(old, least, most, n->memory); });
  if (found != unneeded_.rend()) {
    node* const old = *found;
    unneeded_.erase(std::next(found).base());
    give(old, n, kernel);
    return true;
  }
  node* const old = find_operand(n, kernel);
  if (old) give(old, n, kernel);
  return old != nullptr;
}

bool placement::reuse_base(const kernel_plan& update) {
  if (!may_overwrite(update)) return false;
  node* const n = update.results[0];
  node* const base = n->args[0].get();
  at(n) = where(base);
  ++memory_of(base).references;
  join(n, base);
  return true;
}

bool placement::may_overwrite(const kernel_plan& plan) {
  node* n = plan.results[0];
  node* base = n->args[0].get();
  const payload::update& update = n->update();
  if (update.in_place) return true;
  const planner::entry& e = plan_.at(base);
  if (!is_released(e) || !is_owned(buffer_of(base), memory_of(base).references)) return false;
  if (plan_.kernels()[static_cast<std::size_t>(e.last_reader)].get() != &plan) return false;
  return std::all_of(plan.inputs.begin(), plan.inputs.end(), [&](const input_slot& s) {
    return s.source != base || reads_where_it_writes(s.at, update, plan.extents) ||
           are_disjoint(s.at, update, plan.extents);
  });
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
