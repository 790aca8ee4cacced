// Which results belong to one kernel, and which of their axes are taken apart.
#include "graph/plan/steps/step_loop.hpp"

#include <algorithm>

#include "graph/plan/forms/short_sums.hpp"
#include "graph/plan/plan.hpp"
#include "graph/plan/steps/step_lowering.hpp"

namespace sinter::graph {
namespace {

using core::dims;

constexpr std::int64_t longest_part = 4, most_parts = 16;

/// The axes of a result that are taken apart.
std::vector<bool> short_axes(const dims& shape) {
  std::vector<bool> apart(static_cast<std::size_t>(shape.size()));
  std::int64_t parts = 1;
  for (int a = shape.size(); a-- > 0;) {
    if (shape[a] > longest_part || parts * shape[a] > most_parts) continue;
    parts *= shape[a];
    apart[static_cast<std::size_t>(a)] = true;
  }
  return apart;
}

/// A result over the axes of a kernel's space.
struct spread_result {
  std::size_t result;
  std::vector<bool> apart;
  dims space;

  spread_result(std::size_t r, const dims& shape, bool in_parts)
      : result(r), apart(in_parts ? short_axes(shape) : std::vector<bool>(static_cast<std::size_t>(shape.size()))) {
    for (int a = 0; a < shape.size(); ++a)
      if (is_in_space(shape, a)) space.push_back(shape[a]);
  }
  bool is_in_space(const dims& shape, int a) const { return shape[a] != 1 && !apart[static_cast<std::size_t>(a)]; }

  /// Calls f(map) for each place along the axes that are apart.
  template <class F>
  void each_part(const dims& shape, F f) const {
    index_map map(shape.size(), space.size());
    for (int a = 0, v = 0; a < shape.size(); ++a)
      if (is_in_space(shape, a)) map.coefficient(a, v++) = 1;
    for (bool more = true; more;) {
      f(map);
      more = false;
      for (int a = shape.size(); a-- > 0 && !more;) {
        if (!apart[static_cast<std::size_t>(a)]) continue;
        more = ++map.offset(a) < shape[a];
        if (!more) map.offset(a) = 0;
      }
    }
  }
};

struct attempt {
  std::vector<loop_kernel> kernels;  // empty: failed
  bool wants_parts = false;
};

attempt try_kernels(const recorded_step& step, bool in_parts) {
  std::vector<spread_result> rest;
  for (std::size_t k = 0; k < step.results.size(); ++k) rest.emplace_back(k, step.results[k]->shape, in_parts);
  attempt made;
  bool fits = true;
  while (!rest.empty() && fits) {
    const dims space = rest.front().space;
    const auto others =
        std::stable_partition(rest.begin(), rest.end(), [&](const spread_result& r) { return r.space == space; });
    step_lowering lowering(step, space);
    for (auto r = rest.begin(); r != others; ++r)
      r->each_part(step.results[r->result]->shape, [&](const index_map& map) { lowering.add(r->result, map); });
    loop_kernel k;
    fits = lowering.finish(k) && fault_count(k.code) == 0;
    made.wants_parts = made.wants_parts || lowering.wants_parts();
    made.kernels.push_back(std::move(k));
    rest.erase(rest.begin(), others);
  }
  if (!fits) made.kernels.clear();
  return made;
}

}  // namespace

std::vector<const trace::entry*> entries_of(const recorded_step& step) {
  const std::vector<bool> needed = step.list->needed_for(step.results);
  std::vector<const trace::entry*> all;
  for (std::size_t k = 0; k < needed.size(); ++k)
    if (needed[k]) all.push_back(&step.list->entries()[k]);
  return all;
}

bool has_elements_only(const recorded_step& step) {
  const std::vector<const trace::entry*> entries = entries_of(step);
  return std::all_of(entries.begin(), entries.end(), [](const trace::entry* e) {
    if (e->call) return false;
    if (e->kind != node_kind::reduce)
      return e->kind == node_kind::map || e->kind == node_kind::view || e->kind == node_kind::update;
    const value& x = e->operands[0];
    return !e->made().reduce().combine && is_short(e->made().reduce(), x->type, x->shape);
  });
}

// Where elements read single places of the carry, these are best computed once for all of them, side by side with the others
// of their axis.
std::vector<loop_kernel> loop_kernels(const recorded_step& step) {
  attempt whole = try_kernels(step, false);
  if (!whole.wants_parts) return std::move(whole.kernels);
  attempt parts = try_kernels(step, true);
  return std::move(parts.kernels.empty() ? whole.kernels : parts.kernels);
}

}  // namespace sinter::graph
