#include "ops/derivatives/node_rules.hpp"

#include <string>

#include "core/shape.hpp"
#include "graph/values/recorded_lines.hpp"
#include "ops/base/axes.hpp"
#include "ops/derivatives/element_rules.hpp"
#include "ops/derivatives/gather_rules.hpp"
#include "ops/derivatives/reduce_rules.hpp"
#include "ops/derivatives/regions.hpp"
#include "sinter/creation.hpp"
#include "sinter/derivative_error.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::ops::derivatives {

using graph::node;
using graph::node_kind;

namespace {

[[noreturn]] void refuse(const node_case& c, const std::string& what, const char* why) {
  fail<derivative_error>(c.function, what, ", of shape ", c.e.made().shape, " and dtype ", c.e.made().type,
                         ", has no derivative: ", why, graph::recorded_at(c.t, c.e.results[0]));
}

element_case case_of(const node_case& c, opcode op) {
  element_case out;
  out.op = op;
  for (std::size_t k = 0; k < c.e.operands.size() && k < out.x.size(); ++k) out.x[k] = wrap(c.e.operands[k]);
  out.y = wrap(c.e.results[0]);
  return out;
}

void require_rule(const node_case& c, opcode op, const element_rule& rule, int k) {
  if ((rule.missing >> k & 1) == 0) return;
  refuse(c, std::string(jit::name(op)) + " with respect to its argument " + std::to_string(k + 1), rule.why);
}

std::vector<ndarray> elements_backward(const node_case& c, opcode op, const ndarray& g) {
  const element_rule& rule = rule_of(op);
  std::vector<ndarray> out(c.e.operands.size());
  element_case args;
  for (int k = 0; k < static_cast<int>(out.size()); ++k) {
    if (!c.wanted(k) || (rule.zero >> k & 1) != 0) continue;
    require_rule(c, op, rule, k);
    if (!rule.backward) refuse(c, jit::name(op), rule.why ? rule.why : "it has no rule");
    if (!args.y.defined()) args = case_of(c, op);
    const graph::value& x = c.e.operands[static_cast<std::size_t>(k)];
    out[static_cast<std::size_t>(k)] = sum_to(rule.backward(args, k, g), x->shape);
  }
  return out;
}

ndarray elements_forward(const node_case& c, opcode op, std::span<const ndarray> t) {
  const element_rule& rule = rule_of(op);
  ndarray sum;
  element_case args;
  for (int k = 0; k < static_cast<int>(t.size()); ++k) {
    const ndarray& one = t[static_cast<std::size_t>(k)];
    if (!one.defined() || (rule.zero >> k & 1) != 0) continue;
    require_rule(c, op, rule, k);
    if (!rule.forward) refuse(c, jit::name(op), rule.why ? rule.why : "it has no rule");
    if (!args.y.defined()) args = case_of(c, op);
    const ndarray term = rule.forward(args, k, one);
    sum = sum.defined() ? sum + term : term;
  }
  return sum.defined() ? wrap(broadcast_value(value_of(sum), c.e.made().shape)) : sum;
}

affine_view view_of_base(const node_case& c) {
  const node& n = c.e.made();
  return {c.e.operands[0]->shape, n.shape, n.view().strides, n.view().offset};
}

// ---- update: base with a region replaced by other elements

affine_view region_of(const node_case& c) {
  const node& n = c.e.made();
  return {n.shape, c.e.operands[1]->shape, n.update().strides, n.update().offset};
}

std::vector<ndarray> update_backward(const node_case& c, const ndarray& g) {
  const affine_view region = region_of(c);
  const value all = value_of(g);
  std::vector<ndarray> out(2);
  if (c.wanted(0)) {
    const value zero = constant_of(0, all->type, all->device);
    if (const auto replaced = covered(region, all->device))
      out[0] = wrap(graph::record_map(opcode::select, all->type, all->shape, {*replaced, zero, all}));
    else out[0] = wrap(graph::record_update(all, region.strides, region.offset, broadcast_value(zero, region.shape)));
  }
  if (c.wanted(1)) out[1] = wrap(graph::record_view(all, region.shape, region.strides, region.offset));
  return out;
}

ndarray update_forward(const node_case& c, std::span<const ndarray> t) {
  const affine_view region = region_of(c);
  if (!t[0].defined()) return wrap(spread(region, value_of(t[1])));
  const value base = value_of(t[0]);
  const value fresh =
      t[1].defined() ? value_of(t[1]) : broadcast_value(constant_of(0, base->type, base->device), region.shape);
  return wrap(graph::record_update(base, region.strides, region.offset, fresh));
}

}  // namespace

ndarray sum_to(const ndarray& g, const dims& shape) {
  const value v = value_of(g);
  if (v->shape == shape) return g;
  bool reduced[core::max_rank] = {};
  bool any = false;
  const int rank = v->shape.size(), lead = rank - shape.size();
  if (lead < 0) return wrap(broadcast_value(v, shape));
  for (int a = 0; a < rank; ++a) any |= reduced[a] = a < lead || (shape[a - lead] == 1 && v->shape[a] != 1);
  const value sum =
      any ? graph::record_reduce(jit::reduce_op::sum, v->type, v, std::span(reduced, static_cast<std::size_t>(rank)))
          : v;
  // The rest of a rule may lack axes that the operand has: those of constants.
  dims kept = shape;
  bool same = true;
  for (int a = lead; a < rank; ++a) {
    kept[a - lead] = reduced[a] ? 1 : v->shape[a];
    same &= kept[a - lead] == shape[a - lead];
  }
  const value out = reshape_value(sum, kept);
  return wrap(same ? out : broadcast_value(out, shape));
}

const char* reason_without_rule(node_kind kind) {
  switch (kind) {
    case node_kind::leaf:
    case node_kind::scalar:
    case node_kind::iota: return "a constant";
    case node_kind::call: return "a kernel of the user's has no derivative but the one that custom_derivative gives it";
    default: return nullptr;
  }
}

std::vector<ndarray> backward(const node_case& c, const ndarray& g) {
  const node& n = c.e.made();
  switch (c.e.kind) {
    case node_kind::map: return elements_backward(c, n.map().op, g);
    case node_kind::random: return elements_backward(c, n.random().op, g);
    case node_kind::view: return {wrap(spread(view_of_base(c), value_of(g)))};
    case node_kind::gather: {
      std::vector<ndarray> out(2);
      out[0] = wrap(gathered_back(n, c.e.operands[0]->shape, c.e.operands[1], value_of(g)));
      return out;
    }
    case node_kind::reduce: {
      if (const char* why = reason_without_rule(n.reduce().op)) refuse(c, jit::about(n.reduce().op).name, why);
      return {reduced_back(n, wrap(c.e.operands[0]), wrap(c.e.results[0]), g)};
    }
    case node_kind::update: return update_backward(c, g);
    default: break;
  }
  const std::string name = c.e.kind == node_kind::call ? "kernel " + n.call().function->name : "a constant";
  refuse(c, name, reason_without_rule(c.e.kind));
}

ndarray forward(const node_case& c, std::span<const ndarray> t) {
  const node& n = c.e.made();
  switch (c.e.kind) {
    case node_kind::map: return elements_forward(c, n.map().op, t);
    case node_kind::random: return elements_forward(c, n.random().op, t);
    case node_kind::view: return wrap(graph::record_view(value_of(t[0]), n.shape, n.view().strides, n.view().offset));
    case node_kind::gather:
      if (!t[0].defined()) return {};
      return wrap(
          graph::record_gather(value_of(t[0]), c.e.operands[1], n.gather().axis, n.shape, n.gather().reported_axis));
    case node_kind::reduce:
      if (const char* why = reason_without_rule(n.reduce().op)) refuse(c, jit::about(n.reduce().op).name, why);
      return reduced_forward(n, wrap(c.e.operands[0]), wrap(c.e.results[0]), t[0]);
    case node_kind::update: return update_forward(c, t);
    default: break;
  }
  const std::string name = c.e.kind == node_kind::call ? "kernel " + n.call().function->name : "a constant";
  refuse(c, name, reason_without_rule(c.e.kind));
}

}  // namespace sinter::ops::derivatives
