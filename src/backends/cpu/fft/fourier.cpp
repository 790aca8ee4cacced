// FFTW as runtime::fourier. Plans are estimated, since measuring takes longer than most transforms and
// overwrites the arrays. Making and destroying plans is not thread-safe, so there is one lock for both precisions;
// running them is.
#include "backends/cpu/fft/fourier.hpp"

#include <cstdint>
#include <mutex>
#include <string>

#include "backends/cpu/fft/fftw_functions.hpp"
#include "platform/host_libraries.hpp"
#include "platform/optional_library.hpp"
#include "runtime/algorithms/plan_cache.hpp"
#include "runtime/parallel.hpp"
#include "sinter/error.hpp"

namespace sinter::cpu {
namespace {

using runtime::fourier_kind;
using runtime::fourier_layout;

constexpr std::size_t most_plans = 64;
constexpr std::int64_t parallel_elements = std::int64_t{1} << 16;  // fewer are not worth starting threads for

/// The functions of one precision by names without their prefix.
template <class Real>
struct functions {
  using types = fftw_types<Real>;
  typename types::plan_complex* plan_complex;
  typename types::plan_from_real* plan_from_real;
  typename types::plan_to_real* plan_to_real;
  typename types::run_complex* run_complex;
  typename types::run_from_real* run_from_real;
  typename types::run_to_real* run_to_real;
  typename types::destroy* destroy;
  typename types::use_threads* use_threads;  // may be null
};

void run_jobs(void* (*work)(char*), char* data, std::size_t bytes, int count, void*) {
  runtime::parallel_for(count, runtime::any_time,
                        [&](std::int64_t k) { work(data + static_cast<std::size_t>(k) * bytes); });
}

/// Runs FFTW's tasks on the library's threads. FFTW's own threads would not exist in a forked child.
template <class SetCallback>
bool share_threads(int (*init)(), SetCallback set_callback) {
  if (init() == 0) return false;
  set_callback(run_jobs, nullptr);
  return true;
}

template <class Real>
const functions<Real>& api(const char* function);

// Threads are a library of their own, which may be missing.
#define SINTER_FFTW_FUNCTIONS(F, X) \
  F(X##plan_guru64_dft)             \
  F(X##plan_guru64_dft_r2c)         \
  F(X##plan_guru64_dft_c2r) F(X##execute_dft) F(X##execute_dft_r2c) F(X##execute_dft_c2r) F(X##destroy_plan)
#define SINTER_FFTW_THREADS(F, X) F(X##init_threads) F(X##threads_set_callback) F(X##plan_with_nthreads)
#define SINTER_FFTW_API(Real, X, FUNCTIONS, THREADS)                                                         \
  SINTER_DECLARED_TABLE(X##table, FUNCTIONS);                                                                \
  SINTER_DECLARED_TABLE(X##threads_table, THREADS);                                                          \
  template <>                                                                                                \
  const functions<Real>& api<Real>(const char* function) {                                                   \
    constexpr bool wide = sizeof(Real) == sizeof(double);                                                    \
    static const auto& library = platform::open_library<X##table>(platform::fftw_place(wide));               \
    const X##table& t = library.usable_by(function);                                                         \
    static const auto& threads = platform::open_library<X##threads_table>(platform::fftw_place(wide, true)); \
    static const bool parallel =                                                                             \
        threads.usable && share_threads(threads.api.X##init_threads, threads.api.X##threads_set_callback);   \
    static const functions<Real> all{                                                                        \
        t.X##plan_guru64_dft,     t.X##plan_guru64_dft_r2c,                                                  \
        t.X##plan_guru64_dft_c2r, t.X##execute_dft,                                                          \
        t.X##execute_dft_r2c,     t.X##execute_dft_c2r,                                                      \
        t.X##destroy_plan,        parallel ? threads.api.X##plan_with_nthreads : nullptr};                   \
    return all;                                                                                              \
  }
#define SINTER_FFTW_WIDE(F) SINTER_FFTW_FUNCTIONS(F, fftw_)
#define SINTER_FFTW_WIDE_THREADS(F) SINTER_FFTW_THREADS(F, fftw_)
SINTER_FFTW_API(double, fftw_, SINTER_FFTW_WIDE, SINTER_FFTW_WIDE_THREADS)
#define SINTER_FFTW_NARROW(F) SINTER_FFTW_FUNCTIONS(F, fftwf_)
#define SINTER_FFTW_NARROW_THREADS(F) SINTER_FFTW_THREADS(F, fftwf_)
SINTER_FFTW_API(float, fftwf_, SINTER_FFTW_NARROW, SINTER_FFTW_NARROW_THREADS)

/// FFTW's axes: for each its length and the elements between neighbours.
void describe(const fourier_layout& l, fftw_axis* axes, fftw_axis& batch) {
  std::int64_t in = l.in_stride, out = l.out_stride;
  for (int a = l.rank - 1; a >= 0; --a) {
    axes[a] = {l.length[a], in, out};
    in *= l.in_extent(a);
    out *= l.out_extent(a);
  }
  batch = {l.batch, l.in_step, l.out_step};
}

std::mutex& planner_mutex() {
  static auto& m = *new std::mutex;
  return m;
}

/// A plan of either precision, so that one table and one lock serve both.
class any_plan {
 public:
  any_plan() = default;
  any_plan(const any_plan&) = delete;
  any_plan& operator=(const any_plan&) = delete;
  virtual ~any_plan() = default;
  virtual void run(void* in, void* out) const = 0;
};

template <class Real>
class plan final : public any_plan {
 public:
  plan(const fourier_layout& l, void* in, void* out, const char* function) : f_(api<Real>(function)), kind_(l.kind) {
    fftw_axis axes[3], batch;
    describe(l, axes, batch);
    const std::lock_guard lock(planner_mutex());
    const bool parallel = l.batch * l.length[0] * l.length[1] * l.length[2] >= parallel_elements;
    if (f_.use_threads) f_.use_threads(parallel ? runtime::thread_count() : 1);
    constexpr unsigned flags = fftw_estimate;
    switch (kind_) {
      case fourier_kind::complex:
        plan_ = f_.plan_complex(l.rank, axes, 1, &batch, static_cast<complex*>(in), static_cast<complex*>(out),
                                l.inverse ? fftw_backward : fftw_forward, flags);
        break;
      case fourier_kind::real_to_complex:
        plan_ = f_.plan_from_real(l.rank, axes, 1, &batch, static_cast<Real*>(in), static_cast<complex*>(out), flags);
        break;
      case fourier_kind::complex_to_real:
        plan_ = f_.plan_to_real(l.rank, axes, 1, &batch, static_cast<complex*>(in), static_cast<Real*>(out), flags);
        break;
    }
    if (!plan_) throw device_error("[" + std::string(function) + "] FFTW has no plan for this transform");
  }
  ~plan() override {
    const std::lock_guard lock(planner_mutex());
    f_.destroy(plan_);
  }

  void run(void* in, void* out) const override {
    switch (kind_) {
      case fourier_kind::complex: return f_.run_complex(plan_, static_cast<complex*>(in), static_cast<complex*>(out));
      case fourier_kind::real_to_complex:
        return f_.run_from_real(plan_, static_cast<Real*>(in), static_cast<complex*>(out));
      case fourier_kind::complex_to_real:
        return f_.run_to_real(plan_, static_cast<complex*>(in), static_cast<Real*>(out));
    }
  }

 private:
  using complex = typename fftw_types<Real>::complex;

  const functions<Real>& f_;
  fourier_kind kind_;
  typename fftw_types<Real>::plan plan_{};
};

class fftw final : public runtime::fourier {
 public:
  void run(const fourier_layout& l, void* in, void* out, const char* function) override {
    // Other arrays may be given to a plan if they are aligned, and alike or different, as those that it was made for.
    std::string key = key_of(l);
    for (const std::uint64_t n : {static_cast<std::uint64_t>(in == out), alignment_of(in), alignment_of(out),
                                  static_cast<std::uint64_t>(runtime::thread_count())})
      key += std::to_string(n) + ",";
    plans_
        .get(key,
             [&]() -> std::shared_ptr<any_plan> {
               if (l.wide) return std::make_shared<plan<double>>(l, in, out, function);
               return std::make_shared<plan<float>>(l, in, out, function);
             })
        ->run(in, out);
  }
  runtime::fourier_figures figures() override { return {plans_.size(), plans_.limit()}; }
  void clear() override { plans_.clear(); }

 private:
  static std::uint64_t alignment_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 64; }
  runtime::plan_cache<any_plan> plans_{most_plans};
};

}  // namespace

std::unique_ptr<runtime::fourier> make_fourier() { return std::make_unique<fftw>(); }

}  // namespace sinter::cpu
