// How long something takes: on the host, which records and launches, and on the device, which works.
#pragma once
#include <concepts>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

/// Seconds of several runs of the same work.
struct timing {
  double median = 0, min = 0, max = 0;
  double iqr = 0;               // from the first quartile to the third
  std::vector<double> samples;  // one for each run, in the order of the runs
  /// iqr / median: the relative spread of the middle half of the runs.
  double spread() const noexcept { return median > 0 ? iqr / median : 0; }
};
/// Median and quartiles as NumPy's, between neighbours where they fall between two. Throws value_error without samples.
timing summarize(std::vector<double> seconds);

struct benchmark_kw {
  kwonly _kw{};
  int repeat = 20;     // runs that count
  int warmup = 3;      // runs before them, which compile (after the first also what compiles in the background), fill
                       // the pools and warm caches
  std::string name{};  // for the printed line, and for profilers
  std::optional<sinter::device> device{};
  std::function<void()> setup{};  // called before every run, outside of both times; evaluate there what it records
};

struct benchmark_result {
  std::string name;
  sinter::device on;           // the device that was timed
  timing host, device;         // seconds
  bool device_waited = false;  // device times may include waiting for the host: see benchmark
  /// One line: "axpy: device 12.31 us (12.10 to 13.02, spread 1.2%), host 4.103 us (...), 20 runs on cuda:0".
  friend std::ostream& operator<<(std::ostream&, const benchmark_result&);
};

namespace detail {
void collect_other(const void* result) noexcept;  // keeps the compiler from dropping the work for a result

template <class R>
void collect(std::vector<ndarray>& to, R&& r) {
  using type = std::remove_cvref_t<R>;
  if constexpr (std::derived_from<type, ndarray>) to.push_back(std::forward<R>(r));
  else if constexpr (requires { std::tuple_size<type>::value; })
    std::apply([&](auto&&... part) { (collect(to, std::forward<decltype(part)>(part)), ...); }, std::forward<R>(r));
  else if constexpr (requires {
                       requires std::derived_from<typename type::value_type, ndarray>;
                       r.begin();
                       r.end();
                     })
    to.insert(to.end(), r.begin(), r.end());
  else collect_other(&r);
}

struct benchmark_body {
  void* f;
  void (*call)(void* f, std::vector<ndarray>& results);
};
benchmark_result run_benchmark(const benchmark_body& body, const benchmark_kw& kw);
}  // namespace detail

/// Times f(). An array that f returns, alone or in a tuple, pair, array or vector, is evaluated within the run and kept
/// until the run has been timed; other results are dropped. What f only records and does not return never runs, so
/// return it. A run is measured so:
///   setup() if given; wait for the device; [start of the device's time] [start of the host's time] f(), evaluation of
///   its results [end of the host's time] [end of the device's time]; wait for the device; free the results.
/// - Host time, by the steady clock: until f and the evaluation have returned. On a GPU that is the cost of recording,
///   planning and launching, unless f itself waits for the device.
/// - Device time on a GPU, by two events on the stream that the library works on: from the start of the first kernel or
///   copy to the end of the last. So that the GPU does not wait for the host in between, it is kept busy before the
///   first event until everything has been enqueued. That needs two warm-up runs or more, an f that does not wait for
///   the device, and at most a millisecond of host time; else device_waited is set, and the device's time runs from
///   the first call to the end of the work, whichever of the two is the slower.
/// - Device time on the CPU, by the steady clock: until the work is done. The host does the work, so both are alike.
/// Caches are as earlier runs and setup() left them: arrays that fit the device's cache are read from there.
/// The device is `.device`, else that of the first array that the first warm-up run returns, else the default one.
/// Throws value_error if repeat < 1 or warmup < 0, device_error if f returns an array of another device, what f throws,
/// and the data errors of kernels that have run (as synchronize does).
template <class F>
  requires(std::invocable<std::remove_reference_t<F>&>)
benchmark_result benchmark(F&& f, const benchmark_kw& kw = {}) {
  using callable = std::remove_reference_t<F>;
  if constexpr (std::is_function_v<callable>) {
    return benchmark([&f]() -> decltype(auto) { return f(); }, kw);
  } else {
    const detail::benchmark_body body{const_cast<void*>(static_cast<const void*>(std::addressof(f))),
                                      [](void* p, std::vector<ndarray>& results) {
                                        callable& g = *static_cast<callable*>(p);
                                        if constexpr (std::is_void_v<decltype(g())>) g();
                                        else detail::collect(results, g());
                                      }};
    return detail::run_benchmark(body, kw);
  }
}

}  // namespace sinter::inline v0
