// What the templates of sinter/grad.hpp call: functions of lists of arrays.
#include "sinter/grad.hpp"

#include <algorithm>
#include <string>

#include "graph/values/trace.hpp"
#include "ops/base/elementwise_values.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/derivatives/walks.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/vmap.hpp"

namespace sinter::inline v0 {

using namespace ops;
using ops::derivatives::traced_function;
using ops::derivatives::zeros_of;

namespace {

std::string place(const detail::derivative_call& call) {
  if (call.where.line == 0) return {};
  const std::string file = call.where.file;
  const std::size_t slash = file.find_last_of('/');
  return " (" + std::string(call.function) + " at " + file.substr(slash == std::string::npos ? 0 : slash + 1) + ":" +
         std::to_string(call.where.line) + ")";
}

/// Names the line of the call in errors of derivatives.
template <class F>
auto located(const detail::derivative_call& call, const F& f) {
  try {
    return f();
  } catch (const derivative_error& e) {
    const std::string text = e.what(), at = place(call);
    if (text.ends_with(at)) throw;
    throw derivative_error(text + at);
  }
}

void require_inexact(const detail::derivative_call& call, const std::vector<ndarray>& x, const char* what) {
  for (std::size_t k = 0; k < x.size(); ++k) {
    const dtype type = view_of(x[k], call.function).type;
    if (!is_inexact(type))
      throw dtype_error("[" + std::string(call.function) + "] " + what + " " + std::to_string(k + 1) + " has dtype " +
                        std::string(name(type)) +
                        "; derivatives are of floating-point and complex numbers: convert it with astype" +
                        place(call));
  }
}

/// Directions must look like what they belong to; undefined ones are zeros.
void require_like(const detail::derivative_call& call, const std::vector<ndarray>& d, const std::vector<ndarray>& x,
                  const char* what) {
  if (d.size() != x.size())
    fail<value_error>(call.function, "there are ", d.size(), " ", what, "s for ", x.size(), " arrays");
  for (std::size_t k = 0; k < d.size(); ++k) {
    if (!d[k].defined()) continue;
    if (!x[k].defined()) fail<value_error>(call.function, what, " ", k + 1, " is one of an undefined array");
    if (!(view_of(d[k], call.function).shape == view_of(x[k], call.function).shape) || d[k].dtype() != x[k].dtype())
      fail<shape_error>(call.function, what, " ", k + 1, " has shape ", d[k].shape(), " and dtype ", d[k].dtype(),
                        " for an array of shape ", x[k].shape(), " and dtype ", x[k].dtype());
  }
}

std::vector<ndarray> filled(std::vector<ndarray> d, std::span<const ndarray> like) {
  for (std::size_t k = 0; k < d.size(); ++k)
    if (!d[k].defined() && like[k].defined()) d[k] = zeros_of(like[k]);
  return d;
}

}  // namespace

struct detail::pull_back_state {
  derivative_call call;
  traced_function traced;
  std::vector<ndarray> inputs;
};

std::vector<ndarray> detail::pull_back(const pull_back_state& s, const std::vector<ndarray>& cotangents) {
  require_like(s.call, cotangents, s.traced.results(), "cotangent");
  return located(s.call, [&] { return filled(s.traced.backward(cotangents), s.inputs); });
}

std::shared_ptr<const detail::pull_back_state> detail::trace_of(const derivative_call& call, const list_function& f,
                                                                const std::vector<ndarray>& x) {
  require_inexact(call, x, "argument");
  return located(call, [&] {
    return std::make_shared<const pull_back_state>(pull_back_state{call, traced_function(call.function, f, x), x});
  });
}

const std::vector<ndarray>& detail::results_of_trace(const pull_back_state& s) { return s.traced.results(); }

std::vector<ndarray> detail::gradient_of(const pull_back_state& s, bool holomorphic) {
  const ndarray& y = s.traced.results().at(0);
  const dtype type = view_of(y, s.call.function).type;
  const auto where = [&] { return s.traced.recorded_at(0) + place(s.call); };
  const std::string begin = "[" + std::string(s.call.function) + "] ";
  if (y.ndim() != 0)
    throw shape_error(begin + "the function's value has shape " + to_string(y.shape()) +
                      ", but a gradient is that of a value of shape (); vjp and jacobian take others" + where());
  if (!is_inexact(type))
    throw dtype_error(begin + "the function's value has dtype " + std::string(name(type)) +
                      ", which has no derivative" + where());
  if (is_complex(type) && !holomorphic)
    throw dtype_error(begin +
                      "the function's value is complex; a gradient is that of a real value, or with "
                      ".holomorphic of a holomorphic function" +
                      where());
  if (holomorphic && !is_complex(type))
    throw dtype_error(begin + ".holomorphic, but the function's value has dtype " + std::string(name(type)) + where());
  return pull_back(s, {ones({}, {.dtype = type, .device = y.device()})});
}

std::pair<ndarray, std::vector<ndarray>> detail::value_and_gradients_of(const derivative_call& call,
                                                                        const list_function& f,
                                                                        const std::vector<ndarray>& x,
                                                                        const grad_kw& kw) {
  const std::vector<int> chosen = kw.argnums.empty() ? std::vector<int>{0} : kw.argnums;
  std::vector<ndarray> differentiated;
  for (const int k : chosen) {
    if (k < 0 || static_cast<std::size_t>(k) >= x.size())
      fail<index_error>(call.function, "argnums has ", k, ", but there are ", x.size(), " arguments");
    differentiated.push_back(x[static_cast<std::size_t>(k)]);
  }
  const list_function of_chosen = [&](const std::vector<ndarray>& some) {
    std::vector<ndarray> all = x;
    for (std::size_t k = 0; k < chosen.size(); ++k) all[static_cast<std::size_t>(chosen[k])] = some[k];
    return f(all);
  };
  const auto state = trace_of(call, of_chosen, differentiated);
  return {results_of_trace(*state)[0], gradient_of(*state, kw.holomorphic)};
}

detail::pushed detail::push_forward(const derivative_call& call, const list_function& f, const std::vector<ndarray>& x,
                                    const std::vector<ndarray>& tangents) {
  require_inexact(call, x, "argument");
  require_like(call, tangents, x, "tangent");
  return located(call, [&] {
    const traced_function traced(call.function, f, x);
    return pushed{traced.results(), filled(traced.forward(tangents), traced.results())};
  });
}

namespace {

shape_t joined(const shape_t& a, const shape_t& b) {
  std::vector<std::int64_t> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  return shape_t(std::span<const std::int64_t>(all));
}

/// The basis of x's shape and dtype, one array after the other: (n,) + x.shape.
ndarray basis(const ndarray& x) {
  const value v = value_of(x);
  const std::int64_t n = v->size();
  const value row = graph::record_iota(dims{n, 1}, 0, v->device), column = graph::record_iota(dims{1, n}, 1, v->device);
  const ndarray all = equal(wrap(row), wrap(column)).astype(v->type);
  return reshape(all, joined({n}, x.shape()));
}

/// What a linear step gives for each array of the basis of `x`, one after the other along a new first axis; like results of
/// the step, `like`. All at once by vmap, where there is more than one and the rules need no elements of theirs.
std::vector<ndarray> for_basis(const ndarray& x, std::span<const ndarray> like,
                               const std::function<std::vector<ndarray>(const ndarray&)>& step) {
  const ndarray all = basis(x);
  const std::int64_t n = x.size();
  if (n > 1) {
    try {
      ndarray one = all;
      detail::vmap_call examples({});
      examples.add(one, 0);
      examples.begin();
      std::vector<ndarray> out = filled(step(one), like);
      examples.end();
      for (ndarray& r : out) examples.finish(r, 0);
      return out;
    } catch (const vmap_error&) {
      // One after the other.
    }
  }
  std::vector<std::vector<ndarray>> parts(like.size());
  for (std::int64_t k = 0; k < n; ++k) {
    const std::vector<ndarray> r = filled(step(all(k)), like);
    for (std::size_t j = 0; j < r.size(); ++j) parts[j].push_back(r[j]);
  }
  std::vector<ndarray> out;
  for (std::size_t j = 0; j < like.size(); ++j)
    out.push_back(n == 0 ? zeros(joined({n}, like[j].shape()), {.dtype = like[j].dtype(), .device = like[j].device()})
                         : stack(parts[j], 0));
  return out;
}

void require_inexact_results(const detail::derivative_call& call, const traced_function& traced) {
  const std::vector<ndarray>& y = traced.results();
  for (std::size_t r = 0; r < y.size(); ++r)
    if (!is_inexact(view_of(y[r], call.function).type))
      fail<dtype_error>(call.function, "the function's value", y.size() == 1 ? "" : " " + std::to_string(r + 1),
                        " has dtype ", y[r].dtype(), ", which has no derivative", traced.recorded_at(r), place(call));
}

}  // namespace

std::vector<ndarray> detail::jacobian_of(const derivative_call& call, const list_function& f,
                                         const std::vector<ndarray>& x, direction how, bool holomorphic) {
  require_inexact(call, x, "argument");
  return located(call, [&] {
    const traced_function traced(call.function, f, x);
    const std::vector<ndarray>& y = traced.results();
    require_inexact_results(call, traced);
    std::int64_t inputs = 0, outputs = 0;
    for (const ndarray& r : y) outputs += r.size();
    for (const ndarray& a : x) {
      inputs += a.size();
      for (const ndarray& r : y)
        if (is_complex(a.dtype()) != is_complex(r.dtype()) || (is_complex(r.dtype()) && !holomorphic))
          fail<dtype_error>(call.function, "a function of ", a.dtype(), " to ", r.dtype(),
                            " has a Jacobian where both are real, or with .holomorphic where it is holomorphic");
    }
    std::vector<ndarray> out(y.size() * x.size());
    if (how == direction::forward || (how == direction::either && inputs <= outputs)) {
      for (std::size_t a = 0; a < x.size(); ++a) {
        const std::vector<ndarray> columns = for_basis(x[a], y, [&](const ndarray& one) {
          std::vector<ndarray> t(x.size());
          t[a] = one;
          return traced.forward(t);
        });
        for (std::size_t r = 0; r < y.size(); ++r)
          out[r * x.size() + a] = reshape(moveaxis(columns[r], 0, -1), joined(y[r].shape(), x[a].shape()));
      }
      return out;
    }
    for (std::size_t r = 0; r < y.size(); ++r) {
      const std::vector<ndarray> rows = for_basis(y[r], x, [&](const ndarray& one) {
        std::vector<ndarray> g(y.size());
        g[r] = one;
        return traced.backward(g);
      });
      for (std::size_t a = 0; a < x.size(); ++a)
        out[r * x.size() + a] = reshape(rows[a], joined(y[r].shape(), x[a].shape()));
    }
    return out;
  });
}

ndarray stop_gradient(const ndarray& x) {
  const graph::value v = value_of(x, "stop_gradient");
  const graph::constants piecewise;
  return wrap(graph::record_identity(v));
}

std::vector<ndarray> detail::call_with_derivatives(const char* name, const list_function& f,
                                                   const std::vector<ndarray>& x, const list_step& forward,
                                                   const list_step& backward) {
  if (!is_intercepting()) return f(x);
  auto own = std::make_shared<own_derivatives>();
  own->unannounced = [f](std::span<const ndarray> a) { return f({a.begin(), a.end()}); };
  // Users' steps get zeros for what is 0.
  if (forward)
    own->forward = [forward](std::span<const ndarray> a, std::span<const ndarray> y, std::span<const ndarray> t) {
      return forward({a.begin(), a.end()}, {y.begin(), y.end()}, filled({t.begin(), t.end()}, a));
    };
  if (backward)
    own->backward = [backward](std::span<const ndarray> a, std::span<const ndarray> y, std::span<const ndarray> g) {
      return backward({a.begin(), a.end()}, {y.begin(), y.end()}, filled({g.begin(), g.end()}, y));
    };
  opaque_call call{name,
                   x,
                   {},
                   {},
                   [=](std::span<const ndarray> a) {
                     // Announced again: to the next trace.
                     return call_with_derivatives(name, f, {a.begin(), a.end()}, forward, backward);
                   },
                   false,
                   own};
  if (auto r = run_intercepted(call)) return *r;
  return f(x);
}

std::vector<ndarray> detail::call_again_for_derivatives(const list_function& f, const std::vector<ndarray>& x) {
  if (!is_intercepting()) return f(x);
  const auto again = [f](std::span<const ndarray> a) { return f({a.begin(), a.end()}); };
  auto own = std::make_shared<own_derivatives>();
  own->unannounced = again;
  own->forward = [again](std::span<const ndarray> a, std::span<const ndarray>, std::span<const ndarray> t) {
    return ops::derivatives::pushed_forward(again, a, t);
  };
  own->backward = [again](std::span<const ndarray> a, std::span<const ndarray>, std::span<const ndarray> g) {
    return ops::derivatives::pulled_back(again, a, g);
  };
  const auto announced_again = [f](std::span<const ndarray> a) {
    return call_again_for_derivatives(f, {a.begin(), a.end()});
  };
  opaque_call call{"checkpoint", x, {}, {}, announced_again, false, own};
  if (auto r = run_intercepted(call)) return *r;
  return f(x);
}

}  // namespace sinter::inline v0
