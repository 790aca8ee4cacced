// The recorded operations for all examples: each node again with the axis of examples in front.
#include <algorithm>

#include "core/shape.hpp"
#include "graph/values/record_part.hpp"
#include "jit/program/addition_order.hpp"
#include "ops/base/axes.hpp"
#include "ops/vmap/example_level.hpp"
#include "sinter/vmap_error.hpp"

namespace sinter::ops {

using graph::node;
using graph::node_kind;
namespace payload = graph::payload;

namespace {

/// As the node was recorded.
class fast_math_as {
 public:
  explicit fast_math_as(bool on) noexcept : before_(graph::fast_math()) { graph::set_fast_math(on); }
  ~fast_math_as() { graph::set_fast_math(before_); }
  fast_math_as(const fast_math_as&) = delete;
  fast_math_as& operator=(const fast_math_as&) = delete;

 private:
  bool before_;
};

dims in_front(std::int64_t first, const dims& rest) {
  dims all{first};
  for (const std::int64_t n : rest) all.push_back(n);
  return all;
}

/// A value of one shape with axes of extent 1 in front, to `rank` axes.
value with_rank(const value& v, int rank, int at) {
  const int missing = rank - v->shape.size();
  if (missing <= 0) return v;
  dims shape;
  for (int a = 0; a < at; ++a) shape.push_back(v->shape[a]);
  for (int a = 0; a < missing; ++a) shape.push_back(1);
  for (int a = at; a < v->shape.size(); ++a) shape.push_back(v->shape[a]);
  return reshape_value(v, shape);
}

/// The numbers that the order of additions follows from.
struct reduced_extents {
  bool rows = true;  // the last axis longer than 1 is reduced
  std::int64_t results = 1, elements = 1;
};
reduced_extents extents_of(const dims& shape, std::uint64_t axes) {
  reduced_extents e;
  for (int a = 0; a < shape.size(); ++a) {
    const bool reduced = (axes >> a & 1) != 0;
    (reduced ? e.elements : e.results) *= shape[a];
    if (shape[a] > 1) e.rows = reduced;
  }
  return e;
}

bool same_order(const jit::addition_order& a, const jit::addition_order& b) noexcept {
  return a.rows == b.rows && a.lanes == b.lanes && a.chunk == b.chunk && a.splits == b.splits &&
         a.split_lanes == b.split_lanes;
}

}  // namespace

value example_level::record(const node& n) {
  bool depends = false;
  for (int k = 0; k < n.operand_count() && !depends; ++k) depends = static_cast<bool>(found(n.operand(k)));
  if (!depends) return {};  // placeholders of other levels, and what depends on them alone
  if (graph::constants::has(n)) return record_as_constant(n);
  return record_operation(n);
}

/// What derivatives took for constant. An identity is a node of its own, or it would be its operand.
value example_level::record_as_constant(const node& n) {
  const graph::constants stopped;
  value all = record_operation(n);
  for (int k = 0; k < n.operand_count(); ++k)
    if (all == found(n.operand(k))) return graph::record_identity(all);
  return all;
}

value example_level::record_operation(const node& n) {
  switch (n.kind.load(std::memory_order_relaxed)) {
    case node_kind::map: return map_all(n);
    case node_kind::view: return view_all(n);
    case node_kind::gather: return gather_all(n);
    case node_kind::reduce: return reduce_all(n);
    case node_kind::call: return call_all(n);
    case node_kind::update: return update_all(n);
    case node_kind::random: return random_all(n);
    case node_kind::leaf:
    case node_kind::scalar:
    case node_kind::iota: break;  // without operands
  }
  return {};
}

value example_level::aligned(const node* operand, int rank) {
  const value& all = found(operand);
  const value one(const_cast<node*>(operand));
  if (!all) return one;  // broadcasts along the examples
  if (operand->shape.size() == rank) return all;
  value& kept = aligned_[{operand, rank}];
  if (!kept) kept = with_rank(all, rank + 1, 1);
  return kept;
}

value example_level::map_all(const node& n) {
  const fast_math_as as(n.map().fast_math);
  value operands[3];
  for (int k = 0; k < n.nargs; ++k) operands[k] = aligned(n.operand(k), n.shape.size());
  return graph::record_map(n.map().op, n.type, with_examples(count_, n.shape),
                           std::span<const value>(operands, n.nargs));
}

value example_level::view_all(const node& n) {
  const value& base = found(n.operand(0));
  return graph::record_view(base, with_examples(count_, n.shape), in_front(n.operand(0)->size(), n.view().strides),
                            n.view().offset);
}

value example_level::gather_all(const node& n) {
  const payload::gather& g = n.gather();
  const value source(n.operand(0)), index(n.operand(1));
  const value all = all_or_repeated(source);
  const value& indices = found(index.get());
  return graph::record_gather(all, indices ? indices : with_rank(index, index->shape.size() + 1, 0), g.axis + 1,
                              with_examples(count_, n.shape), g.reported_axis);
}

value example_level::reduce_all(const node& n) {
  const payload::reduce& r = n.reduce();
  const node& operand = *n.operand(0);
  const value& all = found(&operand);
  const int rank = operand.shape.size() + 1;
  bool reduced[core::max_rank + 1] = {};
  for (int a = 1; a < rank; ++a) reduced[a] = r.is_over(a - 1);
  const std::span<const bool> axes(reduced, static_cast<std::size_t>(rank));
  // In the order of an example's own reduction.
  const reduced_extents one = extents_of(operand.shape, r.axes), many = extents_of(all->shape, r.axes << 1);
  const std::int64_t results = r.whole.results > 0 ? r.whole.results : one.results;
  if (many.elements > 1 && many.results > 0 &&
      !same_order(jit::order_of_additions(one.rows, results, one.elements),
                  jit::order_of_additions(many.rows, many.results, many.elements)))
    return graph::record_part_of_reduce(r.op, r.combine, n.type, all, axes, {.results = results});
  return r.combine ? graph::record_reduce(r.combine, all, axes) : graph::record_reduce(r.op, n.type, all, axes);
}

value example_level::call_all(const node& n) {
  const payload::call& c = n.call();
  for (int k = 0; k < n.operand_count(); ++k)
    if (graph::reads_raw(n, k) && found(n.operand(k))) return call_in_turn(n);
  if (graph::unfusible(n)) return call_in_turn(n);
  const fast_math_as as(c.fast_math);
  std::vector<value> operands;
  for (int k = 0; k < n.operand_count(); ++k)
    operands.push_back(graph::reads_raw(n, k) ? value(n.operand(k)) : aligned(n.operand(k), n.shape.size()));
  return graph::record_call(c.function, c.output, with_examples(count_, n.shape), std::move(operands));
}

// Text that reads an example's whole array by index, or has a loop around it, is a text about one example.
value example_level::call_in_turn(const node& n) {
  const payload::call& c = n.call();
  if (n.opaque)
    fail<vmap_error>("vmap", c.function->name, " has raw arrays and a result of a preamble's type: no rule");
  const fast_math_as as(c.fast_math);
  std::vector<value> each;
  for (std::int64_t k = 0; k < count_; ++k) {
    std::vector<value> operands;
    for (int j = 0; j < n.operand_count(); ++j) operands.push_back(example_of(value(n.operand(j)), k));
    each.push_back(graph::record_call(c.function, c.output, n.shape, std::move(operands)));
  }
  return stacked_in_front(each, n.shape, n.type, n.device);
}

value example_level::update_all(const node& n) {
  const payload::update& u = n.update();
  const value base = all_or_repeated(value(n.operand(0))), rhs = all_or_repeated(value(n.operand(1)));
  return graph::record_update(base, in_front(n.size(), u.strides), u.offset, rhs);
}

// Draws of one example are those of draw(), so that none depends on a placeholder.
value example_level::random_all(const node&) {
  fail<vmap_error>("vmap", "a draw that was recorded outside of its vmap");
}

// ---- Random numbers: each example has a stream of its own

graph::random_stream stream_of_examples(const graph::random_stream& stream) noexcept {
  // The key of all examples' streams: SplitMix64's finalizer over the draw's place in its generator.
  const auto mixed = [](std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
  };
  return {.key = mixed(mixed(mixed(stream.key) ^ stream.block) ^ stream.subsequence), .block = 0, .subsequence = 0};
}

namespace {

/// A draw of `count` examples; parameters broadcast to the shape, which has the axis of examples in front. Examples begin
/// at multiples of four elements, so at a fresh block.
value draw_all(opcode op, dtype type, std::int64_t count, const dims& shape, const graph::random_stream& stream,
               std::span<const value> parameters, runtime::device_id device) {
  const std::int64_t size = core::element_count(shape), padded = (size + 3) / 4 * 4;
  const dims all = with_examples(count, shape);
  if (padded == size) return graph::record_draw(op, type, all, stream, parameters, device);
  // Parameters lie at their elements, whose places are those of a padded row.
  std::vector<value> flat;
  for (const value& p : parameters) {
    const value whole = reshape_value(broadcast_value(p, all), dims{count, size});
    const value rows = graph::record_scalar(scalar_of(1, p->type, "vmap"), p->type, dims{count, padded}, device);
    flat.push_back(graph::record_update(rows, dims{padded, 1}, 0, whole));
  }
  const value drawn = graph::record_draw(op, type, dims{count, padded}, stream, flat, device);
  return graph::record_view(drawn, all, in_front(padded, core::contiguous_strides(shape)), 0);
}

}  // namespace

value example_level::draw(opcode op, dtype type, const dims& shape, const graph::random_stream& stream,
                          std::span<const value> parameters, runtime::device_id device) {
  const scope outside(outer_);
  std::vector<value> all;
  for (const value& p : parameters) {
    const value every = all_of(p);
    all.push_back(every ? with_rank(every, shape.size() + 1, 1) : p);
  }
  return enter(draw_all(op, type, count_, shape, stream_of_examples(stream), all, device));
}

}  // namespace sinter::ops
