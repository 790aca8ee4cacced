// References that a plan releases, and which updates may overwrite their base.
#include "graph/run/placement.hpp"

#include <algorithm>
#include <utility>

#include "graph/run/ongoing_capture.hpp"
#include "graph/values/storage.hpp"

namespace sinter::graph {
namespace {

/// Whether no reference from outside of the plan remains once the plan is done.
bool is_released(const planner::entry& e) { return e.n->refs.load(std::memory_order_acquire) == e.dropped; }

/// Bytes of a result that is worth looking for memory in the cache: that takes a microsecond.
constexpr std::size_t large_result = 128 << 10;

}  // namespace

/// Whether a result of a plan of one or two is better placed where an operand was. On the host memory that has just been read
/// is in the caches, on a GPU any memory of the pool is as good.
bool placement::has_large_result() const {
  return plan_.device().kind == runtime::device_kind::cpu &&
         std::any_of(plan_.stored().begin(), plan_.stored().end(), [](node* n) { return n->bytes() >= large_result; });
}

void placement::begin() {
  places_.resize(plan_.stored().size());
  const auto& kernels = plan_.kernels();
  const bool updates =
      std::any_of(kernels.begin(), kernels.end(), [](auto& k) { return k->kind == plan_kind::update; });
  const bool effects =
      std::any_of(kernels.begin(), kernels.end(), [](auto& k) { return k->kind == plan_kind::effect; });
  reuses_ = (plan_.stored().size() > 2 || has_large_result()) && !effects;
  if (!updates && !reuses_) return;
  analyse_references();
  if (!std::exchange(plan_.known_nodes().read, true)) find_last_readers();
  if (reuses_ && is_capturing()) [[unlikely]]
    find_constant_results();
  if (reuses_) list_finished();
}

/// What a loop's captured step computes from nothing that changes has memory of its own, in which it stays: nothing computes
/// it again.
void placement::find_constant_results() {
  const ongoing_capture& capture = *current_capture();
  const auto stays = [&](const node* n) { return n->is_leaf() ? capture.stays(*n) : is_constant(n); };
  for (const auto& kernel : plan_.kernels()) {
    if (kernel->kind == plan_kind::update) continue;
    const bool constant = kernel->kind == plan_kind::alias ? stays(kernel->results[0]->args[0].get())
                                                           : std::all_of(kernel->inputs.begin(), kernel->inputs.end(),
                                                                         [&](auto& s) { return stays(s.source); });
    if (constant) constant_.insert(kernel->results.begin(), kernel->results.end());
  }
}

void placement::clear() {
  for (const std::int32_t k : touched_) {
    planner::entry& e = plan_.known_nodes().entries[static_cast<std::size_t>(k)];
    e.memory = e.taken_by = -1;
    e.next_resident = nullptr;
  }
  touched_.clear();
  places_.clear();
  memory_.clear();
  finished_.clear();
  unneeded_.clear();
  constant_.clear();
  passed_ = 0;
  reuses_ = false;
}

void placement::note_reader(node* n, std::size_t kernel) {
  std::int32_t& last = plan_.known(n).last_reader;
  last = std::max(last, static_cast<std::int32_t>(kernel));
}

void placement::find_last_readers() {
  const auto& kernels = plan_.kernels();
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    for (node* n : kernels[k]->results) note_reader(n, k);  // what nothing reads is not needed any more either
    for (const input_slot& s : kernels[k]->inputs) note_reader(s.source, k);
    if (kernels[k]->kind == plan_kind::alias) note_reader(kernels[k]->results[0]->args[0].get(), k);
    if (kernels[k]->kind != plan_kind::update) continue;
    if (node* const base = base_of(*kernels[k])) note_reader(base, k);
  }
}

void placement::list_finished() {
  runtime::backend& device = runtime::get_backend(plan_.device());
  takes_leaves_ = !runtime::this_thread().source[device.slot()] && !device.has_block_source();
  finished_.assign(plan_.kernels().size(), nullptr);
  for (const planner::entry& known : plan_.entries()) {
    if (known.last_reader < 0 || !is_released(known) || (known.n->is_leaf() && !takes_leaves_)) continue;
    if (is_constant(known.n)) continue;
    node*& first = finished_[static_cast<std::size_t>(known.last_reader)];
    plan_.known(known.n).next_finished = std::exchange(first, known.n);
  }
}

placement::occupied& placement::memory_of(node* n) {
  planner::entry& e = plan_.known(n);
  if (e.memory < 0) {
    touched_.push_back(n->mark.index);
    e.memory = static_cast<std::int32_t>(memory_.size());
    memory_.push_back({.residents = n});
  }
  return memory_[static_cast<std::size_t>(e.memory)];
}

/// Adds a node to those in another one's memory.
void placement::join(node* n, node* resident) {
  occupied& m = memory_of(resident);
  planner::entry& e = plan_.known(n);
  touched_.push_back(n->mark.index);
  e.memory = plan_.known(resident).memory;
  e.next_resident = std::exchange(m.residents, n);
  ++m.needed;
}

void placement::put(node* n) {
  occupied& m = memory_of(n);
  m.made = true;
  m.bytes = n->bytes();
  m.kind = n->memory;
  at(n) = {};
}

void placement::put_view(node* n, node* base, std::int64_t offset) {
  const placed p = where(base);
  at(n) = {p.buffer, p.offset + offset};
  if (!reuses_ && p.buffer) return;
  join(n, base);
  ++memory_of(n).views;
}

/// What the kernels before this one were the last to read is no longer needed.
void placement::pass(std::size_t kernel) {
  for (; passed_ < kernel; ++passed_)
    for (node* n = finished_[passed_]; n; n = plan_.known(n).next_finished)
      if (--memory_of(n).needed == 0) unneeded_.push_back(n);
}

/// Whether nothing but the plan refers to the memory of a node, and a result fits. A leaf's is given only where the
/// result's own would come from the same pool, and where no fault is known that concerns the leaf alone.
bool placement::may_take(node* old, std::size_t least, std::size_t most, memory_kind kind) {
  const occupied& m = memory_of(old);
  if (m.made) return m.bytes >= least && m.bytes <= most && m.kind == kind;
  const runtime::buffer_ref& b = buffer_of(old);
  if (b->bytes() < least || b->bytes() > most || b->kind() != kind || b->has_faults()) return false;
  if (old->is_leaf() && b->source() != &b->owner().plain_memory()) return false;
  return &b->owner_stream() == &b->owner().current_stream() && is_owned(b, m.references + m.views);
}

/// Whether memory that is too small may be allocated large enough for a result.
bool placement::may_grow(node* old, const node* n) {
  const occupied& m = memory_of(old);
  return m.made && m.bytes < n->bytes() && m.kind == n->memory;
}

/// The memory stays with its former nodes as well: nothing is written there before the launch.
void placement::give(node* old, node* n, std::size_t kernel) {
  occupied& m = memory_of(old);
  for (node* r = m.residents; r; r = plan_.known(r).next_resident)
    plan_.known(r).taken_by = static_cast<std::int32_t>(kernel);
  m.residents = nullptr;
  ++m.references;
  if (m.made) m.bytes = std::max(m.bytes, n->bytes());
  else at(n) = {buffer_of(old), 0};
  join(n, old);
}

/// An operand of an elementwise kernel that is read nowhere else from now on, each element where the result has its own.
node* placement::find_operand(const node* n, std::size_t kernel) {
  const kernel_plan& plan = *plan_.kernels()[kernel];
  if (plan.kind != plan_kind::elementwise) return nullptr;
  for (const input_slot& s : plan.inputs) {
    node* const old = s.source;
    const planner::entry& e = plan_.known(old);
    if (e.last_reader != static_cast<std::int32_t>(kernel) || old->type != n->type || !is_released(e)) continue;
    if (old->is_leaf() && (!takes_leaves_ || old->buffer_offset != 0)) continue;
    if (is_constant(old)) continue;
    if (memory_of(old).needed != 1 || !may_take(old, n->bytes(), n->bytes(), n->memory)) continue;
    if (std::all_of(plan.inputs.begin(), plan.inputs.end(),
                    [&](const input_slot& t) { return t.source != old || reads_in_place(plan, t); }))
      return old;
  }
  return nullptr;
}

namespace {

constexpr std::ptrdiff_t searched = 64;  // memory that is no longer needed: of the latest

}  // namespace

/// Takes memory off the list of what is no longer needed.
node* placement::take_unneeded(std::vector<node*>::reverse_iterator at) {
  node* const old = *at;
  unneeded_.erase(std::next(at).base());
  return old;
}

/// Whether a much larger result is made before a node's last reader has run, for which large memory is left then.
bool placement::is_beside_larger(node* n, std::size_t kernel) {
  constexpr std::size_t looked_at = 256;  // kernels
  const auto last = static_cast<std::size_t>(plan_.known(n).last_reader);
  const std::size_t end = std::min(last + 1, kernel + looked_at), larger = 4 * n->bytes();
  for (std::size_t k = kernel + 1; k < end; ++k)
    for (const node* made : plan_.kernels()[k]->results)
      if (made->bytes() >= larger) return true;
  return false;
}

/// The smallest memory that is no longer needed and holds the result, taken off the list. What the plan releases may get
/// any, since it is there until the plan is done, unless something much larger needs it in that time; other results waste at most an
/// eighth.
node* placement::best_fit(node* n, std::size_t kernel) {
  if (unneeded_.empty()) return nullptr;
  const std::size_t least = n->bytes();
  const std::size_t most = !is_released(plan_.known(n))  ? least + least / 8
                           : is_beside_larger(n, kernel) ? 2 * least
                                                         : SIZE_MAX;
  const auto bytes = [&](node* old) { return memory_of(old).made ? memory_of(old).bytes : buffer_of(old)->bytes(); };
  const auto end = unneeded_.rbegin() + std::min(searched, std::ssize(unneeded_));
  auto best = end;
  for (auto m = unneeded_.rbegin(); m != end; ++m)
    if (may_take(*m, least, most, n->memory) && (best == end || bytes(*m) < bytes(*best))) best = m;
  return best == end ? nullptr : take_unneeded(best);
}

/// The largest memory that is no longer needed, and has yet to be allocated, where all of it is too small: arrays that grow
/// from step to step take turns in the memory of the last ones.
node* placement::largest_that_grows(const node* n) {
  const auto end = unneeded_.rbegin() + std::min(searched, std::ssize(unneeded_));
  auto best = end;
  for (auto m = unneeded_.rbegin(); m != end; ++m)
    if (may_grow(*m, n) && (best == end || memory_of(*m).bytes > memory_of(*best).bytes)) best = m;
  return best == end ? nullptr : take_unneeded(best);
}

bool placement::take_memory(node* n, std::size_t kernel) {
  if (!reuses_ || n->size() == 0 || is_constant(n)) return false;
  pass(kernel);
  node* old = best_fit(n, kernel);
  if (!old) old = find_operand(n, kernel);
  if (!old) old = largest_that_grows(n);
  if (old) give(old, n, kernel);
  return old != nullptr;
}

bool placement::reuse_base(const kernel_plan& update) {
  if (!may_overwrite(update)) return false;
  node* const base = base_of(update);
  for (node* n : update.results) put_in_memory_of(n, base);
  return true;
}

void placement::put_in_memory_of(node* n, node* resident) {
  at(n) = where(resident);
  ++memory_of(resident).references;
  join(n, resident);
}

bool placement::may_overwrite(const kernel_plan& plan) {
  node* const base = base_of(plan);
  if (!base) return false;
  const payload::update& first = plan.results[0]->update();
  if (first.in_place) return true;
  const planner::entry& e = plan_.known(base);
  const occupied& m = memory_of(base);
  const bool owned = m.made ? m.views == 0 : is_owned(buffer_of(base), m.references);
  if (!owned || !is_released(e)) return false;
  if (plan_.kernels()[static_cast<std::size_t>(e.last_reader)].get() != &plan) return false;
  return plan.reads_apart;
}

/// A node releases its operands when it becomes a leaf, or when all nodes that refer to it release it. So each comes after
/// the nodes that read it: first those that nothing pending reads.
void placement::analyse_references() {
  planner::node_table& known = plan_.known_nodes();
  const bool closed = known.walked == known.entries.size();
  if (std::exchange(known.counted, true)) {
    if (closed) return;
    for (planner::entry& e : known.entries) e.dropped = e.met = 0;
  }
  order_.resize(plan_.entries().size() + plan_.stored().size());  // each at most once, and roots
  node** end = order_.data();
  for (node* n : plan_.stored())
    if (plan_.known(n).uses == 0) *end++ = n;
  for (node** next = order_.data(); next != end; ++next) {  // grows
    node* const n = *next;
    const planner::entry& e = plan_.known(n);
    // What is held may be released meanwhile, but not whenever a plan with these counts is used.
    const bool entered = e.entered;
    const bool releases = e.stored || (closed ? !e.held && e.dropped == e.uses : is_released(e));
    const int operands = n->operand_count();
    for (int a = 0; a < operands; ++a) {
      node* const operand = n->operand(a);
      planner::entry& o = plan_.known(operand);
      if (releases) ++o.dropped;
      // References from nodes that have joined the plan are not among the uses; those nodes are first in the order.
      if (entered && ++o.met == o.uses && !operand->is_leaf()) *end++ = operand;
    }
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
