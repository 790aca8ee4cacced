// Programs of many alike: oscillators that feel their mean, people who infect each other, rows that are halved; each with and without
// an evaluation of every statement.
#pragma once
#include <cstdint>
#include <vector>

#include "graph/loop_programs.hpp"

namespace sinter::test::loops {

inline arrays bisected_rows(int steps, std::int64_t n) {  // the median of each row, by halves
  const ndarray x = uniform({64, n / 64 + 1}, 601);
  ndarray low = sn::zeros(64, {.dtype = sn::float32}), high = sn::ones(64, {.dtype = sn::float32});
  for (int k = 0; k < steps; ++k) {
    const ndarray middle = 0.5f * (low + high);
    statement(middle);
    const ndarray below = sn::sum(x < middle(_, newaxis), 1);
    statement(below);
    const ndarray few = below < x.shape(1) / 2;
    statement(few);
    low = sn::where(few, middle, low);
    high = sn::where(few, high, middle);
    statement(low, high);
  }
  return {low, high};
}

inline arrays epidemic(int steps, std::int64_t n) {  // eight contacts each
  const ndarray who = sn::astype(uniform({n, 8}, 602) * float(n - 1), sn::int64), luck = uniform(n, 603);
  ndarray state = sn::astype(uniform(n, 604) > 0.97f, sn::int32), age = sn::zeros(n, {.dtype = sn::int32});
  sn::eval(who, state);
  arrays all;
  for (int k = 0; k < steps; ++k) {
    const ndarray ill = sn::astype(state == 1, sn::float32);
    statement(ill);
    const ndarray near = sn::sum(sn::take(ill, who), 1);
    statement(near);
    const ndarray caught = (state == 0) & (luck < 0.1f * near);
    statement(caught);
    age = sn::where(state == 1, age + 1, age);
    statement(age);
    state = sn::where(caught, 1, sn::where((state == 1) & (age > 5), 2, state));
    statement(state);
    all.push_back(sn::sum(ill));
    statement(all.back());
  }
  all.insert(all.end(), {state, age});
  return all;
}

inline arrays averaged_order(int steps, std::int64_t n) {  // what is sorted in each step is needed by an average alone
  ndarray x = uniform(n, 605), mean = sn::zeros(n, {.dtype = sn::float32});
  for (int k = 0; k < steps; ++k) {
    const ndarray order = sn::argsort(x);
    statement(order);
    const ndarray sorted = sn::take(x, order);
    statement(sorted);
    mean = 0.9f * mean + 0.1f * sorted;
    statement(mean);
    x = sn::cos(5.0f * x + sorted);
    statement(x);
  }
  return {x, mean};
}

inline arrays walkers(int steps, std::int64_t n) {  // how far they have been, and how often at home
  sn::random::generator g(606);
  ndarray x = sn::zeros(n, {.dtype = sn::float64}), far = x, home = sn::zeros(n, {.dtype = sn::int32});
  for (int k = 0; k < steps; ++k) {
    x = x + sn::where(g.random(n, {.dtype = sn::float32}) < 0.5f, -1.0, 1.0);
    statement(x);
    far = sn::maximum(far, sn::abs(x));
    statement(far);
    home += x == 0;
    statement(home);
  }
  return {x, far, home};
}

inline const program crowd_programs[] = {
    {"walkers", walkers}, {"bisected rows", bisected_rows}, {"epidemic", epidemic}, {"averaged order", averaged_order}};

}  // namespace sinter::test::loops
