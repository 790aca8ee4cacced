// Products with vectors and matrices: operands evaluated, layouts, the call.
#include "graph/run/flush.hpp"
#include "graph/run/mesh_hook.hpp"
#include "graph/values/faults.hpp"
#include "ops/base/deferred_work.hpp"
#include "ops/base/normal_product.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/sparse/parts.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/reduce.hpp"
#include "sinter/take.hpp"

namespace sinter::ops {
namespace {

using sparse::product_kw;

constexpr const char* matmul_name = "matmul";

std::complex<double> number_of(const scalar& x) { return {x.real(), x.imag()}; }

/// dtype_error where the products' dtype has no such scale.
void check_scale(const scalar& x, dtype type, const char* what) {
  const std::complex<double> z = number_of(x);
  if (z == 1.0) return;
  if (!is_inexact(type)) fail<dtype_error>(matmul_name, what, " is a number other than 1, but the product is ", type);
  if (z.imag() != 0 && !is_complex(type))
    fail<dtype_error>(matmul_name, what, " is complex, but the product is ", type);
}

/// A matrix in compressed rows whose product, or whose transpose's, is wanted.
struct oriented {
  state_ref matrix;
  bool transposed = false;
};
/// Devices that do not take transposed products are given the transpose, which is kept with the array.
oriented oriented_for(const state_ref& s, bool transpose) {
  const bool transposed = transpose != (s->format == sparse::format::csc);
  if (!transposed) return {s, false};
  if (kernels_of(*s).multiplies_transposed()) {
    order_of(*s);  // of rows that ascend the kernel knows which columns they have
    return {s, true};
  }
  return {kept_regrouped(s), false};
}

ndarray times_dense(const sparse_array& a, const ndarray& x, bool transpose, const product_kw& kw,
                    const shape_t& as_written);

/// op(a) x with x in C order of shape (inner, width); the result has the shape `to`.
ndarray multiplied(const state_ref& s, bool transpose, const ndarray& x, std::int64_t width, const dims& to,
                   const product_kw& kw) {
  const dtype type = promote_types(s->data.dtype(), x.dtype()), wide = sum_dtype(type);
  check_scale(kw.alpha, type, "alpha");
  if (kw.y) check_scale(kw.beta, type, "beta");
  const oriented o = oriented_for(s, transpose);
  if (width == 1 && !kernels_of(*s).multiplies_transposed()) longest_of(*o.matrix);  // known from here on, if it can be
  const runtime::device_id device = device_of(*s);
  value result = unset_leaf(to, wide, device);
  if (result->size() == 0) return wrap(result).astype(type, false);
  const value dense = graph::record_cast(value_of(x), wide),
              added = kw.y ? graph::record_cast(value_of(*kw.y), wide) : value();
  const value data = graph::record_cast(value_of(o.matrix->data), wide);
  const value all[] = {dense, data, added ? added : dense};
  graph::flush(all);
  const ready_matrix m = ready(*with_elements(*o.matrix, wrap(data)), wide);
  runtime::sparse_product p{o.transposed,           width,
                            number_of(kw.alpha),    number_of(kw.beta),
                            address_to_read(dense), added ? address_to_read(added) : nullptr};
  runtime::sparse& kernels = kernels_of(*s);
  const runtime::buffer scratch(runtime::get_backend(device), kernels.multiply_scratch(m.matrix, p));
  kernels.multiply(m.matrix, p, address_to_write(result), scratch.data());
  m.pass_faults(result);
  graph::inherit_faults(result, {&dense, &added});
  return wrap(result).astype(type, /*copy=*/false);
}

/// Announced as "sparse_matmul" with x and the elements of the csr or csc array; whether that is transposed. It brings its
/// derivatives along, which need its places.
std::optional<std::vector<ndarray>> announced(const state_ref& s, const ndarray& x, bool transpose) {
  if (!is_intercepting() || !is_inexact(s->data.dtype())) [[likely]]
    return {};
  const auto product = [s](const ndarray& x, const ndarray& data, bool transposed) {
    return times_dense(sparse_access::make(with_elements(*s, data)), x, transposed, {}, x.shape());
  };
  auto own = std::make_shared<own_derivatives>();
  own->at_once = true;
  own->forward = [=](std::span<const ndarray> a, std::span<const ndarray>, std::span<const ndarray> t) {
    ndarray sum;
    if (t[0].defined()) sum = product(t[0], a[1], transpose);
    if (t[1].defined()) {
      const ndarray of_data = product(a[0], t[1], transpose);
      sum = sum.defined() ? sum + of_data : of_data;
    }
    return results_of(sum);
  };
  own->backward = [=](std::span<const ndarray> a, std::span<const ndarray>, std::span<const ndarray> g) {
    const ndarray rows = rows_of_entries(*s), columns = columns_of_entries(*s);
    const ndarray each = take(g[0], transpose ? columns : rows, 0) * take(a[0], transpose ? rows : columns, 0);
    return results_of(product(g[0], a[1], !transpose), each.ndim() == 2 ? sum(each, 1) : each);
  };
  opaque_call call{"sparse_matmul",
                   {x, s->data},
                   {transpose},
                   {},
                   [=](std::span<const ndarray> a) { return results_of(product(a[0], a[1], transpose)); },
                   false,
                   own};
  return run_intercepted(call);
}

/// On a mesh announced with the index arrays as well, so that each device has all that its product reads. Derivatives and vmap do not go
/// through such products.
std::optional<std::vector<ndarray>> announced_in_parts(const state_ref& s, const ndarray& x, bool transpose) {
  if (is_within_interceptor()) graph::refuse_mesh(matmul_name, device_of(*s));
  return intercept("sparse_matmul", {&x, &s->data, &s->first, &s->second}, {transpose},
                   [=](std::span<const ndarray> a) {
                     const state_ref here = make_state(s->format, s->rows, s->columns, a[1], a[2], a[3], s->order);
                     return results_of(times_dense(sparse_access::make(here), a[0], transpose, {}, a[0].shape()));
                   });
}

/// A recorded number times an array in memory; of other values the value itself, once.
struct multiple {
  double factor;
  value of;
};
multiple as_multiple(const value& v) {
  const std::lock_guard lock(graph::flush_mutex());  // evaluation releases a node's operands
  if (v->kind != graph::node_kind::map || v->map().op != jit::opcode::multiply) return {1, v};
  for (const int k : {0, 1}) {
    const graph::node &number = *v->operand(k), &array = *v->operand(1 - k);
    if (number.kind != graph::node_kind::scalar || number.scalar().unset || number.type != v->type) continue;
    if (!is_real_floating(number.scalar().constant.type)) continue;
    if (array.is_leaf() && array.type == v->type && array.shape == v->shape)
      return {number.scalar().constant.f[0], v->args[1 - k]};
  }
  return {1, v};
}

/// alpha op(A) x + beta y, done when it is first used. `product` is the handle of op(A) x alone, if this is more than that:
/// where anything else holds that one it is computed, and this from it.
class later_product final : public deferred_work, public std::enable_shared_from_this<later_product> {
 public:
  later_product(state_ref s, bool transpose, value x, dims x_shape, dims to)
      : matrix_(std::move(s)), transpose_(transpose), x_(std::move(x)), to_(to) {
    width_ = x_shape.size() == 2 ? x_shape[1] : 1;
  }

  value compute() override {
    if (product_ && (product_.use_count() > 1 || !product_->deferred.load(std::memory_order_acquire)))
      return value_of(from(wrap(value_of(ndarray_access::make(product_)))));
    product_kw kw{.alpha = alpha_, .beta = beta_};
    if (y_) kw.y = wrap(y_);
    return value_of(multiplied(matrix_, transpose_, wrap(x_), width_, to_, kw));
  }

  std::shared_ptr<deferred_work> followed_by(jit::opcode op, const graph::view_ref& self, const operand& x,
                                             const operand* y) const override {
    const dtype type = promote_types(matrix_->data.dtype(), x_->type);
    auto next = std::make_shared<later_product>(*this);
    if (!next->product_) next->product_ = self;
    if (op == jit::opcode::negative && !y) return next->scaled(-1);
    if (!y || y_) return nullptr;
    const bool is_left = x.is_array() && ndarray_access::unresolved(x.array()) == self;
    const operand& other = is_left ? *y : x;
    if (op == jit::opcode::multiply) return other.is_array() ? nullptr : next->times(other.number());
    if (op != jit::opcode::add && op != jit::opcode::subtract) return nullptr;
    if (!other.is_array() || ndarray_access::unresolved(other.array()) == self) return nullptr;
    const graph::view_ref& v = ndarray_access::ref(other.array());
    if (!v || v->type != type || !(v->shape == to_) || !(v->device() == x_->device)) return nullptr;
    if (op == jit::opcode::subtract && !is_left && !next->scaled(-1)) return nullptr;
    const multiple m = as_multiple(graph::read(*v));
    next->y_ = m.of;
    next->beta_ = op == jit::opcode::subtract && is_left ? -m.factor : m.factor;
    return next;
  }

 private:
  /// This once more, with another alpha; null where alpha would be rounded twice.
  std::shared_ptr<later_product> scaled(double sign) {
    if (y_) return nullptr;
    alpha_ *= sign;
    return shared_from_this();
  }
  std::shared_ptr<later_product> times(const scalar& by) {
    if (y_ || alpha_ != 1 || by.kind() == scalar_kind::complex) return nullptr;
    alpha_ = by.real();
    return shared_from_this();
  }
  /// The same by operations on the product.
  ndarray from(const ndarray& product) const {
    const ndarray some = alpha_ == 1 ? product : alpha_ == -1 ? -product : product * alpha_;
    if (!y_) return some;
    if (beta_ == 1) return some + wrap(y_);
    return beta_ == -1 ? some - wrap(y_) : some + beta_ * wrap(y_);
  }

  state_ref matrix_;
  bool transpose_;
  value x_;
  dims to_;
  std::int64_t width_ = 1;
  double alpha_ = 1, beta_ = 1;
  value y_;
  graph::view_ref product_;
};

/// Whether a product may wait for its first use: of real numbers, whose epilogue is the same operations in either order, where
/// this thread has nobody who listens and captures nothing. Arrays of meshes have been announced before.
bool may_wait(const state_ref& s, const ndarray& x, const dims& to, const product_kw& kw) {
  return is_real_floating(promote_types(s->data.dtype(), x.dtype())) && core::element_count(to) != 0 && !kw.y &&
         number_of(kw.alpha) == 1.0 && !is_recorded_for_later();
}

/// op(A) x of a vector or a matrix.
ndarray times_dense(const sparse_array& a, const ndarray& x, bool transpose, const product_kw& kw,
                    const shape_t& as_written) {
  const state_ref s = bools_joined(kept_compressed(state_of(a, matmul_name)));
  const std::int64_t rows = transpose ? s->columns : s->rows, inner = transpose ? s->rows : s->columns;
  require_one_device(matmul_name, device_of(*s), to_id(x.device()));
  const int rank = x.ndim();
  if ((rank != 1 && rank != 2) || x.shape(0) != inner) {
    const shape_t of_a{s->rows, s->columns};
    if (transpose) fail<shape_error>(matmul_name, "shapes ", as_written, " and ", of_a, " do not fit");
    fail<shape_error>(matmul_name, "shapes ", of_a, " and ", as_written, " do not fit");
  }
  dims to{rows};
  if (rank == 2) to.push_back(x.shape(1));
  if (kw.y) {
    const graph::array_view& y = view_of(*kw.y, matmul_name);
    require_one_device(matmul_name, device_of(*s), y.device());
    if (!(y.shape == to)) fail<shape_error>(matmul_name, "y has shape ", y.shape, ", but the product ", to);
  }
  if (auto r = graph::is_on_mesh(device_of(*s)) ? announced_in_parts(s, x, transpose) : announced(s, x, transpose)) {
    ndarray product = (*r)[0];
    const auto is_one = [](const scalar& k) { return number_of(k) == 1.0; };
    if (!is_one(kw.alpha)) product = product * kw.alpha;
    if (kw.y) product = product + (is_one(kw.beta) ? *kw.y : *kw.y * kw.beta);
    return product.astype(promote_types(s->data.dtype(), x.dtype()), false);
  }
  if (may_wait(s, x, to, kw))
    return defer(std::make_shared<later_product>(s, transpose, value_of(x), view_of(x, matmul_name).shape, to));
  return multiplied(s, transpose, x, rank == 2 ? x.shape(1) : 1, to, kw);
}

}  // namespace

bool multiplies_normal(const sparse_array& a, dtype vectors) {
  const state_ref s = kept_compressed(state_of(a, matmul_name));
  if (graph::is_on_mesh(device_of(*s)) || s->data.dtype() != vectors || is_recorded_for_later()) return false;
  if (!is_real_floating(vectors) || kernels_of(*s).multiplies_transposed()) return false;
  const oriented o = oriented_for(s, false);
  longest_of(*o.matrix);  // known from here on, if it can be
  return kernels_of(*s).multiplies_normal(ready(*o.matrix, vectors).matrix);
}

normal_product_result times_normal(const sparse_array& a, const ndarray& x, const ndarray& y, const ndarray& other) {
  const state_ref s = kept_compressed(state_of(a, matmul_name));
  const oriented o = oriented_for(s, false);
  const value result = unset_leaf(dims{s->rows}, s->data.dtype(), device_of(*s)),
              length = unset_leaf(dims(), dtype::f64, device_of(*s));
  const value read[] = {value_of(x), value_of(y), value_of(other)};
  graph::flush(read);
  const ready_matrix m = ready(*o.matrix, s->data.dtype());
  {
    // One submission, so that a stream that reads these waits once for all of them, and not for what comes later.
    runtime::submission work(runtime::get_backend(device_of(*s)));
    const auto of = [](const value& v, void* memory) {
      return static_cast<std::byte*>(memory) + static_cast<std::size_t>(v->buffer_offset) * itemsize(v->type);
    };
    const auto reads = [&](const value& v) { return of(v, work.reads(*v->buffer)); };
    const auto writes = [&](const value& v) { return of(v, work.writes(*v->buffer)); };
    const runtime::normal_product p{reads(read[0]), reads(read[1]), reinterpret_cast<const double*>(reads(read[2])),
                                    reinterpret_cast<double*>(writes(length))};
    kernels_of(*s).multiply_normal(m.matrix, p, writes(result));
  }
  for (const value* to : {&result, &length}) {
    m.pass_faults(*to);
    graph::inherit_faults(*to, {&read[0], &read[1], &read[2]});
  }
  return {wrap(result), wrap(length)};
}

}  // namespace sinter::ops

namespace sinter::inline v0 {
namespace sparse {

ndarray matmul(const sparse_array& a, const ndarray& x, const product_kw& kw) {
  return ops::times_dense(a, x, false, kw, x.shape());
}
ndarray matmul(const ndarray& x, const sparse_array& a, const product_kw& kw) {
  if (x.ndim() != 2) return ops::times_dense(a, x, true, kw, x.shape());
  product_kw turned = kw;
  if (kw.y) turned.y = (*kw.y).T();
  return ops::times_dense(a, x.T(), true, turned, x.shape()).T();
}
ndarray sparse_array::dot(const ndarray& x, const product_kw& kw) const { return matmul(*this, x, kw); }

}  // namespace sparse
}  // namespace sinter::inline v0
