// src/ops/tuning: benchmarks, autotuning and the progress that both show.
//
// The search for the fastest of several configurations, independent of what a configuration is and how it is run, and
// the store of results.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/benchmark.hpp"

namespace sinter::ops {

/// Runs configurations, given by number. A sinter::error counts against the configuration, except memory_error, which
/// ends the search.
class tuning_bench {
 public:
  virtual ~tuning_bench() = default;
  /// Called for several configurations concurrently, from several threads.
  virtual void compile(std::size_t k) = 0;
  /// Runs once on the original samples and synchronises.
  virtual void run(std::size_t k) = 0;
  /// The results of the last run become the reference.
  virtual void keep() = 0;
  /// How the results of the last run differ from the reference; empty if they do not.
  virtual std::string difference() = 0;
  /// Device time in seconds; each run starts from the original samples.
  virtual timing time(std::size_t k) = 0;
  /// Whether the device is still usable.
  virtual bool usable() = 0;
};

struct tuning_outcome {
  timing time;
  std::string problem;  // one line; empty for a configuration that works
  bool works() const noexcept { return problem.empty(); }
};

/// Progress ticks of a search over `count` configurations.
constexpr std::size_t tuning_ticks(std::size_t count) { return 3 * count; }

/// Tries every configuration; at least one outcome works. `kernel` and `names` are for messages. Throws as autotune
/// does.
std::vector<tuning_outcome> search(std::string_view kernel, const std::vector<std::string>& names, tuning_bench& bench,
                                   const std::function<void()>& tick);
/// The one with the smallest median; the first among equals.
std::size_t fastest(const std::vector<tuning_outcome>& outcomes);
/// "2^20 threads, 2^24 elements": the exponents of the next powers of two.
std::string default_size_class(double threads, double elements);

/// Stores and looks up results by key, in the process and on disk. recall_tuning gives nothing if there is no entry, if
/// it is damaged, or if its configurations have other names.
std::optional<std::vector<tuning_outcome>> recall_tuning(const std::string& key, const std::vector<std::string>& names);
void remember_tuning(const std::string& key, const std::vector<std::string>& names,
                     const std::vector<tuning_outcome>& outcomes);

/// The stored text, and its parser, which gives nothing unless the text is complete and has these names. Samples are
/// not stored.
std::string encode_tuning(const std::vector<std::string>& names, const std::vector<tuning_outcome>& outcomes);
std::optional<std::vector<tuning_outcome>> decode_tuning(std::string_view text, const std::vector<std::string>& names);

}  // namespace sinter::ops
