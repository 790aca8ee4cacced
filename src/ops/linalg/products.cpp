// Products as NumPy defines them: each is a matrix product of views or a recorded sum of products.
#include "sinter/products.hpp"

#include <algorithm>
#include <vector>

#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "ops/linalg/contract.hpp"
#include "ops/linalg/parts.hpp"
#include "ops/linalg/product_calls.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/linalg.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

const dims& shape_of(const ndarray& x, const char* function) { return view_of(x, function).shape; }

/// The dtype that both operands are converted to, if casting allows it.
dtype loop_type(const ndarray& x, const ndarray& y, const product_kw& kw, const char* function) {
  common_device(x, y, function);
  const dtype type = product_dtype(x, y, kw);
  for (const ndarray* a : {&x, &y}) require_same_kind(function, "an operand", view_of(*a, function).type, type);
  return type;
}

// --- gufuncs: operands with core axes, whose other axes broadcast

struct core_signature {
  const char* function;
  const char* text;
};

void require_core(const ndarray& x, int operand_number, int rank, const core_signature& s) {
  const dims& shape = shape_of(x, s.function);
  if (shape.size() < rank)
    fail<shape_error>(s.function, "input operand ", operand_number, " does not have enough dimensions (has ",
                      shape.size(), ", gufunc core with signature ", s.text, " requires ", rank, ")");
}

/// Extent `axis` of operand 1 must equal that of operand 0; `place` is its number among operand 1's core axes.
void require_equal(std::int64_t wanted, std::int64_t got, int place, const ndarray& x, const ndarray& y,
                   const core_signature& s) {
  if (wanted == got) return;
  fail<shape_error>(s.function, "input operand 1 has a mismatch in its core dimension ", place,
                    ", with gufunc signature ", s.text, " (size ", got, " is different from ", wanted, "): shapes ",
                    shape_of(x, s.function), " and ", shape_of(y, s.function));
}

/// Throws unless the axes before the core axes broadcast.
void require_broadcast(const ndarray& x, int x_core, const ndarray& y, int y_core, const core_signature& s) {
  const dims &a = shape_of(x, s.function), &b = shape_of(y, s.function);
  dims batch(a.data(), std::max(a.size() - x_core, 0));
  if (!core::broadcast_into(batch, dims(b.data(), std::max(b.size() - y_core, 0))))
    fail<shape_error>(s.function, "operands could not be broadcast together: shapes ", a, " and ", b,
                      " with gufunc signature ", s.text);
  core::checked_count(batch, s.function);
}

constexpr core_signature of_matmul{"matmul", "(n?,k),(k,m?)->(n?,m?)"};
constexpr core_signature of_vecdot{"vecdot", "(n),(n)->()"};
constexpr core_signature of_matvec{"matvec", "(m,n),(n)->(m)"};
constexpr core_signature of_vecmat{"vecmat", "(n),(n,m)->(m)"};

/// Checks the arguments of an epilogue: a real floating dtype, one bias element per column.
void require_epilogue(const matmul_kw& kw, dtype type, std::int64_t columns, const ndarray& beside) {
  if (!is_real_floating(type))
    fail<dtype_error>("matmul", "scale, bias and activation take real floating dtypes, not ", type);
  if (!kw.bias) return;
  const graph::array_view& v = view_of(*kw.bias, "matmul");
  if (!(v.shape == dims{columns}))
    fail<shape_error>("matmul", "bias has shape ", v.shape, ", but there are ", columns, " columns");
  common_device(beside, *kw.bias, "matmul");
  require_same_kind("matmul", "the bias", v.type, type);
}

// --- dot, inner, tensordot

[[noreturn]] void not_aligned(const char* function, const dims& a, const dims& b, int i, int k) {
  fail<shape_error>(function, "shapes ", a, " and ", b, " not aligned: ", a[i], " (dim ", i, ") != ", b[k], " (dim ", k,
                    ")");
}

ndarray scaled(const ndarray& x, const ndarray& y, const product_kw& kw, const char* function) {
  const dtype type = loop_type(x, y, kw, function);
  return delivered(multiply(x.astype(type, false), y.astype(type, false)), kw, function);
}

/// Sums over axis i of x and axis k of y; the result has the other axes of x, then those of y.
ndarray along(const char* function, const ndarray& x, int i, const ndarray& y, int k, const product_kw& kw) {
  const dims &a = shape_of(x, function), &b = shape_of(y, function);
  if (a[i] != b[k]) not_aligned(function, a, b, i, k);
  const dtype type = loop_type(x, y, kw, function);
  return contract(function, x, y, {{}, {}, {i}, {k}}, type, kw);
}

}  // namespace

ndarray matmul(const ndarray& x, const ndarray& y, const matmul_kw& kw) {
  require_core(x, 0, 1, of_matmul);
  require_core(y, 1, 1, of_matmul);
  const dims a = shape_of(x, "matmul"), b = shape_of(y, "matmul");
  const bool row = a.size() == 1, column = b.size() == 1;
  require_equal(a[a.size() - 1], column ? b[0] : b[b.size() - 2], 0, x, y, of_matmul);
  require_broadcast(x, 2, y, 2, of_matmul);
  if (!row && !column) {  // an error here avoids copying the operands
    dims shape(a.data(), a.size() - 2);
    core::broadcast_into(shape, dims(b.data(), b.size() - 2));
    shape.push_back(a[a.size() - 2]);
    shape.push_back(b[b.size() - 1]);
    core::checked_count(shape, "matmul");
  }
  const product_kw plain{.out = kw.out, .dtype = kw.dtype, .tf32 = kw.tf32};
  const dtype type = loop_type(x, y, plain, "matmul");
  const ndarray left = row ? expand_dims(x, 0) : x, right = column ? expand_dims(y, 1) : y;
  if (kw.scale == 1 && !kw.bias && kw.activation == activation::none)
    return product_of(left, right, {row, column}, type, plain);
  require_epilogue(kw, type, column ? 1 : b[b.size() - 1], left);
  const bool of_matrices = !row && !column && a[a.size() - 2] > 1 && b[b.size() - 1] > 1 &&
                           core::element_count(a) > 0 && core::element_count(b) > 0;
  const ndarray result = of_matrices
                             ? multiply_with_epilogue(left, right, type, kw)
                             : with_epilogue(product_of(left, right, {row, column}, type, {.tf32 = kw.tf32}), kw);
  return delivered(result, plain, "matmul");
}

ndarray dot(const ndarray& x, const ndarray& y, const product_kw& kw) {
  const int a = shape_of(x, "dot").size(), b = shape_of(y, "dot").size();
  if (a == 0 || b == 0) return scaled(x, y, kw, "dot");
  return along("dot", x, a - 1, y, b == 1 ? 0 : b - 2, kw);
}

ndarray inner(const ndarray& x, const ndarray& y, const product_kw& kw) {
  const int a = shape_of(x, "inner").size(), b = shape_of(y, "inner").size();
  if (a == 0 || b == 0) return scaled(x, y, kw, "inner");
  return along("inner", x, a - 1, y, b - 1, kw);
}

ndarray outer(const ndarray& x, const ndarray& y, const product_kw& kw) {
  return scaled(expand_dims(ravel(x), 1), ravel(y), kw, "outer");
}

ndarray vdot(const ndarray& x, const ndarray& y) {
  const ndarray a = ravel(x), b = ravel(y);
  if (a.size() != b.size()) fail<value_error>("vdot", "vectors have different lengths: ", a.size(), " and ", b.size());
  const dtype type = loop_type(a, b, {}, "vdot");
  return wrap(sum_of_products(value_of(conjugated(a)), value_of(b), type, {0}));
}

ndarray vecdot(const ndarray& x, const ndarray& y, const vecdot_kw& kw) {
  require_core(x, 0, 1, of_vecdot);
  require_core(y, 1, 1, of_vecdot);
  const ndarray a = moveaxis(x, normalize_axis(kw.axis, shape_of(x, "vecdot"), "vecdot"), -1);
  const ndarray b = moveaxis(y, normalize_axis(kw.axis, shape_of(y, "vecdot"), "vecdot"), -1);
  require_equal(a.shape(-1), b.shape(-1), 0, a, b, of_vecdot);
  require_broadcast(a, 1, b, 1, of_vecdot);
  const dtype type = loop_type(a, b, {}, "vecdot");
  return wrap(sum_of_products(value_of(conjugated(a)), value_of(b), type, {-1}));
}

ndarray matvec(const ndarray& x, const ndarray& y) {
  require_core(x, 0, 2, of_matvec);
  require_core(y, 1, 1, of_matvec);
  require_equal(x.shape(-1), y.shape(-1), 0, x, y, of_matvec);
  require_broadcast(x, 2, y, 1, of_matvec);
  return multiply_vectors(x, y, loop_type(x, y, {}, "matvec"));
}

ndarray vecmat(const ndarray& x, const ndarray& y) {
  require_core(x, 0, 1, of_vecmat);
  require_core(y, 1, 2, of_vecmat);
  require_equal(x.shape(-1), y.shape(-2), 0, x, y, of_vecmat);
  require_broadcast(x, 1, y, 2, of_vecmat);
  return multiply_vectors(y.mT(), conjugated(x), loop_type(x, y, {}, "vecmat"));
}

ndarray tensordot(const ndarray& x, const ndarray& y, std::int64_t count, const product_kw& kw) {
  const int a = shape_of(x, "tensordot").size(), b = shape_of(y, "tensordot").size();
  if (count < 0 || count > std::min(a, b))
    fail<value_error>("tensordot", "cannot sum over ", count, " axes of shapes ", shape_of(x, "tensordot"), " and ",
                      shape_of(y, "tensordot"));
  std::vector<int> last, first;
  const int summed = static_cast<int>(count);
  for (int k = 0; k < summed; ++k) {
    last.push_back(a - summed + k);
    first.push_back(k);
  }
  return tensordot(x, y, axes(last), axes(first), kw);
}

ndarray tensordot(const ndarray& x, const ndarray& y, const axes& of_x, const axes& of_y, const product_kw& kw) {
  const dims &a = shape_of(x, "tensordot"), &b = shape_of(y, "tensordot");
  const std::vector<int> i = distinct_axes(of_x, a, "tensordot"), k = distinct_axes(of_y, b, "tensordot");
  bool fits = i.size() == k.size();
  for (std::size_t n = 0; fits && n < i.size(); ++n) fits = a[i[n]] == b[k[n]];
  if (!fits)
    fail<shape_error>("tensordot", "shape-mismatch for sum: axes ", dims_of(i), " of shape ", a, " and axes ",
                      dims_of(k), " of shape ", b);
  const dtype type = loop_type(x, y, kw, "tensordot");
  return contract("tensordot", x, y, {{}, {}, i, k}, type, kw);
}

ndarray kron(const ndarray& x, const ndarray& y) {
  dims a = shape_of(x, "kron"), b = shape_of(y, "kron");
  while (a.size() < b.size()) a.insert(0, 1);
  while (b.size() < a.size()) b.insert(0, 1);
  dims left, right, shape;
  for (int k = 0; k < a.size(); ++k) {
    left.push_back(a[k]);
    left.push_back(1);
    right.push_back(1);
    right.push_back(b[k]);
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a[k], b[k], &product)) product = core::most_elements + 1;  // rejected below
    shape.push_back(product);
  }
  core::checked_count(shape, "kron");
  return reshape(multiply(reshape(x, to_shape(left)), reshape(y, to_shape(right))), to_shape(shape));
}

}  // namespace sinter::inline v0
