// Composition of affine index maps, which makes views over pending values free.
#include "graph/plan/forms/index_map.hpp"

namespace sinter::graph {

linear_form compose(const index_map& map, const dims& strides, std::int64_t offset) {
  linear_form f{offset, dims(map.variables())};
  for (int k = 0; k < map.rows(); ++k) {
    if (strides[k] == 0) continue;
    f.offset += strides[k] * map.offset(k);
    for (int v = 0; v < map.variables(); ++v) f.coefficients[v] += strides[k] * map.coefficient(k, v);
  }
  return f;
}

index_map broadcast(const index_map& map, const dims& shape, const dims& operand) {
  index_map out(operand.size(), map.variables());
  int lead = shape.size() - operand.size();
  for (int k = 0; k < operand.size(); ++k)
    if (operand[k] != 1) out.copy_row(k, map, k + lead);
  return out;
}

bool decompose(const dims& base, const dims& shape, const dims& strides, std::int64_t offset, index_map& out) {
  int rank = base.size(), views = shape.size();
  out = index_map(rank, views);
  dims step = core::contiguous_strides(base);
  std::int64_t rest = offset;
  for (int k = 0; k < rank; ++k) {
    out.offset(k) = rest / step[k];
    rest %= step[k];
  }
  dims low(rank), high(rank);
  for (int k = 0; k < rank; ++k) low[k] = high[k] = out.offset(k);
  for (int m = 0; m < views; ++m) {
    std::int64_t s = strides[m];
    if (s == 0 || shape[m] == 1) continue;
    std::int64_t magnitude = s < 0 ? -s : s;
    int k = 0;
    while (k < rank && (base[k] == 1 || step[k] > magnitude)) ++k;
    if (k == rank || magnitude % step[k] != 0) return false;
    std::int64_t c = s / step[k];
    out.coefficient(k, m) = c;
    (c < 0 ? low[k] : high[k]) += c * (shape[m] - 1);
  }
  for (int k = 0; k < rank; ++k)
    if (low[k] < 0 || high[k] >= base[k]) return false;
  return true;
}

namespace {

/// Adds an axis of extent e and step c, outermost part first; false where it crosses an axis of the base, whose elements are
/// `step` apart, elsewhere than at whole steps.
bool add_split(std::int64_t e, std::int64_t c, const dims& step, dims& out) {
  for (int k = 0; k < step.size() && c > 0; ++k) {  // from the outermost axis on
    if (step[k] <= c || step[k] >= c * e) continue;
    if (step[k] % c != 0 || e % (step[k] / c) != 0) return false;
    const std::int64_t inner = step[k] / c;
    out.push_back(e / inner);
    e = inner;
  }
  out.push_back(e);
  return true;
}

}  // namespace

dims refined(const dims& extents, const dims& strides, const dims& base) {
  const dims step = core::contiguous_strides(base);
  dims out;
  for (int v = 0; v < extents.size(); ++v)
    if (!add_split(extents[v], strides[v], step, out)) return {};
  return out.size() > extents.size() && out.size() <= core::max_rank ? out : dims{};
}

index_map widened(const index_map& map, int variables) {
  index_map out(map.rows(), variables);
  for (int k = 0; k < map.rows(); ++k) {
    out.offset(k) = map.offset(k);
    for (int v = 0; v < map.variables(); ++v) out.coefficient(k, v) = map.coefficient(k, v);
  }
  return out;
}

index_map substitute(const index_map& inner, const index_map& outer) {
  index_map out(inner.rows(), outer.variables());
  for (int k = 0; k < inner.rows(); ++k) {
    out.offset(k) = inner.offset(k);
    for (int m = 0; m < inner.variables(); ++m) {
      std::int64_t c = inner.coefficient(k, m);
      if (c == 0) continue;
      out.offset(k) += c * outer.offset(m);
      for (int v = 0; v < outer.variables(); ++v) out.coefficient(k, v) += c * outer.coefficient(m, v);
    }
  }
  return out;
}

}  // namespace sinter::graph
