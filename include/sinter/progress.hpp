// A progress bar for work that takes seconds.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "sinter/keywords.hpp"

namespace sinter::ops {
class progress_bar;
}

namespace sinter::inline v0 {

struct progress_kw {
  kwonly _kw{};
  std::string name{};  // what is being done, shown before the bar
  std::string unit{};  // what is counted: "rows"
};

/// Shows how far a loop has come, at what rate, and the time left, on stderr: `for (...) { ...; bar.tick(); }`.
/// Nothing is shown unless stderr is a terminal (and TERM not "dumb"), nor before two seconds are over; the line is
/// drawn by tick(), at most ten times a second, and cleared at the end. The rate is that since the construction.
class progress {
 public:
  /// `total` ticks are to come; 0 or less: not known, and count, rate and time so far are shown.
  explicit progress(std::int64_t total, const progress_kw& kw = {});
  /// finish().
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// `n` more are done. Any thread may call it; it costs nanoseconds and never waits for another thread.
  void tick(std::int64_t n = 1) noexcept;
  /// Clears the line now; nothing is drawn afterwards.
  void finish() noexcept;

 private:
  std::unique_ptr<ops::progress_bar> bar_;
};

}  // namespace sinter::inline v0
