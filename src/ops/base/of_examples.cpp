#include "ops/base/of_examples.hpp"

#include <memory>

#include "sinter/grad.hpp"

namespace sinter::ops {
namespace {

using list = std::vector<ndarray>;
using arrays = std::span<const ndarray>;

constexpr detail::derivative_call by_rule{"vjp", {"", 0}};

/// Where a call has arrays that are there and can be differentiated.
std::vector<std::size_t> inexact_of(arrays x) {
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < x.size(); ++k)
    if (x[k].defined() && is_inexact(x[k].dtype())) places.push_back(k);
  return places;
}
list at_places(arrays x, const std::vector<std::size_t>& places) {
  list some;
  for (const std::size_t k : places) some.push_back(x[k]);
  return some;
}
list placed(const list& some, const std::vector<std::size_t>& places, std::size_t count) {
  list all(count);
  for (std::size_t k = 0; k < places.size(); ++k) all[places[k]] = some[k];
  return all;
}

/// f as a function of those operands, and of those of its results, that can be differentiated.
struct differentiable_part {
  const mapped_function& f;
  list operands;
  std::vector<std::size_t> moving, results;

  list operator()(const list& some) const {
    list all = operands;
    for (std::size_t k = 0; k < moving.size(); ++k) all[moving[k]] = some[k];
    return at_places(f(all), results);
  }
};

list on_examples(const char* name, list operands, const mapped_function& f) {
  if (auto r = run_for_examples(name, operands, f)) return *r;
  return f(operands);
}

/// Zeros for directions that are not there: a call of its own gets all of them.
list filled(arrays directions, arrays like, const std::vector<std::size_t>& places) {
  list all;
  for (const std::size_t k : places)
    all.push_back(directions[k].defined()
                      ? directions[k]
                      : zeros(like[k].shape(), {.dtype = like[k].dtype(), .device = like[k].device()}));
  return all;
}

/// A step of derivatives of a part at some arrays, in some directions.
using part_step = list (*)(const differentiable_part& part, const list& at, const list& directions);

/// For each example: the step, as a call of the operands and of the directions.
list run_step(const char* name, const mapped_function& f, arrays x, arrays y, list directions, part_step step) {
  const std::size_t count = x.size();
  list all(x.begin(), x.end());
  for (ndarray& d : directions) all.push_back(std::move(d));
  return on_examples(name, std::move(all), [=, moving = inexact_of(x), results = inexact_of(y)](arrays o) {
    const arrays first = o.first(count), last = o.subspan(count);
    const differentiable_part part{f, {first.begin(), first.end()}, moving, results};
    return step(part, at_places(part.operands, moving), {last.begin(), last.end()});
  });
}

/// The derivatives of a call are calls as well, of its operands and the directions.
std::shared_ptr<const own_derivatives> derivatives_of(const char* name, const mapped_function& f) {
  auto own = std::make_shared<own_derivatives>();
  own->at_once = true;
  own->unannounced = f;
  own->forward = [=](arrays x, arrays y, arrays t) {
    const part_step step = [](const differentiable_part& part, const list& at, const list& directions) {
      return detail::push_forward(by_rule, part, at, directions).tangents;
    };
    return placed(run_step(name, f, x, y, filled(t, x, inexact_of(x)), step), inexact_of(y), y.size());
  };
  own->backward = [=](arrays x, arrays y, arrays g) {
    const part_step step = [](const differentiable_part& part, const list& at, const list& directions) {
      return detail::pull_back(*detail::trace_of(by_rule, part, at), directions);
    };
    return placed(run_step(name, f, x, y, filled(g, y, inexact_of(y)), step), inexact_of(x), x.size());
  };
  return own;
}

}  // namespace

std::optional<std::vector<ndarray>> run_for_examples(const char* name, std::vector<ndarray> operands,
                                                     mapped_function again) {
  if (!is_of_examples(operands)) return {};
  opaque_call call{name, std::move(operands), {}, {}, again, false, derivatives_of(name, again)};
  return run_intercepted(call);
}

}  // namespace sinter::ops
