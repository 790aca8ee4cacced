// Timing of callables: what belongs to a run, and the order in which clocks start and stop.
#include "sinter/benchmark.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <ostream>
#include <utility>

#include "ops/base/access.hpp"
#include "ops/tuning/format_time.hpp"
#include "platform/background.hpp"
#include "runtime/thread_state.hpp"
#include "sinter/eval.hpp"
#include "sinter/profile.hpp"

namespace sinter::inline v0 {
namespace {

// The GPU is held for a multiple of the host time of the last warm-up run, since host times vary.
constexpr double longest_hold = 1e-3, shortest_hold = 50e-6, hold_factor = 4;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct run_times {
  double host = 0, device = 0;
  bool held = false;  // all work was enqueued before the device started on it
};

class runner {
 public:
  runner(const detail::benchmark_body& body, const benchmark_kw& kw)
      : body_(body), kw_(kw), name_(kw.name.empty() ? "sinter: benchmark" : kw.name) {
    use(kw.device ? *kw.device : default_device());
  }

  /// Determines the device, unless the user gave it, and how long to hold it.
  void warm_up() {
    for (int k = 0; k < kw_.warmup; ++k) {
      const bool first = k == 0, last = k > 0 && k + 1 == kw_.warmup;
      // The first run may compile, so its host time is not representative.
      const run_times t = run(last ? longest_hold : 0, first && !kw_.device);
      if (last && t.held) hold_ = std::clamp(hold_factor * t.host, shortest_hold, longest_hold);
      // Background compilation may still replace the kernels by optimised ones.
      if (first) platform::wait_for_background();
    }
  }

  benchmark_result measure() {
    benchmark_result r;
    std::vector<double> host, device;
    int held = 0;
    for (int k = 0; k < kw_.repeat; ++k) {
      const run_times t = run(hold_, false);
      host.push_back(t.host);
      device.push_back(t.device);
      held += t.held;
    }
    synchronize(device_);  // reports data errors
    r.name = kw_.name;
    r.on = device_;
    r.host = summarize(std::move(host));
    r.device = summarize(std::move(device));
    r.device_waited = device_.kind != device_kind::cpu && 2 * held <= kw_.repeat;
    return r;
  }

 private:
  void use(const sinter::device& d) {
    device_ = d;
    backend_ = &runtime::get_backend(ops::to_id(d));
    timer_ = backend_->make_timer();
  }

  run_times run(double hold, bool follow) {
    struct cleaner {
      std::vector<ndarray>& results;
      bool before = std::exchange(runtime::this_thread().measuring, true);
      ~cleaner() {
        results.clear();
        runtime::this_thread().measuring = before;
      }
    } always{results_};
    run_times t;
    if (kw_.setup) kw_.setup();
    backend_->synchronize();
    {
      const range shown(name_);
      timer_->start(hold);
      const double begin = now();
      body_.call(body_.f, results_);
      if (!results_.empty()) evaluate();
      t.host = now() - begin;
      timer_->stop();
      t.held = timer_->is_held();
    }
    t.device = timer_->seconds();
    check_devices(follow);
    return t;
  }

  void evaluate() {
    views_.clear();
    for (const ndarray& a : results_) {
      ops::view_of(a, "benchmark");
      views_.push_back(ops::ndarray_access::ref(a));
    }
    graph::evaluate(views_);
    views_.clear();
  }

  void check_devices(bool follow) {
    if (results_.empty()) return;
    if (const sinter::device first = results_.front().device(); follow && first != device_) use(first);
    for (const ndarray& a : results_) {
      if (a.device() == device_) continue;
      ops::fail<device_error>(
          "benchmark", "f returns an array on ", a.device(), ", but ", device_,
          " is timed; say {.device = ...}, and time what several devices do by a function that waits "
          "for them and returns nothing");
    }
    if (follow) backend_->synchronize();
  }

  const detail::benchmark_body& body_;
  const benchmark_kw& kw_;
  const std::string name_;
  sinter::device device_;
  runtime::backend* backend_ = nullptr;
  std::unique_ptr<runtime::timer> timer_;
  double hold_ = 0;
  std::vector<ndarray> results_;  // kept alive with their memory between runs, so that runs do not allocate
  std::vector<graph::view_ref> views_;
};

/// The quantile q (0 to 1) with linear interpolation, as NumPy's quantile.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::string text_of(const timing& t) {
  return ops::format_seconds(t.median) + " (" + ops::format_seconds(t.min) + " to " + ops::format_seconds(t.max) +
         ", spread " + ops::format_percent(t.spread()) + ")";
}

}  // namespace

timing summarize(std::vector<double> seconds) {
  if (seconds.empty()) throw value_error("[summarize] there are no samples");
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  timing t;
  t.median = quantile(sorted, 0.5);
  t.min = sorted.front();
  t.max = sorted.back();
  t.iqr = quantile(sorted, 0.75) - quantile(sorted, 0.25);
  t.samples = std::move(seconds);
  return t;
}

// In another translation unit than its callers and never inlined, so that the compiler cannot optimise the argument
// away.
void detail::collect_other(const void*) noexcept {}

benchmark_result detail::run_benchmark(const benchmark_body& body, const benchmark_kw& kw) {
  if (kw.repeat < 1) ops::fail<value_error>("benchmark", "repeat is ", kw.repeat, "; at least one run must count");
  if (kw.warmup < 0) ops::fail<value_error>("benchmark", "warmup is ", kw.warmup, "; it cannot be negative");
  runner r(body, kw);
  r.warm_up();
  return r.measure();
}

std::ostream& operator<<(std::ostream& out, const benchmark_result& r) {
  if (!r.name.empty()) out << r.name << ": ";
  out << "device " << text_of(r.device) << (r.device_waited ? " with waiting for the host" : "") << ", host "
      << text_of(r.host) << ", " << r.device.samples.size() << (r.device.samples.size() == 1 ? " run on " : " runs on ")
      << r.on;
  return out;
}

}  // namespace sinter::inline v0
