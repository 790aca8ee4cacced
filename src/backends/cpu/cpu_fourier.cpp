// FFTW behind runtime's interface. Plans are estimated, since measuring takes longer than most transforms and
// overwrites the arrays. Making and destroying plans is not thread-safe, so there is one lock for both precisions;
// running them is.
#include "backends/cpu/cpu_fourier.hpp"

#include <cstdint>
#include <mutex>
#include <string>

#include "backends/cpu/fftw_functions.hpp"
#include "optional_library.hpp"
#include "runtime/host_libraries.hpp"
#include "runtime/parallel.hpp"
#include "runtime/plan_cache.hpp"
#include "sinter/error.hpp"

namespace sinter::cpu {
namespace {

using runtime::fourier_kind;
using runtime::fourier_layout;

constexpr std::size_t most_plans = 64;
constexpr std::int64_t parallel_elements = std::int64_t{1} << 16;  // fewer are not worth starting threads for

#define SINTER_FFTW_FUNCTIONS(F, X) \
  F(X##plan_guru64_dft)             \
  F(X##plan_guru64_dft_r2c)         \
  F(X##plan_guru64_dft_c2r) F(X##execute_dft) F(X##execute_dft_r2c) F(X##execute_dft_c2r) F(X##destroy_plan)
#define SINTER_FFTW_WIDE(F) SINTER_FFTW_FUNCTIONS(F, fftw_)
#define SINTER_FFTW_NARROW(F) SINTER_FFTW_FUNCTIONS(F, fftwf_)
SINTER_DECLARED_TABLE(wide_table, SINTER_FFTW_WIDE);
SINTER_DECLARED_TABLE(narrow_table, SINTER_FFTW_NARROW);
// Threads are a library of their own, which may be missing.
#define SINTER_FFTW_WIDE_THREADS(F) F(fftw_init_threads) F(fftw_threads_set_callback) F(fftw_plan_with_nthreads)
#define SINTER_FFTW_NARROW_THREADS(F) F(fftwf_init_threads) F(fftwf_threads_set_callback) F(fftwf_plan_with_nthreads)
SINTER_DECLARED_TABLE(wide_threads_table, SINTER_FFTW_WIDE_THREADS);
SINTER_DECLARED_TABLE(narrow_threads_table, SINTER_FFTW_NARROW_THREADS);

/// The functions of one precision by names without their prefix.
template <class Real>
struct functions {
  using types = fftw_types<Real>;
  using real = Real;
  using complex = typename types::complex;
  using plan = typename types::plan;
  using axis = fftw_axis;
  typename types::plan_complex* plan_complex;
  typename types::plan_from_real* plan_from_real;
  typename types::plan_to_real* plan_to_real;
  typename types::run_complex* run_complex;
  typename types::run_from_real* run_from_real;
  typename types::run_to_real* run_to_real;
  typename types::destroy* destroy;
  typename types::use_threads* use_threads;  // may be null
};
using wide_functions = functions<double>;
using narrow_functions = functions<float>;

void run_jobs(void* (*work)(char*), char* data, std::size_t bytes, int count, void*) {
  runtime::parallel_for(count, runtime::any_time,
                        [&](std::int64_t k) { work(data + static_cast<std::size_t>(k) * bytes); });
}

/// Lets FFTW share out its work to the library's threads. Its own would be missing in a forked child.
template <class SetCallback>
bool share_threads(int (*init)(), SetCallback set_callback) {
  if (init() == 0) return false;
  set_callback(run_jobs, nullptr);
  return true;
}

const wide_functions& wide_api(const char* function) {
  static const auto& library = jit::open_library<wide_table>(runtime::fftw_place(true));
  const wide_table& t = library.usable_by(function);
  static const auto& threads = jit::open_library<wide_threads_table>(runtime::fftw_place(true, true));
  static const bool parallel =
      threads.usable && share_threads(threads.api.fftw_init_threads, threads.api.fftw_threads_set_callback);
  static const wide_functions all{t.fftw_plan_guru64_dft,     t.fftw_plan_guru64_dft_r2c,
                                  t.fftw_plan_guru64_dft_c2r, t.fftw_execute_dft,
                                  t.fftw_execute_dft_r2c,     t.fftw_execute_dft_c2r,
                                  t.fftw_destroy_plan,        parallel ? threads.api.fftw_plan_with_nthreads : nullptr};
  return all;
}

const narrow_functions& narrow_api(const char* function) {
  static const auto& library = jit::open_library<narrow_table>(runtime::fftw_place(false));
  const narrow_table& t = library.usable_by(function);
  static const auto& threads = jit::open_library<narrow_threads_table>(runtime::fftw_place(false, true));
  static const bool parallel =
      threads.usable && share_threads(threads.api.fftwf_init_threads, threads.api.fftwf_threads_set_callback);
  static const narrow_functions all{
      t.fftwf_plan_guru64_dft,     t.fftwf_plan_guru64_dft_r2c,
      t.fftwf_plan_guru64_dft_c2r, t.fftwf_execute_dft,
      t.fftwf_execute_dft_r2c,     t.fftwf_execute_dft_c2r,
      t.fftwf_destroy_plan,        parallel ? threads.api.fftwf_plan_with_nthreads : nullptr};
  return all;
}

/// FFTW's axes: for each its length and the elements between neighbours.
template <class F>
void describe(const fourier_layout& l, typename F::axis* axes, typename F::axis& batch) {
  std::int64_t in = l.in_stride, out = l.out_stride;
  for (int a = l.rank - 1; a >= 0; --a) {
    axes[a] = {l.length[a], in, out};
    const std::int64_t half = a == l.rank - 1 ? l.length[a] / 2 + 1 : l.length[a];
    in *= l.kind == fourier_kind::complex_to_real ? half : l.length[a];
    out *= l.kind == fourier_kind::real_to_complex ? half : l.length[a];
  }
  batch = {l.batch, l.in_step, l.out_step};
}

std::mutex& planner_mutex() {
  static auto& m = *new std::mutex;
  return m;
}

template <class F>
class plan {
 public:
  plan(const F& f, const fourier_layout& l, void* in, void* out, const char* function) : f_(f), kind_(l.kind) {
    typename F::axis axes[3], batch;
    describe<F>(l, axes, batch);
    using real = typename F::real;
    using complex = typename F::complex;
    const std::lock_guard lock(planner_mutex());
    const bool parallel = l.batch * l.length[0] * l.length[1] * l.length[2] >= parallel_elements;
    if (f.use_threads) f.use_threads(parallel ? runtime::thread_count() : 1);
    constexpr unsigned flags = fftw_estimate;
    switch (kind_) {
      case fourier_kind::complex:
        plan_ = f.plan_complex(l.rank, axes, 1, &batch, static_cast<complex*>(in), static_cast<complex*>(out),
                               l.inverse ? fftw_backward : fftw_forward, flags);
        break;
      case fourier_kind::real_to_complex:
        plan_ = f.plan_from_real(l.rank, axes, 1, &batch, static_cast<real*>(in), static_cast<complex*>(out), flags);
        break;
      case fourier_kind::complex_to_real:
        plan_ = f.plan_to_real(l.rank, axes, 1, &batch, static_cast<complex*>(in), static_cast<real*>(out), flags);
        break;
    }
    if (!plan_) throw device_error("[" + std::string(function) + "] FFTW has no plan for this transform");
  }
  plan(const plan&) = delete;
  plan& operator=(const plan&) = delete;
  ~plan() {
    const std::lock_guard lock(planner_mutex());
    f_.destroy(plan_);
  }

  void run(void* in, void* out) const {
    using real = typename F::real;
    using complex = typename F::complex;
    switch (kind_) {
      case fourier_kind::complex: return f_.run_complex(plan_, static_cast<complex*>(in), static_cast<complex*>(out));
      case fourier_kind::real_to_complex:
        return f_.run_from_real(plan_, static_cast<real*>(in), static_cast<complex*>(out));
      case fourier_kind::complex_to_real:
        return f_.run_to_real(plan_, static_cast<complex*>(in), static_cast<real*>(out));
    }
  }

 private:
  const F& f_;
  fourier_kind kind_;
  typename F::plan plan_{};
};

/// A plan of either precision, so that one table and one lock serve both.
struct any_plan {
  std::unique_ptr<plan<wide_functions>> wide;
  std::unique_ptr<plan<narrow_functions>> narrow;
  void run(void* in, void* out) const { wide ? wide->run(in, out) : narrow->run(in, out); }
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
             [&] {
               auto made = std::make_shared<any_plan>();
               if (l.wide)
                 made->wide = std::make_unique<plan<wide_functions>>(wide_api(function), l, in, out, function);
               else
                 made->narrow = std::make_unique<plan<narrow_functions>>(narrow_api(function), l, in, out, function);
               return made;
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
