// Running sums, products and extrema along a divided axis.
#include <string_view>

#include "dist/calls/opaque_parts.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/indexing.hpp"

namespace sinter::sharding {

using ops::opaque_call;

namespace {

ndarray along(const ndarray& x, int axis, std::int64_t first, std::int64_t end) {
  std::vector<sinter::index> key;
  for (int a = 0; a < axis; ++a) key.emplace_back(slice(none_t{0}));
  key.emplace_back(slice(first, end));
  return x(key);
}

}  // namespace

/// Parts are scanned; the last elements of all parts go to everyone who needs them, and what comes before a part is applied
/// to it, in the order of parts. Numbers that round get other roundings than on one device.
results scan_parts(const opaque_call& call) {
  const operand_parts x = parts_of(call.operands[0]);
  const int axis = static_cast<int>(call.numbers[0]);
  const std::string_view name = call.name;
  const auto apply = [&](const ndarray& a, const ndarray& b) {
    return name == "cumsum"         ? a + b
           : name == "cumprod"      ? a * b
           : name == "logcumsumexp" ? logaddexp(a, b)
           : name == "cummax"       ? maximum(a, b)
                                    : minimum(a, b);
  };
  const mesh_state& m = *x.m;
  const ndarray scanned = from_parts(m, x.how(), x.shape(), x.leaf->type,
                                     [&](int p) { return call.again(std::vector<ndarray>{x.at(p)})[0]; });
  const split* const s = x.how().along(axis);
  if (!s) return {scanned};
  const operand_parts own = parts_of(scanned);
  // The last element of each part that has one.
  layout of_lasts, everywhere;
  split one{axis, s->over, {0}};
  for (std::size_t k = 0; k + 1 < s->bounds.size(); ++k)
    one.bounds.push_back(one.bounds.back() + (s->bounds[k + 1] > s->bounds[k]));
  const std::vector<std::int64_t> number_of = one.bounds;
  for (const split& other : x.how().splits)
    if (other.axis != axis) of_lasts.add(other);
  everywhere = of_lasts;
  dims shape = x.shape();
  shape[axis] = one.bounds.back();
  of_lasts.add(std::move(one));
  const operand_parts lasts = parts_of(from_parts(m, of_lasts, shape, x.leaf->type, [&](int p) {
                                const ndarray part = own.at(p);
                                const std::int64_t n = part.shape(axis);
                                return along(part, axis, n > 0 ? n - 1 : 0, n).copy();
                              })).as(everywhere);
  return {from_parts(m, x.how(), x.shape(), x.leaf->type, [&](int p) {
    const std::int64_t before = number_of[static_cast<std::size_t>(m.number_along(p, s->over))];
    const ndarray part = own.at(p);
    if (before == 0) return part;
    const ndarray all = lasts.at(p);
    ndarray sum = along(all, axis, 0, 1);
    for (std::int64_t k = 1; k < before; ++k) sum = apply(sum, along(all, axis, k, k + 1));
    return apply(sum, part);
  })};
}

}  // namespace sinter::sharding
