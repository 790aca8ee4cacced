#include "ops/linalg/einsum_order.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "ops/base/errors.hpp"
#include "sinter/error.hpp"

namespace sinter::ops {
namespace {

constexpr int most_optimal = 12, most_auto = 6, most_at_once = 4;

void append_product(term_list& left, std::size_t i, std::size_t k, const label_list& output) {
  const label_list a = left[i], b = left[k];
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(std::max(i, k)));
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(std::min(i, k)));
  left.push_back(labels_after(a, b, left, output));
}

term_list without_pair(const term_list& left, std::size_t i, std::size_t k) {
  term_list others;
  for (std::size_t n = 0; n < left.size(); ++n)
    if (n != i && n != k) others.push_back(left[n]);
  return others;
}

contraction_path at_once(std::size_t count) {
  std::vector<int> step(count);
  std::iota(step.begin(), step.end(), 0);
  return {step};
}

/// Greedy: the pair whose product takes least memory beyond the factors it replaces; among equals the cheapest one.
contraction_path greedy(term_list left, const einsum_terms& t) {
  contraction_path path;
  while (left.size() > 1) {
    std::size_t best_i = 0, best_k = 1;
    double least = 0, cheapest = 0;
    for (std::size_t i = 0; i < left.size(); ++i)
      for (std::size_t k = i + 1; k < left.size(); ++k) {
        const label_list after = labels_after(left[i], left[k], without_pair(left, i, k), t.output);
        const double grown = size_of(after, t) - size_of(left[i], t) - size_of(left[k], t);
        const double cost = size_of(united(left[i], left[k]), t);
        const bool first = i == 0 && k == 1;
        if (!first && (grown > least || (grown == least && cost >= cheapest))) continue;
        least = grown, cheapest = cost;
        best_i = i, best_k = k;
      }
    path.push_back({static_cast<int>(best_i), static_cast<int>(best_k)});
    append_product(left, best_i, best_k, t.output);
  }
  return path;
}

/// Fewest multiplications over all orders, by dynamic programming: the best contraction of each subset, by increasing
/// size.
class subset_search {
 public:
  subset_search(const term_list& terms, const einsum_terms& t)
      : terms_(terms),
        t_(t),
        count_(terms.size()),
        labels_(std::size_t{1} << count_),
        cost_(labels_.size(), -1.0),
        split_(labels_.size()) {
    for (std::uint32_t s = 1; s < labels_.size(); ++s) labels_[s] = labels_of(s);
    for (std::size_t k = 0; k < count_; ++k) cost_[std::size_t{1} << k] = 0;
    for (std::uint32_t s = 1; s < labels_.size(); ++s)
      if (cost_[s] < 0) search(s);
  }

  contraction_path path() const {
    contraction_path out;
    std::vector<std::uint32_t> places;  // the subset at each position
    for (std::size_t k = 0; k < count_; ++k) places.push_back(std::uint32_t{1} << k);
    if (count_ > 1) contract(static_cast<std::uint32_t>(labels_.size() - 1), places, out);
    return out;
  }

 private:
  /// Labels that remain in the product of a subset.
  label_list labels_of(std::uint32_t s) const {
    label_list all, kept;
    for (std::size_t k = 0; k < count_; ++k)
      if (s >> k & 1) all = united(all, terms_[k]);
    for (const label l : all) {
      bool needed = holds(t_.output, l);
      for (std::size_t k = 0; k < count_ && !needed; ++k) needed = !(s >> k & 1) && holds(terms_[k], l);
      if (needed) kept.push_back(l);
    }
    return kept;
  }
  void search(std::uint32_t s) {
    for (std::uint32_t part = (s - 1) & s; part > 0; part = (part - 1) & s) {
      const std::uint32_t rest = s ^ part;
      if (part < rest) continue;  // visits each pair once
      const double cost = cost_[part] + cost_[rest] + size_of(united(labels_[part], labels_[rest]), t_);
      if (cost_[s] >= 0 && cost >= cost_[s]) continue;
      cost_[s] = cost;
      split_[s] = part;
    }
  }
  void contract(std::uint32_t s, std::vector<std::uint32_t>& places, contraction_path& out) const {
    if ((s & (s - 1)) == 0) return;
    const std::uint32_t parts[] = {split_[s], s ^ split_[s]};
    for (const std::uint32_t p : parts) contract(p, places, out);
    std::vector<int> step;
    for (const std::uint32_t p : parts)
      step.push_back(static_cast<int>(std::find(places.begin(), places.end(), p) - places.begin()));
    std::sort(step.begin(), step.end());
    for (int k = 1; k >= 0; --k) places.erase(places.begin() + step[static_cast<std::size_t>(k)]);
    places.push_back(s);
    out.push_back(step);
  }

  const term_list& terms_;
  const einsum_terms& t_;
  std::size_t count_;
  std::vector<label_list> labels_;
  std::vector<double> cost_;
  std::vector<std::uint32_t> split_;
};

/// From left to right: the product so far is last in the list, the next operand first.
contraction_path left_to_right(std::size_t count) {
  contraction_path path;
  if (count > 1) path.push_back({0, 1});
  for (std::size_t left = count - 1; left > 1; --left) path.push_back({0, static_cast<int>(left) - 1});
  return path;
}

contraction_path checked(const contraction_path& given, std::size_t count) {
  auto left = static_cast<int>(count);
  for (const std::vector<int>& step : given) {
    std::vector<int> places = step;
    std::sort(places.begin(), places.end());
    const bool fits = !places.empty() && places.front() >= 0 && places.back() < left &&
                      std::adjacent_find(places.begin(), places.end()) == places.end();
    if (!fits) ops::fail<value_error>("einsum", "the path does not fit ", count, " operands");
    left -= static_cast<int>(places.size()) - 1;
  }
  contraction_path path = given;
  if (left > 1) {  // the remaining operands in one step, as NumPy does
    path.emplace_back();
    for (int k = 0; k < left; ++k) path.back().push_back(k);
  }
  return path;
}

}  // namespace

label_list united(const label_list& a, const label_list& b) {
  label_list out = a;
  for (const label l : b)
    if (!holds(out, l)) out.push_back(l);
  return out;
}

label_list without(const label_list& all, const label_list& some) {
  label_list out;
  for (const label l : all)
    if (!holds(some, l)) out.push_back(l);
  return out;
}

double size_of(const label_list& labels, const einsum_terms& t) {
  double n = 1;
  for (const label l : labels) n *= static_cast<double>(t.extent(l));
  return n;
}

label_list labels_after(const label_list& a, const label_list& b, const term_list& others, const label_list& output) {
  label_list kept;
  for (const label l : united(a, b))
    if (holds(output, l) || std::any_of(others.begin(), others.end(), [l](auto& o) { return holds(o, l); }))
      kept.push_back(l);
  return kept;
}

bool one_sum_suffices(const term_list& terms) { return terms.size() > 2 && term_with_all_labels(terms) < terms.size(); }

std::size_t term_with_all_labels(const term_list& terms) {
  label_list all;
  for (const label_list& in : terms) all = united(all, in);
  std::size_t k = 0;
  while (k < terms.size() && terms[k].size() != all.size()) ++k;
  return k;
}

contraction_path order_of(const term_list& terms, const einsum_terms& t, const einsum_kw& kw) {
  if (!kw.path.empty()) return checked(kw.path, terms.size());
  const auto count = static_cast<int>(terms.size());
  if (kw.optimize == "none") return left_to_right(terms.size());
  if (kw.optimize == "auto" && count <= most_at_once && one_sum_suffices(terms)) return at_once(terms.size());
  if (kw.optimize == "greedy" || (kw.optimize == "auto" && count > most_auto)) return greedy(terms, t);
  if (kw.optimize != "optimal" && kw.optimize != "auto")
    ops::fail<value_error>("einsum", "optimize is '", kw.optimize,
                           "'; it may be 'auto', 'greedy', 'optimal' or 'none'");
  if (count > most_optimal)
    ops::fail<value_error>("einsum", "the optimal order of ", count, " operands takes too long to find; use 'greedy'");
  return subset_search(terms, t).path();
}

}  // namespace sinter::ops
