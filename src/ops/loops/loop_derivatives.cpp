#include "ops/loops/loop_derivatives.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "ops/base/opaque_call.hpp"
#include "graph/values/example.hpp"
#include "ops/derivatives/walks.hpp"
#include "ops/loops/kept_loops.hpp"
#include "ops/loops/loop_examples.hpp"
#include "ops/loops/step_signature.hpp"
#include "ops/vmap/example_level.hpp"
#include "sinter/loops.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::ops {

using derivatives::array_function;
using derivatives::traced_function;
using derivatives::zeros_of;

namespace {

using list = std::vector<ndarray>;
using arrays = std::span<const ndarray>;

/// Bytes of the carries of steps that a reverse pass keeps. Of more, those of a part of the steps at a time.
constexpr std::size_t kept_carries = std::size_t{64} << 20;

list joined(arrays a, arrays b) {
  list all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

bool can_keep(arrays carry, std::int64_t steps) {
  std::size_t bytes = 1;
  bool of_examples = false;
  for (const ndarray& a : carry) {
    const value v = value_of(a);
    bytes += v->bytes();
    of_examples = of_examples || graph::is_example(v);
  }
  if (of_examples) bytes *= static_cast<std::size_t>(level_scope::examples());
  return bytes * static_cast<std::size_t>(steps) <= kept_carries;
}

bool is_differentiable(const ndarray& x) { return x.defined() && is_inexact(x.dtype()); }

using step_of_lists = std::function<std::pair<list, list>(const list& carry, const list& elements)>;

/// Which of some arrays have derivatives, and those of them.
struct chosen {
  std::vector<std::size_t> places;

  explicit chosen(arrays of) {
    for (std::size_t k = 0; k < of.size(); ++k)
      if (is_differentiable(of[k])) places.push_back(k);
  }
  /// Of those that are followed. `first`: the number of the first one.
  chosen(arrays of, const std::vector<bool>& followed, std::size_t first) {
    for (std::size_t k = 0; k < of.size(); ++k)
      if (is_differentiable(of[k]) && followed[first + k]) places.push_back(k);
  }
  std::size_t size() const noexcept { return places.size(); }
  list from(arrays all) const {
    list some;
    for (const std::size_t k : places) some.push_back(all[k]);
    return some;
  }
  void put(list& all, arrays some) const {
    for (std::size_t k = 0; k < places.size(); ++k) all[places[k]] = some[k];
  }
};

list filled(arrays d, arrays like) {
  list all(d.begin(), d.end());
  for (std::size_t k = 0; k < all.size(); ++k)
    if (!all[k].defined()) all[k] = zeros_of(like[k]);
  return all;
}

/// A scan of a function that records the same each time and does nothing besides. Nothing: its steps are to be called.
template <class F>
std::optional<std::pair<list, list>> run_pure(const F& f, const list& from, const list& xs, const scan_loop_kw& kw) {
  const std::int64_t n = *kw.length;
  detail::traced_loop loop("scan", n, detail::step_kind::pure);
  list carry = from, elements, all = xs;
  for (list* const some : {&carry, &all}) detail::own_arrays("scan", detail::array_list(*some));
  for (const ndarray& x : all) elements.push_back(detail::element_of(x, kw.reverse ? n - 1 : 0));
  const auto lists = [](auto&... some) { return std::make_tuple(detail::array_list(some)...); };
  const auto [c, x] = lists(carry, elements);
  const list before = carry, first = elements;
  loop.before_call(0, c, x);
  std::size_t outputs = 0;
  {
    std::pair<list, list> step = f(carry, elements);
    outputs = step.second.size();
    const auto [next, y] = lists(step.first, step.second);
    loop.after_call(c, x, next, y);
  }
  carry = before;
  elements = first;
  const bool captured = loop.capture(0, c, x, [&] {
    std::pair<list, list> step = f(carry, elements);
    const auto [next, y] = lists(step.first, step.second);
    loop.give(next, y);
  });
  if (!captured) return {};
  std::vector<list> none(outputs);
  list given = loop.run_scan(0, c, detail::array_list(all), kw.reverse, none);
  return std::pair(std::move(carry), std::move(given));
}

/// The operands of a loop, and its runs over parts of the steps.
class loop_over {
 public:
  loop_over(const known_loop& loop, arrays operands)
      : loop_(loop),
        carry_(operands.first(loop.carried)),
        constants_(operands.last(loop.constants())),
        scanned_(operands.subspan(carry_.size(), operands.size() - carry_.size() - constants_.size())) {}

  arrays carry() const noexcept { return carry_; }
  arrays scanned() const noexcept { return scanned_; }
  arrays constants() const noexcept { return constants_; }
  chosen followed_scanned() const { return {scanned_, loop_.followed, 0}; }
  chosen followed_constants() const { return {constants_, loop_.followed, scanned_.size()}; }

  /// Elements of arrays along their first axes for steps [first, last).
  list part(arrays of, std::int64_t first, std::int64_t last) const {
    const std::int64_t n = loop_.steps, from = loop_.reverse ? n - last : first, to = loop_.reverse ? n - first : last;
    list some;
    for (const ndarray& x : of) some.push_back(from == 0 && to == n ? x : ndarray(x(slice(from, to))));
    return some;
  }
  /// pass.step(carry, elements) -> (carry, outputs) in the order of the steps, or backwards.
  std::pair<list, list> run(loop_pass& pass, list from, list xs, std::int64_t steps, bool backwards = false) const {
    scan_loop_kw kw;
    kw.length = steps;
    kw.reverse = loop_.reverse != backwards;
    if (auto kept = pass.run(from, xs, kw)) return std::move(*kept);
    if (auto known = run_pure(pass.step, from, xs, kw)) return std::move(*known);
    return scan(pass.step, std::move(from), std::move(xs), kw);
  }
  /// The pass of this name. `more`: arrays that it reads besides the constants; `flags`: what else it depends on.
  loop_pass pass(const char* name, step_of_lists step, arrays more = {},
                 std::span<const std::size_t> flags = {}) const {
    loop_pass p{{}, {}, std::move(step), {}};
    for (const arrays all : {constants_, more})
      for (const ndarray& a : all) p.constants.push_back(value_of(a));
    p.constants.insert(p.constants.end(), loop_.recorded->reads().begin(), loop_.recorded->reads().end());
    if (loop_.signature.empty()) return p;
    p.key = name + loop_.signature;
    const auto add = [&](std::int64_t number) { step_signature::add(p.key, number); };
    add((loop_.keeps_carry ? 1 : 0) | (graph::fast_math() ? 2 : 0));
    for (const bool f : loop_.followed) p.key += f ? '1' : '0';
    for (const std::size_t f : flags) add(static_cast<std::int64_t>(f));
    for (const value& v : p.constants) add_number(p.key, v);
    return p;
  }
  list step(arrays carry, arrays x) const { return step(carry, x, constants_); }
  list step(arrays carry, arrays x, arrays constants) const {
    list results = loop_.step(joined(carry, x), constants);
    if (loop_.keeps_carry) results.insert(results.end(), carry.begin(), carry.end());
    return results;
  }
  std::pair<list, list> in_two(const list& results) const {
    const auto middle = results.begin() + static_cast<std::ptrdiff_t>(loop_.carried);
    return {list(results.begin(), middle), list(middle, results.end())};
  }

 private:
  const known_loop& loop_;
  arrays carry_, constants_, scanned_;
};

list run(const known_loop& loop, arrays operands) {
  const loop_over over(loop, operands);
  loop_pass pass = over.pass("steps", [&](const list& c, const list& x) { return over.in_two(over.step(c, x)); });
  const auto [last, outputs] = over.run(pass, joined(over.carry(), {}), joined(over.scanned(), {}), loop.steps);
  return joined(last, outputs);
}

/// One loop over carry and tangents.
list tangents(const known_loop& loop, arrays operands, arrays directions) {
  const loop_over over(loop, operands), of_directions(loop, directions);
  const chosen c(over.carry()), x = over.followed_scanned(), k = over.followed_constants();
  const std::size_t carried = over.carry().size(), scanned = over.scanned().size();
  const list dk = filled(k.from(of_directions.constants()), k.from(over.constants()));
  loop_pass pass = over.pass("tangents", {}, dk);
  std::vector<std::size_t>& given = pass.note;  // outputs that have tangents
  pass.step = [&](const list& now, const list& element) {
    const arrays carry = arrays(now).first(carried), xs = arrays(element).first(scanned);
    const list moving = joined(joined(c.from(carry), x.from(xs)), k.from(over.constants()));
    const list along = joined(joined(arrays(now).subspan(carried), arrays(element).subspan(scanned)), dk);
    const array_function step = [&](const list& some) {
      list all_carry = joined(carry, {}), all_xs = joined(xs, {}), all_constants = joined(over.constants(), {});
      const arrays a(some);
      c.put(all_carry, a);
      x.put(all_xs, a.subspan(c.size()));
      k.put(all_constants, a.subspan(c.size() + x.size()));
      return over.step(all_carry, all_xs, all_constants);
    };
    const traced_function traced("jvp", step, moving);
    const auto [next, outputs] = over.in_two(traced.results());
    const auto [d_next, d_outputs] = over.in_two(traced.forward(along));
    const chosen y(outputs);
    given = y.places;
    return std::pair(joined(next, filled(c.from(d_next), c.from(next))),
                     joined(outputs, filled(y.from(d_outputs), y.from(outputs))));
  };
  const list from = joined(over.carry(), filled(c.from(of_directions.carry()), c.from(over.carry())));
  const list xs = joined(over.scanned(), filled(x.from(of_directions.scanned()), x.from(over.scanned())));
  const auto [last, all] = over.run(pass, from, xs, loop.steps);
  list result(carried + all.size() - given.size());
  c.put(result, arrays(last).subspan(carried));
  for (std::size_t j = 0; j < given.size(); ++j) result[carried + given[j]] = all[all.size() - given.size() + j];
  return result;
}

/// A pass backwards: cotangents of the carry and sums of those of the constants, from the last step on.
class reverse_pass {
 public:
  reverse_pass(const known_loop& loop, arrays operands, arrays results, arrays cotangents)
      : loop_(loop),
        over_(loop, operands),
        kept_(loop.keeps_carry ? results.last(loop.carried) : arrays()),
        c_(over_.carry()),
        x_(over_.followed_scanned()),
        k_(over_.followed_constants()),
        y_(cotangents.subspan(loop.carried)),
        dy_(y_.from(cotangents.subspan(loop.carried))),
        now_(joined(filled(c_.from(cotangents.first(loop.carried)), c_.from(over_.carry())),
                    filled(list(k_.size()), k_.from(over_.constants())))) {}

  list result() {
    const std::int64_t n = loop_.steps, each = steps_at_once();
    loop_pass step = over_.pass("carries", [this](const list& c, const list& x) {
      return std::pair(over_.in_two(over_.step(c, x)).first, list());
    });
    std::vector<list> starts{joined(over_.carry(), {})};
    for (std::int64_t first = 0; first + each < n; first += each)
      starts.push_back(over_.run(step, starts.back(), over_.part(over_.scanned(), first, first + each), each).first);
    std::vector<list> dx;  // of the parts, the last one first
    for (std::size_t part = starts.size(); part-- > 0;) {
      const std::int64_t first = static_cast<std::int64_t>(part) * each;
      dx.push_back(go_back(starts[part], first, std::min(first + each, n)));
    }
    list all(over_.carry().size() + over_.scanned().size() + over_.constants().size());
    const arrays now(now_);
    for (std::size_t j = 0; j < c_.size(); ++j) all[c_.places[j]] = now[j];
    for (std::size_t j = 0; j < x_.size(); ++j) all[over_.carry().size() + x_.places[j]] = in_order(dx, j);
    const std::size_t constants = over_.carry().size() + over_.scanned().size();
    for (std::size_t j = 0; j < k_.size(); ++j) all[constants + k_.places[j]] = now[c_.size() + j];
    return all;
  }

 private:
  std::int64_t steps_at_once() const {
    if (loop_.keeps_carry || can_keep(over_.carry(), loop_.steps)) return loop_.steps;
    return static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(loop_.steps))));
  }
  /// Steps [first, last) from their carry on; the cotangents of the scanned elements.
  list go_back(const list& start, std::int64_t first, std::int64_t last) {
    const list xs = over_.part(over_.scanned(), first, last);
    loop_pass keep = over_.pass("kept carries", [this](const list& c, const list& x) {
      return std::pair(over_.in_two(over_.step(c, x)).first, c);
    });
    const list carries = kept_.empty() ? over_.run(keep, start, xs, last - first).second : joined(kept_, {});
    const std::size_t carried = carries.size(), scanned = xs.size();
    const auto f = [&](const list& now, const list& element) {
      const arrays e(element);
      return step_back(now, e.first(carried), e.subspan(carried, scanned), e.subspan(carried + scanned));
    };
    loop_pass back = over_.pass("backwards", f, {}, y_.places);
    auto [now, dx] =
        over_.run(back, now_, joined(joined(carries, xs), over_.part(dy_, first, last)), last - first, true);
    now_ = std::move(now);
    return dx;
  }
  std::pair<list, list> step_back(arrays now, arrays carry, arrays xs, arrays dy) const {
    const array_function of_chosen = [&](const list& some) {
      list all_carry = joined(carry, {}), all_xs = joined(xs, {}), all_constants = joined(over_.constants(), {});
      const arrays a(some);
      c_.put(all_carry, a);
      x_.put(all_xs, a.subspan(c_.size()));
      k_.put(all_constants, a.subspan(c_.size() + x_.size()));
      const auto [next, outputs] = over_.in_two(over_.step(all_carry, all_xs, all_constants));
      return joined(c_.from(next), y_.from(outputs));
    };
    const list moving = joined(joined(c_.from(carry), x_.from(xs)), k_.from(over_.constants()));
    const list d = derivatives::pulled_back(of_chosen, moving, joined(now.first(c_.size()), dy));
    const arrays all(d);
    list next = filled(all.first(c_.size()), c_.from(carry));
    for (std::size_t j = 0; j < k_.size(); ++j) {
      const ndarray& more = all[c_.size() + x_.size() + j];
      next.push_back(more.defined() ? now[c_.size() + j] + more : now[c_.size() + j]);
    }
    return {next, filled(all.subspan(c_.size(), x_.size()), x_.from(xs))};
  }
  ndarray in_order(const std::vector<list>& parts, std::size_t j) const {
    if (parts.size() == 1) return parts[0][j];
    list all;
    for (const list& p : parts) all.push_back(p[j]);
    if (!loop_.reverse) std::reverse(all.begin(), all.end());
    return concatenate(all, 0);
  }

  const known_loop& loop_;
  loop_over over_;
  arrays kept_;           // the carry before each step, if the call has kept it
  chosen c_, x_, k_, y_;  // of carry, scanned arrays, constants and outputs
  list dy_;
  list now_;  // cotangents of the carry, then of the constants
};

void note_followed(known_loop& loop, arrays operands) {
  loop.followed.clear();
  for (const ndarray& x : operands.subspan(loop.carried)) {
    bool any = false;
    const value v = value_of(x);
    for (const graph::trace* t = graph::trace::innermost(); t; t = t->outer())
      any = any || (t->filter() == graph::trace_filter::inexact && t->has(v));
    loop.followed.push_back(any);
  }
}

/// Announced, with the carries that it keeps.
list announced(const std::shared_ptr<const known_loop>& loop, arrays operands) {
  auto own = std::make_shared<own_derivatives>();
  own->unannounced = [loop](arrays a) { return run(*loop, a); };
  own->forward = [loop](arrays a, arrays, arrays t) { return tangents(*loop, a, t); };
  own->backward = [loop](arrays a, arrays y, arrays g) { return reverse_pass(*loop, a, y, g).result(); };
  own->for_examples = [loop](std::int64_t count, arrays a, const std::vector<bool>& mapped) {
    const loop_of_examples all(*loop, count, mapped);
    const list of_all = all.operands(a);
    known_loop many = all.loop();
    note_followed(many, of_all);
    return all.results(announced(std::make_shared<const known_loop>(std::move(many)), of_all));
  };
  opaque_call call{"scan", {operands.begin(), operands.end()}, {}, {}, {}, false, own};
  call.again = [loop](arrays a) { return announced(loop, a); };  // announced to the next trace
  if (auto r = run_intercepted(call)) return *r;
  const graph::constants unfollowed;  // derivatives that are there follow none of it, or they would have taken it
  return run(*loop, operands);
}

}  // namespace

std::vector<ndarray> run_for_derivatives(known_loop loop, std::span<const ndarray> operands) {
  note_followed(loop, operands);
  // Without a trace it is a vmap that asks for the loop.
  loop.keeps_carry = graph::trace::innermost() && can_keep(operands.first(loop.carried), loop.steps);
  const std::size_t kept = loop.keeps_carry ? loop.carried : 0;
  list results = announced(std::make_shared<const known_loop>(std::move(loop)), operands);
  results.resize(results.size() - kept);
  return results;
}

}  // namespace sinter::ops
