// Sorts and running sums along a divided axis.
#include <algorithm>
#include <string_view>

#include "dist/opaque_parts.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/search.hpp"
#include "sinter/sort.hpp"

namespace sinter::sharding {

using ops::opaque_call;

namespace {

ndarray along(const ndarray& x, int axis, std::int64_t first, std::int64_t end) {
  std::vector<sinter::index> key;
  for (int a = 0; a < axis; ++a) key.emplace_back(slice(none_t{0}));
  key.emplace_back(slice(first, end));
  return x(key);
}

/// One part with its sorted elements.
struct sorted_part {
  ndarray all;
  std::int64_t low = 0, high = 0;  // between which the boundary lies
};

std::int64_t place(const ndarray& all, const ndarray& key, const char* side) {
  return searchsorted(all, key.device() == all.device() ? key : key.to_device(all.device()), side).item<std::int64_t>();
}

/// How many elements of each sorted part are among the first `rank` of all; equal ones come from lower parts first.
std::vector<std::int64_t> first_of_all(std::vector<sorted_part>& all, std::int64_t rank) {
  for (sorted_part& s : all) s.low = 0, s.high = s.all.size();
  while (true) {
    std::size_t widest = 0;
    for (std::size_t k = 1; k < all.size(); ++k)
      if (all[k].high - all[k].low > all[widest].high - all[widest].low) widest = k;
    if (all[widest].high == all[widest].low) break;
    const std::int64_t middle = (all[widest].low + all[widest].high) / 2;
    const ndarray key = along(all[widest].all, 0, middle, middle + 1);
    std::vector<std::int64_t> before;  // elements of each part before this one
    std::int64_t count = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
      before.push_back(k == widest              ? middle
                       : all[k].all.size() == 0 ? 0
                                                : place(all[k].all, key, k < widest ? "right" : "left"));
      count += before.back();
    }
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (count < rank) all[k].low = std::max(all[k].low, before[k] + (k == widest));
      else all[k].high = std::min(all[k].high, before[k]);
      if (all[k].high < all[k].low) all[k].high = all[k].low;
    }
  }
  std::vector<std::int64_t> out;
  for (const sorted_part& s : all) out.push_back(s.low);
  return out;
}

}  // namespace

/// Parts are sorted, each position gets the elements that belong there, in the order of parts, and sorts these.
results sort_parts(const opaque_call& call) {
  const operand_parts x = parts_of(call.operands[0]);
  const split& s = x.how().splits[0];
  const auto sorted = [&](const ndarray& part) { return call.again(std::vector<ndarray>{part})[0]; };
  std::vector<int> owner;  // of each part
  for (std::int64_t k = 0; k < s.parts(); ++k)
    for (int p = 0; p < x.m->size(); ++p)
      if (x.m->number_along(p, s.over) == k) {
        owner.push_back(p);
        break;
      }
  std::vector<sorted_part> all;
  for (const int p : owner) all.push_back({sorted(x.at(p)), 0, 0});
  const std::vector<std::int64_t> bounds = even_bounds(x.shape()[0], s.parts());
  std::vector<std::vector<std::int64_t>> cuts;
  for (const std::int64_t b : bounds) cuts.push_back(first_of_all(all, b));
  layout how;
  how.add({0, s.over, bounds});
  const ndarray out = from_parts(*x.m, how, x.shape(), x.leaf->type, [&](int p) {
    const auto k = static_cast<std::size_t>(x.m->number_along(p, s.over));
    std::vector<ndarray> mine;
    for (std::size_t j = 0; j < all.size(); ++j) {
      ndarray block = along(all[j].all, 0, cuts[k][j], cuts[k + 1][j]);
      const device here = ops::to_public(x.m->devices[static_cast<std::size_t>(p)]);
      mine.push_back(block.device() == here ? block : block.to_device(here));
    }
    return sorted(concatenate(mine));
  });
  return {out};
}

/// Parts are scanned, and what comes before a part is applied to it. Numbers that round get other roundings than on one
/// device.
results scan_parts(const opaque_call& call) {
  const operand_parts x = parts_of(call.operands[0]);
  const int axis = static_cast<int>(call.numbers[0]);
  const std::string_view name = call.name;
  const auto apply = [&](const ndarray& a, const ndarray& b) {
    return name == "cumsum" ? a + b : name == "cumprod" ? a * b : name == "cummax" ? maximum(a, b) : minimum(a, b);
  };
  const split* const s = x.how().along(axis);
  std::vector<ndarray> scanned(static_cast<std::size_t>(x.m->size()));
  const auto scan = [&](int p) { return call.again(std::vector<ndarray>{x.at(p)})[0]; };
  if (!s) return {from_parts(*x.m, x.how(), x.shape(), x.leaf->type, scan)};
  if (x.m->group)
    refuse_call(call, x, "its parts are in several processes",
                "redistribute it along another axis, or with {replicate()}");
  for (int p = 0; p < x.m->size(); ++p) {
    const int t = x.m->twin(x.how(), p);
    scanned[static_cast<std::size_t>(p)] = t < p ? scanned[static_cast<std::size_t>(t)] : scan(p);
  }
  return {from_parts(*x.m, x.how(), x.shape(), x.leaf->type, [&](int p) {
    const std::int64_t number = x.m->number_along(p, s->over);
    ndarray before;
    for (std::int64_t k = 0; k < number; ++k)
      for (int q = 0; q < x.m->size(); ++q) {
        if (x.m->number_along(q, s->over) != k) continue;
        const bool beside = std::all_of(x.how().splits.begin(), x.how().splits.end(), [&](const split& other) {
          return other.axis == axis || x.m->number_along(p, other.over) == x.m->number_along(q, other.over);
        });
        if (!beside) continue;
        const ndarray& part = scanned[static_cast<std::size_t>(q)];
        const std::int64_t extent = part.shape(axis);
        if (extent == 0) break;
        ndarray last = along(part, axis, extent - 1, extent);
        const device here = ops::to_public(x.m->devices[static_cast<std::size_t>(p)]);
        if (!(last.device() == here)) last = last.to_device(here);
        before = before.defined() ? apply(before, last) : last;
        break;
      }
    const ndarray& own = scanned[static_cast<std::size_t>(p)];
    return before.defined() ? apply(before, own) : own;
  })};
}

}  // namespace sinter::sharding
