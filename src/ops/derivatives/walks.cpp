#include "ops/derivatives/walks.hpp"

#include <unordered_map>
#include <utility>

#include "graph/values/recorded_lines.hpp"
#include "ops/derivatives/node_rules.hpp"
#include "ops/derivatives/opaque_rules.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"

namespace sinter::ops::derivatives {
namespace {

using graph::node;
using graph::value;

/// Derivatives of values, by node; absent: 0.
class derivative_table {
 public:
  void add(const value& v, const ndarray& d) {
    ndarray& sum = of_[v.get()];
    sum = sum.defined() ? sum + d : d;
  }
  ndarray take(const value& v) {
    const auto found = of_.find(v.get());
    if (found == of_.end()) return {};
    ndarray d = std::move(found->second);
    of_.erase(found);
    return d;
  }
  ndarray get(const value& v) const {
    const auto found = of_.find(v.get());
    return found == of_.end() ? ndarray() : found->second;
  }
  bool empty() const { return of_.empty(); }

 private:
  std::unordered_map<const node*, ndarray> of_;
};

std::vector<ndarray> entry_backward(const graph::trace& t, const graph::trace::entry& e,
                                    const std::vector<ndarray>& g) {
  if (!e.call) return backward({t, e, t.function()}, g[0]);
  return opaque_backward({t, e, t.function()}, g);
}

std::vector<ndarray> entry_forward(const graph::trace& t, const graph::trace::entry& e,
                                   const std::vector<ndarray>& tangents) {
  if (!e.call) return {forward({t, e, t.function()}, tangents)};
  return opaque_forward({t, e, t.function()}, tangents);
}

}  // namespace

ndarray zeros_of(const ndarray& x) { return zeros(x.shape(), {.dtype = x.dtype(), .device = x.device()}); }

traced_function::traced_function(const char* function, const array_function& f, std::span<const ndarray> x)
    : trace_(std::make_unique<graph::trace>(function, graph::trace_filter::inexact)) {
  trace_interceptor listener(*trace_);
  const interceptor_scope scope(listener);
  std::vector<ndarray> inputs;
  for (const ndarray& one : x) inputs.push_back(wrap(trace_->enter(value_of(one, function))));
  results_ = f(inputs);
  for (const ndarray& r : results_) values_.push_back(r.defined() ? value_of(r, function) : value());
  trace_->end();
}

std::string traced_function::recorded_at(std::size_t k) const {
  return values_[k] ? graph::recorded_at(*trace_, values_[k]) : std::string();
}

std::vector<ndarray> traced_function::backward(std::span<const ndarray> cotangents) const {
  derivative_table table;
  for (std::size_t k = 0; k < values_.size(); ++k)
    if (values_[k] && cotangents[k].defined() && trace_->has(values_[k])) table.add(values_[k], cotangents[k]);
  const auto entries = trace_->entries();
  for (std::size_t k = entries.size(); k-- > 0 && !table.empty();) {
    const graph::trace::entry& e = entries[k];
    std::vector<ndarray> g;
    bool any = false;
    for (const value& r : e.results) {
      g.push_back(r ? table.take(r) : ndarray());
      any |= g.back().defined();
    }
    if (!any) continue;
    const std::vector<ndarray> d = entry_backward(*trace_, e, g);
    for (std::size_t j = 0; j < d.size(); ++j)
      if (d[j].defined() && e.operands[j] && trace_->has(e.operands[j])) table.add(e.operands[j], d[j]);
  }
  std::vector<ndarray> out;
  for (const value& input : trace_->inputs()) out.push_back(table.get(input));
  return out;
}

std::vector<ndarray> traced_function::forward(std::span<const ndarray> tangents) const {
  derivative_table table;
  const auto inputs = trace_->inputs();
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (tangents[k].defined()) table.add(inputs[k], tangents[k]);
  for (const graph::trace::entry& e : trace_->entries()) {
    std::vector<ndarray> t;
    bool any = false;
    for (const value& operand : e.operands) {
      t.push_back(operand ? table.get(operand) : ndarray());
      any |= t.back().defined();
    }
    if (!any) continue;
    const std::vector<ndarray> d = entry_forward(*trace_, e, t);
    for (std::size_t j = 0; j < d.size(); ++j)
      if (d[j].defined() && e.results[j] && trace_->has(e.results[j])) table.add(e.results[j], d[j]);
  }
  std::vector<ndarray> out;
  for (const value& v : values_) out.push_back(v ? table.get(v) : ndarray());
  return out;
}

std::vector<ndarray> pulled_back(const array_function& f, std::span<const ndarray> x,
                                 std::span<const ndarray> cotangents) {
  return traced_function("grad", f, x).backward(cotangents);
}
std::vector<ndarray> pushed_forward(const array_function& f, std::span<const ndarray> x,
                                    std::span<const ndarray> tangents) {
  return traced_function("jvp", f, x).forward(tangents);
}
std::vector<ndarray> transposed(const array_function& linear, std::span<const ndarray> like,
                                std::span<const ndarray> cotangents) {
  std::vector<ndarray> at;
  for (const ndarray& x : like) at.push_back(zeros_of(x));
  return pulled_back(linear, at, cotangents);
}

}  // namespace sinter::ops::derivatives
