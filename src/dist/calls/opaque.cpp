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
  bool all = true;
  for (const split& s : x.how().splits)
    if (is_busy(s.axis)) all = how.give_away(s.axis, x.shape(), is_busy) && all;
  return all;
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
  return run_loop(call, loop_along_others(call, axes));
}

/// One operand by some of its axes, the others by every device: searchsorted and digitize by value, knn by query.
results run_beside(const opaque_call& call, std::size_t looped, int axes) {
  loop_axes loop;
  for (const ndarray& x : call.operands)
    loop.operands.emplace_back(x.defined() ? static_cast<std::size_t>(x.ndim()) : 0, -1);
  const dims& shape = parts_of(call.operands[looped]).shape();
  for (int a = 0; a < std::min(axes, shape.size()); ++a) {
    loop.extents.push_back(shape[a]);
    loop.operands[looped][static_cast<std::size_t>(a)] = a;
  }
  loop.result = [n = loop.extents.size()](std::size_t, int rank) {
    std::vector<int> own(static_cast<std::size_t>(rank), -1);
    for (int a = 0; a < n; ++a) own[static_cast<std::size_t>(a)] = a;
    return own;
  };
  loop.why = "every device needs all of it";
  loop.remedy = "redistribute it with {replicate()}";
  return run_loop(call, loop);
}

/// A sparse matrix, which every device has, times a vector or the columns of a matrix.
results multiply_sparse(const opaque_call& call) {
  if (call.operands[0].ndim() == 1) return run_whole(call);
  loop_axes loop;
  loop.extents = dims{call.operands[0].shape(1)};
  loop.operands = {{-1, 0}, {-1}, {-1}, {-1}};
  loop.result = [](std::size_t, int) { return std::vector<int>{-1, 0}; };
  loop.why = "every device needs all of it";
  loop.remedy = "redistribute it with {replicate()}";
  return run_loop(call, loop);
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
    // The steps of a function that brings its derivatives along are calls themselves.
    if (given.own && given.own->unannounced) return given.own->unannounced(given.operands);
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
      if (static_cast<std::int64_t>(x.leaf->bytes()) <= small_operand) {
        if (axis >= 0) return run_whole(call);
        call.operands[0] = ops::wrap(x.leaf).reshape(shape_t{-1});  // which may be everywhere
        return run_here(call);
      }
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
    if (name == "knn") return run_beside(call, 0, 1);
    if (name == "sparse_matmul") return multiply_sparse(call);
    if (name == "radius_neighbors") return lists_by_parts(call);
    if (auto of_stacks = run_stacks(call)) return std::move(*of_stacks);
    if (name.starts_with("unique") || is({"intersect1d", "union1d", "setdiff1d", "setxor1d"}))
      return unique_parts(call);
    if (is({"true_positions", "true_elements"})) return select_parts(call);
    if (name == "searchsorted") return run_beside(call, 1, core::max_rank);
    if (name == "digitize") return run_beside(call, 0, core::max_rank);
    if (is({"bincount", "histogram"}) && parts_of(call.operands[0]).how().splits.size() == 1) return count_parts(call);
    if (!is({"to_device", "to_memory"})) return run_whole(call);
    refuse_call(call, parts_of(call.operands[0]), "this function runs on one device", "gather it");
  }
};

}  // namespace

void set_interceptor() {
  static mesh_calls* const only = new mesh_calls;
  ops::set_mesh_interceptor(only);
}

}  // namespace sinter::sharding
