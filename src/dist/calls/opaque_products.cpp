// Products of distributed matrices: rows, columns and stacks by parts, or sums of products of parts.
#include <algorithm>

#include "core/shape.hpp"
#include "dist/calls/opaque_parts.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::sharding {

using ops::opaque_call;

namespace {

/// How a product runs: layouts of its factors and its result, or of the partial products.
struct strategy {
  layout x, y, out;
  const split* inner = nullptr;  // the axis that both are divided along and that is summed over
  std::int64_t bytes = -1;
};

dims product_shape(const dims& x, const dims& y) {
  dims batch(x.data(), x.size() - 2);
  core::broadcast_into(batch, dims(y.data(), y.size() - 2));
  batch.push_back(x[x.size() - 2]);
  batch.push_back(y[y.size() - 1]);
  return batch;
}

/// A layout of the result as one of a factor: `own` is the factor's axis of the result's last two, -1 or -2.
layout of_factor(const layout& result, const dims& shape, const dims& factor, int own) {
  layout out;
  const int lead = shape.size() - factor.size();
  for (split s : result.splits) {
    const bool matrix = s.axis >= shape.size() - 2;
    if (matrix && s.axis != shape.size() + own) continue;
    s.axis -= lead;
    if (s.axis < 0 || factor[s.axis] != shape[s.axis + lead]) continue;
    out.add(std::move(s));
  }
  return out;
}

/// The axes of a factor that the result has, as axes of the result.
layout to_result(const layout& factor, const dims& shape, const dims& of, int own) {
  layout out;
  const int lead = shape.size() - of.size();
  for (split s : factor.splits) {
    if (s.axis >= of.size() - 2 && s.axis != of.size() + own) continue;
    if (of[s.axis] != shape[s.axis + lead]) continue;
    s.axis += lead;
    out.add(std::move(s));
  }
  return out;
}

void complete(layout& how, const layout& with) {
  for (const split& s : with.splits)
    if (!how.along(s.axis) && !how.uses_any(s.over)) how.add(s);
}

}  // namespace

results multiply(const opaque_call& call) {
  const operand_parts x = parts_of(call.operands[0]), y = parts_of(call.operands[1]);
  const dims shape = product_shape(x.shape(), y.shape());
  const layout rows = to_result(x.how(), shape, x.shape(), -2), columns = to_result(y.how(), shape, y.shape(), -1);
  strategy best;
  const auto consider = [&](strategy s) {
    s.bytes += 1 + x.cost_as(s.x) + y.cost_as(s.y);
    if (best.bytes < 0 || s.bytes < best.bytes) best = std::move(s);
  };
  for (const bool rows_first : {true, false}) {
    strategy s;
    s.out = rows_first ? rows : columns;
    complete(s.out, rows_first ? columns : rows);
    s.x = of_factor(s.out, shape, x.shape(), -2);
    s.y = of_factor(s.out, shape, y.shape(), -1);
    s.bytes = -1;
    consider(std::move(s));
  }
  const int inner_x = x.shape().size() - 1, inner_y = y.shape().size() - 2;
  const split *of_x = x.how().along(inner_x), *of_y = y.how().along(inner_y);
  if (shape.size() == 2 && (of_x || of_y)) {  // sums of products of parts
    strategy s;
    split inner = of_x ? *of_x : *of_y;
    s.inner = of_x ? of_x : of_y;
    inner.axis = inner_x;
    s.x.add(inner);
    inner.axis = inner_y;
    s.y.add(inner);
    const auto size = static_cast<std::int64_t>(itemsize(x.leaf->type));
    s.bytes = -1 + core::element_count(shape) * size * (s.inner->parts() - 1);
    s.out.add({0, s.inner->over, even_bounds(shape[0], s.inner->parts())});
    consider(std::move(s));
  }
  const operand_parts a = x.as(best.x), b = y.as(best.y);
  const auto product = [&](int p) { return call.again(std::vector<ndarray>{a.at(p), b.at(p)})[0]; };
  if (!best.inner) return {from_parts(*x.m, best.out, shape, x.leaf->type, product)};
  // Products of parts beside each other; each position gets its rows of all of them and adds them up.
  const std::int64_t parts = best.inner->parts();
  layout beside;
  split front{0, best.inner->over, {}};
  for (std::int64_t k = 0; k <= parts; ++k) front.bounds.push_back(k);
  beside.add(front);
  dims stacked = shape;
  stacked.insert(0, parts);
  const ndarray all =
      from_parts(*x.m, beside, stacked, x.leaf->type, [&](int p) { return expand_dims(product(p), 0); });
  layout by_rows;
  by_rows.add({1, best.inner->over, best.out.splits[0].bounds});
  const operand_parts mine = parts_of(all).as(by_rows);
  return {from_parts(*x.m, best.out, shape, x.leaf->type, [&](int p) {
    const ndarray terms = mine.at(p);
    ndarray total = terms(0);
    for (std::int64_t k = 1; k < parts; ++k) total = total + terms(k);
    return total;
  })};
}

}  // namespace sinter::sharding
