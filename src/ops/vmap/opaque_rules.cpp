// Functions that run at once, for all examples: a rule for each name that ops/base/opaque_call.hpp announces.
#include <algorithm>
#include <string_view>

#include "core/shape.hpp"
#include "ops/base/algorithm_calls.hpp"
#include "ops/base/axes.hpp"
#include "ops/vmap/example_level.hpp"
#include "ops/vmap/opaque_writes.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/fft.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/products.hpp"
#include "sinter/reduce.hpp"
#include "sinter/scan.hpp"
#include "sinter/sort.hpp"

namespace sinter::ops {
namespace {

using list = std::vector<ndarray>;

std::size_t at(int k) { return static_cast<std::size_t>(k); }
std::int64_t number(const batched_call& c, int k) { return c.call.numbers[at(k)]; }
bool flag(const batched_call& c, int k) { return number(c, k) != 0; }
/// Axes of operand k of one example.
int rank_of(const batched_call& c, int k) { return c.operands[at(k)].ndim() - (c.mapped[at(k)] ? 1 : 0); }

/// Operand k with the axis of examples, of extent 1 where it does not depend on the example, in front of `rank` axes.
ndarray in_front_of(const batched_call& c, int k, int rank) {
  const ndarray& x = c.operands[at(k)];
  shape_t shape = x.shape();
  std::vector<std::int64_t> all;
  all.push_back(c.mapped[at(k)] ? shape[0] : 1);
  for (int a = rank_of(c, k); a < rank; ++a) all.push_back(1);
  for (int a = c.mapped[at(k)] ? 1 : 0; a < x.ndim(); ++a) all.push_back(shape[at(a)]);
  return x.reshape(shape_t(all));
}

/// The function itself, for stacks: what it does to the last axes it does for each index of the others.
list of_stacks(const batched_call& c) { return c.call.again(c.operands); }

// ---- Along one axis

/// The axis that the first attribute names, and the operand to which it belongs: `_` is a flattened example.
struct along {
  ndarray x;
  std::int64_t axis = 1;
};
along along_axis(const batched_call& c) {
  const ndarray& x = c.operands[0];
  if (rank_of(c, 0) == 0) return {x.reshape({c.count, 1}), 1};
  if (number(c, 0) >= 0) return {x, number(c, 0) + 1};
  return {
      x.reshape(shape_t{c.count, core::element_count(view_of(x, "vmap").shape) / std::max<std::int64_t>(c.count, 1)}),
      1};
}
/// Results of examples of rank 0, which were given an axis.
ndarray without_given_axis(const batched_call& c, const ndarray& r) {
  return rank_of(c, 0) == 0 ? r.reshape({c.count}) : r;
}

list sorted(const batched_call& c) {
  const along a = along_axis(c);
  return {without_given_axis(c, sort(a.x, {.axis = a.axis, .descending = flag(c, 1)}))};
}
list argsorted(const batched_call& c) {
  const along a = along_axis(c);
  return {without_given_axis(c, argsort(a.x, {.axis = a.axis, .descending = flag(c, 1)}))};
}
std::vector<std::int64_t> kth_of(const batched_call& c) { return {c.call.numbers.begin() + 1, c.call.numbers.end()}; }
list partitioned(const batched_call& c) {
  const along a = along_axis(c);
  return {partition(a.x, kth_of(c), a.axis)};
}
list argpartitioned(const batched_call& c) {
  const along a = along_axis(c);
  return {argpartition(a.x, kth_of(c), a.axis)};
}
list first_ones(const batched_call& c) {
  const along a = along_axis(c);
  const topk_result r = topk(a.x, number(c, 1), {.axis = a.axis, .largest = flag(c, 2)});
  return {r.values, r.indices};
}
list lexsorted(const batched_call& c) {
  int rank = 0;
  for (std::size_t k = 0; k < c.operands.size(); ++k) rank = std::max(rank, rank_of(c, static_cast<int>(k)));
  list keys;
  for (std::size_t k = 0; k < c.operands.size(); ++k) {
    const ndarray x = in_front_of(c, static_cast<int>(k), std::max(rank, 1));
    const shape_t own = x.shape();
    std::vector<std::int64_t> shape(own.begin(), own.end());
    shape[0] = c.count;
    keys.push_back(broadcast_to(x, shape_t(shape)));
  }
  const ndarray r = lexsort(keys, rank == 0 ? 1 : number(c, 0) + 1);
  return {rank == 0 ? r.reshape({c.count}) : r};
}

template <auto Function>
list scanned_along(const batched_call& c) {
  scan_kw kw;
  kw.axis = number(c, 0) + 1;
  kw.dtype = c.operands[0].dtype();
  return {Function(c.operands[0], kw)};
}
template <auto Function>
list extreme_along(const batched_call& c) {
  scan_kw kw;
  kw.axis = number(c, 0) + 1;
  return {Function(c.operands[0], kw)};
}
ndarray running_sum(const ndarray& x, const scan_kw& kw) { return cumsum(x, kw); }
ndarray running_product(const ndarray& x, const scan_kw& kw) { return cumprod(x, kw); }
ndarray running_maximum(const ndarray& x, const scan_kw& kw) { return cummax(x, kw); }
ndarray running_minimum(const ndarray& x, const scan_kw& kw) { return cummin(x, kw); }
ndarray running_logsumexp(const ndarray& x, const scan_kw& kw) { return logcumsumexp(x, kw); }

// ---- Products and solvers

/// Matrices of so few elements are multiplied as recorded sums of products, which fuse: a call of BLAS for each takes longer.
constexpr std::int64_t few_products = 27;
/// One matrix times matrices of so few elements is one product of their transposes, which are copied for it.
constexpr std::int64_t few_elements = 32;

bool is_recorded_product(const ndarray& x, const ndarray& y) {
  const dtype t = x.dtype();
  return x.shape(-2) * x.shape(-1) * y.shape(-1) <= few_products && (t == float32 || t == float64 || is_complex(t));
}

/// x (examples, ..., rows, inner) times one matrix is one product of (examples ... rows, inner).
ndarray times_one_matrix(const ndarray& x, const ndarray& y, const matmul_kw& kw) {
  const shape_t s = x.shape();
  std::vector<std::int64_t> result(s.begin(), s.end());
  result.back() = y.shape(1);
  return matmul(x.reshape({-1, s[s.size() - 1]}), y, kw).reshape(shape_t(result));
}

list multiplied(const batched_call& c) {
  matmul_kw kw;
  kw.tf32 = flag(c, 0);
  const ndarray &x = c.operands[0], &y = c.operands[1];
  const bool some = x.size() != 0 && y.size() != 0;
  if (some && c.mapped[0] && !c.mapped[1] && y.ndim() == 2) return {times_one_matrix(x, y, kw)};
  if (some && !c.mapped[0] && c.mapped[1] && x.ndim() == 2 && y.ndim() == 3) {
    if (y.shape(2) == 1) return {expand_dims(matmul(squeeze(y, 2), x.T(), kw), 2)};  // vectors: the rows of a matrix
    if (y.shape(1) * y.shape(2) <= few_elements) return {times_one_matrix(y.mT(), x.T(), kw).mT()};
  }
  const int rank = std::max(rank_of(c, 0), rank_of(c, 1));
  const ndarray a = in_front_of(c, 0, rank), b = in_front_of(c, 1, rank);
  if (c.count > 1 && is_recorded_product(a, b)) return {sum(expand_dims(a, -1) * expand_dims(b, -3), -2)};
  return {matmul(a, b, kw)};
}

/// A function of matrices and right sides, which are vectors where they have one axis: the right sides are operand
/// `side`, the matrices those before it.
template <int side>
list solved_for(const batched_call& c) {
  const bool vectors = rank_of(c, side) == 1;
  list operands = c.operands;
  bool one_matrix = c.mapped[at(side)];
  for (int k = 0; k < side; ++k) one_matrix = one_matrix && !c.mapped[at(k)];
  for (int k = 0; k < side; ++k) one_matrix = one_matrix && rank_of(c, k) <= 2;
  const ndarray& b = c.operands[at(side)];
  if (one_matrix && rank_of(c, side) <= 2) {  // all right sides of all examples at once
    if (vectors) {
      operands.back() = b.T();
      return {c.call.again(operands)[0].T()};
    }
    operands.back() = moveaxis(b, 0, -1).reshape({b.shape(1), -1});
    const ndarray x = c.call.again(operands)[0];
    return {moveaxis(x.reshape({x.shape(0), b.shape(2), c.count}), -1, 0)};
  }
  operands.back() = vectors ? expand_dims(b, -1) : b;
  const int right = rank_of(c, side) + (vectors ? 1 : 0);
  int rank = right;
  for (int k = 0; k < side; ++k) rank = std::max(rank, rank_of(c, k) + (k == 1 ? 1 : 0));  // pivots: a vector
  batched_call as_matrices{c.call, c.count, operands, c.mapped};
  for (int k = 0; k <= side; ++k) operands[at(k)] = in_front_of(as_matrices, k, k == 1 && side == 2 ? rank - 1 : rank);
  const ndarray x = c.call.again(operands)[0];
  return {vectors ? squeeze(x, -1) : x};
}

// ---- Transforms

list transformed_all(const batched_call& c) {
  const std::int64_t kind = number(c, 0);
  const bool inverse = flag(c, 1);
  std::vector<std::int64_t> axis, points;
  for (std::size_t k = 2; k + 1 < c.call.numbers.size(); k += 2) {
    axis.push_back(c.call.numbers[k] + 1);
    points.push_back(c.call.numbers[k + 1]);
  }
  // Nothing is scaled: the forward transform of norm "backward", the inverse one of norm "forward".
  fft::fftn_kw kw{.s = shape_t(points), .axes = axes(axis), .norm = inverse ? "forward" : "backward"};
  const ndarray& x = c.operands[0];
  if (kind == 0) return {inverse ? fft::ifftn(x, kw) : fft::fftn(x, kw)};
  if (kind == 1 && !inverse && axis.size() == 1) return {fft::rfftn(x, kw)};
  if (kind == 2 && inverse && axis.size() == 1) return {fft::irfftn(x, kw)};
  const ndarray r = c.call.again(list{moveaxis(x, 0, -1)})[0];  // axes count from 0
  return {moveaxis(r, -1, 0)};
}

// ---- Bins, selections

/// The bins of example k are those from k n on.
list counted(const batched_call& c) {
  const std::int64_t n = number(c, 0), all = n * c.count;
  const bool weighted = c.operands[1].defined();
  const ndarray x = in_front_of(c, 0, 1), first = arange(c.count, {.device = x.device()}) * n;
  const ndarray inside = logical_and(greater_equal(x, 0), less(x, n));
  ndarray bins = where(inside, x.astype(int64) + expand_dims(first, 1), all);
  ndarray weights;
  if (weighted) weights = ravel(broadcast_to(in_front_of(c, 1, 1), bins.shape()));
  bins = ravel(bins);
  opaque_call again{"bincount", {bins, weights}, {all}, {}, [all](std::span<const ndarray> a) {
                      return list{wrap(binned(value_of(a[0]), a[1].defined() ? value_of(a[1]) : value(), all))};
                    }};
  const auto taken = run_intercepted(again);
  const ndarray r = taken ? (*taken)[0] : again.again(again.operands)[0];
  return {r.reshape({c.count, n})};
}

list repeated_along(const batched_call& c) { return {repeat(c.operands[0], c.operands[1], number(c, 0) + 1)}; }

/// One sparse matrix times the examples' vectors or matrices: their columns side by side, so that it is read once.
list sparse_multiplied(const batched_call& c) {
  const ndarray& x = c.operands[0];
  const bool vectors = x.ndim() == 2;
  const ndarray first = moveaxis(x, 0, 1);  // (inner, examples) or (inner, examples, columns)
  const ndarray columns = vectors ? first : first.reshape({first.shape(0), first.shape(1) * first.shape(2)});
  const ndarray product = c.call.again(list{columns, c.operands[1]})[0];
  if (vectors) return {moveaxis(product, 1, 0)};
  return {moveaxis(product.reshape({product.shape(0), first.shape(1), first.shape(2)}), 1, 0)};
}

constexpr const char* depends_on_data = "the size of the result depends on data: it must be the same for all examples";
constexpr const char* of_one_order = "the ordered array is one example's: each has its own search";

constexpr const char* recorded_too = "it is recorded, and vmap sees what it records";
constexpr const char* has_derivatives = "its steps are mapped (own_calls.hpp), as those of custom derivatives";

constexpr opaque_entry entries[] = {
    {"argpartition", argpartitioned, nullptr},
    {"argsort", argsorted, nullptr},
    {"bincount", counted, nullptr},
    {"checkpoint", nullptr, has_derivatives},
    {"cholesky", of_stacks, nullptr},
    {"cummax", extreme_along<running_maximum>, nullptr},
    {"cummin", extreme_along<running_minimum>, nullptr},
    {"cumprod", scanned_along<running_product>, nullptr},
    {"cumsum", scanned_along<running_sum>, nullptr},
    {"dbscan", nullptr, "it is announced for arrays of meshes, which are no examples"},
    {"det", of_stacks, nullptr},
    {"digitize", nullptr, of_one_order},
    {"eig", of_stacks, nullptr},
    {"eigh", of_stacks, nullptr},
    {"fft", transformed_all, nullptr},
    {"histogram", nullptr, "it is announced for arrays of meshes that are no examples; of examples bincount is"},
    {"inverses", of_stacks, nullptr},
    {"knn", nullptr, "it is announced for arrays of meshes, which are no examples"},
    {"lexsort", lexsorted, nullptr},
    {"logcumsumexp", scanned_along<running_logsumexp>, nullptr},
    {"lu", of_stacks, nullptr},
    {"lu_factor", of_stacks, nullptr},
    {"lu_solve", solved_for<2>, nullptr},
    {"matmul", multiplied, nullptr},
    {"pad", nullptr, recorded_too},
    {"partition", partitioned, nullptr},
    {"qr", of_stacks, nullptr},
    {"radius_neighbors", nullptr, "it is announced for arrays of meshes, which are no examples"},
    {"ranked_elements", of_stacks, nullptr},
    {"read_selection", nullptr, recorded_too},
    {"repeat", nullptr, depends_on_data},
    {"roll", nullptr, recorded_too},
    {"scan", nullptr, "it is one loop of all examples' steps (ops/loops/loop_examples.hpp)"},
    {"searchsorted", nullptr, of_one_order},
    {"slogdet", of_stacks, nullptr},
    {"solve", solved_for<1>, nullptr},
    {"solve_triangular", solved_for<1>, nullptr},
    {"sort", sorted, nullptr},
    {"sparse_matmul", nullptr, "matrices of the examples' own elements go one after the other"},
    {"svd", of_stacks, nullptr},
    {"to_device", of_stacks, nullptr},
    {"to_memory", of_stacks, nullptr},
    {"topk", first_ones, nullptr},
    {"true_elements", nullptr, depends_on_data},
    {"true_positions", nullptr, depends_on_data},
    {"write_selection", written_selection, nullptr},
};

}  // namespace

std::span<const opaque_entry> opaque_entries() { return entries; }

const opaque_entry* find_opaque(std::string_view name) {
  for (const opaque_entry& e : entries)
    if (name == e.name) return &e;
  return nullptr;
}

/// Rules that hold if one operand does not depend on the example.
opaque_rule rule_of(const batched_call& c) {
  const std::string_view name = c.call.name;
  if ((name == "searchsorted" && !c.mapped[0]) || (name == "digitize" && !c.mapped[1])) return of_stacks;
  if (name == "repeat" && !c.mapped[1]) return repeated_along;
  if (name == "sparse_matmul" && !c.mapped[1]) return sparse_multiplied;
  if (name == "bincount" && c.call.numbers.empty()) return nullptr;  // each example says how many bins it has
  const opaque_entry* const known = find_opaque(name);
  return known ? known->rule : nullptr;
}

}  // namespace sinter::ops
