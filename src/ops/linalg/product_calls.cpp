// Operands and results of products: which layouts BLAS reads directly, and which are copied first.
#include "ops/linalg/product_calls.hpp"

#include <array>

#include "core/few_terms.hpp"
#include "core/shape.hpp"
#include "graph/run/flush.hpp"
#include "graph/values/example.hpp"
#include "graph/values/faults.hpp"
#include "ops/base/algorithm_calls.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/differentiating.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/indexing/advanced_index.hpp"
#include "runtime/algorithms/products.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::ops {
namespace {

/// An operand that is in memory or will be evaluated into it.
struct factor {
  value held;
  dims shape, strides;  // in elements of `held`
  std::int64_t offset = 0;

  std::int64_t rows() const { return shape[shape.size() - 2]; }
  std::int64_t columns() const { return shape[shape.size() - 1]; }
  std::int64_t row() const { return strides[strides.size() - 2]; }
  std::int64_t column() const { return strides[strides.size() - 1]; }
};

/// A single matrix instead of broadcast copies along the leading axes.
ndarray without_repeats(const ndarray& x) {
  const graph::array_view& v = view_of(x, "matmul");
  dims shape = v.shape;
  for (int a = 0; a + 2 < shape.size(); ++a)
    if (v.strides[a] == 0) shape[a] = 1;
  return shape == v.shape ? x : view_as(x, shape, v.strides, v.offset);
}

factor factor_of(const ndarray& operand, dtype type) {
  const ndarray x = without_repeats(operand);
  const graph::array_view& v = view_of(x, "matmul");
  if (v.type == type) {
    graph::exposed e = graph::begin_read(v, /*any_strides=*/true);
    return {std::move(e.held), v.shape, std::move(e.strides), e.offset};
  }
  value converted = graph::record_cast(value_of(x, "matmul"), type);
  return {std::move(converted), v.shape, core::contiguous_strides(v.shape), 0};
}

/// Copies an evaluated operand whose layout BLAS cannot express.
void make_readable(factor& f, const runtime::products& device) {
  if (device.reads(f.held->type, f.rows(), f.columns(), f.row(), f.column())) return;
  f.held = evaluated(graph::record_view(f.held, f.shape, f.strides, f.offset));
  f.strides = core::contiguous_strides(f.shape);
  f.offset = 0;
}

dims leading(const dims& shape) { return dims(shape.data(), shape.size() - 2); }

/// Strides along the axes of `batch`, to which the operand's leading axes broadcast.
runtime::matrix_strides strides_over(const dims& batch, const dims& shape, const dims& strides) {
  const int own = shape.size() - 2;
  runtime::matrix_strides out{strides[own], strides[own + 1], dims(batch.size())};
  for (int a = 0; a < own; ++a)
    if (shape[a] != 1) out.batch[batch.size() - own + a] = strides[a];
  return out;
}

/// Whether BLAS may write the result directly into the array while it reads the factors: the storages are disjoint, the
/// dtype is the product's, and the device can write these strides. (Pending updates of the array are evaluated only if
/// part of its contents remains.)
bool takes_directly(const ndarray& out, const ndarray& x, const ndarray& y, dtype type,
                    const runtime::products& device) {
  const graph::array_view& v = view_of(out, "matmul");
  const int last = v.shape.size() - 1;
  return v.type == type && v.store != view_of(x, "matmul").store && v.store != view_of(y, "matmul").store &&
         device.writes(type, v.shape[last - 1], v.shape[last], v.strides[last - 1], v.strides[last]);
}

/// Whether a new buffer for the whole array is cheaper than a write into the existing one. The caller holds the
/// storage's lock.
bool better_replaced(const graph::array_view& v) { return v.whole && !v.store->is_written_in_place(); }

static_assert(static_cast<int>(activation::relu) == static_cast<int>(runtime::activation::relu) &&
              static_cast<int>(activation::gelu) == static_cast<int>(runtime::activation::gelu));

bool is_narrow_float(dtype t) { return t == dtype::f16 || t == dtype::bf16; }

}  // namespace

dtype product_dtype(const ndarray& x, const ndarray& y, const product_kw& kw) {
  return kw.dtype ? *kw.dtype : promote_types(view_of(x, "matmul").type, view_of(y, "matmul").type);
}

void check_out(const product_kw& kw, const dims& shape, dtype type, const char* function) {
  if (!kw.out) return;
  const graph::array_view& v = writable(view_of(*kw.out, function), function);
  if (!(v.shape == shape)) fail<shape_error>(function, "out has shape ", v.shape, ", but the result has shape ", shape);
  require_same_kind(function, "the result", type, v.type);
}

ndarray delivered(const ndarray& result, const product_kw& kw, const char* function) {
  if (!kw.out) return result;
  const value v = value_of(result, function);
  check_out(kw, v->shape, v->type, function);
  const graph::array_view& to = view_of(*kw.out, function);
  require_one_device(function, to.device(), v->device);
  graph::write(to, graph::record_cast(v, to.type));
  return *kw.out;
}

namespace {

/// A product with its factors in memory, before its destination is chosen.
struct ready_product {
  std::array<factor, 2> factors;
  runtime::product_layout layout;
  dims shape;  // of the result
  runtime::products* device = nullptr;
  runtime::device_id id;

  const void* a() const { return readable_by_library(factors[0].held, factors[0].offset); }
  const void* b() const { return readable_by_library(factors[1].held, factors[1].offset); }
  void pass_faults(const value& to) const { graph::inherit_faults(to, {&factors[0].held, &factors[1].held}); }
  /// A new, uninitialised C-contiguous result, whose strides are set in the layout.
  value fresh() {
    const value result = unset_leaf(shape, layout.type, id);
    layout.c = strides_over(layout.batch, shape, core::contiguous_strides(shape));
    return result;
  }
};

ready_product prepare_product(const ndarray& x, const ndarray& y, dtype type, bool tf32) {
  ready_product p;
  p.id = common_device(x, y, "matmul");
  p.device = &runtime::get_backend(p.id).products();
  p.factors = {factor_of(x, type), factor_of(y, type)};
  const value held[] = {p.factors[0].held, p.factors[1].held};
  if (!held[0]->is_leaf() || !held[1]->is_leaf()) p.device->expect(type);
  graph::flush(held);
  for (factor& f : p.factors) make_readable(f, *p.device);

  dims batch = leading(view_of(x, "matmul").shape);
  core::broadcast_into(batch, leading(view_of(y, "matmul").shape));
  const factor &a = p.factors[0], &b = p.factors[1];
  p.layout = {type, a.rows(), b.columns(), a.columns(), batch, {}, {}, {}, tf32};
  p.layout.a = strides_over(batch, a.shape, a.strides);
  p.layout.b = strides_over(batch, b.shape, b.strides);
  p.shape = batch;
  p.shape.push_back(a.rows());
  p.shape.push_back(b.columns());
  return p;
}

}  // namespace

namespace {

ndarray without_axis(const ndarray& x, int from_behind) {
  const graph::array_view& v = view_of(x, "matmul");
  dims shape = v.shape, strides = v.strides;
  shape.erase(shape.size() - from_behind);
  strides.erase(strides.size() - from_behind);
  return view_as(x, shape, strides, v.offset);
}

/// Announced with operands of the product's dtype, which have two axes or more and broadcast before the last two; whether
/// tf32 is allowed. The result is new.
std::optional<std::vector<ndarray>> announced(const ndarray& x, const ndarray& y, dtype type, bool tf32) {
  if (!is_intercepting()) [[likely]]
    return {};
  const ndarray a = x.astype(type, false), b = y.astype(type, false);
  return intercept("matmul", {&a, &b}, {tf32}, [=](std::span<const ndarray> o) {
    product_kw kw;
    kw.tf32 = tf32;
    return results_of(product_of(o[0], o[1], {}, type, kw));
  });
}

}  // namespace

namespace {

/// Whether a product is so small that a call of the library takes longer than the sums: its operands and what follows from it
/// then are of one plan, which a loop launches as one graph.
bool is_small(dtype type, std::int64_t rows, std::int64_t columns, std::int64_t terms) noexcept {
  constexpr std::int64_t most_products = std::int64_t{1} << 25, most_terms = 256;
  return is_real_floating(type) && !is_narrow_float(type) && terms > 0 && terms <= most_terms &&
         rows * columns <= most_products / terms;
}

/// Whether a product is recorded as sums on a GPU: where it is small, or of few terms and columns, for which the library takes ten
/// times as long.
bool is_recorded(const ndarray& x, const ndarray& y, dtype type, bool tf32) {
  const dims &a = view_of(x, "matmul").shape, &b = view_of(y, "matmul").shape;
  const std::int64_t rows = a[a.size() - 2], columns = b[b.size() - 1], terms = a[a.size() - 1];
  const bool small = leading(a).size() + leading(b).size() == 0 && !tf32 && is_small(type, rows, columns, terms);
  if (!small && (!core::has_few_terms(rows, columns, terms) || terms == 0 || !is_inexact(type))) return false;
  if (common_device(x, y, "matmul").kind != runtime::device_kind::cuda) return false;
  if (small) return true;
  constexpr std::int64_t many_elements = 1 << 12;
  dims batch = leading(a);
  core::broadcast_into(batch, leading(b));
  return core::element_count(batch) * rows * columns >= many_elements;
}

}  // namespace

ndarray multiply_matrices(const ndarray& x, const ndarray& y, dtype type, const product_kw& kw) {
  if (auto r = announced(x, y, type, kw.tf32)) return delivered((*r)[0], kw, "matmul");
  if (is_recorded(x, y, type, kw.tf32)) {
    const value left = value_of(expand_dims(x, -2), "matmul"), right = value_of(expand_dims(y.mT(), -3), "matmul");
    return delivered(wrap(sum_of_products(left, right, type, {-1})), kw, "matmul");
  }
  ready_product p = prepare_product(x, y, type, kw.tf32);
  if (kw.out && takes_directly(*kw.out, x, y, type, *p.device)) {
    const graph::array_view& v = view_of(*kw.out, "matmul");
    const graph::write_lock mine(*v.store);
    if (!better_replaced(v)) {
      p.layout.c = strides_over(p.layout.batch, v.shape, v.strides);
      void* to = graph::begin_write(v);
      p.device->multiply(p.layout, p.a(), p.b(), to);
      if (v.whole) v.store->held()->buffer->clear_faults();
      p.pass_faults(v.store->held());
      return *kw.out;
    }
  }
  const value result = p.fresh();
  p.device->multiply(p.layout, p.a(), p.b(), writable_by_library(result));
  p.pass_faults(result);
  return delivered(wrap(result), kw, "matmul");
}

ndarray multiply_with_epilogue(const ndarray& x, const ndarray& y, dtype type, const matmul_kw& kw) {
  if (auto r = announced(x, y, type, kw.tf32)) return with_epilogue((*r)[0], kw);
  ready_product p = prepare_product(x, y, type, kw.tf32);
  value bias;
  if (kw.bias) {
    bias = graph::record_cast(value_of(*kw.bias, "matmul"), type);
    graph::flush(std::span(&bias, 1));
  }
  const value result = p.fresh();
  p.pass_faults(result);
  graph::inherit_faults(result, {&bias});
  const runtime::product_epilogue how{kw.scale, bias ? readable_by_library(bias) : nullptr,
                                      static_cast<runtime::activation>(kw.activation)};
  if (p.device->multiply_with_epilogue(p.layout, how, p.a(), p.b(), writable_by_library(result))) return wrap(result);
  p.device->multiply(p.layout, p.a(), p.b(), writable_by_library(result));
  return with_epilogue(wrap(result), kw);
}

ndarray with_epilogue(const ndarray& product, const matmul_kw& kw) {
  const dtype type = view_of(product, "matmul").type;
  const dtype wide = is_narrow_float(type) ? dtype::f32 : type;
  ndarray z = product.astype(wide, /*copy=*/false);
  if (kw.scale != 1) z = z * kw.scale;
  if (kw.bias) z = z + kw.bias->astype(wide, /*copy=*/false);
  if (kw.activation == activation::relu) z = maximum(z, 0);
  if (kw.activation == activation::gelu)
    z = 0.5 * z * (1 + tanh(0.7978845608028654 * (z + 0.044715 * (z * z * z))));  // sqrt(2 / pi)
  return z.astype(type, /*copy=*/false);
}

value product_of_values(const value& x, const value& y, dtype type) {
  const value a = graph::record_cast(x, type), b = graph::record_cast(y, type);
  return map_of(is_bool(type) ? opcode::logical_and : opcode::multiply, type, a, b);
}

value sum_over(const value& v, const std::vector<int>& axes) {
  std::array<bool, core::max_rank> reduced{};
  const int rank = v->shape.size();
  for (const int a : axes) reduced[static_cast<std::size_t>(a < 0 ? a + rank : a)] = true;
  const auto op = is_bool(v->type) ? jit::reduce_op::any : jit::reduce_op::sum;
  return graph::record_reduce(op, v->type, v, std::span(reduced.data(), static_cast<std::size_t>(rank)));
}

value sum_of_products(const value& x, const value& y, dtype type, const std::vector<int>& axes) {
  const dtype wide = is_narrow_float(type) ? dtype::f32 : type;
  return graph::record_cast(sum_over(product_of_values(x, y, wide), axes), type);
}

ndarray multiply_vectors(const ndarray& x, const ndarray& y, dtype type) {
  const graph::array_view& v = view_of(x, "matmul");
  const value vector = value_of(y, "matmul");
  const int rank = v.shape.size(), last = vector->shape.size();
  // One matrix times the vectors of many examples is a product of matrices. Derivatives are told, so that theirs are products too.
  const bool of_examples = graph::is_example(vector) && !graph::is_example(v.store->now());
  if ((of_examples || is_differentiating()) && rank == 2 && last == 1 && v.shape[0] != 1) [[unlikely]]
    if (auto r = announced(x, wrap(reshape_value(vector, dims{vector->size(), 1})), type, false))
      return without_axis((*r)[0], 1);
  dims shape = vector->shape;
  // Summed along the columns of a column-major matrix, so that memory is read contiguously.
  const bool by_columns =
      v.shape[rank - 2] != 1 && v.shape[rank - 1] != 1 && std::abs(v.strides[rank - 2]) < std::abs(v.strides[rank - 1]);
  shape.insert(by_columns ? last : last - 1, 1);
  const value column = reshape_value(vector, shape);
  return wrap(sum_of_products(value_of(by_columns ? x.mT() : x, "matmul"), column, type, {by_columns ? -2 : -1}));
}

namespace {

ndarray nothing_of(const ndarray& x, const ndarray& y, const dims& shape, dtype type) {
  return zeros(to_shape(shape), {.dtype = type, .device = to_public(common_device(x, y, "matmul"))});
}

ndarray product_of_matrices(const ndarray& x, const ndarray& y, dtype type, const product_kw& kw) {
  const dims &a = view_of(x, "matmul").shape, &b = view_of(y, "matmul").shape;
  dims shape = leading(a);
  core::broadcast_into(shape, leading(b));
  const std::int64_t rows = a[a.size() - 2], columns = b[b.size() - 1];
  shape.push_back(rows);
  shape.push_back(columns);
  check_out(kw, shape, type, "matmul");
  if (core::element_count(shape) == 0 || a[a.size() - 1] == 0)
    return delivered(nothing_of(x, y, shape, type), kw, "matmul");
  if (rows != 1 && columns != 1) return multiply_matrices(x, y, type, kw);
  const ndarray sums =
      columns == 1 ? multiply_vectors(x, without_axis(y, 1), type) : multiply_vectors(y.mT(), without_axis(x, 2), type);
  return delivered(wrap(reshape_value(value_of(sums, "matmul"), shape)), kw, "matmul");
}

}  // namespace

ndarray product_of(const ndarray& x, const ndarray& y, const dropped_axes& drop, dtype type, const product_kw& kw) {
  if (!drop.row && !drop.column) return product_of_matrices(x, y, type, kw);
  const ndarray sums =
      !drop.column ? multiply_vectors(y.mT(), without_axis(x, 2), type)
      : !drop.row  ? multiply_vectors(x, without_axis(y, 1), type)
                   : wrap(sum_of_products(value_of(without_axis(x, 2)), value_of(without_axis(y, 1)), type, {-1}));
  return delivered(sums, kw, "matmul");
}

}  // namespace sinter::ops
