// The nodes of a plan: which are stored, and the cost of computing them inline.
#include "graph/plan/table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "graph/plan/forms/index_data.hpp"
#include "graph/values/example.hpp"
#include "graph/values/limits.hpp"

namespace sinter::graph {
std::uint64_t next_epoch() noexcept {
  static std::uint64_t epoch = 0;
  return ++epoch;
}

scalar_numbers::slot& scalar_numbers::find(dtype type, std::uint64_t first, std::uint64_t second) noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t k = (first ^ second * 3 ^ static_cast<std::uint64_t>(type) << 7) * 0x9e3779b97f4a7c15ull >> 32 & mask;
  while (slots_[k].epoch == epoch_ &&
         !(slots_[k].first == first && slots_[k].second == second && slots_[k].type == type))
    k = (k + 1) & mask;
  return slots_[k];
}

void scalar_numbers::grow() {
  constexpr std::size_t fewest = 16;
  std::vector<slot> before(std::max(fewest, slots_.size() * 2));
  before.swap(slots_);
  for (const slot& s : before)
    if (s.epoch == epoch_) find(s.type, s.first, s.second) = s;
}

std::int32_t scalar_numbers::number_of(dtype type, const jit::scalar& s) {
  if (static_cast<std::size_t>(count_) * 2 >= slots_.size()) grow();
  const std::uint64_t second = is_complex(type) ? std::bit_cast<std::uint64_t>(s.f[1]) : 0;
  slot& found = find(type, s.u, second);
  if (found.epoch != epoch_) found = {epoch_, s.u, second, type, count_++};
  return found.number;
}

void plan_table::begin(std::span<const value> roots) {
  device_ = roots[0]->device;
  epoch_ = next_epoch();
  for (const value& r : roots)
    if (!r->is_leaf()) materialise(r.get(), store_reason::requested);
  for (const value& r : roots)
    if (!r->is_leaf()) enter_pending(at(r.get()));
  for (std::size_t k = 0; k < pending_.size(); ++k) {  // grows
    node* const n = pending_[k];
    if (is_example(*n)) [[unlikely]]
      refuse_example();
    const int operands = n->operand_count();
    for (int a = 0; a < operands; ++a) {
      node* const operand = n->operand(a);
      entry& e = at(operand);
      ++e.uses;
      if (!e.entered && !operand->is_leaf()) enter_pending(e);
    }
  }
  asked_ = {};
  known_.fixed = depends_on_order();
  known_.ordered = known_.fixed ? pending_.size() : 0;
  known_.walked = known_.entries.size();
  for (std::size_t k = 0; k < known_.entries.size(); ++k) note_state(known_.entries[k].n);  // grows
  known_.readers = readers_.size();
}

void plan_table::continue_with(node_table& kept) noexcept {
  for (std::size_t k = 0; k < known_.entries.size(); ++k) kept.entries[k].n = known_.entries[k].n;
  std::swap(known_, kept);
  keep_nodes_in(kept);
  stored_.clear();
}

void plan_table::note_state(node* n) {
  const node_kind kind = n->kind.load(std::memory_order_relaxed);
  if (kind == node_kind::leaf) return;
  entry& e = at(n);
  const node_state now = state_of(e);
  e.held = now.held;
  e.alone = now.alone;
  e.assigned = now.assigned;
  if (kind == node_kind::scalar) {
    e.scalar = scalars_.number_of(n->type, n->scalar().constant);
  } else if (kind == node_kind::reduce) {
    find_readers(n);
  } else if (kind == node_kind::view) {
    note_view(e);
  } else if (kind == node_kind::call) {
    known_.fixed = true;
    for (const value& target : n->call().targets) at(target.get());
  }
}

void plan_table::note_view(const entry& view) noexcept {
  const node* const base = view.n->args[0].get();
  if (view.stored || !base->is_leaf()) return;
  entry& e = known(base);
  ++e.views;
  if (e.origin < 0) e.origin = view.n->mark.index;
}

/// The pending reductions over a reduction's operand, in whose pass they may be computed. Those that were not requested
/// become part of the table.
void plan_table::find_readers(node* reduction) {
  if (at(reduction).first_reader >= 0) return;
  const auto first = static_cast<std::int32_t>(readers_.size());
  for (value& r : live_readers(reduction)) {
    if (r->is_leaf()) continue;
    readers_.push_back(r.get());
    if (!at(r.get()).entered) outside_.push_back(std::move(r));
  }
  const auto count = static_cast<std::int32_t>(readers_.size()) - first;
  for (std::int32_t k = first; k < first + count; ++k) {
    entry& e = at(reader(k));
    e.first_reader = first;
    e.readers = count;
  }
}

void plan_table::mark_remaining() {
  std::vector<node*> work;
  const auto mark = [&](entry& e) {
    if (std::exchange(e.remains, true) || e.stored || !e.entered) return;
    work.push_back(e.n);
  };
  for (entry& e : known_.entries) e.remains = false;
  for (entry& e : known_.entries)
    if (e.held || (e.stored && e.why == store_reason::requested)) mark(e);
  while (!work.empty()) {
    const node* const n = work.back();
    work.pop_back();
    for (int k = 0; k < n->operand_count(); ++k) mark(known(n->operand(k)));
  }
}

void plan_table::mark_inlined() {
  if (std::exchange(known_.marked, true)) return;
  std::vector<node*> work;
  const auto mark_read_by = [&](const node* n) {
    for (int k = 0; k < n->operand_count(); ++k) {
      node* const x = n->operand(k);
      if (x->is_leaf() || reads_little(n, x)) continue;
      entry& e = known(x);
      if (e.entered && !e.stored && !std::exchange(e.inlined, true)) work.push_back(x);
    }
  };
  for (entry& e : known_.entries) e.inlined = false;
  for (const entry& e : known_.entries)
    if (e.stored && e.entered && !e.n->is_leaf()) mark_read_by(e.n);
  while (!work.empty()) {
    const node* const n = work.back();
    work.pop_back();
    mark_read_by(n);
  }
  known_.inlined.clear();
  for (const entry& e : known_.entries)
    if (e.inlined && e.held && is_computed(e.n)) known_.inlined.push_back(e.n->mark.index);
}

bool plan_table::depends_on_order() const noexcept {
  const auto fewest = static_cast<std::size_t>(std::min(limits().instructions, limits().inputs));
  return pending_.size() * 2 > fewest || pending_.size() >= many_operations;
}

void plan_table::enter_pending(entry& e) {
  if (!std::exchange(e.entered, true)) pending_.push_back(e.n);
}

void plan_table::sort_pending() {
  std::sort(pending_.begin(), pending_.end(), [](const node* a, const node* b) { return a->order < b->order; });
}

void plan_table::number_from(node* n, std::uint64_t& next) {
  if (n->is_leaf() || !at(n).entered || at(n).when != 0) return;
  for (int k = 0; k < n->operand_count(); ++k) number_from(n->operand(k), next);
  at(n).when = next += 2;
}

void plan_table::number_values() {
  if (depends_on_order()) {
    for (node* n : pending_) at(n).when = 2 * n->order;
  } else {  // few nodes
    std::uint64_t next = 0;
    for (node* n : stored_) number_from(n, next);
  }
  // A reduction that was not requested comes with the one that reads the same.
  for (node* n : stored_) {
    const entry& e = at(n);
    for (std::int32_t k = e.first_reader; !e.entered && k < e.first_reader + e.readers; ++k)
      if (at(reader(k)).entered) at(n).when = at(reader(k)).when + 1;
  }
}

void plan_table::clear() {
  if (kept_) {
    known_.entries.erase(known_.entries.begin() + static_cast<std::ptrdiff_t>(kept_entries_), known_.entries.end());
    std::swap(known_, *std::exchange(kept_, nullptr));
  }
  known_.entries.clear();
  known_.inlined.clear();
  known_.marked = known_.counted = known_.read = false;
  stored_.clear();
  packed_.clear();
  pending_.clear();
  readers_.clear();
  scalars_.clear();
  outside_.clear();
}

void plan_table::store_no_more_than(std::size_t count) {
  for (std::size_t k = count; k < stored_.size(); ++k) at(stored_[k]).stored = false;
  stored_.resize(count);
}

void plan_table::forget_given_up() {
  std::erase_if(stored_, [&](node* n) { return !at(n).stored; });
  for (std::size_t k = 0; k < stored_.size(); ++k) at(stored_[k]).kernel = static_cast<std::int32_t>(k);
}

void plan_table::enter(node* n) {
  n->mark.epoch = epoch_;
  n->mark.index = static_cast<std::int32_t>(known_.entries.size());
  known_.entries.emplace_back(n);
}

void plan_table::materialise(node* n, store_reason why) {
  entry& e = at(n);
  if (e.stored) return;
  e.stored = true;
  e.why = why;
  e.kernel = static_cast<std::int32_t>(stored_.size());
  stored_.push_back(n);
}

node* plan_table::find_packed(const node* view) {
  const payload::view& mine = view->view();
  for (node* other : packed_) {
    const payload::view& its = other->view();
    if (other != view && at(other).stored && other->args[0].get() == view->args[0].get() &&
        other->shape == view->shape && its.strides == mine.strides && its.offset == mine.offset)
      return other;
  }
  return nullptr;
}

node* plan_table::pack(node* view) {
  if (node* const other = find_packed(view)) return other;
  materialise(view, store_reason::packed);
  packed_.push_back(view);
  return view;
}

std::int32_t plan_table::inline_weight(node* n) {
  constexpr std::int32_t heavy = 1000;
  if (n->is_leaf()) return 0;
  entry& known = at(n);
  if (known.stored) return 0;
  if (known.weight >= 0) return known.weight;
  std::int32_t w = 0;
  switch (n->kind.load(std::memory_order_relaxed)) {
    case node_kind::map: w = jit::weight(n->map().op); break;
    case node_kind::random: w = jit::weight(n->random().op); break;
    case node_kind::call: w = jit::weight(jit::opcode::user); break;
    case node_kind::gather: w = 4; break;
    case node_kind::reduce:
      if (!is_short(n)) w = heavy;
      break;
    case node_kind::update: w = heavy; break;
    default: break;
  }
  for (int k = 0; k < n->operand_count() && w < heavy; ++k)
    if (!reads_raw(*n, k)) w += inline_weight(n->operand(k));
  if (w < heavy && n->kind == node_kind::reduce) {  // each element, and a load more for each after the first
    const auto elements = static_cast<std::int32_t>(reduced_elements(*n));
    w = w * elements + joining_weight(*n) + elements - 1;
  }
  at(n).weight = std::min(w, heavy);
  return at(n).weight;
}

double plan_table::inline_cost(node* n) {
  constexpr double most = 1e6;
  const double read = price_on(n->device).read;
  entry& known = at(n);
  if (n->is_leaf() || known.stored) return read;
  if (known.again >= 0) return known.again;
  const node_kind kind = n->kind.load(std::memory_order_relaxed);
  double cost = own_weight(n);
  if (kind == node_kind::update || (kind == node_kind::reduce && !is_short(n))) cost = most;
  if (kind == node_kind::scalar || kind == node_kind::iota) cost = 0;
  const double times = kind == node_kind::reduce && cost < most ? static_cast<double>(reduced_elements(*n)) : 1;
  for (int k = 0; k < n->operand_count() && cost < most; ++k)
    if (!reads_raw(*n, k)) cost += times * inline_cost(n->operand(k));
  return at(n).again = std::min(cost, most);
}

bool plan_table::is_better_stored_for(node* n, std::int64_t read_over, bool by_indices) {
  constexpr double narrow = 40;  // on the host numbers of fewer bytes than four are looked up one by one
  const auto is_narrow = [](const node* x) { return itemsize(x->type) < 4; };
  const device_price price = price_on(n->device);
  double again = inline_cost(n) - price.read;
  if (by_indices && !is_data(n)) return false;  // what follows from positions is not looked up otherwise
  if (by_indices && n->device.kind == runtime::device_kind::cpu) {
    if (is_narrow(n)) again -= narrow;
    for (int k = 0; k < n->operand_count(); ++k)
      if (is_stored(n->operand(k)) && is_narrow(n->operand(k))) again += narrow;
  }
  return static_cast<double>(read_over - n->size()) * again > 2 * price_of_moving(n->device, n->bytes()) + price.launch;
}

bool plan_table::fits_memory(const node* n) {
  const std::size_t bytes = n->bytes();
  const bool fits = bytes <= room_on(device_);
  if (fits) asked_.fitting = std::max(asked_.fitting, bytes);
  else asked_.refused = std::min(asked_.refused, bytes);
  return fits;
}

bool plan_table::worth_storing(node* n) {
  if (!fits_memory(n)) return false;
  const std::size_t bytes = n->bytes();
  std::size_t inputs = 0;
  std::vector<node*> pending{n};
  const std::uint64_t mark = begin_search();
  while (!pending.empty()) {
    node* const x = pending.back();
    pending.pop_back();
    if (std::exchange(at(x).search, mark) == mark) continue;
    // A draw that is needed again is worth keeping whatever its operands are.
    if (x->is_leaf() || x->kind == node_kind::random || (x != n && at(x).stored))
      inputs += static_cast<std::size_t>(x->size()) * itemsize(x->type);
    else
      for (int k = 0; k < x->operand_count(); ++k) pending.push_back(x->operand(k));
    if (bytes <= 4 * inputs) return true;
  }
  return bytes <= 4 * inputs;
}

}  // namespace sinter::graph
