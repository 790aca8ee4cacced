// cuFFT as runtime::fourier. Plans keep only their constants; work areas, which may be as large as the array, come from
// the pool for each call.
#include "backends/cuda/fft/fourier.hpp"

#include <string>

#include "sinter/error.hpp"

#ifdef SINTER_HAS_CUFFT
#include <cufft.h>

#include <mutex>

#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/driver/stream.hpp"
#include "platform/optional_library.hpp"
#include "runtime/algorithms/plan_cache.hpp"
#endif

namespace sinter::cuda {

#ifdef SINTER_HAS_CUFFT
namespace {

using runtime::fourier_kind;
using runtime::fourier_layout;

constexpr std::size_t most_plans = 32;

// Long transforms take several passes. With a stride, each pass has poorly coalesced accesses and takes several times
// as long as for rows; a transposition costs one more pass. For small arrays launch overhead dominates.
constexpr std::int64_t long_transform = 64 << 10, large_array = 4 << 20;  // bytes

// clang-format off
#define SINTER_CUFFT_FUNCTIONS(F)                                                                        \
  F(cufftCreate)                                                                                         \
  F(cufftDestroy) F(cufftSetAutoAllocation) F(cufftMakePlanMany64) F(cufftSetWorkArea) F(cufftSetStream) \
      F(cufftExecC2C) F(cufftExecZ2Z) F(cufftExecR2C) F(cufftExecD2Z) F(cufftExecC2R) F(cufftExecZ2D)
// clang-format on
SINTER_FUNCTION_TABLE(cufft_table, SINTER_CUFFT_FUNCTIONS);

const cufft_table& cufft(const char* function) {
  static const auto& opened =
      platform::open_library<cufft_table>(platform::toolkit_library("cuFFT", {SINTER_CUFFT_SONAME}));
  return opened.usable_by(function);
}

const char* reason_of(cufftResult status) {
  switch (status) {
    case CUFFT_INVALID_PLAN: return "CUFFT_INVALID_PLAN";
    case CUFFT_ALLOC_FAILED: return "CUFFT_ALLOC_FAILED";
    case CUFFT_INVALID_TYPE: return "CUFFT_INVALID_TYPE";
    case CUFFT_INVALID_VALUE: return "CUFFT_INVALID_VALUE";
    case CUFFT_INTERNAL_ERROR: return "CUFFT_INTERNAL_ERROR";
    case CUFFT_EXEC_FAILED: return "CUFFT_EXEC_FAILED";
    case CUFFT_SETUP_FAILED: return "CUFFT_SETUP_FAILED";
    case CUFFT_INVALID_SIZE: return "CUFFT_INVALID_SIZE";
    case CUFFT_INVALID_DEVICE: return "CUFFT_INVALID_DEVICE";
    case CUFFT_NOT_SUPPORTED: return "CUFFT_NOT_SUPPORTED";
    default: return "an unknown error";
  }
}

void check_cufft(cufftResult status, const char* call, const char* function) {
  if (status == CUFFT_SUCCESS) return;
  throw device_error("[" + std::string(function) + "] " + call + " reports " + reason_of(status) + " (" +
                     std::to_string(static_cast<int>(status)) + ")");
}

cufftType type_of(const fourier_layout& l) {
  switch (l.kind) {
    case fourier_kind::real_to_complex: return l.wide ? CUFFT_D2Z : CUFFT_R2C;
    case fourier_kind::complex_to_real: return l.wide ? CUFFT_Z2D : CUFFT_C2R;
    default: return l.wide ? CUFFT_Z2Z : CUFFT_C2C;
  }
}

class plan {
 public:
  plan(const fourier_layout& l, const char* function)
      : api_(cufft(function)), kind_(l.kind), wide_(l.wide), direction_(l.inverse ? CUFFT_INVERSE : CUFFT_FORWARD) {
    check_cufft(api_.cufftCreate(&handle_), "cufftCreate", function);
    try {
      check_cufft(api_.cufftSetAutoAllocation(handle_, 0), "cufftSetAutoAllocation", function);
      long long length[3], in[3], out[3];
      for (int a = 0; a < l.rank; ++a) {
        length[a] = l.length[a];
        in[a] = l.in_extent(a);
        out[a] = l.out_extent(a);
      }
      check_cufft(api_.cufftMakePlanMany64(handle_, l.rank, length, in, l.in_stride, l.in_step, out, l.out_stride,
                                           l.out_step, type_of(l), l.batch, &work_bytes_),
                  "cufftMakePlanMany64", function);
    } catch (...) {
      (void)api_.cufftDestroy(handle_);
      throw;
    }
  }
  plan(const plan&) = delete;
  plan& operator=(const plan&) = delete;
  ~plan() { (void)api_.cufftDestroy(handle_); }

  /// A plan has one work area at a time, so concurrent calls are serialised.
  void run(runtime::backend& owner, cudaStream_t stream, void* in, void* out, const char* function) {
    const runtime::buffer work(owner, work_bytes_);
    const std::lock_guard lock(mutex_);
    check_cufft(api_.cufftSetStream(handle_, stream), "cufftSetStream", function);
    if (work_bytes_ != 0) check_cufft(api_.cufftSetWorkArea(handle_, work.data()), "cufftSetWorkArea", function);
    check_cufft(execute(in, out), "a cuFFT transform", function);
    after_enqueue(owner.id().index, function);
  }

 private:
  cufftResult execute(void* in, void* out) const {
    auto* const c = static_cast<cufftComplex*>(in);
    auto* const z = static_cast<cufftDoubleComplex*>(in);
    switch (kind_) {
      case fourier_kind::real_to_complex:
        return wide_ ? api_.cufftExecD2Z(handle_, static_cast<cufftDoubleReal*>(in),
                                         static_cast<cufftDoubleComplex*>(out))
                     : api_.cufftExecR2C(handle_, static_cast<cufftReal*>(in), static_cast<cufftComplex*>(out));
      case fourier_kind::complex_to_real:
        return wide_ ? api_.cufftExecZ2D(handle_, z, static_cast<cufftDoubleReal*>(out))
                     : api_.cufftExecC2R(handle_, c, static_cast<cufftReal*>(out));
      default:
        return wide_ ? api_.cufftExecZ2Z(handle_, z, static_cast<cufftDoubleComplex*>(out), direction_)
                     : api_.cufftExecC2C(handle_, c, static_cast<cufftComplex*>(out), direction_);
    }
  }

  const cufft_table& api_;
  fourier_kind kind_;
  bool wide_;
  int direction_;
  cufftHandle handle_{};
  std::size_t work_bytes_ = 0;
  std::mutex mutex_;
};

class cufft_transforms final : public runtime::fourier {
 public:
  cufft_transforms(runtime::backend& owner, int device) : owner_(owner), device_(device) {}

  void run(const fourier_layout& l, void* in, void* out, const char* function) override {
    make_current(device_);
    const std::shared_ptr<plan> p = plans_.get(key_of(l), [&] { return std::make_shared<plan>(l, function); });
    if (runtime::use_notes* const notes = capture_notes(device_)) notes->keep.push_back(p);  // a graph uses its tables
    p->run(owner_, current_stream(device_), in, out, function);
  }
  bool prefers_rows(const fourier_layout& l) const noexcept override {
    const std::int64_t bytes = l.length[0] * (l.wide ? 16 : 8);
    return l.rank == 1 && l.in_stride > 1 && bytes >= long_transform && bytes * l.batch >= large_array;
  }
  runtime::fourier_figures figures() override { return {plans_.size(), plans_.limit()}; }
  void clear() override {
    make_current(device_);
    plans_.clear();
  }

 private:
  runtime::backend& owner_;
  int device_;
  runtime::plan_cache<plan> plans_{most_plans};
};

}  // namespace

std::unique_ptr<runtime::fourier> make_fourier(runtime::backend& owner, int device) {
  return std::make_unique<cufft_transforms>(owner, device);
}

#else
namespace {

class missing final : public runtime::fourier {
 public:
  void run(const runtime::fourier_layout&, void*, void*, const char* function) override {
    throw device_error("[" + std::string(function) +
                       "] this library was built without cuFFT: install it with the CUDA toolkit and build again");
  }
  runtime::fourier_figures figures() override { return {}; }
  void clear() override {}
};

}  // namespace

std::unique_ptr<runtime::fourier> make_fourier(runtime::backend&, int) { return std::make_unique<missing>(); }

#endif

}  // namespace sinter::cuda
