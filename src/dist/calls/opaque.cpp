// Which function runs how: along axes that are whole part by part, along divided ones after a redistribution or by steps of
// its own; everything on operands that are everywhere.
#include "dist/opaque.hpp"

#include <algorithm>
#include <string_view>

#include "dist/calls/opaque_parts.hpp"
#include "graph/run/flush.hpp"
#include "graph/run/mesh_hook.hpp"
#include "sinter/error.hpp"

namespace sinter::sharding {

using ops::opaque_call;

ndarray operand_parts::at(int position) const {
  return ops::wrap(shards_of(*leaf).at[static_cast<std::size_t>(position)]);
}

std::int64_t operand_parts::cost_as(const layout& to) const {
  return to == how() ? 0 : bytes_to_move(*m, how(), leaf->shape, leaf->type, parts_under(*m, to, leaf->shape));
}

operand_parts operand_parts::as(const layout& to) const {
  return to == how() ? *this : operand_parts{m, divided(*m, leaf, to)};
}

operand_parts parts_of(const ndarray& x) {
  const value v = ops::value_of(x);
  graph::flush(std::span(&v, 1));
  const mesh_state& m = mesh_of(v->device);
  const shards& s = shards_of(*v);
  return {&m, s.sum ? divided(m, v, s.how.when_made()) : v};
}

ndarray from_parts(const mesh_state& m, const layout& how, const dims& shape, dtype type,
                   const std::function<ndarray(int)>& make) {
  shards s{how, {}};
  for (int p = 0; p < m.size(); ++p) {
    const int t = m.twin(how, p);
    if (!m.is_local(p)) s.at.emplace_back();
    else s.at.push_back(t < p ? s.at[static_cast<std::size_t>(t)] : ops::value_of(make(p)));
  }
  return ops::wrap(leaf_of(m, shape, type, std::move(s)));
}

bool without_axes(const operand_parts& x, const std::vector<int>& busy, layout& how) {
  const auto is_busy = [&](int a) { return std::find(busy.begin(), busy.end(), a) != busy.end(); };
  how = x.how();
  for (const split& s : x.how().splits) {
    if (!is_busy(s.axis)) continue;
    int axis = -1;
    for (int a = 0; a < x.shape().size(); ++a)
      if (!is_busy(a) && !how.along(a) && x.shape()[a] > 1 && (axis < 0 || x.shape()[a] > x.shape()[axis])) axis = a;
    how.drop(s.axis);
    if (axis < 0) return false;
    how.add({axis, s.over, even_bounds(x.shape()[axis], s.parts())});
  }
  return true;
}

void refuse_call(const opaque_call& call, const operand_parts& x, const std::string& why, const std::string& remedy) {
  const std::string_view name = call.name;
  const std::string known = name == "true_elements"     ? "selection by a mask"
                            : name == "true_positions"  ? "nonzero"
                            : name == "ranked_elements" ? "quantile"
                            : name == "write_selection" ? "assignment by index"
                            : name == "inverses"        ? "inv"
                            : name == "solve"           ? call.text
                                                        : call.name;
  refuse_sharded(known,
                 "an operand of shape " + core::to_string(x.shape()) + " is " + placements_text(*x.m, x.how()) +
                     " on " + runtime::to_string(x.m->id()) + ", and " + why,
                 remedy);
}

namespace {

/// Operands that are everywhere: every device does all of it.
bool are_everywhere(const opaque_call& call) {
  return std::all_of(call.operands.begin(), call.operands.end(),
                     [](const ndarray& x) { return !x.defined() || parts_of(x).how().is_replicated(); });
}

}  // namespace

results run_everywhere(const opaque_call& call) {
  const ndarray* some = nullptr;
  for (const ndarray& x : call.operands)
    if (x.defined()) some = &x;
  const mesh_state& m = *parts_of(*some).m;
  std::vector<results> by_position;
  for (int p = 0; p < m.size(); ++p) {
    if (const int t = m.twin({}, p); t < p) {
      by_position.push_back(by_position[static_cast<std::size_t>(t)]);
      continue;
    }
    if (!m.is_local(p)) {
      by_position.emplace_back();
      continue;
    }
    std::vector<ndarray> local;
    for (const ndarray& x : call.operands) local.push_back(x.defined() ? parts_of(x).at(p) : x);
    by_position.push_back(call.again(local));
  }
  results out;
  const results& mine = by_position[static_cast<std::size_t>(m.first_local())];
  for (std::size_t k = 0; k < mine.size(); ++k) {
    const ndarray& first = mine[k];
    if (!first.defined()) {  // not asked for: vectors of values alone, ...
      out.emplace_back();
      continue;
    }
    out.push_back(from_parts(m, {}, ops::view_of(first, call.name).shape, first.dtype(),
                             [&](int p) { return by_position[static_cast<std::size_t>(p)][k]; }));
  }
  return out;
}

namespace {

/// Operands of one shape along axes that are whole, or made so; results with as many axes, of the same extents elsewhere.
results run_along(const opaque_call& call, const std::vector<int>& axes) {
  const operand_parts given = parts_of(call.operands[0]);
  layout how;
  if (!without_axes(given, axes, how))
    refuse_call(call, given, "there is no other axis to divide it along",
                "redistribute it with {replicate()}, where every device does all of the work, or gather it");
  const operand_parts x = given.as(how);
  std::vector<operand_parts> all{x};
  for (std::size_t k = 1; k < call.operands.size(); ++k) all.push_back(parts_of(call.operands[k]).as(how));
  std::vector<results> by_position;
  for (int p = 0; p < x.m->size(); ++p) {
    const int t = x.m->twin(how, p);
    if (!x.m->is_local(p)) {
      by_position.emplace_back();
      continue;
    }
    std::vector<ndarray> local;
    for (const operand_parts& one : all) local.push_back(one.at(p));
    by_position.push_back(t < p ? by_position[static_cast<std::size_t>(t)] : call.again(local));
  }
  results out;
  const results& mine = by_position[static_cast<std::size_t>(x.m->first_local())];
  for (std::size_t k = 0; k < mine.size(); ++k) {
    dims shape = ops::view_of(mine[k], call.name).shape;
    for (int a = 0; a < shape.size(); ++a)
      if (std::find(axes.begin(), axes.end(), a) == axes.end()) shape[a] = x.shape()[a];
    out.push_back(from_parts(*x.m, how, shape, mine[k].dtype(),
                             [&](int p) { return by_position[static_cast<std::size_t>(p)][k]; }));
  }
  return out;
}

/// searchsorted, digitize: the values stay, every device needs the edges.
results run_beside(const opaque_call& call, std::size_t values, std::size_t edges) {
  const operand_parts x = parts_of(call.operands[values]), given = parts_of(call.operands[edges]);
  if (given.cost_as({}) > 0 && static_cast<std::int64_t>(given.leaf->bytes()) > small_operand)
    refuse_call(call, given, "every device needs all of it", "redistribute it with {replicate()}");
  const operand_parts everywhere = given.as({});
  dtype type{};
  std::vector<ndarray> by_position;
  for (int p = 0; p < x.m->size(); ++p) {
    if (!x.m->is_local(p)) {
      by_position.emplace_back();
      continue;
    }
    std::vector<ndarray> local(2);
    local[values] = x.at(p);
    local[edges] = everywhere.at(p);
    const int t = x.m->twin(x.how(), p);
    by_position.push_back(t < p ? by_position[static_cast<std::size_t>(t)] : call.again(local)[0]);
    type = by_position.back().dtype();
  }
  return {from_parts(*x.m, x.how(), x.shape(), type, [&](int p) { return by_position[static_cast<std::size_t>(p)]; })};
}

/// knn: each query is searched by itself, among points that every device has.
results search_parts(const opaque_call& call) {
  const operand_parts given = parts_of(call.operands[0]);
  layout how;
  if (given.shape().size() != 2 || !without_axes(given, {1}, how)) how = given.how();
  const operand_parts queries = given.as(how);
  std::vector<operand_parts> others;
  for (std::size_t k = 1; k < call.operands.size(); ++k) {
    others.emplace_back();
    if (!call.operands[k].defined()) continue;
    const operand_parts x = parts_of(call.operands[k]);
    if (x.cost_as({}) > 0 && static_cast<std::int64_t>(x.leaf->bytes()) > small_operand)
      refuse_call(call, x, "every device needs all of it", "redistribute it with {replicate()}");
    others.back() = x.as({});
  }
  std::vector<results> by_position;
  for (int p = 0; p < queries.m->size(); ++p) {
    const int t = queries.m->twin(how, p);
    if (!queries.m->is_local(p)) {
      by_position.emplace_back();
      continue;
    }
    std::vector<ndarray> local{queries.at(p)};
    for (const operand_parts& x : others) local.push_back(x.m ? x.at(p) : ndarray());
    by_position.push_back(t < p ? by_position[static_cast<std::size_t>(t)] : call.again(local));
  }
  const auto first = static_cast<std::size_t>(queries.m->first_local());
  results out;
  for (std::size_t k = 0; k < by_position[first].size(); ++k) {
    const ndarray& mine = by_position[first][k];
    out.push_back(mine.defined() ? from_parts(*queries.m, how, dims{queries.shape()[0], call.numbers[0]}, mine.dtype(),
                                              [&](int p) { return by_position[static_cast<std::size_t>(p)][k]; })
                                 : ndarray());
  }
  return out;
}

class mesh_calls final : public ops::interceptor {
 public:
  bool takes(const ndarray& x) const override {
    const graph::view_ref& v = ops::ndarray_access::ref(x);
    return v && graph::is_on_mesh(v->device());
  }

  results run(const opaque_call& given) override {
    for (const ndarray& x : given.operands)
      if (x.defined() && takes(x))
        return tells_of_memory(mesh_of(ops::ndarray_access::ref(x)->device()), [&] { return run_here(given); });
    return {};
  }

 private:
  results run_here(const opaque_call& given) const {
    opaque_call call = given;
    for (ndarray& x : call.operands)  // sums are made once
      if (x.defined() && takes(x)) x = ops::wrap(parts_of(x).leaf);
    for (const ndarray& x : call.operands)
      if (x.defined())
        for (const ndarray& y : call.operands)
          if (y.defined()) ops::require_one_device(call.name, ops::to_id(x.device()), ops::to_id(y.device()));
    if (are_everywhere(call)) return run_everywhere(call);
    const std::string_view name = call.name;
    const auto is = [&](std::initializer_list<std::string_view> names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (name == "matmul") return multiply(call);
    if (is({"cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"})) return scan_parts(call);
    if (is({"sort", "argsort", "topk", "partition", "argpartition"})) {
      const int axis = static_cast<int>(call.numbers[0]);
      const operand_parts x = parts_of(call.operands[0]);
      layout unused;
      if (axis >= 0 && without_axes(x, {axis}, unused)) return run_along(call, {axis});
      if (orders_vector(call)) return name == "topk" ? first_of_parts(call) : sort_parts(call);
      refuse_call(call, x,
                  axis < 0 ? "it is flattened, which crosses the parts" : "there is no other axis to divide it along",
                  "redistribute it along its first axis, {shard(0)}, or with {replicate()}, or gather it");
    }
    if (name == "ranked_elements") {
      const operand_parts x = parts_of(call.operands[0]);
      const int axis = x.shape().size() - 1;
      layout unused;
      if (without_axes(x, {axis}, unused)) return run_along(call, {axis});
      if (x.how().splits.size() == 1) return ranks_of_parts(call);
    }
    if (name == "fft") {
      std::vector<int> axes;
      for (std::size_t k = 2; k < call.numbers.size(); k += 2) axes.push_back(static_cast<int>(call.numbers[k]));
      layout unused;
      return without_axes(parts_of(call.operands[0]), axes, unused) ? run_along(call, axes) : transform_parts(call);
    }
    if (name == "lexsort") {
      const int axis = static_cast<int>(call.numbers[0]);
      const operand_parts x = parts_of(call.operands[0]);
      layout unused;
      if (axis >= 0 && without_axes(x, {axis}, unused)) return run_along(call, {axis});
      if (x.shape().size() == 1) return sort_by_keys(call);
    }
    if (name == "write_selection") return write_parts(call);
    if (name == "repeat") return repeat_parts(call);
    if (name == "knn") return search_parts(call);
    if (name.starts_with("unique") || is({"intersect1d", "union1d", "setdiff1d", "setxor1d"}))
      return unique_parts(call);
    if (is({"true_positions", "true_elements"})) return select_parts(call);
    if (name == "searchsorted") return run_beside(call, 1, 0);
    if (name == "digitize") return run_beside(call, 0, 1);
    if (is({"bincount", "histogram"}) && parts_of(call.operands[0]).how().splits.size() == 1) return count_parts(call);
    for (const ndarray& x : call.operands)
      if (x.defined() && !parts_of(x).how().is_replicated())
        refuse_call(call, parts_of(x), "this function runs on one device",
                    "redistribute it with {replicate()}, where every device does all of the work, or gather it");
    return {};
  }
};

}  // namespace

void set_interceptor() {
  static mesh_calls* const only = new mesh_calls;
  ops::set_mesh_interceptor(only);
}

}  // namespace sinter::sharding
