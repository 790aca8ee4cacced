// eval, explain and the fast_math scope.
#include "sinter/eval.hpp"

#include <vector>

#include "graph/run/explain.hpp"
#include "ops/base/promotion_args.hpp"

namespace sinter::inline v0 {

void detail::eval_all(std::initializer_list<const ndarray*> arrays) {
  if (arrays.size() == 1) {
    const ndarray& a = **arrays.begin();
    ops::view_of(a, "eval");
    return graph::evaluate(std::span(&ops::ndarray_access::ref(a), 1));
  }
  std::vector<graph::view_ref> views;
  views.reserve(arrays.size());
  for (const ndarray* a : arrays) {
    ops::view_of(*a, "eval");
    views.push_back(ops::ndarray_access::ref(*a));
  }
  graph::evaluate(views);
}

void eval(std::span<const ndarray> arrays) {
  std::vector<graph::view_ref> views;
  views.reserve(arrays.size());
  for (const ndarray& a : arrays) {
    ops::view_of(a, "eval");
    views.push_back(ops::ndarray_access::ref(a));
  }
  graph::evaluate(views);
}

std::string explain(std::span<const ndarray> arrays) {
  std::vector<graph::value> roots;
  for (const ndarray& a : arrays) roots.push_back(ops::view_of(a, "explain").store->now());
  return graph::describe(roots, false);
}

std::string explain(const ndarray& x, const explain_kw& kw) {
  return graph::explain(ops::view_of(x, "explain"), kw.source);
}

std::string detail::explain_all(std::initializer_list<const ndarray*> arrays) {
  std::vector<graph::value> roots;
  for (const ndarray* a : arrays) roots.push_back(ops::view_of(*a, "explain").store->now());
  return graph::describe(roots, false);
}

fast_math_guard::fast_math_guard(bool on) : before_(graph::fast_math()) { graph::set_fast_math(on); }
fast_math_guard::~fast_math_guard() { graph::set_fast_math(before_); }

}  // namespace sinter::inline v0
