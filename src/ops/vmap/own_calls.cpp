// Functions of the user's that bring derivatives along, for all examples: their steps are mapped as they are.
#include "ops/vmap/own_calls.hpp"

#include "sinter/reduce.hpp"

namespace sinter::ops {
namespace {

using list = std::vector<ndarray>;
using arrays = std::span<const ndarray>;

/// A step of a derivative on one example: of operands, results and directions.
struct step_on_examples {
  own_derivatives::step step;
  std::int64_t count;
  std::vector<bool> mapped;  // of the operands
  bool tangents;             // the directions are those of the operands

  list operator()(arrays operands, arrays results, arrays directions) const {
    list all(operands.begin(), operands.end());
    std::vector<bool> is_mapped = mapped;
    for (const arrays more : {results, directions}) all.insert(all.end(), more.begin(), more.end());
    is_mapped.insert(is_mapped.end(), results.size(), true);
    for (std::size_t k = 0; k < directions.size(); ++k) is_mapped.push_back(!tangents || mapped[k]);
    const std::size_t n = operands.size(), m = results.size();
    return on_examples(
        count,
        [&](const list& ones) {
          const arrays a(ones);
          return step(a.first(n), a.subspan(n, m), a.subspan(n + m));
        },
        all, is_mapped);
  }
};

}  // namespace

std::vector<ndarray> on_examples(std::int64_t count, const std::function<list(const list&)>& f, const list& all,
                                 const std::vector<bool>& mapped, const std::vector<bool>& gives) {
  example_level level(count);
  list ones;
  for (std::size_t k = 0; k < all.size(); ++k)
    ones.push_back(mapped[k] && all[k].defined() ? wrap(level.enter(value_of(all[k]))) : all[k]);
  list results;
  {
    const graph::example_source::scope draws(&level);
    const interceptor_scope calls(level);
    const level_scope levels(level);
    results = f(ones);
  }
  for (std::size_t k = 0; k < results.size(); ++k)
    if (results[k].defined() && (gives.empty() || gives[k]))
      results[k] = wrap(level.all_or_repeated(value_of(results[k])));
  return results;
}

std::vector<ndarray> mapped_with_derivatives(const batched_call& c) {
  if (c.call.own->for_examples) return c.call.own->for_examples(c.count, c.operands, c.mapped);
  const auto own = std::make_shared<own_derivatives>();
  own->unannounced = [f = c.call.own->unannounced, count = c.count, mapped = c.mapped](arrays a) {
    return on_examples(
        count, [&](const list& ones) { return f(ones); }, list(a.begin(), a.end()), mapped);
  };
  if (c.call.own->forward) own->forward = step_on_examples{c.call.own->forward, c.count, c.mapped, true};
  if (c.call.own->backward)
    own->backward = [step = step_on_examples{c.call.own->backward, c.count, c.mapped, false}](arrays a, arrays y,
                                                                                              arrays g) {
      list cotangents = step(a, y, g);
      for (std::size_t k = 0; k < cotangents.size(); ++k)  // one operand of all examples gets the sum of theirs
        if (cotangents[k].defined() && !step.mapped[k]) cotangents[k] = sum(cotangents[k], 0);
      return cotangents;
    };
  opaque_call all{c.call.name, c.operands, c.call.numbers, c.call.text, {}, c.call.recorded, own};
  all.again = own->unannounced;
  if (auto r = run_intercepted(all)) return *r;
  return own->unannounced(all.operands);
}

}  // namespace sinter::ops
