// The list of numbers that stands for a graph: its settings, then each node of the plan's table.
#include "graph/plan/forms/magnitude.hpp"
#include "graph/plan/plan_cache.hpp"
#include "graph/values/limits.hpp"
#include "jit/program/index_check.hpp"

namespace sinter::graph {
namespace {

std::uint64_t pair_of(std::int64_t low, std::int64_t high) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(low)) | static_cast<std::uint64_t>(high) << 32;
}

/// A node's position in the table: every operand of a pending node has been entered.
std::uint64_t position(const node* n) noexcept { return static_cast<std::uint64_t>(n->mark.index); }

std::uint64_t flags_of(const plan_table::entry& e) noexcept {
  const node& n = *e.n;
  const auto bit = [](bool f, int place) { return static_cast<std::uint64_t>(f) << place; };
  return bit(n.opaque, 5) | bit(n.over_reduction, 4) | bit(n.evaluated_before.load(std::memory_order_relaxed), 3) |
         bit(e.held, 2) | bit(e.alone, 1) | bit(e.assigned, 0);
}

std::uint64_t address_of(const void* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

}  // namespace

/// Writes where there is room, for which it is asked once for a node: nothing is tested for each word.
class signature::writer {
 public:
  writer(const plan_table& plan, std::vector<std::uint64_t>& memory) noexcept
      : plan_(plan), memory_(memory), to_(memory.data()), end_(to_ + memory.size()) {}
  /// Makes room for so many words.
  void reserve(std::size_t words) {
    if (static_cast<std::size_t>(end_ - to_) < words) [[unlikely]]
      grow(words);
  }
  void add(std::uint64_t word) noexcept { *to_++ = word; }
  void add(std::int64_t number) noexcept { add(static_cast<std::uint64_t>(number)); }
  void add(const dims& all) noexcept {
    for (const std::int64_t n : all) add(n);
  }
  void add_settings();
  void add_node(const plan_table::entry& e);
  void add_order();
  std::size_t count() const noexcept { return static_cast<std::size_t>(to_ - memory_.data()); }

 private:
  void grow(std::size_t words) {
    const std::size_t done = count();
    memory_.resize(2 * (done + words));
    to_ = memory_.data() + done;
    end_ = memory_.data() + memory_.size();
  }
  void add_payload(const plan_table::entry& e, node_kind kind) noexcept;
  /// Captures are told apart, but steps that are captured one after the other have the same plans: 0: none.
  std::int64_t number_of_capture(std::uint32_t capture) noexcept {
    if (capture == 0) return 0;
    if (first_capture_ == 0) first_capture_ = capture;
    return capture == first_capture_ ? 1 : 2 + std::int64_t{capture};
  }

  /// Where a view begins: from where the first view of that leaf does, if that is all that matters.
  std::int64_t place_of(const node& view) const noexcept {
    const node* const base = view.args[0].get();
    const node* const origin = base->is_leaf() ? plan_.origin_of(base) : nullptr;
    return view.view().offset - (origin ? origin->view().offset : 0);
  }

  std::uint32_t first_capture_ = 0;
  const plan_table& plan_;
  std::vector<std::uint64_t>& memory_;
  std::uint64_t *to_, *end_;
};

void signature::write(const plan_table& plan) {
  writer w(plan, memory_);
  w.add_settings();
  for (const plan_table::entry& e : plan.entries()) w.add_node(e);
  w.add_order();
  count_ = w.count();
}

void signature::writer::add_settings() {
  const planner_limits& l = limits();
  const runtime::device_id device = plan_.device();
  reserve(6);
  add(pair_of(l.instructions, l.inputs));
  add(pair_of(l.outputs, l.expensive));
  add(pair_of(l.smaller, (l.fuse ? 1 : 0) | (jit::checks_index() ? 2 : 0)));
  add(pair_of(static_cast<int>(device.kind), device.index));
  add(runtime::planning_settings.load(std::memory_order_relaxed));
  add(pair_of(static_cast<std::int64_t>(plan_.entries().size()), static_cast<std::int64_t>(plan_.stored().size())));
}

void signature::writer::add_order() {
  reserve(plan_.readers().size() + plan_.pending().size());
  for (const node* n : plan_.readers()) add(position(n));
  if (!plan_.depends_on_order()) return;
  const std::uint64_t newest = plan_.pending()[0]->order;
  for (const node* n : plan_.pending()) add(newest - n->order);
}

/// The first word says how many follow.
inline void signature::writer::add_node(const plan_table::entry& e) {
  constexpr std::size_t most = 16 + 2 * core::max_rank;  // without operands and targets of calls: extents and strides
  const node& n = *e.n;
  const node_kind kind = n.kind.load(std::memory_order_relaxed);
  const int operands = n.operand_count();
  reserve(kind == node_kind::call ? most + n.call().operands.size() + n.call().targets.size() : most);
  add(static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(n.type) << 8 |
      static_cast<std::uint64_t>(n.shape.size()) << 16 | static_cast<std::uint64_t>(operands) << 32 |
      (kind == node_kind::leaf ? 0 : flags_of(e) << 24));
  add(n.shape);
  if (kind == node_kind::leaf) return;
  const auto at = [&](int k) { return position(n.nargs != 0 ? n.args[k].get() : n.operand(k)); };
  for (int k = 0; k < operands; k += 2) add(at(k) | (k + 1 < operands ? at(k + 1) << 32 : 0));
  add_payload(e, kind);
}

inline void signature::writer::add_payload(const plan_table::entry& e, node_kind kind) noexcept {
  const node& n = *e.n;
  switch (kind) {
    case node_kind::leaf: break;
    case node_kind::scalar: add(pair_of(e.scalar, magnitude_of(n))); break;
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
      add(static_cast<std::uint64_t>(n.call().targets.size()));
      for (const value& target : n.call().targets) add(position(target.get()));
      break;
    case node_kind::update:
      add(std::int64_t{n.update().strides.size()});
      add(n.update().strides);
      add(n.update().offset);
      add(std::int64_t{n.update().in_place});
      break;
  }
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
