// Writes through arrays of indices, for all examples: the example is one more index.
#include "ops/vmap/opaque_writes.hpp"

#include <algorithm>

#include "sinter/creation.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::ops {
namespace {

/// Operand k for all examples, with `rank` axes of an example: a view.
ndarray repeated_operand(const batched_call& c, std::size_t k, int rank) {
  const ndarray& x = c.operands[k];
  const shape_t shape = x.shape();
  std::vector<std::int64_t> own(shape.begin() + (c.mapped[k] ? 1 : 0), shape.end());
  own.insert(own.begin(), static_cast<std::size_t>(rank) - own.size(), 1);
  own.insert(own.begin(), c.mapped[k] ? c.count : 1);
  const ndarray r = x.reshape(shape_t(own));
  own[0] = c.count;
  return c.mapped[k] ? r : broadcast_to(r, shape_t(own));
}

axes first_axes(std::size_t n) {
  std::vector<std::int64_t> list;
  for (std::size_t k = 0; k < n; ++k) list.push_back(static_cast<std::int64_t>(k));
  return axes(list);
}

}  // namespace

std::vector<ndarray> written_selection(const batched_call& c) {
  const std::vector<std::int64_t>& numbers = c.call.numbers;
  const std::int64_t what = numbers[0], selected_at = numbers[3];
  const std::size_t count = c.operands.size() - 2;  // index arrays
  const auto own_rank = [&](std::size_t k) { return c.operands[k].ndim() - (c.mapped[k] ? 1 : 0); };
  int index_rank = 0;
  for (std::size_t k = 2; k < c.operands.size(); ++k) index_rank = std::max(index_rank, own_rank(k));

  // The indexed axes first, after the examples.
  std::vector<std::int64_t> from{0};
  for (std::size_t k = 0; k < count; ++k) from.push_back(numbers[4 + 3 * k] + 1);
  const axes to = first_axes(from.size());
  const ndarray all = repeated_operand(c, 0, own_rank(0)), base = c.mapped[0] ? all : all.copy();
  const ndarray turned = moveaxis(base, axes(from), to);
  // So are the selected axes of the values.
  std::vector<std::int64_t> selected{0};
  for (int a = 0; a < index_rank; ++a) selected.push_back(selected_at + 1 + a);
  const ndarray values = moveaxis(repeated_operand(c, 1, own_rank(1)), axes(selected), first_axes(selected.size()));

  std::vector<std::int64_t> alone(static_cast<std::size_t>(index_rank) + 1, 1);
  alone[0] = c.count;
  std::vector<index> key{index(arange(c.count, {.device = base.device()}).reshape(shape_t(alone)))};
  for (std::size_t k = 2; k < c.operands.size(); ++k) key.emplace_back(repeated_operand(c, k, index_rank));
  scatter_kw kw;
  kw.deterministic = numbers[1] != 0;
  switch (what) {
    case 0: turned(key) = values; break;
    case 1: add_at(turned(key), values, kw); break;
    case 2: scatter_max(turned(key), values, kw); break;
    default: scatter_min(turned(key), values, kw); break;
  }
  return {base};
}

}  // namespace sinter::ops
