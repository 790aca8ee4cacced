// Further programs as a user would write them: waves, spins, images, series, ranks of pages.
#pragma once
#include "dist/user_programs.hpp"

namespace sinter::test {

/// A string between walls, of which one absorbs: two arrays in turn, written in place.
inline ndarray wave(const places& p) {
  ndarray now = p.rows(exp(-square(linspace(-4, 8, 611)))), before = now.copy();
  for (int k = 0; k < 30; ++k) {
    ndarray next = zeros_like(now);
    next["1:-1"] = 2 * now["1:-1"] - before["1:-1"] + 0.25 * (now[":-2"] - 2 * now["1:-1"] + now["2:"]);
    next["-1:"] = now["-2:-1"];
    before = now;
    now = next;
    if (k % 7 == 0) eval(now, before);
  }
  return now;
}

/// Spins on a torus, one colour of a checkerboard after the other.
inline ndarray spins(const places& p) {
  random::generator g(301);
  ndarray s = p.blocks(where(g.random({36, 28}) < 0.5, -1, 1).astype(int32));
  const ndarray black = p.blocks((arange(36)["..., None"] + arange(28)) % 2 == 0);
  for (int k = 0; k < 6; ++k)
    for (const bool colour : {true, false}) {
      const ndarray around = roll(s, 1, 0) + roll(s, -1, 0) + roll(s, 1, 1) + roll(s, -1, 1);
      const ndarray falls = p.blocks(g.random({36, 28})) < exp(-0.8 * (s * around).astype(float64));
      s = where((black == colour) & falls, -s, s);
      if (k == 3) eval(s);
    }
  return stack({sum(s), sum(s * roll(s, 1, 0)), max(cumsum(s, 1))});
}

/// An image whose grey values are spread evenly, then smoothed and its edges found.
inline ndarray edges_of_image(const places& p) {
  const ndarray image = p.rows(clip(random::generator(302).standard_normal({90, 70}) * 30 + 120, 0, 255));
  const ndarray counts = p.everywhere(histogram(image, 64, {.range = {0, 256}}).hist);
  const ndarray share = cumsum(counts).astype(float64) / static_cast<double>(image.size());
  const ndarray even = take(p.everywhere(share), floor(image / 4).astype(int64));
  const ndarray smooth = (even[":-2, 1:-1"] + even["2:, 1:-1"] + even["1:-1, :-2"] + even["1:-1, 2:"]) / 4;
  const ndarray across = smooth["1:, :-1"] - smooth[":-1, :-1"], along = smooth[":-1, 1:"] - smooth[":-1, :-1"];
  return sqrt(square(across) + square(along));
}

/// Returns of several papers: moving means, drawdowns, the days on which any of them fell most.
inline ndarray returns(const places& p) {
  const ndarray r = p.rows(random::generator(303).standard_normal({730, 6}) / 50);
  const ndarray price = exp(p.rows(cumsum(rint(random::generator(304).standard_normal({730, 6}) * 9), 0) / 512));
  const ndarray fall = price / cummax(price, 0) - 1;
  const ndarray mean_of_five = (r[":-4"] + r["1:-3"] + r["2:-2"] + r["3:-1"] + r["4:"]) / 5;
  const ndarray worst = argmin(fall, {.axis = 0});
  return concatenate({p.everywhere(min(fall, {.axis = 0})), p.everywhere(worst.astype(float64)),
                      p.everywhere(max(mean_of_five, {.axis = 0})), p.everywhere(median(r, {.axis = 0}))});
}

/// Ranks of pages by links that are drawn: to whom each page gives its share, by lists of indices.
inline ndarray ranks_of_pages(const places& p) {
  random::generator g(305);
  const ndarray from = p.rows(g.integers(0, 400, {2500})), to = p.rows(g.integers(0, 400, {2500}));
  const ndarray links = bincount(from, {.minlength = 400});
  ndarray rank = p.rows(ones({400}) / 400);
  for (int k = 0; k < 5; ++k) {
    const ndarray share = where(links > 0, rank / maximum(links, 1), 0.0);
    ndarray next = zeros_like(rank);
    add_at(next, to, take(share, from), {.deterministic = true});
    rank = 0.15 / 400 + 0.85 * (next + sum(where(links == 0, rank, 0.0)) / 400);
  }
  return rank;
}

inline const std::vector<user_program>& further_programs() {
  static const std::vector<user_program> all{{"wave", wave, 0},
                                             {"spins", spins, 0},
                                             {"edges of an image", edges_of_image, 0},
                                             {"returns", returns, 0},
                                             {"ranks of pages", ranks_of_pages, 0}};
  return all;
}

}  // namespace sinter::test
