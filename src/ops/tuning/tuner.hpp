// src/ops/tuning: benchmarks, autotuning and the progress that both show.
//
// The search for the best of several configurations, apart from what a configuration is and how it is run, and the
// memory of what was found.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/benchmark.hpp"

namespace sinter::ops {

/// Where configurations are tried, by number. What is thrown as sinter::error counts against the configuration, except
/// memory_error.
class tuning_bench {
 public:
  virtual ~tuning_bench() = default;
  /// Called for several configurations at once, from several threads.
  virtual void compile(std::size_t k) = 0;
  /// Runs once on the original samples; on return it is done.
  virtual void run(std::size_t k) = 0;
  /// What the last run has left becomes the reference.
  virtual void keep() = 0;
  /// How what the last run has left differs from the reference; empty where it does not.
  virtual std::string difference() = 0;
  /// Device seconds, from the original samples each time.
  virtual timing time(std::size_t k) = 0;
  /// Whether the device still works.
  virtual bool usable() = 0;
};

struct tuning_outcome {
  timing time;
  std::string problem;  // one line; empty for one that works
  bool works() const noexcept { return problem.empty(); }
};

/// Ticks of a search over `count` configurations.
constexpr std::size_t tuning_ticks(std::size_t count) { return 3 * count; }

/// Tries every configuration; at least one of the outcomes works. `kernel` and `names` are for messages. Throws as
/// autotune does.
std::vector<tuning_outcome> search(std::string_view kernel, const std::vector<std::string>& names, tuning_bench& bench,
                                   const std::function<void()>& tick);
/// The one of the smallest median; the first of equals.
std::size_t fastest(const std::vector<tuning_outcome>& outcomes);
/// "2^20 threads, 2^24 elements": the exponents of the next powers of two.
std::string default_size_class(double threads, double elements);

/// What a process or the disk knows under a key. recall() gives nothing where there is nothing, where the entry is
/// damaged, or where it is not about configurations of these names.
std::optional<std::vector<tuning_outcome>> recall_tuning(const std::string& key, const std::vector<std::string>& names);
void remember_tuning(const std::string& key, const std::vector<std::string>& names,
                     const std::vector<tuning_outcome>& outcomes);

/// The text that is stored, and back; nothing unless the text is whole and about these names. Samples are not stored.
std::string encode_tuning(const std::vector<std::string>& names, const std::vector<tuning_outcome>& outcomes);
std::optional<std::vector<tuning_outcome>> decode_tuning(std::string_view text, const std::vector<std::string>& names);

}  // namespace sinter::ops
