#include "ops/derivatives/opaque_rules.hpp"

#include <array>

#include "graph/values/recorded_lines.hpp"
#include "sinter/creation.hpp"
#include "sinter/derivative_error.hpp"
#include "sinter/elementwise.hpp"

namespace sinter::ops::derivatives {
namespace {

const traced_opaque& call_of(const node_case& c) { return static_cast<const traced_opaque&>(*c.e.call); }

opaque_case case_of(const node_case& c) {
  opaque_case out{call_of(c).call, {}, {}, {}};
  for (const graph::value& v : c.e.operands) {
    out.x.push_back(v ? wrap(v) : ndarray());
    out.wanted.push_back(v && c.t.has(v));
  }
  for (const graph::value& v : c.e.results) out.y.push_back(v ? wrap(v) : ndarray());
  return out;
}

[[noreturn]] void refuse(const node_case& c, const char* why) {
  const opaque_call& call = call_of(c).call;
  std::string line;
  for (const graph::value& r : c.e.results)
    if (r && line.empty()) line = graph::recorded_at(c.t, r);
  for (const ndarray& x : call.operands)
    if (x.defined())
      fail<derivative_error>(c.function, call.name, ", of an array of shape ", x.shape(), " and dtype ", x.dtype(),
                             ", has no derivative: ", why, line);
  fail<derivative_error>(c.function, call.name, " has no derivative: ", why, line);
}

/// A cotangent as one of the operand's shape and dtype.
ndarray fitted(ndarray g, const ndarray& x) {
  const ndarray like = x;
  if (is_complex(g.dtype()) && !is_complex(like.dtype())) g = real(g).copy();
  return sum_to(g.astype(like.dtype(), false), value_of(like)->shape);
}

/// The two directions of a rule, of the table or of the user's; each from the other where it is missing.
struct both_ways {
  const opaque_case& c;
  const opaque_rule* rule;

  bool has_forward() const { return c.call.own ? static_cast<bool>(c.call.own->forward) : rule->forward != nullptr; }
  bool has_backward() const { return c.call.own ? static_cast<bool>(c.call.own->backward) : rule->backward != nullptr; }

  std::vector<ndarray> forward(std::span<const ndarray> t) const {
    if (has_forward()) return c.call.own ? c.call.own->forward(c.x, c.y, t) : rule->forward(c, t);
    // The transpose of the backward rule: linear in the cotangents of the results.
    std::vector<ndarray> like, of_wanted;
    std::vector<std::size_t> results;
    for (std::size_t k = 0; k < c.y.size(); ++k)
      if (c.y[k].defined() && is_inexact(c.y[k].dtype())) {
        like.push_back(c.y[k]);
        results.push_back(k);
      }
    std::vector<std::size_t> moving;
    for (std::size_t k = 0; k < t.size(); ++k)
      if (t[k].defined()) {
        moving.push_back(k);
        of_wanted.push_back(t[k]);
      }
    const array_function pull = [&](std::span<const ndarray> cotangents) {
      std::vector<ndarray> all(c.y.size());
      for (std::size_t k = 0; k < results.size(); ++k) all[results[k]] = cotangents[k];
      const std::vector<ndarray> d = backward(all);
      std::vector<ndarray> out;
      for (const std::size_t k : moving) out.push_back(d[k].defined() ? fitted(d[k], c.x[k]) : d[k]);
      return out;
    };
    const std::vector<ndarray> found = transposed(pull, like, of_wanted);
    std::vector<ndarray> out(c.y.size());
    for (std::size_t k = 0; k < results.size(); ++k) out[results[k]] = found[k];
    return out;
  }

  std::vector<ndarray> backward(std::span<const ndarray> g) const {
    if (has_backward()) return c.call.own ? c.call.own->backward(c.x, c.y, g) : rule->backward(c, g);
    std::vector<ndarray> like;
    std::vector<std::size_t> moving;
    for (std::size_t k = 0; k < c.x.size(); ++k)
      if (c.wanted[k]) {
        like.push_back(c.x[k]);
        moving.push_back(k);
      }
    const array_function push = [&](std::span<const ndarray> tangents) {
      std::vector<ndarray> all(c.x.size());
      for (std::size_t k = 0; k < moving.size(); ++k) all[moving[k]] = tangents[k];
      return forward(all);
    };
    const std::vector<ndarray> found = transposed(push, like, g);
    std::vector<ndarray> out(c.x.size());
    for (std::size_t k = 0; k < moving.size(); ++k) out[moving[k]] = found[k];
    return out;
  }
};

both_ways rule_for(const node_case& c, const opaque_case& args) {
  if (args.call.own) return {args, nullptr};
  const opaque_rule* rule = find_opaque_rule(args.call.name);
  if (!rule) refuse(c, "it has no rule");
  if (rule->why) refuse(c, rule->why);
  return {args, rule};
}

}  // namespace

const opaque_rule* find_opaque_rule(std::string_view name) {
  for (const auto& list : {opaque_rules_of_order(), opaque_rules_of_selections(), opaque_rules_of_systems(),
                           opaque_rules_of_factors(), opaque_rules_of_transforms()})
    for (const opaque_rule& rule : list)
      if (name == rule.name) return &rule;
  return nullptr;
}

std::vector<ndarray> opaque_backward(const node_case& c, std::span<const ndarray> g) {
  const opaque_case args = case_of(c);
  std::vector<ndarray> out;
  try {
    out = rule_for(c, args).backward(g);
  } catch (const rule_refusal& r) {
    refuse(c, r.why);
  }
  out.resize(args.x.size());
  for (std::size_t k = 0; k < out.size(); ++k)
    if (out[k].defined()) out[k] = args.wanted[k] ? fitted(out[k], args.x[k]) : ndarray();
  return out;
}

std::vector<ndarray> opaque_forward(const node_case& c, std::span<const ndarray> t) {
  const opaque_case args = case_of(c);
  std::vector<ndarray> out;
  try {
    out = rule_for(c, args).forward(t);
  } catch (const rule_refusal& r) {
    refuse(c, r.why);
  }
  out.resize(args.y.size());
  for (std::size_t k = 0; k < out.size(); ++k)
    if (out[k].defined() && args.y[k].defined()) out[k] = out[k].astype(args.y[k].dtype(), false);
  return out;
}

}  // namespace sinter::ops::derivatives
