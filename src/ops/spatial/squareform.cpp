// From pdist's vectors to symmetric matrices, and back.
#include <algorithm>
#include <cmath>
#include <vector>

#include "graph/values/faults.hpp"
#include "ops/base/at_call.hpp"
#include "ops/base/algorithm_calls.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/spatial/metrics.hpp"
#include "ops/spatial/pairs.hpp"
#include "ops/spatial/walks.hpp"
#include "runtime/parallel.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/take.hpp"

namespace sinter::ops {

using namespace idx;
using std::int64_t;

namespace {

int64_t order_of(int64_t pairs) {
  const auto n = static_cast<int64_t>(std::ceil(std::sqrt(2.0 * static_cast<double>(pairs))));
  return n * (n - 1) / 2 == pairs ? n : -1;
}

/// Whether loops of the host may read the elements now.
bool is_at_hand(const ndarray& x) { return served_by_host(x) && !is_recorded_for_later(); }

/// Calls f with a value of a type of that many bytes.
struct sixteen_bytes {
  std::uint64_t low, high;
};
template <class F>
void with_bytes(std::size_t bytes, F&& f) {
  switch (bytes) {
    case 1: return f(std::uint8_t{});
    case 2: return f(std::uint16_t{});
    case 4: return f(std::uint32_t{});
    case 8: return f(std::uint64_t{});
    default: return f(sixteen_bytes{});
  }
}

constexpr int64_t tile = 32;  // rows and columns that a cache holds while they are turned
/// fn(first, last) for blocks of n rows of n elements.
template <class F>
void for_blocks_of_rows(int64_t n, F&& fn) {
  runtime::parallel_for((n + tile - 1) / tile, 0.5 * static_cast<double>(n) * static_cast<double>(n),
                        [&](int64_t b) { fn(b * tile, std::min(n, (b + 1) * tile)); });
}
/// Where the pairs (i, i + 1), (i, i + 2), ... begin.
int64_t pairs_before(int64_t i, int64_t n) { return i * (2 * n - i - 1) / 2; }

template <class E>
void fill_matrix(const E* pairs, int64_t n, E* matrix) {
  for_blocks_of_rows(n, [&](int64_t first, int64_t last) {
    for (int64_t left = 0; left < last; left += tile)
      for (int64_t j = left; j < std::min(left + tile, last); ++j) {
        const E* const below = pairs + pairs_before(j, n) - j - 1;
        for (int64_t i = std::max(first, j + 1); i < last; ++i) matrix[i * n + j] = below[i];
      }
    for (int64_t i = first; i < last; ++i) {
      matrix[i * n + i] = E{};
      std::copy_n(pairs + pairs_before(i, n), n - 1 - i, matrix + i * n + i + 1);
    }
  });
}

ndarray matrix_on_host(const ndarray& x, int64_t n) {
  const value from = evaluated(value_of(x)), to = unset_leaf(dims{n, n}, from->type, from->device);
  with_bytes(itemsize(from->type), [&](auto element) {
    using E = decltype(element);
    fill_matrix(static_cast<const E*>(address_to_read(from)), n, static_cast<E*>(address_to_write(to)));
  });
  graph::inherit_faults(to, {&from});
  return wrap(to);
}

ndarray pairs_of_host(const ndarray& x) {
  const int64_t n = x.shape(0);
  const value from = evaluated(value_of(x)), to = unset_leaf(dims{n * (n - 1) / 2}, from->type, from->device);
  with_bytes(itemsize(from->type), [&](auto element) {
    using E = decltype(element);
    const E* const matrix = static_cast<const E*>(address_to_read(from));
    E* const pairs = static_cast<E*>(address_to_write(to));
    for_blocks_of_rows(n, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) std::copy_n(matrix + i * n + i + 1, n - 1 - i, pairs + pairs_before(i, n));
    });
  });
  graph::inherit_faults(to, {&from});
  return wrap(to);
}

template <class T>
bool is_mirrored(const T* matrix, int64_t n) {
  std::vector<char> wrong(static_cast<std::size_t>((n + tile - 1) / tile));
  for_blocks_of_rows(n, [&](int64_t first, int64_t last) {
    bool differs = false;
    for (int64_t left = 0; left < last && !differs; left += tile)
      for (int64_t i = first; i < last; ++i)
        for (int64_t j = left; j < std::min(left + tile, last); ++j)
          differs |= !(matrix[i * n + j] == matrix[j * n + i]);
    wrong[static_cast<std::size_t>(first / tile)] = differs;
  });
  return std::none_of(wrong.begin(), wrong.end(), [](char w) { return w != 0; });
}
bool is_symmetric(const ndarray& x) {
  const dtype t = x.dtype();
  if (!is_at_hand(x) || (t != dtype::f32 && t != dtype::f64)) return static_cast<bool>(all(x == x.T()));
  const value from = evaluated(value_of(x));
  const int64_t n = x.shape(0);
  return t == dtype::f32 ? is_mirrored(static_cast<const float*>(address_to_read(from)), n)
                         : is_mirrored(static_cast<const double*>(address_to_read(from)), n);
}

}  // namespace
}  // namespace sinter::ops

namespace sinter::inline v0 {

using namespace ops;

ndarray spatial::squareform(const ndarray& x, const squareform_kw& kw) {
  const auto& shape = view_of(x, "squareform").shape;
  if (shape.size() == 1) {
    const int64_t n = x.size() == 0 ? 1 : order_of(x.size());
    if (n < 0) fail<value_error>("squareform", x.size(), " distances are not those of all pairs of points");
    if (n == 1) return zeros({1, 1}, {.dtype = x.dtype(), .device = x.device()});
    if (is_at_hand(x)) return matrix_on_host(x, n);
    const ndarray i = arange(n, {.device = x.device()})(_, newaxis), j = arange(n, {.device = x.device()});
    const ndarray low = minimum(i, j), high = maximum(i, j);
    const ndarray at = clip(floor_divide(low * (2 * n - low - 1), 2) + high - low - 1, 0, x.size() - 1);
    return where(i == j, zeros({}, {.dtype = x.dtype(), .device = x.device()}), take(x, at));
  }
  if (shape.size() != 2 || shape[0] != shape[1])
    fail<shape_error>("squareform", "shape ", shape, " is neither a vector of distances nor a square matrix");
  if (kw.checks && x.size() > 0 && may_look_at(value_of(x))) {
    if (!is_symmetric(x)) fail<value_error>("squareform", "the matrix is not symmetric");
    if (!static_cast<bool>(all(x.diagonal() == 0)))
      fail<value_error>("squareform", "the matrix has distances that are not 0 on its diagonal");
  }
  const int64_t n = shape[0];
  if (n < 2) return zeros({0}, {.dtype = x.dtype(), .device = x.device()});
  if (is_at_hand(x)) return pairs_of_host(x);
  const auto [i, j] = pairs_below(n, x.device());
  return take(ravel(x), i * n + j);
}

}  // namespace sinter::inline v0
