// Requests sorted by whom they ask, and blocks of them exchanged.
#include "dist/routes.hpp"

#include <algorithm>
#include <cstring>

#include "dist/partitioner.hpp"
#include "graph/run/array.hpp"
#include "graph/run/flush.hpp"
#include "ops/base/access.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/error.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/search.hpp"
#include "sinter/sort.hpp"

namespace sinter::sharding {
namespace {

std::vector<std::int64_t> numbers_of(const ndarray& x) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(x.size()));
  graph::copy_to_host(*graph::make_array(ops::value_of(x)), out.data());
  return out;
}

}  // namespace

route::route(const mesh_state& m, mover& moves, const split& owners, const parts& requests, std::int64_t count,
             int axis)
    : mesh_(m),
      moves_(moves),
      owners_(owners),
      list_(requests.how.splits.empty() ? split{0, {}, {0, count}} : requests.how.splits[0]),
      count_(count),
      extent_(owners.bounds.back()),
      axis_(axis) {
  sort_requests(requests);
}

void route::sort_requests(const parts& requests) {
  const auto n = static_cast<std::size_t>(mesh_.size());
  sorted_.resize(n);
  order_.resize(n);
  const std::int64_t owners = owners_.parts();
  const std::vector<std::int64_t> inner(owners_.bounds.begin() + 1, owners_.bounds.end() - 1);
  std::vector<told> mine(static_cast<std::size_t>(list_.parts()));
  const auto sort_part = [&](int p, told& tell) {
    const auto k = static_cast<std::size_t>(p);
    tell.cuts.assign(static_cast<std::size_t>(owners) + 1, 0);
    if (requests.at[k].empty()) return;
    const box where = mesh_.part(requests.how, dims{count_}, p);
    const create_kw here{.dtype = dtype::i64, .device = ops::to_public(mesh_.devices[k])};
    const ndarray given = ops::wrap(joined(requests.at[k], where, dtype::i64, mesh_.devices[k]));
    const ndarray number = sinter::where(given < 0, given + extent_, given);
    ndarray owner = zeros_like(number);
    if (!inner.empty())
      owner = searchsorted(detail::from_memory(inner.data(), dtype::i64, shape_t{owners - 1}, here), number, "right");
    const ndarray order = argsort(owner);
    const ndarray sorted = take(number, order), cuts = searchsorted(take(owner, order), arange(owners + 1, here));
    tell.cuts = numbers_of(cuts);
    tell.low = numbers_of(min(given))[0];
    tell.high = numbers_of(max(given))[0];
    sorted_[k] = ops::value_of(sorted);
    order_[k] = ops::value_of(order);
    const value both[] = {sorted_[k], order_[k]};
    graph::flush(both);
  };
  const auto sort_all = [&] {
    for (int p = 0; p < mesh_.size(); ++p) {
      if (!mesh_.is_local(p)) continue;
      const auto k = static_cast<std::size_t>(p);
      if (const int t = mesh_.twin(requests.how, p); t < p) {
        sorted_[k] = sorted_[static_cast<std::size_t>(t)];
        order_[k] = order_[static_cast<std::size_t>(t)];
      } else {
        sort_part(p, mine[static_cast<std::size_t>(mesh_.number_along(p, list_.over))]);
      }
    }
  };
  if (mesh_.group) runtime::fail_together(*mesh_.group, sort_all);
  else sort_all();
  tell_all(std::move(mine));
}

/// Of each part of the list; those of other processes are asked for.
void route::tell_all(std::vector<told> mine) {
  if (mesh_.group) {
    std::string text;
    for (std::size_t part = 0; part < mine.size(); ++part) {
      if (mine[part].cuts.empty()) continue;
      std::vector<std::int64_t> record{static_cast<std::int64_t>(part), mine[part].low, mine[part].high};
      record.insert(record.end(), mine[part].cuts.begin(), mine[part].cuts.end());
      text.append(reinterpret_cast<const char*>(record.data()), record.size() * sizeof(std::int64_t));
    }
    const std::size_t length = static_cast<std::size_t>(owners_.parts()) + 4;
    for (const std::string& one : mesh_.group->gather_texts(text))
      for (std::size_t at = 0; at + length * sizeof(std::int64_t) <= one.size(); at += length * sizeof(std::int64_t)) {
        std::vector<std::int64_t> record(length);
        std::memcpy(record.data(), one.data() + at, length * sizeof(std::int64_t));
        mine[static_cast<std::size_t>(record[0])] = {{record.begin() + 3, record.end()}, record[1], record[2]};
      }
  }
  for (const told& one : mine) {
    for (const std::int64_t number : {one.low, one.high})
      if (one.cuts.back() > 0 && (number < -extent_ || number >= extent_))
        throw index_error("[index] index " + std::to_string(number) + " is out of range for axis " +
                          std::to_string(axis_) + " with extent " + std::to_string(extent_));
    cuts_.push_back(one.cuts);
  }
}

std::int64_t route::asked_of(std::int64_t owner) const {
  std::int64_t all = 0;
  for (std::int64_t j = 0; j < list_.parts(); ++j) all += sent(j, owner);
  return all;
}

/// The blocks of an array beside the list that each position's rows are asked by.
wish_lists route::blocks_for_owners(const layout& how, const dims& shape, int axis) const {
  wish_lists want(static_cast<std::size_t>(mesh_.size()));
  for (int p = 0; p < mesh_.size(); ++p) {
    const std::int64_t owner = mesh_.number_along(p, owners_.over);
    for (std::int64_t j = 0; j < list_.parts(); ++j) {
      box b = mesh_.part(how, shape, p);
      b.first[axis] = list_.bounds[static_cast<std::size_t>(j)] + cut(j, owner);
      b.end[axis] = b.first[axis] + sent(j, owner);
      want[static_cast<std::size_t>(p)].push_back(std::move(b));
    }
  }
  return want;
}

layout route::list_layout() const {
  layout how;
  if (!list_.over.empty()) how.add({0, list_.over, list_.bounds});
  return how;
}

std::vector<value> route::asked() const {
  const layout how = list_layout();
  const dims shape{count_};
  const parts sorted = as_parts(mesh_, how, shape, sorted_);
  std::vector<value> out = moves_.fetch_behind(sorted, shape, dtype::i64, blocks_for_owners(how, shape, 0), 0);
  for (int p = 0; p < mesh_.size(); ++p)
    if (value& v = out[static_cast<std::size_t>(p)]; mesh_.is_local(p))
      v = ops::value_of(ops::wrap(v) - owners_.bounds[static_cast<std::size_t>(mesh_.number_along(p, owners_.over))]);
  return out;
}

std::vector<value> route::to_owners(const parts& rows, const dims& shape, dtype type, int axis) const {
  std::vector<value> in_order(static_cast<std::size_t>(mesh_.size()));
  for (int p = 0; p < mesh_.size(); ++p) {
    const auto k = static_cast<std::size_t>(p);
    if (!mesh_.is_local(p) || rows.at[k].empty()) continue;
    if (const int t = mesh_.twin(rows.how, p); t < p) {
      in_order[k] = in_order[static_cast<std::size_t>(t)];
      continue;
    }
    const ndarray mine = ops::wrap(joined(rows.at[k], mesh_.part(rows.how, shape, p), type, mesh_.devices[k]));
    in_order[k] = ops::value_of(take(mine, ops::wrap(order_[k]), axis));
  }
  return moves_.fetch_behind(as_parts(mesh_, rows.how, shape, std::move(in_order)), shape, type,
                             blocks_for_owners(rows.how, shape, axis), axis);
}

std::vector<value> route::to_requests(std::vector<value> rows, const layout& how, const dims& shape, dtype type,
                                      int axis) const {
  // The rows as an array: those of an owner behind those of the owners before it.
  split of_owners{axis, owners_.over, {0}};
  for (std::int64_t k = 0; k < owners_.parts(); ++k) of_owners.bounds.push_back(of_owners.bounds.back() + asked_of(k));
  layout from = how;
  from.drop(axis);
  from.add(of_owners);
  dims all = shape;
  all[axis] = of_owners.bounds.back();
  wish_lists want(static_cast<std::size_t>(mesh_.size()));
  for (int p = 0; p < mesh_.size(); ++p) {
    const std::int64_t list = mesh_.number_along(p, list_.over);
    for (std::int64_t owner = 0; owner < owners_.parts(); ++owner) {
      box b = mesh_.part(how, shape, p);
      b.first[axis] = of_owners.bounds[static_cast<std::size_t>(owner)];
      for (std::int64_t j = 0; j < list; ++j) b.first[axis] += sent(j, owner);
      b.end[axis] = b.first[axis] + sent(list, owner);
      want[static_cast<std::size_t>(p)].push_back(std::move(b));
    }
  }
  std::vector<value> got = moves_.fetch_behind(as_parts(mesh_, from, all, std::move(rows)), all, type, want, axis);
  for (int p = 0; p < mesh_.size(); ++p) {
    const auto k = static_cast<std::size_t>(p);
    if (!mesh_.is_local(p) || !order_[k]) continue;
    got[k] = ops::value_of(take(ops::wrap(got[k]), argsort(ops::wrap(order_[k])), axis));
  }
  return got;
}

}  // namespace sinter::sharding
