// runtime::products over cuBLAS, those of integers by a dedicated kernel or, larger ones, as products of digits.
// Row-major results are computed as their transposes, which BLAS stores by columns.
#include "backends/cuda/linalg/products.hpp"

#include <atomic>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/driver/stream.hpp"
#include "backends/cuda/linalg/device_products.hpp"
#include "backends/cuda/linalg/epilogue.hpp"
#include "platform/background.hpp"
#include "platform/optional_library.hpp"
#include "sinter/error.hpp"

#ifdef SINTER_HAS_CUBLAS
#include <cublas_v2.h>
#endif

namespace sinter::cuda {
namespace {

using runtime::as_blas;
using runtime::blas_matrix;
using runtime::product_layout;
using std::int64_t;

bool reads_any_strides(dtype t) { return !is_inexact(t); }

device::element device_element(dtype t) { return static_cast<device::element>(t); }

/// The address of an element at a given distance, which may be negative.
template <class P>
P moved(P p, dtype t, int64_t elements) {
  using byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<P>>, const char, char>;
  return static_cast<byte*>(p) + elements * static_cast<int64_t>(itemsize(t));
}

}  // namespace

#ifdef SINTER_HAS_CUBLAS

namespace {

// clang-format off
#define SINTER_CUBLAS_FUNCTIONS(F)                                                                            \
  F(cublasCreate) F(cublasGetStatusString) F(cublasSetStream) F(cublasSetWorkspace) F(cublasSetMathMode) \
  F(cublasGemmEx_64) F(cublasGemmStridedBatchedEx_64)
// clang-format on
SINTER_FUNCTION_TABLE(cublas_api, SINTER_CUBLAS_FUNCTIONS);

/// Opened on first use.
const platform::optional_library<cublas_api>& opened_cublas() {
  static const auto& opened =
      platform::open_library<cublas_api>(platform::toolkit_library("cuBLAS", {SINTER_CUBLAS_SONAME}));
  return opened;
}

}  // namespace

static void check(const cublas_api& api, cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  (void)cudaGetLastError();
  throw device_error("[matmul] " + std::string(call) + ": " + api.cublasGetStatusString(status));
}

namespace {

/// Factors and result of a call, as column-major matrices of BLAS.
struct blas_factor {
  const void* at;
  cublasOperation_t operation;
  int64_t leading, stride;
};
struct blas_call {
  int64_t m, n, k;
  blas_factor first, second;
  void* c;
  int64_t leading, stride, count;
};

struct element_types {
  cudaDataType_t data, result;
  cublasComputeType_t compute;
};
constexpr element_types digit_types{CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I};

element_types types_of(const product_layout& l) {
  const auto narrow = l.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  switch (l.type) {
    case dtype::f16: return {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F};
    case dtype::bf16: return {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    case dtype::f32: return {CUDA_R_32F, CUDA_R_32F, narrow};
    case dtype::f64: return {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case dtype::c64: return {CUDA_C_32F, CUDA_C_32F, narrow};
    default: return {CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F};
  }
}

/// 1 and 0 in the type of the scale factors; a real one is the first part of a complex one, since cuBLAS reads them
/// with aligned instructions.
struct scale {
  alignas(8) float single[2];
  alignas(16) double wide[2];
  std::int32_t whole;
  const void* as(cublasComputeType_t t) const {
    if (t == CUBLAS_COMPUTE_32I) return &whole;
    return t == CUBLAS_COMPUTE_64F ? static_cast<const void*>(wide) : static_cast<const void*>(single);
  }
};
constexpr scale one{{1, 0}, {1, 0}, 1}, zero{{0, 0}, {0, 0}, 0};

cublasOperation_t operation(const blas_matrix& m, bool transposed) {
  return m.row_major == transposed ? CUBLAS_OP_N : CUBLAS_OP_T;
}

blas_call arrange(const product_layout& l, const void* a, const void* b, void* c) {
  const blas_matrix x = *as_blas(l.rows, l.inner, l.a.row, l.a.column);
  const blas_matrix y = *as_blas(l.inner, l.columns, l.b.row, l.b.column);
  const blas_matrix z = *as_blas(l.rows, l.columns, l.c.row, l.c.column);
  const bool batched = !l.batch.empty();
  const blas_factor left{a, operation(x, z.row_major), x.leading, batched ? l.a.batch.back() : 0};
  const blas_factor right{b, operation(y, z.row_major), y.leading, batched ? l.b.batch.back() : 0};
  const int64_t stride = batched ? l.c.batch.back() : 0, count = batched ? l.batch.back() : 1;
  if (z.row_major) return {l.columns, l.rows, l.inner, right, left, c, z.leading, stride, count};
  return {l.rows, l.columns, l.inner, left, right, c, z.leading, stride, count};
}

}  // namespace

#endif  // SINTER_HAS_CUBLAS

namespace {

class cuda_products final : public runtime::products {
 public:
  explicit cuda_products(const product_target& t) : target_(t) {}

  bool reads(dtype type, int64_t rows, int64_t columns, int64_t row, int64_t column) const override {
    return reads_any_strides(type) || as_blas(rows, columns, row, column).has_value();
  }
  bool writes(dtype type, int64_t rows, int64_t columns, int64_t row, int64_t column) const override {
    return reads(type, rows, columns, row, column);
  }

#ifdef SINTER_HAS_CUBLAS
  void expect(dtype type) override {
    if (!is_inexact(type) || expected_.exchange(true)) return;
    platform::run_in_background([this] {
      try {
        const auto& opened = opened_cublas();
        platform::end_background_before_exit_handlers();
        if (!opened.usable) return;
        const std::lock_guard lock(mutex_);
        make_current(target_.device);
        open(opened.api);
      } catch (...) {
        return;  // the product tries again, and reports what is wrong
      }
    });
  }
#endif

  void multiply(const product_layout& layout, const void* a, const void* b, void* c) override {
    check_usable();
    make_current(target_.device);
    const product_layout l = simplified(layout);
    if (!is_inexact(l.type)) multiply_integers(l, a, b, c);
    else if (!multiply_long(l, a, b, c)) multiply_by_library(l, a, b, c);
  }

  bool multiply_with_epilogue(const product_layout& layout, const runtime::product_epilogue& f, const void* a,
                              const void* b, void* c) override {
    if (!lt_) return false;
    check_usable();
    make_current(target_.device);
    if (!lt_->run(simplified(layout), f, a, b, c, current_stream(target_.device), *target_.memory)) return false;
    count();
    return true;
  }

 private:
  device::context context() const { return {current_stream(target_.device), target_.multiprocessors}; }
  /// With the last `kept` axes of the batch.
  static device::product_shape shape_of(const product_layout& l, int kept) {
    device::product_shape shape{l.rows, l.columns, l.inner, {1, 1}, {}, {}, {}};
    const auto strides = [&](const runtime::matrix_strides& m) {
      device::product_strides s{m.row, m.column, {0, 0}};
      for (int k = 0; k < kept; ++k) s.batch[2 - kept + k] = m.batch[m.batch.size() - kept + k];
      return s;
    };
    shape.a = strides(l.a), shape.b = strides(l.b), shape.c = strides(l.c);
    for (int k = 0; k < kept; ++k) shape.batch[2 - kept + k] = l.batch[l.batch.size() - kept + k];
    return shape;
  }

  /// Products of few results that a library would read at a fraction of memory's rate. False, without any effect, for others.
  bool multiply_long(const product_layout& l, const void* a, const void* b, void* c) {
    if (!l.batch.empty()) return false;
    const device::product_shape shape = shape_of(l, 0);
    const std::size_t bytes = device::long_product_scratch(context(), device_element(l.type), shape);
    if (bytes == 0) return false;
    const runtime::buffer scratch(*target_.memory, bytes);
    cuda::check(device::long_product(context(), device_element(l.type), shape, a, b, c, scratch.data()), "matmul");
    count();
    count();
    return true;
  }

  void multiply_integers(const product_layout& l, const void* a, const void* b, void* c) {
    const device::context context = this->context();
    const int kept = l.batch.size() < 2 ? l.batch.size() : 2;
    const device::product_shape shape = shape_of(l, kept);
    for_each_matrix(l, kept, [&](int64_t at_a, int64_t at_b, int64_t at_c) {
      const void *x = moved(a, l.type, at_a), *y = moved(b, l.type, at_b);
      void* const z = moved(c, l.type, at_c);
      if (device::digits_pay(shape) && multiply_by_digits(context, l.type, shape, x, y, z)) return;
      cuda::check(device::integer_product(context, device_element(l.type), shape, x, y, z), "matmul");
      count();
    });
  }

#ifdef SINTER_HAS_CUBLAS
  void multiply_by_library(const product_layout& l, const void* a, const void* b, void* c) {
    const cublas_api& api = opened_cublas().usable_by("matmul");
    const std::lock_guard lock(mutex_);  // a handle belongs to one thread at a time
    open(api);
    const auto workspace = enter_stream(api);
    for_each_matrix(l, l.batch.empty() ? 0 : 1, [&](int64_t at_a, int64_t at_b, int64_t at_c) {
      run(api, types_of(l), arrange(l, moved(a, l.type, at_a), moved(b, l.type, at_b), moved(c, l.type, at_c)));
      count();
    });
  }

  /// Products of 8-bit digits by tensor cores (product_digits.hpp). False, without any effect, if there is no cuBLAS;
  /// the dedicated kernel has the same result.
  bool multiply_by_digits(const device::context& context, dtype type, const device::product_shape& shape, const void* a,
                          const void* b, void* c) {
    if (!opened_cublas().usable) return false;
    const cublas_api& api = opened_cublas().api;
    const std::lock_guard lock(mutex_);
    open(api);
    const auto workspace = enter_stream(api);
    const bool transposes = device::lies_by_columns(shape.c);
    const device::product_shape s = transposes ? device::transposed(shape) : shape;
    if (transposes) std::swap(a, b);
    const int planes = static_cast<int>(itemsize(type));
    const device::digit_parts parts = device::parts_of(s, planes);
    const auto scratch = [&](int64_t bytes) {
      return runtime::buffer(*target_.memory, static_cast<std::size_t>(bytes));
    };
    const runtime::buffer a_digits = scratch(parts.a_bytes), b_digits = scratch(parts.b_bytes),
                          sums = scratch(parts.sums_bytes);
    device::multiply_digits(s, planes, parts,
                            digit_calls{*this, api, context, type, a, b, c, static_cast<char*>(a_digits.data()),
                                        static_cast<char*>(b_digits.data()), static_cast<std::int32_t*>(sums.data())});
    return true;
  }

  /// The steps of multiply_digits, on a stream. cuBLAS is column-major: sums^T = b a^T.
  struct digit_calls {
    cuda_products& owner;
    const cublas_api& api;
    const device::context& context;
    dtype type;
    const void *a, *b;
    void* c;
    char *a_digits, *b_digits;
    std::int32_t* sums;

    void split_a(const device::split_job& job, int64_t offset) const { split(job, moved(a, type, offset), a_digits); }
    void split_b(const device::split_job& job, int64_t offset) const { split(job, moved(b, type, offset), b_digits); }
    void split(const device::split_job& job, const void* from, void* to) const {
      cuda::check(device::split_digits(context, device_element(type), job, from, to), "matmul");
      owner.count();
    }
    void multiply(const device::digit_product& p) const {
      owner.run(api, digit_types,
                {p.columns,
                 p.rows,
                 p.depth,
                 {b_digits + p.b_offset, CUBLAS_OP_T, p.leading, p.b_stride},
                 {a_digits, CUBLAS_OP_N, p.leading, p.a_stride},
                 sums + p.sums_offset,
                 p.columns,
                 p.sums_stride,
                 p.matrices});
      owner.count();
    }
    void join(const device::join_job& job, int64_t offset) const {
      cuda::check(device::join_digits(context, device_element(type), job, sums, moved(c, type, offset)), "matmul");
      owner.count();
    }
  };

  /// The handle's workspace is used on the default stream only. Other streams, which may run concurrently, get a
  /// separate one of the same size, so that cuBLAS chooses the same algorithms.
  std::unique_ptr<runtime::buffer> enter_stream(const cublas_api& api) {
    cuda::check(api, api.cublasSetStream(handle_, current_stream(target_.device)), "cublasSetStream");
    if (target_.memory->current_stream().number() == 0) return nullptr;
    auto own = std::make_unique<runtime::buffer>(*target_.memory, target_.workspace_bytes);
    cuda::check(api, api.cublasSetWorkspace(handle_, own->data(), own->bytes()), "cublasSetWorkspace");
    return own;
  }

  void open(const cublas_api& api) {
    if (handle_) return;
    cublasStatus_t status = api.cublasCreate(&handle_);
    if (status != CUBLAS_STATUS_SUCCESS) {  // possibly no memory for its workspace
      target_.release_memory();
      status = api.cublasCreate(&handle_);
    }
    if (status != CUBLAS_STATUS_SUCCESS) handle_ = nullptr;
    cuda::check(api, status, "cublasCreate");
    // Split-K sums are added in float32, not in the 16 bits of the result.
    constexpr auto mode =
        static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
    cuda::check(api, api.cublasSetMathMode(handle_, mode), "cublasSetMathMode");
  }

  void run(const cublas_api& api, const element_types& t, const blas_call& g) {
    const void *alpha = one.as(t.compute), *beta = zero.as(t.compute);
    if (g.count == 1) {
      cuda::check(api,
                  api.cublasGemmEx_64(handle_, g.first.operation, g.second.operation, g.m, g.n, g.k, alpha, g.first.at,
                                      t.data, g.first.leading, g.second.at, t.data, g.second.leading, beta, g.c,
                                      t.result, g.leading, t.compute, CUBLAS_GEMM_DEFAULT),
                  "cublasGemmEx");
      return;
    }
    cuda::check(api,
                api.cublasGemmStridedBatchedEx_64(handle_, g.first.operation, g.second.operation, g.m, g.n, g.k, alpha,
                                                  g.first.at, t.data, g.first.leading, g.first.stride, g.second.at,
                                                  t.data, g.second.leading, g.second.stride, beta, g.c, t.result,
                                                  g.leading, g.stride, g.count, t.compute, CUBLAS_GEMM_DEFAULT),
                "cublasGemmStridedBatchedEx");
  }

  std::atomic<bool> expected_{false};
  std::mutex mutex_;
  cublasHandle_t handle_ = nullptr;
#else
  static bool multiply_by_digits(const device::context&, dtype, const device::product_shape&, const void*, const void*,
                                 void*) {
    return false;
  }
  [[noreturn]] void multiply_by_library(const product_layout&, const void*, const void*, void*) {
    throw device_error("[matmul] sinter was built without cuBLAS: the CUDA toolkit had no cublas_v2.h");
  }
#endif

  void count() {
    target_.launches->fetch_add(1, std::memory_order_relaxed);
    after_enqueue(target_.device, "matmul");
  }

  product_target target_;
  std::unique_ptr<lt_products> lt_ = make_lt_products();
};

}  // namespace

std::unique_ptr<runtime::products> make_products(const product_target& target) {
  return std::make_unique<cuda_products>(target);
}

}  // namespace sinter::cuda
