// Finds the fastest way of compiling and launching a kernel written by hand, and remembers it.
//
//   const sn::autotune tune(source, "axpy", sn::cartesian({{"BLOCK", {64, 128, 256}}, {"PER", {1, 2, 4}}},
//                                                         [=](const sn::macros& m) {
//                                                           const auto block = m.integer("BLOCK");
//                                                           const auto tile = block * m.integer("PER");
//                                                           return sn::launch{.grid = (n + tile - 1) / tile, .block = block};
//                                                         }));
//   const sn::tuned best = tune(2.0f, sn::in(x), y, n);  // tries all the first time; y is as before
//   best(2.0f, sn::in(x), y, n);                         // launches the fastest
//   std::cout << best;                                   // a table of what was tried
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/benchmark.hpp"
#include "sinter/device.hpp"
#include "sinter/keywords.hpp"
#include "sinter/raw_kernel.hpp"

namespace sinter::ops {
struct tuning_task;  // what autotune was given
}

namespace sinter::inline v0 {

/// The value of a macro: text or an integer; true is 1, false 0.
class macro_value {
 public:
  macro_value(std::string text) : text_(std::move(text)) {}
  macro_value(const char* text) : text_(text) {}
  template <int_like T>
  macro_value(T n) : text_(std::to_string(n)) {}
  template <std::same_as<bool> B>
  macro_value(B b) : text_(b ? "1" : "0") {}
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};
struct macro {
  std::string name;
  macro_value value;
};

/// Macros of one configuration, in order: `{{"BLOCK", 128}, {"TYPE", "float"}}`.
class macros {
 public:
  macros() = default;
  macros(std::initializer_list<macro> list) : list_(list) {}
  explicit macros(std::vector<macro> list) : list_(std::move(list)) {}
  /// The text of a macro. Throws value_error if there is none of that name.
  const std::string& operator[](std::string_view name) const;
  /// Its text as a decimal integer. Throws value_error if it is not one.
  std::int64_t integer(std::string_view name) const;
  std::size_t size() const noexcept { return list_.size(); }
  const macro* begin() const noexcept { return list_.data(); }
  const macro* end() const noexcept { return list_.data() + list_.size(); }

 private:
  std::vector<macro> list_;
};

/// One way of running a kernel: macros, passed as -DNAME=VALUE when it is compiled, and a launch.
struct configuration {
  kwonly _kw{};
  sinter::macros macros{};
  sinter::launch launch{};
};
/// "BLOCK=128 PER=2, grid 4096, block 128".
std::string to_string(const configuration& c);

/// The values that a macro may take: `{"BLOCK", {64, 128, 256}}`.
struct macro_space {
  std::string name;
  std::vector<macro_value> values;
};
/// All combinations of the macros' values, the last macro varying fastest. `launch_of` gives the launch of each; a
/// combination for which it returns nothing is left out. Throws value_error if a macro has no values.
std::vector<configuration> cartesian(const std::vector<macro_space>& spaces,
                                     const std::function<std::optional<launch>(const macros&)>& launch_of);

struct autotune_kw {
  kwonly _kw{};
  std::vector<std::string> options{};  // of NVRTC, for every configuration: as raw_kw's
  bool fast_math = false;
  /// Where results may differ in rounding: |x - reference| <= atol + rtol * |reference|, for floating-point and complex
  /// arrays. If neither is given they must agree bit for bit (any NaN equals any NaN).
  std::optional<double> rtol{}, atol{};
  /// What the choice depends on besides the device. Unless given: the powers of two above the threads of the largest
  /// launch and above the elements of the largest array, so that a kernel is tuned once for sizes that are alike.
  std::string size_class{};
  int repeat = 10, warmup = 2;  // of the timing of each configuration: see benchmark
  bool remember = true;         // false: what was found before is not looked up, and what is found is not kept
};

/// What became of one configuration.
struct trial {
  configuration config;
  sinter::timing time;  // seconds on the device; without samples where the result was remembered
  std::string problem;  // why it was left out; empty for one that works
  bool works() const noexcept { return problem.empty(); }
};

/// The outcome of a search.
struct tuned {
  std::string name;      // the kernel's
  sinter::device on;     // where it was tuned
  std::string hardware;  // that device's name, architecture and driver
  std::string size_class;
  bool remembered = false;    // found in memory or on disk: nothing was run
  std::vector<trial> trials;  // in the order of the configurations
  std::size_t fastest = 0;    // index of the best trial
  raw_kernel kernel;          // compiled with the best configuration's macros

  const trial& best() const { return trials[fastest]; }
  /// Launches the best configuration.
  template <raw_argument... A>
  void operator()(const A&... arguments) const {
    kernel(best().config.launch, arguments...);
  }
  /// A table, fastest first, then those that were left out and why.
  friend std::ostream& operator<<(std::ostream&, const tuned&);
};

/// A kernel with its configurations. A handle: copies share what is compiled.
///
/// Called with sample arguments, as a launch takes them, it finds the best configuration for the device that they are
/// on (without arrays: the default device) and for their size class. The first time that is a search, which
///  1. compiles every configuration, on all cores;
///  2. runs each once and compares every array that the kernel may write (all but those wrapped in sn::in) with what
///     the first configuration that runs has left. One that does not compile, cannot be launched or leaves something
///     else is not considered further, and its trial says why;
///  3. times the others on the device by `benchmark`, with the sample arrays restored before each run;
///  4. keeps the result, in the process and in the folder of the disk cache, under the kernel's source, name, options
///     and configurations (without their grids, unless two differ in nothing else), the device's name, architecture and
///     driver, and the size class.
/// A stored result that is damaged counts as none. Headers that the source includes do not enter the key. What was
/// remembered is taken without running anything. Searches that take seconds show their progress on a terminal.
///
/// Afterwards the sample arrays hold what they held before; variables of the module (`__device__`) are not restored.
/// Meanwhile each array that may be written takes its memory three times. Synchronises.
///
/// Throws value_error for no configurations, macros that are not identifiers or given twice, and if most configurations
/// differ from the first (then it is not clear which is right); if none works, the kind of error that the first one met
/// (compile_error, dtype_error, value_error, ...); device_error where there is no GPU and where a configuration breaks
/// the device.
class autotune {
 public:
  autotune(std::string_view source, std::string_view name, std::vector<configuration> configurations,
           const autotune_kw& kw = {});
  template <raw_argument... A>
  tuned operator()(const A&... samples) const {
    const detail::kernel_argument list[] = {detail::as_argument(samples)..., detail::kernel_argument{}};
    return run(list, sizeof...(A));
  }

 private:
  std::shared_ptr<const ops::tuning_task> task_;

  tuned run(const detail::kernel_argument* samples, std::size_t count) const;
};

}  // namespace sinter::inline v0
