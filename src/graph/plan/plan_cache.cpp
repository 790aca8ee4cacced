// Keeping plans, finding them by signature, and writing the nodes of another graph into them.
#include "graph/plan/plan_cache.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "graph/plan/bind.hpp"
#include "graph/values/limits.hpp"

namespace sinter::graph {

cached_plan::cached_plan(planner& made) : asked_(made.asked()), device_(made.device()) {
  made.hand_over(kernels);
  for (const node* n : made.stored()) stored_.push_back({n->mark.index, made.at(const_cast<node*>(n)).why});
  const auto runs = [](const auto& k) { return k->kind != plan_kind::alias && !k->code.code.empty(); };
  launches.resize(static_cast<std::size_t>(std::count_if(kernels.begin(), kernels.end(), runs)));
  memos_.resize(launches.size());
  std::int32_t launch = 0;
  for (const auto& k : kernels) {
    add_position(k->root);
    for (const node* n : k->results) add_position(n);
    for (const input_slot& s : k->inputs) add_position(s.source);
    k->dependencies.clear();
    k->computed.clear();
    k->reads_apart = k->kind == plan_kind::update && reads_apart(*k);
    if (!runs(k)) continue;
    jit::launch& l = launches[static_cast<std::size_t>(launch)];
    bind(*k, l);
    l.memo = &memos_[static_cast<std::size_t>(launch)];
    for (std::size_t p = 0; p < k->sources.size(); ++p)
      if (const param_source& s = k->sources[p]; s.n)
        params_.push_back({launch, static_cast<std::int32_t>(p), s.n->mark.index, s.word});
    ++launch;
  }
  note_places(made);
}

void cached_plan::note_places(const planner& made) {
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const std::vector<input_slot>& inputs = kernels[k]->inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const node* const origin = inputs[i].source->is_leaf() ? made.origin_of(inputs[i].source) : nullptr;
      if (!origin) continue;
      places_.push_back({static_cast<std::int32_t>(k), static_cast<std::int32_t>(i), origin->mark.index,
                         inputs[i].at.offset - origin->view().offset});
    }
  }
}

void cached_plan::write_nodes(const std::vector<plan_table::entry>& entries) {
  const auto node_at = [&](std::int32_t position) { return entries[static_cast<std::size_t>(position)].n; };
  const std::int32_t* next = positions_.data();
  for (const auto& k : kernels) {
    const std::int32_t root = *next++;
    k->root = root < 0 ? nullptr : node_at(root);
    for (node*& n : k->results) n = node_at(*next++);
    for (input_slot& s : k->inputs) s.source = node_at(*next++);
  }
  for (const placed_input& p : places_)
    kernels[static_cast<std::size_t>(p.kernel)]->inputs[static_cast<std::size_t>(p.input)].at.offset =
        node_at(p.origin)->view().offset + p.offset;
  for (const given_param& p : params_)
    launches[static_cast<std::size_t>(p.launch)].params[static_cast<std::size_t>(p.index)] =
        value_of({node_at(p.position), p.word});
}

/// The plan goes on with the nodes that this one has kept.
void cached_plan::store_in(planner& begun) const {
  for (const stored_node& s : stored_) begun.note_stored(begun.entries()[static_cast<std::size_t>(s.position)].n);
  begun.show(kernels);
}

void cached_plan::use_for(planner& begun) {
  begun.continue_with(nodes_);
  write_nodes(begun.entries());
  store_in(begun);
}

bool cached_plan::follow(planner& with, std::span<const value> roots) {
  if (signature_.empty() || !with.open_like(roots, nodes_, signature_)) return false;
  write_nodes(with.entries());
  store_in(with);
  return true;
}

bool cached_plan::fits_memory() const {
  if (asked_.fitting == 0 && asked_.refused == SIZE_MAX) return true;
  const std::size_t room = plan_table::room_on(device_);
  return asked_.fitting <= room && room < asked_.refused;
}

std::size_t cached_plan::bytes() const noexcept {
  std::size_t n = sizeof *this + signature_.size() * sizeof signature_[0] + nodes_count_ * sizeof(plan_table::entry);
  n += positions_.size() * sizeof positions_[0] + params_.size() * sizeof params_[0] +
       places_.size() * sizeof places_[0];
  for (const auto& k : kernels)
    n += sizeof *k + k->code.code.size() * sizeof(jit::instr) + k->inputs.size() * sizeof(input_slot) +
         k->params.size() * (sizeof(jit::scalar) + sizeof(param_source));
  for (const jit::launch& l : launches)
    n += sizeof l + (l.inputs.size() + l.outputs.size()) * sizeof(jit::operand) + l.params.size() * sizeof(jit::scalar);
  return n;
}

std::string cached_plan::contents() const {
  std::string all;
  const auto add = [&](std::int64_t n) { all.append(reinterpret_cast<const char*>(&n), sizeof n); };
  const auto add_dims = [&](const dims& d) {
    add(d.size());
    for (const std::int64_t n : d) add(n);
  };
  const auto add_operand = [&](const jit::operand& o) {
    add_dims(o.strides);
    for (const std::int64_t s : o.gather_stride) add(s);
  };
  for (const std::int32_t p : positions_) add(p);
  for (const stored_node& s : stored_) {
    add(s.position);
    add(static_cast<int>(s.why));
  }
  for (const auto& k : kernels) {
    add(static_cast<int>(k->kind));
    add(k->kept * 4 + k->reduces_last * 2 + k->unset_base);
    add(k->whole.results);
    add(k->apart);
    add(k->whole.split_lanes);
    add_dims(k->extents);
    for (const input_slot& s : k->inputs) {
      add(s.at.offset);
      add_dims(s.at.coefficients);
      add(s.raw * 2 + s.written);
    }
  }
  for (const jit::launch& l : launches) {
    l.code->append_key(all);
    add_dims(l.extents);
    add(l.kept * 2 + l.reduces_last);
    add(l.all_results);
    for (const jit::operand& o : l.inputs) add_operand(o);
    for (const jit::operand& o : l.outputs) add_operand(o);
    for (std::size_t p = 0; p < l.params.size(); ++p) {
      add(static_cast<int>(l.code->param_types[p]));
      add(l.params[p].i);
    }
  }
  return all;
}

cached_plan* plan_cache::find(std::uint64_t hash) {
  if (limits().cached_plans == 0) return nullptr;
  const auto found = plans_.find(hash);
  if (found == plans_.end()) return nullptr;
  cached_plan& p = *found->second;
  const std::span<const std::uint64_t> words = signature_.words();
  const bool equal =
      p.signature_.size() == words.size() && std::memcmp(p.signature_.data(), words.data(), words.size_bytes()) == 0;
  return equal && p.fits_memory() ? &p : nullptr;
}

namespace {

/// The plan that a thread used last.
struct recent_plan {
  std::uint64_t era = 0;
  cached_plan* plan = nullptr;
};
thread_local recent_plan recent;

}  // namespace

/// Programs evaluate the same graphs in the same order again and again: the plan that came next the last time.
cached_plan* plan_cache::expected() const noexcept {
  if (recent.era != era_ || limits().cached_plans == 0 || limits().verify_cached) return nullptr;
  cached_plan* const next = recent.plan->next_;
  return next && next->fits_memory() ? next : nullptr;
}

cached_plan& plan_cache::use(cached_plan& p) noexcept {
  if (recent.era == era_) recent.plan->next_ = &p;
  recent = {era_, &p};
  p.last_use_ = ++uses_;
  return p;
}

cached_plan& plan_cache::plan(planner& with, std::span<const value> roots) {
  if (cached_plan* const next = expected(); next && next->follow(with, roots)) [[likely]] {
    ++planning().reused;
    return use(*next);
  }
  with.open(roots);
  signature_.write(with);
  const std::uint64_t hash = signature_.hash();
  cached_plan* const known = find(hash);
  if (known && !limits().verify_cached) [[likely]] {
    ++planning().reused;
    known->use_for(with);
    return use(*known);
  }
  if (limits().verify_cached) verify(with, roots);
  const std::size_t nodes = with.entries().size();
  with.decide();
  auto made = std::make_unique<cached_plan>(with);
  if (known) {  // a test compares the two
    const std::string expected = made->contents();
    known->write_nodes(with.entries());
    ++planning().reused;
    if (known->contents() != expected) throw std::logic_error("a plan that is used again differs from a new one");
  }
  // A plan that has met other nodes is not used again: no signature is empty.
  if (with.entries().size() == nodes) {
    made->signature_.assign(signature_.words().begin(), signature_.words().end());
    made->nodes_count_ = nodes;
    with.keep_nodes_in(made->nodes_);
  }
  return use(keep(hash, std::move(made)));
}

/// For tests: walking the graph along the list of each plan says what comparing the lists does. The plan begins again.
void plan_cache::verify(planner& with, std::span<const value> roots) {
  for (const auto& [hash, p] : plans_) {
    const std::span<const std::uint64_t> words = signature_.words();
    const bool equal = std::equal(words.begin(), words.end(), p->signature_.begin(), p->signature_.end());
    const bool followed = p->follow(with, roots);
    if (followed ? !equal : equal && p->nodes_.walked == p->nodes_.entries.size())
      throw std::logic_error("a graph is not followed as its list is compared");
    with.clear();
  }
  with.open(roots);
}

cached_plan& plan_cache::keep(std::uint64_t hash, std::unique_ptr<cached_plan> made) {
  made->last_use_ = ++uses_;
  bytes_ += made->bytes();
  std::unique_ptr<cached_plan>& slot = plans_[hash];
  if (slot) {
    bytes_ -= slot->bytes();
    forget_order();
  }
  slot = std::move(made);
  cached_plan& kept = *slot;
  if (plans_.size() > limits().cached_plans || bytes_ > limits().cached_bytes) evict();
  return kept;
}

/// Before a plan is dropped.
void plan_cache::forget_order() noexcept {
  ++era_;
  for (const auto& [hash, p] : plans_)
    if (p) p->next_ = nullptr;
}

/// Drops the half of the plans that have not been used for the longest time; the newest one is in use.
void plan_cache::evict() {
  forget_order();
  std::vector<std::uint64_t> uses;
  for (const auto& [hash, p] : plans_) uses.push_back(p->last_use_);
  const auto middle = uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 2);
  std::nth_element(uses.begin(), middle, uses.end());
  const std::uint64_t oldest = *middle;
  bytes_ = 0;
  for (auto p = plans_.begin(); p != plans_.end();) {
    if (p->second->last_use_ < oldest) {
      p = plans_.erase(p);
    } else {
      bytes_ += p->second->bytes();
      ++p;
    }
  }
}

}  // namespace sinter::graph
