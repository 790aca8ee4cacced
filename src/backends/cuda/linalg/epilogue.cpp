// cuBLASLt's epilogues. A row-major result is computed as its transpose, whose rows are the result's columns, so that
// the bias, which cuBLASLt adds along rows, has one number per column.
#include "backends/cuda/linalg/epilogue.hpp"

#ifdef SINTER_HAS_CUBLASLT
#include <cublasLt.h>

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "platform/optional_library.hpp"
#include "sinter/error.hpp"
#endif

namespace sinter::cuda {

#ifdef SINTER_HAS_CUBLASLT

namespace {

using runtime::activation;
using runtime::blas_matrix;
using runtime::product_epilogue;
using runtime::product_layout;
using std::int64_t;

// clang-format off
#define SINTER_CUBLASLT_FUNCTIONS(F)                                                                               \
  F(cublasLtCreate) F(cublasLtGetStatusString) F(cublasLtMatmul) F(cublasLtMatmulAlgoGetHeuristic)                 \
  F(cublasLtMatmulDescCreate) F(cublasLtMatmulDescDestroy) F(cublasLtMatmulDescSetAttribute)                       \
  F(cublasLtMatrixLayoutCreate) F(cublasLtMatrixLayoutDestroy)                                                     \
  F(cublasLtMatmulPreferenceCreate) F(cublasLtMatmulPreferenceDestroy) F(cublasLtMatmulPreferenceSetAttribute)
// clang-format on
SINTER_FUNCTION_TABLE(cublaslt_api, SINTER_CUBLASLT_FUNCTIONS);

const cublaslt_api& cublaslt() {
  static const auto& opened =
      platform::open_library<cublaslt_api>(platform::toolkit_library("cuBLASLt", {SINTER_CUBLASLT_SONAME}));
  return opened.usable_by("matmul");
}

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  (void)cudaGetLastError();
  throw device_error("[matmul] " + std::string(call) + ": " + cublaslt().cublasLtGetStatusString(status));
}

/// A descriptor that is destroyed at the end of its scope.
template <class Handle, auto Destroy>
struct descriptor {
  Handle handle = nullptr;
  descriptor() = default;
  ~descriptor() {
    if (handle) (cublaslt().*Destroy)(handle);
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
};
using operation = descriptor<cublasLtMatmulDesc_t, &cublaslt_api::cublasLtMatmulDescDestroy>;
using matrix = descriptor<cublasLtMatrixLayout_t, &cublaslt_api::cublasLtMatrixLayoutDestroy>;
using preference = descriptor<cublasLtMatmulPreference_t, &cublaslt_api::cublasLtMatmulPreferenceDestroy>;

cudaDataType_t data_type(dtype t) { return t == dtype::f16 ? CUDA_R_16F : t == dtype::bf16 ? CUDA_R_16BF : CUDA_R_32F; }

cublasLtEpilogue_t epilogue_of(const product_epilogue& f) {
  const bool bias = f.bias != nullptr;
  switch (f.how) {
    case activation::relu: return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case activation::gelu: return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    case activation::none: break;
  }
  return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

/// The largest power of two, up to 256, that divides an address; algorithms have different alignment requirements.
std::uint32_t alignment_of(const void* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p) | 256;
  return static_cast<std::uint32_t>(address & (~address + 1));
}

/// All inputs to the choice of an algorithm.
using choice_key = std::array<int64_t, 13>;

class cublaslt_products final : public lt_products {
 public:
  bool run(const product_layout& l, const product_epilogue& f, const void* a, const void* b, void* c,
           cudaStream_t stream, runtime::backend& memory) override {
    const auto z = runtime::as_blas(l.rows, l.columns, l.c.row, l.c.column);
    const bool supported = l.type == dtype::f16 || l.type == dtype::bf16 || l.type == dtype::f32;
    if (!supported || !l.batch.empty() || !z || !z->row_major) return false;
    const cublaslt_api& api = cublaslt();
    const std::lock_guard lock(mutex_);
    if (!handle_) check(api.cublasLtCreate(&handle_), "cublasLtCreate");
    const blas_matrix x = *runtime::as_blas(l.rows, l.inner, l.a.row, l.a.column);
    const blas_matrix y = *runtime::as_blas(l.inner, l.columns, l.b.row, l.b.column);

    operation op;
    describe(op, l, f, x, y);
    matrix first, second, result;
    place(first, l.type, l.inner, l.columns, y);
    place(second, l.type, l.rows, l.inner, x);
    check(api.cublasLtMatrixLayoutCreate(&result.handle, data_type(l.type), static_cast<std::uint64_t>(l.columns),
                                         static_cast<std::uint64_t>(l.rows), z->leading),
          "cublasLtMatrixLayoutCreate");
    const std::optional<choice>& found = find(key_of(l, f, x, y, *z, a, b, c), op, first, second, result, a, b, c);
    if (!found) return false;
    std::optional<runtime::buffer> scratch;
    if (found->workspace > 0) scratch.emplace(memory, found->workspace);
    const float alpha = static_cast<float>(f.scale), beta = 0;
    check(api.cublasLtMatmul(handle_, op.handle, &alpha, b, first.handle, a, second.handle, &beta, c, result.handle, c,
                             result.handle, &found->algorithm, scratch ? scratch->data() : nullptr, found->workspace,
                             stream),
          "cublasLtMatmul");
    return true;
  }

 private:
  struct choice {
    cublasLtMatmulAlgo_t algorithm;
    std::size_t workspace;
  };

  template <class T>
  static void set(const operation& op, cublasLtMatmulDescAttributes_t which, const T& value) {
    check(cublaslt().cublasLtMatmulDescSetAttribute(op.handle, which, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  }
  template <class T>
  static void set(const preference& p, cublasLtMatmulPreferenceAttributes_t which, const T& value) {
    check(cublaslt().cublasLtMatmulPreferenceSetAttribute(p.handle, which, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
  }

  static void describe(operation& op, const product_layout& l, const product_epilogue& f, const blas_matrix& x,
                       const blas_matrix& y) {
    const auto compute = l.tf32 && l.type == dtype::f32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    check(cublaslt().cublasLtMatmulDescCreate(&op.handle, compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
    // The transposes of the factors, in the other order: a factor stored by rows is transposed already.
    set(op, CUBLASLT_MATMUL_DESC_TRANSA, y.row_major ? CUBLAS_OP_N : CUBLAS_OP_T);
    set(op, CUBLASLT_MATMUL_DESC_TRANSB, x.row_major ? CUBLAS_OP_N : CUBLAS_OP_T);
    set(op, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(f));
    if (f.bias) set(op, CUBLASLT_MATMUL_DESC_BIAS_POINTER, f.bias);
  }

  /// The layout of a factor in memory, as a column-major matrix of BLAS.
  static void place(matrix& m, dtype type, int64_t rows, int64_t columns, const blas_matrix& lies) {
    const int64_t across = lies.row_major ? columns : rows, down = lies.row_major ? rows : columns;
    check(cublaslt().cublasLtMatrixLayoutCreate(&m.handle, data_type(type), static_cast<std::uint64_t>(across),
                                                static_cast<std::uint64_t>(down), lies.leading),
          "cublasLtMatrixLayoutCreate");
  }

  static choice_key key_of(const product_layout& l, const product_epilogue& f, const blas_matrix& x,
                           const blas_matrix& y, const blas_matrix& z, const void* a, const void* b, const void* c) {
    return {static_cast<int64_t>(l.type),
            l.rows,
            l.columns,
            l.inner,
            l.tf32,
            static_cast<int64_t>(epilogue_of(f)),
            2 * x.leading + x.row_major,
            2 * y.leading + y.row_major,
            z.leading,
            alignment_of(a),
            alignment_of(b),
            alignment_of(c),
            f.bias ? alignment_of(f.bias) : 0};
  }

  const std::optional<choice>& find(const choice_key& key, const operation& op, const matrix& first,
                                    const matrix& second, const matrix& result, const void* a, const void* b,
                                    const void* c) {
    const auto known = choices_.find(key);
    if (known != choices_.end()) return known->second;
    if (choices_.size() >= most_choices) choices_.clear();
    return choices_[key] = choose(op, first, second, result, a, b, c);
  }

  std::optional<choice> choose(const operation& op, const matrix& first, const matrix& second, const matrix& result,
                               const void* a, const void* b, const void* c) const {
    const cublaslt_api& api = cublaslt();
    preference p;
    check(api.cublasLtMatmulPreferenceCreate(&p.handle), "cublasLtMatmulPreferenceCreate");
    set(p, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{most_workspace});
    // Split-K sums are added in float32, not in the 16 bits of the result.
    set(p, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    set(p, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(b));
    set(p, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(a));
    set(p, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(c));
    set(p, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(c));
    cublasLtMatmulHeuristicResult_t best{};
    int count = 0;
    const cublasStatus_t status = api.cublasLtMatmulAlgoGetHeuristic(
        handle_, op.handle, first.handle, second.handle, result.handle, result.handle, p.handle, 1, &best, &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && count == 0)) return std::nullopt;
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    return choice{best.algo, best.workspaceSize};
  }

  static constexpr std::size_t most_workspace = std::size_t{32} << 20, most_choices = 1024;

  std::mutex mutex_;
  cublasLtHandle_t handle_ = nullptr;
  std::map<choice_key, std::optional<choice>> choices_;
};

}  // namespace

std::unique_ptr<lt_products> make_lt_products() { return std::make_unique<cublaslt_products>(); }

#else

std::unique_ptr<lt_products> make_lt_products() { return nullptr; }

#endif

}  // namespace sinter::cuda
