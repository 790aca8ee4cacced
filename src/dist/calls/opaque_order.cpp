// Sorts of vectors that are divided: parts are sorted, cut where the result's parts begin, exchanged, and merged, or sorted
// again where their places are asked for, too. In one process and in several alike: the cuts are found by asking all parts how much of them comes before a candidate.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "dist/calls/opaque_parts.hpp"
#include "graph/run/array.hpp"
#include "graph/run/flush.hpp"
#include "ops/base/algorithm_calls.hpp"
#include "ops/base/promotion_args.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/search.hpp"
#include "sinter/sort.hpp"

namespace sinter::sharding {

using ops::opaque_call;

namespace {

/// A vector in sorted parts, equal elements in the order in which they were.
struct sorted_parts {
  operand_parts keys;
  operand_parts places;  // where they were; empty: not asked for
  bool descending = false;

  const split& line() const noexcept { return keys.how().splits[0]; }
  bool has_places() const noexcept { return places.m != nullptr; }
};

/// A position of this process with a part, -1: none.
int owner_of(const mesh_state& m, const split& s, std::int64_t part) {
  for (int p = 0; p < m.size(); ++p)
    if (m.is_local(p) && m.number_along(p, s.over) == part) return p;
  return -1;
}

/// The parts whose answers this process gives: in a job with several positions for a part, the first one gives them.
bool answers_for(const mesh_state& m, const split& s, std::int64_t part) {
  for (int p = 0; p < m.size(); ++p)
    if (m.number_along(p, s.over) == part) return m.is_local(p);
  return false;
}

/// All texts of processes behind each other; those of this one where there are no others.
std::string all_texts(const mesh_state& m, const std::string& mine) {
  if (!m.group) return mine;
  std::string all;
  for (const std::string& one : m.group->gather_texts(mine)) all += one;
  return all;
}

std::string bytes_of(const ndarray& x) {
  const graph::view_ref v = graph::make_array(ops::value_of(x));
  std::string out(static_cast<std::size_t>(ops::value_of(x)->bytes()), 0);
  graph::copy_to_host(*v, out.data());
  return out;
}

struct candidate {
  std::int64_t part = 0, at = 0;
};

/// For each candidate (the k-th is an element of a part) how many elements of each part come before it: those that are before
/// it in the order, and of equal ones those of lower parts. rows: candidates, columns: parts.
std::vector<std::vector<std::int64_t>> elements_before(const sorted_parts& all, const std::vector<candidate>& asked) {
  const mesh_state& m = *all.keys.m;
  const split& s = all.line();
  const dtype type = all.keys.leaf->type;
  const std::size_t size = itemsize(type), count = asked.size();
  // The candidates' elements, from who has them.
  std::string mine;
  const auto answer = [&](auto&& f) {
    if (m.group) runtime::fail_together(*m.group, f);
    else f();
  };
  answer([&] {
    for (std::int64_t part = 0; part < s.parts(); ++part) {
      if (!answers_for(m, s, part)) continue;
      const ndarray keys = all.keys.at(owner_of(m, s, part));
      std::vector<std::uint64_t> numbers;
      std::vector<std::int64_t> at;
      for (std::size_t k = 0; k < count; ++k)
        if (asked[k].part == part) numbers.push_back(k), at.push_back(asked[k].at);
      if (at.empty()) continue;
      const std::string found = bytes_of(take(keys, array(at, {.device = keys.device()})));
      for (std::size_t k = 0; k < at.size(); ++k) {
        mine.append(reinterpret_cast<const char*>(&numbers[k]), sizeof numbers[k]);
        mine.append(found, k * size, size);
      }
    }
  });
  const std::string found = all_texts(m, mine);
  std::string elements(count * size, 0);
  for (std::size_t at = 0; at + sizeof(std::uint64_t) + size <= found.size(); at += sizeof(std::uint64_t) + size) {
    std::uint64_t number = 0;
    std::memcpy(&number, found.data() + at, sizeof number);
    std::memcpy(elements.data() + number * size, found.data() + at + sizeof number, size);
  }
  mine.clear();
  answer([&] {
    for (std::int64_t part = 0; part < s.parts(); ++part) {
      if (!answers_for(m, s, part)) continue;
      const ndarray keys = all.keys.at(owner_of(m, s, part));
      const std::int64_t n = keys.size();
      std::vector<std::int64_t> before(count * 2, 0);
      if (n > 0) {
        const ndarray wanted = detail::from_memory(elements.data(), type, shape_t{static_cast<std::int64_t>(count)},
                                                   {.device = keys.device()});
        const ndarray ascending = all.descending ? ndarray(keys["::-1"]) : keys;
        const ndarray left = searchsorted(ascending, wanted, "left"), right = searchsorted(ascending, wanted, "right");
        const ndarray first = all.descending ? n - right : left, last = all.descending ? n - left : right;
        eval(first, last);
        const std::string a = bytes_of(first), b = bytes_of(last);
        std::memcpy(before.data(), a.data(), a.size());
        std::memcpy(before.data() + count, b.data(), b.size());
      }
      mine.append(reinterpret_cast<const char*>(&part), sizeof part);
      mine.append(reinterpret_cast<const char*>(before.data()), before.size() * sizeof(std::int64_t));
    }
  });
  const std::string counts = all_texts(m, mine);
  std::vector<std::vector<std::int64_t>> out(count, std::vector<std::int64_t>(static_cast<std::size_t>(s.parts()), 0));
  const std::size_t record = (1 + 2 * count) * sizeof(std::int64_t);
  for (std::size_t at = 0; at + record <= counts.size(); at += record) {
    std::vector<std::int64_t> one(1 + 2 * count);
    std::memcpy(one.data(), counts.data() + at, record);
    for (std::size_t k = 0; k < count; ++k) {
      const std::int64_t part = one[0];
      out[k][static_cast<std::size_t>(part)] = part == asked[k].part  ? asked[k].at
                                               : part < asked[k].part ? one[1 + count + k]
                                                                      : one[1 + k];
    }
  }
  return out;
}

/// Between what the cut of each part lies.
struct cut_search {
  std::int64_t rank = 0;  // elements before the cut, of all parts
  std::vector<std::int64_t> low, high;

  std::size_t widest() const {
    std::size_t w = 0;
    for (std::size_t k = 1; k < low.size(); ++k)
      if (high[k] - low[k] > high[w] - low[w]) w = k;
    return w;
  }
  bool is_done() const { return low == high; }
  void narrow(const std::vector<std::int64_t>& before, std::size_t of) {
    std::int64_t count = 0;
    for (const std::int64_t b : before) count += b;
    for (std::size_t k = 0; k < low.size(); ++k) {
      if (count < rank) low[k] = std::max(low[k], before[k] + (k == of));
      else high[k] = std::min(high[k], before[k]);
      high[k] = std::max(high[k], low[k]);
    }
  }
};

/// For each boundary that is searched as many elements of its widest part: a round takes the host a fraction of a millisecond,
/// however many there are.
constexpr std::int64_t candidates_a_round = 64;

/// For each boundary how many elements of each part are before it.
std::vector<std::vector<std::int64_t>> find_cuts(const sorted_parts& all, const std::vector<std::int64_t>& ranks) {
  std::vector<cut_search> searches;
  const split& s = all.line();
  for (const std::int64_t rank : ranks) {
    cut_search c{rank, std::vector<std::int64_t>(static_cast<std::size_t>(s.parts()), 0), {}};
    for (std::size_t k = 0; k + 1 < s.bounds.size(); ++k) c.high.push_back(s.bounds[k + 1] - s.bounds[k]);
    if (rank == 0) c.high = c.low;
    if (rank == s.bounds.back()) c.low = c.high;
    searches.push_back(std::move(c));
  }
  while (true) {
    std::vector<candidate> asked;
    std::vector<std::size_t> by;
    for (std::size_t k = 0; k < searches.size(); ++k) {
      const cut_search& c = searches[k];
      if (c.is_done()) continue;
      const std::size_t w = c.widest();
      const std::int64_t width = c.high[w] - c.low[w], count = std::min(width, candidates_a_round);
      for (std::int64_t j = 1; j <= count; ++j) {
        asked.push_back(
            {static_cast<std::int64_t>(w), c.low[w] + width / (count + 1) * j + width % (count + 1) * j / (count + 1)});
        by.push_back(k);
      }
    }
    if (asked.empty()) break;
    const auto before = elements_before(all, asked);
    for (std::size_t k = 0; k < asked.size(); ++k)
      searches[by[k]].narrow(before[k], static_cast<std::size_t>(asked[k].part));
  }
  std::vector<std::vector<std::int64_t>> out;
  for (const cut_search& c : searches) out.push_back(c.low);
  return out;
}

/// What each position gets of all parts, in their order.
std::vector<ndarray> exchanged(const operand_parts& x, const split& s,
                               const std::vector<std::vector<std::int64_t>>& cuts) {
  const mesh_state& m = *x.m;
  const std::lock_guard lock(graph::flush_mutex());
  const parts all = parts_of(m, *x.leaf);
  mover moves(m, false);
  wish_lists want(static_cast<std::size_t>(m.size()));
  for (int p = 0; p < m.size(); ++p) {
    const auto k = static_cast<std::size_t>(m.number_along(p, s.over));
    for (std::size_t j = 0; j + 1 < s.bounds.size(); ++j)
      want[static_cast<std::size_t>(p)].push_back({dims{s.bounds[j] + cuts[k][j]}, dims{s.bounds[j] + cuts[k + 1][j]}});
  }
  std::vector<ndarray> out;
  for (const value& v : moves.fetch_behind(all, x.shape(), x.leaf->type, want, 0))
    out.push_back(v ? ops::wrap(v) : ndarray());
  return out;
}

/// Where what part k gets of each part ends.
std::vector<std::int64_t> run_ends(const std::vector<std::vector<std::int64_t>>& cuts, std::size_t k) {
  std::vector<std::int64_t> ends;
  for (std::size_t j = 0; j < cuts[k].size(); ++j)
    ends.push_back((ends.empty() ? 0 : ends.back()) + cuts[k + 1][j] - cuts[k][j]);
  return ends;
}

ndarray in_parts_of(const operand_parts& x, const std::function<ndarray(int)>& make, dtype type) {
  return from_parts(*x.m, x.how(), x.shape(), type, make);
}

}  // namespace

sorted_vector sort_vector(const operand_parts& x, bool descending, bool with_places) {
  const mesh_state& m = *x.m;
  const split& s = x.how().splits[0];
  const sort_kw kw{.descending = descending};
  sorted_parts all;
  all.descending = descending;
  if (with_places) {
    std::vector<ndarray> order(static_cast<std::size_t>(m.size()));
    const auto order_at = [&](int p) {
      ndarray& o = order[static_cast<std::size_t>(p)];
      if (!o.defined()) o = argsort(x.at(p), kw);
      return o;
    };
    all.keys = parts_of(in_parts_of(
        x, [&](int p) { return take(x.at(p), order_at(p)); }, x.leaf->type));
    all.places = parts_of(in_parts_of(
        x, [&](int p) { return order_at(p) + s.bounds[static_cast<std::size_t>(m.number_along(p, s.over))]; },
        dtype::i64));
  } else {
    all.keys = parts_of(in_parts_of(
        x, [&](int p) { return sort(x.at(p), kw); }, x.leaf->type));
  }
  const std::vector<std::int64_t> bounds = even_bounds(x.shape()[0], s.parts());
  const auto cuts = find_cuts(all, bounds);
  layout how;
  how.add({0, s.over, bounds});
  const std::vector<ndarray> keys = exchanged(all.keys, s, cuts);
  sorted_vector out;
  if (!with_places) {
    out.values = from_parts(m, how, x.shape(), x.leaf->type, [&](int p) {
      const std::vector<std::int64_t> ends = run_ends(cuts, static_cast<std::size_t>(m.number_along(p, s.over)));
      return ops::wrap(ops::merged_runs(ops::value_of(keys[static_cast<std::size_t>(p)]), ends, descending));
    });
    return out;
  }
  const std::vector<ndarray> places = exchanged(all.places, s, cuts);
  std::vector<ndarray> order;
  for (int p = 0; p < m.size(); ++p)
    order.push_back(m.is_local(p) ? argsort(keys[static_cast<std::size_t>(p)], kw) : ndarray());
  const auto ordered = [&](const std::vector<ndarray>& of, dtype type) {
    return from_parts(m, how, x.shape(), type, [&](int p) {
      const auto k = static_cast<std::size_t>(p);
      return take(of[k], order[k]);
    });
  };
  out.values = ordered(keys, x.leaf->type);
  out.places = ordered(places, dtype::i64);
  return out;
}

namespace {

/// The vector that a call is about: its operand, or that as one row, for which each element moves once where another axis than the first is
/// divided. False where a large array has fewer rows than there are parts.
bool as_vector(const opaque_call& call, operand_parts& x) {
  x = parts_of(call.operands[0]);
  if (x.shape().size() == 1) return x.how().splits.size() == 1;
  if (call.numbers[0] >= 0 || x.shape().empty()) return false;
  std::int64_t parts = 1;
  for (const split& s : x.how().splits) parts *= s.parts();
  int first = 0;
  while (first + 1 < x.shape().size() && x.shape()[first] == 1) ++first;
  if (x.shape()[first]<parts&& static_cast<std::int64_t>(x.leaf->bytes())> small_operand) return false;
  x = parts_of(ops::wrap(x.leaf).reshape(shape_t{-1}));
  return x.how().splits.size() == 1;
}

}  // namespace

bool orders_vector(const opaque_call& call) {
  operand_parts x;
  return as_vector(call, x);
}

results sort_parts(const opaque_call& call) {
  operand_parts x;
  as_vector(call, x);
  const std::string_view name = call.name;
  const bool descending = (name == "sort" || name == "argsort") && call.numbers[1] != 0;
  const bool places = name == "argsort" || name == "argpartition";
  const sorted_vector r = sort_vector(x, descending, places);
  return {places ? r.places : r.values};
}

/// Of few elements each part gives its own first ones to all; else everything is sorted.
results first_of_parts(const opaque_call& call) {
  operand_parts x;
  as_vector(call, x);
  const mesh_state& m = *x.m;
  const std::int64_t k = call.numbers[1];
  const bool largest = call.numbers[2] != 0;
  if (k < 0 || k > x.shape()[0])
    throw value_error("[topk] k (" + std::to_string(k) + ") is out of range for an axis of " +
                      std::to_string(x.shape()[0]) + " elements");
  constexpr std::int64_t few = 1 << 16;
  if (k > few) {
    const sorted_vector r = sort_vector(x, largest, true);
    return {ndarray(r.values(slice(0, k))).copy(), ndarray(r.places(slice(0, k))).copy()};
  }
  const split& s = x.how().splits[0];
  split found{0, s.over, {0}};
  for (std::size_t j = 0; j + 1 < s.bounds.size(); ++j)
    found.bounds.push_back(found.bounds.back() + std::min(k, s.bounds[j + 1] - s.bounds[j]));
  const dims shape{found.bounds.back()};
  layout how;
  how.add(found);
  std::vector<topk_result> own(static_cast<std::size_t>(m.size()));
  const auto own_at = [&](int p) -> const topk_result& {
    topk_result& r = own[static_cast<std::size_t>(p)];
    const auto j = static_cast<std::size_t>(m.number_along(p, s.over));
    if (!r.values.defined()) {
      r = topk(x.at(p), std::min(k, s.bounds[j + 1] - s.bounds[j]), {.largest = largest});
      r.indices = r.indices + s.bounds[j];
    }
    return r;
  };
  const operand_parts values =
      parts_of(from_parts(m, how, shape, x.leaf->type, [&](int p) { return own_at(p).values; })).as({});
  const operand_parts places =
      parts_of(from_parts(m, how, shape, dtype::i64, [&](int p) { return own_at(p).indices; })).as({});
  std::vector<ndarray> order(static_cast<std::size_t>(m.size()));
  const auto chosen = [&](const operand_parts& of, dtype type) {
    return from_parts(m, {}, dims{k}, type, [&](int p) {
      ndarray& o = order[static_cast<std::size_t>(p)];
      if (!o.defined()) o = topk(values.at(p), k, {.largest = largest}).indices;
      return take(of.at(p), o);
    });
  };
  return {chosen(values, x.leaf->type), chosen(places, dtype::i64)};
}

/// Elements of given ranks: of the sorted vector.
results ranks_of_parts(const opaque_call& call) {
  operand_parts x = parts_of(call.operands[0]);
  if (x.shape().size() > 1) x = parts_of(ops::wrap(x.leaf).reshape(shape_t{-1}));
  // An array of one element is everywhere as a vector.
  const ndarray sorted = x.how().is_replicated() ? sort(ops::wrap(x.leaf)) : sort_vector(x, false, false).values;
  std::vector<ndarray> found;
  for (const std::int64_t rank : call.numbers) found.push_back(sorted(slice(rank, rank + 1)));
  dims shape = parts_of(call.operands[0]).shape();
  shape[shape.size() - 1] = static_cast<std::int64_t>(found.size());
  return {concatenate(found).reshape(ops::to_shape(shape))};
}

}  // namespace sinter::sharding
