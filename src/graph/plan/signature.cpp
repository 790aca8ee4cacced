// The list of numbers that stands for a graph: its settings, then each node of the plan's table. It is written, or compared with one
// that was.
#include "graph/plan/forms/magnitude.hpp"
#include "graph/plan/plan_cache.hpp"
#include "graph/values/example.hpp"
#include "graph/values/limits.hpp"
#include "jit/program/index_check.hpp"

namespace sinter::graph {
namespace {

std::uint64_t pair_of(std::int64_t low, std::int64_t high) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(low)) | static_cast<std::uint64_t>(high) << 32;
}

std::uint64_t address_of(const void* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

using node_state = plan_table::node_state;

/// The words of nodes. They go to a `Target`, which knows the nodes' positions and their state.
template <class Target>
class node_list {
 public:
  node_list(const plan_table& plan, const plan_table::node_table& known, Target& to) noexcept
      : plan_(plan), known_(known), to_(to) {}
  void add_settings(std::size_t nodes, std::size_t stored);
  void add_node(const plan_table::entry& e);
  std::uint64_t flags_of(const plan_table::entry& e) noexcept {
    const node& n = *e.n;
    const auto bit = [](bool f, int place) { return static_cast<std::uint64_t>(f) << place; };
    const node_state s = to_.state_of(e);
    return bit(n.opaque, 5) | bit(n.over_reduction(), 4) | bit(n.evaluated_before.load(std::memory_order_relaxed), 3) |
           bit(s.held, 2) | bit(s.alone, 1) | bit(s.assigned, 0);
  }

 private:
  void add(std::uint64_t word) noexcept { to_.add(word); }
  void add(std::int64_t number) noexcept { to_.add(static_cast<std::uint64_t>(number)); }
  void add(const dims& all) noexcept { to_.add(all); }
  void add_payload(const plan_table::entry& e, node_kind kind);
  /// Captures are told apart, but steps that are captured one after the other have the same plans: 0: none.
  std::int64_t number_of_capture(std::uint32_t capture) noexcept {
    if (capture == 0) return 0;
    if (first_capture_ == 0) first_capture_ = capture;
    return capture == first_capture_ ? 1 : 2 + std::int64_t{capture};
  }

  /// Where a view begins: from where the first view of that leaf does, if that is all that matters.
  std::int64_t place_of(const node& view) const noexcept {
    const node* const base = view.args[0].get();
    const node* const origin = base->is_leaf() ? plan_table::origin_of(base, known_) : nullptr;
    return view.view().offset - (origin ? origin->view().offset : 0);
  }

  std::uint32_t first_capture_ = 0;
  const plan_table& plan_;
  const plan_table::node_table& known_;
  Target& to_;
};

template <class Target>
void node_list<Target>::add_settings(std::size_t nodes, std::size_t stored) {
  const planner_limits& l = limits();
  const runtime::device_id device = plan_.device();
  to_.reserve(6);
  add(pair_of(l.instructions, l.inputs));
  add(pair_of(l.outputs, l.expensive));
  add(pair_of(l.smaller, (l.fuse ? 1 : 0) | (jit::checks_index() ? 2 : 0)));
  add(pair_of(static_cast<int>(device.kind), device.index));
  add(runtime::planning_settings.load(std::memory_order_relaxed));
  add(pair_of(static_cast<std::int64_t>(nodes), static_cast<std::int64_t>(stored)));
}

/// The first word says how many follow, with those that are added by begins().
template <class Target>
[[gnu::always_inline]] inline void node_list<Target>::add_node(const plan_table::entry& e) {
  constexpr std::size_t most = 16 + 2 * core::max_rank;  // without operands and targets of calls: extents and strides
  const node& n = *e.n;
  const node_kind kind = n.kind.load(std::memory_order_relaxed);
  const int operands = n.operand_count();
  to_.reserve(kind == node_kind::call ? most + n.call().operands.size() + n.call().targets.size() : most);
  if (!to_.begins(static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(n.type) << 8 |
                  static_cast<std::uint64_t>(n.shape.size()) << 16 | static_cast<std::uint64_t>(operands) << 32 |
                  (kind == node_kind::leaf ? 0 : flags_of(e) << 24)))
    return;
  add(n.shape);
  if (kind == node_kind::leaf) return;
  const auto at = [&](int k) { return to_.position(n.nargs != 0 ? n.args[k].get() : n.operand(k)); };
  for (int k = 0; k < operands; k += 2) {
    const std::uint64_t first = at(k);
    add(first | (k + 1 < operands ? at(k + 1) << 32 : 0));
  }
  if (to_.agrees()) add_payload(e, kind);  // else an operand may have no position in this table
}

template <class Target>
[[gnu::always_inline]] inline void node_list<Target>::add_payload(const plan_table::entry& e, node_kind kind) {
  const node& n = *e.n;
  switch (kind) {
    case node_kind::leaf: break;
    case node_kind::scalar: add(pair_of(to_.number_of_scalar(e), magnitude_of(n))); break;
    case node_kind::iota: add(std::int64_t{n.iota().axis}); break;
    case node_kind::map: add(pair_of(static_cast<int>(n.map().op), n.map().fast_math)); break;
    case node_kind::random: add(std::int64_t{static_cast<int>(n.random().op)}); break;
    case node_kind::view:
      add(n.view().strides);
      add(place_of(n));
      break;
    case node_kind::gather: add(pair_of(n.gather().axis, n.gather().reported_axis)); break;
    case node_kind::reduce:
      add(pair_of(static_cast<int>(n.reduce().op), number_of_capture(n.capture)));
      add(n.reduce().axes);
      add(address_of(n.reduce().combine));
      add(n.reduce().whole.results);
      add(std::int64_t{n.reduce().whole.split_lanes});
      add(pair_of(e.first_reader, e.readers));
      break;
    case node_kind::call:
      add(address_of(n.call().function));
      add(pair_of(n.call().output, (n.call().for_effects ? 1 : 0) | (n.call().fast_math ? 2 : 0)));
      if (!to_.begins(n.call().targets.size())) return;
      for (const value& target : n.call().targets) add(to_.position(target.get()));
      break;
    case node_kind::update:
      if (!to_.begins(static_cast<std::uint64_t>(n.update().strides.size()))) return;
      add(n.update().strides);
      add(n.update().offset);
      add(std::int64_t{n.update().in_place});
      break;
  }
}

}  // namespace

/// Writes where there is room, for which it is asked once for a node: nothing is tested for each word.
class signature::writer {
 public:
  explicit writer(std::vector<std::uint64_t>& memory) noexcept
      : memory_(memory), to_(memory.data()), end_(to_ + memory.size()) {}
  /// Makes room for so many words.
  void reserve(std::size_t words) {
    if (static_cast<std::size_t>(end_ - to_) < words) [[unlikely]]
      grow(words);
  }
  void add(std::uint64_t word) noexcept { *to_++ = word; }
  void add(const dims& all) noexcept {
    for (const std::int64_t n : all) add(static_cast<std::uint64_t>(n));
  }
  bool begins(std::uint64_t word) noexcept {
    add(word);
    return true;
  }
  static constexpr bool agrees() noexcept { return true; }
  /// Of a node that is in the table, as every operand of a pending node is.
  std::uint64_t position(const node* n) const noexcept { return static_cast<std::uint64_t>(n->mark.index); }
  node_state state_of(const plan_table::entry& e) const noexcept { return {e.held, e.alone, e.assigned}; }
  std::int32_t number_of_scalar(const plan_table::entry& e) const noexcept { return e.scalar; }
  void add_order(const plan_table& plan);
  std::size_t count() const noexcept { return static_cast<std::size_t>(to_ - memory_.data()); }

 private:
  void grow(std::size_t words) {
    const std::size_t done = count();
    memory_.resize(2 * (done + words));
    to_ = memory_.data() + done;
    end_ = memory_.data() + memory_.size();
  }

  std::vector<std::uint64_t>& memory_;
  std::uint64_t *to_, *end_;
};

void signature::writer::add_order(const plan_table& plan) {
  reserve(plan.readers().size() + plan.pending().size());
  for (const node* n : plan.readers()) add(position(n));
  if (!plan.depends_on_order()) return;
  const std::uint64_t newest = plan.pending()[0]->order;
  for (const node* n : plan.pending()) add(newest - n->order);
}

void signature::write(const plan_table& plan) {
  writer w(memory_);
  node_list list(plan, plan.known_nodes(), w);
  list.add_settings(plan.entries().size(), plan.stored().size());
  for (const plan_table::entry& e : plan.entries()) list.add_node(e);
  w.add_order(plan);
  count_ = w.count();
}

/// Numbers the nodes as plan_table::begin() does, and compares. After a difference nothing more is read.
///
/// All of it is inline: what changes with each word stays in registers.
class follower {
 public:
  follower(plan_table& plan, std::span<const std::uint64_t> words) noexcept
      : plan_(plan),
        entries_(plan.known_.entries.data()),
        end_(plan.known_.entries.size()),
        epoch_(plan.epoch_),
        at_(words.data()),
        orders_(words.data() + words.size() - plan.known_.ordered) {}
  [[gnu::always_inline]] bool run(std::span<const value> roots) {
    const plan_table::node_table& known = plan_.known_;
    for (const value& r : roots)
      if (!r->is_leaf()) position(r.get());
    node_list list(plan_, known, *this);
    list.add_settings(end_, count_);
    const bool ordered = known.ordered != 0;
    const std::uint64_t newest = entries_[0].n->order;
    for (std::size_t k = 0; k < count_; ++k) {  // grows
      const plan_table::entry& e = entries_[k];
      if (is_pair(*e.n)) [[likely]]
        add_pair(*e.n, list.flags_of(e));
      else list.add_node(e);
      if (differs_ != 0) return false;
      if (e.n->kind.load(std::memory_order_relaxed) == node_kind::leaf) continue;
      if (is_example(*e.n)) [[unlikely]]
        return false;
      if (ordered) differs_ |= (newest - e.n->order) ^ *orders_++;
    }
    return differs_ == 0 && count_ == end_ && has_readers(plan_, at_);
  }

  void reserve(std::size_t) const noexcept {}
  [[gnu::always_inline]] void add(std::uint64_t word) noexcept { differs_ |= word ^ *at_++; }
  [[gnu::always_inline]] void add(const dims& all) noexcept {
    for (const std::int64_t n : all) {
      if (static_cast<std::uint64_t>(n) == *at_++) [[likely]]
        continue;
      differs_ = 1;
      break;  // as it is, no vectors are made of two words
    }
  }
  [[gnu::always_inline]] bool begins(std::uint64_t word) noexcept {
    add(word);
    return agrees();
  }
  bool agrees() const noexcept { return differs_ == 0; }
  [[gnu::always_inline]] std::uint64_t position(node* n) noexcept {
    if (n->mark.epoch != epoch_) {
      if (count_ == end_) [[unlikely]] {
        differs_ = 1;
        return 0;
      }
      n->mark.epoch = epoch_;
      n->mark.index = static_cast<std::int32_t>(count_);
      entries_[count_++].n = n;
    }
    return static_cast<std::uint64_t>(n->mark.index);
  }
  node_state state_of(const plan_table::entry& e) const noexcept { return plan_table::state_of(e); }
  std::int32_t number_of_scalar(const plan_table::entry& e) {
    return plan_.scalars_.number_of(e.n->type, e.n->scalar().constant);
  }

  /// An operation of two operands, as most are: what node_list::add_node does, in one pass.
  static bool is_pair(const node& n) noexcept {
    return n.kind.load(std::memory_order_relaxed) == node_kind::map && n.nargs == 2;
  }
  [[gnu::always_inline]] void add_pair(const node& n, std::uint64_t flags) noexcept {
    const std::uint64_t* const words = at_;
    const int rank = n.shape.size();
    differs_ |= words[0] ^ (static_cast<std::uint64_t>(node_kind::map) | static_cast<std::uint64_t>(n.type) << 8 |
                            static_cast<std::uint64_t>(rank) << 16 | std::uint64_t{2} << 32 | flags << 24);
    if (differs_ != 0) [[unlikely]]
      return;
    const std::int64_t* const extents = n.shape.data();
    std::uint64_t differs = 0;
    for (int a = 0; a < rank; ++a) differs |= static_cast<std::uint64_t>(extents[a]) ^ words[1 + a];
    const std::uint64_t first = position(n.args[0].get()), second = position(n.args[1].get());
    differs |= words[1 + rank] ^ (first | second << 32);
    differs |= words[2 + rank] ^ pair_of(static_cast<int>(n.map().op), n.map().fast_math);
    differs_ |= differs;
    at_ = words + 3 + rank;
  }

 private:
  /// Whether the pending reductions over what the reductions here read are those that the list has.
  [[gnu::noinline]] static bool has_readers(const plan_table& plan, const std::uint64_t* positions) {
    for (std::size_t k = 0; k < plan.known_.readers;) {
      const plan_table::entry& first = plan.entries()[static_cast<std::size_t>(positions[k])];
      const auto count = static_cast<std::size_t>(first.readers);
      std::size_t found = 0;
      for (const value& r : live_readers(first.n)) {
        if (r->is_leaf()) continue;
        if (found == count || r->mark.epoch != plan.epoch_ ||
            static_cast<std::uint64_t>(r->mark.index) != positions[k + found])
          return false;
        ++found;
      }
      if (found != count) return false;
      k += found;
    }
    return true;
  }

  plan_table& plan_;
  plan_table::entry* const entries_;
  const std::size_t end_;
  const std::uint64_t epoch_;
  const std::uint64_t *at_, *orders_;
  std::uint64_t differs_ = 0;
  std::size_t count_ = 0;
};

bool plan_table::begin_like(std::span<const value> roots, node_table& kept, std::span<const std::uint64_t> words) {
  if (kept.walked != kept.entries.size()) return false;  // nodes outside of the graph are in it
  device_ = roots[0]->device;
  epoch_ = next_epoch();
  asked_ = {};
  std::swap(known_, kept);
  keep_nodes_in(kept);
  follower along(*this, words);
  const bool same = along.run(roots);
  if (!same) clear();
  return same;
}

std::uint64_t signature::hash() const noexcept {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15ull;
  constexpr std::size_t lanes = 4;  // which do not wait for each other
  std::uint64_t part[lanes] = {0, odd, odd * 3, odd * 5};
  const auto mix = [&](std::size_t lane, std::uint64_t word) {
    part[lane] = (part[lane] ^ word) * odd;
    part[lane] ^= part[lane] >> (29 + lane);
  };
  std::size_t k = 0;
  for (; k + lanes <= count_; k += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) mix(lane, memory_[k + lane]);
  for (std::size_t lane = 0; k + lane < count_; ++lane) mix(lane, memory_[k + lane]);
  return (part[0] ^ part[1] * 3 ^ part[2] * 7 ^ part[3] * 11) * odd;
}

}  // namespace sinter::graph
