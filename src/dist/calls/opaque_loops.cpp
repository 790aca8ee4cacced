// Functions that do the same for each index of some axes: stacks of matrices, right sides, rows, queries. What divides these axes stays,
// each device does its indices; the other axes are made whole.
#include <algorithm>
#include <exception>

#include "dist/calls/opaque_parts.hpp"
#include "sinter/creation.hpp"
#include "sinter/error.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::sharding {

using ops::opaque_call;

namespace {

/// The axes of an operand, by which its layout is one of the loop and the other way round.
class seen_by_loop {
 public:
  seen_by_loop(const loop_axes& loop, std::size_t operand) : loop_(loop), axes_(loop.operands[operand]) {}

  /// Whether an axis goes along with the loop: the others are whole, those of one element are the same for all indices.
  bool goes_along(const dims& shape, int axis) const {
    const int to = axes_[static_cast<std::size_t>(axis)];
    return to >= 0 && shape[axis] == loop_.extents[to];
  }
  layout in_loop(const dims& shape, const layout& how) const {
    layout out;
    for (split s : how.splits)
      if (goes_along(shape, s.axis)) {
        s.axis = axes_[static_cast<std::size_t>(s.axis)];
        out.add(std::move(s));
      }
    return out;
  }
  layout in_operand(const dims& shape, const layout& of_loop) const {
    layout out;
    for (int a = 0; a < shape.size(); ++a) {
      if (!goes_along(shape, a)) continue;
      if (const split* const s = of_loop.along(axes_[static_cast<std::size_t>(a)])) {
        split mine = *s;
        mine.axis = a;
        out.add(std::move(mine));
      }
    }
    return out;
  }

 private:
  const loop_axes& loop_;
  const std::vector<int>& axes_;
};

/// The operands of a call in parts; those that are undefined have no mesh.
class looped_operands {
 public:
  looped_operands(const opaque_call& call, const loop_axes& loop) : call_(call), loop_(loop) {
    for (const ndarray& x : call.operands) all_.push_back(x.defined() ? parts_of(x) : operand_parts{});
  }

  /// For which the fewest bytes move.
  layout choose() const {
    layout best;
    std::int64_t least = -1;
    for (std::size_t k = 0; k < all_.size(); ++k) {
      if (!all_[k].m || all_[k].how().is_replicated()) continue;
      layout how = of_loop(k);
      for (std::size_t other = 0; other < all_.size(); ++other) {  // mesh axes that this one leaves unused
        if (!all_[other].m) continue;
        for (const split& s : of_loop(other).splits)
          if (!how.along(s.axis) && !how.uses_any(s.over)) how.add(s);
      }
      std::int64_t bytes = 0;
      for (std::size_t other = 0; other < all_.size(); ++other)
        if (all_[other].m) bytes += all_[other].cost_as(wanted(other, how));
      if (least < 0 || bytes < least) best = std::move(how), least = bytes;
    }
    return best;
  }

  /// What a device needs of an operand beyond its indices goes to all up to a megabyte.
  void move_to(const layout& how) {
    for (std::size_t k = 0; k < all_.size(); ++k) {
      operand_parts& x = all_[k];
      if (!x.m) continue;
      const layout to = wanted(k, how);
      if (!covers(to, x.how()) && x.cost_as(to) > 0 && static_cast<std::int64_t>(x.leaf->bytes()) > small_operand)
        refuse_call(call_, x, loop_.why, loop_.remedy);
      x = x.as(to);
    }
  }

  std::vector<ndarray> at(int position) const {
    std::vector<ndarray> out;
    for (const operand_parts& x : all_) out.push_back(x.m ? x.at(position) : ndarray());
    return out;
  }
  const mesh_state& mesh() const {
    return *std::find_if(all_.begin(), all_.end(), [](const operand_parts& x) { return x.m; })->m;
  }

 private:
  layout of_loop(std::size_t k) const {
    const seen_by_loop seen(loop_, k);
    const dims& shape = all_[k].shape();
    layout how = all_[k].how();
    for (const split& s : all_[k].how().splits)
      if (!seen.goes_along(shape, s.axis))
        how.give_away(s.axis, shape, [&](int a) { return !seen.goes_along(shape, a); });
    return seen.in_loop(shape, how);
  }
  layout wanted(std::size_t k, const layout& how) const {
    return seen_by_loop(loop_, k).in_operand(all_[k].shape(), how);
  }
  /// Whether all axes of the mesh that divide one layout divide the other.
  static bool covers(const layout& to, const layout& from) {
    return std::all_of(from.splits.begin(), from.splits.end(), [&](const split& s) {
      return std::all_of(s.over.begin(), s.over.end(), [&](int a) { return to.uses(a); });
    });
  }

  const opaque_call& call_;
  const loop_axes& loop_;
  std::vector<operand_parts> all_;
};

/// Whether a call fails for whatever elements: shapes, dtypes, attributes.
bool fails_without_indices(const opaque_call& call, const std::vector<ndarray>& local, const loop_axes& loop) {
  std::vector<ndarray> none;
  for (std::size_t k = 0; k < local.size(); ++k) {
    if (!local[k].defined()) {
      none.push_back(local[k]);
      continue;
    }
    const shape_t own = local[k].shape();
    std::vector<std::int64_t> shape(own.begin(), own.end());
    for (std::size_t a = 0; a < shape.size(); ++a)
      if (loop.operands[k][a] >= 0) shape[a] = 0;
    none.push_back(zeros(shape_t(shape), {.dtype = local[k].dtype(), .device = local[k].device()}));
  }
  try {
    call.again(none);
  } catch (const std::exception&) {
    return true;
  }
  return false;
}

/// Calls the function on parts. What fails because of a part's elements fails in its process alone: the others are told.
results call_on(const mesh_state& m, const opaque_call& call, const loop_axes& loop,
                const std::vector<ndarray>& local) {
  if (!m.group) return call.again(local);
  try {
    return call.again(local);
  } catch (const std::exception& e) {
    if (!fails_without_indices(call, local, loop)) m.group->fail(e.what());
    throw;
  }
}

/// The same, where the message of an error may name an index of the part.
results call_on_part(const mesh_state& m, const opaque_call& call, const loop_axes& loop, const layout& how,
                     int position, const std::vector<ndarray>& local) {
  try {
    return call_on(m, call, loop, local);
  } catch (const linalg_error& e) {
    if (how.splits.empty()) throw;
    throw linalg_error(std::string(e.what()) + ", in the part " + to_string(m.part(how, loop.extents, position)) +
                       " of the leading axes");
  }
}

}  // namespace

results run_loop(const opaque_call& call, const loop_axes& loop) {
  looped_operands operands(call, loop);
  const layout how = operands.choose();
  operands.move_to(how);
  const mesh_state& m = operands.mesh();
  std::vector<results> by_position;
  for (int p = 0; p < m.size(); ++p) {
    const int t = m.twin(how, p);
    if (!m.is_local(p)) by_position.emplace_back();
    else if (t < p) by_position.push_back(by_position[static_cast<std::size_t>(t)]);
    else by_position.push_back(call_on_part(m, call, loop, how, p, operands.at(p)));
  }
  const results& mine = by_position[static_cast<std::size_t>(m.first_local())];
  results out;
  for (std::size_t k = 0; k < mine.size(); ++k) {
    if (!mine[k].defined()) {  // not asked for
      out.emplace_back();
      continue;
    }
    dims shape = ops::view_of(mine[k], call.name).shape;
    const std::vector<int> axes = loop.result(k, shape.size());
    layout of_result;
    for (int a = 0; a < shape.size(); ++a) {
      const int from = axes[static_cast<std::size_t>(a)];
      if (from < 0) continue;
      shape[a] = loop.extents[from];
      if (const split* const s = how.along(from)) {
        split one = *s;
        one.axis = a;
        of_result.add(std::move(one));
      }
    }
    out.push_back(from_parts(m, of_result, shape, mine[k].dtype(),
                             [&](int p) { return by_position[static_cast<std::size_t>(p)][k]; }));
  }
  return out;
}

results run_whole(const opaque_call& call) {
  loop_axes loop;
  for (const ndarray& x : call.operands)
    loop.operands.emplace_back(x.defined() ? static_cast<std::size_t>(x.ndim()) : 0, -1);
  loop.result = [](std::size_t, int rank) { return std::vector<int>(static_cast<std::size_t>(rank), -1); };
  loop.why = "this function runs on one device";
  loop.remedy = "redistribute it with {replicate()}, where every device does all of the work, or gather it";
  return run_loop(call, loop);
}

loop_axes loop_along_others(const opaque_call& call, const std::vector<int>& whole) {
  loop_axes loop;
  loop.extents = parts_of(call.operands[0]).shape();
  std::vector<int> axes;
  for (int a = 0; a < loop.extents.size(); ++a)
    axes.push_back(std::find(whole.begin(), whole.end(), a) == whole.end() ? a : -1);
  loop.operands.assign(call.operands.size(), axes);
  loop.result = [axes](std::size_t, int) { return axes; };
  loop.why = "there is no other axis to divide it along";
  loop.remedy = "redistribute it with {replicate()}, where every device does all of the work, or gather it";
  return loop;
}

}  // namespace sinter::sharding
