// Games and fields with neighbours, looked up or rolled, and statistics of several results; each with and without an evaluation of
// every statement.
#pragma once
#include <complex>
#include <cstdint>
#include <vector>

#include "graph/loop_programs.hpp"

namespace sinter::test::loops {

inline arrays iterated_values(int steps, std::int64_t n) {  // and how much each step changes
  const std::int64_t s = n / 4;
  const ndarray next = sn::astype(uniform({s, 4}, 741) * float(s - 1), sn::int64), reward = uniform({s, 4}, 742);
  sn::eval(next);
  ndarray v = sn::zeros({s}, {.dtype = sn::float32});
  arrays changes;
  for (int k = 0; k < steps; ++k) {
    const ndarray q = reward + 0.9f * sn::take(v, next);
    statement(q);
    const ndarray best = sn::max(q, 1);
    statement(best);
    changes.push_back(sn::max(sn::abs(best - v)));
    statement(changes.back());
    v = best;
  }
  changes.push_back(v);
  return changes;
}

inline arrays padded_diffusion(int steps, std::int64_t n) {
  const std::int64_t side = n < elements ? 16 : 141;
  ndarray u = uniform({side, side}, 743);
  for (int k = 0; k < steps; ++k) {
    const ndarray p = sn::pad(u, 1, "edge");
    statement(p);
    const ndarray a = p(slice(_, -2), slice(1, -1)) - u, b = p(slice(2, _), slice(1, -1)) - u,
                  c = p(slice(1, -1), slice(_, -2)) - u, d = p(slice(1, -1), slice(2, _)) - u;
    statement(a, b, c, d);
    const auto g = [](const ndarray& x) { return sn::exp(-(x * x) * 4.0f); };
    const ndarray ga = g(a), gb = g(b), gc = g(c), gd = g(d);
    statement(ga, gb, gc, gd);
    u = u + 0.2f * (ga * a + gb * b + gc * c + gd * d);
    statement(u);
  }
  return {u};
}

inline arrays kuramoto_pairs(int steps, std::int64_t) {  // oscillators that pull each other, and their order
  ndarray theta = uniform(150, 701) * 6.28f;
  const ndarray omega = uniform(150, 702);
  arrays order;
  for (int k = 0; k < steps; ++k) {
    const ndarray pull = sn::mean(sn::sin(theta(newaxis, _) - theta(_, newaxis)), 1);
    statement(pull);
    theta = theta + 0.05f * (omega + 1.5f * pull);
    statement(theta);
    const ndarray c = sn::mean(sn::cos(theta)), s = sn::mean(sn::sin(theta));
    statement(c, s);
    order.push_back(sn::sqrt(c * c + s * s));
    statement(order.back());
  }
  order.push_back(theta);
  return order;
}

inline arrays laplacian_pyramid(int steps, std::int64_t n) {  // details of an image, without those that are small
  const std::int64_t side = n < elements ? 16 : 128;
  ndarray image = uniform({side, side}, 760);
  for (int k = 0; k < steps; ++k) {
    arrays details;
    ndarray x = image;
    while (x.shape(0) > 8) {
      const ndarray rows = 0.5f * (x(slice(_, _, 2)) + x(slice(1, _, 2)));
      statement(rows);
      const ndarray low = 0.5f * (rows(_, slice(_, _, 2)) + rows(_, slice(1, _, 2)));
      statement(low);
      details.push_back(x - sn::repeat(sn::repeat(low, 2, 0), 2, 1));
      statement(details.back());
      x = low;
    }
    for (std::size_t l = details.size(); l-- > 0;) {
      const ndarray soft = sn::sign(details[l]) * sn::maximum(sn::abs(details[l]) - 0.01f, 0.0f);
      statement(soft);
      x = sn::repeat(sn::repeat(x, 2, 0), 2, 1) + soft;
      statement(x);
    }
    image = 0.9f * x + 0.1f * sn::roll(x, 1, 1);
    statement(image);
  }
  return {image};
}

inline arrays cusum(int steps, std::int64_t n) {  // alarms where sums of deviations grow
  const ndarray x = uniform({std::int64_t{steps}, n}, 761);
  ndarray mean = sn::zeros({n}, {.dtype = sn::float32}), up = sn::zeros({n}, {.dtype = sn::float32}),
          down = sn::zeros({n}, {.dtype = sn::float32}), alarms = sn::zeros(n, {.dtype = sn::int32}),
          last = sn::full(n, -1, {.dtype = sn::int32});
  for (int k = 0; k < steps; ++k) {
    const ndarray now = x(k);
    const ndarray e = now - mean;
    statement(e);
    mean = mean + 0.05f * e;
    statement(mean);
    up = sn::maximum(up + e - 0.1f, 0.0f);
    statement(up);
    down = sn::maximum(down - e - 0.1f, 0.0f);
    statement(down);
    const ndarray hit = (up > 1.0f) | (down > 1.0f);
    statement(hit);
    alarms += hit;
    statement(alarms);
    last = sn::where(hit, k, last);
    statement(last);
    up = sn::where(hit, 0.0f, up);
    statement(up);
    down = sn::where(hit, 0.0f, down);
    statement(down);
  }
  return {mean, up, down, alarms, last};
}

inline arrays mixed_precision(int steps, std::int64_t n) {  // float16, weights in float32
  const std::int64_t m = n / 64;
  const ndarray x = sn::astype(uniform({m, 64}, 764) - 0.5f, sn::float16), y = sn::astype(uniform(m, 765), sn::float16);
  sn::eval(x, y);
  ndarray w = sn::zeros({64}, {.dtype = sn::float32}), mom = sn::zeros({64}, {.dtype = sn::float32});
  arrays losses;
  for (int k = 0; k < steps; ++k) {
    const ndarray h = sn::astype(w, sn::float16);
    statement(h);
    const ndarray r = sn::sum(x * h, 1) - y;
    statement(r);
    losses.push_back(sn::mean(sn::astype(r, sn::float32) * sn::astype(r, sn::float32)));
    statement(losses.back());
    const ndarray g = sn::mean(x * r(_, newaxis), 0);
    statement(g);
    mom = 0.9f * mom + sn::astype(g, sn::float32);
    statement(mom);
    w = w - 0.3f * mom;
    statement(w);
  }
  losses.push_back(w);
  return losses;
}

inline arrays quantum_walk(int steps, std::int64_t n) {
  ndarray up = sn::astype(uniform(n, 766) - 0.5f, sn::complex64),
          down = sn::astype(uniform(n, 767) - 0.5f, sn::complex64) * std::complex<float>(0, 1);
  arrays norms;
  const float h = 0.70710678f;
  for (int k = 0; k < steps; ++k) {
    const ndarray a = h * (up + down), b = h * (up - down);
    statement(a, b);
    up = sn::roll(a, 1);
    statement(up);
    down = sn::roll(b, -1) * std::complex<float>(0.6f, 0.8f);
    statement(down);
    const ndarray p = sn::real(up * sn::conj(up)) + sn::real(down * sn::conj(down));
    statement(p);
    norms.push_back(sn::sum(p));
    statement(norms.back());
  }
  norms.insert(norms.end(), {up, down});
  return norms;
}

inline arrays bandits(int steps, std::int64_t n) {  // Thompson's
  const std::int64_t arms = 10, m = n / arms;
  sn::random::generator g(773);
  const ndarray p = uniform({m, arms}, 774);
  ndarray wins = sn::ones({m, arms}, {.dtype = sn::float32}), losses = wins,
          regret = sn::zeros({m}, {.dtype = sn::float32});
  for (int k = 0; k < steps; ++k) {
    const ndarray mean = wins / (wins + losses), spread = sn::sqrt(mean * (1.0f - mean) / (wins + losses + 1.0f));
    statement(mean, spread);
    const ndarray draw = mean + spread * (g.random({m, arms}, {.dtype = sn::float32}) * 2.0f - 1.0f);
    statement(draw);
    const ndarray arm = sn::argmax(draw, 1);
    statement(arm);
    const ndarray chosen = arm(_, newaxis) == sn::arange(arms);
    statement(chosen);
    const ndarray paid = sn::sum(sn::where(chosen, p, 0.0f), 1);
    statement(paid);
    const ndarray won = g.random({m}, {.dtype = sn::float32}) < paid;
    statement(won);
    wins = wins + sn::astype(chosen & won(_, newaxis), sn::float32);
    statement(wins);
    losses = losses + sn::astype(chosen & sn::logical_not(won)(_, newaxis), sn::float32);
    statement(losses);
    regret = regret + (sn::max(p, 1) - paid);
    statement(regret);
  }
  return {wins, losses, regret};
}

inline arrays reconstruction(int steps, std::int64_t n) {  // a marker that grows below a mask
  const std::int64_t side = n < elements ? 16 : 141;
  const ndarray mask = uniform({side, side}, 777);
  ndarray marker = mask - 0.3f;
  arrays counts;
  for (int k = 0; k < steps; ++k) {
    const ndarray wide = sn::maximum(sn::maximum(sn::roll(marker, 1, 0), sn::roll(marker, -1, 0)),
                                     sn::maximum(sn::roll(marker, 1, 1), sn::roll(marker, -1, 1)));
    statement(wide);
    const ndarray next = sn::minimum(sn::maximum(marker, wide), mask);
    statement(next);
    counts.push_back(sn::sum(next != marker));
    statement(counts.back());
    marker = next;
  }
  counts.push_back(marker);
  return counts;
}

inline arrays dilemma(int steps, std::int64_t n) {  // played with neighbours, of whom the best is copied
  const std::int64_t side = n < elements ? 16 : 141;
  ndarray c = sn::astype(uniform({side, side}, 778) > 0.1f, sn::float32);
  for (int k = 0; k < steps; ++k) {
    ndarray around = c;
    for (int a = 0; a < 2; ++a)
      for (int s = -1; s <= 1; s += 2) around = around + sn::roll(c, s, a);
    statement(around);
    const ndarray pay = sn::where(c > 0.5f, around, 1.6f * around);
    statement(pay);
    ndarray best = pay, choice = c;
    for (int a = 0; a < 2; ++a)
      for (int s = -1; s <= 1; s += 2) {
        const ndarray p = sn::roll(pay, s, a);
        statement(p);
        choice = sn::where(p > best, sn::roll(c, s, a), choice);
        statement(choice);
        best = sn::maximum(best, p);
        statement(best);
      }
    c = choice;
  }
  return {c};
}

inline arrays boosting(int steps, std::int64_t n) {  // AdaBoost over fixed stumps
  const std::int64_t stumps = 16, m = n / stumps;
  const ndarray x = uniform({m, stumps}, 787), label = sn::where(uniform(m, 788) > 0.5f, 1.0f, -1.0f);
  const ndarray vote = sn::where(x > 0.5f, 1.0f, -1.0f);
  sn::eval(label, vote);
  ndarray w = sn::full(m, 1.0f / float(m), {.dtype = sn::float32}), score = sn::zeros({m}, {.dtype = sn::float32});
  arrays errors;
  for (int k = 0; k < steps; ++k) {  // votes by weights
    const ndarray wrong = sn::astype(vote != label(_, newaxis), sn::float32);
    statement(wrong);
    const ndarray e = sn::sum(w(_, newaxis) * wrong, 0);
    statement(e);
    const ndarray j = sn::argmin(e);
    statement(j);
    const ndarray ej = sn::min(e);
    statement(ej);
    const ndarray alpha = 0.5f * sn::log((1 - ej) / ej);
    statement(alpha);
    const ndarray h = sn::take(vote, j, 1);
    statement(h);
    w = w * sn::exp(-alpha * label * h);
    statement(w);
    w = w / sn::sum(w);
    statement(w);
    score = score + alpha * h;
    statement(score);
    errors.push_back(sn::mean(sn::astype(score * label < 0, sn::float32)));
    statement(errors.back());
  }
  errors.insert(errors.end(), {w, score});
  return errors;
}

inline const program neighbour_programs[] = {{"Bellman", iterated_values},
                                             {"Perona by pad", padded_diffusion},
                                             {"Kuramoto pairs", kuramoto_pairs},
                                             {"Laplacian pyramid", laplacian_pyramid},
                                             {"cumulative sums of changes", cusum},
                                             {"mixed precision", mixed_precision},
                                             {"quantum walk", quantum_walk},
                                             {"bandits", bandits},
                                             {"reconstruction", reconstruction},
                                             {"dilemma", dilemma},
                                             {"boosting", boosting}};

}  // namespace sinter::test::loops
